// A location as the SDK hands it out.

public import Foundation
import Geodesy
import LocationServices

/// A position with height, course and speed, each with its accuracy. It does not change.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the
  // SDK's is.

  /// Where; valid if `horizontalAccuracy` is not negative.
  public let coordinate: CLLocationCoordinate2D
  /// Height above mean sea level, metres; valid if `verticalAccuracy` is positive.
  public let altitude: CLLocationDistance
  /// Height above the WGS 84 ellipsoid, metres; NaN where it is not known.
  public let ellipsoidalAltitude: CLLocationDistance
  /// Radius of the circle that holds the truth in 68 % of cases, metres; negative: no valid position.
  public let horizontalAccuracy: CLLocationAccuracy
  /// One sigma of the heights, metres; negative: no valid height.
  public let verticalAccuracy: CLLocationAccuracy
  /// Direction of travel, degrees from true north; negative: not known.
  public let course: CLLocationDirection
  /// One sigma of the course, degrees; negative: not known.
  public let courseAccuracy: CLLocationDirectionAccuracy
  /// Speed over ground, m/s; negative: not known.
  public let speed: CLLocationSpeed
  /// One sigma of the speed, m/s; negative: not known.
  public let speedAccuracy: CLLocationSpeedAccuracy
  /// When it was true.
  public let timestamp: Date
  /// Where it comes from; `nil` for one that the application has made.
  public let sourceInformation: CLLocationSourceInformation?

  /// The storey of a building; no board knows it.
  open var floor: CLFloor? { nil }

  /// A position without anything else, true now.
  public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
      horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
  }

  /// A position with height; course and speed are not known.
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: -1, speed: -1, timestamp: timestamp)
  }

  /// A position with height, course and speed; the accuracies of the last two are not known.
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    speed: CLLocationSpeed, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: -1, speed: speed,
      speedAccuracy: -1, timestamp: timestamp)
  }

  /// A position with height, course, speed and all accuracies.
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, ellipsoidalAltitude: .nan,
      horizontalAccuracy: hAccuracy, verticalAccuracy: vAccuracy, course: course,
      courseAccuracy: courseAccuracy, speed: speed, speedAccuracy: speedAccuracy,
      timestamp: timestamp, sourceInformation: nil)
  }

  /// The same, and where it comes from.
  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date,
    sourceInfo: CLLocationSourceInformation
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, ellipsoidalAltitude: .nan,
      horizontalAccuracy: hAccuracy, verticalAccuracy: vAccuracy, course: course,
      courseAccuracy: courseAccuracy, speed: speed, speedAccuracy: speedAccuracy,
      timestamp: timestamp, sourceInformation: sourceInfo)
  }

  init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    ellipsoidalAltitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
    verticalAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date,
    sourceInformation: CLLocationSourceInformation?
  ) {
    self.coordinate = coordinate
    self.altitude = altitude
    self.ellipsoidalAltitude = ellipsoidalAltitude
    self.horizontalAccuracy = horizontalAccuracy
    self.verticalAccuracy = verticalAccuracy
    self.course = course
    self.courseAccuracy = courseAccuracy
    self.speed = speed
    self.speedAccuracy = speedAccuracy
    self.timestamp = timestamp
    self.sourceInformation = sourceInformation
    super.init()
  }

  // What is missing becomes a negative accuracy; a signed value beside it is then no value.
  convenience init(_ report: LocationReport, timestamp: Date) {
    self.init(
      coordinate: CLLocationCoordinate2D(
        latitude: report.position.latitude, longitude: report.position.longitude),
      altitude: report.altitude ?? 0,
      ellipsoidalAltitude: report.ellipsoidalAltitude ?? .nan,
      horizontalAccuracy: report.horizontalAccuracy ?? -1,
      verticalAccuracy: report.altitude == nil ? -1 : report.verticalAccuracy ?? -1,
      course: report.course ?? -1, courseAccuracy: report.courseAccuracy ?? -1,
      speed: report.speed ?? -1, speedAccuracy: report.speedAccuracy ?? -1, timestamp: timestamp,
      sourceInformation: CLLocationSourceInformation(
        softwareSimulationState: report.isSimulated, andExternalAccessoryState: false))
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
      && sourceInformation == other.sourceInformation
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
    for (index, number) in numbers.enumerated() { coder.encode(number, forKey: "value\(index)") }
    coder.encode(sourceInformation, forKey: "source")
  }

  /// Reads the values; `nil` where a key is missing.
  public required convenience init?(coder: NSCoder) {
    guard (0..<11).allSatisfy({ coder.containsValue(forKey: "value\($0)") }) else { return nil }
    let values = (0..<11).map { coder.decodeDouble(forKey: "value\($0)") }
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: values[0], longitude: values[1]),
      altitude: values[2], ellipsoidalAltitude: values[3], horizontalAccuracy: values[4],
      verticalAccuracy: values[5], course: values[6], courseAccuracy: values[7], speed: values[8],
      speedAccuracy: values[9], timestamp: Date(timeIntervalSinceReferenceDate: values[10]),
      sourceInformation: coder.decodeObject(
        of: CLLocationSourceInformation.self, forKey: "source"))
  }
}

/// Where a location comes from. It does not change.
open class CLLocationSourceInformation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  /// Whether software has made it up: a simulated board, or a recording that is played.
  public let isSimulatedBySoftware: Bool
  /// Whether an accessory has measured it. The receiver of a board is the board's own.
  public let isProducedByAccessory: Bool

  /// Makes the information from its two answers.
  public init(softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool)
  {
    isSimulatedBySoftware = isSoftware
    isProducedByAccessory = isAccessory
    super.init()
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the other says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLLocationSourceInformation else { return false }
    return isSimulatedBySoftware == other.isSimulatedBySoftware
      && isProducedByAccessory == other.isProducedByAccessory
  }

  /// A hash over both answers.
  open override var hash: Int {
    (isSimulatedBySoftware ? 1 : 0) + (isProducedByAccessory ? 2 : 0)
  }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes both answers.
  open func encode(with coder: NSCoder) {
    coder.encode(isSimulatedBySoftware, forKey: "simulated")
    coder.encode(isProducedByAccessory, forKey: "accessory")
  }

  /// Reads both answers.
  public required convenience init?(coder: NSCoder) {
    self.init(
      softwareSimulationState: coder.decodeBool(forKey: "simulated"),
      andExternalAccessoryState: coder.decodeBool(forKey: "accessory"))
  }
}

/// The storey of a building. It does not change.
open class CLFloor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  /// The storey; 0 is the ground floor.
  public let level: Int

  init(level: Int) {
    self.level = level
    super.init()
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the other is the same storey.
  open override func isEqual(_ object: Any?) -> Bool { (object as? CLFloor)?.level == level }

  /// The storey.
  open override var hash: Int { level }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the storey.
  open func encode(with coder: NSCoder) { coder.encode(level, forKey: "level") }

  /// Reads the storey; `nil` where there is none.
  public required convenience init?(coder: NSCoder) {
    guard coder.containsValue(forKey: "level") else { return nil }
    self.init(level: coder.decodeInteger(forKey: "level"))
  }
}
