/// A part of the picture with sides along its edges.
struct PictureRect: Hashable, Sendable {
  var minX: Double
  var minY: Double
  var maxX: Double
  var maxY: Double

  func grown(by margin: Double) -> PictureRect {
    PictureRect(
      minX: minX - margin, minY: minY - margin, maxX: maxX + margin, maxY: maxY + margin)
  }

  func contains(_ point: PicturePoint) -> Bool {
    point.x >= minX && point.x <= maxX && point.y >= minY && point.y <= maxY
  }

  func contains(_ other: PictureRect) -> Bool {
    other.minX >= minX && other.maxX <= maxX && other.minY >= minY && other.maxY <= maxY
  }

  func intersects(_ other: PictureRect) -> Bool {
    other.minX <= maxX && other.maxX >= minX && other.minY <= maxY && other.maxY >= minY
  }

  /// The smallest one that holds all points; nil where there are none.
  init?(around points: some Sequence<PicturePoint>) {
    var low = PicturePoint(x: .infinity, y: .infinity)
    var high = PicturePoint(x: -.infinity, y: -.infinity)
    for point in points {
      low = PicturePoint(x: min(low.x, point.x), y: min(low.y, point.y))
      high = PicturePoint(x: max(high.x, point.x), y: max(high.y, point.y))
    }
    guard low.x <= high.x else { return nil }
    self.init(minX: low.x, minY: low.y, maxX: high.x, maxY: high.y)
  }

  init(minX: Double, minY: Double, maxX: Double, maxY: Double) {
    self.minX = minX
    self.minY = minY
    self.maxX = maxX
    self.maxY = maxY
  }
}

extension PicturePoint {
  /// Whether it can be reckoned with: a number, and not so far away that differences lose all digits.
  var isDrawable: Bool { abs(x) < 1e13 && abs(y) < 1e13 }

  /// The point between this and another, a share of the way on.
  func toward(_ other: PicturePoint, _ share: Double) -> PicturePoint {
    PicturePoint(x: x + (other.x - x) * share, y: y + (other.y - y) * share)
  }

  /// How far another point is.
  func distance(to other: PicturePoint) -> Double {
    ((other.x - x) * (other.x - x) + (other.y - y) * (other.y - y)).squareRoot()
  }
}
