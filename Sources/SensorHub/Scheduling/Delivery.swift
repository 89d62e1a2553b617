import SensorTypes

/// What a worker hands to the pipeline at the end of a step, in order.
enum Delivery {
  /// A sample, and the edge that announced it where the chip has an interrupt line.
  case reading(sensor: Int, Sample<Reading>, edge: Timestamp?)
  case fix(sensor: Int, GNSSFix)
  case status(SensorStatus)
  /// What the system believes the date to be, seconds since 1970.
  case wallTime(Double, at: Timestamp)
  /// The calibration of a magnetometer is known, or is another one now.
  case calibration(sensor: Int, CalibrationStore.Finding, at: Timestamp)
  /// Where the board was last, before this run.
  case lastPosition(LastPosition)
  case diagnostic(String, at: Timestamp)
}
