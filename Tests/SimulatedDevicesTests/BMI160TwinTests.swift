// BMI160 and QMI8658 against their register maps.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

private let motion = turning(Vector3(3, -10, 12))

@Suite("BMI160 twin")
struct BMI160TwinTests {
  private func suspended(_ source: any StimulusSource = bench()) -> BMI160Twin {
    BMI160Twin(source: source, errors: .none).powered()
  }

  fileprivate func awake(_ source: any StimulusSource = bench()) -> BMI160Twin {
    var chip = suspended(source)
    chip.write(0x7E, 0x11, now: ms(-200))
    chip.write(0x7E, 0x15, now: ms(-190))
    chip.advance(to: ms(0))
    return chip
  }

  @Test("is suspended with its reset values")
  func resetValues() {
    var chip = suspended()
    #expect(chip.read(0x00, now: ms(0)) == 0xD1)
    #expect(chip.read(0x40, count: 4, now: ms(0)) == [0x28, 0x03, 0x28, 0x00])
    #expect(chip.read(0x03, now: ms(0)) == 0x00)
    #expect(chip.nextDataReady(after: ms(0)) == nil)
  }

  @Test("the gyro that is awake tests itself, and says so with one bit for its three axes")
  func gyroSelfTest() {
    for dead in [nil, 0, 1, 2] as [Int?] {
      var chip = awake()
      if let dead { chip.tampering.selfTestShare[dead] = 0 }
      #expect(chip.read(0x1B, now: ms(0)) & 0x02 == 0)
      chip.write(0x6D, 0x10, now: ms(0))
      #expect(chip.read(0x1B, now: ms(10)) & 0x02 == 0)
      #expect(chip.read(0x1B, now: ms(65)) & 0x02 == (dead == nil ? 0x02 : 0))
    }
    var asleep = suspended()
    asleep.write(0x6D, 0x10, now: ms(0))
    #expect(asleep.read(0x1B, now: ms(65)) & 0x02 == 0)
  }

  @Test("wakes the accelerometer in 3.8 ms and the gyro in 80, and says so; a reset suspends both")
  func power() {
    var chip = suspended()
    chip.write(0x7E, 0x11, now: ms(0))
    #expect(chip.read(0x03, now: ms(3.7)) == 0x00)
    #expect(chip.read(0x03, now: ms(3.9)) == 0x10)
    chip.write(0x7E, 0x15, now: ms(4))
    #expect(chip.read(0x03, now: ms(83)) == 0x10)
    #expect(chip.read(0x03, now: ms(85)) == 0x14)
    #expect(chip.read(0x1B, now: ms(100)) & 0xC0 == 0xC0)
    chip.write(0x7E, 0xB6, now: ms(101))
    #expect(chip.read(0x03, now: ms(102)) == 0x00)
  }

  @Test(
    "suspended it loses a write that comes within 450 microseconds of another; awake it does not")
  func writes() {
    var chip = suspended()
    chip.write(0x41, 0x05, now: ms(0))
    chip.write(0x43, 0x02, now: ms(0.3))
    #expect(chip.read(0x41, count: 3, now: ms(1)) == [0x05, 0x28, 0x00])
    chip = awake()
    chip.write(0x41, 0x05, now: ms(0))
    chip.write(0x43, 0x02, now: ms(0.01))
    #expect(chip.read(0x41, count: 3, now: ms(1)) == [0x05, 0x28, 0x02])
  }

  @Test(
    "gives rate and force, low byte first, by range",
    arguments: [
      (UInt8(0), 16.4, UInt8(0x03), 16384.0), (1, 32.8, 0x05, 8192), (2, 65.6, 0x08, 4096),
      (3, 131.2, 0x0C, 2048), (4, 262.4, 0x03, 16384),
    ])
  func scales(angular: UInt8, perDegree: Double, linear: UInt8, perG: Double) {
    var chip = awake(motion)
    chip.write(0x41, linear, now: ms(0))
    chip.write(0x43, angular, now: ms(0))
    let values = littleEndian(chip.read(0x0C, count: 12, now: ms(100)))
    expectCounts(values[0...2], Vector3(3, -10, 12), perDegree)
    expectCounts(values[3...5], Vector3(0.5, -1, 1.5), perG)
    // 25 degrees, 0 at 23.
    #expect(littleEndian(chip.read(0x20, count: 2, now: ms(100))) == [1024])
  }

  @Test(
    "converts at the rate of its code",
    arguments: [(UInt8(0x26), 25.0), (0x28, 100), (0x2A, 400), (0x2C, 1600)])
  func rate(code: UInt8, hertz: Double) throws {
    var chip = awake()
    chip.write(0x40, code, now: ms(0))
    chip.write(0x42, code, now: ms(0))
    try expectRate(hertz, &chip)
  }

  @Test("each flag falls when its sensor is read; INT1 needs its three bits")
  func flags() {
    var chip = awake()
    #expect(chip.read(0x1B, now: ms(20)) == 0xC0)
    _ = chip.read(0x0C, now: ms(20))
    #expect(chip.read(0x1B, now: ms(20)) == 0x80)
    _ = chip.read(0x12, now: ms(20))
    #expect(chip.read(0x1B, now: ms(20)) == 0x00)
    chip.write(0x51, 0x10, now: ms(21))
    chip.write(0x56, 0x80, now: ms(21))
    #expect(chip.takeEdge(at: ms(50)) == nil)
    chip.write(0x53, 0x0A, now: ms(50))
    #expect(chip.takeEdge(at: ms(70)) != nil)
  }
}

extension BMI160TwinTests {
  @Test("its self-test pushes the accelerometer to either side, by more than 2 g from end to end")
  func selfTest() {
    var chip = awake(bench(force: .zero))
    chip.write(0x41, 0x08, now: ms(0))
    chip.write(0x6D, 0x09, now: ms(0))
    let negative = littleEndian(chip.read(0x12, count: 6, now: ms(100)))
    chip.write(0x6D, 0x0D, now: ms(100))
    let positive = littleEndian(chip.read(0x12, count: 6, now: ms(200)))
    for axis in 0..<3 { #expect(positive[axis] - negative[axis] > 8192) }
  }
}

@Suite("QMI8658 twin")
struct QMI8658TwinTests {
  private func chip(_ source: any StimulusSource = bench()) -> QMI8658Twin {
    QMI8658Twin(source: source, errors: .none).powered()
  }

  @Test("is off with its reset values; ADDR_AI moves the pointer on")
  func resetValues() {
    var chip = chip()
    #expect(chip.read(0x00, count: 3, now: ms(0)) == [0x05, 0x05, 0x05])
    chip.write(0x02, 0x40, now: ms(0))
    #expect(chip.read(0x00, count: 4, now: ms(0)) == [0x05, 0x7C, 0x40, 0x00])
    #expect(chip.nextDataReady(after: ms(0)) == nil)
  }

  @Test("a reset takes 15 ms, and says when it is over")
  func reset() {
    var chip = chip()
    chip.write(0x03, 0x15, now: ms(0))
    chip.write(0x60, 0xB0, now: ms(1))
    #expect(chip.read(0x4D, now: ms(10)) == 0x00)
    chip.write(0x03, 0x25, now: ms(10))
    #expect(chip.read(0x4D, now: ms(17)) == 0x80)
    #expect(chip.read(0x03, now: ms(17)) == 0x00)
  }

  @Test("tells its temperature in 1/256 of a degree", arguments: [-12.5, 0, 25, 61.25])
  func temperature(degrees: Double) {
    var chip = chip(bench(temperature: degrees))
    chip.write(0x02, 0x40, now: ms(0))
    chip.write(0x08, 0x03, now: ms(0))
    let bytes = chip.read(0x33, count: 2, now: ms(500))
    #expect(int16(low: bytes[0], high: bytes[1]) == Int(degrees * 256))
  }

  @Test("gives force and rate by range, in either byte order", arguments: 0..<8)
  func scales(angular: Int) {
    var chip = chip(motion)
    let linear = angular % 4
    chip.write(0x02, 0x40, now: ms(0))
    chip.write(0x03, UInt8(linear) << 4 | 0x05, now: ms(0))
    chip.write(0x04, UInt8(angular) << 4 | 0x05, now: ms(0))
    chip.write(0x08, 0x03, now: ms(0))
    let bytes = chip.read(0x35, count: 12, now: ms(200))
    let values = littleEndian(bytes)
    // 2 g and 16 degrees a second are 32768 counts, and each next range is twice as wide.
    let (perG, perDegree) = ([16384.0, 8192, 4096, 2048][linear], 2048 / Double(1 << angular))
    expectCounts(values[0...2], Vector3(0.5, -1, 1.5), perG)
    expectCounts(values[3...5], Vector3(3, -10, 12), perDegree)
    chip.write(0x02, 0x60, now: ms(200))
    #expect(chip.read(0x35, count: 2, now: ms(200)) == [bytes[1], bytes[0]])
  }

  @Test(
    "converts at the rate of its code once the gyro is up",
    arguments: [(UInt8(8), 28.025), (6, 112.1), (5, 224.2), (3, 896.8), (0, 7174.4)])
  func rate(code: UInt8, hertz: Double) throws {
    var chip = chip()
    chip.write(0x03, code, now: ms(0))
    chip.write(0x04, code, now: ms(0))
    chip.write(0x08, 0x03, now: ms(0))
    try expectRate(hertz, &chip, delay: 0.06 + 3 / hertz)
  }

  @Test("each flag falls when its sensor is read; INT2 needs its bit")
  func flags() {
    var chip = chip()
    chip.write(0x02, 0x40, now: ms(0))
    chip.write(0x04, 0x05, now: ms(0))
    chip.write(0x08, 0x03, now: ms(0))
    #expect(chip.takeEdge(at: ms(200)) == nil)
    #expect(chip.read(0x2E, now: ms(200)) == 0x03)
    _ = chip.read(0x35, count: 6, now: ms(200))
    #expect(chip.read(0x2E, now: ms(200)) == 0x02)
    chip.write(0x02, 0x50, now: ms(200))
    #expect(chip.takeEdge(at: ms(210)) != nil)
  }
}
