// The same by functions, as code of before Swift 4.2 calls them, and lengths on the map.

public import CoreLocation
import Geodesy

/// How many points of the screen a map point is; 1 at the largest scale that a phone shows.
public typealias MKZoomScale = CGFloat

/// The whole map's size, in map points.
public let MKMapSizeWorld = MKMapSize.world
/// The whole map.
public let MKMapRectWorld = MKMapRect.world
/// No rectangle.
public let MKMapRectNull = MKMapRect.null

/// How many metres a map point is from west to east at a latitude, on WGS 84. From north to south it is up to 0.7 % less.
public func MKMetersPerMapPointAtLatitude(_ latitude: CLLocationDegrees) -> CLLocationDistance {
  WGS84.metresPerDegree(atLatitude: latitude).east * 360 / MKMapSize.world.width
}

/// How many map points a metre from west to east is at a latitude.
public func MKMapPointsPerMeterAtLatitude(_ latitude: CLLocationDegrees) -> Double {
  1 / MKMetersPerMapPointAtLatitude(latitude)
}

/// Metres along the geodesic between two points.
public func MKMetersBetweenMapPoints(_ a: MKMapPoint, _ b: MKMapPoint) -> CLLocationDistance {
  a.distance(to: b)
}

/// Where a coordinate lies on the map.
public func MKMapPointForCoordinate(_ coordinate: CLLocationCoordinate2D) -> MKMapPoint {
  MKMapPoint(coordinate)
}

/// What lies at a point of the map.
public func MKCoordinateForMapPoint(_ mapPoint: MKMapPoint) -> CLLocationCoordinate2D {
  mapPoint.coordinate
}

/// A span of degrees from north to south and from west to east.
public func MKCoordinateSpanMake(
  _ latitudeDelta: CLLocationDegrees, _ longitudeDelta: CLLocationDegrees
) -> MKCoordinateSpan {
  MKCoordinateSpan(latitudeDelta: latitudeDelta, longitudeDelta: longitudeDelta)
}

/// A region of its middle and its extent.
public func MKCoordinateRegionMake(
  _ centerCoordinate: CLLocationCoordinate2D, _ span: MKCoordinateSpan
) -> MKCoordinateRegion {
  MKCoordinateRegion(center: centerCoordinate, span: span)
}

/// A region of its middle and its extent in metres.
public func MKCoordinateRegionMakeWithDistance(
  _ centerCoordinate: CLLocationCoordinate2D, _ latitudinalMeters: CLLocationDistance,
  _ longitudinalMeters: CLLocationDistance
) -> MKCoordinateRegion {
  MKCoordinateRegion(
    center: centerCoordinate, latitudinalMeters: latitudinalMeters,
    longitudinalMeters: longitudinalMeters)
}

/// The region between the sides of a rectangle of the map.
public func MKCoordinateRegionForMapRect(_ rect: MKMapRect) -> MKCoordinateRegion {
  MKCoordinateRegion(rect)
}

/// A point of the map.
public func MKMapPointMake(_ x: Double, _ y: Double) -> MKMapPoint { MKMapPoint(x: x, y: y) }

/// A size on the map.
public func MKMapSizeMake(_ width: Double, _ height: Double) -> MKMapSize {
  MKMapSize(width: width, height: height)
}

/// A rectangle of the map.
public func MKMapRectMake(
  _ x: Double, _ y: Double, _ width: Double, _ height: Double
) -> MKMapRect {
  MKMapRect(x: x, y: y, width: width, height: height)
}

/// The western side of a rectangle.
public func MKMapRectGetMinX(_ rect: MKMapRect) -> Double { rect.minX }
/// The northern side of a rectangle.
public func MKMapRectGetMinY(_ rect: MKMapRect) -> Double { rect.minY }
/// The middle of a rectangle from west to east.
public func MKMapRectGetMidX(_ rect: MKMapRect) -> Double { rect.midX }
/// The middle of a rectangle from north to south.
public func MKMapRectGetMidY(_ rect: MKMapRect) -> Double { rect.midY }
/// The eastern side of a rectangle.
public func MKMapRectGetMaxX(_ rect: MKMapRect) -> Double { rect.maxX }
/// The southern side of a rectangle.
public func MKMapRectGetMaxY(_ rect: MKMapRect) -> Double { rect.maxY }
/// Map points from west to east.
public func MKMapRectGetWidth(_ rect: MKMapRect) -> Double { rect.width }
/// Map points from north to south.
public func MKMapRectGetHeight(_ rect: MKMapRect) -> Double { rect.height }

/// Whether two points are the same.
public func MKMapPointEqualToPoint(_ point1: MKMapPoint, _ point2: MKMapPoint) -> Bool {
  point1 == point2
}

/// Whether two sizes are the same.
public func MKMapSizeEqualToSize(_ size1: MKMapSize, _ size2: MKMapSize) -> Bool { size1 == size2 }

/// Whether two rectangles are the same.
public func MKMapRectEqualToRect(_ rect1: MKMapRect, _ rect2: MKMapRect) -> Bool { rect1 == rect2 }

/// Whether it is no rectangle.
public func MKMapRectIsNull(_ rect: MKMapRect) -> Bool { rect.isNull }

/// Whether it is null or has no area.
public func MKMapRectIsEmpty(_ rect: MKMapRect) -> Bool { rect.isEmpty }

/// The smallest rectangle that holds both.
public func MKMapRectUnion(_ rect1: MKMapRect, _ rect2: MKMapRect) -> MKMapRect {
  rect1.union(rect2)
}

/// What both have in common.
public func MKMapRectIntersection(_ rect1: MKMapRect, _ rect2: MKMapRect) -> MKMapRect {
  rect1.intersection(rect2)
}

/// The rectangle with its sides moved inwards.
public func MKMapRectInset(_ rect: MKMapRect, _ dx: Double, _ dy: Double) -> MKMapRect {
  rect.insetBy(dx: dx, dy: dy)
}

/// The rectangle moved to the east and to the south.
public func MKMapRectOffset(_ rect: MKMapRect, _ dx: Double, _ dy: Double) -> MKMapRect {
  rect.offsetBy(dx: dx, dy: dy)
}

/// Cuts a slice off at one of the sides.
public func MKMapRectDivide(
  _ rect: MKMapRect, _ slice: UnsafeMutablePointer<MKMapRect>,
  _ remainder: UnsafeMutablePointer<MKMapRect>, _ amount: Double, _ edge: CGRectEdge
) {
  (slice.pointee, remainder.pointee) = rect.divided(atDistance: amount, from: edge)
}

/// Whether a point lies in a rectangle.
public func MKMapRectContainsPoint(_ rect: MKMapRect, _ point: MKMapPoint) -> Bool {
  rect.contains(point)
}

/// Whether the second rectangle lies in the first.
public func MKMapRectContainsRect(_ rect1: MKMapRect, _ rect2: MKMapRect) -> Bool {
  rect1.contains(rect2)
}

/// Whether both have more in common than a side.
public func MKMapRectIntersectsRect(_ rect1: MKMapRect, _ rect2: MKMapRect) -> Bool {
  rect1.intersects(rect2)
}

/// Whether a rectangle goes on beyond the map's edge.
public func MKMapRectSpans180thMeridian(_ rect: MKMapRect) -> Bool { rect.spans180thMeridian }

/// Of a rectangle that does what lies beyond, where it lies on the map.
public func MKMapRectRemainder(_ rect: MKMapRect) -> MKMapRect { rect.remainder() }

/// A point in words: `{12.0, 34.0}`.
public func MKStringFromMapPoint(_ point: MKMapPoint) -> String { "{\(point.x), \(point.y)}" }

/// A size in words: `{12.0, 34.0}`.
public func MKStringFromMapSize(_ size: MKMapSize) -> String { "{\(size.width), \(size.height)}" }

/// A rectangle in words: its corner and its size.
public func MKStringFromMapRect(_ rect: MKMapRect) -> String {
  "{\(MKStringFromMapPoint(rect.origin)), \(MKStringFromMapSize(rect.size))}"
}
