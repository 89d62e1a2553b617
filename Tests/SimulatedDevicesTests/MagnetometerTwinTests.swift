// LIS3MDL against its datasheet's register map.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("LIS3MDL twin")
struct LIS3MDLTwinTests {
  private func chip(_ source: any StimulusSource) -> LIS3MDLTwin {
    LIS3MDLTwin(source: source, errors: .none).powered()
  }

  @Test("does not answer while it boots, then shows its reset values")
  func resetValues() {
    var chip = LIS3MDLTwin(source: bench())
    chip.powerOn(at: ms(0))
    #expect(!chip.answers(at: ms(1)))
    #expect(chip.answers(at: ms(5)))
    let expected: [(UInt8, UInt8)] = [
      (0x0F, 0x3D), (0x20, 0x10), (0x21, 0x00), (0x22, 0x03), (0x23, 0x00), (0x24, 0x00),
      (0x27, 0x00), (0x30, 0xE8), (0x31, 0x00), (0x32, 0x00), (0x33, 0x00),
    ]
    for (register, value) in expected { #expect(chip.read(register, now: ms(10)) == value) }
    #expect(chip.nextDataReady(after: ms(10)) == nil)
  }

  @Test("moves on through the registers only with bit 7 of the sub-address set")
  func autoIncrement() {
    var chip = chip(bench())
    #expect(chip.read(0x8F, count: 2, now: ms(0)) == [0x3D, 0x00])
    #expect(chip.read(0x0F, count: 3, now: ms(0)) == [0x3D, 0x3D, 0x3D])
    let image: [UInt8] = [0x70, 0x20, 0x00]
    image.withUnsafeBytes { chip.write(0xA0, from: $0, now: ms(0)) }
    #expect(chip.read(0xA0, count: 3, now: ms(0)) == image)
  }

  @Test("keeps read-only registers and undefined bits")
  func masks() {
    var chip = chip(bench())
    chip.write(0x0F, 0x00, now: ms(0))
    chip.write(0x27, 0xFF, now: ms(0))
    chip.write(0x23, 0xFF, now: ms(0))
    chip.write(0x24, 0xFF, now: ms(0))
    chip.write(0x30, 0x00, now: ms(0))
    #expect(chip.read(0x0F, now: ms(0)) == 0x3D)
    #expect(chip.read(0x27, now: ms(0)) == 0)
    #expect(chip.read(0x23, now: ms(0)) == 0x0E)
    #expect(chip.read(0x24, now: ms(0)) == 0xC0)
    #expect(chip.read(0x30, now: ms(0)) == 0x08)
  }

  @Test(
    "converts at the rate of DO or of the operating mode",
    arguments: [
      // CTRL_REG1, hertz
      (UInt8(0b000_000_00), 0.625), (0b000_100_00, 10), (0b011_111_00, 80), (0b000_000_10, 1000),
      (0b001_000_10, 560), (0b010_000_10, 300), (0b011_000_10, 155),
    ])
  func rate(control: UInt8, hertz: Double) throws {
    var chip = chip(bench())
    chip.write(0x20, control, now: ms(0))
    chip.write(0x22, 0x00, now: ms(0))
    try expectRate(hertz, &chip, delay: 0)
  }

  @Test(
    "gives counts per gauss by full scale",
    arguments: [(UInt8(0x00), 6842.0), (0x20, 3421), (0x40, 2281), (0x60, 1711)])
  func scale(control: UInt8, counts: Double) {
    var chip = chip(bench(field: Vector3(100, -50, 25)))
    chip.write(0x21, control, now: ms(0))
    chip.write(0x22, 0x00, now: ms(0))
    let bytes = chip.read(0xA8, count: 6, now: ms(200))
    #expect(int16(low: bytes[0], high: bytes[1]) == Int(counts.rounded()))
    #expect(int16(low: bytes[2], high: bytes[3]) == Int((-counts / 2).rounded()))
    #expect(int16(low: bytes[4], high: bytes[5]) == Int((counts / 4).rounded()))
  }

  @Test(
    "an LSM9DS1 gives milligauss a count by full scale, and another reset value of INT_CFG",
    arguments: [(UInt8(0x00), 0.14), (0x20, 0.29), (0x40, 0.43), (0x60, 0.58)])
  func lsm9ds1(control: UInt8, milligauss: Double) {
    var chip = LIS3MDLTwin(
      TwinCore(source: bench(field: Vector3(100, -50, 25)), errors: .none), model: .lsm9ds1
    ).powered()
    #expect(chip.read(0x0F, now: ms(0)) == 0x3D)
    #expect(chip.read(0x30, now: ms(0)) == 0x08)
    chip.write(0x21, control, now: ms(0))
    chip.write(0x22, 0x00, now: ms(0))
    let bytes = chip.read(0xA8, count: 6, now: ms(200))
    #expect(int16(low: bytes[0], high: bytes[1]) == Int((1000 / milligauss).rounded()))
    #expect(int16(low: bytes[2], high: bytes[3]) == Int((-500 / milligauss).rounded()))
  }

  @Test("holds at the end of the range and says so")
  func overflow() {
    var chip = chip(bench(field: Vector3(900, -900, 0)))
    chip.write(0x22, 0x00, now: ms(0))
    let bytes = chip.read(0xA8, count: 6, now: ms(200))
    #expect(int16(low: bytes[0], high: bytes[1]) == 32767)
    #expect(int16(low: bytes[2], high: bytes[3]) == -32768)
    #expect(chip.read(0x31, now: ms(200)) & 0x02 != 0)
  }

  @Test("sets data-ready with a conversion, clears it by reading high bytes, reports overruns")
  func status() {
    var chip = chip(bench())
    chip.write(0x22, 0x00, now: ms(0))
    #expect(chip.read(0x27, now: ms(99)) == 0x00)
    #expect(chip.read(0x27, now: ms(101)) == 0x0F)
    _ = chip.read(0x29, now: ms(102))
    #expect(chip.read(0x27, now: ms(103)) == 0x0E)
    _ = chip.read(0xA8, count: 6, now: ms(104))
    #expect(chip.read(0x27, now: ms(105)) == 0x00)
    #expect(chip.read(0x27, now: ms(401)) == 0xFF)
  }

  @Test("holds an axis between its two bytes while block update is on")
  func blockUpdate() {
    for isOn in [true, false] {
      var chip = chip(Ramp())
      chip.write(0x24, isOn ? 0x40 : 0x00, now: ms(0))
      chip.write(0x22, 0x00, now: ms(0))
      let whole = chip.read(0xA8, count: 2, now: ms(20_050))
      _ = chip.read(0x28, now: ms(20_060))
      let high = chip.read(0x29, now: ms(60_060))
      #expect((high == whole[1]) == isOn)
      // After that the newest conversion is there: 600 microtesla are beyond 4 gauss.
      let next = chip.read(0xA8, count: 2, now: ms(60_061))
      #expect(int16(low: next[0], high: next[1]) == 32767)
    }
  }

  @Test("averages up to the data-ready edge: the value belongs to the middle of that time")
  func latency() {
    var chip = LIS3MDLTwin(source: Ramp(), errors: .none).powered()
    chip.write(0x20, 0b011_100_00, now: ms(0))
    chip.write(0x22, 0x00, now: ms(0))
    let bytes = chip.read(0xA8, count: 2, now: ms(10_000))
    // Ultra-high performance takes 1/155 s; the ramp is 10 microtesla a second.
    let expected = (10 - 0.5 / 155) * 10 * 0.01 * 6842
    #expect(abs(Double(int16(low: bytes[0], high: bytes[1])) - expected) <= 0.5)
  }

  @Test(
    "moves by ST within the datasheet's limits, whatever the full scale",
    arguments: [(UInt8(0x00), 6842.0), (0x20, 3421), (0x40, 2281), (0x60, 1711)], [1, 0.25, 0])
  func selfTest(scale: (code: UInt8, counts: Double), share: Double) {
    var chip = chip(bench())
    chip.tampering.selfTestShare = Vector3(repeating: share)
    chip.write(0x21, scale.code, now: ms(0))
    chip.write(0x20, 0b000_111_01, now: ms(0))
    chip.write(0x22, 0x00, now: ms(0))
    let bytes = chip.read(0xA8, count: 6, now: ms(200))
    for (axis, limits) in [1.0...3.0, 1.0...3.0, 0.1...1.0].enumerated() {
      let counts = int16(low: bytes[2 * axis], high: bytes[2 * axis + 1])
      if share == 1 { #expect(limits.contains(Double(counts) / scale.counts)) }
      #expect(counts == Int(([2, 2, 0.5][axis] * share * scale.counts).rounded()))
    }
    chip.write(0x20, 0b000_111_00, now: ms(201))
    #expect(chip.read(0xA8, count: 6, now: ms(400)).allSatisfy { $0 == 0 })
  }

  @Test("goes back to power-down after a single measurement, and resets on SOFT_RST")
  func modes() {
    var chip = chip(bench(field: Vector3(10, 0, 0)))
    chip.write(0x22, 0x01, now: ms(0))
    #expect(chip.read(0x27, now: ms(10)) == 0x0F)
    #expect(chip.read(0x22, now: ms(10)) == 0x03)
    #expect(chip.nextDataReady(after: ms(10)) == nil)
    chip.write(0x20, 0xFF, now: ms(11))
    chip.write(0x21, 0x04, now: ms(11))
    #expect(chip.read(0x20, now: ms(12)) == 0x10)
    #expect(chip.read(0x21, now: ms(12)) == 0x00)
  }

  @Test("raises its pin once, until all axes are read")
  func pin() {
    var chip = chip(bench())
    chip.write(0x22, 0x00, now: ms(0))
    #expect(chip.nextEdge(at: ms(0)) == ms(100))
    #expect(chip.takeEdge(at: ms(350)) == ms(100))
    #expect(chip.takeEdge(at: ms(360)) == nil)
    #expect(chip.nextEdge(at: ms(370)) == nil)
    _ = chip.read(0xA8, count: 6, now: ms(380))
    #expect(chip.nextEdge(at: ms(381)) == ms(400))
    #expect(chip.takeEdge(at: ms(401)) == ms(400))
  }

  @Test("has the datasheet's noise, the same for the same seed and conversion")
  func noise() {
    var sums = Vector3.zero
    var squares = Vector3.zero
    var chip = LIS3MDLTwin(source: bench(), seed: 7).powered()
    chip.write(0x20, 0b011_111_00, now: ms(0))
    chip.write(0x23, 0x0C, now: ms(0))
    chip.write(0x22, 0x00, now: ms(0))
    let count = 4000
    for index in 1...count {
      let bytes = chip.read(0xA8, count: 6, now: ms(12.5 * Double(index) + 1))
      for axis in 0..<3 {
        let value = Double(int16(low: bytes[2 * axis], high: bytes[2 * axis + 1])) / 68.42
        sums[axis] += value
        squares[axis] += value * value
      }
    }
    // Microtesla; the standard error of a standard deviation is 1 / sqrt(2 n), here 1.1 %.
    let expected = Vector3(0.32, 0.32, 0.41)
    for axis in 0..<3 {
      let sigma = (squares[axis] / Double(count)).squareRoot()
      #expect(abs(sigma / expected[axis] - 1) < 0.045)
      #expect(abs(sums[axis] / Double(count)) < 4 * expected[axis] / Double(count).squareRoot())
    }
    // Looked at once at the end, the last conversion is the same.
    var idle = LIS3MDLTwin(source: bench(), seed: 7).powered()
    idle.write(0x20, 0b011_111_00, now: ms(0))
    idle.write(0x22, 0x00, now: ms(0))
    let end = ms(12.5 * Double(count) + 2)
    #expect(idle.read(0xA8, count: 6, now: end) == chip.read(0xA8, count: 6, now: end))
    var other = LIS3MDLTwin(source: bench(), seed: 8).powered()
    other.write(0x20, 0b011_111_00, now: ms(0))
    other.write(0x22, 0x00, now: ms(0))
    #expect(other.read(0xA8, count: 6, now: end) != chip.read(0xA8, count: 6, now: end))
  }
}
