public import CalibrationCore
public import Foundation
public import SensorTypes

/// The calibration records of this machine: one file a chip in the state directory.
///
/// A record applies to one chip at one place. One that is damaged or belongs elsewhere is reported and
/// not applied, never half.
public struct CalibrationStore: Sendable {
  /// The folder that holds the records of this machine.
  public let folder: URL
  /// Makes a store.
  ///
  /// - Parameter stateDirectory: `StateDirectory.current()` on a board; a folder of its own in a test.
  public init(stateDirectory: URL) {
    folder = stateDirectory.appending(path: "calibrations")
  }

  /// What was found for a chip.
  public enum Finding: Sendable, Equatable {
    /// There is no record.
    case none
    /// A record, good and of this chip.
    case record(AppliedCalibration)
    /// A record that cannot be used, and why.
    case unusable(String)
  }

  /// The file of this machine's record for a chip: its name and place, with what a path may not hold
  /// replaced.
  public func file(chip: String, position: String) -> URL {
    let name = "\(chip)@\(position)".map { character in
      character.isASCII && (character.isLetter || character.isNumber || "-_@.".contains(character))
        ? character : "_"
    }
    return folder.appending(path: String(name) + ".json")
  }

  /// The record for a chip at its place.
  public func find(_ sensor: Board.Sensor) -> Finding {
    Self.finding(StateFile.read(file(of: sensor).path), for: sensor)
  }

  func file(of sensor: Board.Sensor) -> URL {
    file(chip: sensor.chip, position: sensor.attachment.description)
  }

  /// Stores a record for the chip it belongs to, atomically.
  public func save(_ record: CalibrationRecord) throws {
    try StateFile.write(
      try record.encoded(), to: file(chip: record.chip, position: record.busPosition))
  }

  /// What a record's file means for a chip.
  static func finding(_ content: StateFile.Content, for sensor: Board.Sensor) -> Finding {
    let bytes: [UInt8]
    switch content {
    case .missing: return .none
    case .unreadable(let why): return .unusable(why)
    case .bytes(let read): bytes = read
    }
    do {
      let record = try CalibrationRecord(json: bytes)
      guard record.matches(chip: sensor.chip, busPosition: sensor.attachment.description) else {
        return .unusable("the record belongs to \(record.chip) at \(record.busPosition)")
      }
      return .record(record.applied)
    } catch {
      return .unusable("\(error)")
    }
  }
}
