// BMM350 against its datasheet's register map.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("BMM350 twin")
struct BMM350TwinTests {
  private func chip(_ source: any StimulusSource) -> BMM350Twin {
    BMM350Twin(source: source, errors: .none).powered()
  }

  @Test("sends two bytes before the first register of a read, and takes none before a write")
  func dummies() {
    var chip = chip(bench())
    #expect(chip.read(0x00, count: 4, now: ms(0)) == [0x7F, 0x7F, 0x33, 0x00])
    #expect(chip.read(0x04, count: 4, now: ms(0)) == [0x7F, 0x7F, 0x14, 0x07])
    chip.write(0x04, 0x35, now: ms(0))
    #expect(chip.read(0x04, count: 3, now: ms(0)).last == 0x35)
  }

  @Test("gives its memory word by word")
  func memory() {
    var chip = chip(bench())
    chip.write(0x50, 0x2E, now: ms(0))
    #expect(chip.read(0x52, count: 6, now: ms(1)) == [0x7F, 0x7F, 0xE0, 0x2B, 0x00, 0x01])
    chip.write(0x50, 0x38, now: ms(1))
    #expect(chip.read(0x52, count: 4, now: ms(2)) == [0x7F, 0x7F, 0x01, 0x40])
  }

  @Test(
    "converts at its rate once that was taken over",
    arguments: [(UInt8(0x02), 400.0), (0x13, 200.0), (0x24, 100.0), (0x35, 50.0), (0x3A, 1.5625)])
  func rate(code: UInt8, hertz: Double) throws {
    var chip = chip(bench())
    chip.write(0x04, code, now: ms(0))
    chip.write(0x06, 0x02, now: ms(0))
    // Not taken: the chip is busy.
    chip.write(0x06, 0x01, now: ms(0.5))
    #expect(chip.nextDataReady(after: ms(0.5)) == nil)
    chip.write(0x06, 0x01, now: ms(2))
    #expect(chip.read(0x07, count: 3, now: ms(39)).last == 0x29)
    let first = try #require(chip.nextDataReady(after: ms(0)))
    chip.advance(to: first)
    let second = try #require(chip.nextDataReady(after: first))
    #expect(chip.read(0x07, count: 3, now: first).last == 0x28)
    #expect(abs(second.seconds(since: first) - 1 / hertz) < 1e-6)
    chip.write(0x06, 0x00, now: second)
    #expect(chip.nextDataReady(after: second) == nil)
  }

  @Test("puts out what its memory turns back into the field")
  func outputs() {
    // Bosch's driver makes 52.975300, -286.737427 and -217.976044 microtesla at 28.16683 degrees of 1000, -2000, 3000
    // and 53500 counts.
    var chip = chip(
      bench(field: Vector3(52.9753, -286.73743, -217.97604), temperature: 28.16683))
    chip.write(0x06, 0x01, now: ms(0))
    let bytes = chip.read(0x31, count: 14, now: ms(100))
    for (place, counts) in [1000, -2000, 3000, 53500].enumerated() {
      let at = 2 + 3 * place
      let value = UInt32(bytes[at]) << 8 | UInt32(bytes[at + 1]) << 16 | UInt32(bytes[at + 2]) << 24
      #expect(abs(Int(Int32(bitPattern: value) >> 8) - counts) <= 1)
    }
  }

  @Test("its flag and its pin stay up until the status is read")
  func interrupt() {
    var chip = chip(bench())
    chip.write(0x2E, 0x8F, now: ms(0))
    chip.write(0x06, 0x01, now: ms(0))
    #expect(chip.nextEdge(at: ms(0)) == ms(38))
    #expect(chip.takeEdge(at: ms(39)) == ms(38))
    #expect(chip.nextEdge(at: ms(40)) == nil)
    #expect(chip.read(0x30, count: 3, now: ms(41)).last == 0x04)
    #expect(chip.read(0x30, count: 3, now: ms(42)).last == 0x00)
    #expect(chip.nextEdge(at: ms(43)) == ms(48))
  }
}
