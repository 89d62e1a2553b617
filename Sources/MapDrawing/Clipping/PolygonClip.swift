// What of a surface lies in the picture.

extension PictureRect {
  /// The part of a ring's surface that lies within, as one ring (Sutherland and Hodgman). Where it falls into parts
  /// they hang together along the rectangle's edge, twice over, so that by the even-odd rule nothing is filled there.
  func clipped(ring: [PicturePoint]) -> [PicturePoint] {
    guard let around = PictureRect(around: ring) else { return [] }
    guard !contains(around) else { return ring }
    guard intersects(around) else { return [] }
    var result = ring
    result = Plane.cut(result) { $0.x - minX }
    result = Plane.cut(result) { maxX - $0.x }
    result = Plane.cut(result) { $0.y - minY }
    return Plane.cut(result) { maxY - $0.y }
  }
}
