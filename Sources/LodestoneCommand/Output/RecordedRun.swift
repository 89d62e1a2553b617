import ArgumentParser
import FusionCore
import SensorHub
import SensorTypes

/// A recording that `lodestone record` has made, with the board that it was made on; every mistake names the file.
struct RecordedRun {
  let recording: Recording
  let board: Board
  private let file: String

  /// Reads a recording. One that was cut off says so, on standard error, and is good up to there.
  init(_ bytes: [UInt8], file: String) throws {
    self.file = file
    do {
      recording = try Recording(bytes)
    } catch {
      throw CommandError("\(file), \(error)", kind: .data)
    }
    do {
      board = try BoardFile.parse(recording.boardText, file: recording.boardName)
    } catch {
      throw CommandError("\(file), its board file: \(error)", kind: .data)
    }
    if recording.endsEarly {
      Terminal.warn("lodestone: \(file) ends in the middle of a step: it was cut off there")
    }
  }

  /// Whether a file that begins like this is a recording, of whatever version.
  static func isOne(beginning: [UInt8]) -> Bool { beginning.starts(with: "lodestone-trace ".utf8) }

  /// Replays it, as `Replay.run` does.
  func replay(
    smoother: AttitudeSmoother? = nil, isWanted: () -> Bool = { true },
    clock: (_ reading: ClockReading, _ time: Timestamp) -> Void = { _, _ in },
    handler: (Observation) -> Void
  ) throws {
    do {
      try Replay.run(
        recording, board: board, smoother: smoother, isWanted: isWanted, clock: clock,
        handler: handler)
    } catch {
      throw CommandError("\(file), \(error)", kind: .data)
    }
  }
}
