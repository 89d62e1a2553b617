import Foundation
import Testing

@testable import MapDrawing

/// Lines and surfaces within a rectangle.
@Suite struct ClippingTests {
  let frame = PictureRect(minX: 0, minY: 0, maxX: 100, maxY: 60)

  private func points(
    _ count: Int, _ dice: inout Dice, _ range: ClosedRange<Double> = -80...180
  ) -> [PicturePoint] {
    (0..<count).map { _ in
      PicturePoint(x: .random(in: range, using: &dice), y: .random(in: range, using: &dice))
    }
  }

  /// How far a point is from a line.
  static func distance(_ point: PicturePoint, to line: [PicturePoint]) -> Double {
    zip(line, line.dropFirst()).map { a, b in
      let (dx, dy) = (b.x - a.x, b.y - a.y)
      let square = dx * dx + dy * dy
      let along = ((point.x - a.x) * dx + (point.y - a.y) * dy) / (square > 0 ? square : 1)
      return point.distance(to: a.toward(b, min(max(along, 0), 1)))
    }.min() ?? .infinity
  }

  @Test("what of a line lies within stays, and nothing else", arguments: [false, true])
  func lines(closed: Bool) {
    var dice = Dice(seed: 1)
    for _ in 0..<60 {
      let line = points(.random(in: 2...20, using: &dice), &dice)
      let pieces = frame.pieces(of: line, closed: closed)
      #expect(pieces.allSatisfy { $0.points.allSatisfy(frame.grown(by: 1e-9).contains) })
      let whole = closed ? line + [line[0]] : line
      for (a, b) in zip(whole, whole.dropFirst()) {
        for step in 0...200 {
          let point = a.toward(b, Double(step) / 200)
          let near = pieces.map { Self.distance(point, to: $0.points) }.min() ?? .infinity
          #expect((near < 1e-6) == frame.grown(by: 1e-7).contains(point))
        }
      }
    }
  }

  @Test("a piece knows how far along the line it begins")
  func offsets() {
    let line = [(-50, 30), (50, 30), (50, 160), (20, 160), (20, 10)]
      .map { PicturePoint(x: $0, y: $1) }
    let pieces = frame.pieces(of: line, closed: false)
    #expect(pieces.map(\.offset) == [50, 360])
    #expect(pieces.map { $0.points.count } == [3, 2])
  }

  @Test("a ring that begins within is one piece where it began")
  func ring() {
    let ring = [(50, 30), (50, 90), (20, 90), (20, 30)].map { PicturePoint(x: $0, y: $1) }
    let pieces = frame.pieces(of: ring, closed: true)
    #expect(pieces.count == 1)
    #expect(pieces[0].points.first == PicturePoint(x: 20, y: 60))
    #expect(pieces[0].points.last == PicturePoint(x: 50, y: 60))
    #expect(frame.grown(by: 100).pieces(of: ring, closed: true)[0].isRing)
  }

  /// Whether a point is enclosed by rings an odd number of times.
  static func isFilled(_ point: PicturePoint, _ rings: [[PicturePoint]]) -> Bool {
    rings.reduce(false) { inside, ring in
      var inside = inside
      for (a, b) in zip(ring, ring.dropFirst() + ring.prefix(1))
      where (a.y > point.y) != (b.y > point.y) {
        if point.x < a.x + (b.x - a.x) * (point.y - a.y) / (b.y - a.y) { inside.toggle() }
      }
      return inside
    }
  }

  @Test("what is filled within stays filled, holes and stars and all")
  func surfaces() {
    var dice = Dice(seed: 2)
    for _ in 0..<60 {
      let rings = (0..<3).map { _ in points(.random(in: 3...12, using: &dice), &dice) }
      let clipped = rings.map(frame.clipped)
      #expect(clipped.joined().allSatisfy(frame.grown(by: 1e-9).contains))
      for _ in 0..<300 {
        let point = PicturePoint(
          x: .random(in: 0.01...99.99, using: &dice), y: .random(in: 0.01...59.99, using: &dice))
        #expect(Self.isFilled(point, rings) == Self.isFilled(point, clipped))
      }
    }
  }

  @Test("a frame's hole that is wider than the picture leaves the picture empty")
  func hole() {
    func square(_ size: Double) -> [PicturePoint] {
      [(-size, -size), (size, -size), (size, size), (-size, size)]
        .map { PicturePoint(x: 50 + $0, y: 30 + $1) }
    }
    let clipped = [square(1e9), square(1e6)].map(frame.clipped)
    #expect(!Self.isFilled(PicturePoint(x: 50, y: 30), clipped))
    #expect(Self.isFilled(PicturePoint(x: 50, y: 30), [clipped[0]]))
  }

  @Test("a simplified line is nowhere farther off than it may be")
  func simplification() {
    var dice = Dice(seed: 3)
    var place = PicturePoint(x: 0, y: 0)
    var angle = 0.0
    let line = (0..<10_000).map { _ in
      angle += .random(in: -0.3...0.3, using: &dice)
      place = PicturePoint(x: place.x + 0.2 * cos(angle), y: place.y + 0.2 * sin(angle))
      return place
    }
    let few = Simplification.simplified(line)
    #expect(few.first == line.first && few.last == line.last)
    #expect(few.count < line.count / 5)
    for (index, point) in line.enumerated() where index % 7 == 0 {
      #expect(Self.distance(point, to: few) <= 0.25 + 1e-9)
    }
  }

  @Test("a convex ring grows by as much on every side, however sharp it is")
  func grown() {
    var dice = Dice(seed: 5)
    for _ in 0..<500 {
      let triangle = points(3, &dice, 0...100)
      guard abs(Plane.area(triangle)) > 1 else { continue }
      let grown = Plane.grown(triangle, by: 0.5)
      // What is less than that outside of a side is within.
      for (a, b) in zip(triangle, triangle.dropFirst() + triangle.prefix(1)) {
        let turn = Plane.area(triangle) < 0 ? -0.49 : 0.49
        let length = a.distance(to: b)
        for share in [0, 0.1, 0.5, 1] {
          let on = a.toward(b, share)
          let out = PicturePoint(
            x: on.x + turn * (b.y - a.y) / length, y: on.y - turn * (b.x - a.x) / length)
          #expect(Self.isFilled(out, [grown]))
        }
      }
      let ring = triangle + [triangle[0]]
      #expect(grown.allSatisfy { Self.distance($0, to: ring) < 0.5 * 2.1 })
    }
  }
}
