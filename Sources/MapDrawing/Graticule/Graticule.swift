// Meridians and parallels: what is drawn where no tile is.

import Geodesy

/// The lines of a picture. On this map all of them are straight, from whatever side the camera looks.
struct Graticule: Sendable {
  private(set) var lines: [GraticuleLine] = []
  let meridianStep: AngleStep
  let parallelStep: AngleStep

  /// Lines over what is seen, a convex ring of the map.
  init(view: Viewport, ground: [MercatorPoint]) {
    // Four or five lines across the shorter side.
    let spacing = min(max(min(view.width, view.height) / 4.5, 80), 190)
    let range = GroundRect(around: ground)
    meridianStep = .nearest(to: spacing / view.pointsPerWorld * 360)
    // Parallels lie farther apart towards the poles: what counts is how many there are.
    let north = Self.latitude(range.minY)
    let south = Self.latitude(range.maxY)
    let count = (range.maxY - range.minY) * view.pointsPerWorld / spacing
    parallelStep = .nearest(to: max(north - south, 1e-12) / max(count, 1))
    guard ground.count > 2 else { return }

    let meridians = meridianStep.multiples(from: range.minX * 360 - 180, to: range.maxX * 360 - 180)
    for angle in meridians {
      let x = (angle.degrees + 180) / 360
      let ends = Self.crossings(ground.map { ($0.x, $0.y) }, x)
        .map { MercatorPoint(x: x, y: $0) }
      let wrapped = angle.wrapped
      add(
        ends, view, meridianStep.text(wrapped, positive: "E", negative: "W"),
        isMain: wrapped.microseconds % (180 * MicroArcseconds.microsecondsPerDegree) == 0)
    }
    for angle in parallelStep.multiples(from: south, to: north) {
      let y = WebMercator.project(Position(latitude: angle.degrees, longitude: 0)).y
      let ends = Self.crossings(ground.map { ($0.y, $0.x) }, y)
        .map { MercatorPoint(x: $0, y: y) }
      add(
        ends, view, parallelStep.text(angle, positive: "N", negative: "S"),
        isMain: angle.microseconds == 0)
    }
  }

  private static func latitude(_ y: Double) -> Double {
    WebMercator.position(of: MercatorPoint(x: 0, y: y)).latitude
  }

  /// Where a line of one coordinate enters a convex ring and leaves it, as the other coordinate; none where it only
  /// touches it.
  private static func crossings(_ ring: [(Double, Double)], _ place: Double) -> [Double] {
    guard var from = ring.last else { return [] }
    var (low, high) = (Double.infinity, -Double.infinity)
    for to in ring {
      if (from.0 < place) != (to.0 < place) {
        let other = from.1 + (to.1 - from.1) * (place - from.0) / (to.0 - from.0)
        (low, high) = (min(low, other), max(high, other))
      }
      from = to
    }
    return low < high ? [low, high] : []
  }

  private mutating func add(
    _ ends: [MercatorPoint], _ view: Viewport, _ label: String, isMain: Bool
  ) {
    let places = ends.compactMap(view.unwrappedPicturePoint)
    guard places.count == 2 else { return }
    lines.append(GraticuleLine(start: places[0], end: places[1], label: label, isMain: isMain))
  }
}

struct GraticuleLine: Hashable, Sendable {
  var start: PicturePoint
  var end: PicturePoint
  var label: String
  /// The equator, the meridians 0 and 180.
  var isMain: Bool
}
