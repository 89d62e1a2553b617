// BMM150 against its datasheet's register map.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("BMM150 twin")
struct BMM150TwinTests {
  private func chip(_ source: any StimulusSource) -> BMM150Twin {
    var chip = BMM150Twin(source: source, errors: .none).powered()
    chip.write(0x4B, 0x01, now: ms(-10))
    return chip
  }

  @Test("in suspend shows nothing but its power bit, and 3 ms after that is set everything")
  func suspend() {
    var chip = BMM150Twin(source: bench(), errors: .none).powered()
    #expect(chip.read(0x40, now: ms(0)) == 0x00)
    #expect(chip.read(0x4B, now: ms(0)) == 0x00)
    chip.write(0x4B, 0x01, now: ms(0))
    #expect(chip.read(0x40, now: ms(2)) == 0x00)
    #expect(chip.read(0x40, now: ms(3)) == 0x32)
    #expect(chip.read(0x4B, count: 4, now: ms(3)) == [0x01, 0x06, 0x3F, 0x07])
    chip.write(0x51, 0x17, now: ms(4))
    chip.write(0x4B, 0x00, now: ms(5))
    chip.write(0x4B, 0x01, now: ms(6))
    #expect(chip.read(0x51, now: ms(10)) == 0x00)
  }

  @Test(
    "converts at its rate, unless its repetitions take longer",
    arguments: [
      (UInt8(0), UInt8(7), UInt8(26), 10.0), (1, 7, 26, 2), (5, 0x17, 0x52, 20), (7, 7, 26, 30),
      (7, 0x17, 0x52, 20.286_033),
    ])
  func rate(code: UInt8, xy: UInt8, z: UInt8, hertz: Double) throws {
    var chip = chip(bench())
    chip.write(0x51, xy, now: ms(0))
    chip.write(0x52, z, now: ms(0))
    chip.write(0x4C, code << 3, now: ms(0))
    let first = try #require(chip.nextDataReady(after: ms(0)))
    #expect(abs(first.seconds(since: ms(0)) - 1 / hertz) < 1e-6)
  }

  @Test("tests itself from sleep alone; the flags are 1 by default")
  func selfTest() {
    func flags(_ chip: inout BMM150Twin, at time: Double) -> [UInt8] {
      let bytes = chip.read(0x42, count: 5, now: ms(time))
      return [bytes[0], bytes[2], bytes[4]].map { $0 & 0x01 }
    }
    var chip = chip(bench())
    #expect(flags(&chip, at: 0) == [1, 1, 1])
    chip.tampering.selfTestShare.y = 0
    chip.write(0x4C, 0x07, now: ms(0))
    #expect(chip.read(0x4C, now: ms(0.5)) == 0x07)
    #expect(flags(&chip, at: 0.5) == [1, 1, 1])
    #expect(chip.read(0x4C, now: ms(2)) == 0x06)
    #expect(flags(&chip, at: 2) == [1, 0, 1])
    // In normal mode the bit starts nothing.
    chip.tampering.selfTestShare.x = 0
    chip.write(0x4C, 0x01, now: ms(3))
    #expect(flags(&chip, at: 6) == [1, 0, 1])
  }

  @Test("puts out what its trim turns back into the field")
  func outputs() {
    // Bosch's equations give 36.328125, -36.132812 and 70.102997 microtesla for 100, -100 and 200 counts.
    var chip = chip(bench(field: Vector3(36.328, -36.133, 70.103)))
    chip.write(0x4C, 0x38, now: ms(0))
    let bytes = chip.read(0x42, count: 8, now: ms(40))
    #expect(int16(low: bytes[0], high: bytes[1]) >> 3 == 100)
    #expect(int16(low: bytes[2], high: bytes[3]) >> 3 == -100)
    #expect(int16(low: bytes[4], high: bytes[5]) >> 1 == 200)
    #expect(int16(low: bytes[6], high: bytes[7]) >> 2 == 6686)
    #expect(bytes[6] & 0x01 == 1)
    #expect(chip.read(0x48, now: ms(41)) & 0x01 == 0)
  }

  @Test("puts out the lowest number of an axis beyond its end")
  func overflow() {
    var chip = chip(bench(field: Vector3(2000, -2000, 9000)))
    chip.write(0x4C, 0x38, now: ms(0))
    let bytes = chip.read(0x42, count: 6, now: ms(40))
    #expect(int16(low: bytes[0], high: bytes[1]) >> 3 == -4096)
    #expect(int16(low: bytes[2], high: bytes[3]) >> 3 == -4096)
    #expect(int16(low: bytes[4], high: bytes[5]) >> 1 == -16384)
  }

  @Test("a forced measurement ends in sleep, and its pin rises if it may")
  func forced() {
    var chip = chip(bench())
    chip.write(0x4E, 0x87, now: ms(0))
    chip.write(0x4C, 0x02, now: ms(0))
    #expect(chip.takeEdge(at: ms(3)) == ms(1.625))
    #expect(chip.read(0x4C, now: ms(3)) == 0x06)
    #expect(chip.nextDataReady(after: ms(3)) == nil)
  }
}
