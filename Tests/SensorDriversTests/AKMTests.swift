// AK8963, AK09916 and AK09918: sensitivity, axes, and what tells them apart.

import LinearAlgebra
import SensorDrivers
import Testing

@Suite struct AKMTests {
  // MS1356-E-02, 8.3.11: Hadj = H * ((ASA - 128) * 0.5 / 128 + 1).
  @Test(
    "the sensitivity adjustment is the datasheet's",
    arguments: [(UInt8(128), 1.0), (0, 0.5), (255, 1.49609375), (176, 1.1875)])
  func adjustment(byte: UInt8, factor: Double) throws {
    let other: UInt8 = 128
    #expect(try AKMConversion.adjustment(block([byte, other, other])) == Vector3(factor, 1, 1))
    #expect(try AKMConversion.adjustment(block([other, byte, other])) == Vector3(1, factor, 1))
    #expect(try AKMConversion.adjustment(block([other, other, byte])) == Vector3(1, 1, factor))
  }

  @Test("a blank fuse ROM is refused", arguments: [UInt8(0x00), 0xFF])
  func blank(byte: UInt8) {
    var chip = AKM(chip: .ak8963, outputRate: 100)
    guard
      case .invalidTrim = failure({ () throws(DriverError) in
        try chip.take(block([byte, byte, byte]), from: 0x10)
      })
    else {
      Issue.record("taken")
      return
    }
  }

  // Tables 8.3 and 11.3: 7FF0 is 32752 counts = 4912 microtesla (rounded there), 0001 0.15, 8010 -4912.
  @Test("each axis stands at its own bytes, low byte first, with its sign")
  func axes() throws {
    let bytes: [UInt8] = [0x01, 0x00, 0xF0, 0x7F, 0x10, 0x80, 0x00, 0x00]
    let one = Vector3(1, 1, 1)
    let field = try AKMConversion.field(block(bytes), count: 8, adjustment: one)
    #expect(near(field, Vector3(0.15, 4912.8, -4912.8), 1e-9))
    let adjusted = try AKMConversion.field(
      block([100, 0, 100, 0, 100, 0, 0x10]), count: 7, adjustment: Vector3(1, 1.1875, 0.5))
    #expect(near(adjusted, Vector3(15, 17.8125, 7.5), 1e-9))
  }

  @Test(
    "each of the family is told from the others",
    arguments: [
      ([UInt8(0x48), 0x09], ["AK09916"]), ([0x48, 0x0C], ["AK09918"]), ([0x48, 0x9A], ["AK8963"]),
      ([0x48, 0x04], []), ([0x49, 0x09], []),
    ])
  func told(bytes: [UInt8], names: [String]) throws {
    let family = ["AK8963", "AK09916", "AK09918"]
    let found = try family.filter { name in
      let chip = try #require(ChipCatalog.chip(named: name))
      // CNTL1, CNTL2 and ASTC of an AK8963, with every bit that they have.
      let rest: [Transfer] = [.read(0x0A, [0x1F]), .read(0x0B, [0x01]), .read(0x0C, [0x40])]
      return try chip.identify(ScriptedDevice([.read(0x00, bytes)] + rest))?.isTold == true
    }
    #expect(found == names)
  }
}
