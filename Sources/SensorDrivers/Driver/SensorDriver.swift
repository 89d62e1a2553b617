// What every driver promises, and what can go wrong with a chip.

package import SensorBus
package import SensorTypes

/// What can go wrong with a chip; a value that says where, never a crash.
package enum DriverError: Error, Hashable, Sendable {
  /// The transfer itself failed.
  case bus(BusError)
  /// Another chip answers at this address: one of `other`, by its registers; empty where none is known or none was asked.
  case wrongIdentity(
    chip: String, register: UInt8, expected: UInt8, found: UInt8, other: [String] = [])
  /// The chip answers like this one, and what it measures is what another would.
  case otherChip(String)
  /// A configuration register does not read as what was written: the chip was reset behind our back, or
  /// the transfer is disturbed. What was read does not tell which.
  case configurationLost(register: UInt8, expected: UInt8, found: UInt8)
  /// The chip did not become ready within the time its datasheet allows.
  case notReady(String)
  /// The chip's own trim values cannot be (all zeros, all ones, a failed check sum).
  case invalidTrim(String)
  /// The measured value is beyond the range; the sample is dropped, the chip goes on.
  case overflow
  /// A read that began at this register brought zeros only, from registers too that cannot be zero: the
  /// data line is held low.
  case heldLow(register: UInt8)
  /// The chip's queue ran over: nobody has read it for too long. It was emptied, and the chip goes on.
  case samplesLost
  /// The output has not moved by one bit for longer than its noise allows.
  case stuck
}

/// How far the start of a chip has come.
package enum StartProgress: Sendable, Hashable {
  /// Call `start` again after this many seconds: the chip needs the time.
  case wait(seconds: Double)
  /// Configured and read back; `poll` may be called.
  case ready
}

/// One chip on a bus: identifies, configures, reads back, then converts what it reads.
///
/// A driver is synchronous, has no thread, reads no clock, knows no calibration and no mount. It never
/// waits: what takes time is a state, entered by `start` returning `.wait`.
package protocol SensorDriver: ~Copyable {
  /// Takes the next step of identifying and configuring. Called from the beginning after every failure.
  mutating func start() throws(DriverError) -> StartProgress

  /// The newest conversion in the sensor frame, or `nil` while no new one is ready. Allocates nothing.
  mutating func poll() throws(DriverError) -> Reading?

  /// The chip's line has told of a conversion since the last `poll`: what the next one finds is new, though it be as it
  /// was.
  mutating func announce()

  /// Conversions that one look at the chip brings: more than 1 for one that queues them, of which `poll` tells the oldest
  /// first.
  var batch: Int { get }

  /// Whether the interrupt pin, where it is wired, rises for what a look brings: not for the queue of a chip that has no
  /// threshold on its pin.
  var raisesPin: Bool { get }

  /// Conversions after that of the newest `poll` that were read with it: further calls tell them without a transfer.
  var backlog: Int { get }

  /// Re-reads one configuration register after the other, one a call, to notice a brown-out.
  mutating func verify() throws(DriverError)

  /// Takes the next wider measuring range, which the chip has from the next `start` on; `false` where there is none.
  mutating func widen() -> Bool

  /// Puts the chip into its lowest power mode; `start` wakes it.
  mutating func sleep() throws(DriverError)

  /// Conversions a second as configured.
  var outputRate: Double { get }

  /// Seconds from the middle of the interval that a conversion averages to its data-ready edge.
  var latency: Double { get }

  /// Seconds after the newest `poll` before which there must be none: the chip was told to convert, and cannot
  /// be asked whether it has. `nil` for one that can be looked at whenever it pleases.
  var conversionTime: Double? { get }

  /// Whether its readings come with their times, several at once where they have waited: no interrupt line has a
  /// part in it then.
  var isSelfTimed: Bool { get }

  /// When the newest reading of a driver that is self-timed was true; `nil` where that is not known.
  var sampleTime: Timestamp? { get }

  /// Whether an inertial chip says how it turns; not where only its acceleration can be had.
  var givesRate: Bool { get }

  /// What a person should know of how it is driven, in one line; `nil` for nothing.
  var note: String? { get }
}

extension SensorDriver where Self: ~Copyable {
  /// Most chips are read when they have something.
  package var isSelfTimed: Bool { false }

  /// The reading is as old as its edge.
  package var sampleTime: Timestamp? { nil }

  /// A gyro is read.
  package var givesRate: Bool { true }

  /// There is nothing to say.
  package var note: String? { nil }
}

extension SensorDriver where Self: ~Copyable {
  /// Most chips say themselves what is new.
  package mutating func announce() {}

  /// What the kernel drives keeps the range that its driver gives it.
  package mutating func widen() -> Bool { false }

  /// Most chips give the newest conversion.
  package var batch: Int { 1 }

  package var backlog: Int { 0 }

  /// For which their pin rises.
  package var raisesPin: Bool { true }
}

/// What a driver holds against a chip. A test rig's chip that is no real one may be let off some of it, by
/// its entry in the board file; everything else is checked all the same.
package struct DriverChecks: Sendable, Hashable, Codable {
  /// Another identity than the chip's is refused.
  package var identity: Bool
  /// An output that does not change any more is a loss.
  package var change: Bool
  /// A chip of another identity is asked which it is, by reads that change nothing.
  package var asksStrangers: Bool

  /// Makes a set of checks.
  package init(identity: Bool = true, change: Bool = true, asksStrangers: Bool = false) {
    self.identity = identity
    self.change = change
    self.asksStrangers = asksStrangers
  }

  /// What every real chip must stand.
  package static let all = DriverChecks()

  /// The same on a board, where another chip than the board file's is to be named.
  package static let board = DriverChecks(asksStrangers: true)
}
