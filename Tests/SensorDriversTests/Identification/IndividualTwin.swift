import SensorTypes

@testable import SimulatedDevices

/// Makes twins with a memory of their own: the PROM or the coefficients of a barometer, the trim of a magnetometer or
/// of a self-test. These bytes lie where other chips have their identity, or what tells them.
enum IndividualTwin {
  typealias Maker = (TwinCore) -> any ChipTwin

  /// Returns what makes such a twin; `nil` for a chip without a memory of its own.
  static func maker(_ name: String, _ random: inout SeededGenerator) -> Maker? {
    switch name {
    case "MS5611": ms5611(.ms5611, &random)
    case "MS5607": ms5611(.ms5607, &random)
    case "DPS310", "DPS368": dps310(.infineon, .typical, &random)
    case "SPL06": dps310(.spl06, .typical, &random)
    case "SPA06": dps310(.spa06, .quartic, &random)
    case "BMP180": bmp180(&random)
    case "BMP280": bmp280(.bmp280, &random)
    case "BME280": bmp280(.bme280, &random)
    case "BMP388": bmp388(identity: 0x50, &random)
    case "BMP390": bmp388(identity: 0x60, &random)
    case "BME680": bme680(&random)
    case "BMM150": bmm150(&random)
    case "BMM350": bmm350(&random)
    case "BMI160": bmi160(&random)
    case "MPU6050", "MPU6500", "MPU9250", "ICM20948", "ICM42688P": invenSense(name, &random)
    default: nil
    }
  }

  private static func ms5611(_ usual: MS5611Prom, _ random: inout SeededGenerator) -> Maker {
    let c = usual.c.map { random.spread($0, by: 0.1) }
    // Chips from the shelf have zeros in the words that no formula uses, or anything.
    let prom = MS5611Prom(
      c: c, isMS5607: usual.isMS5607,
      factory: random.next() % 4 == 0 ? 0 : UInt16(random.next() & 0xFFFF),
      serial: random.next() % 4 == 0 ? 0 : UInt16(random.next() & 0x0FFF))
    return { MS5611Twin($0, prom) }
  }

  private static func dps310(
    _ variant: DPS310Twin.Variant, _ usual: DPS310TwinTrim, _ random: inout SeededGenerator
  ) -> Maker {
    var trim = usual
    let sign: Int32 = random.next() % 2 == 0 ? 1 : -1
    random.spread([\.c0, \.c1, \.c00, \.c10], of: &trim, by: 0.1)
    let others: [WritableKeyPath<DPS310TwinTrim, Int32>] = [
      \.c01, \.c11, \.c20, \.c21, \.c30, \.c31, \.c40,
    ]
    random.spread(others, of: &trim, by: 0.5)
    for place in others { trim[keyPath: place] *= sign }
    return { [trim] in DPS310Twin($0, variant, coefficients: trim) }
  }

  private static func bmp180(_ random: inout SeededGenerator) -> Maker {
    var trim = BMP180Words.datasheetExample
    // MB is at its end.
    for index in trim.words.indices where index != 8 {
      trim.words[index] = random.spread(trim.words[index], by: 0.05)
    }
    return { [trim] in BMP180Twin($0, trim: trim) }
  }

  private static func bmp280(
    _ variant: BMP280Twin.Variant, _ random: inout SeededGenerator
  ) -> Maker {
    var trim = BoschTrim.datasheetExample
    random.spread([\.t1, \.p1], of: &trim, by: 0.05)
    random.spread(
      [\.t2, \.t3, \.p2, \.p3, \.p4, \.p5, \.p6, \.p7, \.p8, \.p9, \.h2, \.h4, \.h5], of: &trim,
      by: 0.05)
    trim.h1 = UInt8(random.next() & 0xFF)
    return { [trim] in BMP280Twin(variant, $0, trim: trim) }
  }

  private static func bmp388(identity: UInt8, _ random: inout SeededGenerator) -> Maker {
    var trim = BMP388Trim.typical
    random.spread([\.t1, \.t2, \.p5, \.p6], of: &trim, by: 0.05)
    random.spread([\.p1, \.p2, \.p9], of: &trim, by: 0.05)
    return { [trim] in BMP388Twin($0, identity: identity, trim: trim) }
  }

  private static func bme680(_ random: inout SeededGenerator) -> Maker {
    let usual = BME680Trim.typical
    let t = usual.t.map { random.spread($0, by: 0.05) }
    let p = usual.p.map { random.spread($0, by: 0.05) }
    let h = usual.h.map { random.spread($0, by: 0.05) }
    return { BME680Twin($0, trim: BME680Trim(t: t, p: p, h: h)) }
  }

  private static func bmm150(_ random: inout SeededGenerator) -> Maker {
    var trim = BMM150TwinTrim()
    random.spread(
      [\.x2, \.y2, \.z1, \.z2, \.z3, \.z4, \.xy1, \.xy2, \.xyz1], of: &trim, by: 0.3)
    (trim.x1, trim.y1) = (Int(random.next() % 21) - 10, Int(random.next() % 21) - 10)
    trim.hasTopBit = random.next() % 2 == 0
    return { [trim] in BMM150Twin($0, trim: trim) }
  }

  private static func bmm350(_ random: inout SeededGenerator) -> Maker {
    let words = BMM350Memory.typical.words.map { $0 ^ UInt16(random.next() & 0x0707) }
    return { BMM350Twin($0, memory: BMM350Memory(words: words)) }
  }

  private static func bmi160(_ random: inout SeededGenerator) -> Maker {
    // What a compensation has left: one in two lies where an MPU has its identity.
    var offsets = (0..<7).map { _ in UInt8(random.next() & 0xFF) }
    if random.next() % 2 == 0 { offsets[4] = random.pick([0x68, 0x70, 0x71, 0x73, 0x98]) }
    return { [offsets] in BMI160Twin($0, offsets: offsets) }
  }

  /// InvenSense's: the trim of the self-test, which has five bits in an MPU6050 and eight in the others.
  private static func invenSense(_ name: String, _ random: inout SeededGenerator) -> Maker {
    let codes: UInt64 = name == "MPU6050" ? 31 : 255
    let trim = (0..<6).map { _ in UInt8(1 + random.next() % codes) }
    return {
      switch name {
      case "ICM20948": ICM20948Twin($0, trim: trim)
      case "ICM42688P": ICM42688PTwin($0, trim: trim)
      case "MPU6050": MPUTwin(.mpu6050, $0, trim: trim)
      case "MPU6500": MPUTwin(.mpu6500, $0, trim: trim)
      default: MPUTwin(.mpu9250, $0, trim: trim)
      }
    }
  }
}

extension SeededGenerator {
  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int(next() % UInt64(values.count))]
  }

  /// A whole number at most `share` of `middle` away from it.
  mutating func spread(_ middle: Double, by share: Double) -> Double {
    (middle * (1 + share * symmetric())).rounded()
  }

  mutating func spread<Number: FixedWidthInteger>(_ middle: Number, by share: Double) -> Number {
    Number(clamping: Int(spread(Double(middle), by: share)))
  }

  /// Spreads the numbers at `places`, one after the other.
  mutating func spread<Trim, Number: FixedWidthInteger>(
    _ places: [WritableKeyPath<Trim, Number>], of trim: inout Trim, by share: Double
  ) {
    for place in places { trim[keyPath: place] = spread(trim[keyPath: place], by: share) }
  }
}
