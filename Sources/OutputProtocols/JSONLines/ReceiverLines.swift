package import GNSSProtocol
package import SensorTypes
import TextForms

// What a receiver says, as JSON lines: `decode` has nobody but it.

extension ObservationLines {
  /// Appends the line for an epoch as a receiver said it.
  package mutating func append(_ fix: GNSSFix, to text: inout [UInt8]) {
    var line = begin(
      "location", at: fix.received, utc: fix.utc, isLeapSecond: fix.isLeapSecond,
      in: JSONLine(behind: &text))
    Self.write(fix, into: &line)
    line.end(into: &text)
  }

  /// Appends the line for the satellites of a round.
  package mutating func append(_ satellites: [GNSSSatellite], to text: inout [UInt8]) {
    var line = begin("sky", at: Timestamp(nanoseconds: 0), in: JSONLine(behind: &text))
    Self.write(satellites, into: &line)
    line.end(into: &text)
  }

  /// Appends the line for a heading by the receiver's antennas, or by an instrument on its line.
  package mutating func append(_ heading: ReceiverHeading, to text: inout [UInt8]) {
    var line = begin("receiverHeading", at: heading.received, in: JSONLine(behind: &text))
    line.set("magneticHeading", heading.magneticHeading ?? -1, digits: 3)
    line.set("trueHeading", heading.trueHeading ?? -1, digits: 3)
    line.set("headingAccuracy", heading.accuracy ?? -1, digits: 3)
    // An instrument may also be antennas whose message does not tell: nothing is known then.
    if heading.source != .instrument { line.set("headingSource", heading.source.rawValue) }
    line.set("declination", heading.variation, digits: 3)
    line.set("roll", heading.roll, digits: 3)
    line.set("rollAccuracy", heading.rollAccuracy, digits: 3)
    line.set("pitch", heading.pitch, digits: 3)
    line.set("pitchAccuracy", heading.pitchAccuracy, digits: 3)
    line.set("waterSpeed", heading.waterSpeed, digits: 4)
    line.end(into: &text)
  }

  /// Appends the line for a receiver's name.
  package mutating func append(_ identity: ReceiverIdentity, to text: inout [UInt8]) {
    var line = begin("receiver", at: Timestamp(nanoseconds: 0), in: JSONLine(behind: &text))
    line.set("software", identity.software)
    line.set("hardware", identity.hardware)
    if !identity.extensions.isEmpty { line.set("extensions", identity.extensions) }
    // Hexadecimal, as the makers' own programs show it.
    line.set("uniqueID", identity.uniqueID.map { String($0, radix: 16) })
    line.end(into: &text)
  }

  /// The satellites of a round.
  static func write(_ satellites: [GNSSSatellite], into line: inout JSONLine) {
    if satellites.isEmpty || satellites.contains(where: { $0.isUsed != nil }) {
      line.set("used", satellites.count { $0.isUsed == true })
    }
    line.set("inView", objects: satellites) { line, satellite in
      line.set("system", satellite.system.name)
      line.set("number", satellite.number)
      line.set("elevation", satellite.elevation, digits: 1)
      line.set("azimuth", satellite.azimuth, digits: 1)
      line.set("carrierToNoise", satellite.carrierToNoise, digits: 1)
      if let isUsed = satellite.isUsed { line.set("used", isUsed) }
    }
  }
}

extension GNSSSystem {
  /// As its operators write it.
  var name: String {
    switch self {
    case .gps: "GPS"
    case .sbas: "SBAS"
    case .galileo: "Galileo"
    case .beidou: "BeiDou"
    case .imes: "IMES"
    case .qzss: "QZSS"
    case .glonass: "GLONASS"
    case .navic: "NavIC"
    }
  }
}
