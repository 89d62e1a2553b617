// What the field says of the errors, against small turns of the attitude.

import LinearAlgebra
import Testing

@_spi(Tuning) @testable import FusionCore

@Suite struct FieldRowsTests {
  private static let parameters = AzimuthParameters()

  private static func rows(_ u: Vector3, _ rotation: Matrix3 = .identity) -> FieldRows {
    FieldRows(to: u, rotation, Vector3(0.4, -0.2, 0.7), parameters)
  }

  /// East part, horizontal and vertical field of a vector.
  private static func parts(_ u: Vector3) -> [Double] { [u.x, hypot(u.x, u.y), u.z] }

  @Test(
    "near north the rows are the slopes of east, horizontal and vertical part",
    arguments: [0.0, 10, -25])
  func slopes(azimuth: Double) {
    let a = azimuth * degree
    // As it would be of the true attitude: the estimate's field is off by the errors.
    let u = Vector3(19 * sin(a), 19 * cos(a), -45)
    let rotation = attitude(heading: 0.6, pitch: 0.3, roll: -0.4).matrix
    let rows = Self.rows(u, rotation)
    let small = 1e-6
    func slope(_ moved: Vector3) -> [Double] {
      zip(Self.parts(moved), Self.parts(u)).map { ($0 - $1) / small }
    }
    for axis in 0..<3 {
      var turn = Vector3.zero
      turn[axis] = small
      // R_true = exp([phi]x) R, so that the estimate's field is the true one turned back.
      let turned = slope(Quaternion(rotationVector: -turn).rotate(u))
      // East's slope over heading is held at what north itself has; that of the others is exact.
      let east = axis == 2 ? max(u.y, Self.parameters.leastSlope * rows.horizontal) : turned[0]
      #expect(abs(rows.east.motion[axis] - east) < 1e-4)
      #expect(abs(rows.along.motion[axis] - (axis == 2 ? 0 : turned[1])) < 1e-4)
      #expect(abs(rows.up.motion[axis] - turned[2]) < 1e-4)
      var offset = Vector3.zero
      offset[axis] = small
      let moved = slope(u + rotation * offset)
      let iron = ErrorVector.iron + axis
      #expect(abs(rows.east[iron] - moved[0]) < 1e-4)
      #expect(abs(rows.along[iron] - moved[1]) < 1e-4)
      #expect(abs(rows.up[iron] - moved[2]) < 1e-4)
    }
    let late = slope(u + small * Vector3(0.4, -0.2, 0.7))
    #expect(abs(rows.east[ErrorVector.lag] - late[0]) < 1e-4)
    #expect(abs(rows.along[ErrorVector.lag] - late[1]) < 1e-4)
    #expect(abs(rows.up[ErrorVector.lag] - late[2]) < 1e-4)
    #expect(rows.azimuth == u.x && abs(rows.horizontal - 19) < 1e-12)
    #expect(rows.east[ErrorVector.anomaly] == 1)
    #expect(rows.along[ErrorVector.field] == 1 && rows.up[ErrorVector.field + 1] == 1)
  }

  @Test(
    "beyond a right angle azimuth neither falls off nor grows, and shows to the nearer side",
    arguments: [91.0, 135, 179, -91, -135, -179])
  func saturates(azimuth: Double) {
    let a = azimuth * degree
    let rows = Self.rows(Vector3(20 * sin(a), 20 * cos(a), -45))
    #expect(abs(rows.azimuth - (azimuth < 0 ? -20 : 20)) < 1e-12)
    // It is still corrected, by the least slope.
    #expect(abs(rows.east.motion[2] - Self.parameters.leastSlope * 20) < 1e-12)
  }

  @Test("no horizontal field is no azimuth, and no number that is none")
  func vertical() {
    let rows = Self.rows(Vector3(0, 0, -50))
    #expect(rows.azimuth == 0 && rows.horizontal == 0)
    for row in [rows.east, rows.along, rows.up] {
      for index in 0..<ErrorVector.count { #expect(row[index].isFinite) }
    }
  }
}
