// Five logs of phones with a receiver and a gyro (data README, "phone"), one row a second.

import Foundation
import LinearAlgebra
import SensorTypes
import SharedData

/// One row: what the receiver said, if it spoke, and how the phone turned.
struct PhoneRow {
  var time: Timestamp
  var fix: GNSSFix?
  /// About the vertical, rad/s clockwise: the gyro's rate along the phone's own gravity.
  var turnRate: Double?
}

enum PhoneLog {
  static var all: [URL] { SharedData.files(in: "data/phone", extension: "csv") }

  static func rows(of url: URL) throws -> [PhoneRow] {
    let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
    guard let header = lines.first else { return [] }
    func cells(_ line: Substring) -> [Substring] {
      line.split(separator: ",", omittingEmptySubsequences: false)
    }
    let places = Dictionary(
      cells(header).enumerated().map { (String($1), $0) }, uniquingKeysWith: { a, _ in a })
    let format = ISO8601DateFormatter()
    format.formatOptions = [.withInternetDateTime, .withSpaceBetweenDateAndTime]
    return lines.dropFirst().compactMap { line in
      let values = cells(line)
      func value(_ name: String) -> Double? {
        guard let place = places[name], place < values.count else { return nil }
        return Double(values[place])
      }
      guard let date = format.date(from: String(values[0])) else { return nil }
      let time = Timestamp(nanoseconds: Int64(date.timeIntervalSince1970) * 1_000_000_000)
      return PhoneRow(time: time, fix: fix(at: time, value), turnRate: turnRate(value))
    }
  }

  private static func fix(at time: Timestamp, _ value: (String) -> Double?) -> GNSSFix? {
    guard let latitude = value("latitude"), let longitude = value("longitude"),
      let accuracy = value("horizontalAccuracy"), latitude.isFinite, accuracy > 0
    else { return nil }
    var fix = GNSSFix(received: time, mode: .twoDimensional)
    fix.latitude = latitude
    fix.longitude = longitude
    fix.horizontalAccuracy = accuracy
    fix.accuracySource = .receiver
    fix.speed = value("speed")
    // A phone says 0 where it does not know.
    fix.speedAccuracy = value("speedAccuracy").flatMap { $0 > 0 ? $0 : nil }
    fix.courseAccuracy = value("bearingAccuracy").flatMap { $0 > 0 ? $0 : nil }
    fix.course = value("bearing").flatMap { $0 == 0 && fix.courseAccuracy == nil ? nil : $0 }
    return fix
  }

  private static func turnRate(_ value: (String) -> Double?) -> Double? {
    guard let x = value("gyro_x"), let y = value("gyro_y"), let z = value("gyro_z"),
      let gx = value("grav_x"), let gy = value("grav_y"), let gz = value("grav_z"),
      let up = Vector3(gx, gy, gz).normalized
    else { return nil }
    return -Vector3(x, y, z).dot(up)
  }
}
