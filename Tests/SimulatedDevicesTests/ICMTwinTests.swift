// ICM20948 and ICM42688P against their register maps.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

private let motion = turning(Vector3(10, -100, 120))

@Suite("ICM20948 twin")
struct ICM20948TwinTests {
  private func awake(_ source: any StimulusSource = bench()) -> ICM20948Twin {
    var chip = ICM20948Twin(source: source, errors: .none).powered()
    chip.write(0x06, 0x01, now: ms(0))
    return chip
  }

  private func put(_ chip: inout ICM20948Twin, _ bank: UInt8, _ register: UInt8, _ value: UInt8) {
    chip.write(0x7F, bank << 4, now: ms(0))
    chip.write(register, value, now: ms(0))
    chip.write(0x7F, 0x00, now: ms(0))
  }

  @Test("sleeps with its reset values; each bank has its own registers")
  func banks() {
    var chip = ICM20948Twin(source: bench(), errors: .none).powered()
    #expect(chip.read(0x00, now: ms(0)) == 0xEA)
    #expect(chip.read(0x05, count: 2, now: ms(0)) == [0x40, 0x41])
    #expect(chip.nextDataReady(after: ms(0)) == nil)
    chip.write(0x7F, 0x20, now: ms(0))
    #expect(chip.read(0x7F, now: ms(0)) == 0x20)
    #expect(chip.read(0x00, count: 2, now: ms(0)) == [0x00, 0x01])
    #expect(chip.read(0x14, now: ms(0)) == 0x01)
    chip.write(0x00, 0x07, now: ms(0))
    #expect(chip.read(0x00, now: ms(0)) == 0x07)
    chip.write(0x7F, 0x00, now: ms(0))
    #expect(chip.read(0x00, now: ms(0)) == 0xEA)
    // DEVICE_RESET undoes it and selects bank 0.
    chip.write(0x06, 0x80, now: ms(1))
    chip.write(0x7F, 0x20, now: ms(20))
    #expect(chip.read(0x00, now: ms(20)) == 0x00)
  }

  @Test(
    "gives force and rate by full scale",
    arguments: [
      (UInt8(0), 16384.0, 131.0), (1, 8192, 65.5), (2, 4096, 32.8), (3, 2048, 16.4),
    ])
  func scales(code: UInt8, perG: Double, perDegree: Double) {
    var chip = awake(motion)
    put(&chip, 2, 0x01, 0x09 | code << 1)
    put(&chip, 2, 0x14, 0x09 | code << 1)
    let values = bigEndian(chip.read(0x2D, count: 14, now: ms(100)))
    expectCounts(values[0...2], Vector3(0.5, -1, 1.5), perG)
    expectCounts(values[3...5], Vector3(10, -100, 120), perDegree)
    #expect(values[6] == 1335)
  }

  @Test(
    "divides 1125 Hz behind the filter and not the 9000 past it",
    arguments: [(UInt8(0x01), UInt8(0), 1125.0), (0x01, 4, 225), (0x01, 224, 5), (0x00, 4, 9000)])
  func rate(control: UInt8, divider: UInt8, hertz: Double) throws {
    var chip = awake()
    put(&chip, 2, 0x01, control)
    put(&chip, 2, 0x00, divider)
    try expectRate(hertz, &chip)
  }

  @Test("reading the status takes it down; the pin pulses")
  func status() {
    var chip = awake()
    #expect(chip.nextEdge(at: ms(60)) == nil)
    #expect(chip.read(0x1A, now: ms(60)) == 0x01)
    #expect(chip.read(0x1A, now: ms(60)) == 0x00)
    chip.write(0x11, 0x01, now: ms(60))
    #expect(chip.takeEdge(at: ms(70)) != nil)
    #expect(chip.takeEdge(at: ms(72)) != nil)
    #expect(!chip.interruptLevel)
  }

  @Test("its self-test adds what its trim says")
  func selfTest() {
    var chip = awake(bench(force: .zero))
    put(&chip, 2, 0x15, 0x10)
    put(&chip, 2, 0x02, 0x08)
    chip.write(0x7F, 0x10, now: ms(0))
    let codes = chip.read(0x02, count: 3, now: ms(0)) + chip.read(0x0E, count: 3, now: ms(0))
    #expect(codes.allSatisfy { $0 > 0 })
    chip.write(0x7F, 0x00, now: ms(0))
    let values = bigEndian(chip.read(0x2D, count: 12, now: ms(100)))
    // Only X of the one and Z of the other: +-2 g and 250 degrees a second.
    #expect(values[0] > 4000 && values[0] < 16000)
    #expect(values[5] > 60 * 131 && values[5] < 250 * 131)
    #expect(values[1] == 0 && values[2] == 0 && values[3] == 0 && values[4] == 0)
  }
}

@Suite("ICM42688P twin")
struct ICM42688PTwinTests {
  private func chip(_ source: any StimulusSource = bench()) -> ICM42688PTwin {
    ICM42688PTwin(source: source, errors: .none).powered()
  }

  @Test("is off with its reset values, and its outputs are invalid")
  func resetValues() {
    var chip = chip()
    #expect(chip.read(0x75, now: ms(0)) == 0x47)
    #expect(chip.read(0x4E, count: 5, now: ms(0)) == [0x00, 0x06, 0x06, 0x16, 0x11])
    #expect(chip.read(0x64, count: 2, now: ms(0)) == [0x10, 0x10])
    #expect(chip.read(0x1F, count: 2, now: ms(0)) == [0x80, 0x00])
    #expect(chip.nextDataReady(after: ms(0)) == nil)
  }

  @Test("says that a reset is done, once: after power-on and after SOFT_RESET_CONFIG")
  func resetDone() {
    var chip = chip()
    #expect(chip.read(0x2D, count: 1, now: ms(0)) == [0x10])
    #expect(chip.read(0x2D, count: 1, now: ms(0)) == [0x00])
    chip.write(0x11, 0x01, now: ms(1))
    #expect(chip.read(0x2D, count: 1, now: ms(2)) == [0x10])
    #expect(chip.read(0x2D, count: 1, now: ms(2)) == [0x00])
  }

  @Test("one sensor alone goes by its own rate, and the other's outputs are invalid")
  func alone() throws {
    var chip = chip(motion)
    chip.write(0x4F, 0x06, now: ms(0))
    chip.write(0x50, 0x08, now: ms(0))
    // The accelerometer in low-power mode: 10 ms and a period of 10.
    chip.write(0x4E, 0x02, now: ms(0))
    #expect(chip.nextDataReady(after: ms(0)) == ms(20))
    var values = bigEndian(chip.read(0x1F, count: 12, now: ms(100)))
    expectCounts(values[0...2], Vector3(0.5, -1, 1.5), 2048)
    #expect(Array(values[3...5]) == [-32768, -32768, -32768])
    // The gyro joins it after its 30 ms, at its own rate.
    chip.write(0x4E, 0x0E, now: ms(100))
    #expect(chip.nextDataReady(after: ms(100)) == ms(131))
    values = bigEndian(chip.read(0x1F, count: 12, now: ms(200)))
    expectCounts(values[3...5], Vector3(10, -100, 120), 16.4)
    chip.write(0x4E, 0x0C, now: ms(200))
    values = bigEndian(chip.read(0x1F, count: 12, now: ms(300)))
    #expect(Array(values[0...2]) == [-32768, -32768, -32768])
    expectCounts(values[3...5], Vector3(10, -100, 120), 16.4)
  }

  @Test(
    "gives force and rate by full scale, the widest first, in either byte order",
    arguments: [
      (UInt8(0), 2048.0, 16.4), (1, 4096, 32.8), (2, 8192, 65.5), (3, 16384, 131),
    ])
  func scales(code: UInt8, perG: Double, perDegree: Double) {
    var chip = chip(motion)
    chip.write(0x4F, code << 5 | 0x06, now: ms(0))
    chip.write(0x50, code << 5 | 0x06, now: ms(0))
    chip.write(0x4E, 0x0F, now: ms(0))
    let bytes = chip.read(0x1F, count: 12, now: ms(100))
    let values = bigEndian(bytes)
    expectCounts(values[0...2], Vector3(0.5, -1, 1.5), perG)
    expectCounts(values[3...5], Vector3(10, -100, 120), perDegree)
    chip.write(0x4C, 0x20, now: ms(100))
    #expect(chip.read(0x1F, count: 2, now: ms(100)) == [bytes[1], bytes[0]])
  }

  @Test(
    "converts at the rate of its code",
    arguments: [
      (UInt8(0x05), 2000.0), (0x06, 1000), (0x0F, 500), (0x07, 200), (0x08, 100), (0x09, 50),
      (0x0A, 25), (0x0B, 12.5),
    ])
  func rate(code: UInt8, hertz: Double) throws {
    var chip = chip()
    chip.write(0x4F, code, now: ms(0))
    chip.write(0x50, code, now: ms(0))
    chip.write(0x4E, 0x0F, now: ms(0))
    try expectRate(hertz, &chip, delay: 0.03)
  }

  @Test(
    "the pin stays low until INT_ASYNC_RESET is cleared; pulses, or a latch that the status lets go of"
  )
  func pin() {
    var chip = chip()
    chip.write(0x14, 0x03, now: ms(0))
    chip.write(0x65, 0x08, now: ms(0))
    chip.write(0x4E, 0x0F, now: ms(0))
    #expect(chip.takeEdge(at: ms(100)) == nil)
    #expect(chip.read(0x2D, now: ms(100)) == 0x18)
    #expect(chip.read(0x2D, now: ms(100)) == 0x00)
    chip.write(0x64, 0x00, now: ms(100))
    #expect(chip.takeEdge(at: ms(110)) != nil)
    #expect(!chip.interruptLevel)
    chip.write(0x14, 0x07, now: ms(110))
    _ = chip.takeEdge(at: ms(112))
    #expect(chip.interruptLevel)
    _ = chip.read(0x2D, now: ms(112))
    #expect(!chip.interruptLevel)
  }

  @Test("its self-test adds what its trim says, which lies in other banks")
  func selfTest() {
    // 2620 counts at 2 g and at 250 degrees a second for code 1, a hundredth more for each next.
    var chip = ICM42688PTwin(
      TwinCore(source: bench(force: .zero), errors: .none), trim: [1, 2, 3, 1, 2, 3]
    ).powered()
    chip.write(0x76, 0x01, now: ms(0))
    #expect(chip.read(0x5F, count: 3, now: ms(0)) == [1, 2, 3])
    #expect(chip.read(0x75, now: ms(0)) == 0x00)
    chip.write(0x76, 0x02, now: ms(0))
    #expect(chip.read(0x3B, count: 3, now: ms(0)) == [1, 2, 3])
    chip.write(0x76, 0x00, now: ms(0))
    chip.write(0x4F, 0x66, now: ms(0))
    chip.write(0x50, 0x66, now: ms(0))
    chip.write(0x4E, 0x0F, now: ms(0))
    // X of the accelerometer needs its power; Z of the gyro does not.
    chip.write(0x70, 0x0C, now: ms(0))
    #expect(
      bigEndian(chip.read(0x1F, count: 12, now: ms(100))) == [0, 0, 0, 0, 0, 2673])
    chip.write(0x70, 0x4C, now: ms(100))
    #expect(
      bigEndian(chip.read(0x1F, count: 12, now: ms(200))) == [2620, 0, 0, 0, 0, 2673])
  }
}
