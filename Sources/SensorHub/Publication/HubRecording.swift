// A recording of a hub, also of one that runs.

package import Recording
import SensorBus
import Synchronization

/// A recording of a hub, from its beginning to its end.
package final class HubRecording: Sendable {
  private struct State: Sendable {
    var writer: TraceWriter?
    var isOver = false
    /// What had become of it at its end.
    var failure: String?
    var droppedSteps: UInt64 = 0
  }

  private let state = Mutex(State())
  let isOn = RecordingSwitch()

  init() {}

  func begin(_ writer: TraceWriter) {
    let isOver = state.withLock { state in
      if !state.isOver { state.writer = writer }
      return state.isOver
    }
    // The hub has ended meanwhile.
    if isOver { writer.finish() }
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Takes the steps, until the recording is over.
  var writer: TraceWriter? { state.withLock { $0.isOver ? nil : $0.writer } }

  /// The reason why the recording stopped early, or `nil`.
  package var failure: String? { state.withLock { $0.writer?.failure ?? $0.failure } }

  /// The number of steps that are missing because the sink was too slow.
  package var droppedSteps: UInt64 { state.withLock { $0.writer?.dropped ?? $0.droppedSteps } }

  /// Whether steps are missing and the sink has caught up since: a replay ends where they are missing, so that another recording may begin.
  package var isBroken: Bool { state.withLock { $0.writer?.hasCaughtUp ?? false } }

  /// Ends the recording. The chips go on. A sink that takes nothing is waited for, five seconds at most.
  package func end() {
    let writer = state.withLock { state in
      defer { state.isOver = true }
      return state.isOver ? nil : state.writer
    }
    isOn.turnOff()
    guard let writer else { return }
    writer.finish()
    state.withLock { state in
      (state.failure, state.droppedSteps) = (writer.failure, writer.dropped)
      state.writer = nil
    }
  }
}

extension Hub {
  /// A recording is going on.
  package struct RecordedAlready: Error, CustomStringConvertible {
    package var description: String { "the board is being recorded already" }
  }

  /// Begins a recording while the hub runs.
  ///
  /// A recording begins with the setup of the chips, so each bus sets its chips up again with its next step, and measures nothing
  /// meanwhile: tenths of a second, or seconds for a receiver that has to be found again. The fusion goes on with what it knows.
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
    for (plan, renewal) in renewals { renewal.begin(maker(of: plan, recording: place.isOn)) }
    runs.withLock { for run in $0 { run.wake() } }
    return place
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

  /// The recording that goes on or was made last, or `nil`.
  package var newestRecording: HubRecording? { recording.withLock { $0 } }
}
