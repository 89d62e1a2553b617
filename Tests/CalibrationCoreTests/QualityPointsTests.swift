import Testing

@testable import CalibrationCore

/// What a score is made of.
struct QualityPointsTests {
  @Test(
    "0.7 of the sphere costs nothing, each hundredth less 0.6 points",
    arguments: [(1, 100), (0.7, 100), (0.69, 99.4), (0.6, 94), (0.35, 79), (0.2, 70), (0, 58)])
  func coverage(share: Double, points: Double) {
    #expect(abs(CalibrationQuality.points(coverage: share) - points) < 1e-9)
  }

  @Test(
    "0 degrees are 100 points, 1.1 are 80; above that twice the error leaves 0.57 of the points",
    arguments: [(0, 100), (0.55, 90), (1.1, 80), (2.2, 45.95), (4.4, 26.39), (-1, 0)])
  func error(degrees: Double, points: Double) {
    #expect(abs(CalibrationQuality.points(headingError: degrees) - points) < 0.01)
    #expect(CalibrationQuality.points(headingError: .nan) == 0)
    #expect(CalibrationQuality.points(headingError: .infinity) == 0)
  }
}
