// The shapes of a way on the map. Lengths are in widths of the map.

import Geodesy
import Glibc
import MapDrawing

/// A rectangle of the map, which may go on beyond an edge.
struct TrackRect: Equatable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double

  /// No rectangle: what a union starts from.
  static let none = TrackRect(x: .infinity, y: .infinity, width: 0, height: 0)

  var middle: MercatorPoint { MercatorPoint(x: x + width / 2, y: y + height / 2) }

  /// The smallest one that holds both.
  func union(_ other: TrackRect) -> TrackRect {
    if x.isInfinite { return other }
    let (west, north) = (min(x, other.x), min(y, other.y))
    return TrackRect(
      x: west, y: north, width: max(x + width, other.x + other.width) - west,
      height: max(y + height, other.y + other.height) - north)
  }

  /// The rectangle with its sides moved outwards.
  func grown(byX dx: Double, y dy: Double) -> TrackRect {
    TrackRect(x: x - dx, y: y - dy, width: width + 2 * dx, height: height + 2 * dy)
  }

  /// How wide a metre from west to east is on the map.
  static func widthOfMetre(atLatitude latitude: Double) -> Double {
    1 / (WGS84.metresPerDegree(atLatitude: latitude).east * 360)
  }

  /// Returns how far a shape in this rectangle is moved, in widths of the map: its middle is then on the side of 180 degrees that is
  /// nearer to the picture's middle.
  func shift(in view: Viewport) -> Double {
    let step = middle.x - view.centre.x
    return step.remainder(dividingBy: 1) - step
  }
}

extension TrackPoint {
  var projected: MercatorPoint {
    WebMercator.project(Position(latitude: latitude, longitude: longitude))
  }
}

/// A stretch of the way on the map.
struct TrackLine {
  let places: [TrackPoint]
  /// Where the places lie. A line across 180 degrees goes on beyond the map's edge, the shorter way.
  let points: [MercatorPoint]
  /// The smallest rectangle that holds it.
  let rect: TrackRect

  init(_ places: [TrackPoint]) {
    var points: [MercatorPoint] = []
    var rect = TrackRect.none
    for place in places {
      var point = place.projected
      if let last = points.last {
        point.x = last.x + (point.x - last.x).remainder(dividingBy: 1)
      }
      points.append(point)
      rect = rect.union(TrackRect(x: point.x, y: point.y, width: 0, height: 0))
    }
    (self.places, self.points, self.rect) = (places, points, rect)
  }

  /// The line upon its edge.
  func shapes(_ colour: Colour, edge: Colour, in view: Viewport) -> [MapShape] {
    let shift = rect.shift(in: view)
    let subpath = points.compactMap {
      view.unwrappedPicturePoint(of: MercatorPoint(x: $0.x + shift, y: $0.y))
    }
    return [(edge, 5), (colour, 2.6)].map { colour, width in
      .path(
        subpaths: [subpath], closed: false, fill: nil, stroke: Stroke(colour: colour, width: width))
    }
  }
}

/// What the way may have been: around each place as far as its accuracy says.
struct AccuracySwath {
  /// A place, and how far it may be off.
  let circles: [(centre: MercatorPoint, radius: Double)]
  /// The smallest rectangle that holds the lines and the circles.
  let rect: TrackRect
  /// The directions of the corners of the polygon that is drawn as a circle, in radians.
  private static let corners = (0..<128).map { 2 * Double.pi * Double($0) / 128 }

  init(_ lines: [TrackLine]) {
    var rect = TrackRect.none
    var circles: [(centre: MercatorPoint, radius: Double)] = []
    for line in lines {
      rect = rect.union(line.rect)
      for (point, place) in zip(line.points, line.places) {
        guard let accuracy = place.accuracy else { continue }
        let radius = accuracy * TrackRect.widthOfMetre(atLatitude: place.latitude)
        circles.append((point, radius))
        rect = rect.union(
          TrackRect(
            x: point.x - radius, y: point.y - radius, width: 2 * radius, height: 2 * radius))
      }
    }
    (self.circles, self.rect) = (circles, rect)
  }

  /// Circles so close that they look like one area.
  func shape(_ colour: Colour, in view: Viewport) -> MapShape {
    let shift = rect.shift(in: view)
    let scale = view.pointsPerWorld
    var shapes: [MapShape] = []
    var last: (centre: MercatorPoint, radius: Double)?
    for circle in circles where circle.radius * scale > 0.5 {
      // A circle that another one all but covers shows nothing new.
      if let last {
        let step = hypot(circle.centre.x - last.centre.x, circle.centre.y - last.centre.y)
        let new = step + abs(circle.radius - last.radius)
        if new < max(0.15 * circle.radius, 0.5 / scale) { continue }
      }
      last = circle
      let ring = Self.corners.compactMap { angle in
        view.unwrappedPicturePoint(
          of: MercatorPoint(
            x: circle.centre.x + circle.radius * cos(angle) + shift,
            y: circle.centre.y + circle.radius * sin(angle)))
      }
      shapes.append(.path(subpaths: [ring], closed: true, fill: colour, stroke: nil))
    }
    return .group(shapes, opacity: 0.22)
  }
}
