// Surfaces of the picture and of the map's plane alike.

import Geodesy

/// A point of a plane.
protocol PlanePoint: Equatable {
  var x: Double { get }
  var y: Double { get }
  init(x: Double, y: Double)
}

extension PicturePoint: PlanePoint {}
extension WebMercator.Point: PlanePoint {}

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

  /// A convex ring with each of its sides moved outwards. Sharp corners move three times as far at most.
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
    func normal(_ start: PicturePoint, _ end: PicturePoint) -> PicturePoint {
      let length = start.distance(to: end)
      return PicturePoint(
        x: turn * (end.y - start.y) / length, y: -turn * (end.x - start.x) / length)
    }
    return corners.indices.map { index in
      let corner = corners[index]
      let one = normal(corners[(index + corners.count - 1) % corners.count], corner)
      let other = normal(corner, corners[(index + 1) % corners.count])
      var move = PicturePoint(x: one.x + other.x, y: one.y + other.y)
      let share = 1 + one.x * other.x + one.y * other.y
      let factor = share > 1e-9 ? 1 / share : 0
      move = PicturePoint(x: move.x * factor, y: move.y * factor)
      let length = PicturePoint(x: 0, y: 0).distance(to: move)
      let limit = length > 3 ? 3 / length : 1
      return PicturePoint(
        x: corner.x + move.x * distance * limit, y: corner.y + move.y * distance * limit)
    }
  }
}
