import OutputProtocols
package import SensorTypes
import TerminalUI
import TextForms

/// A table with a header, a row an epoch; empty where the receiver has said nothing. Columns are only ever added
/// behind.
package struct CSVWriter: LogWriter {
  private static let columns = [
    "time_utc", "time_of_day_s", "mode", "valid", "latitude_deg", "longitude_deg",
    "altitude_msl_m", "altitude_ellipsoid_m", "horizontal_accuracy_m", "vertical_accuracy_m",
    "speed_m_s", "speed_accuracy_m_s", "course_deg", "course_accuracy_deg", "vertical_speed_m_s",
    "hdop", "vdop", "pdop", "satellites_used", "fix_kind", "correction_age_s", "correction_station",
    "assumed",
  ]

  package mutating func begin(_ text: inout [UInt8]) {
    text.append(text: Self.columns.joined(separator: ",") + "\n")
  }

  package mutating func append(_ fix: GNSSFix, to text: inout [UInt8]) {
    func cell(_ value: Double?, _ digits: Int) {
      text.append(UInt8(ascii: ","))
      if let value, value.isFinite { text.append(fixed: value, digits: digits) }
    }
    if let utc = fix.utc { text.append(iso8601: utc, isLeapSecond: fix.isLeapSecond) }
    cell(fix.timeOfDay, 3)
    cell(Double(fix.mode.rawValue), 0)
    text.append(text: fix.isValid ? ",true" : ",false")
    cell(fix.latitude, 9)
    cell(fix.longitude, 9)
    cell(fix.altitude, 4)
    cell(fix.ellipsoidalAltitude, 4)
    cell(fix.latitude == nil ? nil : fix.horizontalAccuracy, 3)
    cell(fix.altitude == nil ? nil : fix.verticalAccuracy, 3)
    cell(fix.speed, 4)
    cell(fix.speed == nil ? nil : fix.speedAccuracy, 4)
    cell(fix.printedCourse, 4)
    cell(fix.course == nil ? nil : fix.courseAccuracy, 4)
    cell(fix.verticalSpeed, 4)
    cell(fix.hdop, 2)
    cell(fix.vdop, 2)
    cell(fix.pdop, 2)
    cell(fix.satellitesUsed.map(Double.init), 0)
    text.append(text: "," + (fix.kind?.rawValue ?? ""))
    cell(fix.corrections?.age, 1)
    cell(fix.corrections?.station.map(Double.init), 0)
    text.append(text: fix.hasAssumedAccuracy ? ",true" : ",")
    text.append(UInt8(ascii: "\n"))
  }

  package init() {}
}
