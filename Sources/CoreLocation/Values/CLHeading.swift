// A heading as the SDK hands it out.

public import Foundation
import LocationServices

/// The direction that the device's reference edge points to. It does not change.
open class CLHeading: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the
  // SDK's is.

  private struct Values: Sendable {
    var magneticHeading: CLLocationDirection = 0
    var trueHeading: CLLocationDirection = -1
    var headingAccuracy: CLLocationDirection = -1
    var x = Double.nan
    var y = Double.nan
    var z = Double.nan
    var timestamp: Date
  }

  private let values: Values

  /// Degrees clockwise from magnetic north, 0 up to 360.
  open var magneticHeading: CLLocationDirection { values.magneticHeading }
  /// Degrees clockwise from true north, 0 up to 360; negative while no position is known, so that
  /// declination is not either.
  open var trueHeading: CLLocationDirection { values.trueHeading }
  /// Half the width of the 95 % interval about `magneticHeading`, degrees; negative: the heading is not to
  /// be trusted, because of interference or because the magnetometer is not calibrated.
  open var headingAccuracy: CLLocationDirection { values.headingAccuracy }
  /// The calibrated field along the body's x axis, right, microtesla; NaN where no magnetometer measures it, as on
  /// a vehicle whose heading is its course.
  open var x: CLHeadingComponentValue { values.x }
  /// The calibrated field along the body's y axis, to the top, microtesla; NaN like `x`.
  open var y: CLHeadingComponentValue { values.y }
  /// The calibrated field along the body's z axis, out of the screen, microtesla; NaN like `x`.
  open var z: CLHeadingComponentValue { values.z }
  /// When it was true.
  open var timestamp: Date { values.timestamp }

  /// No heading: a negative accuracy, and no field. It is there for subclasses.
  public override init() {
    values = Values(timestamp: Date())
    super.init()
  }

  init(
    magneticHeading: Double, trueHeading: Double, headingAccuracy: Double, x: Double, y: Double,
    z: Double, timestamp: Date
  ) {
    values = Values(
      magneticHeading: magneticHeading, trueHeading: trueHeading, headingAccuracy: headingAccuracy,
      x: x, y: y, z: z, timestamp: timestamp)
    super.init()
  }

  convenience init(_ report: HeadingReport, timestamp: Date) {
    self.init(
      magneticHeading: report.magneticHeading, trueHeading: report.trueHeading ?? -1,
      headingAccuracy: report.accuracy ?? -1, x: report.x ?? .nan, y: report.y ?? .nan,
      z: report.z ?? .nan, timestamp: timestamp)
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  private var numbers: [Double] {
    [
      magneticHeading, trueHeading, headingAccuracy, x, y, z,
      timestamp.timeIntervalSinceReferenceDate,
    ]
  }

  /// Whether the other is a heading with the same values; a field that is missing from both is the same.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CLHeading)?.numbers.map(\.bitPattern) == numbers.map(\.bitPattern)
  }

  /// A hash over the values.
  open override var hash: Int { numbers.map(\.bitPattern).hashValue }

  /// Headings, accuracy, field and time, as the SDK prints them.
  open override var description: String {
    let values = String(
      format: "magneticHeading %.2f trueHeading %.2f accuracy %.2f x %+.3f y %+.3f z %+.3f",
      magneticHeading, trueHeading, headingAccuracy, x, y, z)
    return "\(values) @ \(timestamp)"
  }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the values.
  open func encode(with coder: NSCoder) { coder.encode(numbers: numbers) }

  /// Reads the values; `nil` where one is missing. In a subclass that stored other keys the heading is unknown.
  public required init?(coder: NSCoder) {
    if coder.isWritten(bySubclass: Self.self, of: CLHeading.self, insteadOf: "value0") {
      values = Values(timestamp: Date())
      super.init()
      return
    }
    guard let numbers = coder.numbers(7) else { return nil }
    values = Values(
      magneticHeading: numbers[0], trueHeading: numbers[1], headingAccuracy: numbers[2],
      x: numbers[3], y: numbers[4], z: numbers[5],
      timestamp: Date(timeIntervalSinceReferenceDate: numbers[6]))
    super.init()
  }
}
