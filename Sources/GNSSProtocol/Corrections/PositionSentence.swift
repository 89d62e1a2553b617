package import SensorTypes

/// A receiver's position as a caster is sent it: a GGA sentence (NMEA 0183, version 4.11).
package enum PositionSentence {
  /// Returns the sentence without its line end; `nil` for a fix that is no position that satellites have measured.
  package static func text(_ fix: GNSSFix) -> String? {
    guard let latitude = fix.latitude, let longitude = fix.longitude, let time = fix.timeOfDay,
      fix.mode > .none, fix.isValid, latitude.magnitude <= 90, longitude.magnitude <= 180,
      (0..<86_401).contains(time)
    else { return nil }
    let kind = fix.kind ?? .autonomous
    // A simulated board's receiver may call its positions so.
    guard kind.isMeasured || kind == .simulated else { return nil }
    let hundredths = Int((min(time, 86_399.99) * 100).rounded(.down))
    let clock = digits(hundredths / 360_000, 2) + digits(hundredths / 6_000 % 60, 2)
    var fields = ["GPGGA", clock + fixed(hundredths % 6_000, 2, 2)]
    fields += [angle(latitude, 2), latitude < 0 ? "S" : "N"]
    fields += [angle(longitude, 3), longitude < 0 ? "W" : "E"]
    fields += ["\(kind.quality)", digits(min(max(fix.satellitesUsed ?? 0, 0), 99), 2)]
    fields.append(fix.hdop.flatMap { decimal($0, 1) } ?? "")
    fields += [fix.altitude.flatMap { decimal($0, 1) } ?? "", "M"]
    let separation = fix.altitude.flatMap { altitude in
      fix.ellipsoidalAltitude.map { $0 - altitude }
    }
    fields += [separation.flatMap { decimal($0, 1) } ?? "", "M"]
    fields.append(fix.corrections?.age.flatMap { decimal($0, 1) } ?? "")
    let station = fix.corrections?.station.flatMap { (0...4_095).contains($0) ? $0 : nil }
    fields.append(station.map { digits($0, 4) } ?? "")
    let content = fields.joined(separator: ",")
    let sum = content.utf8.reduce(UInt8(0), ^)
    let hex = String(sum, radix: 16, uppercase: true)
    return "$\(content)*\(hex.count == 1 ? "0" : "")\(hex)"
  }

  /// Degrees and minutes, with 5 decimals: 2 cm.
  private static func angle(_ degrees: Double, _ width: Int) -> String {
    let units = Int((degrees.magnitude * 6_000_000).rounded())
    return digits(units / 6_000_000, width) + fixed(units % 6_000_000, 5, 2)
  }

  private static func digits(_ value: Int, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  /// A number of units of the last place as a decimal number.
  private static func fixed(_ units: Int, _ places: Int, _ width: Int) -> String {
    let text = digits(units, width + places)
    return "\(text.dropLast(places)).\(text.suffix(places))"
  }

  private static func decimal(_ value: Double, _ places: Int) -> String? {
    guard value.magnitude < 100_000 else { return nil }
    let units = Int((value.magnitude * 10).rounded())
    return (value < 0 && units > 0 ? "-" : "") + fixed(units, places, 1)
  }
}
