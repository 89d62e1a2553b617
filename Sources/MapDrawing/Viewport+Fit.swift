// The viewport that a part of the map fits into.

package import Geodesy

/// Points of a picture that stay free at its sides.
package struct PictureMargins: Hashable, Sendable {
  package var top: Double
  package var left: Double
  package var bottom: Double
  package var right: Double

  package init(top: Double = 0, left: Double = 0, bottom: Double = 0, right: Double = 0) {
    (self.top, self.left, self.bottom, self.right) = (top, left, bottom, right)
  }
}

extension Viewport {
  /// The largest scale: eight points for each of the 2^28 map points from west to east, which is 1.9 cm a point at the equator.
  package static let largestScale = 8 * 268_435_456.0

  /// The whole earth in a picture of a size in points.
  package static func wholeEarth(width: Double, height: Double) -> Viewport {
    Viewport(
      centre: MercatorPoint(x: 0.5, y: 0.5), pointsPerWorld: 480, width: max(width, 1),
      height: max(height, 1)
    ).settled
  }

  /// A viewport that may be: the middle on the map, the scale between the whole of it in the shorter side and a few
  /// millimetres a point, the heading from 0 to a turn.
  package var settled: Viewport {
    var view = self
    view.centre.x -= view.centre.x.rounded(.down)
    view.centre.y = min(max(view.centre.y, 0), 1)
    let smallest = max(min(width, height), 1)
    view.pointsPerWorld = min(max(pointsPerWorld, smallest), Self.largestScale)
    view.heading -= (heading / (2 * .pi)).rounded(.down) * 2 * .pi
    view.pitch = min(max(pitch, 0), Self.pitchLimit)
    return view
  }

  /// Returns the viewport that shows a rectangle of the map around its middle, north up and flat, between margins; `nil` if a
  /// number is not finite or negative.
  ///
  /// - Parameters:
  ///   - middle: The rectangle's middle.
  ///   - size: Its width and height, in widths of the map.
  ///   - margins: What stays free of it.
  package func showing(
    _ middle: MercatorPoint, size: (width: Double, height: Double), margins: PictureMargins
  ) -> Viewport? {
    guard middle.x.isFinite, middle.y.isFinite, size.width >= 0, size.height >= 0 else {
      return nil
    }
    // Margins that leave nothing leave a point.
    let (wide, high) = (
      max(width - margins.left - margins.right, 1), max(height - margins.top - margins.bottom, 1)
    )
    var view = self
    view.heading = 0
    view.pitch = 0
    view.pointsPerWorld = min(wide / size.width, high / size.height)
    view.pointsPerWorld = view.settled.pointsPerWorld
    // The rectangle's middle is that of what the margins leave.
    let right = (margins.left - margins.right) / 2 / view.pointsPerWorld
    let down = (margins.top - margins.bottom) / 2 / view.pointsPerWorld
    view.centre = MercatorPoint(x: middle.x - right, y: middle.y - down)
    return view.settled
  }
}
