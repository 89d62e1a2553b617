// Bosch BMP388 (datasheet BST-BMP388-DS001) and BMP390 (BST-BMP390-DS002): trim, normal and forced mode, interrupts.

/// The trim of a BMP388 or BMP390 as it lies in the chip, and the formulas of appendix 8 that use it.
package struct BMP388Trim: Sendable, Hashable {
  /// NVM_PAR_T1 and NVM_PAR_T2, unsigned, and NVM_PAR_T3.
  package var t1: UInt16, t2: UInt16, t3: Int8
  /// NVM_PAR_P1 and NVM_PAR_P2, then P3 and P4.
  package var p1: Int16, p2: Int16, p3: Int8, p4: Int8
  /// NVM_PAR_P5 and NVM_PAR_P6, unsigned, then P7 and P8.
  package var p5: UInt16, p6: UInt16, p7: Int8, p8: Int8
  /// NVM_PAR_P9, P10 and P11.
  package var p9: Int16, p10: Int8, p11: Int8

  package static let typical = BMP388Trim(
    t1: 27_427, t2: 18_776, t3: -10, p1: -164, p2: -2866, p3: 35, p4: 0, p5: 25_578, p6: 31_086,
    p7: -13, p8: -10, p9: 17_322, p10: 18, p11: -60)

  /// Degrees Celsius of a raw temperature (24 bits).
  package func temperature(_ raw: Double) -> Double {
    let partial = raw - Double(t1) / 0x1p-8
    return partial * (Double(t2) / 0x1p30) + partial * partial * (Double(t3) / 0x1p48)
  }

  /// Pascals of a raw pressure (24 bits) at a temperature.
  package func pressure(_ raw: Double, temperature t: Double) -> Double {
    let first =
      Double(p5) / 0x1p-3 + Double(p6) / 0x1p6 * t + Double(p7) / 0x1p8 * t * t + Double(p8)
      / 0x1p15
      * t * t * t
    let factor =
      (Double(p1) - 0x1p14) / 0x1p20 + (Double(p2) - 0x1p14) / 0x1p29 * t + Double(p3) / 0x1p32 * t
      * t
      + Double(p4) / 0x1p37 * t * t * t
    let square = Double(p9) / 0x1p48 + Double(p10) / 0x1p48 * t
    return first + raw * factor + raw * raw * square + raw * raw * raw * (Double(p11) / 0x1p65)
  }

  func rawTemperature(_ celsius: Double) -> Double {
    bisection(from: 0, to: 0xFF_FFFF) { temperature($0) < celsius }
  }

  func rawPressure(_ pascals: Double, temperature t: Double) -> Double {
    // Pressure falls as the raw value grows.
    bisection(from: 0, to: 0xFF_FFFF) { pressure($0, temperature: t) > pascals }
  }

  /// The trim registers 0x31 to 0x45.
  func store(into registers: inout [UInt8]) {
    var register = 0x31
    func put<Word: FixedWidthInteger>(_ word: Word) {
      let size = Word.bitWidth / 8
      storeLittleEndian(Int64(word), bytes: size, at: register, in: &registers)
      register += size
    }
    put(t1)
    put(t2)
    put(t3)
    put(p1)
    put(p2)
    put(p3)
    put(p4)
    put(p5)
    put(p6)
    put(p7)
    put(p8)
    put(p9)
    put(p10)
    put(p11)
  }
}

/// The twin of a BMP388 or BMP390 over I2C. Its FIFO is always empty.
package struct BMP388Twin: ResettingTwin, PairWriting {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x00
  /// What it stands on.
  package var core: TwinCore

  private let identity: UInt8
  private let trim: BMP388Trim
  private var registers = [UInt8](repeating: 0, count: 256)
  private var ready: UInt8 = 0
  private var errorFlags: UInt8 = 0
  private var resetAt: Int64 = 0
  private var filtered: (pressure: Double, temperature: Double)?

  /// Makes a BMP388 that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, identity: 0x50) }

  /// Makes either chip (0x50 or 0x60), not powered yet: call `powerOn`.
  package init(_ core: TwinCore, identity: UInt8, trim: BMP388Trim = .typical) {
    self.core = core
    self.identity = identity
    self.trim = trim
  }

  /// Seconds from power to the first answer.
  ///
  /// Table 2: 2 ms until the first communication.
  package let startUpTime = 0.002

  /// Reset values: the datasheet's register map.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x00] = identity
    registers[0x06] = 0x80
    registers[0x09] = 0x80
    registers[0x10] = 0x01
    registers[0x15] = 0x01
    registers[0x17] = 0x02
    registers[0x18] = 0x02
    registers[0x19] = 0x02
    registers[0x1C] = 0x02
    trim.store(into: &registers)
    core.schedule.stop()
    ready = 0
    errorFlags = 0
    filtered = nil
    core.pin = InterruptPin()
    resetAt = core.now
  }

  private var isCommandReady: Bool { core.now &- resetAt >= 2_000_000 }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    let value = registers[Int(register)]
    switch register {
    case 0x02:
      defer { errorFlags = 0 }
      return errorFlags
    case 0x03: return ready | (isCommandReady ? 0x10 : 0)
    // Reading any byte of a value takes its flag down.
    case 0x04...0x06: ready &= ~0x20
    case 0x07...0x09: ready &= ~0x40
    // por_detected and the interrupt status are cleared by reading.
    case 0x10, 0x11:
      registers[Int(register)] = 0
      if register == 0x11 { drive(false, at: core.now) }
    default: break
    }
    return value
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x19: registers[0x19] = value & 0x7F
    case 0x1A: registers[0x1A] = value & 0x07
    case 0x1B:
      registers[0x1B] = value & 0x33
      restart()
    case 0x1C:
      registers[0x1C] = value & 0x3F
      restart()
    case 0x1D:
      registers[0x1D] = min(value & 0x1F, 0x11)
      restart()
    case 0x1F:
      registers[0x1F] = value & 0x0E
      filtered = nil
    case 0x7E: if value == 0xB6 { reset() }
    default: break
    }
  }

  private func samples(_ shift: UInt8) -> Double {
    Double(1 << min(registers[0x1C] >> shift & 7, 5))
  }

  private var temperatureTime: Double { 163e-6 + 2020e-6 * samples(3) }
  private var pressureTime: Double { 392e-6 + 2020e-6 * samples(0) }
  /// Seconds of one conversion (3.9.2).
  private var measurementTime: Double {
    234e-6 + (registers[0x1B] & 1 != 0 ? pressureTime : 0)
      + (registers[0x1B] & 2 != 0 ? temperatureTime : 0)
  }

  private mutating func restart() {
    let scale = core.period(1)
    switch registers[0x1B] & 0x30 {
    case 0x00: core.schedule.stop()
    case 0x30:
      let period = 0.005 * Double(1 << registers[0x1D])
      guard measurementTime <= period else {
        // 3.9.1: a rate that is too fast is a configuration error, and the chip goes to sleep.
        errorFlags |= 0x04
        registers[0x1B] &= 0x03
        core.schedule.stop()
        return
      }
      core.schedule.start(at: core.now, firstAfter: measurementTime * scale, every: period * scale)
    default: core.schedule.single(at: core.now, duration: measurementTime * scale)
    }
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if registers[0x1B] & 0x30 != 0x30 { registers[0x1B] &= 0x03 }
    ready |= (registers[0x1B] & 1) << 5 | (registers[0x1B] & 2) << 5
    registers[0x11] |= 0x08
    if registers[0x19] & 0x40 != 0 {
      drive(true, at: done.first)
      // 3.7: without the latch the line falls by itself.
      if registers[0x19] & 0x04 == 0 { drive(false, at: done.first &+ 2_500_000) }
    }
    guard !tampering.isFrozen else { return }
    // The filter remembers: of a long pause the last conversions are enough (e to the -8th: 0.03 %).
    let again = registers[0x1F] == 0 ? 1 : min(done.count, 8 << UInt64(registers[0x1F] >> 1))
    for back in (0..<again).reversed() {
      let time = done.last &- Int64(back) &* core.schedule.period
      convert(Conversions(first: time, last: time, count: 1, index: done.index &- back))
    }
  }

  /// Drives the pin to its active or its idle level (int_level).
  private mutating func drive(_ active: Bool, at time: Int64) {
    core.pin.set(active == (registers[0x19] & 0x02 != 0), at: time)
  }

  /// The datasheet's "Noise" figures were not to be had: those of the BMP280, the chip before it.
  private static let noise = [3.3, 2.6, 2.1, 1.6, 1.3, 1.2]

  private mutating func convert(_ done: Conversions) {
    let middle = done.last &- Int64((temperatureTime + pressureTime / 2) * 1e9)
    let code = Int(min(registers[0x1C] & 7, 5))
    let air = core.air(
      at: middle, pressureNoise: Self.noise[code],
      temperatureNoise: 0.005 / samples(3).squareRoot(), stream: 20, done)
    // 3.4.1: 16 bits for one sample and one more for each doubling, left-justified; 3.4.3: the filter's are 24.
    func rounded(_ raw: Double, _ shift: UInt8) -> Double {
      let step = registers[0x1F] == 0 ? 256 / samples(shift) : 1
      return max(0, min(0x100_0000 - step, (raw / step).rounded() * step))
    }
    var temperature = trim.rawTemperature(air.temperature)
    let compensated = trim.temperature(rounded(temperature, 3))
    var pressure = trim.rawPressure(air.pressure, temperature: compensated)
    if registers[0x1F] != 0 {
      // 3.4.3: the coefficient is one less than a power of two.
      let coefficient = Double(1 << (registers[0x1F] >> 1)) - 1
      if let last = filtered {
        pressure = (last.pressure * coefficient + pressure) / (coefficient + 1)
        temperature = (last.temperature * coefficient + temperature) / (coefficient + 1)
      }
      filtered = (pressure, temperature)
    }
    if registers[0x1B] & 1 != 0 {
      storeLittleEndian(Int64(rounded(pressure, 0)), bytes: 3, at: 0x04, in: &registers)
    }
    if registers[0x1B] & 2 != 0 {
      storeLittleEndian(Int64(rounded(temperature, 3)), bytes: 3, at: 0x07, in: &registers)
    }
  }

  /// drdy_en puts new data on the pin; active low it falls.
  package var nextRise: Int64 { registers[0x19] & 0x42 == 0x42 ? core.schedule.next : .max }
}

extension TwinDescription {
  static let bmp388 = bmp3xx("BMP388", identity: 0x50, absolute: 50, perKelvin: 0.75)
  static let bmp390 = bmp3xx("BMP390", identity: 0x60, absolute: 50, perKelvin: 0.6)

  /// Absolute 50 Pa typical; of the temperature coefficient a third is taken (the board stays cool).
  private static func bmp3xx(
    _ name: String, identity: UInt8, absolute: Double, perKelvin: Double
  ) -> TwinDescription {
    TwinDescription(name, make: { BMP388Twin($0, identity: identity) }) { random, _ in
      .barometer(
        bias: absolute, perKelvin: perKelvin / 3, temperature: 0.5, clock: 0.01, &random)
    }
  }
}
