// Bosch BMP180 (datasheet BST-BMP180-DS000-09): trim, one conversion at a time, the flow chart of 3.5.

/// The trim of a BMP180 and the flow chart that uses it, in whole numbers as the datasheet prints it.
package struct BMP180Words: Sendable, Hashable {
  /// AC1 to AC6, B1, B2, MB, MC and MD.
  package var words: [Int]

  /// The example of figure 4.
  package static let datasheetExample = BMP180Words(
    words: [408, -72, -14383, 32741, 32757, 23153, 6190, 4, -32768, -8711, 2868])

  /// The quotient rounded down, as the shifts of Bosch's own driver do; the datasheet writes divisions.
  private func quotient(_ value: Int, _ power: Int) -> Int { value >> power }

  /// B5 of an uncompensated temperature; `nil` where the trim makes a division by zero of it.
  func b5(_ ut: Int) -> Int? {
    let x1 = quotient((ut - words[5]) * words[4], 15)
    let divisor = x1 + words[10]
    return divisor == 0 ? nil : x1 + words[9] * 2048 / divisor
  }

  /// Pascals of an uncompensated pressure of 16 + `oss` bits; `nil` where the trim makes a division by zero of it, or a
  /// number for which the datasheet's 32 bits are not enough.
  func pascals(_ up: Int, oss: Int, b5: Int) -> Int? {
    let b6 = b5 - 4000
    let b6Square = quotient(b6 * b6, 12)
    let x3 = quotient(words[7] * b6Square, 11) + quotient(words[1] * b6, 11)
    let b3 = ((words[0] * 4 + x3) * (1 << oss) + 2) / 4
    let y3 = quotient(
      quotient(words[2] * b6, 13) + quotient(words[6] * b6Square, 16) + 2, 2)
    let b4 = quotient(words[3] * (y3 + 32768), 15)
    guard b4 != 0 else { return nil }
    let b7 = (up - b3) * (50_000 >> oss)
    let p = b7 < 0x8000_0000 ? b7 * 2 / b4 : b7 / b4 * 2
    guard abs(p) <= 0x7FFF_FFFF else { return nil }
    let z1 = quotient(quotient(p, 8) * quotient(p, 8) * 3038, 16)
    let z2 = quotient(-7357 * p, 16)
    return p + quotient(z1 + z2 + 3791, 4)
  }

  /// The first whole number from `low` on, up to `high`, for which `isEnough` holds.
  private func first(_ low: Int, _ high: Int, _ isEnough: (Int) -> Bool) -> Int {
    var (low, high) = (low, high)
    while low < high {
      let middle = (low + high) / 2
      if isEnough(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  func rawTemperature(_ celsius: Double) -> Int {
    // Below this the denominator of the formula changes its sign.
    let lowest = min(max(0, words[5] - words[10] + 64), 65535)
    return first(lowest, 65535) { b5($0).map { Double($0) >= celsius * 160 } ?? false }
  }

  func rawPressure(_ pascals: Double, oss: Int, b5: Int) -> Int {
    first(0, (1 << (16 + oss)) - 1) {
      self.pascals($0, oss: oss, b5: b5).map { Double($0) >= pascals } ?? false
    }
  }
}

/// The twin of a BMP180 over I2C.
package struct BMP180Twin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0xD0
  /// What it stands on.
  package var core: TwinCore

  private let trim: BMP180Words
  private var registers = [UInt8](repeating: 0, count: 256)
  /// The newest results of temperature and pressure, left-justified in 24 bits.
  private var results: [Int] = [0, 0]
  private var b5 = 4000

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, trim: .datasheetExample) }

  /// Makes a chip with a trim of its own, not powered yet: call `powerOn`.
  package init(_ core: TwinCore, trim: BMP180Words) {
    self.core = core
    self.trim = trim
  }

  /// Seconds from power to the first answer.
  ///
  /// Table 1: 10 ms from power-on.
  package let startUpTime = 0.01

  /// Registers take their reset values.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0xD0] = 0x55
    registers[0xF6] = 0x80
    for (index, word) in trim.words.enumerated() {
      storeBigEndian(Int64(word), bytes: 2, at: 0xAA + 2 * index, in: &registers)
    }
    core.schedule.stop()
  }

  package mutating func readByte(_ register: UInt8) -> UInt8 { registers[Int(register)] }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0xE0: if value == 0xB6 { reset() }
    case 0xF4:
      registers[0xF4] = value
      guard value & 0x20 != 0 else { return core.schedule.stop() }
      core.schedule.single(at: core.now, duration: core.period(conversionTime))
    default: break
    }
  }

  private var oss: Int { Int(registers[0xF4] >> 6) }
  private var isTemperature: Bool { registers[0xF4] & 0x1F == 0x0E }

  /// Seconds, typical (table 1).
  private var conversionTime: Double {
    isTemperature ? 0.003 : [0.003, 0.005, 0.009, 0.017][oss]
  }

  /// Takes note of the conversion when it is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if !tampering.isFrozen { convert(done) }
    storeBigEndian(Int64(results[isTemperature ? 0 : 1]), bytes: 3, at: 0xF6, in: &registers)
    // sco falls.
    registers[0xF4] &= ~0x20
  }

  private mutating func convert(_ done: Conversions) {
    // Table 1: root mean square noise by oversampling; of the temperature none is given.
    let air = core.air(
      at: done.last &- Int64(conversionTime * 0.5e9), pressureNoise: [6, 5, 4, 3][oss],
      temperatureNoise: 0.02, stream: isTemperature ? 24 : 25, done)
    if isTemperature {
      let raw = trim.rawTemperature(air.temperature)
      b5 = trim.b5(raw) ?? b5
      results[0] = raw << 8
    } else {
      results[1] = trim.rawPressure(air.pressure, oss: oss, b5: b5) << (8 - oss)
    }
  }

  /// The end-of-conversion pin is the BMP085's alone.
  package var nextRise: Int64 { .max }
}

extension TwinDescription {
  /// Absolute 100 Pa; the accuracy over temperature leaves about 1 Pa a kelvin, of which a third is taken (the board
  /// stays cool).
  static let bmp180 = TwinDescription("BMP180", make: { BMP180Twin($0) }) { random, _ in
    .barometer(bias: 100, perKelvin: 0.3, temperature: 1, clock: 0.02, &random)
  }
}
