// One client that has connected to the board's port of Signal K.

import OutputProtocols
import SensorTypes
import ServiceProtocol
import Synchronization

/// A client of Signal K over TCP: a greeting, then what it subscribes to, a line for each message.
///
/// One that reads too slowly is not told anything until it has read what waits. It then gets the newest values, and the end of those
/// that were lost meanwhile: nothing that it was told stays true for it by mistake. Requests are taken at a limited rate, and not from a
/// client that does not read its messages; the rest waits in its own kernel.
final class SignalKConnection: ServedConnection {
  /// The number of bytes that may wait before a client is passed over.
  static let mostWaiting = 16_384
  /// Requests that are taken at once, and those of each second after them. A request of more than 1 KiB counts as several.
  static let requests = (atOnce: 256.0, rate: 20.0, size: 1_024)
  /// Seconds after which requests that wait are looked at again.
  private static let look = 0.5

  private struct State: Sendable {
    var session: SignalKSession
    var waiting: [[UInt8]] = []
    var count = 0
    var passedOver: UInt64 = 0
    var closed: Double?
    /// What was read and is not taken yet: one read of the server at most.
    var pending: ArraySlice<UInt8> = []
    /// The number of requests that may be taken at a moment.
    var credit = SignalKConnection.requests.atOnce
    var moment: Double?

    mutating func add(_ message: String) {
      let line = Array(message.utf8) + [13, 10]
      waiting.append(line)
      count += line.count
    }
  }

  private let state: Mutex<State>
  private let wake: @Sendable () -> Void
  private let changed: @Sendable () -> Void
  private let leave: @Sendable (_ passedOver: UInt64) -> Void

  /// - Parameters:
  ///   - clock: What the clock of the machine shows.
  ///   - wake: Called when there is something to write.
  ///   - changed: Called when the client may have subscribed to something else.
  ///   - leave: Called once the client has gone, with the number of rounds in which it was passed over.
  init(
    _ session: SignalKSession, clock: ClockReading, wake: @escaping @Sendable () -> Void,
    changed: @escaping @Sendable () -> Void,
    leave: @escaping @Sendable (_ passedOver: UInt64) -> Void
  ) {
    var state = State(session: session)
    state.add(session.hello(version: SignalKSession.version, clock: clock))
    self.state = Mutex(state)
    (self.wake, self.changed, self.leave) = (wake, changed, leave)
  }

  /// A client that says nothing more has gone: there may be nothing to write for long by which that would be noticed.
  let isOneWay = false
  let hasSmallBuffer = true
  /// What waits is bounded, and what is newer comes after it.
  let maySleep = true
  var isReading: Bool {
    state.withLock { $0.pending.isEmpty && $0.count < Self.mostWaiting }
  }
  var isClosed: Bool { state.withLock { $0.closed != nil } }
  var waitingCount: Int { state.withLock { $0.count } }
  var deadline: Double? {
    state.withLock { state in
      state.closed ?? (state.pending.isEmpty ? nil : (state.moment ?? 0) + Self.look)
    }
  }

  /// What the client needs of the board.
  var demand: Demand { state.withLock { $0.closed == nil ? $0.session.demand : Demand() } }
  /// Seconds after which something may be due, or `nil` while it has not subscribed.
  var interval: Double? { state.withLock { $0.closed == nil ? $0.session.interval : nil } }
  var passedOver: UInt64 { state.withLock { $0.passedOver } }

  func advance(to now: Double) {
    if state.withLock({ Self.take(&$0, at: now) }) { changed() }
  }

  func close(_ reason: Farewell, at now: Double) { state.withLock { $0.closed = $0.closed ?? now } }

  func receive(_ bytes: UnsafeRawBufferPointer, at now: Double) {
    let hasRequests = state.withLock { state in
      state.pending += bytes
      return Self.take(&state, at: now)
    }
    if hasRequests { changed() }
  }

  /// Takes what was read, as far as there is credit. Returns whether something was asked for.
  private static func take(_ state: inout State, at now: Double) -> Bool {
    guard state.closed == nil else { return false }
    let passed = max(0, now - (state.moment ?? now))
    state.credit = min(state.credit + passed * requests.rate, requests.atOnce)
    state.moment = now
    let before = state.session.counters
    while !state.pending.isEmpty, state.credit >= 1 {
      let piece = state.pending.prefix(requests.size)
      let end = piece.firstIndex(of: 10).map { piece[...$0] } ?? piece
      state.session.receive(Array(end))
      state.pending = state.pending.dropFirst(end.count)
      state.credit -= 1
    }
    return state.session.counters.requests != before.requests
  }

  func next() -> [UInt8]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else { return nil }
      let line = state.waiting.removeFirst()
      state.count -= line.count
      return line
    }
  }

  func end() { leave(passedOver) }

  /// Tells the client what is due of a moment's values. Returns the number of messages.
  func tell(_ snapshot: SignalKSnapshot) -> Int {
    let (count, isFirst) = state.withLock { state in
      guard state.closed == nil else { return (0, false) }
      guard state.count < Self.mostWaiting else {
        state.passedOver += 1
        return (0, false)
      }
      let wasEmpty = state.waiting.isEmpty
      let messages = state.session.messages(snapshot)
      for message in messages { state.add(message) }
      return (messages.count, wasEmpty && !messages.isEmpty)
    }
    if isFirst { wake() }
    return count
  }
}
