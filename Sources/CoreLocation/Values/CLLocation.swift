// A location as the SDK hands it out.

public import Foundation
import Geodesy
import LocationServices
public import SensorTypes

/// A position with height, course and speed, each with its accuracy. It does not change.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the
  // SDK's is.

  private struct Values: Sendable {
    var coordinate: CLLocationCoordinate2D
    var altitude: CLLocationDistance
    var ellipsoidalAltitude = CLLocationDistance.nan
    var horizontalAccuracy: CLLocationAccuracy
    var verticalAccuracy: CLLocationAccuracy
    var course: CLLocationDirection = -1
    var courseAccuracy: CLLocationDirectionAccuracy = -1
    var speed: CLLocationSpeed = -1
    var speedAccuracy: CLLocationSpeedAccuracy = -1
    var timestamp: Date
    var sourceInformation: CLLocationSourceInformation?
    var fixKind: FixKind?
  }

  private let values: Values

  /// Where; valid if `horizontalAccuracy` is not negative.
  open var coordinate: CLLocationCoordinate2D { values.coordinate }
  /// Height above mean sea level, metres; valid if `verticalAccuracy` is positive.
  open var altitude: CLLocationDistance { values.altitude }
  /// Height above the WGS 84 ellipsoid, metres; NaN where it is not known.
  open var ellipsoidalAltitude: CLLocationDistance { values.ellipsoidalAltitude }
  /// Radius of the circle that holds the truth in 68 % of cases, metres; negative: no valid position.
  open var horizontalAccuracy: CLLocationAccuracy { values.horizontalAccuracy }
  /// One sigma of the heights, metres; negative: no valid height.
  open var verticalAccuracy: CLLocationAccuracy { values.verticalAccuracy }
  /// Direction of travel, degrees from true north; negative: not known.
  open var course: CLLocationDirection { values.course }
  /// One sigma of the course, degrees; negative: not known.
  open var courseAccuracy: CLLocationDirectionAccuracy { values.courseAccuracy }
  /// Speed over ground, m/s; negative: not known.
  open var speed: CLLocationSpeed { values.speed }
  /// One sigma of the speed, m/s; negative: not known.
  open var speedAccuracy: CLLocationSpeedAccuracy { values.speedAccuracy }
  /// When it was true.
  open var timestamp: Date { values.timestamp }
  /// Where it comes from; `nil` for one that the application has made.
  open var sourceInformation: CLLocationSourceInformation? { values.sourceInformation }

  /// How the position came about: by satellites alone, with corrections, by dead reckoning; `nil` where the receiver does not
  /// report it, and for a location that the application has made. Lodestone's addition to the class.
  public final var fixKind: FixKind? { values.fixKind }

  /// The storey of a building; no board knows it.
  open var floor: CLFloor? { nil }

  /// No position: zero degrees north and east with a negative accuracy. It is there for subclasses.
  public override init() {
    values = Values(
      coordinate: CLLocationCoordinate2D(), altitude: 0, horizontalAccuracy: -1,
      verticalAccuracy: -1, timestamp: Date())
    super.init()
  }

  /// A position without anything else, true now.
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    values = Values(
      coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
      horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
    super.init()
  }

  /// A position with height; course and speed are not known.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    values = Values(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, timestamp: timestamp)
    super.init()
  }

  /// A position with height, course and speed; the accuracies of the last two are not known.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    speed: CLLocationSpeed, timestamp: Date
  ) {
    values = Values(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, speed: speed, timestamp: timestamp)
    super.init()
  }

  /// A position with height, course, speed and all accuracies.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date
  ) {
    values = Values(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
      speedAccuracy: speedAccuracy, timestamp: timestamp)
    super.init()
  }

  /// The same, and where it comes from.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date,
    sourceInfo: CLLocationSourceInformation
  ) {
    values = Values(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
      speedAccuracy: speedAccuracy, timestamp: timestamp, sourceInformation: sourceInfo)
    super.init()
  }

  // What is missing becomes a negative accuracy; a signed value beside it is then no value.
  init(_ report: LocationReport, timestamp: Date) {
    values = Values(
      coordinate: CLLocationCoordinate2D(
        latitude: report.position.latitude, longitude: report.position.longitude),
      altitude: report.altitude ?? 0,
      ellipsoidalAltitude: report.ellipsoidalAltitude ?? .nan,
      horizontalAccuracy: report.horizontalAccuracy ?? -1,
      verticalAccuracy: report.altitude == nil ? -1 : report.verticalAccuracy ?? -1,
      course: report.course ?? -1, courseAccuracy: report.courseAccuracy ?? -1,
      speed: report.speed ?? -1, speedAccuracy: report.speedAccuracy ?? -1, timestamp: timestamp,
      sourceInformation: CLLocationSourceInformation(
        softwareSimulationState: report.isSimulated, andExternalAccessoryState: false),
      fixKind: report.kind)
    super.init()
  }

  /// The length of the shortest line over the WGS 84 ellipsoid to `location`, metres; heights do not
  /// count.
  open func distance(from location: CLLocation) -> CLLocationDistance {
    Geodesic.inverse(
      from: Position(latitude: coordinate.latitude, longitude: coordinate.longitude),
      to: Position(
        latitude: location.coordinate.latitude, longitude: location.coordinate.longitude)
    ).distance
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  private var numbers: [Double] {
    [
      coordinate.latitude, coordinate.longitude, altitude, ellipsoidalAltitude, horizontalAccuracy,
      verticalAccuracy, course, courseAccuracy, speed, speedAccuracy,
      timestamp.timeIntervalSinceReferenceDate,
    ]
  }

  /// Whether the other is a location with the same values.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLLocation else { return false }
    // By bits, so that a height that is not known equals itself.
    return numbers.map(\.bitPattern) == other.numbers.map(\.bitPattern)
      && sourceInformation == other.sourceInformation && fixKind == other.fixKind
  }

  /// A hash over the values.
  open override var hash: Int {
    var hasher = Hasher()
    for number in numbers { hasher.combine(number.bitPattern) }
    return hasher.finalize()
  }

  /// Position, accuracy, speed, course and time, as the SDK prints them.
  open override var description: String {
    let formatter = DateFormatter()
    formatter.dateStyle = .short
    formatter.timeStyle = .full
    let place = String(
      format: "<%+.8f,%+.8f> +/- %.2fm (speed %.2f mps / course %.2f)", coordinate.latitude,
      coordinate.longitude, horizontalAccuracy, speed, course)
    return "\(place) @ \(formatter.string(from: timestamp))"
  }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the values.
  open func encode(with coder: NSCoder) {
    coder.encode(numbers: numbers)
    coder.encode(sourceInformation, forKey: "source")
    coder.encode(fixKind.map { $0.rawValue as NSString }, forKey: "fixKind")
  }

  /// Reads the values; `nil` where one is missing.
  public required init?(coder: NSCoder) {
    guard let numbers = coder.numbers(11) else { return nil }
    let source = coder.decodeObject(of: CLLocationSourceInformation.self, forKey: "source")
    let kind = coder.text(forKey: "fixKind")
    values = Values(
      coordinate: CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1]),
      altitude: numbers[2], ellipsoidalAltitude: numbers[3], horizontalAccuracy: numbers[4],
      verticalAccuracy: numbers[5], course: numbers[6], courseAccuracy: numbers[7],
      speed: numbers[8], speedAccuracy: numbers[9],
      timestamp: Date(timeIntervalSinceReferenceDate: numbers[10]), sourceInformation: source,
      fixKind: kind.flatMap(FixKind.init))
    super.init()
  }
}
