// A stay at a place.

public import Foundation

/// A stay at a place. It does not change.
open class CLVisit: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the SDK's is.

  private struct Values: Sendable {
    var arrival = Date.distantPast
    var departure = Date.distantFuture
    var place = kCLLocationCoordinate2DInvalid
    var accuracy: CLLocationAccuracy = -1
  }

  private let values: Values

  /// When it began; `Date.distantPast` where that is not known.
  open var arrivalDate: Date { values.arrival }
  /// When it ended; `Date.distantFuture` as long as it has not.
  open var departureDate: Date { values.departure }
  /// Where; valid if `horizontalAccuracy` is not negative.
  open var coordinate: CLLocationCoordinate2D { values.place }
  /// Radius of the circle that holds the place in 68 % of cases, metres; negative: no valid place.
  open var horizontalAccuracy: CLLocationAccuracy { values.accuracy }

  /// A visit of which nothing is known. It is there for subclasses.
  public override init() {
    values = Values()
    super.init()
  }

  init(
    arrivalDate: Date, departureDate: Date, coordinate: CLLocationCoordinate2D,
    horizontalAccuracy: CLLocationAccuracy
  ) {
    values = Values(
      arrival: arrivalDate, departure: departureDate, place: coordinate,
      accuracy: horizontalAccuracy)
    super.init()
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  private var numbers: [Double] {
    [
      arrivalDate.timeIntervalSinceReferenceDate, departureDate.timeIntervalSinceReferenceDate,
      coordinate.latitude, coordinate.longitude, horizontalAccuracy,
    ]
  }

  /// Whether the other is a visit with the same values.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CLVisit)?.numbers.map(\.bitPattern) == numbers.map(\.bitPattern)
  }

  /// A hash over the values.
  open override var hash: Int { numbers.map(\.bitPattern).hashValue }

  /// Place, accuracy and dates, as the SDK prints them.
  open override var description: String {
    let place = String(
      format: "<%+.8f,%+.8f> +/- %.2fm", coordinate.latitude, coordinate.longitude,
      horizontalAccuracy)
    return "\(place) (\(arrivalDate) to \(departureDate))"
  }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the values.
  open func encode(with coder: NSCoder) { coder.encode(numbers: numbers) }

  /// Reads the values; `nil` where one is missing. In a subclass that stored other keys the visit is unknown.
  public required init?(coder: NSCoder) {
    if coder.isWritten(bySubclass: Self.self, of: CLVisit.self, insteadOf: "value0") {
      values = Values()
      super.init()
      return
    }
    guard let numbers = coder.numbers(5) else { return nil }
    values = Values(
      arrival: Date(timeIntervalSinceReferenceDate: numbers[0]),
      departure: Date(timeIntervalSinceReferenceDate: numbers[1]),
      place: CLLocationCoordinate2D(latitude: numbers[2], longitude: numbers[3]),
      accuracy: numbers[4])
    super.init()
  }
}
