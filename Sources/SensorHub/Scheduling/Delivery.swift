import SensorTypes

/// What a worker hands to the pipeline at the end of a step, in order.
enum WorkerOutput {
  case reading(SensorReading)
  /// A sensor has measured something that is beyond its range.
  case beyondRange(sensor: Int, at: Timestamp)
  case fix(sensor: Int, GNSSFix)
  /// A round of satellites; only while somebody wants them.
  case sky(sensor: Int, GNSSSky)
  /// Which way a receiver's antennas, or an instrument on its line, point.
  case receiverHeading(sensor: Int, ReceiverHeading)
  /// Whether a chip with a gyro says how it turns; it does while nothing is said.
  case givesRate(sensor: Int, Bool)
  case status(SensorStatus)
  /// What a sensor has counted so far; its state is as it was.
  case counters(sensor: Int, SensorCounters)
  /// What a sensor says that it is.
  case identity(sensor: Int, SensorIdentity)
  /// How a receiver is connected and set.
  case link(sensor: Int, ReceiverLink)
  /// What the system believes the date to be, seconds since 1970, and whether somebody who knows has set it.
  case wallTime(Double, isSet: Bool, at: Timestamp)
  /// A record that is kept on disk is known, or is another one now.
  case record(KeptRecord, at: Timestamp)
  /// Whether the board is declared to point the way it goes.
  case followsCourse(Bool)
  /// What is wanted of the chips that feel motion.
  case motion(MotionDemand, at: Timestamp)
  /// Whether heave and sea state are wanted.
  case waves(Bool, at: Timestamp)
  case diagnostic(String, at: Timestamp)
}
