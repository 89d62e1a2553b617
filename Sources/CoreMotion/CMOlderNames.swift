// What Core Motion had under other names: in 2014, and before its enumerations were Swift's.

public import Foundation

/// Something whose axes device motion can be told in: see `CMMotionManager.deviceMotionBody`. A board has no views; nothing
/// conforms to it by itself.
public protocol CMBodyIdentifiable: NSObjectProtocol {}

extension CMAltimeter {
  /// The spelling of 2014 for `startRelativeAltitudeUpdates(to:withHandler:)`.
  @available(*, deprecated, renamed: "startRelativeAltitudeUpdates(to:withHandler:)")
  public func startRelativeAltitudeUpdatesToQueue(
    _ queue: OperationQueue, withHandler handler: @escaping CMAltitudeHandler
  ) { startRelativeAltitudeUpdates(to: queue, withHandler: handler) }
}

/// Not calibrated.
@available(*, deprecated, renamed: "CMMagneticFieldCalibrationAccuracy.uncalibrated")
public var CMMagneticFieldCalibrationAccuracyUncalibrated: CMMagneticFieldCalibrationAccuracy {
  .uncalibrated
}
/// Hardly to be trusted.
@available(*, deprecated, renamed: "CMMagneticFieldCalibrationAccuracy.low")
public var CMMagneticFieldCalibrationAccuracyLow: CMMagneticFieldCalibrationAccuracy { .low }
/// To be trusted somewhat.
@available(*, deprecated, renamed: "CMMagneticFieldCalibrationAccuracy.medium")
public var CMMagneticFieldCalibrationAccuracyMedium: CMMagneticFieldCalibrationAccuracy { .medium }
/// To be trusted.
@available(*, deprecated, renamed: "CMMagneticFieldCalibrationAccuracy.high")
public var CMMagneticFieldCalibrationAccuracyHigh: CMMagneticFieldCalibrationAccuracy { .high }
