import CalibrationCore

/// What holds of whatever is read as a calibration record.
package enum RecordChecks {
  /// What is taken is written as it was read.
  package static func record(_ bytes: [UInt8]) -> [String] {
    guard let record = try? StoredRecord(json: bytes) else { return [] }
    guard let written = try? record.encoded() else { return ["it is read and cannot be written"] }
    guard let again = try? StoredRecord(json: written) else {
      return ["what was written is not read"]
    }
    return again == record ? [] : ["what was written is another record"]
  }
}
