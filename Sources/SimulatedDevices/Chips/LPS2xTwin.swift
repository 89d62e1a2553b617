// ST LPS22HB (DocID027083), LPS22HH (DocID030890), LPS25HB (DocID027112) and LPS28DFW (the LPS22DF's DS13316 with a
// second range): block data update, data ready, rates.

import SensorTypes

/// The twin of one of ST's barometers over I2C. Its FIFO is always empty, its low-pass does nothing.
package struct LPS2xTwin: ResettingTwin {
  package enum Variant: UInt8, Sendable, Hashable {
    /// WHO_AM_I 0xB1.
    case lps22hb = 0xB1
    /// WHO_AM_I 0xB3.
    case lps22hh = 0xB3
    /// WHO_AM_I 0xBD.
    case lps25hb = 0xBD
    /// WHO_AM_I 0xB4.
    case lps28dfw = 0xB4
  }

  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x0F
  /// What it stands on.
  package var core: TwinCore

  private let variant: Variant
  private var registers = [UInt8](repeating: 0, count: 128)
  /// P_DA and T_DA as bits 0 and 1, P_OR and T_OR likewise.
  private var ready: UInt8 = 0
  private var overrun: UInt8 = 0
  /// Output bytes of the newest conversion, those that are shown, and which quantity is held.
  private var newest = [UInt8](repeating: 0, count: 5)
  private var held: UInt8 = 0

  /// Makes an LPS22HB that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(.lps22hb, core) }

  /// Makes any of them, not powered yet: call `powerOn`.
  package init(_ variant: Variant, _ core: TwinCore) {
    self.variant = variant
    self.core = core
  }

  /// "Boot time": 2.5 ms and, for the newest, 4.5 ms at the most.
  package let startUpTime = 0.004_5

  /// Reset values: the register maps.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x0F] = variant.rawValue
    switch variant {
    case .lps22hb, .lps22hh: registers[0x11] = 0x10
    case .lps25hb: registers[0x10] = 0x0F
    case .lps28dfw: registers[0x12] = 0x01
    }
    newest = [UInt8](repeating: 0, count: 5)
    (ready, overrun, held) = (0, 0, 0)
    core.schedule.stop()
    core.pin = InterruptPin()
  }

  private var isOld: Bool { variant == .lps25hb }

  /// The LPS25HB keeps the flag that moves on in its sub-address.
  package func firstRegister(_ subaddress: UInt8) -> UInt8 { subaddress & 0x7F }

  /// The register that follows in the same transfer: IF_ADD_INC in the newer ones.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    let moves =
      switch variant {
      case .lps25hb: subaddress & 0x80 != 0
      case .lps28dfw: registers[0x12] & 0x01 != 0
      default: registers[0x11] & 0x10 != 0
      }
    return moves ? (register &+ 1) & 0x7F : register
  }

  private var blockUpdate: Bool {
    switch variant {
    case .lps25hb: registers[0x20] & 0x04 != 0
    case .lps28dfw: registers[0x11] & 0x08 != 0
    default: registers[0x10] & 0x02 != 0
    }
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x27:
      // The LPS25HB has temperature in the lower bit of each pair, the others pressure.
      func pair(_ bits: UInt8) -> UInt8 { isOld ? (bits & 1) << 1 | bits >> 1 : bits }
      return pair(overrun) << 4 | pair(ready)
    case 0x28...0x2C:
      let quantity: UInt8 = register < 0x2B ? 1 : 2
      let value = registers[Int(register)]
      if register == 0x2A || register == 0x2C {
        // The high byte: the quantity is read.
        held &= ~quantity
        ready &= ~quantity
        overrun &= ~quantity
        show(quantity)
        if ready & 1 == 0 { core.pin.set(false, at: core.now) }
      } else if blockUpdate {
        held |= quantity
      }
      return value
    default: return registers[Int(register)]
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    let control: UInt8 = isOld ? 0x20 : 0x10
    switch register {
    case control:
      registers[Int(register)] = variant == .lps22hb || variant == .lps22hh ? value & 0x7F : value
      restart()
    case control + 1:
      if value & 0x04 != 0 { return reset() }
      // BOOT (bit 7) and ONE_SHOT (bit 0) clear themselves.
      registers[Int(register)] = value & 0x7A
    case 0x10 where isOld: registers[0x10] = value & 0x0F
    case 0x12...0x13, 0x22...0x23: registers[Int(register)] = value
    default: break
    }
  }

  /// Output data rate, Hz; 0 in power down.
  private var rate: Double {
    switch variant {
    case .lps22hb: [0, 1, 10, 25, 50, 75, 0, 0][Int(registers[0x10] >> 4 & 7)]
    case .lps22hh: [0, 1, 10, 25, 50, 75, 100, 200][Int(registers[0x10] >> 4 & 7)]
    case .lps25hb:
      registers[0x20] & 0x80 == 0 ? 0 : [0, 1, 7, 12.5, 25, 0, 0, 0][Int(registers[0x20] >> 4 & 7)]
    case .lps28dfw: [0, 1, 4, 10, 25, 50, 75, 100, 200][Int(min(registers[0x10] >> 3 & 15, 8))]
    }
  }

  private mutating func restart() {
    core.convert(every: 1 / rate)
  }

  /// The pin follows the pressure's flag where it is told to.
  private var drivesPin: Bool {
    switch variant {
    case .lps25hb: registers[0x23] & 0x01 != 0
    case .lps28dfw: registers[0x13] & 0x20 != 0
    default: registers[0x12] & 0x04 != 0
    }
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    overrun |= done.count > 1 ? 0x03 : ready
    ready = 0x03
    if drivesPin { core.pin.set(true, at: done.first) }
    guard !tampering.isFrozen else { return }
    convert(done)
    for quantity: UInt8 in [1, 2] where held & quantity == 0 || !blockUpdate { show(quantity) }
  }

  private mutating func show(_ quantity: UInt8) {
    for index in quantity == 1 ? 0..<3 : 3..<5 { registers[0x28 + index] = newest[index] }
  }

  /// Root mean square pascals: "Pressure noise" of each datasheet; of the LPS28DFW by its averaging, without the
  /// filter (LPS22DF table 20), of the others with it, for want of a figure without.
  private var noise: Double {
    switch variant {
    case .lps22hb: 0.75
    case .lps22hh: 0.65
    case .lps25hb: 1
    case .lps28dfw: [4.26, 3.12, 2.3, 1.64, 1.2, 0.9, 0.9, 0.59][Int(registers[0x10] & 7)]
    }
  }

  private mutating func convert(_ done: Conversions) {
    let air = core.air(
      at: done.last &- core.schedule.period / 2, pressureNoise: noise, temperatureNoise: 0.01,
      stream: 21, done)
    // FS_MODE of the LPS28DFW halves the sensitivity.
    let isWide = variant == .lps28dfw && registers[0x11] & 0x40 != 0
    let pressure = saturated(air.pressure * (isWide ? 20.48 : 40.96), bits: 24)
    let celsius = isOld ? (air.temperature - 42.5) * 480 : air.temperature * 100
    storeLittleEndian(Int64(pressure), bytes: 3, at: 0, in: &newest)
    storeLittleEndian(Int64(saturated(celsius)), bytes: 2, at: 3, in: &newest)
  }

  /// New data raise the pin where it is told to.
  package var nextRise: Int64 { drivesPin ? core.schedule.next : .max }
}

extension TwinDescription {
  static let lps22hb = lps2x("LPS22HB", .lps22hb, absolute: 100, perKelvin: 1)
  static let lps22hh = lps2x("LPS22HH", .lps22hh, absolute: 50, perKelvin: 0.65)
  static let lps25hb = lps2x("LPS25HB", .lps25hb, absolute: 100, perKelvin: 1)
  static let lps28dfw = lps2x("LPS28DFW", .lps28dfw, absolute: 50, perKelvin: 0.45)

  /// The absolute accuracy of a chip that is soldered and has been corrected for it; of the temperature
  /// coefficient a third is taken (the board stays cool).
  private static func lps2x(
    _ name: String, _ variant: LPS2xTwin.Variant, absolute: Double, perKelvin: Double
  ) -> TwinDescription {
    TwinDescription(name, make: { LPS2xTwin(variant, $0) }) { random, _ in
      .barometer(
        bias: absolute, perKelvin: perKelvin / 3, temperature: 1.5, clock: 0.02, &random)
    }
  }
}
