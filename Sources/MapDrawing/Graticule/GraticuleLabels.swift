// The words at meridians and parallels.

/// Places words on lines, each near an edge of the picture and none over another.
struct GraticuleLabels: Sendable {
  let view: Viewport
  let style: TextStyle
  /// What else stands in the picture.
  private(set) var taken: [PictureRect]

  /// How far words stay from the picture's edge, points.
  private static let inset = 5.0

  init(view: Viewport, style: TextStyle, taken: [PictureRect]) {
    self.view = view
    self.style = style
    self.taken = taken
  }

  /// The words, centred on their lines; `isBare` is asked where there may be some.
  mutating func shapes(
    _ lines: [GraticuleLine], isBare: (PicturePoint) -> Bool
  ) -> [MapShape] {
    var shapes: [MapShape] = []
    for line in lines {
      let width = style.width(of: line.label)
      // RecordPhrases that are nearly as long as their line would stand in its place.
      guard line.start.distance(to: line.end) > width + 24 else { continue }
      for (near, far) in ends(of: line) {
        guard let middle = place(from: near, to: far, width: width) else { continue }
        let box = PictureRect(
          minX: middle.x - width / 2 - 4, minY: middle.y - style.size * 0.75,
          maxX: middle.x + width / 2 + 4, maxY: middle.y + style.size * 0.75)
        guard !taken.contains(where: box.intersects), isBare(middle) else { continue }
        taken.append(box)
        // From the middle of the capitals to the line they stand on.
        let base = PicturePoint(x: middle.x, y: middle.y + style.size * 0.36)
        shapes.append(.text(line.label, at: base, style: style))
        break
      }
    }
    return shapes
  }

  /// Both ends of a line, first the one where it is looked for: above for an upright one, at the left for a lying one.
  private func ends(of line: GraticuleLine) -> [(PicturePoint, PicturePoint)] {
    let isUpright = abs(line.end.y - line.start.y) > abs(line.end.x - line.start.x)
    let isForward = isUpright ? line.start.y <= line.end.y : line.start.x <= line.end.x
    let ends = [(line.start, line.end), (line.end, line.start)]
    return isForward ? ends : ends.reversed()
  }

  /// The first place on a line's way in at which words are wholly within the picture.
  private func place(
    from near: PicturePoint, to far: PicturePoint, width: Double
  ) -> PicturePoint? {
    let (x, y) = (Self.inset + width / 2, Self.inset + style.size / 2)
    guard 2 * x < view.width, 2 * y < view.height else { return nil }
    let inner = PictureRect(minX: x, minY: y, maxX: view.width - x, maxY: view.height - y)
    guard let shares = inner.shares(from: near, to: far) else { return nil }
    // At the map's edge words begin where the map does.
    let length = near.distance(to: far)
    let (across, down) = (abs(far.x - near.x) / length, abs(far.y - near.y) / length)
    let clear = min(x / max(across, 1e-9), y / max(down, 1e-9)) / length
    let share = max(shares.lowerBound, clear)
    return share <= shares.upperBound ? near.toward(far, share) : nil
  }
}
