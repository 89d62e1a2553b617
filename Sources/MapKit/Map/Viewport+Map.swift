// Between what the SDK calls things and what the picture's geometry does.

import CoreLocation
import Geodesy
import MapDrawing

extension Viewport {
  /// Shows a rectangle of the map around its middle, north up and flat, between the insets.
  func showing(_ rect: MKMapRect, insets: UIEdgeInsets = .zero) -> Viewport? {
    guard !rect.isNull else { return nil }
    let world = MKMapSize.world.width
    return showing(
      MercatorPoint(x: rect.midX / world, y: rect.midY / world),
      size: (rect.width / world, rect.height / world),
      margins: PictureMargins(
        top: insets.top, left: insets.left, bottom: insets.bottom, right: insets.right))
  }

  /// Shows a region around its middle: the half of it that is longer on the map is the one that fits.
  func showing(_ region: MKCoordinateRegion) -> Viewport? {
    guard region.isValid else { return nil }
    let rect = MKMapRect(region)
    let middle = MKMapPoint(region.center)
    let half = max(middle.y - rect.minY, rect.maxY - middle.y)
    return showing(
      MKMapRect(x: rect.minX, y: middle.y - half, width: rect.width, height: 2 * half))
  }

  /// What it shows, as a rectangle of the map: the smallest that holds all of it.
  var mapRect: MKMapRect {
    let bounds = bounds
    let (low, high) = (MKMapPoint(bounds.minimum), MKMapPoint(bounds.maximum))
    return MKMapRect(west: low.x, north: low.y, east: high.x, south: high.y)
  }

  /// What it shows, as a region around the middle of `mapRect`: as many degrees as the shorter half has, so that a region
  /// that is set again shows the same.
  var region: MKCoordinateRegion {
    let rect = mapRect
    let height = MKMapSize.world.height
    func latitude(_ y: Double) -> Double {
      WebMercator.position(of: MKMapPoint(x: 0, y: min(max(y, 0), height)).projected).latitude
    }
    let middle = MKMapPoint(x: rect.midX, y: min(max(rect.midY, 0), height))
    let centre = Position(middle.coordinate).latitude
    // Beyond the map's edge degrees go on to the pole.
    let north = rect.minY <= 0 ? 90 : latitude(rect.minY)
    let south = rect.maxY >= height ? -90 : latitude(rect.maxY)
    return MKCoordinateRegion(
      center: middle.coordinate,
      span: MKCoordinateSpan(
        latitudeDelta: 2 * min(north - centre, centre - south),
        longitudeDelta: min(rect.width / MKMapSize.world.width * 360, 360)))
  }

  /// Whether something may be in the picture.
  func shows(_ rect: MKMapRect) -> Bool {
    let world = MKMapSize.world.width
    return mapRect.partsOfTheWorld.contains { part in
      [-world, 0, world].contains { rect.offsetBy(dx: $0, dy: 0).touches(part) }
    }
  }
}
