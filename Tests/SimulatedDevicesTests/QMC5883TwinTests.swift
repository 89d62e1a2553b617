// QST's magnetometers against their datasheets' register maps.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("QMC5883L twin")
struct QMC5883LTwinTests {
  private func chip(_ source: any StimulusSource) -> QMC5883LTwin {
    QMC5883LTwin(source: source, errors: .none).powered()
  }

  @Test("answers after 350 microseconds with its reset values, and does nothing")
  func resetValues() {
    var chip = QMC5883LTwin(source: bench())
    chip.powerOn(at: ms(0))
    #expect(!chip.answers(at: ms(0.3)))
    #expect(chip.answers(at: ms(0.4)))
    #expect(chip.read(0x09, count: 5, now: ms(1)) == [0, 0, 0, 0, 0xFF])
    #expect(chip.nextDataReady(after: ms(1)) == nil)
  }

  @Test(
    "gives counts a gauss by range, low byte first, at the rate of ODR",
    arguments: [
      (UInt8(0x01), 12_000.0, 10.0), (0x15, 3_000, 50), (0x09, 12_000, 100), (0x1D, 3_000, 200),
    ])
  func scale(control: UInt8, counts: Double, hertz: Double) throws {
    var chip = chip(bench(field: Vector3(100, -50, 25)))
    chip.write(0x09, control, now: ms(0))
    let first = try #require(chip.nextDataReady(after: ms(0)))
    #expect(abs(first.seconds(since: ms(0)) - 1 / hertz) < 1e-6)
    let bytes = chip.read(0x00, count: 6, now: first)
    #expect(int16(low: bytes[0], high: bytes[1]) == Int(counts))
    #expect(int16(low: bytes[2], high: bytes[3]) == Int(-counts / 2))
    #expect(int16(low: bytes[4], high: bytes[5]) == Int(counts / 4))
  }

  @Test("data-ready goes down with any data byte, and nothing gets in before the last of six")
  func protection() {
    var chip = chip(Ramp())
    chip.write(0x09, 0x1D, now: ms(0))
    let low = chip.read(0x00, now: ms(2001))
    #expect(chip.read(0x06, now: ms(2002)) == 0x00)
    let rest = chip.read(0x01, count: 5, now: ms(4000))
    #expect(abs(int16(low: low, high: rest[0]) - 600) <= 1)
    #expect(chip.read(0x06, now: ms(4010)) == 0x05)
    let fresh = chip.read(0x00, count: 6, now: ms(4011))
    #expect(int16(low: fresh[0], high: fresh[1]) > 1190)
  }

  @Test("a soft reset at any time brings the reset values and standby; the pin can be off")
  func reset() {
    var chip = chip(bench())
    chip.write(0x09, 0x1D, now: ms(0))
    #expect(chip.nextEdge(at: ms(0)) == ms(5))
    chip.write(0x0A, 0x01, now: ms(1))
    #expect(chip.nextEdge(at: ms(1)) == nil)
    chip.write(0x0A, 0x80, now: ms(2))
    #expect(chip.read(0x09, count: 2, now: ms(3)) == [0, 0])
    #expect(chip.nextDataReady(after: ms(3)) == nil)
  }

  @Test("says overflow beyond 16 bits, and takes it back")
  func overflow() {
    var chip = chip(bench(field: Vector3(0, 300, 0)))
    chip.write(0x09, 0x0D, now: ms(0))
    #expect(chip.read(0x06, now: ms(6)) == 0x03)
    chip.write(0x09, 0x1D, now: ms(7))
    #expect(chip.read(0x06, now: ms(13)) & 0x02 == 0)
  }
}

@Suite("QMC5883P twin")
struct QMC5883PTwinTests {
  private func chip(_ source: any StimulusSource) -> QMC5883PTwin {
    QMC5883PTwin(source: source, errors: .none).powered()
  }

  @Test(
    "gives counts a gauss by range, low byte first, at the rate of ODR",
    arguments: [
      (UInt8(0x00), 1_000.0, UInt8(0x01), 10.0), (0x04, 2_500, 0x05, 50), (0x08, 3_750, 0x09, 100),
      (0x0C, 15_000, 0x0D, 200),
    ])
  func scale(range: UInt8, counts: Double, control: UInt8, hertz: Double) throws {
    var chip = chip(bench(field: Vector3(100, -40, 20)))
    chip.write(0x0B, range, now: ms(0))
    chip.write(0x0A, control, now: ms(0))
    let first = try #require(chip.nextDataReady(after: ms(0)))
    #expect(abs(first.seconds(since: ms(0)) - 1 / hertz) < 1e-6)
    let bytes = chip.read(0x00, count: 7, now: first)
    #expect(bytes[0] == 0x80)
    #expect(int16(low: bytes[1], high: bytes[2]) == Int(counts))
    #expect(int16(low: bytes[3], high: bytes[4]) == Int(-0.4 * counts))
    #expect(int16(low: bytes[5], high: bytes[6]) == Int(0.2 * counts))
  }

  @Test("the flags go down when they are read, not when the data are")
  func flags() {
    var chip = chip(bench(field: Vector3(0, 0, 250)))
    chip.write(0x0B, 0x0C, now: ms(0))
    chip.write(0x0A, 0x0D, now: ms(0))
    _ = chip.read(0x01, count: 6, now: ms(6))
    #expect(chip.read(0x09, now: ms(7)) == 0x03)
    #expect(chip.read(0x09, now: ms(8)) == 0x00)
  }

  @Test("measures once in single mode; data registers take nothing; a reset ends everything")
  func modes() {
    var chip = chip(bench(field: Vector3(100, 0, 0)))
    chip.write(0x06, 0x29, now: ms(0))
    #expect(chip.read(0x06, now: ms(0)) == 0)
    chip.write(0x0A, 0x02, now: ms(0))
    #expect(chip.read(0x09, now: ms(10)) == 0x01)
    #expect(chip.read(0x0A, now: ms(10)) == 0x00)
    chip.write(0x0A, 0x03, now: ms(11))
    #expect(chip.nextDataReady(after: ms(11)) != nil)
    chip.write(0x0B, 0x80, now: ms(12))
    #expect(chip.read(0x0A, count: 2, now: ms(12)) == [0, 0x80])
    #expect(chip.nextDataReady(after: ms(12)) == nil)
    // It stays in its reset until the bit is cleared.
    chip.write(0x29, 0x06, now: ms(13))
    chip.write(0x0A, 0x03, now: ms(13))
    chip.write(0x0B, 0x00, now: ms(14))
    #expect(chip.read(0x29, now: ms(14)) == 0)
    #expect(chip.nextDataReady(after: ms(14)) == nil)
    chip.write(0x29, 0x06, now: ms(15))
    #expect(chip.read(0x29, now: ms(15)) == 0x06)
  }
}
