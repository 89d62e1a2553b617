// Tiles in perspective, made of triangles: SVG knows affine transforms only.

import Geodesy

/// An affine transform as SVG writes it: x' = a x + c y + e, y' = b x + d y + f.
struct Affine: Hashable, Sendable {
  var a: Double
  var b: Double
  var c: Double
  var d: Double
  var e: Double
  var f: Double

  /// The one that takes three points to three others; nil where the first three lie on a line.
  init?(from one: [PicturePoint], to other: [PicturePoint]) {
    guard one.count == 3, other.count == 3 else { return nil }
    let (ux, uy) = (one[1].x - one[0].x, one[1].y - one[0].y)
    let (vx, vy) = (one[2].x - one[0].x, one[2].y - one[0].y)
    let determinant = ux * vy - uy * vx
    guard abs(determinant) > 1e-12 else { return nil }
    let (px, py) = (other[1].x - other[0].x, other[1].y - other[0].y)
    let (qx, qy) = (other[2].x - other[0].x, other[2].y - other[0].y)
    a = (px * vy - qx * uy) / determinant
    b = (py * vy - qy * uy) / determinant
    c = (qx * ux - px * vx) / determinant
    d = (qy * ux - py * vx) / determinant
    e = other[0].x - a * one[0].x - c * one[0].y
    f = other[0].y - b * one[0].x - d * one[0].y
  }

  func applied(to point: PicturePoint) -> PicturePoint {
    PicturePoint(x: a * point.x + c * point.y + e, y: b * point.x + d * point.y + f)
  }
}

/// A triangle of the ground and where it lies in the picture.
struct MeshTriangle: Sendable {
  var ground: [MercatorPoint]
  var picture: [PicturePoint]
}

/// Cuts ground into triangles within which perspective is as good as affine.
struct TileMesh: Sendable {
  let view: Viewport
  let ground: [MercatorPoint]

  /// How far a point may lie from where the camera sees it, points.
  static let tolerance = 0.25
  /// How often a triangle is halved at most.
  private static let depthLimit = 30

  /// The triangles of a rectangle, those that are seen.
  func triangles(of rect: GroundRect) -> [MeshTriangle] {
    let seen = rect.common(GroundRect(around: ground))
    guard seen.minX < seen.maxX, seen.minY < seen.maxY else { return [] }
    let ring = seen.ring
    var result: [MeshTriangle] = []
    var waiting = [([ring[0], ring[1], ring[2]], 0), ([ring[0], ring[2], ring[3]], 0)]
    while let (corners, depth) = waiting.popLast() {
      guard Plane.common(corners, convex: ground).count > 2 else { continue }
      let picture = corners.compactMap(view.unwrappedPicturePoint)
      let side: Int
      if picture.count < 3 {
        // Partly behind the camera: halved until a part is either seen or not.
        side = Self.longest(corners)
      } else {
        let (worst, error) = worstSide(corners, picture)
        guard error > Self.tolerance else {
          result.append(MeshTriangle(ground: corners, picture: picture))
          continue
        }
        side = worst
      }
      guard depth < Self.depthLimit else { continue }
      let (start, end) = (corners[side], corners[(side + 1) % 3])
      let (other, middle) = (corners[(side + 2) % 3], Self.middle(start, end))
      waiting.append(([start, middle, other], depth + 1))
      waiting.append(([middle, end, other], depth + 1))
    }
    return result
  }

  private static func middle(
    _ a: MercatorPoint, _ b: MercatorPoint
  ) -> MercatorPoint {
    MercatorPoint(x: (a.x + b.x) / 2, y: (a.y + b.y) / 2)
  }

  private static func longest(_ corners: [MercatorPoint]) -> Int {
    func length(_ side: Int) -> Double {
      let (a, b) = (corners[side], corners[(side + 1) % 3])
      return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)
    }
    return (0..<3).max { length($0) < length($1) } ?? 0
  }

  /// The side in whose middle perspective and the affine picture differ most, and by how much there or in the triangle's
  /// middle.
  private func worstSide(
    _ corners: [MercatorPoint], _ picture: [PicturePoint]
  ) -> (side: Int, error: Double) {
    var (worst, most) = (0, -1.0)
    for side in 0..<3 {
      let next = (side + 1) % 3
      guard let seen = view.unwrappedPicturePoint(of: Self.middle(corners[side], corners[next]))
      else { return (side, .infinity) }
      let error = seen.distance(to: picture[side].toward(picture[next], 0.5))
      if error > most { (worst, most) = (side, error) }
    }
    let middle = MercatorPoint(
      x: (corners[0].x + corners[1].x + corners[2].x) / 3,
      y: (corners[0].y + corners[1].y + corners[2].y) / 3)
    guard let seen = view.unwrappedPicturePoint(of: middle) else { return (worst, .infinity) }
    let flat = PicturePoint(
      x: (picture[0].x + picture[1].x + picture[2].x) / 3,
      y: (picture[0].y + picture[1].y + picture[2].y) / 3)
    return (worst, max(most, seen.distance(to: flat)))
  }
}
