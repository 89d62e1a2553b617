// A node of an NMEA 2000 bus: its address, and what it answers.

package import SensorTypes

/// A node that claims an address, defends it, and answers what every node has to answer (ISO 11783-3 and -5).
///
/// Frames that come in are other people's: each is answered by a bounded number of frames, and all answers of a second by a bounded number.
/// Call `tick` at `deadline`, and `receive` for each frame.
package struct NMEA2000Node: Sendable {
  /// Where the node stands.
  package enum NodeState: Sendable, Hashable {
    /// Not begun: nothing is sent or answered.
    case stopped
    /// Has asked who is there.
    case scanning(until: Timestamp)
    /// Has claimed an address that nobody has contested yet.
    case claiming(UInt8, until: Timestamp)
    /// Has an address.
    case claimed(UInt8)
    /// Every address is another node's. That is said at `announce`, where it is still to be said; `retry` begins anew.
    case withoutAddress(announce: Timestamp?, retry: Timestamp)
  }

  /// What has happened; the counters only grow.
  package struct Counters: Sendable, Hashable {
    /// Claims of others for the node's address that it has refused.
    package var defences: UInt64 = 0
    /// Claims of others that have taken the address away.
    package var addressesLost: UInt64 = 0
    /// Times another node has commanded a new address.
    package var commands: UInt64 = 0
    /// Times no address was free.
    package var cannotClaim: UInt64 = 0
    /// Requests that were answered.
    package var answers: UInt64 = 0
    /// Requests and claims that were not answered because there were too many.
    package var limited: UInt64 = 0
    /// Frames that are too short, or not as their parameter group demands.
    package var malformed: UInt64 = 0
    /// Claims of another node with the same NAME.
    package var duplicateNames: UInt64 = 0
    /// Frames of another node that uses the address.
    package var intruders: UInt64 = 0
  }

  /// What a frame has led to.
  package struct Reaction: Sendable, Hashable {
    /// The frames to be sent, in this order.
    package var frames: [CANFrame] = []
    /// Parameter groups of the node's own that somebody wants now.
    package var requested: [UInt32] = []
  }

  /// A number of events that a second may have.
  struct Allowance: Sendable {
    let perSecond: Double
    private var left: Double
    private var updated: Timestamp?

    init(perSecond: Double) { (self.perSecond, left) = (perSecond, perSecond) }

    mutating func take(at now: Timestamp) -> Bool {
      if let updated {
        left = min(perSecond, left + max(0, now.seconds(since: updated)) * perSecond)
      }
      updated = now
      guard left >= 1 else { return false }
      left -= 1
      return true
    }
  }

  /// How long a claim waits for a contender, seconds: ISO 11783-5, 4.5.2.
  package static let claimTime = 0.25
  /// How often a heartbeat is sent, seconds.
  package static let heartbeatInterval = 60.0
  /// How long a node without an address waits until it tries again, seconds: chosen.
  package static let retryTime = 60.0
  /// The range of the random delay before a node says that it has no address, seconds: ISO 11783-5, 4.4.4.3.
  package static let delays = 0.0...0.153
  /// Claims a second, and answers a second: chosen. A bus of 250 kbit/s carries some 1900 frames a second, and an answer has at most 21.
  /// When a bus is switched on, each of its nodes may ask all others for their claims.
  package static let claimsPerSecond = 50.0
  package static let answersPerSecond = 10.0

  package let name: NMEA2000Name
  package var product: NMEA2000Product
  package var configuration: NMEA2000Configuration
  /// The parameter groups that the node sends by itself.
  package var transmits: [UInt32]
  /// Whether the heartbeat says that the equipment has a fault.
  package var hasFault = false
  package internal(set) var state = NodeState.stopped
  package internal(set) var counters = Counters()

  let delay: Double
  var preferred: UInt8
  // By address, the NAME of the node that has it.
  var others = [UInt64?](repeating: nil, count: 252)
  var claims = Allowance(perSecond: NMEA2000Node.claimsPerSecond)
  var answers = Allowance(perSecond: NMEA2000Node.answersPerSecond)
  var assembler = FastPacketAssembler()
  var command: CommandedAddress?
  private var sequences: [UInt32: UInt8] = [:]
  private var heartbeatDue: Timestamp?
  private var heartbeats: UInt8 = 0

  /// Makes a node that has not begun.
  ///
  /// - Parameters:
  ///   - preferred: The address that it would like: the one that it had before.
  ///   - transmits: The parameter groups that it sends by itself.
  ///   - delay: A random time in seconds, 0 to 0.153, unlike other nodes'.
  package init(
    name: NMEA2000Name, product: NMEA2000Product, configuration: NMEA2000Configuration = .init(),
    preferred: UInt8, transmits: [UInt32], delay: Double
  ) {
    (self.name, self.product, self.configuration) = (name, product, configuration)
    self.preferred = min(preferred, NMEA2000Address.claimable.upperBound)
    self.transmits = transmits
    let limits = Self.delays
    self.delay = delay.isFinite ? min(max(delay, limits.lowerBound), limits.upperBound) : 0
  }

  /// The address, once nobody has contested it; `nil` before, and while there is none.
  package var address: UInt8? {
    if case .claimed(let address) = state { address } else { nil }
  }

  /// When `tick` has something to do; `nil` for a node that was not started.
  package var deadline: Timestamp? {
    switch state {
    case .stopped: nil
    case .scanning(let until), .claiming(_, let until): until
    case .claimed: heartbeatDue
    case .withoutAddress(let announce, let retry): announce ?? retry
    }
  }

  /// Begins, or begins anew, by asking all nodes for their addresses.
  package mutating func start(at now: Timestamp) -> [CANFrame] {
    others = Array(repeating: nil, count: others.count)
    (command, assembler, sequences) = (nil, .init(), [:])
    state = .scanning(until: now.advanced(bySeconds: Self.claimTime))
    return frames(
      NMEA2000Message(
        priority: 6, pgn: NMEA2000PGN.request, payload: Self.bytes(of: NMEA2000PGN.addressClaim)),
      from: NMEA2000Address.none)
  }

  /// Does what is due.
  package mutating func tick(at now: Timestamp) -> [CANFrame] {
    switch state {
    case .stopped: return []
    case .scanning(let until): return now < until ? [] : claimFree(at: now)
    case .claiming(let address, let until):
      guard now >= until else { return [] }
      (state, preferred) = (.claimed(address), address)
      return heartbeat(at: now)
    case .claimed:
      guard let heartbeatDue, now >= heartbeatDue else { return [] }
      return heartbeat(at: now)
    case .withoutAddress(let announce, let retry):
      if let announce, now >= announce {
        state = .withoutAddress(announce: nil, retry: retry)
        return claimFrames(from: NMEA2000Address.none)
      }
      return now >= retry ? start(at: now) : []
    }
  }

  /// Returns the frames of a message of the node's own; none while it has no address.
  package mutating func frames(for message: NMEA2000Message) -> [CANFrame] {
    address.map { frames(message, from: $0) } ?? []
  }

  // MARK: Claims

  /// Claims the preferred address, or the next one that is free.
  mutating func claimFree(at now: Timestamp) -> [CANFrame] {
    for offset in others.indices {
      let address = (Int(preferred) + offset) % others.count
      if others[address] == nil { return claim(UInt8(address), at: now) }
    }
    counters.cannotClaim += 1
    state = .withoutAddress(
      announce: now.advanced(bySeconds: delay), retry: now.advanced(bySeconds: Self.retryTime))
    return []
  }

  mutating func claim(_ address: UInt8, at now: Timestamp) -> [CANFrame] {
    guard claims.take(at: now) else {
      // Somebody contests one address after the other: wait, and look again who is there.
      counters.limited += 1
      state = .scanning(until: now.advanced(bySeconds: 1))
      return []
    }
    state = .claiming(address, until: now.advanced(bySeconds: Self.claimTime))
    return claimFrames(from: address)
  }

  func claimFrames(from address: UInt8) -> [CANFrame] {
    let value = name.value
    let message = NMEA2000Message(
      priority: 6, pgn: NMEA2000PGN.addressClaim,
      payload: (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    return message.frames(from: address, sequence: 0)
  }

  // MARK: Messages

  mutating func frames(_ message: NMEA2000Message, from source: UInt8) -> [CANFrame] {
    guard NMEA2000PGN.fast.contains(message.pgn) else {
      return message.frames(from: source, sequence: 0)
    }
    let sequence = sequences[message.pgn, default: 0]
    sequences[message.pgn] = (sequence + 1) & 7
    return message.frames(from: source, sequence: sequence)
  }

  private mutating func heartbeat(at now: Timestamp) -> [CANFrame] {
    var fields = NMEA2000Fields()
    fields.append(UInt64(Self.heartbeatInterval * 1_000), bits: 16)
    fields.append(UInt64(heartbeats), bits: 8)
    // The controller is on the bus (0), and there is no second one (3).
    fields.append(0, bits: 2)
    fields.reserved(2)
    fields.append(hasFault ? 1 : 0, bits: 2)
    fields.reserved(34)
    heartbeats = heartbeats >= 252 ? 0 : heartbeats + 1
    heartbeatDue = now.advanced(bySeconds: Self.heartbeatInterval)
    return frames(
      for: NMEA2000Message(priority: 7, pgn: NMEA2000PGN.heartbeat, payload: fields.bytes))
  }

  static func bytes(of pgn: UInt32) -> [UInt8] {
    (0..<3).map { UInt8(truncatingIfNeeded: pgn >> (8 * UInt32($0))) }
  }
}
