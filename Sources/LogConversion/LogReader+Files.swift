import TerminalUI

extension LogReader {
  /// Reads logs one after the other. One that cannot be read, or says nothing, is named, and the others come out all
  /// the same.
  ///
  /// Throws a finding where nothing comes out, or nothing of a log whose checksums are wrong. Reading that a signal ends is no finding, whatever came out.
  ///
  /// - Parameter needsPlaces: Whether an output without a place is a finding, too.
  package static func run(
    _ files: [String], _ writer: any LogWriter, needsPlaces: Bool, window: Window?
  ) throws {
    var reader = LogReader(writer, window: window)
    // Of the first file that could not be read.
    var failure: CommandErrorKind?
    var hasDamaged = false
    for file in files {
      let before = (reader.epochs, reader.places, reader.wrongChecksums)
      do {
        guard try reader.read(file) else { return }
        let wrong = reader.wrongChecksums &- before.2
        let (epochs, places) = (reader.epochs - before.0, reader.places - before.1)
        if !reader.wasInterrupted || wrong > 0,
          let remark = Self.remark(epochs: epochs, places: places, wrong: wrong)
        {
          Terminal.warn("lodestone: \(Self.name(of: file)): \(remark)")
        }
        hasDamaged = hasDamaged || places == 0 && wrong > 0
        if reader.wasInterrupted { break }
      } catch let error as CommandError {
        failure = failure ?? error.kind
        Terminal.warn("lodestone: \(error)")
      }
    }
    guard reader.finish() else { return }
    if let failure { throw CommandExit(failure.rawValue) }
    // What a signal has ended might have gone on.
    guard !reader.wasInterrupted else { return }
    if hasDamaged || !reader.hasOutput || needsPlaces && reader.places == 0 {
      throw CommandExit.finding
    }
  }

  private static func name(of file: String) -> String { file == "-" ? "standard input" : file }

  /// What is to be said of a log that was read; `nil` for one with positions and without damage.
  static func remark(epochs: Int, places: Int, wrong: UInt64) -> String? {
    let damage =
      "\(wrong) sentence\(wrong == 1 ? " or message has" : "s or messages have") a wrong checksum"
    guard places == 0 else {
      return wrong == 0 ? nil : "\(damage), and \(wrong == 1 ? "is" : "are") left out"
    }
    let lack =
      epochs == 0 ? "no position" : "no position in \(epochs) epoch\(epochs == 1 ? "" : "s")"
    return wrong == 0 ? lack : "\(lack); \(damage)"
  }
}
