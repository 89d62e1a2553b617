// Between the map's coordinates and points of views.

public import CoreLocation
import Geodesy
import MapDrawing

extension MKMapView {
  /// Where a coordinate lies in a view; with nil in the window's coordinates, in which the outermost view has its frame.
  /// What is behind a pitched camera, and what is invalid, is NaN.
  public func convert(_ coordinate: CLLocationCoordinate2D, toPointTo view: UIView?) -> CGPoint {
    guard CLLocationCoordinate2DIsValid(coordinate),
      let point = viewport.picturePoint(of: MKMapPoint(coordinate).projected)
    else { return CGPoint(x: CGFloat.nan, y: .nan) }
    return convert(CGPoint(x: point.x, y: point.y), to: view)
  }

  /// Which coordinate lies at a point of a view; invalid beyond the map's upper and lower edge.
  public func convert(
    _ point: CGPoint, toCoordinateFrom view: UIView?
  ) -> CLLocationCoordinate2D {
    let point = convert(point, from: view)
    guard let world = viewport.worldPoint(at: PicturePoint(x: point.x, y: point.y)) else {
      return kCLLocationCoordinate2DInvalid
    }
    return MKMapPoint(world).coordinate
  }

  /// The smallest rectangle of a view that holds a region; null where none of it can be seen.
  public func convert(_ region: MKCoordinateRegion, toRectTo view: UIView?) -> CGRect {
    let rect = MKMapRect(region)
    guard !rect.isNull else { return .null }
    // A region lies around its middle, on the side of 180 degrees where that is nearest.
    let centre = viewport.centre.x * MKMapSize.world.width
    let near = rect.midX - centre
    let shift = near.remainder(dividingBy: MKMapSize.world.width) - near
    let corners = [
      (rect.minX, rect.minY), (rect.maxX, rect.minY), (rect.maxX, rect.maxY),
      (rect.minX, rect.maxY),
    ].compactMap { x, y in
      viewport.unwrappedPicturePoint(of: MKMapPoint(x: x + shift, y: y).projected)
    }.map { convert(CGPoint(x: $0.x, y: $0.y), to: view) }
    return CGRect(holding: corners)
  }

  /// The smallest region that holds a rectangle of a view.
  public func convert(_ rect: CGRect, toRegionFrom view: UIView?) -> MKCoordinateRegion {
    let corners = [
      CGPoint(x: rect.minX, y: rect.minY), CGPoint(x: rect.maxX, y: rect.minY),
      CGPoint(x: rect.maxX, y: rect.maxY), CGPoint(x: rect.minX, y: rect.maxY),
    ].compactMap { corner -> MKMapPoint? in
      let point = convert(corner, from: view)
      return viewport.worldPoint(at: PicturePoint(x: point.x, y: point.y)).map(MKMapPoint.init)
    }
    return MKCoordinateRegion(MKMapRect(holding: corners))
  }
}

extension CGRect {
  /// The smallest rectangle that holds all points; null without any.
  init(holding points: [CGPoint]) {
    guard let first = points.first else {
      self = .null
      return
    }
    var (low, high) = (first, first)
    for point in points {
      low = CGPoint(x: Swift.min(low.x, point.x), y: Swift.min(low.y, point.y))
      high = CGPoint(x: Swift.max(high.x, point.x), y: Swift.max(high.y, point.y))
    }
    self.init(x: low.x, y: low.y, width: high.x - low.x, height: high.y - low.y)
  }
}
