// The samples beside the records: calibrations/samples/<the record's own name>.csv.

public import CalibrationCore
public import Foundation

extension CalibrationStore {
  /// What is kept of the samples that a record was made of.
  public enum KeptSamples: Sendable, Equatable {
    /// Nothing is.
    case none
    /// These.
    case samples(CalibrationSamples)
    /// There is a file that cannot be used, and why.
    case unusable(String)
  }

  /// The file of the samples behind this machine's record for a chip.
  public func samplesFile(chip: String, position: String) -> URL {
    let record = file(chip: chip, position: position)
    let name = record.deletingPathExtension().lastPathComponent
    return record.deletingLastPathComponent().appending(path: "samples").appending(
      path: name + ".csv")
  }

  /// Stores a record with the samples that it was made of; those of the record before it are gone then.
  ///
  /// Throws what `save(_:overridingLock:)` throws. Where only the samples cannot be written, the record stands
  /// all the same: it is what counts, and no other record's samples are taken for its own.
  public func save(
    _ record: CalibrationRecord, samples: CalibrationSamples, overridingLock: Bool = false
  ) throws {
    let record = StoredRecord.magnetometer(record)
    let bytes = try record.encoded()
    try StateFile.makeFolder(folder.path)
    let lock = FolderLock(folder)
    defer { withExtendedLifetime(lock) {} }
    try saveInLock(record, bytes, overridingLock: overridingLock)
    try write(samples, of: record, Key(record))
  }

  /// Keeps the samples that the record in use was made of, atomically; those that were there are gone then.
  /// Without a record they are kept as nobody's.
  public func save(_ samples: CalibrationSamples, chip: String, position: String) throws {
    try StateFile.makeFolder(folder.path)
    let lock = FolderLock(folder)
    defer { withExtendedLifetime(lock) {} }
    let key = Key(.magnetometer, chip: chip, position: position)
    try write(samples, of: record(key), key)
  }

  /// The samples behind this machine's record for a chip; `unusable` where they name another record.
  public func samples(chip: String, position: String) -> KeptSamples {
    let bytes: [UInt8]
    switch StateFile.read(samplesFile(chip: chip, position: position).path) {
    case .missing: return .none
    case .unreadable(let why): return .unusable(why)
    case .bytes(let read): bytes = read
    }
    let key = Key(.magnetometer, chip: chip, position: position)
    // Samples that name nobody were kept without a record.
    if bytes.first == UInt8(ascii: "#") {
      let owner = Array(bytes.prefix { $0 != UInt8(ascii: "\n") })
      guard let record = record(key), owner == Self.owner(record) else {
        return .unusable("they are those of another record")
      }
    }
    do {
      return .samples(try CalibrationSamples(csv: bytes))
    } catch {
      return .unusable("\(error)")
    }
  }

  func removeSamples(_ key: Key) {
    guard key.kind == .magnetometer else { return }
    StateFile.remove(samplesFile(chip: key.chip, position: key.position))
  }

  private func write(_ samples: CalibrationSamples, of record: StoredRecord?, _ key: Key) throws {
    let owner = record.map { Self.owner($0) + [UInt8(ascii: "\n")] } ?? []
    try StateFile.write(
      owner + samples.encoded(), to: samplesFile(chip: key.chip, position: key.position))
  }

  private func record(_ key: Key) -> StoredRecord? {
    if case .record(let record) = current(key) { record } else { nil }
  }

  /// The line that names the record that samples belong to, without its end: a record's words hold no line
  /// break. It is short enough for the file to stay below 64 KiB.
  private static func owner(_ record: StoredRecord) -> [UInt8] {
    guard case .magnetometer(let record) = record else { return [] }
    let words = "# record of \(record.date), \(record.method), \(record.samples) samples"
    return Array(words.utf8.prefix(1_000))
  }
}
