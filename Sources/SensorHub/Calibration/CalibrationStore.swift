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
    let position = sensor.attachment.description
    let file = file(chip: sensor.chip, position: position)
    guard FileManager.default.fileExists(atPath: file.path) else { return .none }
    return load(file, chip: sensor.chip, position: position)
  }

  /// Stores a record for the chip it belongs to: written beside, forced to the disk, then renamed, so
  /// that a power cut leaves the old one or the new one.
  public func save(_ record: CalibrationRecord) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = file(chip: record.chip, position: record.busPosition)
    let temporary = file.appendingPathExtension("new")
    try Data(record.encoded()).write(to: temporary)
    let handle = try FileHandle(forWritingTo: temporary)
    try handle.synchronize()
    try handle.close()
    guard rename(temporary.path, file.path) == 0 else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path])
    }
  }

  private func load(_ file: URL, chip: String, position: String) -> Finding {
    do {
      let record = try CalibrationRecord(json: Array(try Data(contentsOf: file)))
      guard record.matches(chip: chip, busPosition: position) else {
        return .unusable("\(file.path): the record belongs to \(record.chip) at another place")
      }
      return .record(record.applied)
    } catch {
      return .unusable("\(file.path): \(error)")
    }
  }
}

/// Where this machine keeps what outlives a run.
public enum StateDirectory {
  /// `$STATE_DIRECTORY` (systemd), else `$XDG_STATE_HOME/lodestone`, else `~/.local/state/lodestone`.
  public static func current(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> URL {
    // systemd separates several by colons; ours is the first.
    if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
      return URL(filePath: String(given))
    }
    if let home = environment["XDG_STATE_HOME"], !home.isEmpty {
      return URL(filePath: home).appending(path: "lodestone")
    }
    return FileManager.default.homeDirectoryForCurrentUser
      .appending(path: ".local/state/lodestone")
  }
}
