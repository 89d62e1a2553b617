import TerminalUI

extension LogReader {
  /// Reads logs one after the other. One that cannot be read, or says nothing, is named, and the others come out all
  /// the same.
  ///
  /// Throws a finding where nothing comes out. Reading that a signal ends is no finding, whatever came out.
  ///
  /// - Parameter needsPlaces: Whether an output without a place is a finding, too.
  package static func run(
    _ files: [String], _ writer: any LogWriter, needsPlaces: Bool, window: Window?
  ) throws {
    var reader = LogReader(writer, window: window)
    // Of the first file that could not be read.
    var failure: CommandErrorKind?
    for file in files {
      do {
        guard try reader.read(file) else { return }
        if reader.wasInterrupted { break }
      } catch let error as CommandError {
        failure = failure ?? error.kind
        Terminal.warn("lodestone: \(error)")
      }
    }
    guard reader.finish() else { return }
    let count = reader.epochs
    if reader.places == 0, count > 0 || failure == nil {
      let wrong = reader.wrongChecksums
      Terminal.warn(
        "lodestone: no position in \(count) epoch\(count == 1 ? "" : "s")"
          + (wrong == 0
            ? ""
            : "; \(wrong) sentence\(wrong == 1 ? " or message has" : "s or messages have") a wrong checksum")
      )
    }
    if let failure { throw CommandExit(failure.rawValue) }
    // What a signal has ended might have gone on.
    guard !reader.wasInterrupted else { return }
    if !reader.hasOutput || needsPlaces && reader.places == 0 { throw CommandExit.finding }
  }
}
