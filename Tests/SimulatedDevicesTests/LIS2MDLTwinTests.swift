// LIS2MDL against its datasheet's register map.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("LIS2MDL twin")
struct LIS2MDLTwinTests {
  private func chip(_ source: any StimulusSource) -> LIS2MDLTwin {
    LIS2MDLTwin(source: source, errors: .none).powered()
  }

  @Test("boots, then shows its reset values, whatever the first bit of the sub-address")
  func resetValues() {
    var chip = LIS2MDLTwin(source: bench())
    chip.powerOn(at: ms(0))
    #expect(!chip.answers(at: ms(9)))
    #expect(chip.answers(at: ms(10)))
    for register: UInt8 in [0x60, 0xE0] {
      #expect(chip.read(register, count: 4, now: ms(30)) == [0x03, 0x00, 0x00, 0xE0])
    }
    #expect(chip.read(0x4F, now: ms(30)) == 0x40)
    #expect(chip.nextDataReady(after: ms(30)) == nil)
  }

  @Test(
    "gives 1.5 milligauss a count at the rate of ODR",
    arguments: [(UInt8(0x80), 10.0), (0x84, 20), (0x88, 50), (0x8C, 100)])
  func scale(control: UInt8, hertz: Double) throws {
    var chip = chip(bench(field: Vector3(150, -75, 30)))
    chip.write(0x60, control, now: ms(0))
    let first = try #require(chip.nextDataReady(after: ms(0)))
    #expect(abs(first.seconds(since: ms(0)) - 1 / hertz) < 1e-6)
    #expect(chip.read(0x67, now: first) == 0x0F)
    let bytes = chip.read(0x68, count: 6, now: first)
    #expect(int16(low: bytes[0], high: bytes[1]) == 1000)
    #expect(int16(low: bytes[2], high: bytes[3]) == -500)
    // Left-handed.
    #expect(int16(low: bytes[4], high: bytes[5]) == -200)
    #expect(chip.read(0x67, now: first) == 0x00)
  }

  @Test("the self-test moves every axis by 15 to 500 milligauss; SOFT_RST ends it")
  func selfTest() {
    var chip = chip(bench())
    chip.write(0x62, 0x02, now: ms(0))
    chip.write(0x60, 0x8C, now: ms(0))
    let bytes = chip.read(0x68, count: 6, now: ms(11))
    for axis in 0..<3 {
      let counts = int16(low: bytes[2 * axis], high: bytes[2 * axis + 1])
      #expect((10...333).contains(counts))
    }
    chip.write(0x60, 0x20, now: ms(12))
    #expect(chip.read(0x60, count: 3, now: ms(13)) == [0x03, 0x00, 0x00])
  }

  @Test("the pin rises with DRDY_on_PIN, once until all axes are read")
  func pin() {
    var chip = chip(bench())
    chip.write(0x60, 0x8C, now: ms(0))
    #expect(chip.nextEdge(at: ms(0)) == nil)
    chip.write(0x62, 0x01, now: ms(1))
    #expect(chip.takeEdge(at: ms(15)) == ms(10))
    #expect(chip.nextEdge(at: ms(16)) == nil)
    _ = chip.read(0x68, count: 6, now: ms(17))
    #expect(chip.nextEdge(at: ms(18)) == ms(20))
  }

  @Test("goes back to idle after a single measurement; hard-iron offsets are taken away")
  func single() {
    var chip = chip(bench(field: Vector3(15, 0, 0)))
    chip.write(0x45, 40, now: ms(0))
    chip.write(0x60, 0x81, now: ms(0))
    let bytes = chip.read(0x68, count: 2, now: ms(10))
    #expect(int16(low: bytes[0], high: bytes[1]) == 60)
    #expect(chip.read(0x60, now: ms(10)) == 0x83)
    #expect(chip.nextDataReady(after: ms(10)) == nil)
  }
}
