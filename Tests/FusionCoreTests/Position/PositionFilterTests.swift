// The carried position's Kalman filter, held against chance and against matrices that are written out here.

import LinearAlgebra
import Testing

@testable import FusionCore

import Glibc

struct PositionFilterTests {
  /// A filter whose place has these variances and correlation, m^2.
  private func filter(east: Double, north: Double, correlation: Double) -> PositionFilter {
    var filter = PositionFilter()
    let common = correlation * (east * north).squareRoot()
    (filter.east[0], filter.north[1]) = (east, north)
    (filter.east[1], filter.north[0]) = (common, common)
    return filter
  }

  private static let places: [(Double, Double, Double)] = [
    (9, 9, 0), (9, 1, 0), (1, 9, 0.5), (4, 4, 0.9), (25, 1, -0.7), (16, 0.01, 0),
  ]

  @Test("the variances are those of the ellipse's axes", arguments: places)
  func axes(east: Double, north: Double, correlation: Double) {
    let filter = filter(east: east, north: north, correlation: correlation)
    let (worst, best) = filter.placeVariances
    // Of a symmetric matrix the eigenvalues have its trace and its determinant.
    #expect(abs(worst + best - east - north) < 1e-9)
    #expect(abs(worst * best - east * north * (1 - correlation * correlation)) < 1e-9)
    #expect(worst >= best)
  }

  @Test("the radius holds 68 of 100 places that are drawn", arguments: places)
  func radius(east: Double, north: Double, correlation: Double) {
    let filter = filter(east: east, north: north, correlation: correlation)
    let (a, b) = (east.squareRoot(), north.squareRoot())
    var noise = PlainNoise(23)
    /// Twelve of a flat distribution come near a normal one of variance 4.
    func normal() -> Double { (0..<12).reduce(0) { sum, _ in sum + noise.next() } / 2 }
    let count = 40_000
    var inside = 0
    for _ in 0..<count {
      let (u, v) = (normal(), normal())
      let x = a * u
      let y = b * (correlation * u + (1 - correlation * correlation).squareRoot() * v)
      if hypot(x, y) < filter.radius { inside += 1 }
    }
    let share = Double(inside) / Double(count)
    // 2.5 % of the radius are 1.9 % of the places where both axes are alike.
    #expect((0.655...0.71).contains(share), "\(share)")
  }

  @Test("doubt of the place raises both variances by its amount")
  func doubt() {
    var filter = filter(east: 4, north: 9, correlation: 0)
    filter.addPlaceDoubt(7)
    #expect(filter.east[0] == 11 && filter.north[1] == 16)
    filter.velocityEast = SIMD8(0, 0, 2, 0.5, 0, 0, 0, 0)
    filter.velocityNorth = SIMD8(0, 0, 0.5, 3, 0, 0, 0, 0)
    #expect(filter.velocityVariance(along: SIMD2(1, 0)) == 2)
    #expect(filter.velocityVariance(along: SIMD2(0, 1)) == 3)
    #expect(abs(filter.velocityVariance(along: SIMD2(0.6, 0.8)) - 3.12) < 1e-12)
  }

  @Test("speed is the length of the velocity")
  func speed() {
    var filter = PositionFilter()
    filter.x = SIMD8(9, 9, 3, -4, 9, 0, 0, 0)
    #expect(filter.speed == 5)
  }
}
