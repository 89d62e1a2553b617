// What the files of records mean for a board's chips.

package import BoardFile
package import CalibrationCore
import FoundationEssentials
import LinearAlgebra
package import SensorTypes
package import StateStore

extension CalibrationKey {
  /// The key of a record of a board's chip.
  package init(_ kind: CalibrationKind, _ sensor: Board.Sensor) {
    self.init(kind, chip: sensor.chip, position: sensor.attachment.description)
  }
}

extension CalibrationStore {
  /// The record for a magnetometer at its place.
  package func find(_ sensor: Board.Sensor) -> StoredFinding<AppliedCalibration> {
    Self.finding(StateFile.read(file(of: sensor).path), for: sensor)
  }

  func file(of sensor: Board.Sensor) -> URL { file(CalibrationKey(.magnetometer, sensor)) }

  /// What a magnetometer's file means for it.
  static func finding(
    _ content: StateFileContent, for sensor: Board.Sensor
  ) -> StoredFinding<AppliedCalibration> {
    finding(content, CalibrationKey(.magnetometer, sensor)) {
      if case .magnetometer(let record) = $0 { record.applied } else { nil }
    }
  }

  /// What a person should know of a record that was found while the board was in use; `nil` for any other.
  static func backgroundWords(
    _ content: StateFileContent, for sensor: Board.Sensor
  ) -> String? {
    guard case .bytes(let bytes) = content, let record = try? CalibrationRecord(json: bytes),
      record.method == CalibrationMethod.background.rawValue,
      record.matches(chip: sensor.chip, busPosition: sensor.attachment.description)
    else { return nil }
    func tenths(_ degrees: Double) -> String {
      let value = Int((min(180, degrees) * 10).rounded())
      return "\(value / 10).\(value % 10)"
    }
    var words = "\(sensor.chip) at \(sensor.attachment): calibrated while in use"
    if let score = record.score { words += ": score \(score)" }
    if let error = record.headingError {
      let before = record.headingErrorBefore.map { tenths($0) + " -> " } ?? ""
      words += ", heading error \(before)\(tenths(error)) deg"
    }
    return words
  }

  /// What a gyro's file means for it.
  static func gyroFinding(
    _ content: StateFileContent, for sensor: Board.Sensor
  ) -> StoredFinding<AppliedGyroBias> {
    finding(content, CalibrationKey(.gyro, sensor)) {
      if case .gyro(let record) = $0 { record.applied } else { nil }
    }
  }

  /// What the file of a board's mounting means for the board whose gravity this sensor feels.
  static func levelFinding(
    _ content: StateFileContent, for sensor: Board.Sensor
  ) -> StoredFinding<Quaternion> {
    var reason: String?
    let found = finding(content, CalibrationKey(.level, sensor)) { (record) -> Quaternion? in
      guard case .level(let level) = record else { return nil }
      guard level.mount == sensor.mount else {
        reason = "it was made when the board file had another mount for \(sensor.chip)"
        return nil
      }
      return level.rotation
    }
    return reason.map { .unusable($0) } ?? found
  }
}
