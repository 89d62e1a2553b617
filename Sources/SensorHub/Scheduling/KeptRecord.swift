import BoardFile
import CalibrationCore
import LinearAlgebra
import SensorTypes
import StateStore

/// A stored record as a worker found it on disk, at the start and after every change.
enum KeptRecord: Equatable {
  /// The calibration of a magnetometer.
  case magnetometer(sensor: Int, StoredFinding<AppliedCalibration>)
  /// The bias of a gyro.
  case gyro(sensor: Int, StoredFinding<AppliedGyroBias>)
  /// The level of the board in its carrier, measured by this accelerometer.
  case level(sensor: Int, StoredFinding<Quaternion>)
  /// The last position of an earlier run.
  case position(LastPosition)
  /// An elevation or a QNH that a person has set.
  case altitude(StoredFinding<KnownAltitude>, isFirst: Bool)

  /// Reads the record of a chip from the content of its file.
  init(
    _ kind: CalibrationKind, of index: Int, _ sensor: Board.Sensor, in content: StateFileContent
  ) {
    switch kind {
    case .magnetometer:
      self = .magnetometer(sensor: index, CalibrationStore.finding(content, for: sensor))
    case .gyro: self = .gyro(sensor: index, CalibrationStore.gyroFinding(content, for: sensor))
    case .level: self = .level(sensor: index, CalibrationStore.levelFinding(content, for: sensor))
    }
  }

  /// The kind and the chip of a record that cannot be used, or `nil`.
  var unusable: (kind: CalibrationKind, sensor: Int)? {
    switch self {
    case .magnetometer(let sensor, .unusable): (.magnetometer, sensor)
    case .gyro(let sensor, .unusable): (.gyro, sensor)
    case .level(let sensor, .unusable): (.level, sensor)
    case .magnetometer, .gyro, .level, .position, .altitude: nil
    }
  }
}

/// What was found of each record, so that the same finding counts once. A worker that begins again finds all of them again.
struct FoundRecords {
  private enum Key: Hashable {
    case magnetometer(Int), gyro(Int), level(Int), position, altitude
  }

  private var found: [Key: KeptRecord] = [:]

  /// Takes a record. Returns it if it is news, or `nil`.
  mutating func take(_ record: KeptRecord) -> KeptRecord? {
    var record = record
    let key: Key
    switch record {
    case .magnetometer(let sensor, _): key = .magnetometer(sensor)
    case .gyro(let sensor, _): key = .gyro(sensor)
    case .level(let sensor, _): key = .level(sensor)
    case .position: key = .position
    case .altitude(let finding, _):
      key = .altitude
      if found[key] != nil { record = .altitude(finding, isFirst: false) }
    }
    if let old = found[key] {
      // Positions after the first are this run's.
      if case .position = record { return nil }
      guard !Self.isSame(old, record) else { return nil }
    }
    found[key] = record
    return record
  }

  private static func isSame(_ old: KeptRecord, _ new: KeptRecord) -> Bool {
    if case (.altitude(let old, _), .altitude(let new, _)) = (old, new) { return old == new }
    return old == new
  }
}
