// BMP280, BME280 and DPS310: the datasheets' examples, inverse compensation, timing.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

/// The BMP280 datasheet's integer formulas (section 3.11.3), written from its text: what a driver without
/// floating point does, and independent of the formulas that the twin inverts.
private struct IntegerCompensation {
  var t: [Int64]
  var p: [Int64]

  init(trim bytes: [UInt8]) {
    func word(_ index: Int) -> Int64 {
      let value = UInt16(bytes[2 * index]) | UInt16(bytes[2 * index + 1]) << 8
      return index == 0 || index == 3 ? Int64(value) : Int64(Int16(bitPattern: value))
    }
    t = [0, word(0), word(1), word(2)]
    p = [0] + (3...11).map(word)
  }

  func fine(_ adc: Int64) -> Int64 {
    let a = (((adc >> 3) - (t[1] << 1)) * t[2]) >> 11
    let d = (adc >> 4) - t[1]
    return a + ((((d * d) >> 12) * t[3]) >> 14)
  }

  func celsius(_ adc: Int64) -> Double { Double((fine(adc) * 5 + 128) >> 8) / 100 }

  func pascals(_ adc: Int64, fine: Int64) -> Double {
    var a = fine - 128_000
    var b = a * a * p[6]
    b += (a * p[5]) << 17
    b += p[4] << 35
    a = ((a * a * p[3]) >> 8) + ((a * p[2]) << 12)
    a = (((1 << 47) + a) * p[1]) >> 33
    guard a != 0 else { return 0 }
    var q = 1_048_576 - adc
    q = (((q << 31) - b) * 3125) / a
    let c = (p[9] * (q >> 13) * (q >> 13)) >> 25
    let d = (p[8] * q) >> 19
    q = ((q + c + d) >> 8) + (p[7] << 4)
    return Double(q) / 256
  }
}

private func raw20(_ bytes: ArraySlice<UInt8>) -> Int64 {
  let b = Array(bytes)
  return Int64(b[0]) << 12 | Int64(b[1]) << 4 | Int64(b[2]) >> 4
}

@Suite("Bosch compensation")
struct BoschCompensationTests {
  @Test("reproduces the datasheet's worked example")
  func example() {
    let trim = BoschTrim.datasheetExample
    let fine = trim.fineTemperature(raw: 519_888)
    #expect(abs(trim.temperature(raw: 519_888) - 25.08) < 0.005)
    #expect(abs(trim.pressure(raw: 415_148, fineTemperature: fine) - 100_653.27) < 0.01)
  }

  @Test("inverts to the example's raw values")
  func inverse() {
    let trim = BoschTrim.datasheetExample
    let raw = trim.rawTemperature(celsius: trim.temperature(raw: 519_888))
    #expect(raw.rounded() == 519_888)
    let fine = trim.fineTemperature(raw: 519_888)
    #expect(trim.rawPressure(pascals: 100_653.27, fineTemperature: fine).rounded() == 415_148)
  }
}

@Suite("BMP280 and BME280 twins")
struct BMP280TwinTests {
  private func chip(
    _ source: any StimulusSource, _ variant: BMP280Twin.Variant = .bmp280
  ) -> BMP280Twin {
    BMP280Twin(variant, TwinCore(source: source, errors: .none)).powered()
  }

  @Test("carries the example's trim, its identity and its reset values")
  func resetValues() {
    var chip = chip(bench())
    #expect(chip.read(0xD0, now: ms(0)) == 0x58)
    #expect(chip.read(0xF3, count: 3, now: ms(0)) == [0, 0, 0])
    #expect(chip.read(0xF7, count: 6, now: ms(0)) == [0x80, 0, 0, 0x80, 0, 0])
    // 27504, 26435, -1000, 36477, low bytes first.
    #expect(
      chip.read(0x88, count: 8, now: ms(0)) == [0x70, 0x6B, 0x43, 0x67, 0x18, 0xFC, 0x7D, 0x8E])
    var other = self.chip(bench(), .bme280)
    #expect(other.read(0xD0, now: ms(0)) == 0x60)
  }

  @Test("is silent for 2 ms after power-on; after a reset it copies its trim for 2 ms")
  func start() {
    var chip = BMP280Twin(source: bench())
    chip.powerOn(at: ms(0))
    #expect(!chip.answers(at: ms(1.9)))
    #expect(chip.answers(at: ms(2)))
    chip.write(0xF4, 0x27, now: ms(10))
    chip.write(0xE0, 0xB6, now: ms(20))
    #expect(chip.read(0xF4, now: ms(20)) == 0)
    #expect(chip.read(0xF3, now: ms(21)) & 0x01 == 1)
    #expect(chip.read(0x88, now: ms(21)) == 0)
    #expect(chip.read(0xF3, now: ms(22.1)) & 0x01 == 0)
    #expect(chip.read(0x88, now: ms(22.1)) == 0x70)
  }

  @Test("takes a longer write as pairs of address and value")
  func pairs() {
    var chip = chip(bench())
    let bytes: [UInt8] = [0x10, 0xF4, 0x27]
    bytes.withUnsafeBytes { chip.write(0xF5, from: $0, now: ms(0)) }
    #expect(chip.read(0xF4, count: 2, now: ms(0)) == [0x27, 0x10])
  }

  @Test(
    "can be decoded over its whole range",
    arguments: [30_000.0, 50_000, 80_000, 95_000, 101_325, 110_000], [-40.0, 0, 25.08, 85])
  func range(pressure: Double, temperature: Double) {
    var chip = chip(bench(pressure: pressure, temperature: temperature))
    let compensation = IntegerCompensation(trim: chip.read(0x88, count: 24, now: ms(0)))
    // 20 bits of both: 16 samples.
    chip.write(0xF4, 0b101_101_01, now: ms(0))
    let bytes = chip.read(0xF7, count: 6, now: ms(100))
    #expect(abs(compensation.celsius(raw20(bytes[3..<6])) - temperature) <= 0.01)
    // The integer formula for temperature drops three bits, worth up to 0.4 Pa where the chip is hot;
    // the datasheet's other one, whose example has a test of its own, keeps them.
    let fine = BoschTrim.datasheetExample.fineTemperature(raw: Double(raw20(bytes[3..<6])))
    let decoded = compensation.pascals(raw20(bytes[0..<3]), fine: Int64(fine.rounded()))
    // One count of 20 bits is up to 0.2 Pa.
    #expect(abs(decoded - pressure) < 0.2)
  }

  @Test("takes the typical time of its oversampling, then sleeps after a forced measurement")
  func forced() {
    var chip = chip(bench())
    // x2 and x16: 1 + 4 + 32.5 ms.
    chip.write(0xF4, 0b010_101_01, now: ms(0))
    #expect(chip.nextDataReady(after: ms(0)) == ms(37.5))
    #expect(chip.read(0xF3, now: ms(37)) == 0x08)
    #expect(chip.read(0xF7, now: ms(37)) == 0x80)
    #expect(chip.read(0xF3, now: ms(38)) == 0x00)
    #expect(chip.read(0xF7, now: ms(38)) != 0x80)
    #expect(chip.read(0xF4, now: ms(38)) == 0b010_101_00)
  }

  @Test(
    "pauses in normal mode as its variant's table says",
    arguments: [
      (BMP280Twin.Variant.bmp280, UInt8(0), 0.5), (.bmp280, 1, 62.5), (.bmp280, 5, 1000),
      (.bmp280, 6, 2000), (.bmp280, 7, 4000), (.bme280, 6, 10), (.bme280, 7, 20),
    ])
  func normal(variant: BMP280Twin.Variant, code: UInt8, pause: Double) throws {
    var chip = chip(bench(), variant)
    chip.write(0xF5, code << 5, now: ms(0))
    chip.write(0xF4, 0b001_001_11, now: ms(0))
    // x1 and x1: 1 + 2 + 2.5 ms.
    let first = try #require(chip.nextDataReady(after: ms(0)))
    #expect(first == ms(5.5))
    chip.advance(to: first)
    #expect(chip.nextDataReady(after: first) == ms(5.5 + 5.5 + pause))
    // Configuration is ignored meanwhile.
    chip.write(0xF5, 0x00, now: ms(6))
    #expect(chip.read(0xF5, now: ms(6)) == code << 5)
  }

  @Test("keeps 16 bits at one sample, and marks a skipped channel")
  func resolution() {
    var chip = chip(bench(pressure: 98_765.4))
    chip.write(0xF4, 0b001_001_01, now: ms(0))
    let bytes = chip.read(0xF7, count: 6, now: ms(10))
    #expect(bytes[2] == 0 && bytes[5] == 0)
    chip.write(0xF4, 0b001_000_01, now: ms(20))
    #expect(chip.read(0xF7, count: 3, now: ms(30)) == [0x80, 0, 0])
  }

  @Test("filters as the datasheet's recursion says")
  func filter() {
    var chip = chip(Step(at: ms(1000), before: 100_000, after: 100_400))
    let compensation = IntegerCompensation(trim: chip.read(0x88, count: 24, now: ms(0)))
    // Coefficient 4, no standby to speak of: 5.5 + 0.5 ms a turn.
    chip.write(0xF5, 0b000_010_00, now: ms(0))
    chip.write(0xF4, 0b001_001_11, now: ms(0))
    func pressure(_ now: Timestamp) -> Double {
      let bytes = chip.read(0xF7, count: 6, now: now)
      return compensation.pascals(
        raw20(bytes[0..<3]), fine: compensation.fine(raw20(bytes[3..<6])))
    }
    #expect(abs(pressure(ms(999)) - 100_000) < 0.3)
    // Conversions end at 5.5 + 6 k ms; their pressure is measured up to 1.5 ms before: 1001.5 sees
    // the old one or the new, 1007.5 is surely new.
    let first = pressure(ms(1001.6))
    let second = pressure(ms(1007.6))
    let third = pressure(ms(1013.6))
    #expect(abs((100_400 - second) / (100_400 - first) - 0.75) < 0.01)
    #expect(abs((100_400 - third) / (100_400 - second) - 0.75) < 0.01)
  }

  private struct Step: StimulusSource {
    var at: Timestamp
    var before: Double
    var after: Double

    func stimulus(at time: Timestamp) -> Stimulus {
      Stimulus(pressure: time < at ? before : after)
    }
  }

  @Test("measures humidity once ctrl_hum is taken over by ctrl_meas")
  func humidity() {
    var chip = chip(bench(temperature: 22, humidity: 61), .bme280)
    chip.write(0xF2, 0x01, now: ms(0))
    chip.write(0xF4, 0b001_001_01, now: ms(0))
    let bytes = chip.read(0xF7, count: 8, now: ms(20))
    let trim = BoschTrim.datasheetExample
    let fine = trim.fineTemperature(raw: Double(raw20(bytes[3..<6])))
    let raw = Double(UInt16(bytes[6]) << 8 | UInt16(bytes[7]))
    #expect(abs(trim.humidity(raw: raw, fineTemperature: fine) - 61) < 0.02)
    var dry = self.chip(bench(), .bmp280)
    dry.write(0xF2, 0x01, now: ms(0))
    #expect(dry.read(0xF2, now: ms(0)) == 0)
  }
}

@Suite("DPS310 twin")
struct DPS310TwinTests {
  private func chip(_ source: any StimulusSource) -> DPS310Twin {
    DPS310Twin(source: source, errors: .none).powered()
  }

  private func signed(_ value: Int, bits: Int) -> Double {
    Double(value >= 1 << (bits - 1) ? value - 1 << bits : value)
  }

  @Test("becomes ready in steps and shows its identity")
  func start() {
    var chip = DPS310Twin(source: bench())
    chip.powerOn(at: ms(0))
    #expect(!chip.answers(at: ms(2)))
    #expect(chip.read(0x0D, now: ms(3)) == 0x10)
    #expect(chip.read(0x08, now: ms(11)) == 0x00)
    #expect(chip.read(0x08, now: ms(13)) == 0x40)
    #expect(chip.read(0x10, now: ms(13)) == 0x00)
    #expect(chip.read(0x08, now: ms(41)) == 0xC0)
    #expect(chip.read(0x10, now: ms(41)) == 0x0D)
    #expect(chip.read(0x28, now: ms(41)) == 0x80)
    chip.write(0x0C, 0x09, now: ms(50))
    #expect(chip.read(0x08, now: ms(51)) == 0x00)
  }

  @Test(
    "can be decoded from its registers alone, at every oversampling",
    arguments: Array(UInt8(0)...7), [35_000.0, 101_325, 118_000])
  func decode(code: UInt8, pressure: Double) {
    let factors = [
      524_288.0, 1_572_864, 3_670_016, 7_864_320, 253_952, 516_096, 1_040_384, 2_088_960,
    ]
    var chip = chip(bench(pressure: pressure, temperature: 31))
    let b = chip.read(0x10, count: 18, now: ms(0)).map { Int($0) }
    let c0 = signed(b[0] << 4 | b[1] >> 4, bits: 12)
    let c1 = signed((b[1] & 15) << 8 | b[2], bits: 12)
    let c00 = signed(b[3] << 12 | b[4] << 4 | b[5] >> 4, bits: 20)
    let c10 = signed((b[5] & 15) << 16 | b[6] << 8 | b[7], bits: 20)
    let rest = (0..<5).map { signed(b[8 + 2 * $0] << 8 | b[9 + 2 * $0], bits: 16) }
    chip.write(0x06, code, now: ms(0))
    chip.write(0x07, 0x80, now: ms(0))
    chip.write(0x09, code > 3 ? 0x04 : 0, now: ms(0))
    chip.write(0x08, 0x02, now: ms(0))
    #expect(chip.read(0x08, now: ms(3)) & 0x20 == 0)
    #expect(chip.read(0x08, now: ms(4)) & 0x27 == 0x20)
    chip.write(0x08, 0x01, now: ms(4))
    let r = chip.read(0x00, count: 6, now: ms(300)).map { Int($0) }
    let p = signed(r[0] << 16 | r[1] << 8 | r[2], bits: 24) / factors[Int(code)]
    let t = signed(r[3] << 16 | r[4] << 8 | r[5], bits: 24) / 524_288
    #expect(abs(c0 * 0.5 + c1 * t - 31) < 0.001)
    let (c01, c11, c20, c21, c30) = (rest[0], rest[1], rest[2], rest[3], rest[4])
    let decoded =
      c00 + p * (c10 + p * (c20 + p * c30)) + t * c01 + t * p * (c11 + p * c21)
    // One count of the coarsest scale factor is 0.25 Pa.
    #expect(abs(decoded - pressure) < 0.2)
  }

  @Test("takes its oversampling's time and clears a flag by reading the result")
  func timing() {
    var chip = chip(bench())
    chip.write(0x06, 0x06, now: ms(0))
    chip.write(0x08, 0x01, now: ms(0))
    #expect(chip.nextDataReady(after: ms(0)) == ms(104.4))
    #expect(chip.read(0x08, now: ms(104)) == 0xC1)
    #expect(chip.read(0x08, now: ms(105)) == 0xD0)
    _ = chip.read(0x00, count: 3, now: ms(106))
    #expect(chip.read(0x08, now: ms(107)) == 0xC0)
  }

  @Test("converts in the background at the configured rate, and pulls its pin")
  func background() {
    var chip = chip(bench())
    chip.write(0x06, 0x31, now: ms(0))
    chip.write(0x07, 0xB0, now: ms(0))
    chip.write(0x09, 0x90, now: ms(0))
    chip.write(0x08, 0x07, now: ms(0))
    var edges: [Timestamp] = []
    for step in 0..<2000 {
      let now = ms(Double(step))
      if let edge = chip.takeEdge(at: now) {
        edges.append(edge)
        #expect(chip.read(0x0A, now: now) == 0x01)
        #expect(chip.read(0x0A, now: now) == 0x00)
      }
    }
    // 8 Hz for 2 s.
    #expect(edges.count == 16)
    #expect(edges[5].seconds(since: edges[4]) == 0.125)
  }

  @Test("loses the upper bits of a long sum that is not shifted")
  func shift() {
    var chip = chip(bench())
    chip.write(0x06, 0x04, now: ms(0))
    chip.write(0x08, 0x01, now: ms(0))
    let bare = chip.read(0x00, count: 3, now: ms(100))
    chip.write(0x09, 0x04, now: ms(100))
    chip.write(0x08, 0x01, now: ms(100))
    #expect(chip.read(0x00, count: 3, now: ms(200)) != bare)
  }

  @Test("is some degrees off with the temperature sensor that its coefficients do not belong to")
  func source() {
    func raw(_ configuration: UInt8) -> [UInt8] {
      var chip = chip(bench())
      chip.write(0x07, configuration, now: ms(0))
      chip.write(0x08, 0x02, now: ms(0))
      return chip.read(0x03, count: 3, now: ms(10))
    }
    #expect(raw(0x80) != raw(0x00))
  }
}
