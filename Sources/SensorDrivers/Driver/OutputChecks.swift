// What is held against a chip's outputs while it runs.

import SensorBus

/// Looks at every raw output that a chip gives.
package struct OutputChecks: Sendable {
  /// Whether an output that does not change any more is a loss.
  let change: Bool
  /// Whether the chip's line has told of the conversion that is looked for.
  var isAnnounced = false
  /// Whether the newest burst broke off: some chips let no conversion in, and raise no flag, until it is made up
  /// for.
  var isBroken = false
  /// What was read of the chip's queue and not told yet.
  var queue = SampleQueue()
  private var last = RegisterBlock()
  private var repeats = 0
  private let limit: Int

  init(_ chip: some RegisterChip, _ checks: DriverChecks) {
    change = checks.change
    limit = checks.change ? chip.alikeLimit : .max
  }

  /// The outputs of one conversion, or `nil` for those that a broken burst left behind.
  ///
  /// Some chips hold their outputs back while they are being read. A burst that breaks off leaves an axis held
  /// (ST: block data update, LOCK): the next burst would give that axis of the old conversion and the others of
  /// a new one. It is fetched, and dropped.
  mutating func read<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ register: UInt8, count: Int
  ) throws(DriverError) -> RegisterBlock? {
    let isLeftBehind = isBroken
    isBroken = true
    let block = try device.get(register, count: count)
    isBroken = false
    return isLeftBehind ? nil : block
  }

  /// Whether an output like the one before may be another conversion, with a chip that has no flag for it: by its line, or
  /// where outputs may stand still, so that each look counts.
  var takesAlike: Bool { isAnnounced || !change }

  /// Takes the next raw output; throws `.stuck` when it is one repetition too many: real chips are noisy in
  /// the last bits.
  mutating func check(_ block: RegisterBlock) throws(DriverError) {
    repeats = block == last ? repeats + 1 : 0
    last = block
    if repeats >= limit {
      repeats = 0
      throw .stuck
    }
  }
}
