import SensorBus
package import SensorDrivers
import SensorTypes

/// The life of one sensor: starting, running, failed and tried again, idle; with its counters.
///
/// A value type without I/O: the tasks report what happened, the supervisor says what state that means
/// and when to try again.
struct Supervisor {
  /// Errors in a row that a running sensor survives before it is started anew: a single disturbed
  /// transfer is no loss.
  static let toleratedErrors = 3
  /// The longest pause between two attempts, seconds.
  static let longestPause = 2.0
  private static let firstPause = 0.1

  private(set) var status: SensorStatus
  private var errorsInARow = 0
  private var pause = firstPause
  /// When a sample last arrived, or the sensor last became ready while it was not running.
  private var lastSample: Timestamp
  /// When it last gave any sign: a sample, one that was beyond its range, or that it became ready.
  private var lastSign: Timestamp

  init(index: Int, chip: String, position: String) {
    let start = Timestamp(nanoseconds: 0)
    status = SensorStatus(
      index: index, chip: chip, position: position, state: .starting, since: start)
    (lastSample, lastSign) = (start, start)
  }

  /// Goes on counting from here.
  mutating func resume(_ counters: SensorCounters) { status.counters = counters }

  var state: SensorState { status.state }

  var hasFailed: Bool {
    if case .failed = state { true } else { false }
  }

  /// Whether it has failed with just this.
  func hasFailed(_ error: DriverError) -> Bool { state == .failed(words(error)) }

  mutating func enter(_ state: SensorState, at now: Timestamp) {
    status.state = state
    status.since = now
  }

  mutating func starting(at now: Timestamp) {
    status.counters.starts += 1
    // While it is retried a lost sensor stays lost: only a sample brings it back.
    if case .idle = state { enter(.starting, at: now) }
  }

  /// Put to sleep. A sensor that failed stays failed: sleep does not mend it. Returns whether that
  /// changed the state.
  mutating func rested(at now: Timestamp) -> Bool {
    switch state {
    case .idle, .failed: return false
    case .starting, .running:
      enter(.idle, at: now)
      return true
    }
  }

  /// Configured and read back; silence counts from here. One that runs and was only set anew, for another range, has no
  /// sample by that.
  mutating func ready(at now: Timestamp) {
    errorsInARow = 0
    lastSign = now
    if state != .running { lastSample = now }
  }

  /// Leaves out of its silence, in seconds, what nobody has listened to.
  mutating func excuse(_ seconds: Double) { lastSign = lastSign.advanced(bySeconds: seconds) }

  /// A sample arrived. Returns whether that changed the state.
  mutating func delivered(at now: Timestamp) -> Bool {
    status.counters.samples += 1
    errorsInARow = 0
    pause = Self.firstPause
    (lastSample, lastSign) = (now, now)
    guard state != .running else { return false }
    enter(.running, at: now)
    return true
  }

  /// A sample arrived some of whose axes are clipped. Returns whether it may be passed on: only while the chip runs, which
  /// such samples alone do not show.
  mutating func deliveredClipped() -> Bool {
    guard state == .running else { return false }
    status.counters.samples &+= 1
    errorsInARow = 0
    return true
  }

  /// What a receiver says of itself, and how many commands it has not taken. Returns whether its name is new.
  mutating func learned(_ identity: SensorIdentity?, refusals: UInt64) -> Bool {
    status.counters.refusals = refusals
    guard let identity, identity != status.identity else { return false }
    status.identity = identity
    return true
  }

  /// How a receiver is connected and set. Returns whether that is new.
  mutating func learned(_ link: ReceiverLink?) -> Bool {
    guard let link, link != status.link else { return false }
    status.link = link
    return true
  }

  /// Adds to the number of transfers that were repeated because the bus was disturbed.
  mutating func repeated(_ times: UInt64) { status.counters.retries &+= times }

  /// An edge came, and there was nothing to read.
  mutating func metEmptyEdge() { status.counters.emptyEdges += 1 }

  /// Something went wrong. Returns the time of the next attempt, or `nil` to go on as before.
  mutating func failed(_ error: DriverError, starting: Bool, at now: Timestamp) -> Timestamp? {
    switch error {
    case .bus, .heldLow: status.counters.busErrors += 1
    case .configurationLost: status.counters.configurationsLost += 1
    case .stuck, .notReady: status.counters.stalls += 1
    case .samplesLost:
      // Emptied already: what is lost is lost, and the next are good.
      status.counters.stalls += 1
      return nil
    case .overflow:
      // The chip is well, the field is not: nothing to start anew unless it never ends.
      status.counters.overflows += 1
      lastSign = now
      return nil
    case .wrongIdentity, .otherChip, .invalidTrim: break
    }
    errorsInARow += 1
    if !starting, error.isOfTransfer, errorsInARow < Self.toleratedErrors { return nil }
    let retry = now.advanced(bySeconds: pause)
    pause = min(2 * pause, Self.longestPause)
    enter(.failed(words(error)), at: now)
    return retry
  }

  /// It fell silent and is listened to on; the next sample brings it back.
  mutating func silenced(_ error: DriverError, at now: Timestamp) {
    status.counters.stalls += 1
    enter(.failed(error.description), at: now)
  }

  /// What an error means for this chip, in one line.
  func words(_ error: DriverError) -> String {
    guard case .overflow = error else { return error.description }
    let cause =
      switch ChipCatalog.chip(named: status.chip)?.kind {
      case .magnetometer: "a magnet or a current is near"
      case .accelerometer, .inertial: "a blow or a spin, or the chip is broken"
      case .barometer: "the sensor's hole is blocked or wet, or the chip is broken"
      case .receiver, nil: "the chip is broken"
      }
    return "\(error): \(cause)"
  }

  /// Whether a running sensor has been silent for longer than `limit` seconds.
  func isSilent(at now: Timestamp, limit: Double) -> Bool {
    now.seconds(since: lastSign) > limit
  }

  /// Whether there has been nothing to publish for longer than `limit` seconds, whatever the sensor said.
  func hasNoSample(at now: Timestamp, limit: Double) -> Bool {
    now.seconds(since: lastSample) > limit
  }
}

extension DriverError: CustomStringConvertible {
  /// Whether a single one may be a disturbance of the line.
  fileprivate var isOfTransfer: Bool {
    switch self {
    case .bus, .heldLow: true
    default: false
    }
  }

  /// One line: what is wrong and where to look.
  package var description: String {
    switch self {
    case .bus(let error): "\(error)"
    case .wrongIdentity(let chip, let register, let expected, let found, let other):
      "this is no \(chip)" + (other.isEmpty ? "" : " but \(other.joined(separator: " or "))")
        + ": register \(hexadecimal(register)) holds \(hexadecimal(found)), "
        + "expected \(hexadecimal(expected))"
        + (found == 0 && other.isEmpty
          ? "; zeros only: is the data line held low?"
          : other.isEmpty
            ? ", which is no chip that is known; run lodestone scan" : "; run lodestone doctor")
    case .otherChip(let what): what
    case .configurationLost(let register, let expected, let found):
      "register \(hexadecimal(register)) reads \(hexadecimal(found)), written was "
        + "\(hexadecimal(expected)): the chip was reset (its supply), or the line is disturbed"
    case .heldLow(let register):
      "every bit from register \(hexadecimal(register)) on is zero, which cannot be: the data line "
        + "is held low"
    case .notReady(let what): what
    case .invalidTrim(let what): "trim values cannot be right: \(what)"
    case .overflow: "beyond the measuring range"
    case .samplesLost: "its queue ran over: this board had no time for it"
    case .stuck: "the output does not change any more"
    }
  }
}
