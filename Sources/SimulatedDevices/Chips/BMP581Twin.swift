// Bosch BMP581 (datasheet BST-BMP581-DS004) and BMP585: modes, rates, oversampling, interrupts.

/// The twin of a BMP581 or BMP585 over I2C. Its FIFO is always empty, its filter does nothing.
package struct BMP581Twin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x01
  /// What it stands on.
  package var core: TwinCore

  private let identity: UInt8
  private var registers = [UInt8](repeating: 0, count: 128)
  private var resetAt: Int64 = 0

  /// Makes a BMP581 that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, identity: 0x50) }

  /// Makes either chip (0x50 or 0x51), not powered yet: call `powerOn`.
  package init(_ core: TwinCore, identity: UInt8) {
    self.core = core
    self.identity = identity
  }

  /// Seconds from power to the first answer.
  ///
  /// "Power-up time": 2 ms.
  package let startUpTime = 0.002

  /// Reset values: the register map.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x01] = identity
    registers[0x02] = 0x32
    registers[0x14] = 0x35
    for register in 0x1D...0x22 { registers[register] = 0x7F }
    registers[0x27] = 0x10
    registers[0x30] = 0x23
    registers[0x37] = 0x70
    core.schedule.stop()
    core.pin = InterruptPin()
    resetAt = core.now
  }

  /// The register that follows in the same transfer.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    (register &+ 1) & 0x7F
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register & 0x7F {
    case 0x27:
      defer { registers[0x27] = 0 }
      return registers[0x27]
    // status_core_rdy and status_nvm_rdy.
    case 0x28: return core.now &- resetAt >= 2_000_000 ? 0x03 : 0x00
    case 0x38:
      // Effective oversampling, and whether the rate leaves time for what was asked.
      let time = Self.pressureTime(registers[0x36] >> 3) + Self.temperatureTime(registers[0x36])
      return registers[0x36] & 0x3F | (time <= 1 / rate ? 0x80 : 0)
    default: return registers[Int(register & 0x7F)]
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x13...0x16, 0x18, 0x32...0x35: registers[Int(register)] = value
    case 0x30, 0x31:
      // The filter's settings are taken in standby alone.
      if registers[0x37] & 0x03 == 0 { registers[Int(register)] = value }
    case 0x36: registers[0x36] = value & 0x7F
    case 0x37:
      registers[0x37] = value
      restart()
    case 0x7E: if value == 0xB6 { reset() }
    default: break
    }
  }

  /// Seconds of a conversion by oversampling code ("Measurement time").
  private static func pressureTime(_ code: UInt8) -> Double {
    [1.05e-3, 1.785e-3, 3.045e-3, 5.67e-3, 10.92e-3, 21.42e-3, 42.42e-3, 84.42e-3][Int(code & 7)]
  }

  private static func temperatureTime(_ code: UInt8) -> Double {
    [1.05e-3, 1.105e-3, 1.575e-3, 2.205e-3, 3.465e-3, 6.09e-3, 11.34e-3, 21.84e-3][Int(code & 7)]
  }

  /// Output data rate, Hz (ODR_CONFIG odr).
  private var rate: Double {
    [
      240, 218.5, 199.1, 179.2, 160, 149.3, 140, 129.8, 120, 110.1, 100.2, 89.6, 80, 70, 60, 50, 45,
      40, 35, 30, 25, 20, 15, 10, 5, 4, 3, 2, 1, 0.5, 0.25, 0.125,
    ][Int(registers[0x37] >> 2 & 0x1F)]
  }

  private mutating func restart() {
    let time = Self.pressureTime(registers[0x36] >> 3) + Self.temperatureTime(registers[0x36])
    let scale = core.period(1)
    switch registers[0x37] & 0x03 {
    case 0: core.schedule.stop()
    case 1:
      core.schedule.start(
        at: core.now, firstAfter: min(time, 1 / rate) * scale, every: scale / rate)
    case 2: core.schedule.single(at: core.now, duration: time * scale)
    default: core.schedule.start(at: core.now, firstAfter: time * scale, every: time * scale)
    }
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if registers[0x37] & 0x03 == 2 { registers[0x37] &= 0xFC }
    if registers[0x15] & 0x01 != 0 {
      registers[0x27] |= 0x01
      // int_en, and int_mode 0: a pulse.
      if registers[0x14] & 0x08 != 0 { core.pin.pulse(at: done.first) }
    }
    if !tampering.isFrozen { convert(done) }
  }

  private mutating func convert(_ done: Conversions) {
    let middle = done.last &- Int64(Self.pressureTime(registers[0x36] >> 3) * 0.5e9)
    // Table 9: root mean square pascals by osr_p.
    let noise = [0.78, 0.58, 0.41, 0.30, 0.21, 0.15, 0.11, 0.08][Int(registers[0x36] >> 3 & 7)]
    let air = core.air(
      at: middle, pressureNoise: noise, temperatureNoise: 0.002, stream: 26, done)
    let celsius = saturated(air.temperature * 65536, bits: 24)
    storeLittleEndian(Int64(celsius), bytes: 3, at: 0x1D, in: &registers)
    guard registers[0x36] & 0x40 != 0 else { return }
    let counts = max(0, min(0xFF_FFFF, (air.pressure * 64).rounded()))
    storeLittleEndian(Int64(counts), bytes: 3, at: 0x20, in: &registers)
  }

  /// New data pulse the pin where they are a source and the pin is on.
  package var nextRise: Int64 {
    registers[0x15] & 0x01 != 0 && registers[0x14] & 0x08 != 0 ? core.schedule.next : .max
  }
}

extension TwinDescription {
  static let bmp581 = bmp58x("BMP581", identity: 0x50, absolute: 30)
  static let bmp585 = bmp58x("BMP585", identity: 0x51, absolute: 50)

  /// Absolute accuracy, typical; 0.5 Pa a kelvin, of which a third is taken (the board stays cool).
  private static func bmp58x(_ name: String, identity: UInt8, absolute: Double) -> TwinDescription {
    TwinDescription(name, make: { BMP581Twin($0, identity: identity) }) { random, _ in
      .barometer(bias: absolute, perKelvin: 0.15, temperature: 0.5, clock: 0.02, &random)
    }
  }
}
