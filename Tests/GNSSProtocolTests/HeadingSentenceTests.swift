import GNSSProtocol
import SensorTypes
import Testing

struct HeadingSentenceTests {
  @Test("true and magnetic headings, with what a compass corrects itself by")
  func sentences() throws {
    func heading(_ content: String) throws -> ReceiverHeading {
      try #require(Stream.headings(Stream.sentence(content)).first)
    }
    #expect(try heading("GPHDT,123.456,T").trueHeading == 123.456)
    #expect(try heading("GPHDT,360.0,T").trueHeading == 0)
    #expect(try heading("HCHDM,093.8,M").magneticHeading == 93.8)
    #expect(try heading("HETHS,77.52,A").trueHeading == 77.52)
    // Compass 98.3, deviation 0.6 E, variation 12.6 W: magnetic 98.9, true 86.3.
    let full = try heading("HCHDG,98.3,0.6,E,12.6,W")
    #expect(abs(try #require(full.magneticHeading) - 98.9) < 1e-9)
    #expect(abs(try #require(full.trueHeading) - 86.3) < 1e-9)
    #expect(full.variation == -12.6)
    let plain = try heading("HCHDG,359.9,,,,")
    #expect(plain.magneticHeading == 359.9 && plain.trueHeading == nil)
    let over = try heading("HCHDG,359.9,0.2,E,,")
    #expect(abs(try #require(over.magneticHeading) - 0.1) < 1e-9)
    let log = try heading("VWVHW,12.0,T,10.0,M,6.0,N,11.1,K")
    #expect(log.trueHeading == 12 && log.magneticHeading == 10)
    #expect(abs(try #require(log.waterSpeed) - 6 * 1_852.0 / 3_600) < 1e-9)
  }

  @Test(
    "what is no heading gives none",
    arguments: [
      "GPHDT,,T", "GPHDT,361,T", "GPHDT,-1,T", "HETHS,77.52,V", "HCHDM,x,M", "HCHDG,,,,,",
      "VWVHW,,T,,M,,N,,K",
      "GPHDT", "HCHDG,1e3,,,,", "PFHDT,12,T",
    ])
  func none(content: String) {
    #expect(Stream.headings(Stream.sentence(content)).isEmpty)
  }

  @Test(
    "two antennas: NAV-RELPOSNED, only where its heading is valid and its base on the same body")
  func antennas() throws {
    func relative(_ flags: Int, baseline: Int = 100) -> [UInt8] {
      Stream.message(
        1, 0x3C, length: 64,
        [(0, 1, 1), (20, 4, baseline), (24, 4, 12_345_000), (52, 4, 45_000), (60, 4, flags)])
    }
    let heading = try #require(Stream.headings(relative(0x137)).first)
    #expect(abs(try #require(heading.trueHeading) - 123.45) < 1e-9)
    #expect(abs(try #require(heading.accuracy) - 0.45) < 1e-9)
    for baseline in [0, 523_000] {
      #expect(Stream.headings(relative(0x137, baseline: baseline)).isEmpty)
    }
    for flags in [0x037, 0x136, 0x133, 0x117, 0x12F, 0x127] {
      #expect(Stream.headings(relative(flags)).isEmpty)
    }
  }
}
