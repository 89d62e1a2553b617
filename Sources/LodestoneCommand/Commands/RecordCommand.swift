import ArgumentParser
import Foundation
import Lodestone
import SensorHub

/// `lodestone record FILE`: every transfer of a run, into one file.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record every transfer on the buses, to be replayed anywhere.",
    discussion: "The file is text and holds the board file too: one file says all about a problem.")

  @OptionGroup var board: BoardOptions

  @Argument(help: "Where the recording goes.", completion: .file())
  var file: String

  @Option(help: "Stop after this many seconds.")
  var seconds: Double?

  func run() throws {
    guard FileManager.default.createFile(atPath: file, contents: nil),
      let handle = FileHandle(forWritingAtPath: file)
    else { throw ValidationError("cannot write '\(file)'") }
    let session = try Session(board: board.name) { bytes in
      try handle.write(contentsOf: Data(bytes))
    }
    try Watch(session: session, seconds: seconds).run(
      printer: SummaryPrinter(boardName: session.board.name))
    if let failure = session.hub.recordingFailure {
      Terminal.warn("lodestone: the recording ended early: \(failure)")
      throw ExitCode.failure
    }
    try handle.close()
  }
}

/// `lodestone replay FILE`: the same drivers through the same transfers.
struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Run a recording through the drivers and the fusion again.",
    discussion:
      "Prints the JSON lines that monitor would have printed. Alike to the bit every time.")

  @Argument(help: "A recording.", completion: .file())
  var file: String

  func run() throws {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: file))
    } catch {
      throw ValidationError("cannot read '\(file)'")
    }
    let recording: Recording
    do {
      recording = try Recording(Array(data))
    } catch {
      throw ValidationError("\(file), \(error)")
    }
    let board = try BoardFile.parse(recording.boardText, file: recording.boardName)
    var lines = ObservationLines { _ in nil }
    do {
      try Replay.run(
        recording, board: board
      ) { observation in
        Terminal.write(lines.line(for: observation) + "\n")
      }
    } catch {
      Terminal.warn("lodestone: \(file), \(error)")
      throw ExitCode.failure
    }
  }
}
