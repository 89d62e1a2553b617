import Synchronization

/// Where a recording's bytes go; throws what the file system says. Called on one thread, which may wait there.
package typealias TraceSink = @Sendable (UnsafeRawBufferPointer) throws -> Void

/// The thread that a recording is written on.
package protocol RecorderThread: Sendable {
  /// Has the work done once more.
  func wake()
  /// Has the work done a last time and waits for the end of the thread. Returns whether it ended within that time.
  @discardableResult func stop(within seconds: Double) -> Bool
}

/// Writes a recording while the hub runs, on a thread of its own.
///
/// A sink may be slow: what it has not taken yet waits, up to a limit. Beyond it whole steps are dropped and counted, and
/// the recording says where they are missing.
package final class TraceWriter: Sendable {
  /// Starts a thread of this name, which does its work each time it is woken.
  package typealias TraceThreadStarter =
    @Sendable (_ name: String, _ work: @escaping @Sendable () -> Void) -> any RecorderThread

  static let version = 1
  /// The number of bytes that may wait for the sink; as many again may be on their way. The simulated board, four chips,
  /// makes 36 kB/s: almost four minutes of it.
  package static let limit = 8 << 20
  /// How long the end of a recording waits for the sink to take the rest, seconds.
  static let patience = 5.0

  private struct State {
    var waiting: [UInt8] = []
    /// The memory of the last batch, for the next.
    var spare: [UInt8] = []
    var failure: String?
    /// The number of steps that are missing behind what waits.
    var hole = 0
    var dropped: UInt64 = 0
  }

  private let sink: TraceSink
  private let limit: Int
  private let state = Mutex(State())
  // `nil`: the caller writes, and waits for the sink.
  private let thread: Mutex<(any RecorderThread)?>

  /// Writes the head at once, so that a recording that cannot be written fails before it begins.
  ///
  /// - Parameter startThread: Starts the thread that writes; `nil`: `append` writes before it returns, and nothing is
  ///   dropped, as on a clock that a caller moves.
  package init(
    boardText: String, boardName: String, modelText: String? = nil,
    limit: Int = TraceWriter.limit, startThread: TraceThreadStarter?, sink: @escaping TraceSink
  ) throws {
    self.sink = sink
    self.limit = limit
    thread = Mutex(nil)
    var head = "lodestone-trace \(Self.version)\n"
    func append(_ text: String, as title: (Int) -> String) {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      head += title(lines.count) + "\n"
      for line in lines { head += line + "\n" }
    }
    append(boardText) { "board \($0) \(boardName)" }
    if let modelText { append(modelText) { "model \($0)" } }
    try Array(head.utf8).withUnsafeBytes { try sink($0) }
    guard let startThread else { return }
    let thread = startThread("recorder") { [weak self] in self?.write() }
    self.thread.withLock { $0 = thread }
  }

  /// Takes one step; never waits for the sink unless it is in step. The first failure is kept and ends the recording; the
  /// hub goes on.
  package func append(_ trace: TraceBuffer) {
    let isWaiting = state.withLock { state in
      guard state.failure == nil else { return false }
      // A hole is one long one, not many short ones: half of the queue has to be free again.
      let room = state.hole > 0 ? limit / 2 : limit
      guard state.waiting.count + trace.bytes.count <= room else {
        state.hole += 1
        state.dropped += 1
        return false
      }
      Self.close(&state)
      state.waiting += trace.bytes
      return true
    }
    guard isWaiting else { return }
    if let thread = thread.withLock({ $0 }) {
      thread.wake()
    } else {
      write()
    }
  }

  /// Writes what waits and ends; a sink that takes nothing for `patience` seconds loses the rest.
  package func finish() {
    state.withLock { Self.close(&$0) }
    let thread = thread.withLock { $0 }
    guard let thread, !thread.stop(within: Self.patience) else { return }
    state.withLock { state in
      guard state.failure == nil else { return }
      state.failure =
        "the last \(state.waiting.count) bytes and more were not taken within \(Int(Self.patience)) s"
    }
  }

  /// Why recording stopped, if it did.
  package var failure: String? { state.withLock { $0.failure } }

  /// The number of steps that are missing in the recording because the sink was too slow.
  package var dropped: UInt64 { state.withLock { $0.dropped } }

  /// Whether steps are missing, and all that came behind them so far is written or on its way.
  package var hasCaughtUp: Bool {
    state.withLock { $0.dropped > 0 && $0.hole == 0 && $0.waiting.isEmpty }
  }

  private static func close(_ state: inout State) {
    guard state.hole > 0 else { return }
    var line = TraceBuffer()
    line.begin("g", state.hole)
    line.end()
    state.waiting += line.bytes
    state.hole = 0
  }

  private func write() {
    var batch = state.withLock { state in
      defer {
        state.waiting = state.spare
        state.spare = []
      }
      return state.waiting
    }
    guard !batch.isEmpty else { return }
    do {
      try batch.withUnsafeBytes { try sink($0) }
      batch.removeAll(keepingCapacity: true)
      state.withLock { $0.spare = batch }
    } catch {
      state.withLock { state in
        state.failure = "\(error)"
        state.waiting = []
      }
    }
  }
}
