// Infineon DPS310 barometer (datasheet v1.2) and its family: coefficients, scale factors, background and command mode.

/// The twin of a DPS310, or of one of its family, over I2C. Its FIFO holds its configuration bits and is always empty.
package struct DPS310Twin: ResettingTwin {
  /// Which of the family.
  package enum Variant: Sendable, Hashable {
    /// DPS310 and DPS368.
    case infineon
    /// Identity 0x10 as well; the coefficients belong to the sensor in the cell, which 0x28 says in some chips and in
    /// others not: Goertek's datasheets do not have it, and public drivers disagree.
    case spl06
    /// Identity 0x11; one temperature sensor.
    case spa06
  }

  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x0D
  /// What it stands on.
  package var core: TwinCore

  private let variant: Variant
  private let coefficients: DPS310TwinTrim

  private var registers = [UInt8](repeating: 0, count: 256)
  private var pressureSchedule = ConversionSchedule()
  private var temperatureSchedule = ConversionSchedule()
  private var ready: UInt8 = 0
  private var interrupts: UInt8 = 0
  private var scaledTemperature = 0.0
  private var resetAt: Int64 = 0

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, coefficients: .typical) }

  /// Makes a chip with coefficients of its own, not powered yet: call `powerOn`.
  package init(
    _ core: TwinCore, _ variant: Variant = .infineon, coefficients: DPS310TwinTrim
  ) {
    self.core = core
    self.variant = variant
    self.coefficients = coefficients
  }

  /// Seconds from power to the first answer.
  package let startUpTime = 0.002_5

  /// Reset values: the datasheet's register map.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x0D] = variant == .spa06 ? 0x11 : 0x10
    // The coefficients of this chip belong to its external (MEMS) temperature sensor.
    let saysSource = variant == .infineon || variant == .spl06 && core.seed % 2 == 1
    registers[0x28] = saysSource ? 0x80 : 0
    coefficients.store(into: &registers)
    pressureSchedule.stop()
    temperatureSchedule.stop()
    ready = 0
    interrupts = 0
    scaledTemperature = coefficients.scaledTemperature(celsius: 25)
    core.pin = InterruptPin()
    resetAt = core.now
  }

  /// The register that follows in the same transfer.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 { register &+ 1 }

  // MEAS_CFG and "Start-up sequence": the sensor is ready 12 ms and the coefficients are 40 ms after a reset.
  private var isSensorReady: Bool { core.now &- resetAt >= 12_000_000 }
  private var areCoefficientsReady: Bool { core.now &- resetAt >= 40_000_000 }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x00...0x02:
      ready &= ~0x10
      return registers[Int(register)]
    case 0x03...0x05:
      ready &= ~0x20
      return registers[Int(register)]
    case 0x08:
      return registers[0x08] & 0x07 | ready | (areCoefficientsReady ? 0x80 : 0)
        | (isSensorReady ? 0x40 : 0)
    case 0x0A:
      let value = interrupts
      interrupts = 0
      updatePin(at: core.now)
      return value
    case 0x0B: return 0x01
    case 0x0C: return 0
    case 0x10...0x24: return areCoefficientsReady ? registers[Int(register)] : 0
    default: return registers[Int(register)]
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x06: registers[0x06] = value & 0x7F
    case 0x07: registers[0x07] = value & 0xF7
    case 0x08:
      registers[0x08] = value & 0x07
      restart()
    case 0x09:
      registers[0x09] = value
      updatePin(at: core.now)
    case 0x0C: if value & 0x0F == 0x09 { reset() }
    default: break
    }
  }

  private mutating func updatePin(at time: Int64) {
    let isActiveHigh = registers[0x09] & 0x80 != 0
    core.pin.set((interrupts != 0) == isActiveHigh, at: time)
  }

  /// Measurement time by oversampling code (PRS_CFG), seconds.
  private static func measurementTime(_ code: UInt8) -> Double {
    switch code & 7 {
    case 0: 0.0036
    case 1: 0.0052
    case 2: 0.0084
    case 3: 0.0148
    case 4: 0.0276
    case 5: 0.0532
    case 6: 0.1044
    default: 0.2068
    }
  }

  private var pressureTime: Double { Self.measurementTime(registers[0x06]) }
  private var temperatureTime: Double { Self.measurementTime(registers[0x07]) }

  private mutating func restart() {
    pressureSchedule.stop()
    temperatureSchedule.stop()
    let clock = core.period(1)
    // Before SENSOR_RDY a command waits for the sensor.
    let wait = max(0, Double(resetAt &+ 12_000_000 &- core.now) * 1e-9)
    let pressureRate = Double(1 << (registers[0x06] >> 4 & 7))
    let temperatureRate = Double(1 << (registers[0x07] >> 4 & 7))
    switch registers[0x08] {
    case 1: pressureSchedule.single(at: core.now, duration: wait + pressureTime * clock)
    case 2: temperatureSchedule.single(at: core.now, duration: wait + temperatureTime * clock)
    case 5:
      pressureSchedule.start(
        at: core.now, firstAfter: wait + pressureTime,
        every: max(1 / pressureRate, pressureTime) * clock)
    case 6:
      temperatureSchedule.start(
        at: core.now, firstAfter: wait + temperatureTime,
        every: max(1 / temperatureRate, temperatureTime) * clock)
    case 7:
      // The note at PM_RATE: one second must hold all measurements; if it cannot, they stretch.
      let busy = pressureRate * pressureTime + temperatureRate * temperatureTime
      let stretch = max(1, busy) * clock
      temperatureSchedule.start(
        at: core.now, firstAfter: wait + temperatureTime, every: stretch / temperatureRate)
      pressureSchedule.start(
        at: core.now, firstAfter: wait + temperatureTime + pressureTime,
        every: stretch / pressureRate)
    default: break
    }
  }

  /// Scale factor by oversampling code ("Compensation scale factors").
  static func scaleFactor(_ code: UInt8) -> Double {
    switch code & 7 {
    case 0: 524_288
    case 1: 1_572_864
    case 2: 3_670_016
    case 3: 7_864_320
    case 4: 253_952
    case 5: 516_096
    case 6: 1_040_384
    default: 2_088_960
    }
  }

  /// Pressure noise, root mean square pascals, by oversampling code (PRS_CFG).
  private static func noise(_ code: UInt8) -> Double {
    switch code & 7 {
    case 0: 2.5
    case 1: 1
    case 2: 0.5
    case 3: 0.4
    case 4: 0.35
    case 5: 0.3
    default: 0.2
    }
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    let temperatures = temperatureSchedule.take(until: core.now)
    let pressures = pressureSchedule.take(until: core.now)
    if let done = temperatures { convertTemperature(done) }
    if let done = pressures { convertPressure(done) }
    if temperatures != nil || pressures != nil, registers[0x08] < 5 { registers[0x08] = 0 }
  }

  /// A result is there: its flag, and its interrupt if INT_EN has it.
  private mutating func raise(
    _ flag: UInt8, enabledBy enable: UInt8, _ interrupt: UInt8, _ done: Conversions
  ) {
    ready |= flag
    guard registers[0x09] & enable != 0 else { return }
    interrupts |= interrupt
    updatePin(at: done.first)
  }

  private mutating func convertTemperature(_ done: Conversions) {
    raise(0x20, enabledBy: 0x20, 0x02, done)
    guard !tampering.isFrozen else { return }
    var celsius = core.air(
      at: done.last &- Int64(temperatureTime * 0.5e9), pressureNoise: 0, temperatureNoise: 0.005,
      stream: 7, done
    ).temperature
    // The other temperature sensor does not fit the coefficients: some degrees off.
    if variant != .spa06, registers[0x07] & 0x80 == 0 { celsius += 8 }
    let factor = Self.scaleFactor(registers[0x07])
    let counts = (coefficients.scaledTemperature(celsius: celsius) * factor).rounded()
    scaledTemperature = counts / factor
    store24(counts, at: 0x03, code: registers[0x07], shift: registers[0x09] & 0x08 != 0)
  }

  private mutating func convertPressure(_ done: Conversions) {
    raise(0x10, enabledBy: 0x10, 0x01, done)
    guard !tampering.isFrozen else { return }
    let pascals = core.air(
      at: done.last &- Int64(pressureTime * 0.5e9), pressureNoise: Self.noise(registers[0x06]),
      temperatureNoise: 0, stream: 8, done
    ).pressure
    let factor = Self.scaleFactor(registers[0x06])
    let scaled = coefficients.scaledPressure(pascals: pascals, temperature: scaledTemperature)
    store24(
      (scaled * factor).rounded(), at: 0x00, code: registers[0x06],
      shift: registers[0x09] & 0x04 != 0)
  }

  /// Stores 24 bits. From 16 samples on the sum does not fit and must be shifted (P_SHIFT, T_SHIFT): the
  /// scale factors are those of the sum shifted by 6. Unshifted, the upper bits are lost.
  private mutating func store24(_ counts: Double, at register: Int, code: UInt8, shift: Bool) {
    let limited = max(-8_388_608 * 64, min(8_388_607 * 64, counts))
    var value = Int64(limited)
    if code & 7 >= 4 && !shift {
      value <<= 6
    } else {
      value = max(-8_388_608, min(8_388_607, value))
    }
    registers[register] = UInt8(truncatingIfNeeded: value >> 16)
    registers[register + 1] = UInt8(truncatingIfNeeded: value >> 8)
    registers[register + 2] = UInt8(truncatingIfNeeded: value)
  }

  /// When the next conversion of either will be complete.
  package var nextConversion: Int64 { min(pressureSchedule.next, temperatureSchedule.next) }

  /// What CFG_REG has put on the pin; active low it falls.
  package var nextRise: Int64 {
    guard registers[0x09] & 0x80 != 0 else { return .max }
    return min(
      registers[0x09] & 0x10 != 0 ? pressureSchedule.next : .max,
      registers[0x09] & 0x20 != 0 ? temperatureSchedule.next : .max)
  }
}

extension TwinDescription {
  static let dps310 = dps("DPS310", .infineon, .typical)
  static let dps368 = dps("DPS368", .infineon, .typical)
  static let spl06 = dps("SPL06", .spl06, .typical)
  static let spa06 = dps("SPA06", .spa06, .quartic)

  /// Absolute 100 Pa; 0.5 Pa a kelvin, of which a third is taken (the board stays cool).
  private static func dps(
    _ name: String, _ variant: DPS310Twin.Variant, _ coefficients: DPS310TwinTrim
  ) -> TwinDescription {
    TwinDescription(name, make: { DPS310Twin($0, variant, coefficients: coefficients) }) {
      random, _ in
      .barometer(bias: 100, perKelvin: 0.15, temperature: 0.5, clock: 0.01, &random)
    }
  }
}
