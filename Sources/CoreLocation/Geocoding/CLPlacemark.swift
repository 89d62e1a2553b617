// What is known of a place by name.

public import Foundation

/// The names of a place. It does not change.
///
/// No service on a board makes one (see `CLGeocoder`); it is there for code that keeps or subclasses it.
open class CLPlacemark: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the SDK's is.

  private static let keys = [
    "name", "thoroughfare", "subThoroughfare", "locality", "subLocality", "administrativeArea",
    "subAdministrativeArea", "postalCode", "isoCountryCode", "country", "inlandWater", "ocean",
  ]

  private let place: CLLocation?
  private let names: [String: String]

  /// Where it is.
  open var location: CLLocation? { place }
  /// The area that it is: `nil` on a board.
  open var region: CLRegion? { nil }
  /// The time that is kept there: `nil` on a board.
  open var timeZone: TimeZone? { nil }
  /// What it is called.
  open var name: String? { names["name"] }
  /// The street.
  open var thoroughfare: String? { names["thoroughfare"] }
  /// The number in the street.
  open var subThoroughfare: String? { names["subThoroughfare"] }
  /// The town.
  open var locality: String? { names["locality"] }
  /// The part of the town.
  open var subLocality: String? { names["subLocality"] }
  /// The state or province.
  open var administrativeArea: String? { names["administrativeArea"] }
  /// The county.
  open var subAdministrativeArea: String? { names["subAdministrativeArea"] }
  /// The code for the post.
  open var postalCode: String? { names["postalCode"] }
  /// The country's two letters (ISO 3166-1).
  open var isoCountryCode: String? { names["isoCountryCode"] }
  /// The country.
  open var country: String? { names["country"] }
  /// The lake or river.
  open var inlandWater: String? { names["inlandWater"] }
  /// The ocean.
  open var ocean: String? { names["ocean"] }
  /// The names in the keys of an address book: `Name`, `Street`, `City`, `State`, `ZIP`, `Country` and their like; `nil`
  /// where none is known.
  @available(*, deprecated, message: "use the properties")
  open var addressDictionary: [AnyHashable: Any]? {
    let keys = [
      "Name": name, "Thoroughfare": thoroughfare, "SubThoroughfare": subThoroughfare,
      "Street": thoroughfare.map { street in subThoroughfare.map { "\($0) \(street)" } ?? street },
      "City": locality, "SubLocality": subLocality, "State": administrativeArea,
      "SubAdministrativeArea": subAdministrativeArea, "ZIP": postalCode,
      "CountryCode": isoCountryCode, "Country": country,
    ]
    let known = keys.compactMapValues(\.self)
    return known.isEmpty ? nil : known
  }
  /// What is known to be there: `nil` on a board.
  open var areasOfInterest: [String]? { nil }

  /// A place of which nothing is known. It is there for subclasses.
  public override init() {
    (place, names) = (nil, [:])
    super.init()
  }

  /// The same place as another.
  public init(placemark: CLPlacemark) {
    (place, names) = (placemark.location, placemark.names)
    super.init()
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes what is known.
  open func encode(with coder: NSCoder) {
    coder.encode(location, forKey: "location")
    for (key, name) in names { coder.encode(name as NSString, forKey: key) }
  }

  /// Reads what `encode(with:)` wrote.
  public required init?(coder: NSCoder) {
    place = coder.decodeObject(of: CLLocation.self, forKey: "location")
    var names: [String: String] = [:]
    for key in Self.keys { names[key] = coder.text(forKey: key) }
    self.names = names
    super.init()
  }
}
