// RM3100 against its manual's register map.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("RM3100 twin")
struct RM3100TwinTests {
  private func chip(_ source: any StimulusSource) -> RM3100Twin {
    RM3100Twin(source: source, errors: .none).powered()
  }

  @Test("shows its default values")
  func defaults() {
    var chip = chip(bench())
    #expect(chip.read(0x04, count: 6, now: ms(0)) == [0, 0xC8, 0, 0xC8, 0, 0xC8])
    #expect(chip.read(0x0B, now: ms(0)) == 0x96)
    #expect(chip.read(0x36, now: ms(0)) == 0x22)
    #expect(chip.read(0x34, now: ms(0)) & 0x80 == 0)
    #expect(chip.nextDataReady(after: ms(0)) == nil)
  }

  @Test(
    "converts at the rate of TMRC, unless its cycles take longer",
    arguments: [
      (UInt8(0x95), UInt8(200), 75.0), (0x94, 200, 147), (0x94, 100, 150), (0x92, 50, 534),
      (0x9B, 200, 1.2),
    ])
  func rate(code: UInt8, cycles: UInt8, hertz: Double) throws {
    var chip = chip(bench())
    for register in [UInt8(0x05), 0x07, 0x09] { chip.write(register, cycles, now: ms(0)) }
    chip.write(0x0B, code, now: ms(0))
    chip.write(0x01, 0x79, now: ms(0))
    let first = try #require(chip.nextDataReady(after: ms(0)))
    #expect(abs(first.seconds(since: ms(0)) - 1 / hertz) < 1e-6)
  }

  @Test("gives three bytes an axis by cycles", arguments: [(UInt8(200), 75), (100, 38), (50, 20)])
  func gain(cycles: UInt8, counts: Int) {
    var chip = chip(bench(field: Vector3(1, -1, 800)))
    for register in [UInt8(0x05), 0x07, 0x09] { chip.write(register, cycles, now: ms(0)) }
    chip.write(0x01, 0x79, now: ms(0))
    let bytes = chip.read(0x24, count: 9, now: ms(50))
    let z = 800 * counts
    #expect(bytes[..<6] == [0, 0, UInt8(counts), 0xFF, 0xFF, UInt8(256 - counts)])
    #expect(bytes[6...] == [UInt8(z >> 16), UInt8(z >> 8 & 0xFF), UInt8(z & 0xFF)])
  }

  @Test("tests itself in place of a measurement, and says of each coil whether it oscillated")
  func selfTest() {
    for (dead, flags) in [(nil, UInt8(0x70)), (0, 0x60), (1, 0x50), (2, 0x30)] as [(Int?, UInt8)] {
      var chip = chip(bench(field: Vector3(repeating: 50)))
      if let dead { chip.tampering.selfTestShare[dead] = 0 }
      chip.write(0x33, 0x8F, now: ms(0))
      #expect(chip.read(0x33, now: ms(0)) == 0x8F)
      chip.write(0x00, 0x70, now: ms(0))
      #expect(chip.nextDataReady(after: ms(0)) == ms(0.36))
      #expect(chip.read(0x34, now: ms(0.3)) & 0x80 == 0)
      #expect(chip.read(0x34, now: ms(1)) & 0x80 != 0)
      #expect(chip.read(0x33, now: ms(1)) == 0x8F | flags)
      #expect(chip.read(0x24, count: 9, now: ms(1)).allSatisfy { $0 == 0 })
      // Without STE a measurement is one again.
      chip.write(0x33, 0x00, now: ms(2))
      chip.write(0x00, 0x70, now: ms(2))
      #expect(chip.nextDataReady(after: ms(2)).map { $0 > ms(8) } == true)
    }
  }

  @Test("hears no coil without a time or without periods", arguments: [UInt8(0x83), 0x8C, 0x80])
  func unusedSelfTest(setting: UInt8) {
    var chip = chip(bench())
    chip.write(0x33, setting, now: ms(0))
    chip.write(0x00, 0x70, now: ms(0))
    #expect(chip.read(0x33, now: ms(1)) == setting)
  }

  @Test("stops when its mode is read or its rate is written")
  func stops() {
    var chip = chip(bench())
    chip.write(0x01, 0x79, now: ms(0))
    #expect(chip.read(0x01, now: ms(1)) == 0x79)
    #expect(chip.nextDataReady(after: ms(1)) == nil)
    chip.write(0x01, 0x79, now: ms(2))
    chip.write(0x0B, 0x95, now: ms(3))
    #expect(chip.nextDataReady(after: ms(3)) == nil)
  }

  @Test("raises DRDY and its pin when DRDM says so, until the results are read")
  func ready() {
    var chip = chip(bench())
    chip.write(0x0B, 0x95, now: ms(0))
    chip.write(0x01, 0x71, now: ms(0))
    #expect(chip.read(0x34, now: ms(50)) & 0x80 == 0)
    chip.write(0x01, 0x79, now: ms(60))
    #expect(chip.read(0x34, now: ms(74)) & 0x80 != 0)
    #expect(chip.interruptLevel)
    _ = chip.read(0x24, count: 9, now: ms(75))
    #expect(chip.read(0x34, now: ms(75)) & 0x80 == 0)
    #expect(!chip.interruptLevel)
  }

  @Test("measures once on POLL")
  func single() {
    var chip = chip(bench(field: Vector3(1, 1, 1)))
    chip.write(0x00, 0x20, now: ms(0))
    #expect(chip.read(0x34, now: ms(7)) & 0x80 != 0)
    #expect(chip.read(0x24, count: 9, now: ms(7)) == [0, 0, 0, 0, 0, 75, 0, 0, 0])
    #expect(chip.nextDataReady(after: ms(7)) == nil)
  }
}
