package import CalibrationCore
package import FoundationEssentials
import SensorTypes

/// What was found of a record for a chip.
package enum StoredFinding<Applied: Sendable & Equatable>: Sendable, Equatable {
  /// There is no record.
  case none
  /// A record, good and of this chip.
  case record(Applied)
  /// A record that cannot be used, and why.
  case unusable(String)

  package var isUnusable: Bool {
    if case .unusable = self { true } else { false }
  }
}

/// The calibration records of this machine: one file a chip and kind in the state directory, and beside them
/// what was in each file before.
///
/// A record applies to one chip at one place. One that is damaged or belongs elsewhere is reported and
/// not applied, never half.
///
/// Every file is whole at every moment, whoever reads it and whenever the power goes. Processes that change
/// the folder wait for each other, half a minute at most, and throw `FileProblem` then with nothing changed; of two
/// that save at once the last one's record stays, the other's is in the history.
package struct CalibrationStore: Sendable {
  /// The folder that holds the records of this machine.
  package let folder: URL
  /// How long another process that changes the folder is waited for, seconds.
  var patience = FolderLock.patience

  /// Makes a store.
  ///
  /// - Parameter stateDirectory: `StateDirectory.current()` on a board; a folder of its own in a test.
  package init(stateDirectory: URL) {
    folder = stateDirectory.appending(path: "calibrations")
  }

  /// The same for a hub, which nothing may keep for long.
  package var forHub: CalibrationStore {
    var store = self
    store.patience = FolderLock.hubPatience
    return store
  }

  /// A record that nothing may take the place of unless a person says so.
  package struct Locked: Error, Sendable, Hashable, CustomStringConvertible {
    package let key: CalibrationKey
    /// Whether it is one that cannot be used here (a newer version's), and not unlocked either.
    package let isStranger: Bool

    init(key: CalibrationKey, isStranger: Bool = false) {
      self.key = key
      self.isStranger = isStranger
    }

    /// The message, in one line.
    package var description: String {
      isStranger
        ? "the record of \(key) is locked, and cannot be used here: --force, or the version that made it"
        : "the record of \(key) is locked. Unlock it (lodestone calibrate unlock \(key.chip)"
          + "\(key.kind == .magnetometer ? "" : " --kind \(key.kind.rawValue)")), or add --force"
    }
  }

  /// The file of this machine's record for a magnetometer.
  package func file(chip: String, position: String) -> URL {
    file(CalibrationKey(.magnetometer, chip: chip, position: position))
  }

  /// The file of this machine's record.
  package func file(_ key: CalibrationKey) -> URL { folder.appending(path: key.stem + ".json") }

  /// The record that is in use, whole; `unusable` where it is damaged or belongs to another chip.
  package func current(_ key: CalibrationKey) -> StoredFinding<StoredRecord> {
    Self.finding(StateFile.read(file(key).path), key) { $0 }
  }

  /// Stores a record for the chip it belongs to: the one before goes to the history; a file that cannot be used is put
  /// out of the way, whatever is in it.
  ///
  /// Throws `Locked` where the one before is locked and `overridingLock` is false, and `SamplesNotKept` where the record
  /// is stored and only its samples could not be.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - samples: What a magnetometer's was made of; without them it has none, and those of the record before are gone
  ///     all the same.
  ///   - overridingLock: Whether it takes a locked one's place too.
  package func save(
    _ record: StoredRecord, samples: CalibrationSamples? = nil, overridingLock: Bool = false
  ) throws {
    try save(record, samples: samples, overridingLock: overridingLock) { _ in true }
  }

  /// Stores a record in the place of the one that it was held against, with `finding` what `current` said then; throws
  /// `Superseded` where another one is in use by now: that one nobody has judged.
  package func save(
    _ record: StoredRecord, samples: CalibrationSamples,
    inPlaceOf finding: StoredFinding<StoredRecord>
  ) throws {
    try save(record, samples: samples, overridingLock: false) { $0 == finding }
  }

  private func save(
    _ record: StoredRecord, samples: CalibrationSamples?, overridingLock: Bool,
    where isExpected: (StoredFinding<StoredRecord>) -> Bool
  ) throws {
    let key = CalibrationKey(record)
    let bytes = try record.encoded()
    try StateFile.makeFolder(folder.path)
    StateFolder(folder.deletingLastPathComponent()).close()
    let lock = try FolderLock(folder, patience: patience)
    defer { withExtendedLifetime(lock) {} }
    let present = current(key)
    guard isExpected(present) else { throw Superseded(key: key) }
    var isNew = true
    switch present {
    case .record(let before):
      guard overridingLock || !before.isLocked else { throw Locked(key: key) }
      isNew = !before.saysTheSame(as: record)
      if isNew { try keep(before) }
    case .unusable:
      try clearTheWay(key, overridingLock: overridingLock)
    case .none: break
    }
    try StateFile.write(bytes, to: file(key))
    // Only now: a cut in between leaves samples that name another record, and those are not taken for this one's.
    if let samples {
      do {
        try write(samples, of: record)
      } catch {
        throw SamplesNotKept(reason: "\(error)")
      }
    } else if isNew {
      removeSamples(key)
    }
  }

  /// Stores a magnetometer's record.
  package func save(
    _ record: CalibrationRecord, samples: CalibrationSamples? = nil, overridingLock: Bool = false
  ) throws {
    try save(.magnetometer(record), samples: samples, overridingLock: overridingLock)
  }

  /// A record was stored, and what it was made of was not: a report has nothing to draw.
  package struct SamplesNotKept: Error, Sendable, Hashable, CustomStringConvertible {
    package let reason: String

    package init(reason: String) { self.reason = reason }

    /// The message, in one line.
    package var description: String { "the samples were not kept: \(reason)" }
  }

  /// Another record is in use than the one that was to be replaced.
  struct Superseded: Error, Hashable, CustomStringConvertible {
    let key: CalibrationKey
    var description: String { "the record of \(key) has changed meanwhile" }
  }

  /// What keeps what is stored of a chip, a record, or what cannot be used here (a newer version's) and says that it is
  /// locked; `nil` where nothing does.
  package func lock(of key: CalibrationKey) -> Locked? {
    switch current(key) {
    case .record(let record): record.isLocked ? Locked(key: key) : nil
    case .unusable: isStrangerLocked(key) ? Locked(key: key, isStranger: true) : nil
    case .none: nil
    }
  }

  /// Throws what a save would fail on at once: a folder that cannot be made, or that nobody may write to. Nothing that
  /// is in it changes.
  package func rehearseSave(of key: CalibrationKey) throws { try StateFile.rehearse(file(key)) }

  /// Locks a record or unlocks it. Returns what is in use now; throws where there is none.
  @discardableResult
  package func setLock(_ isLocked: Bool, _ key: CalibrationKey) throws -> StoredRecord {
    let lock = try FolderLock(folder, patience: patience)
    defer { withExtendedLifetime(lock) {} }
    switch current(key) {
    case .none: throw NoRecord(key: key, reason: nil)
    case .unusable(let why): throw NoRecord(key: key, reason: why)
    case .record(var record):
      record.isLocked = isLocked
      try StateFile.write(try record.encoded(), to: file(key))
      return record
    }
  }

  /// There is no record of a chip, or none that can be used.
  package struct NoRecord: Error, Sendable, Hashable, CustomStringConvertible {
    package let key: CalibrationKey
    /// Why the one that is there cannot be used.
    package let reason: String?
    /// The message, in one line.
    package var description: String {
      reason.map { "the record of \(key) cannot be used: \($0)" } ?? "there is no record of \(key)"
    }
  }

  package static func finding<Applied>(
    _ content: StateFileContent, _ key: CalibrationKey, _ applied: (StoredRecord) -> Applied?
  ) -> StoredFinding<Applied> {
    let bytes: [UInt8]
    switch content {
    case .missing: return .none
    case .unreadable(let why): return .unusable(why)
    case .bytes(let read): bytes = read
    }
    do {
      let record = try StoredRecord(json: bytes)
      guard record.kind == key.kind else {
        return .unusable("it is a record of a \(record.kind.rawValue)")
      }
      guard CalibrationKey(record) == key else {
        return .unusable("the record belongs to \(record.chip) at \(record.busPosition)")
      }
      return applied(record).map { .record($0) } ?? .unusable("it is of no use here")
    } catch {
      return .unusable("\(error)")
    }
  }
}

/// Whose record it is: a kind, a chip and its place.
package struct CalibrationKey: Sendable, Hashable, CustomStringConvertible {
  /// What it is of.
  package var kind: CalibrationKind
  /// The chip's name, as in a board file.
  package var chip: String
  /// Where it is: `/dev/i2c-1:0x1e`.
  package var position: String

  package init(_ kind: CalibrationKind, chip: String, position: String) {
    self.kind = kind
    self.chip = chip
    self.position = position
  }

  /// The key of a record.
  package init(_ record: StoredRecord) {
    self.init(record.kind, chip: record.chip, position: record.busPosition)
  }

  /// For messages: `magnetometer LIS3MDL at /dev/i2c-1:0x1c`.
  package var description: String { "\(kind.rawValue) \(chip) at \(position)" }

  /// The file's name without `.json`: chip and place, with what a path may not hold replaced.
  var stem: String {
    let name = "\(chip)@\(position)".map { character in
      character.isASCII
        && (character.isLetter || character.isNumber || "-_@.".contains(character))
        ? character : "_"
    }
    return String(name) + (kind == .magnetometer ? "" : ".\(kind.rawValue)")
  }
}
