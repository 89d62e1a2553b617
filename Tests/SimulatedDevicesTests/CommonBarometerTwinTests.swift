// BMP180, BMP388, BMP581, BME680, ST's, MS5611 and SPA06: reset values, timing, flags, and the vendors' numbers
// backwards.

import SensorTypes
import SimulatedDevices
import Testing

@Suite("BMP388 twin")
struct BMP388TwinTests {
  private func chip(_ source: any StimulusSource = bench()) -> BMP388Twin {
    BMP388Twin(TwinCore(source: source, errors: .none)).powered()
  }

  @Test("shows its identity, its reset values and a real chip's trim")
  func resetValues() {
    var chip = chip()
    #expect(chip.read(0x00, now: ms(0)) == 0x50)
    #expect(chip.read(0x03, now: ms(0)) == 0x10)
    #expect(chip.read(0x04, count: 6, now: ms(0)) == [0, 0, 0x80, 0, 0, 0x80])
    #expect(
      chip.read(0x31, count: 21, now: ms(0)) == [
        0x23, 0x6B, 0x58, 0x49, 0xF6, 0x5C, 0xFF, 0xCE, 0xF4, 0x23, 0x00, 0xEA, 0x63, 0x6E, 0x79,
        0xF3, 0xF6, 0xAA, 0x43, 0x12, 0xC4,
      ])
    var other = BMP388Twin(TwinCore(source: bench()), identity: 0x60).powered()
    #expect(other.read(0x00, now: ms(0)) == 0x60)
  }

  @Test("has the raw values of a published measurement (github.com/elixir-sensors/bmp3xx)")
  func vector() {
    // x32 for both: 21 of 24 bits.
    var chip = chip(bench(pressure: 100_876.00634692199, temperature: 30.499314453874284))
    chip.write(0x1C, 0x2D, now: ms(0))
    chip.write(0x1B, 0x13, now: ms(0))
    let b = chip.read(0x04, count: 6, now: ms(200)).map { Int($0) }
    #expect(abs((b[0] | b[1] << 8 | b[2] << 16) - 0x6D9F97) <= 8)
    #expect(abs((b[3] | b[4] << 8 | b[5] << 16) - 0x85D873) <= 8)
  }

  @Test(
    "a forced conversion takes its oversampling's time, raises its flags and the pin, and sleeps")
  func forced() {
    var chip = chip()
    let bytes: [UInt8] = [0x00, 0x19, 0x42, 0x1B, 0x13]
    // Further registers come as pairs of address and value.
    bytes.withUnsafeBytes { chip.write(0x1C, from: $0, now: ms(0)) }
    // x1 and x1: 234 + 392 + 2020 + 163 + 2020 us.
    #expect(chip.nextDataReady(after: ms(0)) == ms(4.829))
    #expect(chip.read(0x03, now: ms(4.8)) == 0x10)
    #expect(chip.read(0x03, now: ms(4.9)) == 0x70)
    #expect(chip.takeEdge(at: ms(4.9)) == ms(4.829))
    _ = chip.read(0x04, count: 3, now: ms(5))
    #expect(chip.read(0x03, now: ms(5)) == 0x50)
    #expect(chip.read(0x1B, now: ms(5)) == 0x03)
  }

  /// Warm from 0.1 s on.
  private struct Warming: StimulusSource {
    func stimulus(at time: Timestamp) -> Stimulus {
      Stimulus(temperature: time < ms(100) ? 10 : 40)
    }
  }

  @Test("its filter goes on while nobody looks", arguments: [(UInt8(0x02), 0.5), (0x04, 0.75)])
  func filter(code: UInt8, share: Double) {
    func raw(_ looks: [Double]) -> Double {
      var chip = chip(Warming())
      chip.write(0x1F, code, now: ms(0))
      chip.write(0x1D, 0x02, now: ms(0))
      chip.write(0x1B, 0x33, now: ms(0))
      var bytes: [UInt8] = []
      for time in looks { bytes = chip.read(0x07, count: 3, now: ms(time)) }
      return bytes.reversed().reduce(0) { $0 * 256 + Double($1) }
    }
    // Conversions end 20 ms after one another, the first at 10.9: ten of them are warm at 306.
    let often = raw(stride(from: 2, through: 306, by: 2).map { $0 })
    #expect(abs(raw([90, 306]) - often) <= 1)
    let (cold, warm) = (raw([90]), raw([5000]))
    let left = (0..<10).reduce(1.0) { left, _ in left * share }
    #expect(abs(warm - (warm - cold) * left - often) <= 2)
  }

  @Test("refuses a rate that its oversampling leaves no time for")
  func refusal() {
    var chip = chip()
    chip.write(0x1C, 0x05, now: ms(0))
    chip.write(0x1D, 0x02, now: ms(0))
    chip.write(0x1B, 0x33, now: ms(0))
    #expect(chip.read(0x1B, now: ms(0)) == 0x03)
    #expect(chip.read(0x02, now: ms(0)) == 0x04)
    #expect(chip.read(0x02, now: ms(0)) == 0x00)
    #expect(chip.nextDataReady(after: ms(0)) == nil)
  }
}

@Suite("ST's barometer twins")
struct LPS2xTwinTests {
  private func chip(_ variant: LPS2xTwin.Variant, _ source: any StimulusSource = bench())
    -> LPS2xTwin
  { LPS2xTwin(variant, TwinCore(source: source, errors: .none)).powered() }

  @Test("each shows its identity", arguments: [0xB1, 0xB3, 0xBD, 0xB4] as [UInt8])
  func identity(value: UInt8) throws {
    var chip = chip(try #require(LPS2xTwin.Variant(rawValue: value)))
    #expect(chip.read(0x0F, now: ms(0)) == value)
  }

  @Test("4096 counts a hectopascal; the second range of the LPS28DFW has half as many")
  func counts() {
    var chip = chip(.lps28dfw, bench(pressure: 101_325, temperature: 23.45))
    chip.write(0x10, 0x20, now: ms(0))
    #expect(chip.read(0x28, count: 5, now: ms(60)) == [0x00, 0x54, 0x3F, 0x29, 0x09])
    chip.write(0x11, 0x40, now: ms(60))
    #expect(chip.read(0x28, count: 3, now: ms(120)) == [0x00, 0xAA, 0x1F])
    var old = self.chip(.lps25hb, bench(pressure: 101_325, temperature: 23.45))
    old.write(0x20, 0xC0, now: ms(0))
    #expect(old.read(0xA8, count: 5, now: ms(60)) == [0x00, 0x54, 0x3F, 0x48, 0xDC])
    // Without the flag it stays where it is.
    #expect(old.read(0x2A, count: 2, now: ms(60)) == [0x3F, 0x3F])
  }

  @Test("the flags fall with the high byte; in the LPS25HB they stand the other way round")
  func flags() {
    for (variant, control, pressure) in [
      (LPS2xTwin.Variant.lps22hb, UInt8(0x10), UInt8(0x01)), (.lps25hb, 0x20, 0x02),
    ] {
      var chip = chip(variant)
      chip.write(control, variant == .lps25hb ? 0xC0 : 0x30, now: ms(0))
      #expect(chip.read(0x27, now: ms(50)) == 0x03)
      _ = chip.read(0x28, now: ms(50))
      #expect(chip.read(0x27, now: ms(50)) == 0x03)
      _ = chip.read(0x2A, now: ms(50))
      #expect(chip.read(0x27, now: ms(50)) == 0x03 & ~pressure)
      // The next one comes before the temperature was read.
      #expect(chip.read(0x27, now: ms(90)) == (0x03 & ~pressure) << 4 | 0x03)
    }
  }

  @Test("block data update holds a pressure that is being read")
  func blockUpdate() {
    func pressure(_ control: UInt8) -> [UInt8] {
      var chip = chip(.lps22hb, Ramp())
      chip.write(0x10, control, now: ms(0))
      let low = chip.read(0x28, now: ms(1100))
      return [low] + chip.read(0x29, count: 2, now: ms(60_000))
    }
    #expect(pressure(0x12) != pressure(0x10))
  }
}

@Suite("MS5611 twin")
struct MS5611TwinTests {
  private func chip(_ source: any StimulusSource = bench()) -> MS5611Twin {
    MS5611Twin(TwinCore(source: source, errors: .none), .ms5611).powered()
  }

  private func command(_ command: UInt8, _ chip: inout MS5611Twin, at now: Timestamp) {
    chip.write(command, from: UnsafeRawBufferPointer(start: nil, count: 0), now: now)
  }

  @Test("its PROM is the datasheet's example, word by word")
  func prom() {
    var chip = chip()
    let words = (0..<8).map { chip.read(0xA0 + 2 * UInt8($0), count: 2, now: ms(0)) }
    #expect(
      words.map { Int($0[0]) << 8 | Int($0[1]) }.dropLast() == [
        0, 40127, 36924, 23317, 23282, 33464, 28312,
      ])
  }

  @Test("the datasheet's example backwards: D2 = 8569150 and D1 = 9085466")
  func example() {
    var chip = chip(bench(pressure: 100_009.0702137971, temperature: 20.0798537636))
    command(0x58, &chip, at: ms(0))
    #expect(chip.nextDataReady(after: ms(0)) == ms(8.22))
    #expect(chip.read(0x00, count: 3, now: ms(9.1)) == [0x82, 0xC1, 0x3E])
    command(0x48, &chip, at: ms(10))
    #expect(chip.read(0x00, count: 3, now: ms(20)) == [0x8A, 0xA2, 0x1A])
    // Once.
    #expect(chip.read(0x00, count: 3, now: ms(20)) == [0, 0, 0])
  }

  @Test("a result that is asked for too early is zero, and its conversion is spoilt")
  func early() {
    var chip = chip()
    command(0x48, &chip, at: ms(0))
    #expect(chip.read(0x00, count: 3, now: ms(5)) == [0, 0, 0])
    #expect(chip.read(0x00, count: 3, now: ms(20)) == [0, 0, 0])
  }

  @Test("a reset takes 2.8 ms, in which nobody answers")
  func reset() {
    var chip = chip()
    command(0x1E, &chip, at: ms(0))
    #expect(!chip.answers(at: ms(2.7)))
    #expect(chip.answers(at: ms(2.8)))
  }
}

@Suite("BMP180 twin")
struct BMP180TwinTests {
  @Test("the datasheet's example backwards: UT = 27898 and UP = 23843")
  func example() {
    let world = bench(pressure: 69_964, temperature: 15)
    var chip = BMP180Twin(TwinCore(source: world, errors: .none)).powered()
    #expect(chip.read(0xD0, now: ms(0)) == 0x55)
    #expect(chip.read(0xF6, count: 3, now: ms(0)) == [0x80, 0, 0])
    chip.write(0xF4, 0x2E, now: ms(0))
    #expect(chip.read(0xF4, now: ms(2)) == 0x2E)
    #expect(chip.read(0xF4, now: ms(4.5)) == 0x0E)
    let t = chip.read(0xF6, count: 2, now: ms(4.5)).map { Int($0) }
    // 15.0 degrees are more than one raw value.
    #expect(abs((t[0] << 8 | t[1]) - 27_898) <= 6)
    chip.write(0xF4, 0x34, now: ms(5))
    let p = chip.read(0xF6, count: 2, now: ms(9.5)).map { Int($0) }
    #expect(abs((p[0] << 8 | p[1]) - 23_843) <= 1)
  }
}

@Suite("BMP581 twin")
struct BMP581TwinTests {
  @Test(
    "64 counts a pascal, 65536 a degree; the flag is raised where it is a source, and read once")
  func counts() {
    let world = bench(pressure: 101_325, temperature: -12.5)
    var chip = BMP581Twin(TwinCore(source: world, errors: .none)).powered()
    #expect(chip.read(0x01, now: ms(0)) == 0x50)
    #expect(chip.read(0x27, now: ms(0)) == 0x10)
    #expect(chip.read(0x28, now: ms(0)) == 0x03)
    chip.write(0x36, 0x68, now: ms(0))
    chip.write(0x37, 0xD1, now: ms(0))
    #expect(chip.read(0x27, now: ms(50)) == 0x00)
    #expect(chip.read(0x1D, count: 6, now: ms(50)) == [0x00, 0x80, 0xF3, 0x40, 0xF3, 0x62])
    chip.write(0x15, 0x01, now: ms(50))
    #expect(chip.read(0x27, now: ms(100)) == 0x01)
    #expect(chip.read(0x27, now: ms(100)) == 0x00)
    // 25 Hz leave time for 32 samples and not for 64.
    #expect(chip.read(0x38, now: ms(100)) == 0xA8)
    chip.write(0x36, 0x70, now: ms(100))
    #expect(chip.read(0x38, now: ms(100)) == 0x30)
    // The filter is set in standby alone.
    chip.write(0x31, 0x09, now: ms(100))
    #expect(chip.read(0x31, now: ms(100)) == 0x00)
  }
}

@Suite("BME680 twin")
struct BME680TwinTests {
  @Test("has the raw values of a published measurement (github.com/elixir-sensors/bmp280)")
  func vector() {
    let world = bench(pressure: 100_977.52, temperature: 19.3113, humidity: 25.204866)
    var chip = BME680Twin(TwinCore(source: world, errors: .none)).powered()
    #expect(chip.read(0xD0, now: ms(0)) == 0x61)
    #expect(chip.read(0x1D, count: 8, now: ms(0)) == [0, 0, 0x80, 0, 0, 0x80, 0, 0])
    chip.write(0x72, 0x01, now: ms(0))
    chip.write(0x74, 0xB5, now: ms(0))
    #expect(chip.read(0x1D, now: ms(10)) == 0x20)
    #expect(chip.read(0x1D, now: ms(80)) == 0x80)
    #expect(chip.read(0x74, now: ms(80)) == 0xB4)
    let b = chip.read(0x1F, count: 6, now: ms(80)).map { Int($0) }
    #expect(abs((b[0] << 12 | b[1] << 4 | b[2] >> 4) - 393_705) <= 1)
    #expect(abs((b[3] << 12 | b[4] << 4 | b[5] >> 4) - 480_732) <= 1)
    let wet = chip.read(0x25, count: 2, now: ms(80)).map { Int($0) }
    #expect(abs((wet[0] << 8 | wet[1]) - 16_820) <= 1)
  }
}

@Suite("SPA06 twin")
struct SPA06TwinTests {
  @Test("has another identity, and C31 and C40 behind the DPS310's coefficients")
  func coefficients() {
    var chip = DPS310Twin(TwinCore(source: bench()), .spa06, coefficients: .quartic).powered()
    #expect(chip.read(0x0D, now: ms(0)) == 0x11)
    #expect(chip.read(0x22, count: 3, now: ms(0)) == [0xFD, 0xB0, 0xD7])
    #expect(chip.read(0x28, now: ms(0)) == 0x00)
  }
}
