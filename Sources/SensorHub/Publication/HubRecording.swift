// A recording of a hub that runs.

package import Recording
import Synchronization

/// A recording of a hub, from its beginning to its end.
package final class HubRecording: Sendable {
  private struct State: Sendable {
    var writer: TraceWriter?
    var isOver = false
  }

  private let state = Mutex(State())
  let isOn = RecordingSwitch()

  init() {}

  func begin(_ writer: TraceWriter) { state.withLock { $0.writer = writer } }

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Takes the steps, until the recording is over.
  var writer: TraceWriter? { state.withLock { $0.isOver ? nil : $0.writer } }

  /// The reason why the recording stopped, if it did.
  package var failure: String? { state.withLock { $0.writer?.failure } }

  /// The number of steps that are missing because the sink was too slow.
  package var droppedSteps: UInt64 { state.withLock { $0.writer?.dropped ?? 0 } }

  /// Whether steps are missing and the sink has caught up since: a replay ends where they are missing.
  package var isBroken: Bool { state.withLock { $0.writer?.hasCaughtUp ?? false } }

  /// Ends the recording. The chips go on. A sink that takes nothing is waited for, five seconds at most.
  package func end() {
    let writer = state.withLock { state in
      defer { state.isOver = true }
      return state.isOver ? nil : state.writer
    }
    isOn.turnOff()
    writer?.finish()
  }
}

extension Hub {
  /// Begins a recording while the hub runs.
  ///
  /// A recording begins with the setup of the chips, so each is set up again. For about a second nothing is measured; what the fusion
  /// knows stays.
  ///
  /// - Throws: `RecordedAlready`, or what the sink throws.
  package func beginRecording(
    boardText: String, boardName: String, sink: @escaping TraceSink
  ) throws -> HubRecording {
    // The place is taken before the sink is asked, which may take time.
    let place = HubRecording()
    try recording.withLock { recording in
      guard recording?.isOver ?? true else { throw RecordedAlready() }
      recording = place
    }
    do {
      place.begin(try makeWriter(boardText, boardName, sink))
    } catch {
      recording.withLock { $0 = nil }
      throw error
    }
    stopRuns()
    start()
    return place
  }

  /// A recording is going on.
  package struct RecordedAlready: Error, CustomStringConvertible {
    package var description: String { "the board is being recorded already" }
  }

  func makeRecording(
    _ boardText: String, _ boardName: String, _ sink: @escaping TraceSink
  ) throws -> HubRecording {
    let recording = HubRecording()
    recording.begin(try makeWriter(boardText, boardName, sink))
    return recording
  }

  private func makeWriter(
    _ boardText: String, _ boardName: String, _ sink: @escaping TraceSink
  ) throws -> TraceWriter {
    try TraceWriter(
      boardText: boardText, boardName: boardName, modelText: modelText, startThread: startThread,
      sink: sink)
  }

  /// Why the recording stopped, if it did.
  package var recordingFailure: String? { recording.withLock { $0?.failure } }

  /// The number of steps that are missing in the recording because its sink was too slow.
  package var droppedSteps: UInt64 { recording.withLock { $0?.droppedSteps ?? 0 } }

  /// Whether steps are missing in the recording and its sink has caught up since: a replay ends where they are missing, so
  /// that another recording may begin.
  package var recordingIsBroken: Bool { recording.withLock { $0?.isBroken ?? false } }
}
