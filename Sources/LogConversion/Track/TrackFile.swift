import TerminalUI

/// A file with a way in it: a recording, a receiver's log, JSON lines or a table. Its content says which.
package struct TrackFile {
  private let path: String

  /// - Parameter path: The file, or `-` for standard input.
  package init(_ path: String) { self.path = path }

  /// Reads the file, and hands its content to a writer. Ends early, without an error, when the output's reader is gone.
  package func read(by writer: any LogWriter) throws {
    var input = try InputFile(path)
    let beginning = try input.beginning()
    var reader = LogReader(
      writer, hint: "; a table (CSV) has a header with latitude and longitude in it")
    do {
      let isWanted =
        if RecordedRun.isOne(beginning: beginning) {
          try replay(&input, by: &reader)
        } else if PositionLines.isOne(beginning: beginning) {
          try lines(input, by: &reader)
        } else if PositionTable.isOne(beginning: beginning) {
          try table(input, by: &reader)
        } else {
          try reader.read(&input)
        }
      guard isWanted else { return }
    } catch {
      // What came out is whole, up to there.
      _ = reader.finish()
      throw error
    }
    guard reader.finish() else { return }
    if reader.places == 0 { throw CommandError("\(path): there is no position in it") }
  }

  private func replay(_ input: inout InputFile, by reader: inout LogReader) throws -> Bool {
    try reader.replay(RecordedRun(input.readAll(), file: path), named: input.name)
  }

  private func lines(_ input: InputFile, by reader: inout LogReader) throws -> Bool {
    var lines = PositionLines(input)
    defer {
      if let words = lines.skipped.words { Terminal.warn("lodestone: \(path): \(words)") }
    }
    return try reader.read(&lines, named: input.name)
  }

  private func table(_ input: InputFile, by reader: inout LogReader) throws -> Bool {
    var table = try PositionTable(input)
    return try reader.read(&table, named: input.name)
  }
}
