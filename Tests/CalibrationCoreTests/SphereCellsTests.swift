import CalibrationCore
import LinearAlgebra
import Testing

struct SphereCellsTests {
  @Test func ringsHoldAHundred() {
    #expect(SphereCells.rings.reduce(0, +) == 100 && SphereCells.count == 100)
  }

  @Test func theMiddleOfEachCellIsInIt() {
    for index in 0..<SphereCells.count {
      #expect(SphereCells.index(of: SphereCells.center(of: index) * 48) == index)
    }
  }

  // A Fibonacci lattice is even on the sphere by construction: each cell gets its hundredth.
  @Test func cellsAreOfEqualArea() {
    var counts = [Int](repeating: 0, count: SphereCells.count)
    let points = 200_000
    for k in 0..<points {
      let z = 1 - (2 * Double(k) + 1) / Double(points)
      let angle = Double(k) * .pi * (3 - 5.0.squareRoot())
      let r = (1 - z * z).squareRoot()
      if let index = SphereCells.index(of: Vector3(r * cos(angle), r * sin(angle), z)) {
        counts[index] += 1
      }
    }
    for count in counts { #expect(abs(count - points / 100) < points / 100 / 50) }
  }

  @Test func aSetCountsEachCellOnce() {
    var cells = SphereCells()
    #expect(cells.coverage == 0)
    let news = [
      Vector3(0, 0, 50), Vector3(0.1, 0, 50), Vector3(0, 0, -50), .zero, Vector3(.nan, 0, 1),
    ].map { cells.insert($0) }
    #expect(news == [true, false, true, false, false])
    #expect(cells.filled == 2 && cells.contains(0) && cells.contains(99) && !cells.contains(50))
    for index in 0..<SphereCells.count { cells.insert(SphereCells.center(of: index)) }
    #expect(cells.coverage == 1)
  }

  @Test func theWidestGapIsWhereNothingWasSeen() throws {
    var cells = SphereCells()
    #expect(cells.widestGap == nil)
    for index in 0..<SphereCells.count where SphereCells.center(of: index).y < 0.5 {
      cells.insert(SphereCells.center(of: index))
    }
    let gap = try #require(cells.widestGap)
    // A cap of 60 degrees about +y, to the middles of cells.
    #expect(gap.direction.y > 0.9)
    #expect(abs(gap.radius - 60) < 12)
    for index in 0..<SphereCells.count { cells.insert(SphereCells.center(of: index)) }
    #expect(cells.widestGap == nil)
  }
}
