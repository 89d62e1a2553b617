// The calibration records of a board, for a program that calibrates it.

/// The files of the calibration records that are in use.
package struct RecordFiles: Hashable, Codable, Sendable {
  /// The texts of the files, by their names.
  package var files: [String: String]
  /// The folder of the files, or `nil` if they do not outlive the services.
  package var folder: String?
  /// The reason why no record can be stored or read, in one line.
  package var problem: String?

  package init(files: [String: String], folder: String?, problem: String?) {
    (self.files, self.folder, self.problem) = (files, folder, problem)
  }
}

/// A calibration record that is to be stored.
package struct RecordSave: Hashable, Codable, Sendable {
  /// What has become of it.
  package enum Outcome: Hashable, Codable, Sendable {
    /// It is stored.
    case saved
    /// It is stored, but its samples are not, for this reason.
    case withoutSamples(String)
    /// It is not stored, for this reason. `isFile` says whether the disk is the reason.
    case refused(String, isFile: Bool)
  }

  /// The text of the record.
  package var record: String
  /// The samples that it was made of, as text.
  package var samples: String?
  /// Whether it replaces a record that is locked.
  package var overridesLock: Bool

  package init(record: String, samples: String?, overridesLock: Bool) {
    (self.record, self.samples, self.overridesLock) = (record, samples, overridesLock)
  }
}
