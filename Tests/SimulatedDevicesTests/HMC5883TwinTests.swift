// HMC5883L and its kin, the magnetometer of the LSM303DLHC, against their datasheets' register maps.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("LSM303DLHC magnetometer twin")
struct LSM303DLHCMagnetometerTwinTests {
  private func chip(_ source: any StimulusSource) -> HMC5883Twin {
    HMC5883Twin(TwinCore(source: source, errors: .none), model: .lsm303dlhc).powered()
  }

  @Test("shows its reset values and its three identity letters")
  func resetValues() {
    var chip = chip(bench())
    #expect(chip.read(0x00, count: 3, now: ms(0)) == [0x10, 0x20, 0x03])
    #expect(chip.read(0x0A, count: 3, now: ms(0)) == [0x48, 0x34, 0x33])
  }

  @Test("rolls its pointer from 08 to 03 and from 12 to 00")
  func pointer() {
    var chip = chip(bench(field: Vector3(10, 20, 30)))
    chip.write(0x02, 0x00, now: ms(0))
    let bytes = chip.read(0x03, count: 12, now: ms(200))
    #expect(Array(bytes[0..<6]) == Array(bytes[6..<12]))
    #expect(chip.read(0x0C, count: 3, now: ms(200)) == [0x33, 0x10, 0x20])
    #expect(chip.read(0x20, now: ms(200)) == 0)
  }

  @Test(
    "gives X, Z, Y, high byte first, by gain",
    arguments: [
      (UInt8(0x20), 1100.0, 980.0), (0x40, 855, 760), (0x60, 670, 600), (0x80, 450, 400),
      (0xA0, 400, 355), (0xC0, 330, 295), (0xE0, 230, 205),
    ])
  func order(gain: UInt8, xy: Double, z: Double) {
    var chip = chip(bench(field: Vector3(40, -30, 20)))
    chip.write(0x01, gain, now: ms(0))
    chip.write(0x02, 0x00, now: ms(0))
    let bytes = chip.read(0x03, count: 6, now: ms(200))
    #expect(int16(low: bytes[1], high: bytes[0]) == Int((0.4 * xy).rounded()))
    #expect(int16(low: bytes[3], high: bytes[2]) == Int((0.2 * z).rounded()))
    #expect(int16(low: bytes[5], high: bytes[4]) == Int((-0.3 * xy).rounded()))
  }

  @Test("says -4096 beyond its 12 bits")
  func overflow() {
    var chip = chip(bench(field: Vector3(200, 0, 0)))
    chip.write(0x02, 0x00, now: ms(0))
    #expect(chip.read(0x03, count: 2, now: ms(200)) == [0xF0, 0x00])
  }

  @Test("locks its outputs between the first and the last of six bytes")
  func lock() {
    var chip = chip(Ramp())
    chip.write(0x00, 0x10, now: ms(0))
    chip.write(0x02, 0x00, now: ms(0))
    let high = chip.read(0x03, now: ms(5000))
    #expect(chip.read(0x09, now: ms(5001)) & 0x02 != 0)
    let rest = chip.read(0x04, count: 5, now: ms(12_000))
    // 50 microtesla at 5 s, less the way to the last conversion; not 120.
    let counts = int16(low: rest[0], high: high)
    #expect(counts > 530 && counts <= 550)
    #expect(chip.read(0x09, now: ms(12_001)) & 0x02 == 0)
    let fresh = chip.read(0x03, count: 2, now: ms(12_100))
    #expect(int16(low: fresh[1], high: fresh[0]) > 1300)
  }

  @Test(
    "converts at the rate of DO",
    arguments: [
      (UInt8(0), 0.75), (1, 1.5), (2, 3), (3, 7.5), (4, 15), (5, 30), (6, 75), (7, 220),
    ])
  func rate(code: UInt8, hertz: Double) throws {
    var chip = chip(bench())
    chip.write(0x00, code << 2, now: ms(0))
    chip.write(0x02, 0x00, now: ms(0))
    let first = try #require(chip.nextDataReady(after: ms(0)))
    #expect(abs(first.seconds(since: ms(0)) - 1 / hertz) < 1e-6)
    #expect(chip.read(0x09, now: ms(0)) == 0)
    #expect(chip.read(0x09, now: first) & 0x01 == 1)
  }

  @Test("sleeps after a single conversion")
  func single() {
    var chip = chip(bench())
    chip.write(0x02, 0x01, now: ms(0))
    #expect(chip.read(0x09, now: ms(7)) == 0x01)
    #expect(chip.read(0x02, now: ms(7)) == 0x03)
    #expect(chip.nextDataReady(after: ms(7)) == nil)
  }
}

@Suite("HMC5883L twin")
struct HMC5883LTwinTests {
  private func chip(_ source: any StimulusSource) -> HMC5883Twin {
    HMC5883Twin(source: source, errors: .none).powered()
  }

  @Test("answers after 200 microseconds, and makes one measurement by itself within 56 ms")
  func powerOn() {
    var chip = HMC5883Twin(source: bench(field: Vector3(40, 0, 0)), errors: .none)
    chip.powerOn(at: ms(0))
    #expect(!chip.answers(at: ms(0.1)))
    #expect(chip.answers(at: ms(0.2)))
    #expect(chip.read(0x00, count: 2, now: ms(1)) == [0x10, 0x20])
    #expect(chip.read(0x09, now: ms(55)) == 0x00)
    #expect(chip.read(0x02, count: 3, now: ms(57)) == [0x03, 0x01, 0xB4])
    #expect(chip.nextDataReady(after: ms(57)) == nil)
  }

  @Test("measures once more with the old gain")
  func gain() {
    var chip = chip(bench(field: Vector3(100, 0, 0)))
    chip.write(0x01, 0x80, now: ms(0))
    for counts in [1090, 440] {
      chip.write(0x02, 0x01, now: ms(0))
      let bytes = chip.read(0x02, count: 7, now: ms(counts == 1090 ? 7 : 14))
      #expect(int16(low: bytes[2], high: bytes[1]) == counts)
    }
  }

  @Test("reading the mode alone locks the outputs, reading all six frees them")
  func lock() {
    var chip = chip(bench())
    chip.write(0x02, 0x00, now: ms(0))
    _ = chip.read(0x02, now: ms(1))
    #expect(chip.read(0x09, now: ms(2)) & 0x02 == 0x02)
    _ = chip.read(0x02, count: 7, now: ms(3))
    #expect(chip.read(0x09, now: ms(4)) & 0x02 == 0)
  }

  @Test(
    "a bias gives the straps' field alone, whatever is around",
    arguments: [(UInt8(0x11), 452, 421), (0x12, -452, -421), (0x71, 452, 421)])
  func bias(control: UInt8, xy: Int, z: Int) {
    var chip = chip(bench(field: Vector3(30, -20, 10)))
    chip.write(0x00, control, now: ms(0))
    chip.write(0x01, 0xA0, now: ms(0))
    chip.write(0x02, 0x00, now: ms(0))
    let bytes = chip.read(0x02, count: 7, now: ms(200))
    #expect(int16(low: bytes[2], high: bytes[1]) == xy)
    #expect(int16(low: bytes[4], high: bytes[3]) == z)
    #expect(int16(low: bytes[6], high: bytes[5]) == xy)
  }
}
