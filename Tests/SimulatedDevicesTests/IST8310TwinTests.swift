// IST8310 against its datasheet's register map.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("IST8310 twin")
struct IST8310TwinTests {
  private func chip(_ source: any StimulusSource) -> IST8310Twin {
    IST8310Twin(source: source, errors: .none).powered()
  }

  @Test("shows its identity, and measures nothing by itself")
  func resetValues() {
    var chip = chip(bench())
    #expect(chip.read(0x00, now: ms(0)) == 0x10)
    #expect(chip.read(0x0A, now: ms(0)) == 0x00)
    #expect(chip.nextDataReady(after: ms(0)) == nil)
  }

  @Test(
    "measures once when told to: 5 ms, with 16 samples 6; Z points the other way",
    arguments: [(UInt8(0x00), UInt8(0x00), 5.0, 3.3), (0x24, 0x70, 6, 13.2)])
  func single(average: UInt8, bits: UInt8, milliseconds: Double, scale: Double) {
    var chip = chip(bench(field: Vector3(100, -50, 30)))
    chip.write(0x41, average, now: ms(0))
    chip.write(0x0D, bits, now: ms(0))
    chip.write(0x0A, 0x01, now: ms(0))
    #expect(chip.read(0x02, now: ms(milliseconds - 0.1)) == 0x00)
    #expect(chip.read(0x02, now: ms(milliseconds + 0.1)) == 0x01)
    #expect(chip.read(0x0A, now: ms(milliseconds + 0.1)) == 0x00)
    let bytes = chip.read(0x03, count: 6, now: ms(10))
    #expect(int16(low: bytes[0], high: bytes[1]) == Int((100 * scale).rounded()))
    #expect(int16(low: bytes[2], high: bytes[3]) == Int((-50 * scale).rounded()))
    #expect(int16(low: bytes[4], high: bytes[5]) == Int((-30 * scale).rounded()))
    #expect(chip.read(0x02, now: ms(10)) == 0x00)
    #expect(chip.nextDataReady(after: ms(10)) == nil)
  }

  @Test("says what was overwritten unread; a reset ends everything; the pin needs DREN")
  func status() {
    var chip = chip(bench())
    chip.write(0x0B, 0x00, now: ms(0))
    chip.write(0x0A, 0x01, now: ms(0))
    #expect(chip.nextEdge(at: ms(0)) == nil)
    chip.write(0x0B, 0x08, now: ms(1))
    #expect(chip.takeEdge(at: ms(9)) == ms(5))
    chip.write(0x0A, 0x01, now: ms(10))
    #expect(chip.read(0x02, now: ms(19)) == 0x03)
    chip.write(0x41, 0x24, now: ms(20))
    chip.write(0x0A, 0x01, now: ms(20))
    chip.write(0x0B, 0x01, now: ms(21))
    #expect(chip.read(0x41, now: ms(30)) == 0x00)
    #expect(chip.read(0x02, now: ms(30)) == 0x00)
  }
}
