package import Foundation
package import MapDrawing
package import MapKit

/// Draws a way: its line, how exactly it is known, where it begins and ends.
package struct TrackPicture {
  /// How large the picture is, points.
  var size: CGSize
  var isDark: Bool
  var scale: Double
  /// The map below; a graticule where there is none.
  var tiles: TileStore?

  /// Draws what was collected; nil where there is no place in it.
  package func drawn(_ collector: TrackCollector) -> MapPicture.Drawing? {
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
    map.setVisibleMapRect(
      Self.atLeastTwentyMetres(swath.boundingMapRect), edgePadding: margin, animated: false)
    map.addOverlay(swath, level: .aboveRoads)
    map.addOverlays(lines)
    var picture = withExtendedLifetime(artist) { map.picture(isDark: isDark, scale: scale) }
    picture.title = "A track"
    let ends = [("start", first, Colour(hex: 0x2AA653)), ("end", last, Colour(hex: 0xE63833))]
    let shown = collector.places.count > 1 ? ends : Array(ends.prefix(1))
    // The words stand aside, where no way is: beside its ends they would cover it.
    for (line, (word, place, colour)) in shown.enumerated() {
      let point = map.convert(place.coordinate, toPointTo: map)
      picture.annotations.append(dot(PicturePoint(x: point.x, y: point.y), colour))
      let base = 38 + 18 * Double(line)
      picture.annotations += [
        dot(PicturePoint(x: size.width - 16, y: base - 4), colour),
        .text(
          words(word, place), at: PicturePoint(x: size.width - 28, y: base),
          style: TextStyle(size: 12, colour: ink, halo: paper, anchor: .end)),
      ]
    }
    return picture.drawn()
  }

  private func dot(_ centre: PicturePoint, _ colour: Colour) -> MapShape {
    .circle(centre: centre, radius: 5.5, fill: colour, stroke: Stroke(colour: .white, width: 2))
  }

  private var ink: Colour { isDark ? Colour(hex: 0xE6EAEE) : Colour(hex: 0x2B333A) }
  private var paper: Colour { isDark ? Colour(hex: 0x14171B) : Colour(hex: 0xFFFFFF) }

  /// The end and when it was, as far as there is space for it.
  private func words(_ word: String, _ place: TrackPoint) -> String {
    guard let utc = place.utc, size.width >= 300 else { return word }
    let time = Date(timeIntervalSince1970: utc).formatted(
      .iso8601.year().month().day().dateTimeSeparator(.space).time(
        includingFractionalSeconds: false))
    return "\(word) \(time) UTC"
  }

  /// Above the way the words stand.
  private var margin: UIEdgeInsets {
    let side = min(size.width, size.height) / 10
    return UIEdgeInsets(top: max(side, 74), left: side, bottom: max(side, 40), right: side)
  }

  private static func atLeastTwentyMetres(_ rect: MKMapRect) -> MKMapRect {
    let middle = MKMapPoint(x: rect.midX, y: rect.midY).coordinate
    let least = 20 * MKMapPointsPerMeterAtLatitude(middle.latitude)
    return rect.insetBy(
      dx: -max(least - rect.width, 0) / 2, dy: -max(least - rect.height, 0) / 2)
  }

  package init(size: CGSize, isDark: Bool, scale: Double, tiles: TileStore? = nil) {
    self.size = size; self.isDark = isDark; self.scale = scale; self.tiles = tiles
  }
}

extension TrackPoint {
  var coordinate: CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
  }
}

/// What the way may have been: around each place as far as its accuracy says.
package final class AccuracySwath: NSObject, MKOverlay {
  /// A place, and how many map points it may be off.
  let circles: [(centre: MKMapPoint, radius: Double)]
  package let coordinate: CLLocationCoordinate2D
  package let boundingMapRect: MKMapRect

  /// Each line has its points where a stretch has its places, across 180 degrees too.
  init(_ stretches: [[TrackPoint]], along lines: [MKPolyline]) {
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
private final class TrackLineRenderer: MKPolylineRenderer {
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
    let renderer = TrackLineRenderer(overlay: overlay)
    renderer.strokeColor = color
    renderer.edgeColor =
      isDark ? UIColor(white: 0.07, alpha: 0.85) : UIColor(white: 1, alpha: 0.85)
    return renderer
  }
}
