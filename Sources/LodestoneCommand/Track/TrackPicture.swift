import Foundation
import MapDrawing
import MapKit

/// Draws a way: its line, how exactly it is known, where it begins and ends.
struct TrackPicture {
  /// How large the picture is, points.
  var size: CGSize
  var isDark: Bool
  /// Pixels a point.
  var scale: Double
  /// The map below; a graticule where there is none.
  var tiles: TileStore?

  /// The picture of what was collected; nil where there is no place in it.
  func image(of collector: TrackCollector) -> UIImage? {
    let stretches = collector.stretches.filter { !$0.isEmpty }
    guard let first = stretches.first?.first, let last = stretches.last?.last else { return nil }
    let map = MKMapView(frame: CGRect(origin: .zero, size: size))
    map.base = BaseMap(tiles: tiles)
    let artist = Artist(isDark: isDark)
    map.delegate = artist
    let lines = stretches.map { stretch in
      MKPolyline(coordinates: stretch.map(\.coordinate), count: stretch.count)
    }
    let swath = AccuracySwath(stretches, along: lines)
    let ends =
      [Self.end("start", first)] + (collector.places.count > 1 ? [Self.end("end", last)] : [])
    map.setVisibleMapRect(
      Self.atLeastAHundredMetres(swath.boundingMapRect), edgePadding: margin, animated: false)
    map.addOverlay(swath, level: .aboveRoads)
    map.addOverlays(lines)
    map.addAnnotations(ends)
    return withExtendedLifetime(artist) { map.image(isDark: isDark, scale: scale) }
  }

  /// Markers stand up from the line, with words below them.
  private var margin: UIEdgeInsets {
    let side = min(size.width, size.height) / 10
    return UIEdgeInsets(top: side + 20, left: side + 20, bottom: side + 20, right: side + 20)
  }

  private static func atLeastAHundredMetres(_ rect: MKMapRect) -> MKMapRect {
    let middle = MKMapPoint(x: rect.midX, y: rect.midY).coordinate
    let least = 100 * MKMapPointsPerMeterAtLatitude(middle.latitude)
    return rect.insetBy(
      dx: -max(least - rect.width, 0) / 2, dy: -max(least - rect.height, 0) / 2)
  }

  private static func end(_ title: String, _ place: TrackCollector.Place) -> MKPointAnnotation {
    MKPointAnnotation(
      coordinate: place.coordinate, title: title,
      subtitle: place.utc.map {
        Date(timeIntervalSince1970: $0).formatted(
          .iso8601.year().month().day().dateTimeSeparator(.space).time(
            includingFractionalSeconds: false))
          + " UTC"
      })
  }
}

extension TrackCollector.Place {
  var coordinate: CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
  }
}

/// What the way may have been: around each place as far as its accuracy says.
final class AccuracySwath: NSObject, MKOverlay {
  /// A place, and how many map points it may be off.
  let circles: [(centre: MKMapPoint, radius: Double)]
  let coordinate: CLLocationCoordinate2D
  let boundingMapRect: MKMapRect

  /// Each line has its points where a stretch has its places, across 180 degrees too.
  init(_ stretches: [[TrackCollector.Place]], along lines: [MKPolyline]) {
    var rect = MKMapRect.null
    var circles: [(centre: MKMapPoint, radius: Double)] = []
    for (line, places) in zip(lines, stretches) {
      rect = rect.union(line.boundingMapRect)
      let points = UnsafeBufferPointer(start: line.points(), count: line.pointCount)
      for (point, place) in zip(points, places) {
        guard let accuracy = place.accuracy else { continue }
        let radius = accuracy * MKMapPointsPerMeterAtLatitude(place.latitude)
        circles.append((point, radius))
        rect = rect.union(
          MKMapRect(x: point.x - radius, y: point.y - radius, width: 2 * radius, height: 2 * radius)
        )
      }
    }
    self.circles = circles
    boundingMapRect = rect
    coordinate = MKMapPoint(x: rect.midX, y: rect.midY).coordinate
  }
}

/// Draws circles so close that they look like one area.
private final class SwathRenderer: MKOverlayRenderer {
  private let swath: AccuracySwath
  private let color: UIColor

  init(_ swath: AccuracySwath, color: UIColor) {
    self.swath = swath
    self.color = color
    super.init(overlay: swath)
    alpha = 0.22
  }

  override func draw(_ mapRect: MKMapRect, zoomScale: MKZoomScale, in context: CGContext) {
    context.setFillColor(color)
    var last: (centre: MKMapPoint, radius: Double)?
    for circle in swath.circles where circle.radius * zoomScale > 0.5 {
      // A circle that another one all but covers shows nothing new.
      if let last {
        let step = hypot(circle.centre.x - last.centre.x, circle.centre.y - last.centre.y)
        let new = step + abs(circle.radius - last.radius)
        if new < max(0.15 * circle.radius, 0.5 / zoomScale) { continue }
      }
      last = circle
      let corner = point(for: circle.centre)
      context.fillEllipse(
        in: CGRect(
          x: corner.x - circle.radius, y: corner.y - circle.radius, width: 2 * circle.radius,
          height: 2 * circle.radius))
    }
  }
}

/// Draws a line with an edge, so that it can be seen on any ground.
private final class WayRenderer: MKPolylineRenderer {
  var edgeColor = UIColor.white

  override func draw(_ mapRect: MKMapRect, zoomScale: MKZoomScale, in context: CGContext) {
    let color = strokeColor
    (strokeColor, lineWidth) = (edgeColor, 5)
    super.draw(mapRect, zoomScale: zoomScale, in: context)
    (strokeColor, lineWidth) = (color, 2.6)
    super.draw(mapRect, zoomScale: zoomScale, in: context)
  }
}

/// Gives the map what draws the way.
private final class Artist: NSObject, MKMapViewDelegate {
  private let isDark: Bool

  init(isDark: Bool) { self.isDark = isDark }

  private var color: UIColor {
    isDark
      ? UIColor(red: 0.35, green: 0.68, blue: 1, alpha: 1)
      : UIColor(red: 0.09, green: 0.36, blue: 0.75, alpha: 1)
  }

  func mapView(_ mapView: MKMapView, rendererFor overlay: any MKOverlay) -> MKOverlayRenderer {
    if let swath = overlay as? AccuracySwath { return SwathRenderer(swath, color: color) }
    let renderer = WayRenderer(overlay: overlay)
    renderer.strokeColor = color
    renderer.edgeColor =
      isDark ? UIColor(white: 0.07, alpha: 0.85) : UIColor(white: 1, alpha: 0.85)
    return renderer
  }

  func mapView(_ mapView: MKMapView, viewFor annotation: any MKAnnotation) -> MKAnnotationView? {
    let view = MKMarkerAnnotationView(annotation: annotation, reuseIdentifier: nil)
    view.markerTintColor = annotation.title == "start" ? .systemGreen : .systemRed
    view.subtitleVisibility = .visible
    return view
  }
}
