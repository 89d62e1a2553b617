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

  /// Keeps the samples that the record for a chip was made of, atomically; those of the record before it
  /// are gone then.
  public func save(_ samples: CalibrationSamples, chip: String, position: String) throws {
    try StateFile.write(samples.encoded(), to: samplesFile(chip: chip, position: position))
  }

  /// The samples behind this machine's record for a chip.
  public func samples(chip: String, position: String) -> KeptSamples {
    switch StateFile.read(samplesFile(chip: chip, position: position).path) {
    case .missing: return .none
    case .unreadable(let why): return .unusable(why)
    case .bytes(let bytes):
      do {
        return .samples(try CalibrationSamples(csv: bytes))
      } catch {
        return .unusable("\(error)")
      }
    }
  }
}
