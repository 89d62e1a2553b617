// Magnetometers' logs, recognized by this project's own records and fits.

package import CalibrationCore
package import MagnetometerLogs

extension SampleRecognition {
  /// Tells kept samples by their header, and a field by a fit that is accepted.
  package static let calibration = SampleRecognition(
    isKeptHeader: { CalibrationSamples.isHeader($0) },
    keptSample: { CalibrationSamples.sample(of: $0) },
    fieldStrength: { samples in
      let outcome = MagnetometerFitter().fit(samples)
      return outcome.isAccepted ? outcome.fit?.fieldStrength : nil
    })
}

extension SampleTable {
  /// Makes a reader that tells columns by fits.
  ///
  /// - Parameters:
  ///   - columns: The field's columns; without them they are where the file's header says, else the first three
  ///     that hold anything but a time.
  ///   - force: An accelerometer's, where there are some.
  package init(columns: Columns? = nil, force: Columns? = nil) {
    self.init(columns: columns, force: force, recognizing: .calibration)
  }

  /// Why a fit to columns that nobody named is not a magnetometer's, in words: their sphere is gravity's; `nil` where it
  /// is not.
  package func gravity(of outcome: CalibrationOutcome) -> String? {
    guard origin == .assumed || origin == .found, !isOwn, let radius = outcome.fit?.fieldStrength,
      FieldSearch.isGravity(radius)
    else { return nil }
    return
      "columns \(columns) are a sphere of \(KnownStrength.figures(radius)), which is gravity: an accelerometer's. "
      + "Say by --columns where the magnetometer is"
  }
}
