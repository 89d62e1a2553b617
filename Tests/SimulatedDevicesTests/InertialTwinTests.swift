// LSM6DSOX and the accelerometer of LSM303DLHC against their datasheets' register maps.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("LSM6 twin")
struct LSM6TwinTests {
  private func chip(_ source: any StimulusSource) -> LSM6Twin {
    LSM6Twin(source: source, errors: .none).powered()
  }

  @Test("shows its reset values")
  func resetValues() {
    var chip = chip(bench())
    let expected: [(UInt8, UInt8)] = [
      (0x0F, 0x6C), (0x02, 0x3F), (0x10, 0), (0x11, 0), (0x12, 0x04), (0x18, 0xE0), (0x1E, 0),
    ]
    for (register, value) in expected { #expect(chip.read(register, now: ms(0)) == value) }
  }

  @Test(
    "shows its relatives' identities, reset values, temperature scale and fastest gyro",
    arguments: [
      (LSM6Twin.Variant.first, [UInt8(0x69), 0, 0x38, 0x38], 16, 0.0),
      (.second, [0x6A, 0, 0xE0, 0], 256, 3333), (.third, [0x6C, 0x3F, 0xE0, 0], 256, 3333),
      (.industrial, [0x6B, 0x3F, 0xE0, 0], 256, 3333),
    ])
  func relatives(variant: LSM6Twin.Variant, values: [UInt8], degree: Int, rate: Double) {
    var chip = LSM6Twin(
      TwinCore(source: bench(temperature: 35), errors: .none), variant
    ).powered()
    #expect([0x0F, 0x02, 0x18, 0x19].map { chip.read($0, now: ms(0)) } == values)
    chip.write(0x11, 0x90, now: ms(0))
    let next = chip.nextDataReady(after: ms(500))
    #expect((next == nil) == (rate == 0))
    chip.write(0x10, 0x40, now: ms(500))
    let bytes = chip.read(0x20, count: 2, now: ms(600))
    #expect(int16(low: bytes[0], high: bytes[1]) == 10 * degree)
  }

  @Test("moves on through the registers only while IF_INC is set")
  func autoIncrement() {
    var chip = chip(bench())
    #expect(chip.read(0x0F, count: 4, now: ms(0)) == [0x6C, 0, 0, 0x04])
    chip.write(0x12, 0x00, now: ms(0))
    #expect(chip.read(0x0F, count: 3, now: ms(0)) == [0x6C, 0x6C, 0x6C])
  }

  @Test(
    "gives specific force by full scale",
    arguments: [(UInt8(0x00), 0.061), (0x08, 0.122), (0x0C, 0.244), (0x04, 0.488)])
  func force(scale: UInt8, milli: Double) {
    let g = 9.80665
    var chip = chip(bench(force: Vector3(0.5 * g, -1 * g, 1.5 * g)))
    chip.write(0x10, 0x50 | scale, now: ms(0))
    let bytes = chip.read(0x28, count: 6, now: ms(50))
    #expect(int16(low: bytes[0], high: bytes[1]) == Int((500 / milli).rounded()))
    #expect(int16(low: bytes[2], high: bytes[3]) == Int((-1000 / milli).rounded()))
    #expect(int16(low: bytes[4], high: bytes[5]) == Int((1500 / milli).rounded()))
  }

  @Test(
    "gives angular rate by full scale",
    arguments: [(UInt8(0x02), 4.375), (0x00, 8.75), (0x04, 17.5), (0x08, 35), (0x0C, 70)])
  func rotation(scale: UInt8, milli: Double) {
    let degree = Double.pi / 180
    var chip = chip(bench(rate: Vector3(10 * degree, -100 * degree, 120 * degree)))
    chip.write(0x11, 0x50 | scale, now: ms(0))
    let bytes = chip.read(0x22, count: 6, now: ms(200))
    #expect(int16(low: bytes[0], high: bytes[1]) == Int((10_000 / milli).rounded()))
    #expect(int16(low: bytes[2], high: bytes[3]) == Int((-100_000 / milli).rounded()))
    #expect(int16(low: bytes[4], high: bytes[5]) == Int((120_000 / milli).rounded()))
  }

  @Test("of an ISM330DHCX bit 0 of CTRL2_G is 4000 degrees a second, 140 millidegrees a count")
  func widest() {
    let degree = Double.pi / 180
    for (variant, kept, milli): (LSM6Twin.Variant, UInt8, Double) in [
      (.industrial, 0x51, 140), (.third, 0x50, 8.75),
    ] {
      var chip = LSM6Twin(
        TwinCore(source: bench(rate: Vector3(100 * degree, 0, 0)), errors: .none), variant)
      chip.powerOn(at: ms(-1000))
      chip.write(0x11, 0x51, now: ms(0))
      #expect(chip.read(0x11, now: ms(1)) == kept)
      let bytes = chip.read(0x22, count: 2, now: ms(200))
      #expect(int16(low: bytes[0], high: bytes[1]) == Int((100_000 / milli).rounded()))
    }
  }

  @Test(
    "converts at the rate of its code",
    arguments: [(UInt8(1), 12.5), (2, 26), (3, 52), (4, 104), (5, 208), (6, 417), (7, 833)])
  func rate(code: UInt8, hertz: Double) throws {
    var chip = chip(bench())
    chip.write(0x10, code << 4, now: ms(0))
    try expectRate(hertz, &chip)
  }

  @Test("gives both sensors' data together at equal rates, after the gyroscope has started")
  func together() {
    var chip = chip(bench())
    chip.write(0x10, 0x50, now: ms(0))
    chip.write(0x11, 0x50, now: ms(0))
    #expect(chip.read(0x1E, now: ms(60)) & 0x02 == 0)
    var both = 0
    _ = chip.read(0x22, count: 12, now: ms(100))
    for step in 0..<2000 {
      let now = ms(100 + Double(step) / 10)
      let status = chip.read(0x1E, now: now) & 0x03
      #expect(status == 0 || status == 3)
      if status == 3 {
        both += 1
        _ = chip.read(0x22, count: 12, now: now)
      }
    }
    // 200 ms at 208 Hz.
    #expect(both == 41 || both == 42)
  }

  @Test("clears data-ready by any high byte, and holds data between two bytes with BDU")
  func reading() {
    var chip = chip(Ramp())
    chip.write(0x12, 0x44, now: ms(0))
    chip.write(0x10, 0x50, now: ms(0))
    #expect(chip.read(0x1E, now: ms(2000)) & 0x01 == 1)
    let low = chip.read(0x28, now: ms(2000))
    let high = chip.read(0x29, now: ms(8000))
    // 2 m/s^2 at 2 s, less one period and the half that the filter lags; not 8.
    let value = Double(int16(low: low, high: high)) * 0.061e-3 * 9.80665
    #expect(value > 1.992 && value < 2)
    #expect(chip.read(0x1E, now: ms(8000)) & 0x01 == 0)
  }

  @Test("holds at the ends of its range, and resets by SW_RESET")
  func limits() {
    var chip = chip(bench(force: Vector3(30, -30, 0), rate: Vector3(9, -9, 0)))
    chip.write(0x10, 0x50, now: ms(0))
    chip.write(0x11, 0x50, now: ms(0))
    let bytes = chip.read(0x22, count: 10, now: ms(200))
    #expect(int16(low: bytes[0], high: bytes[1]) == 32767)
    #expect(int16(low: bytes[2], high: bytes[3]) == -32768)
    #expect(int16(low: bytes[6], high: bytes[7]) == 32767)
    #expect(int16(low: bytes[8], high: bytes[9]) == -32768)
    chip.write(0x12, 0x01, now: ms(201))
    #expect(chip.read(0x10, now: ms(202)) == 0)
    #expect(chip.read(0x12, now: ms(202)) == 0x04)
  }

  @Test("drives INT1 only for what INT1_CTRL names, as a level or as pulses")
  func pin() throws {
    var chip = chip(bench())
    chip.write(0x10, 0x40, now: ms(0))
    #expect(chip.nextEdge(at: ms(1)) == nil)
    chip.write(0x0D, 0x01, now: ms(1))
    let promised = chip.nextEdge(at: ms(1))
    let edge = try #require(promised)
    #expect(chip.takeEdge(at: ms(100)) == edge)
    // Nobody read: the level stays, no edge comes.
    #expect(chip.takeEdge(at: ms(200)) == nil)
    chip.write(0x0B, 0x80, now: ms(201))
    _ = chip.read(0x28, count: 6, now: ms(202))
    #expect(chip.takeEdge(at: ms(300)) != nil)
    #expect(chip.takeEdge(at: ms(400)) != nil)
  }

  @Test(
    "moves the accelerometer by ST_XL within the datasheet's limits, whatever the full scale",
    arguments: [(UInt8(0x00), 0.061), (0x08, 0.122), (0x0C, 0.244), (0x04, 0.488)],
    [(UInt8(0x00), 0.0), (0x01, 1), (0x02, -1), (0x03, 0)])
  func linearSelfTest(scale: (code: UInt8, milli: Double), test: (code: UInt8, sign: Double)) {
    var chip = chip(bench(force: .zero))
    chip.write(0x10, 0x50 | scale.code, now: ms(0))
    chip.write(0x11, 0x50, now: ms(0))
    chip.write(0x14, test.code, now: ms(0))
    #expect(chip.read(0x14, now: ms(0)) == test.code)
    let bytes = chip.read(0x22, count: 12, now: ms(200))
    // The gyro keeps still.
    #expect(bytes[..<6].allSatisfy { $0 == 0 })
    for axis in 0..<3 {
      let counts = int16(low: bytes[6 + 2 * axis], high: bytes[7 + 2 * axis])
      let change = test.sign * Double(counts) * scale.milli
      #expect(test.sign == 0 ? counts == 0 : change >= 50 && change <= 1700)
    }
    chip.write(0x14, 0x00, now: ms(201))
    #expect(chip.read(0x28, count: 6, now: ms(300)).allSatisfy { $0 == 0 })
  }

  @Test(
    "moves the gyro by ST_G within the datasheet's limits at 250 and at 2000 degrees a second",
    arguments: [(UInt8(0x00), 8.75, 20.0...80.0), (0x0C, 70, 150...700)],
    [(UInt8(0x00), 0.0), (0x04, 1), (0x0C, -1), (0x08, 0)])
  func angularSelfTest(
    scale: (code: UInt8, milli: Double, limits: ClosedRange<Double>),
    test: (code: UInt8, sign: Double)
  ) {
    var chip = chip(bench(force: .zero))
    chip.write(0x10, 0x50, now: ms(0))
    chip.write(0x11, 0x50 | scale.code, now: ms(0))
    chip.write(0x14, test.code, now: ms(0))
    let bytes = chip.read(0x22, count: 12, now: ms(200))
    #expect(bytes[6...].allSatisfy { $0 == 0 })
    for axis in 0..<3 {
      let counts = int16(low: bytes[2 * axis], high: bytes[2 * axis + 1])
      let change = test.sign * Double(counts) * scale.milli / 1000
      #expect(test.sign == 0 ? counts == 0 : scale.limits.contains(change))
    }
  }

  @Test("moves by the share of its deflection that is left, and not once it is reset")
  func weakSelfTest() {
    var chip = chip(bench(force: .zero))
    chip.tampering.selfTestShare = Vector3(repeating: 0.5)
    chip.write(0x10, 0x50, now: ms(0))
    chip.write(0x14, 0x01, now: ms(0))
    let bytes = chip.read(0x28, count: 2, now: ms(200))
    #expect(int16(low: bytes[0], high: bytes[1]) == Int((230 / 0.061).rounded()))
    chip.write(0x12, 0x01, now: ms(201))
    #expect(chip.read(0x14, now: ms(202)) == 0)
    chip.write(0x10, 0x50, now: ms(203))
    #expect(chip.read(0x28, count: 6, now: ms(300)).allSatisfy { $0 == 0 })
  }

  @Test("has the temperature at 256 counts a degree from 25")
  func temperature() {
    var chip = chip(bench(temperature: 31.5))
    chip.write(0x10, 0x40, now: ms(0))
    let bytes = chip.read(0x20, count: 2, now: ms(100))
    #expect(int16(low: bytes[0], high: bytes[1]) == 1664)
  }
}

@Suite("LIS3DH and LSM303DLHC accelerometer twin")
struct LIS3DHTwinTests {
  private func chip(
    _ source: any StimulusSource, _ model: LIS3DHTwinVariant = .lsm303dlhc
  ) -> LIS3DHTwin {
    LIS3DHTwin(TwinCore(source: source, errors: .none), model).powered()
  }

  @Test("has its reset values and no identity")
  func resetValues() {
    var chip = chip(bench())
    #expect(chip.identityRegister == nil)
    #expect(chip.read(0xA0, count: 8, now: ms(0)) == [0x07, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test("a LIS3DH has an identity, and a self-test that pushes either way")
  func lis3dh() {
    var chip = chip(bench(force: .zero), .lis3dh)
    #expect(chip.read(0x0F, now: ms(0)) == 0x33)
    #expect(chip.read(0x1E, now: ms(0)) == 0x10)
    chip.write(0x20, 0x57, now: ms(0))
    chip.write(0x23, 0x82, now: ms(0))
    let one = littleEndian(chip.read(0xA8, count: 6, now: ms(50)))
    chip.write(0x23, 0x84, now: ms(50))
    let other = littleEndian(chip.read(0xA8, count: 6, now: ms(100)))
    // Steps of 10 bits.
    for axis in 0..<3 {
      #expect((17...360).contains(one[axis] / 64))
      #expect((17...360).contains(-other[axis] / 64))
    }
  }

  @Test(
    "gives 12 bits, left-aligned, by full scale",
    arguments: [(UInt8(0x08), 1.0), (0x18, 2), (0x28, 4), (0x38, 12)])
  func scale(control: UInt8, milli: Double) {
    let g = 9.80665
    var chip = chip(bench(force: Vector3(0.6 * g, -0.9 * g, 1.2 * g)))
    chip.write(0x23, control, now: ms(0))
    chip.write(0x20, 0x57, now: ms(0))
    let bytes = chip.read(0xA8, count: 6, now: ms(50))
    #expect(int16(low: bytes[0], high: bytes[1]) == 16 * Int((600 / milli).rounded()))
    #expect(int16(low: bytes[2], high: bytes[3]) == 16 * Int((-900 / milli).rounded()))
    #expect(int16(low: bytes[4], high: bytes[5]) == 16 * Int((1200 / milli).rounded()))
  }

  @Test("drops two bits without high resolution and holds at 12 bits")
  func resolution() {
    var chip = chip(bench(force: Vector3(0.603 * 9.80665, 60, -60)))
    chip.write(0x20, 0x57, now: ms(0))
    let bytes = chip.read(0xA8, count: 6, now: ms(50))
    #expect(int16(low: bytes[0], high: bytes[1]) == 16 * 600)
    #expect(int16(low: bytes[2], high: bytes[3]) == 16 * 2044)
    #expect(int16(low: bytes[4], high: bytes[5]) == 16 * -2048)
  }

  @Test(
    "converts at the rate of its code; 0 powers down",
    arguments: [
      (UInt8(0x17), 1.0), (0x27, 10), (0x37, 25), (0x47, 50), (0x57, 100), (0x67, 200),
      (0x77, 400), (0x97, 1344), (0x8F, 1620), (0x9F, 5376),
    ])
  func rate(control: UInt8, hertz: Double) throws {
    var chip = chip(bench())
    #expect(chip.nextDataReady(after: ms(0)) == nil)
    chip.write(0x20, control, now: ms(0))
    let first = try #require(chip.nextDataReady(after: ms(0)))
    #expect(abs(first.seconds(since: ms(0)) - 1 / hertz) < 1e-6)
    chip.write(0x20, 0x07, now: ms(1))
    #expect(chip.nextDataReady(after: ms(1)) == nil)
  }

  @Test("clears the common data-ready bit when all three axes were read")
  func status() {
    var chip = chip(bench())
    chip.write(0x20, 0x57, now: ms(0))
    #expect(chip.read(0x27, now: ms(11)) == 0x0F)
    _ = chip.read(0xA8, count: 4, now: ms(12))
    #expect(chip.read(0x27, now: ms(13)) == 0x0C)
    _ = chip.read(0xAC, count: 2, now: ms(14))
    #expect(chip.read(0x27, now: ms(15)) == 0x00)
  }
}
