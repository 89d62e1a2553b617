// Eigenvalues of a symmetric 3x3 matrix, by Jacobi's rotations.

/// The eigenvalues of a symmetric matrix and their directions, the largest first.
public struct SymmetricEigenvalues: Sendable, Hashable {
  /// The eigenvalues, in falling order.
  public var values: Vector3
  /// The unit eigenvectors as columns, in the order of the values: a rotation (determinant +1).
  public var vectors: Matrix3

  /// Takes a symmetric matrix apart; of one that is not symmetric the symmetric part counts. `nil` where an
  /// entry is not finite.
  public init?(_ matrix: Matrix3) {
    let (c, t) = (matrix.columns, matrix.transposed.columns)
    var a = [c.x + t.x, c.y + t.y, c.z + t.z].map { $0 / 2 }
    guard a.allSatisfy(\.isFinite) else { return nil }
    var v = [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)]
    // Each sweep squares what is off the diagonal; eight leave nothing of any matrix.
    for _ in 0..<8 {
      for (p, q) in [(0, 1), (0, 2), (1, 2)] {
        let off = a[p][q]
        guard off != 0 else { continue }
        let theta = (a[q][q] - a[p][p]) / (2 * off)
        let sign: Double = theta < 0 ? -1 : 1
        let tangent = sign / (abs(theta) + (theta * theta + 1).squareRoot())
        let cosine = 1 / (tangent * tangent + 1).squareRoot()
        let sine = tangent * cosine
        for k in 0..<3 {
          let (x, y) = (a[k][p], a[k][q])
          a[k][p] = cosine * x - sine * y
          a[k][q] = sine * x + cosine * y
        }
        let (rowP, rowQ) = (a[p], a[q])
        a[p] = cosine * rowP - sine * rowQ
        a[q] = sine * rowP + cosine * rowQ
        let (vp, vq) = (v[p], v[q])
        v[p] = cosine * vp - sine * vq
        v[q] = sine * vp + cosine * vq
      }
    }
    let order = [0, 1, 2].sorted { a[$0][$0] > a[$1][$1] }
    values = Vector3(a[order[0]][order[0]], a[order[1]][order[1]], a[order[2]][order[2]])
    let (first, second) = (v[order[0]], v[order[1]])
    vectors = Matrix3(columns: first, second, first.cross(second))
  }

  /// The symmetric matrix with the same directions whose eigenvalues are those of `change`.
  public func mapped(_ change: (Double) -> Double) -> Matrix3 {
    let d = Vector3(change(values.x), change(values.y), change(values.z))
    return vectors * Matrix3(diagonal: d) * vectors.transposed
  }
}
