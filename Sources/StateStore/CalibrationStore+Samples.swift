// The samples beside the records: calibrations/samples/<the record's own name>.csv.

package import CalibrationCore
package import FoundationEssentials

extension CalibrationStore {
  /// What is kept of the samples that a record was made of.
  package enum KeptSamples: Sendable, Equatable {
    case none
    case samples(CalibrationSamples)
    /// There is a file that cannot be used, and why.
    case unusable(String)
  }

  /// The file of the samples behind this machine's record for a chip.
  package func samplesFile(chip: String, position: String) -> URL {
    let record = file(chip: chip, position: position)
    let name = record.deletingPathExtension().lastPathComponent
    return record.deletingLastPathComponent().appending(path: "samples").appending(
      path: name + ".csv")
  }

  /// The samples behind this machine's record for a chip; `unusable` where they name another record.
  package func samples(chip: String, position: String) -> KeptSamples {
    let bytes: [UInt8]
    switch StateFile.read(samplesFile(chip: chip, position: position).path) {
    case .missing: return .none
    case .unreadable(let why): return .unusable(why)
    case .bytes(let read): bytes = read
    }
    let key = CalibrationKey(.magnetometer, chip: chip, position: position)
    // Samples that name nobody were put there by hand.
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

  func removeSamples(_ key: CalibrationKey) {
    guard key.kind == .magnetometer else { return }
    StateFile.remove(samplesFile(chip: key.chip, position: key.position))
  }

  func write(_ samples: CalibrationSamples, of record: StoredRecord) throws {
    try StateFile.write(
      Self.owner(record) + [UInt8(ascii: "\n")] + samples.encoded(),
      to: samplesFile(chip: record.chip, position: record.busPosition))
  }

  private func record(_ key: CalibrationKey) -> StoredRecord? {
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
