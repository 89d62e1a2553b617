// A heading as the SDK hands it out.

public import Foundation
import LocationServices

/// The direction that the device's reference edge points to. It does not change.
open class CLHeading: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the
  // SDK's is.

  /// Degrees clockwise from magnetic north, 0 up to 360.
  public let magneticHeading: CLLocationDirection
  /// Degrees clockwise from true north, 0 up to 360; negative while no position is known, so that
  /// declination is not either.
  public let trueHeading: CLLocationDirection
  /// Half the width of the 95 % interval about `magneticHeading`, degrees; negative: the heading is not to
  /// be trusted, because of interference or because the magnetometer is not calibrated.
  public let headingAccuracy: CLLocationDirection
  /// The calibrated field along the body's x axis, right, microtesla; NaN where no magnetometer measures it, as on
  /// a vehicle whose heading is its course.
  public let x: Double
  /// The calibrated field along the body's y axis, to the top, microtesla; NaN like `x`.
  public let y: Double
  /// The calibrated field along the body's z axis, out of the screen, microtesla; NaN like `x`.
  public let z: Double
  /// When it was true.
  public let timestamp: Date

  init(
    magneticHeading: Double, trueHeading: Double, headingAccuracy: Double, x: Double, y: Double,
    z: Double, timestamp: Date
  ) {
    self.magneticHeading = magneticHeading
    self.trueHeading = trueHeading
    self.headingAccuracy = headingAccuracy
    self.x = x
    self.y = y
    self.z = z
    self.timestamp = timestamp
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
  open func encode(with coder: NSCoder) {
    for (index, number) in numbers.enumerated() { coder.encode(number, forKey: "value\(index)") }
  }

  /// Reads the values; `nil` where a key is missing.
  public required convenience init?(coder: NSCoder) {
    guard (0..<7).allSatisfy({ coder.containsValue(forKey: "value\($0)") }) else { return nil }
    let values = (0..<7).map { coder.decodeDouble(forKey: "value\($0)") }
    self.init(
      magneticHeading: values[0], trueHeading: values[1], headingAccuracy: values[2], x: values[3],
      y: values[4], z: values[5], timestamp: Date(timeIntervalSinceReferenceDate: values[6]))
  }
}
