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
    for (place, step, low, high) in [
      (start.x, end.x - start.x, minX, maxX), (start.y, end.y - start.y, minY, maxY),
    ] {
      if step == 0 {
        guard place >= low, place <= high else { return nil }
        continue
      }
      let (one, other) = ((low - place) / step, (high - place) / step)
      first = max(first, min(one, other))
      last = min(last, max(one, other))
      guard first <= last else { return nil }
    }
    return first...last
  }

  /// The parts of a line that lie within. A ring goes on from its last point to its first.
  func pieces(of points: [PicturePoint], closed: Bool) -> [LinePiece] {
    guard let start = points.first else { return [] }
    guard !points.allSatisfy(contains) else {
      return [LinePiece(points: points, offset: 0, isRing: closed)]
    }
    var pieces: [LinePiece] = []
    var current: LinePiece?
    var length = 0.0
    var from = start
    for to in closed ? points.dropFirst() + [start] : points.dropFirst() {
      let step = from.distance(to: to)
      if let shares = shares(from: from, to: to) {
        let entry = shares.lowerBound == 0 ? from : from.toward(to, shares.lowerBound)
        let exit = shares.upperBound == 1 ? to : from.toward(to, shares.upperBound)
        var piece =
          current ?? LinePiece(points: [entry], offset: length + step * shares.lowerBound)
        piece.points.append(exit)
        current = piece
        if shares.upperBound < 1 {
          pieces.append(piece)
          current = nil
        }
      } else if let piece = current {
        pieces.append(piece)
        current = nil
      }
      length += step
      from = to
    }
    if var last = current {
      // A ring that begins within is not torn where it begins.
      if closed, let first = pieces.first, first.offset == 0, first.points.first == start {
        last.points += first.points.dropFirst()
        pieces.removeFirst()
      }
      pieces.append(last)
    }
    return pieces
  }
}
