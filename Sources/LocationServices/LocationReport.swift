// A position on its way to a client.

public import Geodesy
public import SensorTypes

/// A position as a client gets it; what is not known is `nil`.
public struct LocationReport: Hashable, Codable, Sendable {
  /// When it was true, on the monotonic clock.
  public var time: Timestamp
  /// UTC by the receiver, seconds since 1970.
  public var utc: Double?
  /// Where, WGS 84.
  public var position: Position
  /// Radius of the circle that holds the truth in 68 % of cases, metres.
  public var horizontalAccuracy: Double?
  /// Height above mean sea level, metres.
  public var altitude: Double?
  /// Height above the ellipsoid, metres.
  public var ellipsoidalAltitude: Double?
  /// One sigma of the heights, metres; `nil` says that the heights are not measured.
  public var verticalAccuracy: Double?
  /// Speed over ground, m/s.
  public var speed: Double?
  /// One sigma of the speed, m/s.
  public var speedAccuracy: Double?
  /// Direction of travel, degrees from true north, 0 up to 360.
  public var course: Double?
  /// One sigma of the course, degrees.
  public var courseAccuracy: Double?
  /// How it came about; `nil` where the receiver does not report it.
  public var kind: FixKind?
  /// Whether the board that measured it is simulated or replayed.
  public var isSimulated: Bool

  /// Makes the report of an estimate, or `nil` where it holds no position on earth.
  package init?(_ estimate: LocationEstimate) {
    func finite(_ value: Double?) -> Double? { value.flatMap { $0.isFinite ? $0 : nil } }
    func positive(_ value: Double?) -> Double? { finite(value).flatMap { $0 >= 0 ? $0 : nil } }
    let fix = estimate.fix
    guard fix.isValid, let latitude = fix.latitude, let longitude = fix.longitude,
      abs(latitude) <= 90, abs(longitude) <= 180
    else { return nil }
    time = fix.moment(latency: 0)
    utc = finite(fix.utc)
    position = Position(latitude: latitude, longitude: longitude)
    horizontalAccuracy = positive(fix.horizontalAccuracy)
    altitude = finite(fix.altitude)
    ellipsoidalAltitude = finite(fix.ellipsoidalAltitude)
    // In a two-dimensional fix the receiver has assumed its height.
    let isMeasured = fix.mode == .threeDimensional && (altitude ?? ellipsoidalAltitude) != nil
    verticalAccuracy = isMeasured ? positive(fix.verticalAccuracy) : nil
    speed = positive(fix.speed)
    speedAccuracy = positive(fix.speedAccuracy)
    course = positive(fix.course)
    courseAccuracy = positive(fix.courseAccuracy)
    kind = fix.kind
    isSimulated = estimate.isSimulated
  }
}
