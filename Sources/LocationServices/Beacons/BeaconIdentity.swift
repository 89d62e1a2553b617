// Who a beacon is, and which beacons somebody means.

/// The sixteen bytes that all beacons of one owner have in common.
package struct BeaconUUID: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The first eight bytes, the first of them on top.
  package var high: UInt64
  package var low: UInt64

  /// Makes it of its two halves.
  package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  /// Makes it of sixteen bytes; `nil` of any other number.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    let half = bytes.index(bytes.startIndex, offsetBy: 8)
    func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
      bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
    self.init(high: number(bytes[..<half]), low: number(bytes[half...]))
  }

  /// Reads 32 hexadecimal digits, with dashes or without; `nil` for any other text.
  package init?(_ text: String) {
    guard text.utf8.count <= 36 else { return nil }
    var digits: [UInt64] = []
    for character in text where character != "-" {
      guard character.isASCII, let digit = character.hexDigitValue else { return nil }
      digits.append(UInt64(digit))
    }
    guard digits.count == 32 else { return nil }
    self.init(
      high: digits[..<16].reduce(0) { $0 << 4 | $1 }, low: digits[16...].reduce(0) { $0 << 4 | $1 })
  }

  /// Reads the text of `description`.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let value = BeaconUUID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no UUID")
    }
    self = value
  }

  /// Writes `description`.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// 32 digits in five groups, in capitals.
  package var description: String {
    let text = [high, low].map { half in
      let digits = String(half, radix: 16, uppercase: true)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
    var result = ""
    for (index, digit) in text.enumerated() {
      if [8, 12, 16, 20].contains(index) { result += "-" }
      result.append(digit)
    }
    return result
  }
}

package struct BeaconIdentity: Hashable, Codable, Sendable, Comparable {
  /// The identifier of its owner.
  package var uuid: BeaconUUID
  package var major: UInt16
  /// Its second number.
  package var minor: UInt16

  package init(uuid: BeaconUUID, major: UInt16, minor: UInt16) {
    (self.uuid, self.major, self.minor) = (uuid, major, minor)
  }

  /// By identifier, then by the numbers.
  package static func < (a: BeaconIdentity, b: BeaconIdentity) -> Bool {
    (a.uuid.high, a.uuid.low, a.major, a.minor) < (b.uuid.high, b.uuid.low, b.major, b.minor)
  }
}

/// Which beacons are meant.
package struct BeaconConstraint: Hashable, Codable, Sendable {
  package var uuid: BeaconUUID
  /// The first number; `nil` for any.
  package var major: UInt16?
  /// The second number; `nil` for any.
  package var minor: UInt16?

  /// Makes a constraint; `problem` says what is wrong with it.
  package init(uuid: BeaconUUID, major: UInt16? = nil, minor: UInt16? = nil) {
    (self.uuid, self.major, self.minor) = (uuid, major, minor)
  }

  /// Why it cannot be used; `nil` where it can.
  package var problem: String? {
    major == nil && minor != nil ? "it has a minor and no major" : nil
  }

  /// Whether a beacon is one of those.
  package func includes(_ beacon: BeaconIdentity) -> Bool {
    beacon.uuid == uuid && (major ?? beacon.major) == beacon.major
      && (minor ?? beacon.minor) == beacon.minor
  }
}
