// A node of NMEA 2000 with its bus: what comes in, what the node answers, and what waits to be sent.

package import LinuxIO
package import OutputProtocols
package import SensorTypes
import Synchronization

/// A node and the interface that it is at, which may be missing, down, off the bus, and come back.
///
/// Its own thread calls `service(at:)`: that opens the interface, feeds the node what arrives, and sends. The thread of the outputs only puts
/// messages into its queue. After each interruption the node claims its address again.
package final class NMEA2000Link: Sendable {
  package typealias Open = @Sendable () throws(OutputLineError) -> any CANLine

  /// The number of frames of messages that may wait. Beyond it the oldest messages are left out whole: a bus that is in order takes
  /// some 1900 frames a second.
  static let mostWaiting = 256
  /// The number of claims and answers that may wait: the node limits their number per second.
  static let mostUrgent = 256
  /// The number of frames that one round reads.
  static let mostReads = 64
  /// The number of rounds that may fail to read, one after the other, until the interface is opened again.
  private static let mostFailures = 16
  /// The pauses in seconds between two attempts to open an interface: each twice the one before.
  static let pauses = 0.5...30.0
  /// The time in seconds between two looks at the interface.
  static let look = 1.0
  /// The time in seconds after which frames that found no room are tried again.
  static let retry = 0.01
  /// The time in seconds for which a bus may take nothing until that is a problem.
  static let patience = 3.0

  struct LinkState: Sendable {
    var node: NMEA2000Node
    var line: (any CANLine)?
    /// The number of times that an interface was opened.
    var openings: UInt64 = 0
    /// How the interface was seen last; `nil` before it was looked at.
    var condition: CANCondition?
    var isUnheard = false
    /// Whether the interface was switched on and not seen on its bus yet.
    var isCarrierLate = false
    var nextOpen: Timestamp?
    var nextLook: Timestamp?
    var pause = NMEA2000Link.pauses.lowerBound
    var attempts = 0
    var failures = 0
    /// Whose frames are received, as the filter was set last.
    var filtered: UInt8?

    var urgent: [CANFrame] = []
    var waiting: [[CANFrame]] = []
    /// The number of frames of the first message that were sent.
    var started = 0
    var waitingCount = 0
    /// Since when the bus has taken nothing.
    var stuck: Timestamp?
    var requested: [UInt32] = []
    var sent: UInt64 = 0
    var dropped: UInt64 = 0
    var reason: String?
  }

  /// Whether the node may send, and what it is asked for.
  package struct News: Hashable, Sendable {
    package var isReady = false
    package var requested: [UInt32] = []
  }

  package let place: String
  private let open: Open
  let state: Mutex<LinkState>
  /// Wakes the thread of the outputs: the node may send now or no more, or is asked for something.
  private let waking = OutputWaking()

  package init(place: String, _ node: NMEA2000Node, open: @escaping Open) {
    (self.place, self.open) = (place, open)
    state = Mutex(LinkState(node: node))
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) { waking.begin(wake) }

  // MARK: The thread of the outputs

  /// Whether the interface is on its bus, so that what is asked of the board may be heard.
  package var isUp: Bool { state.withLock { $0.isUp } }
  /// Whether the node has an address.
  package var isReady: Bool { state.withLock { $0.isReady } }
  /// What the node has seen.
  package var counters: NMEA2000Node.Counters { state.withLock { $0.node.counters } }
  /// The descriptor to wait for, with a number that changes when it is another one.
  package var watched: (descriptor: Int32, generation: UInt64)? {
    state.withLock { state in state.line?.descriptor.map { ($0, state.openings) } }
  }

  package var summary: OutputSummary {
    state.withLock { state in
      var summary = OutputSummary()
      (summary.sent, summary.dropped, summary.problem) = (state.sent, state.dropped, state.problem)
      // An interface that was there and went away may be back in a moment.
      summary.isLasting = state.openings == 0 && state.reason != nil
      return summary
    }
  }

  /// Returns whether the node may send, and the parameter groups that somebody has asked for since the last call.
  package func takeNews() -> News {
    state.withLock { state in
      defer { state.requested.removeAll(keepingCapacity: true) }
      return News(isReady: state.isReady, requested: state.requested)
    }
  }

  /// Puts messages into the queue. Without an address they are left out.
  package func send(_ messages: [NMEA2000Message], hasFault: Bool) {
    state.withLock { state in
      state.node.hasFault = hasFault
      for message in messages { state.enqueue(message) }
    }
  }

  // MARK: The thread of the link

  /// Opens the interface where that is due, takes what has arrived, and sends what waits.
  ///
  /// - Returns: When to call it next, at the latest.
  package func service(at now: Timestamp) -> Timestamp {
    let isDue = state.withLock { $0.line == nil && now >= $0.nextOpen ?? now }
    if isDue {
      do throws(OutputLineError) {
        let line = try open()
        state.withLock { $0.take(line, at: now) }
      } catch {
        state.withLock { $0.lose(error, at: now) }
      }
    }
    let (next, isNews) = state.withLock { state in
      let before = (state.isReady, state.requested.count)
      let next = state.round(at: now)
      return (next, before != (state.isReady, state.requested.count))
    }
    if isNews { waking() }
    return next
  }
}

extension NMEA2000Link.LinkState {
  var isUp: Bool { line != nil && condition == .up }
  var isReady: Bool { isUp && node.address != nil }

  /// Why nothing is sent at the moment, in one line.
  fileprivate var problem: String? {
    if let reason { return attempts > 1 ? "\(reason) (tried \(attempts) times)" : reason }
    if case .withoutAddress = node.state {
      return "every address of the bus is taken: it is tried again each minute"
    }
    if node.counters.duplicateNames > 0 {
      return "another device has the same number: give one of them another 'uniqueNumber'"
    }
    return nil
  }

  mutating func enqueue(_ message: NMEA2000Message) {
    guard isReady else {
      dropped += 1
      return
    }
    let frames = node.frames(for: message)
    guard !frames.isEmpty, frames.count <= NMEA2000Link.mostWaiting else {
      dropped += 1
      return
    }
    while waitingCount + frames.count > NMEA2000Link.mostWaiting {
      // A fast packet that was begun is ended.
      let oldest = started > 0 ? 1 : 0
      guard waiting.count > oldest else { break }
      waitingCount -= waiting.remove(at: oldest).count
      dropped += 1
    }
    waiting.append(frames)
    waitingCount += frames.count
  }

  // MARK: The interface

  fileprivate mutating func take(_ line: any CANLine, at now: Timestamp) {
    self.line = line
    openings += 1
    (condition, nextLook, failures, isUnheard) = (nil, now, 0, false)
    isCarrierLate = false
    (filtered, reason) = (nil, nil)
  }

  fileprivate mutating func lose(_ error: OutputLineError, at now: Timestamp) {
    line = nil
    condition = nil
    reason = error.reason
    nextOpen = now.advanced(bySeconds: pause)
    pause = min(2 * pause, NMEA2000Link.pauses.upperBound)
    attempts += 1
    clear()
  }

  private mutating func clear() {
    dropped += UInt64(waiting.count)
    waiting.removeAll(keepingCapacity: true)
    urgent.removeAll(keepingCapacity: true)
    requested.removeAll(keepingCapacity: true)
    (started, waitingCount, stuck) = (0, 0, nil)
  }

  private mutating func look(at line: any CANLine, at now: Timestamp) throws(OutputLineError) {
    let seen = try line.condition()
    // That an interface is on its bus the kernel tells up to a second after it was switched on.
    let isEarly = seen == .busOff && condition != .up && condition != .busOff && !isCarrierLate
    isCarrierLate = isEarly
    if !isEarly { try see(seen, at: now) }
  }

  /// Takes note of how the interface is. Back on the bus, the node claims its address: others may have taken it meanwhile.
  private mutating func see(
    _ seen: CANCondition, at now: Timestamp
  ) throws(OutputLineError) {
    let before = condition
    condition = seen
    switch seen {
    case .up:
      guard before != .up else { return }
      (reason, isUnheard, attempts, pause) = (nil, false, 0, NMEA2000Link.pauses.lowerBound)
      clear()
      try filter(at: nil)
      add(node.start(at: now))
    case .down:
      reason = CANSocket.down(line?.place ?? "can0")
      if before != .down { clear() }
    case .busOff:
      reason =
        "bus-off: the controller has left the bus after too many errors. Check wiring, termination and bit rate; restart-ms lets it return"
      if before != .busOff { clear() }
    }
  }

  /// Receives what the node has to answer, and the frames of who uses its address.
  private mutating func filter(at address: UInt8?) throws(OutputLineError) {
    // Reserved bit, data page and PDU format of the identifier: the parameter groups that a node takes.
    let groups = [
      NMEA2000PGN.request, NMEA2000PGN.addressClaim, NMEA2000PGN.transportData,
      NMEA2000PGN.transportManagement, NMEA2000PGN.groupFunction,
    ]
    var filters = groups.map {
      CANSocketFilter(identifier: ($0 & 0x3_FF00) << 8, mask: 0x03FF_0000)
    }
    if let address { filters.append(CANSocketFilter(identifier: UInt32(address), mask: 0xFF)) }
    try line?.receive(only: filters)
    filtered = address
  }

  // MARK: A round

  fileprivate mutating func round(at now: Timestamp) -> Timestamp {
    guard line != nil else { return nextOpen ?? now }
    do throws(OutputLineError) {
      if now >= nextLook ?? now, let line {
        nextLook = now.advanced(bySeconds: NMEA2000Link.look)
        try look(at: line, at: now)
      }
      let isMore = try read(at: now)
      if isUp {
        if let due = node.deadline, now >= due { add(node.tick(at: now)) }
        if node.address != filtered { try filter(at: node.address) }
        try write(at: now)
      }
      return isMore ? now : deadline(after: now)
    } catch {
      lose(error, at: now)
      return nextOpen ?? now
    }
  }

  private func deadline(after now: Timestamp) -> Timestamp {
    let look = nextLook ?? now.advanced(bySeconds: NMEA2000Link.look)
    guard isUp else { return look }
    let isWaiting = !urgent.isEmpty || !waiting.isEmpty
    let retry = isWaiting ? now.advanced(bySeconds: NMEA2000Link.retry) : nil
    return [look, retry, node.deadline].compactMap(\.self).min() ?? look
  }

  private mutating func add(_ frames: [CANFrame]) {
    let room = NMEA2000Link.mostUrgent - urgent.count
    urgent += frames.prefix(max(0, room))
    dropped += UInt64(max(0, frames.count - max(0, room)))
  }

  /// Takes what has arrived. Returns whether more may be there.
  private mutating func read(at now: Timestamp) throws(OutputLineError) -> Bool {
    guard let line else { return false }
    for _ in 0..<NMEA2000Link.mostReads {
      let arrival: CANArrival?
      do throws(OutputLineError) {
        arrival = try line.next()
        failures = 0
      } catch {
        // The socket tells once that its interface went down: the interface itself says more.
        failures += 1
        guard failures < NMEA2000Link.mostFailures else { throw error }
        try see(try line.condition(), at: now)
        return false
      }
      switch arrival {
      case nil: return false
      case .frame(let raw): receive(raw, at: now)
      case .event(let event): try take(event, at: now)
      case .other: break
      }
    }
    return true
  }

  private mutating func receive(_ raw: CANSocketFrame, at now: Timestamp) {
    let bytes = (0..<min(max(raw.count, 0), CANFrame.capacity)).map {
      UInt8(truncatingIfNeeded: raw.word >> (8 * $0))
    }
    guard isUp, let frame = CANFrame(identifier: raw.identifier, bytes: bytes) else { return }
    isUnheard = false
    let reaction = node.receive(frame, at: now)
    add(reaction.frames)
    for pgn in reaction.requested where !requested.contains(pgn) { requested.append(pgn) }
  }

  private mutating func take(_ event: CANEvent, at now: Timestamp) throws(OutputLineError) {
    switch event {
    case .busOff: try see(.busOff, at: now)
    case .restarted:
      // A controller that returns by itself may be faster than a look.
      if condition == .up { condition = nil }
      try see(.up, at: now)
    case .unheard: isUnheard = true
    case .active: isUnheard = false
    }
  }

  private mutating func write(at now: Timestamp) throws(OutputLineError) {
    guard let line else { return }
    var isRoom = true
    while isRoom, let frame = urgent.first {
      isRoom = try line.send(CANSocketFrame(frame))
      if isRoom { urgent.removeFirst() }
    }
    while isRoom, let message = waiting.first {
      guard started < message.count else {
        waiting.removeFirst()
        waitingCount -= message.count
        (started, sent) = (0, sent + 1)
        continue
      }
      isRoom = try line.send(CANSocketFrame(message[started]))
      if isRoom { started += 1 }
    }
    stuck = isRoom ? nil : stuck ?? now
    if let stuck, now.seconds(since: stuck) >= NMEA2000Link.patience {
      reason =
        "the bus takes no frames: nobody acknowledges them. Check that another device is on it, wiring, termination and bit rate"
    } else if isUp {
      reason =
        isUnheard ? "frames are not acknowledged: check wiring, termination and bit rate" : nil
    }
  }
}

extension CANSocketFrame {
  fileprivate init(_ frame: CANFrame) {
    self.init(identifier: frame.identifier, count: frame.count, word: frame.word)
  }
}
