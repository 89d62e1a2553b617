// Where annotations are found without looking at each.

/// A quadtree over the map: which of many points lie in a rectangle.
///
/// A square of more than a dozen points is divided into four, down to a map point. All squares stand in one array.
struct PointIndex<Element> {
  private struct Entry {
    var point: MKMapPoint
    var id: ObjectIdentifier
    var element: Element
  }

  private struct Square {
    var entries: [Entry] = []
    /// Where the first of its four quarters stands: north-west, north-east, south-west, south-east.
    var quarters: Int?
  }

  private static var capacity: Int { 12 }
  private static var depth: Int { 28 }

  private var squares = [Square()]
  private var places: [ObjectIdentifier: MKMapPoint] = [:]

  /// How many points there are.
  var count: Int { places.count }

  /// Where an element is, if it is there.
  func place(of id: ObjectIdentifier) -> MKMapPoint? { places[id] }

  /// Puts an element at a point, or moves it there. What is not on the map is remembered and never found.
  mutating func set(_ element: Element, id: ObjectIdentifier, at point: MKMapPoint) {
    if let old = places[id] {
      if old == point { return }
      remove(id)
    }
    places[id] = point
    guard MKMapRect.world.holds(point) else { return }
    insert(Entry(point: point, id: id, element: element), below: 0, in: .world, depth: 0)
  }

  /// Takes an element out.
  mutating func remove(_ id: ObjectIdentifier) {
    guard let point = places.removeValue(forKey: id), MKMapRect.world.holds(point) else { return }
    var (index, rect) = (0, MKMapRect.world)
    while let quarters = squares[index].quarters {
      let which = rect.quarter(of: point)
      index = quarters + which
      rect = rect.quarter(which)
    }
    squares[index].entries.removeAll { $0.id == id }
  }

  private mutating func insert(_ entry: Entry, below start: Int, in whole: MKMapRect, depth: Int) {
    var (index, rect, depth) = (start, whole, depth)
    while let quarters = squares[index].quarters {
      let which = rect.quarter(of: entry.point)
      index = quarters + which
      rect = rect.quarter(which)
      depth += 1
    }
    squares[index].entries.append(entry)
    guard squares[index].entries.count > Self.capacity, depth < Self.depth else { return }
    let entries = squares[index].entries
    squares[index].entries = []
    squares[index].quarters = squares.count
    squares.append(contentsOf: repeatElement(Square(), count: 4))
    for entry in entries { insert(entry, below: index, in: rect, depth: depth) }
  }

  /// Calls `body` with each element in a rectangle, its sides included.
  func forEach(in wanted: MKMapRect, _ body: (ObjectIdentifier, Element) -> Void) {
    guard !wanted.isNull else { return }
    visit(0, .world, wanted, body)
  }

  private func visit(
    _ index: Int, _ rect: MKMapRect, _ wanted: MKMapRect,
    _ body: (ObjectIdentifier, Element) -> Void
  ) {
    guard rect.touches(wanted) else { return }
    for entry in squares[index].entries where wanted.holds(entry.point) {
      body(entry.id, entry.element)
    }
    guard let quarters = squares[index].quarters else { return }
    for which in 0..<4 { visit(quarters + which, rect.quarter(which), wanted, body) }
  }
}

extension MKMapRect {
  /// Whether a point lies in it or on one of its sides.
  func holds(_ point: MKMapPoint) -> Bool {
    point.x >= minX && point.x <= maxX && point.y >= minY && point.y <= maxY
  }

  /// Whether both have a point in common, be it on a side.
  func touches(_ rect: MKMapRect) -> Bool {
    minX <= rect.maxX && maxX >= rect.minX && minY <= rect.maxY && maxY >= rect.minY
  }

  fileprivate func quarter(of point: MKMapPoint) -> Int {
    (point.x < midX ? 0 : 1) + (point.y < midY ? 0 : 2)
  }

  fileprivate func quarter(_ which: Int) -> MKMapRect {
    MKMapRect(
      x: which & 1 == 0 ? minX : midX, y: which & 2 == 0 ? minY : midY, width: width / 2,
      height: height / 2)
  }
}
