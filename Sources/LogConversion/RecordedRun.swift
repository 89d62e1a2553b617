import BoardFile
import FusionCore
import OutputProtocols
import Recording
import SensorHub
package import SensorTypes
import TerminalUI

/// A recording that `lodestone record` has made, with the board that it was made on; every mistake names the file.
///
/// It has several runs where it was interrupted: behind a hole, or because the disk was full for a while.
package struct RecordedRun {
  private let runs: [(recording: Recording, board: Board)]
  private let file: String

  /// Reads a recording. One that was cut off says so, on standard error, and is good up to there.
  package init(_ bytes: [UInt8], file: String) throws {
    self.file = file
    let recordings: [Recording]
    do {
      recordings = try Recording.runs(bytes)
    } catch {
      throw CommandError("\(file), \(error)", kind: .data)
    }
    do {
      runs = try recordings.map {
        ($0, try BoardFile.parse($0.boardText, file: $0.boardName))
      }
    } catch {
      throw CommandError("\(file), its board file: \(error)", kind: .data)
    }
    if recordings.last?.endsEarly == true {
      Terminal.warn("lodestone: \(file) ends in the middle of a step: it was cut off there")
    }
  }

  /// Reads the recording in a file.
  package init(contentsOf file: String) throws {
    var input = try InputFile(file)
    try self.init(input.readAll(), file: file)
  }

  /// Whether a file that begins like this is a recording, of whatever version.
  package static func isOne(beginning: [UInt8]) -> Bool {
    beginning.drop { $0 == UInt8(ascii: "\n") }.starts(with: "lodestone-trace ".utf8)
  }

  /// Replays all runs, as `Replay.run` does. A run that cannot be followed to its end is named; the others are
  /// replayed. What lies between two runs is missing, which is an error after the last one.
  ///
  /// - Parameter smooth: Whether headings are given in the light of the whole run.
  package func replay(
    smooth: Bool = false, isWanted: () -> Bool = { true },
    clock: (_ reading: ClockReading, _ time: Timestamp) -> Void = { _, _ in },
    handler: (Observation) -> Void
  ) throws {
    var problem: CommandError?
    for (recording, board) in runs {
      let smoother = smooth ? Replay.smoother(for: recording, board: board) : nil
      let isEmpty = smoother?.isEmpty ?? false
      if isEmpty, runs.count == 1 {
        throw CommandError(
          "\(file): nothing to smooth: no gyro and accelerometer have spoken in it")
      }
      do {
        try Replay.run(
          recording, board: board, smoother: isEmpty ? nil : smoother, isWanted: isWanted,
          clock: clock, handler: handler)
      } catch {
        if let problem { Terminal.warn("lodestone: \(problem)") }
        problem = CommandError("\(file), \(error)", kind: .data)
      }
    }
    if let problem { throw problem }
    if runs.count > 1, isWanted() {
      throw CommandError(
        "\(file) holds \(runs.count) runs: what happened between them was not recorded", kind: .data
      )
    }
  }

  /// Replays all runs as JSON lines, like those of `monitor`, with times counted from the start of the recording.
  ///
  /// - Parameters:
  ///   - smooth: Whether headings are given in the light of the whole run.
  ///   - write: Takes a line with its line feed; returns false where nobody reads it any more.
  package func writeLines(smooth: Bool, to write: (String) -> Bool) throws {
    // Every worker looks at the date before it does anything else, so a line without one is never printed.
    var lines: ObservationLines?
    var isRead = true
    try replay(
      smooth: smooth, isWanted: { isRead },
      clock: { reading, time in
        let clock = { (moment: Timestamp) -> ClockReading? in
          ClockReading(
            seconds: reading.seconds + moment.seconds(since: time), isSet: reading.isSet)
        }
        if lines == nil {
          lines = ObservationLines(start: time, clock: clock) { Hints.complete($0) }
        }
        lines?.clock = clock
      },
      handler: { observation in
        guard let line = lines?.line(for: observation) else { return }
        isRead = write(line + "\n")
      })
  }
}
