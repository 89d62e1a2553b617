// What of a line lies in the picture.

/// A part of a line, and how far from the line's beginning it begins: dashes go on where they were.
struct LinePiece: Hashable, Sendable {
  var points: [PicturePoint]
  var offset: Double
  /// Whether it is the whole of a ring.
  var isRing = false
}

extension PictureRect {
  /// The shares of a way at which it enters and leaves; nil where it stays outside (Liang and Barsky).
  func shares(from start: PicturePoint, to end: PicturePoint) -> ClosedRange<Double>? {
    var (first, last) = (0.0, 1.0)
    func narrow(_ place: Double, _ step: Double, _ low: Double, _ high: Double) -> Bool {
      guard step != 0 else { return place >= low && place <= high }
      let (one, other) = ((low - place) / step, (high - place) / step)
      first = max(first, min(one, other))
      last = min(last, max(one, other))
      return first <= last
    }
    guard narrow(start.x, end.x - start.x, minX, maxX),
      narrow(start.y, end.y - start.y, minY, maxY)
    else { return nil }
    return first...last
  }

  /// The parts of a line that lie within. A ring goes on from its last point to its first.
  func pieces(of points: [PicturePoint], closed: Bool) -> [LinePiece] {
    guard let start = points.first else { return [] }
    guard !points.allSatisfy(contains) else {
      return [LinePiece(points: points, offset: 0, isRing: closed)]
    }
    var pieces: [LinePiece] = []
    // Whether the last piece goes on.
    var isOpen = false
    var length = 0.0
    var from = start
    for to in closed ? points.dropFirst() + [start] : points.dropFirst() {
      let step = from.distance(to: to)
      if let shares = shares(from: from, to: to) {
        let entry = shares.lowerBound == 0 ? from : from.toward(to, shares.lowerBound)
        let exit = shares.upperBound == 1 ? to : from.toward(to, shares.upperBound)
        if !isOpen {
          pieces.append(LinePiece(points: [entry], offset: length + step * shares.lowerBound))
        }
        pieces[pieces.count - 1].points.append(exit)
        isOpen = shares.upperBound == 1
      } else {
        isOpen = false
      }
      length += step
      from = to
    }
    // A ring that begins within is not torn where it begins.
    if closed, isOpen, pieces.count > 1, let first = pieces.first, first.offset == 0,
      first.points.first == start
    {
      pieces[pieces.count - 1].points += first.points.dropFirst()
      pieces.removeFirst()
    }
    return pieces
  }
}
