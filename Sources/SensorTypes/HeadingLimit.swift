/// The largest source of error in a heading's accuracy.
public enum HeadingLimit: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
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
  /// The last known position is old or uncertain, and so is the declination that true heading needs.
  case declination

  /// A clause that names the source of error and, where there is one, the remedy.
  public var description: String {
    switch self {
    case .calibration: "accuracy limited by the calibration; calibrate again to improve it"
    case .iron: "accuracy limited by iron nearby; move away from steel and magnets"
    case .acceleration: "accuracy limited by acceleration; hold the board still for a moment"
    case .gyro: "accuracy limited by the gyro until north is measured better"
    case .motion: "accuracy limited by motion without a gyro; hold the board still"
    case .elevation: "accuracy limited by a forward axis that points up or down; check mount"
    case .mounting: "accuracy limited by the mounting"
    case .declination: "accuracy limited by an old position; wait for a fix"
    }
  }
}
