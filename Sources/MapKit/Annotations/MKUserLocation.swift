// Where the board is, as an annotation.

public import CoreLocation

/// Where the board is: an annotation that a map adds by itself.
open class MKUserLocation: NSObject, MKAnnotation {
  /// Where the board was last; nil before the first location, and when the map does not ask for locations.
  open internal(set) var location: CLLocation?
  /// Which way it points; nil unless the map follows the heading.
  open internal(set) var heading: CLHeading?
  /// Whether a location is being looked for: it is asked for, and none is there yet.
  open internal(set) var isUpdating = false
  /// What its callout says.
  open var title: String?
  /// What its callout says below the title.
  open var subtitle: String?

  override init() {}

  /// Where it was last; invalid before the first location.
  open var coordinate: CLLocationCoordinate2D {
    location?.coordinate ?? kCLLocationCoordinate2DInvalid
  }
}
