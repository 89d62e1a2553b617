import LinearAlgebra
import Testing

struct LeastSquaresTests {
  // Draper and Smith's way of checking by hand: a line through (0,1) (1,3) (2,5) (3,8) has the normal
  // equations 4a + 6b = 17, 6a + 14b = 37, so a = 0.8, b = 2.3.
  @Test func lineThroughFourPoints() throws {
    var system = LeastSquares(unknowns: 2)
    for (x, y) in [(0.0, 1.0), (1, 3), (2, 5), (3, 8)] { system.add([1, x], equals: y) }
    let solution = try #require(system.solution())
    #expect(abs(solution.x[0] - 0.8) < 1e-12)
    #expect(abs(solution.x[1] - 2.3) < 1e-12)
    // 0.2^2 + 0.1^2 + 0.4^2 + 0.3^2, turned signs.
    #expect(abs(solution.squaredError - 0.3) < 1e-9)
    // The inverse of [[4, 6], [6, 14]].
    #expect(abs(solution.covariance[0][0] - 0.7) < 1e-12)
    #expect(abs(solution.covariance[0][1] + 0.3) < 1e-12)
    #expect(abs(solution.covariance[1][1] - 0.2) < 1e-12)
    #expect(system.equations == 4)
  }

  @Test func whatNothingDeterminesIsNoSolution() {
    var system = LeastSquares(unknowns: 3)
    for k in 0..<20 { system.add([1, Double(k), 2 * Double(k)], equals: Double(k)) }
    #expect(system.solution() == nil)
    system.expect(2, 0, deviation: 1)
    #expect(system.solution() != nil)
    #expect(LeastSquares(unknowns: 2).solution() == nil)
  }

  @Test func weightCountsAsSoManyEquations() throws {
    var heavy = LeastSquares(unknowns: 1)
    heavy.add([1], equals: 4, weight: 3)
    heavy.add([1], equals: 8)
    let solution = try #require(heavy.solution())
    #expect(solution.x[0] == 5)
    heavy.add([1, 2], equals: 1)
    heavy.add([.nan], equals: 1)
    #expect(heavy.solution() == nil)
  }
}

struct SymmetricEigenvaluesTests {
  // The matrix with the eigenvalues 3, 2, 1 along (1,1,0), (0,0,1), (1,-1,0).
  @Test func knownMatrix() throws {
    let m = Matrix3(rows: Vector3(2, 1, 0), Vector3(1, 2, 0), Vector3(0, 0, 2))
    let found = try #require(SymmetricEigenvalues(m))
    #expect((found.values - Vector3(3, 2, 1)).length < 1e-14)
    #expect(abs(abs(found.vectors.columns.x.dot(Vector3(1, 1, 0))) - 2.0.squareRoot()) < 1e-14)
    #expect(abs(found.vectors.determinant - 1) < 1e-14)
    let root = found.mapped { $0.squareRoot() }
    let back = root * root - m
    #expect(back.columns.x.length + back.columns.y.length + back.columns.z.length < 1e-14)
  }

  @Test(arguments: 1...50) func everyMatrixIsPutTogetherAgain(_ seed: Int) throws {
    // Numbers without a pattern, from the golden angle.
    func number(_ k: Int) -> Double {
      (Double(seed * 31 + k) * 0.618_033_988_749).truncatingRemainder(dividingBy: 1) * 8 - 4
    }
    let (a, b, c, d, e, f) = (number(1), number(2), number(3), number(4), number(5), number(6))
    let m = Matrix3(rows: Vector3(a, b, c), Vector3(b, d, e), Vector3(c, e, f))
    let found = try #require(SymmetricEigenvalues(m))
    let rest = found.mapped { $0 } - m
    #expect(rest.columns.x.length + rest.columns.y.length + rest.columns.z.length < 1e-12)
    #expect(found.values.x >= found.values.y && found.values.y >= found.values.z)
    #expect(abs(found.values.sum() - m.trace) < 1e-12)
  }

  @Test func whatIsNotFiniteHasNone() {
    #expect(SymmetricEigenvalues(Matrix3(diagonal: Vector3(1, .nan, 1))) == nil)
    #expect(SymmetricEigenvalues(Matrix3(diagonal: Vector3(1, 2, .infinity))) == nil)
  }
}
