// MPU6050, MPU6500 and MPU9250 against their register maps; an AK8963 behind a bypass.

import LinearAlgebra
import SensorBus
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite("MPU twins")
struct MPUTwinTests {
  private func chip(
    _ chip: MPUTwinVariant = .mpu6050, _ source: any StimulusSource = bench(), trim: [UInt8]? = nil
  ) -> MPUTwin {
    MPUTwin(chip, TwinCore(source: source, errors: .none), trim: trim).powered()
  }

  /// Awake, 1 kHz behind the widest filter.
  private func awake(
    _ kind: MPUTwinVariant = .mpu6050, _ source: any StimulusSource = bench(), trim: [UInt8]? = nil
  ) -> MPUTwin {
    var chip = chip(kind, source, trim: trim)
    chip.write(0x6B, 0x01, now: ms(0))
    chip.write(0x1A, 0x01, now: ms(0))
    return chip
  }

  @Test(
    "shows its reset values",
    arguments: [
      (MPUTwinVariant.mpu6050, UInt8(0x68), UInt8(0x40)), (.mpu6500, 0x70, 0x01),
      (.mpu9250, 0x71, 0x01),
    ])
  func resetValues(kind: MPUTwinVariant, identity: UInt8, power: UInt8) {
    var chip = chip(kind)
    #expect(chip.read(0x75, now: ms(0)) == identity)
    #expect(chip.read(0x6B, now: ms(0)) == power)
    #expect(chip.read(0x19, count: 5, now: ms(0)) == [0, 0, 0, 0, 0])
    #expect((chip.nextDataReady(after: ms(0)) == nil) == (kind == .mpu6050))
  }

  @Test("DEVICE_RESET undoes everything and clears itself")
  func reset() {
    var chip = awake()
    chip.write(0x1B, 0x18, now: ms(0))
    chip.write(0x6B, 0x80, now: ms(1))
    #expect(chip.read(0x6B, now: ms(2)) == 0xC0)
    #expect(chip.read(0x6B, now: ms(20)) == 0x40)
    #expect(chip.read(0x1B, now: ms(20)) == 0)
  }

  @Test(
    "gives force and rate high byte first by full scale",
    arguments: [
      (UInt8(0x00), 16384.0, 131.0), (0x08, 8192, 65.5), (0x10, 4096, 32.8), (0x18, 2048, 16.4),
    ])
  func scales(code: UInt8, perG: Double, perDegree: Double) {
    let (g, degree) = (9.80665, Double.pi / 180)
    var chip = awake(
      .mpu9250,
      bench(
        force: Vector3(0.5 * g, -1 * g, 1.5 * g),
        rate: Vector3(10 * degree, -100 * degree, 120 * degree)))
    chip.write(0x1B, code, now: ms(0))
    chip.write(0x1C, code, now: ms(0))
    let bytes = chip.read(0x3B, count: 14, now: ms(100))
    let values = (0..<7).map { int16(low: bytes[2 * $0 + 1], high: bytes[2 * $0]) }
    expectCounts(values[0...2], Vector3(0.5, -1, 1.5), perG)
    // 25 degrees, 21 at zero, 333.87 a degree.
    #expect(values[3] == 1335)
    expectCounts(values[4...6], Vector3(10, -100, 120), perDegree)
  }

  @Test(
    "divides 1 kHz behind a filter, and 8 kHz without one",
    arguments: [
      (MPUTwinVariant.mpu6050, UInt8(0), UInt8(7), 1000.0), (.mpu6050, 1, 4, 200),
      (.mpu6050, 6, 249, 4),
      (.mpu9250, 1, 4, 200), (.mpu9250, 0, 4, 8000), (.mpu9250, 7, 4, 8000),
    ])
  func rate(kind: MPUTwinVariant, filter: UInt8, divider: UInt8, hertz: Double) throws {
    var chip = awake(kind)
    chip.write(0x1A, filter, now: ms(0))
    chip.write(0x19, divider, now: ms(0))
    try expectRate(hertz, &chip)
  }

  @Test("reading the status takes it down; with INT_ANYRD_2CLEAR any read does")
  func status() {
    var chip = awake()
    #expect(chip.read(0x3A, now: ms(100)) == 0x01)
    #expect(chip.read(0x3A, now: ms(100)) == 0x00)
    chip.write(0x37, 0x10, now: ms(101))
    _ = chip.read(0x3B, count: 6, now: ms(105))
    #expect(chip.read(0x3A, now: ms(105)) == 0x00)
  }

  @Test("the pin pulses at every conversion, or is latched until the status is read")
  func pin() {
    var chip = awake()
    #expect(chip.nextEdge(at: ms(50)) == nil)
    chip.write(0x38, 0x01, now: ms(50))
    #expect(chip.takeEdge(at: ms(60)) != nil)
    #expect(chip.takeEdge(at: ms(62)) != nil)
    #expect(!chip.interruptLevel)
    chip.write(0x37, 0x20, now: ms(63))
    _ = chip.takeEdge(at: ms(65))
    #expect(chip.interruptLevel)
    #expect(chip.takeEdge(at: ms(80)) == nil)
    _ = chip.read(0x3A, now: ms(80))
    #expect(!chip.interruptLevel)
  }

  @Test("its self-test adds what its trim says, axis by axis")
  func selfTest() {
    // RM-MPU-6000A 4.1: code 1 is 0.34 g and 25 degrees a second, code 31 is 0.92 g; Y of the gyro the other way.
    var chip = awake(.mpu6050, bench(force: .zero), trim: [1, 1, 1, 1, 31, 0])
    #expect(chip.read(0x0D, count: 4, now: ms(0)) == [0x01, 0xE1, 0x01, 0b0001_1100])
    chip.write(0x1C, 0xD0, now: ms(0))
    chip.write(0x1B, 0x60, now: ms(0))
    let bytes = chip.read(0x3B, count: 14, now: ms(100))
    let values = (0..<7).map { int16(low: bytes[2 * $0 + 1], high: bytes[2 * $0]) }
    #expect(values[0] == Int((0.34 * 4096).rounded()))
    #expect(values[1] == Int((0.92 * 4096).rounded()))
    #expect(values[2] == 0)
    #expect(values[4] == 0)
    #expect(values[5] == -25 * 131)
    #expect(values[6] == 25 * 131)
  }
}

@Suite("A chip behind a bypass")
struct BypassTests {
  private let clock = VirtualClock()
  private let bus = "/dev/i2c-1"

  private func answers(_ device: any RegisterDevice) -> Bool {
    var byte: UInt8 = 0
    do {
      try withUnsafeMutableBytes(of: &byte) { (buffer) throws(BusError) in
        try device.read(0x00, into: buffer)
      }
    } catch {
      return false
    }
    return byte == 0x48
  }

  private func put(_ device: any RegisterDevice, _ register: UInt8, _ value: UInt8) throws {
    try withUnsafeBytes(of: value) { (bytes) throws(BusError) in
      try device.write(register, from: bytes)
    }
  }

  @Test("an AK8963 answers while its MPU9250's bypass is open, and only then")
  func bypass() throws {
    let provider = SimulatedBusProvider(
      SimulatedBoard(chips: [
        .init(.registers("AK8963"), at: .bus(bus, address: 0x0C)),
        .init(.registers("MPU9250"), at: .bus(bus, address: 0x68)),
      ]), clock: clock)
    let host = try provider.registerDevice(bus: bus, address: 0x68)
    let magnetometer = try provider.registerDevice(bus: bus, address: 0x0C)
    #expect(!answers(magnetometer))
    try put(host, 0x37, 0x02)
    #expect(answers(magnetometer))
    // The chip's own master has the bus.
    try put(host, 0x6A, 0x20)
    #expect(!answers(magnetometer))
    try put(host, 0x6A, 0x00)
    #expect(answers(magnetometer))
    provider.inject(.brownOut, chip: 1, from: clock.now())
    #expect(!answers(magnetometer))
  }

  @Test("an AK09916 answers while its ICM20948's bypass is open")
  func otherBypass() throws {
    let provider = SimulatedBusProvider(
      SimulatedBoard(chips: [
        .init(.registers("ICM20948"), at: .bus(bus, address: 0x69)),
        .init(.registers("AK09916"), at: .bus(bus, address: 0x0C)),
      ]), clock: clock)
    let host = try provider.registerDevice(bus: bus, address: 0x69)
    let magnetometer = try provider.registerDevice(bus: bus, address: 0x0C)
    #expect(!answers(magnetometer))
    try put(host, 0x0F, 0x02)
    #expect(answers(magnetometer))
    try put(host, 0x03, 0x20)
    #expect(!answers(magnetometer))
  }

  @Test("an AK8963 on the bus itself has no bypass before it")
  func alone() throws {
    let provider = SimulatedBusProvider(
      SimulatedBoard(chips: [
        .init(.registers("AK8963"), at: .bus(bus, address: 0x0C)),
        .init(.registers("MPU6500"), at: .bus(bus, address: 0x68)),
      ]), clock: clock)
    #expect(answers(try provider.registerDevice(bus: bus, address: 0x0C)))
  }
}
