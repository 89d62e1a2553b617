// An offset that has moved, found with the matrix as it was: against fields that are computed here.

import LinearAlgebra
import SeededDraws
import SensorTypes
import Testing

@testable import CalibrationCore

struct HardIronShiftTests {
  private static let strength = 48.0
  private static let dip = 65 * Double.pi / 180
  private static let matrix = Matrix3(
    rows: Vector3(1.05, 0.02, -0.01), Vector3(0.02, 0.97, 0.03), Vector3(-0.01, 0.03, 1.01))
  private static let start = Vector3(12, -7, 20)

  private static var calibration: AppliedCalibration {
    AppliedCalibration(
      matrix: matrix, offset: start, offsetCovariance: .identity, residual: 0.5, field: strength)
  }

  /// A board that turns about its vertical, tilted by no more than `tilt` radians, with its iron moved by `move`.
  private static func samples(move: Vector3, tilt: Double) throws
    -> [CalibrationSample]
  {
    var draws = SyntheticDraws(state: 71)
    let back = try #require(matrix.inverse)
    return (0..<400).map { index in
      let lean = Vector3(draws.uniform(-tilt, tilt), draws.uniform(-tilt, tilt), 0)
      let attitude =
        Quaternion(rotationVector: Vector3(0, 0, Double(index) * 0.1))
        * Quaternion(rotationVector: lean)
      let field = attitude.conjugate.rotate(strength * Vector3(0, cos(dip), -sin(dip)))
      let up = attitude.conjugate.rotate(Vector3(0, 0, 1))
      return CalibrationSample(
        time: Timestamp(seconds: Double(index) * 0.1),
        field: back * field + start + move + 0.2 * draws.normals(), force: 9.81 * up)
    }
  }

  private static func error(
    _ move: Vector3, tilt: Double, _ expected: CalibrationField
  ) throws -> Vector3 {
    let shift = try #require(
      HardIronShift(try samples(move: move, tilt: tilt), of: calibration, expected: expected))
    return shift.offset - start - move
  }

  @Test(
    "a board that was tilted all about tells the whole move, with nothing known of the field",
    arguments: [Vector3(15, 0, 0), Vector3(0, -15, 0), Vector3(0, 0, 15), Vector3(6, -8, -10)])
  func tilted(move: Vector3) throws {
    let error = try Self.error(move, tilt: 1.2, CalibrationField())
    #expect(error.length < 0.5, "\(error)")
  }

  // On the level only a field that is known says how much of the vertical part is iron: 2 degrees of dip are 0.7 µT
  // of it.
  @Test(
    "on the level the move across is found, and the move along the vertical as far as the dip is known",
    arguments: [Vector3(9, -5, 0), Vector3(9, -5, 8), Vector3(9, -5, -8)])
  func level(move: Vector3) throws {
    // A strength that is known to five times itself is not known.
    let known = CalibrationField(strength: Self.strength, strengthDeviation: 5, dip: Self.dip)
    let told = try Self.error(move, tilt: 0.02, known)
    #expect((told.x * told.x + told.y * told.y).squareRoot() < 0.5, "\(told)")
    #expect(abs(told.z) < 2, "\(told)")
    // By the strength alone: half a percent of it is 0.24 µT, over the sine of the dip 0.26.
    let strong = try Self.error(
      move, tilt: 0.02, CalibrationField(strength: Self.strength, strengthDeviation: 0.005))
    #expect(abs(strong.z) < 1.5, "\(strong)")
  }

  @Test("29 samples, and a strength of half a microtesla, give no shift")
  func refused() throws {
    let samples = try Self.samples(move: .zero, tilt: 1)
    #expect(
      HardIronShift(Array(samples.prefix(29)), of: Self.calibration, expected: CalibrationField())
        == nil)
    #expect(
      HardIronShift(
        samples, of: Self.calibration, expected: CalibrationField(strength: 0.5)) == nil)
  }
}
