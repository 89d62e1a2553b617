// The calibration records of a board, for a program that calibrates it.

/// The files of the calibration records that are in use.
package struct RecordFiles: Hashable, Codable, Sendable {
  /// A place and when the board was there.
  package struct Place: Hashable, Codable, Sendable {
    /// WGS 84, degrees north and east; meters above mean sea level; seconds since 1970.
    package var latitude, longitude, altitude, utc: Double

    package init(latitude: Double, longitude: Double, altitude: Double, utc: Double) {
      (self.latitude, self.longitude) = (latitude, longitude)
      (self.altitude, self.utc) = (altitude, utc)
    }
  }

  /// The texts of the files, by their names.
  package var files: [String: String]
  /// The folder of the files, or `nil` if they do not outlive the services.
  package var folder: String?
  /// The reason why no record can be stored or read, in one line.
  package var problem: String?
  /// Whether this user may not calibrate.
  package var isRefused: Bool
  /// Where the board was last, if that is known and the application may know it exactly.
  package var place: Place?

  package init(
    files: [String: String], folder: String?, problem: String?, place: Place? = nil,
    isRefused: Bool = false
  ) {
    (self.files, self.folder, self.problem, self.place) = (files, folder, problem, place)
    self.isRefused = isRefused
  }
}

/// A calibration record that is to be stored.
package struct RecordSave: Hashable, Codable, Sendable {
  /// What has become of it.
  package enum Outcome: Hashable, Codable, Sendable {
    /// The record is stored, with its samples if there are any.
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
