// Surfaces of the picture and of the map's plane alike.

import Geodesy

/// A point of a plane.
protocol PlanePoint: Equatable {
  var x: Double { get }
  var y: Double { get }
  init(x: Double, y: Double)
}

extension PicturePoint: PlanePoint {}
extension MercatorPoint: PlanePoint {}

enum Plane {
  /// The part of a ring that lies on the side on which `within` is not negative. It must be linear.
  static func cut<Point: PlanePoint>(_ ring: [Point], _ within: (Point) -> Double) -> [Point] {
    guard var from = ring.last else { return [] }
    var result: [Point] = []
    result.reserveCapacity(ring.count + 4)
    var before = within(from)
    for to in ring {
      let after = within(to)
      if (before < 0) != (after < 0) {
        let share = before / (before - after)
        result.append(
          Point(x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share))
      }
      if after >= 0 { result.append(to) }
      (from, before) = (to, after)
    }
    return result
  }

  /// What two surfaces have in common; the second one is convex, in either direction.
  static func common<Point: PlanePoint>(_ ring: [Point], convex: [Point]) -> [Point] {
    let turn = area(convex) < 0 ? -1.0 : 1
    var result = ring
    for (index, start) in convex.enumerated() where !result.isEmpty {
      let end = convex[(index + 1) % convex.count]
      guard start != end else { continue }
      result = cut(result) { point in
        turn
          * ((end.x - start.x) * (point.y - start.y) - (end.y - start.y) * (point.x - start.x))
      }
    }
    return result
  }

  /// A ring's area, positive for one that runs from x to y.
  static func area<Point: PlanePoint>(_ ring: [Point]) -> Double {
    guard let origin = ring.first, var from = ring.last else { return 0 }
    var sum = 0.0
    for to in ring {
      sum +=
        (from.x - origin.x) * (to.y - origin.y) - (to.x - origin.x) * (from.y - origin.y)
      from = to
    }
    return sum / 2
  }

  /// A convex ring with each of its sides moved outwards. Sharp corners are cut off as far outside.
  static func grown(_ ring: [PicturePoint], by distance: Double) -> [PicturePoint] {
    // Sides without a length have no direction.
    var corners: [PicturePoint] = []
    for point in ring where corners.last.map({ $0.distance(to: point) > 1e-6 }) ?? true {
      corners.append(point)
    }
    if corners.count > 1, corners[0].distance(to: corners[corners.count - 1]) <= 1e-6 {
      corners.removeLast()
    }
    guard corners.count > 2 else { return ring }
    let turn = area(corners) < 0 ? -1.0 : 1
    func moved(_ corner: PicturePoint, _ x: Double, _ y: Double) -> PicturePoint {
      PicturePoint(x: corner.x + x * distance, y: corner.y + y * distance)
    }
    return corners.indices.flatMap { index -> [PicturePoint] in
      let corner = corners[index]
      let before = corners[(index + corners.count - 1) % corners.count]
      let after = corners[(index + 1) % corners.count]
      let (one, other) = (before.distance(to: corner), corner.distance(to: after))
      // The directions in which the sides run, and their normals to the outside.
      let (ax, ay) = ((corner.x - before.x) / one, (corner.y - before.y) / one)
      let (bx, by) = ((after.x - corner.x) / other, (after.y - corner.y) / other)
      let (nx, ny, mx, my) = (turn * ay, -turn * ax, turn * by, -turn * bx)
      let share = 1 + nx * mx + ny * my
      guard share < 0.5 else { return [moved(corner, (nx + mx) / share, (ny + my) / share)] }
      return [moved(corner, nx + ax, ny + ay), moved(corner, mx - bx, my - by)]
    }
  }
}
