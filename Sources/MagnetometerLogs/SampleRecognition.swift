package import SensorTypes

/// What a table of samples cannot tell by itself: it is asked of the calibration.
package struct SampleRecognition: Sendable {
  /// Whether a line is the header of samples that are kept beside a record.
  package let isKeptHeader: @Sendable ([UInt8]) -> Bool
  /// Reads a line behind that header; `nil` for what is no sample.
  package let keptSample: @Sendable ([UInt8]) -> CalibrationSample?
  /// The field strength of samples that lie on an ellipsoid, in their own unit; `nil` where no fit is accepted.
  package let fieldStrength: @Sendable ([CalibrationSample]) -> Double?

  package init(
    isKeptHeader: @escaping @Sendable ([UInt8]) -> Bool,
    keptSample: @escaping @Sendable ([UInt8]) -> CalibrationSample?,
    fieldStrength: @escaping @Sendable ([CalibrationSample]) -> Double?
  ) {
    self.isKeptHeader = isKeptHeader
    self.keptSample = keptSample
    self.fieldStrength = fieldStrength
  }
}
