// Fewer points for the same line.

/// Leaves points out of lines.
enum Simplification {
  /// How far a line may lie from where it was, points.
  static let tolerance = 0.25

  /// As many points are looked at together: the work in the worst case is a square of this.
  private static let span = 2048

  /// The line with as few points as keep it within `tolerance` (Douglas and Peucker). Both ends stay.
  static func simplified(_ points: [PicturePoint], tolerance: Double = tolerance) -> [PicturePoint]
  {
    guard points.count > 2 else { return points }
    var isKept = [Bool](repeating: false, count: points.count)
    points.withUnsafeBufferPointer { points in
      var start = 0
      while start < points.count - 1 {
        let end = min(start + span, points.count - 1)
        mark(points, start, end, tolerance, &isKept)
        start = end
      }
    }
    return points.indices.compactMap { isKept[$0] ? points[$0] : nil }
  }

  private static func mark(
    _ points: UnsafeBufferPointer<PicturePoint>, _ start: Int, _ end: Int, _ tolerance: Double,
    _ isKept: inout [Bool]
  ) {
    isKept[start] = true
    isKept[end] = true
    var waiting = [(start, end)]
    while let (first, last) = waiting.popLast() {
      var (farthest, most) = (first, tolerance * tolerance)
      for index in first + 1..<max(last, first + 1) {
        let distance = squaredDistance(points[index], points[first], points[last])
        if distance > most { (farthest, most) = (index, distance) }
      }
      guard farthest > first else { continue }
      isKept[farthest] = true
      waiting.append((first, farthest))
      waiting.append((farthest, last))
    }
  }

  /// From a point to what is nearest of the line between two others.
  private static func squaredDistance(
    _ point: PicturePoint, _ start: PicturePoint, _ end: PicturePoint
  ) -> Double {
    let (dx, dy) = (end.x - start.x, end.y - start.y)
    let length = dx * dx + dy * dy
    let along = (point.x - start.x) * dx + (point.y - start.y) * dy
    let share = length > 0 ? min(max(along / length, 0), 1) : 0
    let (x, y) = (start.x + share * dx - point.x, start.y + share * dy - point.y)
    return x * x + y * y
  }
}
