// From the output registers of Memsic's magnetometers to microtesla.

package import LinearAlgebra
package import SensorBus

/// Conversions of the MMC5603 and MMC5983MA; pure functions of the bytes read.
package enum MemsicConversion {
  /// Microtesla per count of either chip: 16384 counts per gauss at its full width.
  ///
  /// The tables of characteristics say so (sensitivity, "With 20bits operation" and "With 18bits operation"), and Memsic's
  /// own driver of the MMC5603 divides by the corresponding 1024 at 16 bits. The headline of that datasheet, 0.0625 mG per
  /// count, is 1/16384 G rounded up; Linux and Adafruit take it and read 2.4 % too much.
  package static let scale = 100 / 16384.0

  /// The MMC5603's field in microtesla from its nine output bytes: 20 bits an axis, the lowest four in the last
  /// three bytes; half of the range is no field. Throws `.overflow` beyond 30 gauss. Worked number: 84 00 .. 00 is
  /// 16384 counts above the middle = 1 gauss.
  package static func field20(_ block: RegisterBlock) throws(DriverError) -> Vector3 {
    var counts = Vector3.zero
    for axis in 0..<3 {
      let high = Int32(block[2 * axis]) << 12 | Int32(block[2 * axis + 1]) << 4
      counts[axis] = Double(high | Int32(block[6 + axis]) >> 4) - 524_288
      guard abs(counts[axis]) <= 30 * 16384 else { throw .overflow }
    }
    return counts * scale
  }

  /// What the MMC5983MA puts out, in microtesla from the middle of its range, from its seven output bytes: 18 bits
  /// an axis, the lowest two of all in the last byte. The bridge's offset is in it, and the sign is that of the
  /// newest SET or RESET. Throws `.overflow` at either end (8 gauss), where the output stops.
  package static func output18(_ block: RegisterBlock) throws(DriverError) -> Vector3 {
    var counts = Vector3.zero
    for axis in 0..<3 {
      let high = Int32(block[2 * axis]) << 10 | Int32(block[2 * axis + 1]) << 2
      let value = high | Int32(block[6] >> UInt8(6 - 2 * axis)) & 0x03
      guard value > 0, value < 0x3FFFF else { throw .overflow }
      counts[axis] = Double(value) - 131_072
    }
    return counts * scale
  }
}

/// One of Memsic's magnetometers: its control registers cannot be read.
package protocol MemsicChip: RegisterChip {}

extension MemsicChip {
  /// Nothing that could be read back.
  package var registerImage: [RegisterSetting] { [] }

  /// Alike are looks, of which there may be ten at a measurement: 50 are five measurements.
  package var alikeLimit: Int { 50 }
}

/// Tells a new output from one that was read before. Memsic's flag stays up until the next measurement begins, however
/// often the outputs are read; two measurements are never alike in all their bits.
struct MemsicOutputs: Sendable, Hashable {
  private var last = RegisterBlock()

  /// These were read by other means.
  mutating func take(_ block: RegisterBlock) { last = block }

  /// Whether these outputs were not read before. Throws `.stuck` for one repetition too many.
  mutating func isNew(
    _ block: RegisterBlock, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Bool {
    try outputs.check(block)
    // Where the data may stand still each look counts.
    guard block != last || outputs.takesAlike else { return false }
    last = block
    return true
  }
}
