// What a beacon says on the air, out of bytes that anybody may have sent.

package import SensorTypes

/// An iBeacon's advertisement.
///
/// Layout by Apple's "Proximity Beacon Specification", release R1: manufacturer data of company 0x004C that is a type
/// 0x02, a length 0x15, the identifier (16 bytes), major and minor (two each, the high one first) and the measured power,
/// a signed byte. Nothing before it, nothing after it.
package struct BeaconAdvertisement: Hashable, Sendable {
  /// The company whose format it is, as Bluetooth SIG has assigned it.
  package static let company: UInt16 = 0x004C
  /// The bytes of manufacturer data, the company's number not counted.
  private static let size = 23

  package var identity: BeaconIdentity
  /// The strength that its owner has measured at one metre, dBm, as it is sent.
  package var measuredPower: Int8

  package init(_ identity: BeaconIdentity, measuredPower: Int8) {
    (self.identity, self.measuredPower) = (identity, measuredPower)
  }

  /// Reads manufacturer data; `nil` for what is no iBeacon's, to the byte.
  package init?(company: UInt16, data: [UInt8]) {
    guard company == Self.company, data.count == Self.size, data[0] == 0x02, data[1] == 0x15,
      let uuid = BeaconUUID(bytes: data[2..<18])
    else { return nil }
    func number(_ index: Int) -> UInt16 { UInt16(data[index]) << 8 | UInt16(data[index + 1]) }
    identity = BeaconIdentity(uuid: uuid, major: number(18), minor: number(20))
    measuredPower = Int8(bitPattern: data[22])
  }
}

/// The manufacturer data in an advertisement as it is on the air (Bluetooth Core Specification 5.4, volume 3, part C,
/// section 11): structures of a length, a type and data. One that is longer than what is left ends it.
package struct ManufacturerData: Hashable, Sendable {
  /// Bytes of an advertisement that are read, at most: what extended advertising allows.
  package static let longest = 1_650

  package var company: UInt16
  package var data: [UInt8]

  /// All manufacturer data of an advertisement, in order.
  package static func all(in payload: [UInt8]) -> [ManufacturerData] {
    var found: [ManufacturerData] = []
    var rest = payload.prefix(Self.longest)
    while let length = rest.popFirst(), length > 0, rest.count >= Int(length) {
      let structure = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
      guard structure[0] == 0xFF, structure.count >= 3 else { continue }
      found.append(
        ManufacturerData(
          company: UInt16(structure[2]) << 8 | UInt16(structure[1]), data: Array(structure[3...])))
    }
    return found
  }
}

/// A beacon that was heard once.
package struct BeaconSighting: Hashable, Sendable {
  /// The strengths that Bluetooth can report, dBm (Core Specification 5.4, volume 4, part E, section 7.7.65.2). 127 says
  /// that it is not known, and so does 0 here: some controllers send it instead.
  static let strengths = -127...20

  package var advertisement: BeaconAdvertisement
  /// How strong it was, dBm; `nil`: not known.
  package var strength: Int?
  package var time: Timestamp

  /// Makes a sighting; a strength that none can be is not known.
  package init(_ advertisement: BeaconAdvertisement, strength: Int?, time: Timestamp) {
    self.advertisement = advertisement
    self.strength = strength.flatMap { $0 != 0 && Self.strengths.contains($0) ? $0 : nil }
    self.time = time
  }
}

/// What the radio has to say.
package enum BeaconNews: Hashable, Sendable {
  /// It listens from now on.
  case listening(Timestamp)
  /// It has heard a beacon.
  case heard(BeaconSighting)
  /// It hears nothing, and why; it goes on trying.
  case failed(BeaconFailure, Timestamp)
}

/// Why no beacon can be heard.
package struct BeaconFailure: Error, Hashable, Codable, Sendable {
  /// Whether there is nothing to hear them with (no adapter, switched off, not permitted), and not one that failed.
  package var isUnavailable: Bool
  package var reason: String

  package init(isUnavailable: Bool, reason: String) {
    (self.isUnavailable, self.reason) = (isUnavailable, reason)
  }
}
