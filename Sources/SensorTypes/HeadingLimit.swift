/// The largest source of error in a heading's accuracy.
public enum HeadingLimit: String, Sendable, Hashable, Codable, CaseIterable, CustomStringConvertible
{
  /// The magnetometer's calibration leaves an offset open. With a gyro, turning the board about all axes shows it;
  /// otherwise a new calibration helps. A new calibration that is being blended in counts here too.
  case calibration
  /// Iron nearby bends the field, or did so a while ago.
  case iron
  /// The board accelerates, and an acceleration cannot be told from a tilt.
  case acceleration
  /// The gyro holds the heading, because north was found a moment ago or the field cannot be used.
  case gyro
  /// The board has no gyro, and its heading lags behind its motion.
  case motion
  /// The forward (y) axis points so steeply up or down that a small tilt error turns its heading far.
  case elevation
  /// The board's axes are known only as well as it is mounted, or declared level.
  case mounting
  /// The antennas, or the compass, that measure the heading, or that contradict it.
  case antennas
  /// The last known position is old or uncertain, and so is the declination that true heading needs.
  case declination

  /// A clause that names the source of error and, where there is one, the remedy.
  public var description: String {
    switch self {
    case .calibration: "calibration limits the accuracy: turn about all axes, or calibrate"
    case .iron: "iron nearby limits the accuracy: move away from steel and magnets"
    case .acceleration: "acceleration limits the accuracy: hold the board still for 10 s"
    case .gyro: "the accuracy is limited until north was measured for a few seconds"
    case .motion: "motion without a gyro limits the accuracy: hold the board still"
    case .elevation: "a forward axis that points up or down limits the accuracy: check mount"
    case .mounting: "the mount, or a declared level, limits the accuracy"
    case .antennas:
      "the antennas limit the accuracy, or contradict the gyro"
    case .declination: "an old position limits the accuracy: wait for a fix"
    }
  }
}
