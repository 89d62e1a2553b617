// What a node says of itself.

/// The NAME of a node: ISO 11783-5. It is unique on a bus, and the lower of two has the better right to an address.
package struct NMEA2000Name: Sendable, Hashable {
  /// A number of the manufacturer's, 21 bits, unlike that of any other of his devices.
  package var uniqueNumber: UInt32
  /// The manufacturer, 11 bits, as NMEA has numbered them. The default is in nobody's name.
  package var manufacturer: UInt16
  /// Which of several like devices it is, 0 to 255.
  package var deviceInstance: UInt8
  /// What it does within its class: 140 is a vessel's own attitude, 145 a GNSS receiver (class 60).
  package var function: UInt8
  /// What it is for: 60 is navigation.
  package var deviceClass: UInt8
  /// Which of several like networks it is on, 0 to 15.
  package var systemInstance: UInt8

  /// Makes a NAME of a vessel's own attitude; numbers that are too large lose their upper bits.
  package init(
    uniqueNumber: UInt32, manufacturer: UInt16 = 2_046, deviceInstance: UInt8 = 0,
    function: UInt8 = 140, deviceClass: UInt8 = 60, systemInstance: UInt8 = 0
  ) {
    self.uniqueNumber = uniqueNumber & 0x1F_FFFF
    self.manufacturer = manufacturer & 0x7FF
    (self.deviceInstance, self.function) = (deviceInstance, function)
    (self.deviceClass, self.systemInstance) = (deviceClass & 0x7F, systemInstance & 0xF)
  }

  /// The NAME as the number that is compared, and sent with its lowest byte first: of the marine industry (4), and able to take any
  /// address.
  package var value: UInt64 {
    UInt64(uniqueNumber) | UInt64(manufacturer) << 21 | UInt64(deviceInstance) << 32
      | UInt64(function) << 40 | UInt64(deviceClass) << 49 | UInt64(systemInstance) << 56
      | 4 << 60 | 1 << 63
  }
}

/// The product information of a node (126996). Each text has at most 32 characters of ASCII.
package struct NMEA2000Product: Sendable, Hashable {
  /// The version of NMEA 2000 in thousandths: 2100 is 2.100.
  package var version: UInt16 = 2_100
  /// The number of the product, as NMEA has given it; 65535 is none.
  package var code: UInt16 = 0xFFFF
  package var model: String
  package var software: String
  package var modelVersion: String
  package var serialNumber: String
  /// Its current in steps of 50 mA; `nil` where nobody has measured it.
  package var loadEquivalency: UInt8?

  package init(model: String, software: String, modelVersion: String, serialNumber: String) {
    (self.model, self.software) = (model, software)
    (self.modelVersion, self.serialNumber) = (modelVersion, serialNumber)
  }

  /// The message. It claims no level of certification.
  package var message: NMEA2000Message {
    var fields = NMEA2000Fields()
    fields.append(UInt64(version), bits: 16)
    fields.append(UInt64(code), bits: 16)
    for text in [model, software, modelVersion, serialNumber] { fields.text(text, count: 32) }
    fields.code(nil, bits: 8)
    fields.code(loadEquivalency, bits: 8)
    return NMEA2000Message(
      priority: 6, pgn: NMEA2000PGN.productInformation, payload: fields.bytes)
  }
}

/// What a person has said of the installation (126998). Each text is cut at 70 bytes.
package struct NMEA2000Configuration: Sendable, Hashable {
  package var installation: String
  package var notes: String
  package var manufacturer: String

  package init(installation: String = "", notes: String = "", manufacturer: String = "") {
    (self.installation, self.notes, self.manufacturer) = (installation, notes, manufacturer)
  }

  package var message: NMEA2000Message {
    var fields = NMEA2000Fields()
    for text in [installation, notes, manufacturer] { fields.variableText(text, limit: 72) }
    return NMEA2000Message(
      priority: 6, pgn: NMEA2000PGN.configurationInformation, payload: fields.bytes)
  }
}
