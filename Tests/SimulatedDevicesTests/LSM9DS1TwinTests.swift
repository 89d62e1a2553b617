// The LSM9DS1's accelerometer and gyroscope against its datasheet's register map.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("LSM9DS1 accelerometer and gyroscope twin")
struct LSM9DS1TwinTests {
  private func chip(_ source: any StimulusSource) -> LSM9DS1Twin {
    LSM9DS1Twin(source: source, errors: .none).powered()
  }

  @Test("has its reset values, and takes them again by SW_RESET")
  func resetValues() {
    var chip = chip(bench())
    let expected: [(UInt8, UInt8)] = [
      (0x0F, 0x68), (0x10, 0), (0x1E, 0x38), (0x1F, 0x38), (0x20, 0), (0x22, 0x04), (0x24, 0),
    ]
    for (register, value) in expected { #expect(chip.read(register, now: ms(0)) == value) }
    chip.write(0x20, 0x70, now: ms(0))
    chip.write(0x22, 0x01, now: ms(1))
    for (register, value) in expected { #expect(chip.read(register, now: ms(2)) == value) }
  }

  @Test(
    "gives force and rotation by full scale",
    arguments: [(UInt8(0x00), 0.061, 8.75), (0x08, 0.732, 17.5), (0x18, 0.244, 70)])
  func scales(code: UInt8, milliG: Double, milliDegrees: Double) {
    let degree = Double.pi / 180
    var chip = chip(
      bench(force: Vector3(0.5, -1, 1.5) * 9.80665, rate: Vector3(10, -100, 120) * degree))
    chip.write(0x20, 0x80 | code, now: ms(0))
    chip.write(0x10, 0x80 | code, now: ms(0))
    let force = chip.read(0x28, count: 6, now: ms(400))
    let rate = chip.read(0x18, count: 6, now: ms(400))
    // Its X arrow points against the magnetometer's, in whose frame the stimulus is.
    for (axis, (g, dps)) in [(-0.5, -10.0), (-1, -100), (1.5, 120)].enumerated() {
      let (low, high) = (2 * axis, 2 * axis + 1)
      #expect(int16(low: force[low], high: force[high]) == Int((g * 1000 / milliG).rounded()))
      #expect(
        int16(low: rate[low], high: rate[high]) == Int((dps * 1000 / milliDegrees).rounded()))
    }
  }

  @Test("the accelerometer goes at the gyro's rate while that is on")
  func rates() throws {
    for (linear, angular, rate) in [
      (UInt8(0x20), UInt8(0), 10.0), (0x40, 0, 50), (0x60, 0, 119), (0xC0, 0, 952),
      (0x20, 0x20, 14.9), (0x20, 0xC0, 952), (0, 0x40, 59.5),
    ] {
      var chip = chip(bench())
      chip.write(0x20, linear, now: ms(0))
      chip.write(0x10, angular, now: ms(0))
      let first = try #require(chip.nextDataReady(after: ms(0)))
      #expect(abs(first.seconds(since: ms(0)) - 1 / rate) < 1e-6)
    }
  }

  @Test("data ready falls when a sensor is read; the gyro comes up a quarter of a second later")
  func ready() {
    var chip = chip(bench())
    chip.write(0x0C, 0x02, now: ms(0))
    chip.write(0x20, 0x80, now: ms(0))
    chip.write(0x10, 0x80, now: ms(0))
    #expect(chip.read(0x17, now: ms(200)) == 0x01)
    #expect(!chip.interruptLevel)
    #expect(chip.read(0x27, now: ms(300)) == 0x03)
    #expect(chip.interruptLevel)
    _ = chip.read(0x18, count: 6, now: ms(300))
    #expect(chip.read(0x17, now: ms(300)) == 0x01)
    #expect(!chip.interruptLevel)
    _ = chip.read(0x28, count: 6, now: ms(300))
    #expect(chip.read(0x17, now: ms(300)) == 0x00)
  }

  @Test("self-test moves each sensor within the limits of ST's example; temperature")
  func selfTest() {
    var chip = chip(bench(force: .zero, temperature: 35))
    chip.write(0x20, 0x40, now: ms(0))
    chip.write(0x10, 0x98, now: ms(0))
    chip.write(0x24, 0x05, now: ms(0))
    let force = chip.read(0x28, count: 6, now: ms(500))
    let rate = chip.read(0x18, count: 6, now: ms(500))
    for axis in 0..<3 {
      let (low, high) = (2 * axis, 2 * axis + 1)
      #expect((70...1500).contains(Double(int16(low: force[low], high: force[high])) * 0.061))
      #expect((200...800).contains(Double(int16(low: rate[low], high: rate[high])) * 0.07))
    }
    let bytes = chip.read(0x15, count: 2, now: ms(500))
    #expect(int16(low: bytes[0], high: bytes[1]) == 160)
  }
}
