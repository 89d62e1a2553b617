import Testing

@testable import LocationServices

/// The example identifier of Apple's "Getting Started with iBeacon" (1.0, 2014), and manufacturer data by the "Proximity
/// Beacon Specification" R1: type 02, length 15, identifier, major 0x1234, minor 0xABCD, measured power -59 dBm (C5).
private let text = "92AB49BE-4127-42F4-B532-90FAF1E26491"
private let data: [UInt8] = [
  0x02, 0x15, 0x92, 0xAB, 0x49, 0xBE, 0x41, 0x27, 0x42, 0xF4, 0xB5, 0x32, 0x90, 0xFA, 0xF1, 0xE2,
  0x64, 0x91, 0x12, 0x34, 0xAB, 0xCD, 0xC5,
]
let beaconUUID = BeaconUUID(high: 0x92AB_49BE_4127_42F4, low: 0xB532_90FA_F1E2_6491)

struct BeaconAdvertisementTests {
  @Test("D13: an advertisement by the specification is read, and only that")
  func vector() throws {
    let beacon = try #require(BeaconAdvertisement(company: 0x004C, data: data))
    #expect(beacon.identity == BeaconIdentity(uuid: beaconUUID, major: 0x1234, minor: 0xABCD))
    #expect(beacon.measuredPower == -59)
    #expect(beacon.identity.uuid.description == text && BeaconUUID(text) == beaconUUID)
    #expect(BeaconUUID("92ab49be412742f4b53290faf1e26491") == beaconUUID)
    for wrong in ["", text + "0", String(text.dropLast()), "G" + text.dropFirst(), "٣" + text] {
      #expect(BeaconUUID(wrong) == nil, "\(wrong)")
    }
    for company: UInt16 in [0, 0x004B, 0x4C00, 0xFFFF] {
      #expect(BeaconAdvertisement(company: company, data: data) == nil)
    }
  }

  @Test("L: every shorter, longer or otherwise marked form is none, whatever bytes come")
  func hostile() {
    for count in 0...300 where count != data.count {
      let bytes = (0..<count).map { $0 < data.count ? data[$0] : 0xFF }
      #expect(BeaconAdvertisement(company: 0x004C, data: bytes) == nil)
    }
    for (index, value) in [(0, UInt8(0x03)), (0, 0), (1, 0x14), (1, 0x16), (1, 0xFF)] {
      var bytes = data
      bytes[index] = value
      #expect(BeaconAdvertisement(company: 0x004C, data: bytes) == nil)
    }
    var dice = Dice(seed: 7)
    for _ in 0..<20_000 {
      let bytes = (0..<Int(dice.next() % 64)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
      for found in ManufacturerData.all(in: bytes) {
        #expect(found.data.count <= bytes.count)
        let isBeacon =
          found.company == 0x4C && found.data.count == 23
          && found.data.starts(with: [2, 0x15])
        #expect((BeaconAdvertisement(company: found.company, data: found.data) != nil) == isBeacon)
      }
    }
  }

  @Test("structures on the air: flags, then manufacturer data; a length beyond the end ends it")
  func structures() {
    // Core Specification 5.4, volume 3, part C, 11: flags 02 01 06, then 1A FF 4C 00 and the data.
    let payload: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00] + data
    #expect(ManufacturerData.all(in: payload) == [ManufacturerData(company: 0x4C, data: data)])
    #expect(ManufacturerData.all(in: payload + [0, 9, 9]).count == 1)
    for count in 0..<payload.count {
      #expect(ManufacturerData.all(in: Array(payload.prefix(count))).isEmpty)
    }
    #expect(ManufacturerData.all(in: payload + payload).count == 2)
    #expect(ManufacturerData.all(in: [2, 0xFF, 1, 1, 0xFF]).isEmpty)
  }

  @Test("constraints: an identifier, with a major, with both; a minor alone is none")
  func constraints() {
    let beacon = BeaconIdentity(uuid: beaconUUID, major: 1, minor: 2)
    #expect(BeaconConstraint(uuid: beaconUUID).includes(beacon))
    #expect(BeaconConstraint(uuid: beaconUUID, major: 1).includes(beacon))
    #expect(BeaconConstraint(uuid: beaconUUID, major: 1, minor: 2).includes(beacon))
    #expect(!BeaconConstraint(uuid: beaconUUID, major: 2).includes(beacon))
    #expect(!BeaconConstraint(uuid: beaconUUID, major: 1, minor: 1).includes(beacon))
    #expect(!BeaconConstraint(uuid: BeaconUUID(high: 1, low: 2)).includes(beacon))
    #expect(BeaconConstraint(uuid: beaconUUID, minor: 2).problem != nil)
  }
}
