// The dot, its circle and its cone as shapes.

import Geodesy
import LinearAlgebra

/// A sector whose colour fades outwards.
struct Cone: Hashable, Sendable {
  var centre: PicturePoint
  var radius: Double
  /// Radians clockwise from up.
  var direction: Double
  var halfWidth: Double
  var colour: Colour

  /// The outline: the middle, and the arc in steps of 5 degrees at most.
  var outline: [PicturePoint] {
    let steps = max(2, Int((halfWidth * 2 / 0.087).rounded(.up)))
    let arc = (0...steps).map { step in
      let angle = direction - halfWidth + 2 * halfWidth * Double(step) / Double(steps)
      return PicturePoint(
        x: centre.x + radius * sin(angle), y: centre.y - radius * cos(angle))
    }
    return [centre] + arc
  }
}

struct UserLocationDrawing: Sendable {
  let mark: UserLocationMark
  let view: Viewport
  let palette: Palette

  private var colour: Colour { mark.isStale ? palette.staleUser : palette.user }

  /// The circle; below what is annotated.
  var circle: [MapShape] {
    guard let radius = mark.accuracyRadius, radius.isFinite, radius > 0 else { return [] }
    let fill = colour.withAlpha(0.15)
    let stroke = Stroke(colour: colour.withAlpha(0.45), width: 1)
    guard view.pitch > 0 else {
      return [.circle(centre: mark.position, radius: radius, fill: fill, stroke: stroke)]
    }
    guard let middle = view.worldPoint(at: mark.position) else { return [] }
    let size = radius / view.pointsPerWorld
    let ring = (0..<90).compactMap { step in
      let angle = Double(step) * .pi / 45
      return view.unwrappedPicturePoint(
        of: MercatorPoint(x: middle.x + size * sin(angle), y: middle.y - size * cos(angle)))
    }
    // Partly behind the camera it is no circle.
    guard ring.count == 90 else { return [] }
    return [.path(subpaths: [ring], closed: true, fill: fill, stroke: stroke)]
  }

  /// The cone, where it can be one.
  var cone: Cone? {
    guard let direction = mark.headingDirection, direction.isFinite, mark.position.isDrawable,
      mark.headingHalfWidth > 0
    else { return nil }
    return Cone(
      centre: mark.position, radius: 44, direction: direction,
      halfWidth: min(max(mark.headingHalfWidth, 0.12), .pi), colour: colour)
  }

  /// The dot; above everything.
  var dot: [MapShape] {
    let shadow = PicturePoint(x: mark.position.x, y: mark.position.y + 1)
    return [
      .circle(centre: shadow, radius: 11, fill: Colour.black.withAlpha(0.16), stroke: nil),
      .circle(centre: mark.position, radius: 10, fill: palette.userRing, stroke: nil),
      .circle(centre: mark.position, radius: 7, fill: colour, stroke: nil),
    ]
  }
}
