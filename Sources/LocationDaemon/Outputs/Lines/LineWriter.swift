// Messages on their way to a line that may be missing, go away and come back.

import Dispatch
package import LinuxIO
package import SensorTypes
import Synchronization

/// Writes messages to a line, and opens it again after it was lost.
///
/// A line is opened on a queue of its own, one attempt at a time, with growing pauses. What the line does not take waits here, some seconds
/// of it at most; beyond that the oldest messages are left out whole, and counted. Nobody waits for the line.
package final class LineWriter: Sendable {
  package typealias Open = @Sendable () throws(OutputLineError) -> any OutputLine
  /// Carries out work that may take a while, elsewhere.
  package typealias Perform = @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

  /// The pauses in seconds between two attempts to open a line: each twice the one before.
  static let pauses = 0.5...30.0
  /// A line that was open for this time in seconds is opened again after the shortest pause.
  private static let settled = 10.0
  /// The time in seconds between two looks whether the line and somebody at its other end are there.
  static let look = 0.5
  /// The time in seconds after which a line that has taken less than there was is tried again.
  static let retry = 0.02
  /// The time in seconds after which a line that takes nothing is a problem.
  static let patience = 5.0

  private enum Phase: Sendable {
    case closed(until: Timestamp?)
    case opening
    case open(any OutputLine, since: Timestamp)
  }

  private struct State: Sendable {
    var phase = Phase.closed(until: nil)
    /// What the attempt to open the line has come to.
    var arrival: Result<any OutputLine, OutputLineError>?
    var isHeard = false
    var nextLook: Timestamp?
    var pause = LineWriter.pauses.lowerBound
    /// The number of attempts since the line was open.
    var attempts = 0
    var reason: String?

    var waiting: [[UInt8]] = []
    /// The number of bytes of the first message that were written.
    var written = 0
    var count = 0
    /// Since when the line has taken nothing although there was something.
    var stuck: Timestamp?
    var sent: UInt64 = 0
    var dropped: UInt64 = 0
    var openings: UInt64 = 0
  }

  package let place: String
  /// The number of bytes that may wait.
  let capacity: Int
  private let knowsListeners: Bool
  private let open: Open
  private let perform: Perform
  private let state = Mutex(State())
  private let waking = OutputWaking()

  /// Makes the writer of a line that is opened at the first `advance(to:)`.
  ///
  /// - Parameters:
  ///   - place: The device, for messages.
  ///   - capacity: The number of bytes that may wait.
  ///   - knowsListeners: Whether the line can tell that nobody is at its other end.
  ///   - perform: Carries out the opening of the line; `nil`: on a queue of the writer's own.
  ///   - open: Opens the line.
  package init(
    place: String, capacity: Int, knowsListeners: Bool = false, perform: Perform? = nil,
    open: @escaping Open
  ) {
    (self.place, self.capacity, self.knowsListeners) = (place, capacity, knowsListeners)
    self.open = open
    if let perform {
      self.perform = perform
    } else {
      let queue = DispatchQueue(label: "lodestone.line")
      self.perform = { queue.async(execute: $0) }
    }
  }

  /// Is given a closure that has `advance(to:)` called, on any thread.
  package func begin(_ wake: @escaping @Sendable () -> Void) { waking.begin(wake) }

  /// Whether the line is open and somebody may be at its other end.
  package var isHeard: Bool { state.withLock { $0.isHeard } }

  /// The number of times that the line was opened.
  var openings: UInt64 { state.withLock { $0.openings } }
  /// The number of bytes that wait.
  var waitingCount: Int { state.withLock { $0.count - $0.written } }

  package var summary: OutputSummary {
    state.withLock { state in
      var summary = OutputSummary()
      if knowsListeners { summary.listeners = state.isHeard ? 1 : 0 }
      (summary.sent, summary.dropped) = (state.sent, state.dropped)
      summary.problem = state.reason.map {
        state.attempts > 1 ? "\($0) (tried \(state.attempts) times)" : $0
      }
      // A device that was there and went away may be back in a moment.
      summary.isLasting = state.openings == 0 && state.reason != nil
      return summary
    }
  }

  /// Opens the line where that is due, looks after it, and writes what waits.
  ///
  /// - Returns: When to call it next, or `nil` while it wakes somebody itself.
  @discardableResult
  package func advance(to now: Timestamp) -> Timestamp? {
    let isDue = state.withLock { state in
      if case .closed(let until) = state.phase, now >= until ?? now {
        state.phase = .opening
        return true
      }
      return false
    }
    if isDue { beginOpening() }
    return state.withLock { state in
      if let arrival = state.arrival {
        state.arrival = nil
        take(arrival, &state, at: now)
      }
      look(&state, at: now)
      write(&state, at: now)
      switch state.phase {
      case .closed(let until): return until
      case .opening: return nil
      case .open:
        let retry = state.waiting.isEmpty ? nil : now.advanced(bySeconds: Self.retry)
        return [state.nextLook, retry].compactMap(\.self).min()
      }
    }
  }

  /// Has a message written, which is a whole one. While nobody hears it, it is left out.
  package func send(_ message: [UInt8], at now: Timestamp) {
    guard !message.isEmpty else { return }
    state.withLock { state in
      guard state.isHeard, message.count <= capacity else {
        state.dropped += 1
        return
      }
      while state.count - state.written + message.count > capacity {
        // A message that was begun is ended: its rest would be taken for the beginning of another one.
        let oldest = state.written > 0 ? 1 : 0
        guard state.waiting.count > oldest else { break }
        state.count -= state.waiting.remove(at: oldest).count
        state.dropped += 1
      }
      state.waiting.append(message)
      state.count += message.count
    }
  }

  // MARK: The line

  private func beginOpening() {
    let open = self.open
    perform { [weak self] in
      let result: Result<any OutputLine, OutputLineError>
      do throws(OutputLineError) {
        result = .success(try open())
      } catch {
        result = .failure(error)
      }
      guard let self else { return }
      state.withLock { $0.arrival = result }
      waking()
    }
  }

  private func take(
    _ arrival: Result<any OutputLine, OutputLineError>, _ state: inout State, at now: Timestamp
  ) {
    switch arrival {
    case .success(let line):
      state.phase = .open(line, since: now)
      state.openings += 1
      state.nextLook = now
    case .failure(let error): lose(error, &state, at: now)
    }
  }

  /// Gives the line up, and plans when it is tried again.
  private func lose(_ error: OutputLineError, _ state: inout State, at now: Timestamp) {
    if case .open(_, let since) = state.phase, now.seconds(since: since) >= Self.settled {
      (state.pause, state.attempts) = (Self.pauses.lowerBound, 0)
    }
    state.phase = .closed(until: now.advanced(bySeconds: state.pause))
    state.pause = min(2 * state.pause, Self.pauses.upperBound)
    state.attempts += 1
    state.reason = error.reason
    state.nextLook = nil
    clear(&state)
  }

  private func clear(_ state: inout State) {
    state.dropped += UInt64(state.waiting.count)
    state.waiting.removeAll(keepingCapacity: true)
    (state.count, state.written, state.stuck, state.isHeard) = (0, 0, nil, false)
  }

  private func look(_ state: inout State, at now: Timestamp) {
    guard case .open(let line, let since) = state.phase, now >= state.nextLook ?? now else {
      return
    }
    do throws(OutputLineError) {
      let isHeard = try line.check()
      if !isHeard { clear(&state) }
      state.isHeard = isHeard
      state.nextLook = now.advanced(bySeconds: Self.look)
      if state.stuck.map({ now.seconds(since: $0) >= Self.patience }) ?? false {
        state.reason = "the other end takes nothing, so that messages are left out"
      } else if state.stuck == nil {
        state.reason = nil
      }
      if now.seconds(since: since) >= Self.settled {
        (state.pause, state.attempts) = (Self.pauses.lowerBound, 0)
      }
    } catch {
      lose(error, &state, at: now)
    }
  }

  private func write(_ state: inout State, at now: Timestamp) {
    guard case .open(let line, _) = state.phase, state.isHeard else { return }
    while let message = state.waiting.first {
      let result: Result<Int, OutputLineError> = message.withUnsafeBytes { bytes in
        do throws(OutputLineError) {
          let rest = UnsafeRawBufferPointer(rebasing: bytes[state.written...])
          return .success(try line.write(rest))
        } catch {
          return .failure(error)
        }
      }
      switch result {
      case .success(0):
        state.stuck = state.stuck ?? now
        return
      case .success(let count):
        state.stuck = nil
        state.written += count
        guard state.written >= message.count else { continue }
        state.waiting.removeFirst()
        state.count -= message.count
        (state.written, state.sent) = (0, state.sent + 1)
      case .failure(let error):
        lose(error, &state, at: now)
        return
      }
    }
    state.stuck = nil
  }
}
