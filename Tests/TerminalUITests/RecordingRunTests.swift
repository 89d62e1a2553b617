import Glibc
import Testing

@testable import TerminalUI

/// How a run of a recording ends, and what is said of what it lacks.
struct RecordingRunTests {
  private typealias Ending = RecordingRun.RecordingEnding

  private func ending(
    _ signal: Int32?, isRotationDue: Bool = false, isBroken: Bool = false, isFull: Bool = false
  ) -> Ending {
    Ending(signal: signal, isRotationDue: isRotationDue, isBroken: isBroken, isFull: isFull)
  }

  @Test("SIGHUP begins a new file where one is due, unless another signal came")
  func rotation() {
    #expect(ending(SIGHUP, isRotationDue: true) == .rotated)
    // Steps that are missing then are between two files anyway.
    #expect(ending(SIGHUP, isRotationDue: true, isBroken: true) == .rotated)
    #expect(ending(SIGTERM, isRotationDue: true) == .over)
    #expect(ending(SIGHUP) == .over)
  }

  @Test("a file that is full is followed by a new one, unless somebody ended the recording")
  func full() {
    #expect(ending(nil, isFull: true) == .rotated)
    #expect(ending(nil, isBroken: true, isFull: true) == .rotated)
    #expect(ending(SIGTERM, isFull: true) == .over)
    #expect(ending(SIGHUP, isFull: true) == .over)
  }

  @Test("a hole begins another run, unless somebody ended the recording")
  func hole() {
    #expect(ending(nil, isBroken: true) == .broken)
    #expect(ending(SIGINT, isBroken: true) == .over)
    #expect(ending(nil) == .over)
  }

  @Test("what a file lacks is counted by its cause")
  func missing() {
    func problem(_ steps: UInt64, _ bytes: Int) -> String? {
      RecordingRun.problem(of: "run.trace", droppedSteps: steps, lostBytes: bytes)
    }
    #expect(problem(0, 0) == nil)
    #expect(problem(7, 0) == "run.trace lacks 7 steps, because the file was too slow")
    #expect(problem(0, 512) == "run.trace lacks 512 bytes, which could not be written")
    #expect(
      problem(7, 512)
        == "run.trace lacks 7 steps, because the file was too slow and 512 bytes, "
        + "which could not be written")
  }

  @Test("a slow file is reported at once, then every minute while more is missing")
  func slow() {
    let start = ContinuousClock.now
    func moment(_ seconds: Double) -> ContinuousClock.Instant {
      start.advanced(by: .seconds(seconds))
    }
    var notes = DroppedStepNotes(path: "run.trace")
    #expect(notes.note(0, at: start) == nil)
    #expect(notes.note(3, at: start) == "run.trace is too slow: 3 steps are missing so far")
    #expect(notes.note(9, at: moment(59.9)) == nil)
    #expect(notes.note(9, at: moment(60))?.contains("9 steps") == true)
    #expect(notes.note(9, at: moment(200)) == nil)
    #expect(notes.note(10, at: moment(200))?.contains("10 steps") == true)
  }
}
