import LinearAlgebra
import Testing

struct LinearAlgebraTests {
  private func close(_ a: Vector3, _ b: Vector3, _ tolerance: Double = 1e-12) -> Bool {
    (a - b).length < tolerance
  }

  static let rotations: [Vector3] = [
    Vector3(0, 0, 0), Vector3(1e-9, 0, 0), Vector3(0.3, -0.2, 0.9), Vector3(0, 0, 1.5707963),
    Vector3(3, 0, 0), Vector3(0, -3.1, 0), Vector3(0.1, 0.1, 3.1), Vector3(-2, 2, 1),
  ]

  @Test("a quarter turn about z takes x to y")
  func quarterTurn() {
    let q = Quaternion(rotationVector: Vector3(0, 0, .pi / 2))
    #expect(close(q.rotate(Vector3(1, 0, 0)), Vector3(0, 1, 0)))
    #expect(close(q.matrix * Vector3(1, 0, 0), Vector3(0, 1, 0)))
  }

  @Test(
    "a small turn is its sine and cosine to the last digits",
    arguments: [0, 1e-160, 1e-9, 1e-4, 0.03, 0.0999999, 0.1, 0.1000001, 0.5, 3])
  func smallTurns(angle: Double) {
    let q = Quaternion(rotationVector: Vector3(0, -angle, 0))
    #expect(abs(q.w - cos(angle / 2)) <= 2e-16)
    #expect(abs(q.vector.y + sin(angle / 2)) <= 2e-16)
    #expect(q.vector.x == 0 && q.vector.z == 0)
  }

  @Test("a matrix is the images of the axes", arguments: rotations)
  func matrixColumns(rotation: Vector3) {
    let q = Quaternion(rotationVector: rotation)
    #expect(close(q.matrix.columns.x, q.rotate(Vector3(1, 0, 0))))
    #expect(close(q.matrix.columns.y, q.rotate(Vector3(0, 1, 0))))
    #expect(close(q.matrix.columns.z, q.rotate(Vector3(0, 0, 1))))
  }

  @Test("rotation vector, quaternion and matrix agree", arguments: rotations)
  func agreement(rotation: Vector3) {
    let q = Quaternion(rotationVector: rotation)
    #expect(close(q.rotationVector, rotation, 1e-9))
    let back = Quaternion(q.matrix)
    let v = Vector3(0.3, -1.2, 2.5)
    #expect(close(back.rotate(v), q.rotate(v), 1e-9))
    #expect(close((q * q.conjugate).rotate(v), v))
    #expect(abs(q.matrix.determinant - 1) < 1e-12)
  }

  @Test("a product acts from right to left")
  func order() {
    let a = Quaternion(rotationVector: Vector3(0.4, 0, 0.1))
    let b = Quaternion(rotationVector: Vector3(0, -0.7, 0.2))
    let v = Vector3(1, 2, 3)
    #expect(close((a * b).rotate(v), a.rotate(b.rotate(v))))
    #expect(close((a.matrix * b.matrix) * v, a.matrix * (b.matrix * v)))
  }

  @Test("inverse and transpose")
  func inverse() throws {
    let m = Matrix3(rows: Vector3(2, 1, 0), Vector3(-1, 3, 0.5), Vector3(0.2, 0, 1))
    let inverse = try #require(m.inverse)
    let unit = inverse * m
    #expect(close(unit * Vector3(1, -2, 3), Vector3(1, -2, 3)))
    #expect(abs(m.determinant - 7.1) < 1e-12)
    #expect(Matrix3(diagonal: Vector3(1, 0, 1)).inverse == nil)
    #expect(Matrix3(diagonal: Vector3(1, .nan, 1)).inverse == nil)
    #expect(m.transposed.transposed == m)
  }

  @Test("between two rotations the way is the shortest, over the half turn too")
  func interpolation() {
    let degree = Double.pi / 180
    func turned(_ angle: Double) -> Quaternion {
      Quaternion(rotationVector: Vector3(0, 0, angle * degree))
    }
    for (from, to, share, expected) in [
      (179.0, -179.0, 0.5, 180.0), (179, -179, 0.25, 179.5), (-170, 160, 0.9, 163),
      (10, 40, 0, 10), (10, 40, 1, 40),
    ] {
      let found = turned(from).interpolated(to: turned(to), share)
      #expect(close(found.rotate(Vector3(1, 0, 0)), turned(expected).rotate(Vector3(1, 0, 0))))
      // The same rotation by its other quaternion.
      let other = turned(to)
      let negative = turned(from).interpolated(
        to: Quaternion(w: -other.w, vector: -other.vector), share)
      #expect(close(negative.rotate(Vector3(1, 0, 0)), found.rotate(Vector3(1, 0, 0))))
    }
    // About two axes: it is one turn about a third that leads there, at an even pace.
    let (a, b) = (
      Quaternion(rotationVector: Vector3(3, 0.2, 0)),
      Quaternion(rotationVector: Vector3(-3, 0, 0.4))
    )
    let whole = (b * a.conjugate).rotationVector
    let half = a.interpolated(to: b, 0.5)
    #expect(close((half * a.conjugate).rotationVector, whole / 2))
    #expect(close((b * half.conjugate).rotationVector, whole / 2))
  }

  @Test("what has no direction has none")
  func direction() {
    #expect(Vector3.zero.normalized == nil)
    #expect(Vector3(.nan, 0, 0).normalized == nil)
    #expect(Vector3(.infinity, 0, 0).normalized == nil)
    #expect(Quaternion(w: 0, x: 0, y: 0, z: 0).normalized == .identity)
  }
}
