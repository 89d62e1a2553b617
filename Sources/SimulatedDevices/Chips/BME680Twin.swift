// Bosch BME680 (datasheet BST-BME680-DS001): trim, forced mode, pressure, temperature and humidity; no gas.

/// The trim of a BME680 and the formulas of 3.3.1 to 3.3.3 that use it.
package struct BME680Trim: Sendable, Hashable {
  /// par_t1, unsigned, par_t2 and par_t3.
  package var t: [Int]
  /// par_p1, unsigned, to par_p10, unsigned.
  package var p: [Int]
  /// par_h1 and par_h2, unsigned 12-bit, par_h3 to par_h5, par_h6, unsigned, and par_h7.
  package var h = [717, 1021, 0, 45, 20, 120, -100]

  package static let typical = BME680Trim(
    t: [26195, 26290, 3], p: [35395, -10405, 88, 4836, -118, 30, 26, -765, -3367, 30])

  func fine(_ raw: Double) -> Double {
    let first = (raw / 16384 - Double(t[0]) / 1024) * Double(t[1])
    let square = raw / 131_072 - Double(t[0]) / 8192
    return first + square * square * Double(t[2]) * 16
  }

  func pressure(_ raw: Double, fine: Double) -> Double {
    let p: [Double] = [0] + self.p.map { Double($0) }
    let warm = fine / 2 - 64000
    let offset = (warm * warm * p[6] / 131_072 + warm * p[5] * 2) / 4 + p[4] * 65536
    let gain = 1 + (p[3] * warm * warm / 16384 + p[2] * warm) / 524_288 / 32768
    let linear = (1_048_576 - raw - offset / 4096) * 6250 / (gain * p[1])
    let cube = linear / 256 * (linear / 256) * (linear / 256) * p[10] / 131_072
    let square = p[9] * linear * linear / 2_147_483_648
    return linear + (square + linear * p[8] / 32768 + cube + p[7] * 128) / 16
  }

  func humidity(_ raw: Double, fine: Double) -> Double {
    let h: [Double] = [0] + self.h.map { Double($0) }
    let warm = fine / 5120
    let dry = raw - h[1] * 16 - h[3] / 2 * warm
    let wet = dry * h[2] / 262_144 * (1 + h[4] * warm / 16384 + h[5] * warm * warm / 1_048_576)
    let percent = wet + (h[6] / 16384 + h[7] * warm / 2_097_152) * wet * wet
    return max(0, min(100, percent))
  }

  /// Where each of them lies ("Memory map", calibration data), with its bytes.
  func store(into registers: inout [UInt8]) {
    let places = [
      (t[0], 0xE9, 2), (t[1], 0x8A, 2), (t[2], 0x8C, 1), (p[0], 0x8E, 2), (p[1], 0x90, 2),
      (p[2], 0x92, 1), (p[3], 0x94, 2), (p[4], 0x96, 2), (p[6], 0x98, 1), (p[5], 0x99, 1),
      (p[7], 0x9C, 2), (p[8], 0x9E, 2), (p[9], 0xA0, 1),
    ]
    registers[0xE1] = UInt8(truncatingIfNeeded: h[1] >> 4)
    registers[0xE2] = UInt8(truncatingIfNeeded: h[1] << 4 | h[0] & 0x0F)
    registers[0xE3] = UInt8(truncatingIfNeeded: h[0] >> 4)
    for (index, value) in h[2...].enumerated() {
      registers[0xE4 + index] = UInt8(truncatingIfNeeded: value)
    }
    for (value, register, bytes) in places {
      storeLittleEndian(Int64(value), bytes: bytes, at: register, in: &registers)
    }
  }
}

/// The twin of a BME680 over I2C.
package struct BME680Twin: ResettingTwin, PairWriting {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0xD0
  /// What it stands on.
  package var core: TwinCore

  private let trim: BME680Trim
  private var registers = [UInt8](repeating: 0, count: 256)

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, trim: .typical) }

  /// Makes a chip with a trim of its own, not powered yet: call `powerOn`.
  package init(_ core: TwinCore, trim: BME680Trim) {
    self.core = core
    self.trim = trim
  }

  /// Seconds from power to the first answer.
  ///
  /// "Start-up time": 2 ms.
  package let startUpTime = 0.002

  /// Registers take their reset values.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x1F] = 0x80
    registers[0x22] = 0x80
    registers[0x25] = 0x80
    registers[0xD0] = 0x61
    trim.store(into: &registers)
    core.schedule.stop()
  }

  package mutating func readByte(_ register: UInt8) -> UInt8 {
    guard register == 0x1D else { return registers[Int(register)] }
    return registers[0x1D] | (core.schedule.isIdle ? 0 : 0x20)
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0xE0: if value == 0xB6 { reset() }
    case 0x74:
      registers[0x74] = value
      guard value & 0x03 == 0x01 else { return core.schedule.stop() }
      // A new conversion takes the flag of the last one down.
      registers[0x1D] = 0
      core.schedule.single(at: core.now, duration: core.period(measurementTime))
    case 0x50...0x6D, 0x70...0x72, 0x75: registers[Int(register)] = value
    default: break
    }
  }

  private func samples(_ code: UInt8) -> Double { code == 0 ? 0 : Double(1 << (min(code, 5) - 1)) }
  private var temperatureSamples: Double { samples(registers[0x74] >> 5) }
  private var pressureSamples: Double { samples(registers[0x74] >> 2 & 7) }

  private var humiditySamples: Double { samples(registers[0x72] & 7) }

  /// Seconds of one conversion without gas.
  private var measurementTime: Double {
    0.001 + 1.963e-3 * (temperatureSamples + pressureSamples + humiditySamples) + 4 * 0.477e-3
  }

  /// Takes note of the conversion when it is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    registers[0x74] &= 0xFC
    registers[0x1D] = 0x80
    guard !tampering.isFrozen else { return }
    // 0.12 Pa root mean square at the highest oversampling; that it goes with the root of the samples is an
    // assumption, and so is the BME280's noise of the temperature.
    let air = core.air(
      at: done.last &- Int64((pressureSamples / 2 + humiditySamples) * 1.963e6),
      pressureNoise: 0.12 * (16 / max(1, pressureSamples)).squareRoot(),
      temperatureNoise: 0.005 / max(1, temperatureSamples).squareRoot(), stream: 27, done)
    let celsius = bisection(from: 0, to: 1_048_575) { trim.fine($0) / 5120 < air.temperature }
    let temperature = quantized(celsius, temperatureSamples)
    let fine = trim.fine(temperature)
    // Pressure falls as the raw value grows.
    let raw = bisection(from: 0, to: 1_048_575) { trim.pressure($0, fine: fine) > air.pressure }
    let pressure = pressureSamples == 0 ? 524_288 : quantized(raw, pressureSamples)
    storeBigEndian(Int64(pressure) << 4, bytes: 3, at: 0x1F, in: &registers)
    storeBigEndian(Int64(temperature) << 4, bytes: 3, at: 0x22, in: &registers)
    guard humiditySamples > 0 else {
      return storeBigEndian(0x8000, bytes: 2, at: 0x25, in: &registers)
    }
    let percent = core.stimulus(at: done.last).humidity
    let wet = bisection(from: 0, to: 65_535) { trim.humidity($0, fine: fine) < percent }
    storeBigEndian(Int64(wet.rounded()), bytes: 2, at: 0x25, in: &registers)
  }

  /// 16 bits for one sample and one more for each doubling, left-justified in 20.
  private func quantized(_ raw: Double, _ samples: Double) -> Double {
    let step = 16 / max(1, samples)
    return max(0, min(1_048_576 - step, (raw / step).rounded() * step))
  }

  /// There is no interrupt pin.
  package var nextRise: Int64 { .max }
}

extension TwinDescription {
  /// Absolute 60 Pa; 1.3 Pa a kelvin, of which a third is taken (the board stays cool).
  static let bme680 = TwinDescription("BME680", make: { BME680Twin($0) }) { random, _ in
    .barometer(bias: 60, perKelvin: 0.4, temperature: 0.5, clock: 0.02, &random)
  }
}
