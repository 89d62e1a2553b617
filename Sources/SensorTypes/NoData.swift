/// Why there is no value: missing is never zero, and never without a reason.
public enum NoData: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  /// The board has no chip that could give it.
  case notEquipped(String)
  /// No board could be opened; the text says why.
  case noBoard(String)
  /// Nothing was measured yet.
  case notYet
  /// The chip stopped answering; the text is the last error.
  case sensorLost(String)
  /// The magnetometer has no calibration record for this chip.
  case uncalibrated
  /// The field is not the earth's. The text says what was measured. `compared` says it beside the field that was expected here, which
  /// tells roughly where the board is.
  case magneticInterference(String, compared: String? = nil)
  /// Nothing says which way is down, and the board file does not declare the board level.
  case tiltUnknown
  /// No magnetometer; the receiver's course is heading only where a vehicle is declared, by the board file or by an
  /// application's activity.
  case vehicleUndeclared
  /// No position is known, so the angle between magnetic and true north is not known either.
  case positionUnknown
  /// The date is not known (no clock battery, no fix), so the magnetic model has no epoch.
  case dateUnknown
  /// Beyond the magnetic model's reach: near a magnetic pole or outside its years.
  case modelInvalid(String)
  /// The receiver works and has no fix.
  case noFix
  /// The program may not know the board's position, or what follows from it; the text says who decided that.
  case notAuthorized(String)

  /// The reason in words, for a person.
  public var description: String {
    switch self {
    case .notEquipped(let what): "this board has no \(what)"
    case .noBoard(let why): "no board could be opened: \(why)"
    case .notYet: "nothing measured yet"
    case .sensorLost(let why): "sensor lost: \(why)"
    case .uncalibrated: "the magnetometer is not calibrated"
    case .magneticInterference(let what, let compared): compared ?? what
    case .tiltUnknown: "tilt unknown: no accelerometer, and the board is not declared level"
    case .vehicleUndeclared:
      "this board has no magnetometer; in a vehicle that points the way it goes the course gives heading: "
        + "`vehicle: true` in the board file, or activityType, declares one"
    case .positionUnknown: "position unknown: declination needs one"
    case .dateUnknown: "date unknown: no fix yet and the clock is not set"
    case .modelInvalid(let why): why
    case .noFix: "no fix"
    case .notAuthorized(let why): why
    }
  }

  /// Whether a loss of a sensor, which names the chip first, is over with the news of a sensor.
  package func ends(with status: SensorStatus) -> Bool {
    guard status.state == .running, case .sensorLost(let why) = self else { return false }
    return why.hasPrefix("\(status.chip): ")
  }

  /// The reason without what tells where the board is, for a program that may not know it.
  package var withoutPlace: NoData {
    if case .magneticInterference(let what, _) = self { .magneticInterference(what) } else { self }
  }
}
