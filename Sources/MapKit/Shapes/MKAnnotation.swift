// What lies on a map: the protocols that a program's own objects adopt.

public import CoreLocation

/// An object of the program's that has a place on the map.
public protocol MKAnnotation: NSObjectProtocol {
  /// Where it is.
  var coordinate: CLLocationCoordinate2D { get }
  /// What its callout says; nil unless the object has one.
  var title: String? { get }
  /// What its callout says below the title; nil unless the object has one.
  var subtitle: String? { get }
}

extension MKAnnotation {
  /// No title.
  public var title: String? { nil }
  /// No subtitle.
  public var subtitle: String? { nil }
}

/// An object of the program's that covers a part of the map.
public protocol MKOverlay: MKAnnotation {
  /// The smallest rectangle of the map that holds it.
  var boundingMapRect: MKMapRect { get }
  /// Whether a part of the map touches it; where the object does not say, whether its rectangle does.
  func intersects(_ mapRect: MKMapRect) -> Bool
  /// Whether it hides all of the map below it; false unless the object says so.
  var canReplaceMapContent: Bool { get }
}

extension MKOverlay {
  /// Whether the rectangles touch.
  public func intersects(_ mapRect: MKMapRect) -> Bool {
    // A line to the east has a rectangle of no height.
    let rect = boundingMapRect
    return !rect.isNull && !mapRect.isNull
      && rect.minX <= mapRect.maxX && rect.maxX >= mapRect.minX
      && rect.minY <= mapRect.maxY && rect.maxY >= mapRect.minY
  }

  /// False.
  public var canReplaceMapContent: Bool { false }
}

/// What has a place on the map, and words for a callout. It is what the others here are made of.
open class MKShape: NSObject, MKAnnotation {
  /// What its callout says.
  open var title: String?
  /// What its callout says below the title.
  open var subtitle: String?

  /// The middle of what it is.
  open var coordinate: CLLocationCoordinate2D { kCLLocationCoordinate2DInvalid }

  override init() {}
}

/// A point with a place and words.
///
/// A map that shows it follows when its coordinate is set. Linux observes no keys: other annotations are looked at again
/// when the map's part changes and when a picture is drawn.
open class MKPointAnnotation: MKShape {
  private var place: CLLocationCoordinate2D
  // Who shows it, by a number that each has.
  var observers: [ObjectIdentifier: (MKPointAnnotation) -> Void] = [:]

  /// Makes a point at 0 degrees north, 0 degrees east.
  public override init() {
    place = CLLocationCoordinate2D(latitude: 0, longitude: 0)
    super.init()
  }

  /// Makes a point at a coordinate, with words if there are some.
  public init(
    coordinate: CLLocationCoordinate2D, title: String? = nil, subtitle: String? = nil
  ) {
    place = coordinate
    super.init()
    self.title = title
    self.subtitle = subtitle
  }

  /// Where it is.
  open override var coordinate: CLLocationCoordinate2D {
    get { place }
    set {
      place = newValue
      for tell in observers.values { tell(self) }
    }
  }
}
