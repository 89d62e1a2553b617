// A chip's own side of a driver: what is written to it, and what its bytes mean. No bus, no clock.

package import SensorBus
package import SensorTypes

/// A chip behind registers, as it is to measure.
///
/// What all drivers do alike, one step after the other, is `RegisterDriver`'s affair; a chip says which steps
/// there are, and makes readings of bytes. A value: it owns no device and waits for nothing.
package protocol RegisterChip: Sendable {
  /// The name in board files.
  var name: String { get }

  /// Conversions a second as configured.
  var outputRate: Double { get }

  /// Seconds from the middle of the interval that a conversion averages to its data-ready edge.
  var latency: Double { get }

  /// Seconds after the newest `poll` before which there must be none: the chip was told to convert, and cannot
  /// be asked whether it has. `nil` for one that can be looked at whenever it pleases.
  var conversionTime: Double? { get }

  /// Conversions that one look at the chip brings: more than 1 where it queues them.
  var batch: Int { get }

  /// Whether the chip has a pin that rises for what a look brings, at its rate.
  var raisesPin: Bool { get }

  /// So many bytes begin every read and mean nothing; whatever else is read or written here does without them.
  var dummyBytes: Int { get }

  /// The way from any state to conversions that run.
  var startSteps: [StartStep] { get }

  /// The configuration while the chip runs, in the order in which it is written: what starts conversions comes
  /// last. Asked for when a `.configure` step is taken, so that it may follow from what was read before.
  var registerImage: [RegisterSetting] { get }

  /// What puts the chip into its lowest power mode.
  var sleepSettings: [RegisterSetting] { get }

  /// So many raw outputs alike, after the first, are no measurement any more.
  var alikeLimit: Int { get }

  /// Takes what a `.read` step has read at `register`: trim values, most often. Throws `.invalidTrim`.
  mutating func take(_ block: RegisterBlock, from register: UInt8) throws(DriverError)

  /// Takes the next wider measuring range, for the next start; `false` where there is none.
  mutating func widen() -> Bool

  /// The newest conversion in the sensor frame, or `nil` while no new one is ready. Allocates nothing.
  mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading?
}

extension RegisterChip {
  /// A chip that is noisy in its last bits: 1.5 s, or 3 repetitions of a slow chip, or 50 of a fast one, so that
  /// a loss is known within 2 s.
  package var alikeLimit: Int { Int(min(50, max(3, 1.5 * outputRate))) }

  /// Most chips convert by themselves, or say when they have.
  package var conversionTime: Double? { nil }

  /// Most chips give the newest conversion.
  package var batch: Int { 1 }

  /// Most chips that convert by themselves have a pin for it.
  package var raisesPin: Bool { conversionTime == nil }

  /// Most chips begin a read with the register that was asked for.
  package var dummyBytes: Int { 0 }

  /// A chip with one range has no wider one.
  package mutating func widen() -> Bool { false }

  /// A chip without trim values is told of none.
  package mutating func take(_ block: RegisterBlock, from register: UInt8) throws(DriverError) {}
}

/// A chip that raises a flag when there is something new, and gives it in one burst.
package protocol FlaggedChip: RegisterChip {
  /// The status register, and the bits of it that must be up.
  var dataReady: (register: UInt8, mask: UInt8) { get }

  /// Where the burst begins, with the transfer flag that the chip wants, and its bytes: 1 to 32.
  var output: (register: UInt8, count: Int) { get }

  /// Whether the flag is up. A chip that goes on converting with other settings when it has lost its own looks at
  /// those too.
  func isReady<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(DriverError) -> Bool

  /// What the bytes mean. Throws `.overflow` beyond the range.
  func reading(_ block: RegisterBlock) throws(DriverError) -> Reading
}

extension FlaggedChip {
  /// All bits of the status must be up.
  package func isReady<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(DriverError) -> Bool {
    let flag = dataReady
    return try device.get(flag.register) & flag.mask == flag.mask
  }

  /// The status is read on its own first: a conversion that ended during a burst that began with the status
  /// would be marked as read and lost.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    try pollOutputs(device, &outputs)
  }

  /// The same, for a chip that has another way to its samples besides.
  package func pollOutputs<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    guard try isReady(device) || outputs.isBroken else { return nil }
    guard let block = try outputs.read(device, output.register, count: output.count) else {
      return nil
    }
    // Outputs that all stand at an end do not change either: overflow is the better word for it.
    let reading = try reading(block)
    try outputs.check(block)
    return reading
  }
}

/// One step on the way to conversions that run.
package enum StartStep: Sendable, Hashable {
  /// The register must hold one of the values, the first of which a chip from the shop has.
  case identify(register: UInt8, anyOf: [UInt8])
  /// The registers from here on must hold these bytes, at most 32.
  case identifyAll(register: UInt8, [UInt8])
  /// The chip is sent its sub-address alone: a command without a value.
  case command(UInt8)
  /// The settings are written, in order; nothing is read back.
  case write([RegisterSetting])
  /// The setting resets the chip before it has acknowledged it, or after: no answer is no failure.
  case resetUnanswered(RegisterSetting)
  /// The settings are written, in order, and read back this once: those of a bank that is not selected while the chip
  /// runs.
  case keep([RegisterSetting])
  /// The chip gets time.
  case wait(seconds: Double)
  /// The bits of `mask` must become `value`: looked at once, and again every so many seconds, `looks` times at
  /// the most. `what` is what did not become so, for a person.
  case await(
    register: UInt8, mask: UInt8, value: UInt8, every: Double, looks: Int, what: String)
  /// The chip takes what is read.
  case read(register: UInt8, count: Int)
  /// What is read is dropped: reading ends something, a held output or a raised line.
  case discard(register: UInt8, count: Int)
  /// The register image is written and read back. With `identifies` a chip that does not give back what it was
  /// told is another one: the only identity of one that has no identity register.
  case configure(identifies: Bool = false)

  /// The usual reset: a bit is set, and clears itself within 100 ms after so many seconds.
  static func reset(_ register: UInt8, bit: UInt8, after seconds: Double = 0.01) -> [StartStep] {
    [
      .write([RegisterSetting(register, bit)]), .wait(seconds: seconds),
      .await(
        register: register, mask: bit, value: 0, every: 0.01, looks: 10,
        what: "its reset does not end"),
    ]
  }
}
