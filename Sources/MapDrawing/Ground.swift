// What of the earth a picture shows.

import Geodesy
import LinearAlgebra

extension Viewport {
  /// The largest picture, points to a side.
  static let sizeLimit = 16_384.0

  /// The viewport with its values within their ranges; nil where one of them is no number, and nothing can be shown.
  var drawable: Viewport? {
    guard centre.x.isFinite, abs(centre.y) < 100, heading.isFinite, pitch.isFinite,
      pointsPerWorld > 0, pointsPerWorld < 1e12, width > 0, height > 0, width <= Self.sizeLimit,
      height <= Self.sizeLimit
    else { return nil }
    var view = self
    view.centre.x -= floor(centre.x)
    view.heading = heading.remainder(dividingBy: 2 * .pi)
    // What a full turn has left behind.
    if abs(view.heading) < 1e-9 { view.heading = 0 }
    view.pitch = min(max(pitch, 0), Self.pitchLimit)
    return view
  }

  /// The part of the map that the picture shows, a convex ring. The earth is shown once: half of it to the west of the
  /// middle and half to the east, as `picturePoint(of:)` places things.
  var ground: [MercatorPoint] {
    var ring = corners
    guard ring.count == 4 else { return [] }
    ring = Plane.cut(ring) { $0.x - (centre.x - 0.5) }
    ring = Plane.cut(ring) { centre.x + 0.5 - $0.x }
    ring = Plane.cut(ring) { $0.y }
    ring = Plane.cut(ring) { 1 - $0.y }
    return ring.count > 2 ? ring : []
  }

  var frame: PictureRect { PictureRect(minX: 0, minY: 0, maxX: width, maxY: height) }

  /// Whether north is up and the camera looks straight down.
  var isPlain: Bool { heading == 0 && pitch == 0 }
}

/// A rectangle of the map's plane.
struct GroundRect: Hashable, Sendable {
  var minX: Double
  var minY: Double
  var maxX: Double
  var maxY: Double

  /// The corners, clockwise from the upper left one.
  var ring: [MercatorPoint] {
    [(minX, minY), (maxX, minY), (maxX, maxY), (minX, maxY)]
      .map { MercatorPoint(x: $0, y: $1) }
  }

  /// What this and another have in common.
  func common(_ other: GroundRect) -> GroundRect {
    GroundRect(
      minX: max(minX, other.minX), minY: max(minY, other.minY), maxX: min(maxX, other.maxX),
      maxY: min(maxY, other.maxY))
  }

  init(minX: Double, minY: Double, maxX: Double, maxY: Double) {
    self.minX = minX
    self.minY = minY
    self.maxX = maxX
    self.maxY = maxY
  }

  /// The smallest one that holds a ring; empty for none.
  init(around ring: [MercatorPoint]) {
    self.init(
      minX: ring.map(\.x).min() ?? 0, minY: ring.map(\.y).min() ?? 0,
      maxX: ring.map(\.x).max() ?? 0, maxY: ring.map(\.y).max() ?? 0)
  }
}
