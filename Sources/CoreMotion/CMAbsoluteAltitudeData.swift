// A height above the sea, with the SDK's name.

public import Foundation
import LocationServices
import SensorTypes

/// How high above the sea the device is. It does not change.
open class CMAbsoluteAltitudeData: CMLogItem, @unchecked Sendable {
  private static let steps: [Double] = [50, 20, 10, 5, 2, 1, 0.5, 0.2]
  private static let finest = 0.1

  private let metres: Double
  private let sigma: Double

  /// Metres above mean sea level.
  open var altitude: Double { metres }
  /// One standard deviation of the altitude, metres.
  open var accuracy: Double { sigma }
  /// Metres: the step below which the altitude is not worth showing, no more than the accuracy and 0.1 at least. How
  /// much the device climbs is known far better: `CMAltitudeData`.
  open var precision: Double { Self.steps.first { $0 <= sigma } ?? Self.finest }

  /// A height that is no number. It is there for subclasses.
  public override init() {
    (metres, sigma) = (.nan, .nan)
    super.init()
  }

  init(altitude: Double, accuracy: Double, timestamp: TimeInterval) {
    metres = altitude
    sigma = accuracy
    super.init(timestamp: timestamp)
  }

  convenience init(_ report: AbsoluteAltitudeReport) {
    self.init(
      altitude: report.altitude, accuracy: report.accuracy, timestamp: report.time.seconds)
  }

  /// Whether the other has the same values.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CMAbsoluteAltitudeData else { return false }
    return numbers == other.numbers
  }

  // A value that is not a number is equal to itself here.
  private var numbers: [UInt64] { [metres, sigma, timestamp].map(\.bitPattern) }

  /// A hash over the values.
  open override var hash: Int { numbers.hashValue }

  /// Altitude, its accuracy and time.
  open override var description: String {
    String(format: "Altitude %.2f m +/- %.2f m @ %.6f", metres, sigma, timestamp)
  }

  /// Writes the values.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(metres, forKey: "altitude")
    coder.encode(sigma, forKey: "accuracy")
  }

  /// Reads the values; `nil` where one is missing.
  public required init?(coder: NSCoder) {
    guard coder.containsValue(forKey: "altitude"), coder.containsValue(forKey: "accuracy") else {
      return nil
    }
    metres = coder.decodeDouble(forKey: "altitude")
    sigma = coder.decodeDouble(forKey: "accuracy")
    super.init(coder: coder)
  }
}
