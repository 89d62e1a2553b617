/// A 3x3 matrix, stored by columns.
public struct Matrix3: Sendable, Hashable {
  /// The images of the three basis vectors.
  public var columns: (x: Vector3, y: Vector3, z: Vector3)

  /// Makes a matrix from its columns.
  @inlinable public init(columns x: Vector3, _ y: Vector3, _ z: Vector3) {
    columns = (x, y, z)
  }

  /// Makes a matrix from its rows.
  @inlinable public init(rows x: Vector3, _ y: Vector3, _ z: Vector3) {
    columns = (Vector3(x.x, y.x, z.x), Vector3(x.y, y.y, z.y), Vector3(x.z, y.z, z.z))
  }

  /// Makes the diagonal matrix of `d`.
  @inlinable public init(diagonal d: Vector3) {
    columns = (Vector3(d.x, 0, 0), Vector3(0, d.y, 0), Vector3(0, 0, d.z))
  }

  /// The matrix that changes nothing.
  public static let identity = Matrix3(diagonal: Vector3(1, 1, 1))

  /// The matrix with rows and columns exchanged.
  @inlinable public var transposed: Matrix3 { Matrix3(rows: columns.x, columns.y, columns.z) }

  /// The sum of the diagonal.
  @inlinable public var trace: Double { columns.x.x + columns.y.y + columns.z.z }

  /// The determinant; negative for a mirror.
  @inlinable public var determinant: Double { columns.x.dot(columns.y.cross(columns.z)) }

  /// The inverse, or `nil` for a matrix that is singular or holds a value that is not finite.
  @inlinable public var inverse: Matrix3? {
    let determinant = self.determinant
    guard determinant != 0, determinant.isFinite else { return nil }
    let x = columns.y.cross(columns.z)
    let y = columns.z.cross(columns.x)
    let z = columns.x.cross(columns.y)
    return Matrix3(rows: x / determinant, y / determinant, z / determinant)
  }

  /// The matrix applied to a vector.
  @inlinable @inline(__always) public static func * (m: Matrix3, v: Vector3) -> Vector3 {
    m.columns.x * v.x + m.columns.y * v.y + m.columns.z * v.z
  }

  /// The composition: `b` acts first.
  @inlinable public static func * (a: Matrix3, b: Matrix3) -> Matrix3 {
    Matrix3(columns: a * b.columns.x, a * b.columns.y, a * b.columns.z)
  }

  /// The sum, entry by entry.
  @inlinable @inline(__always) public static func + (a: Matrix3, b: Matrix3) -> Matrix3 {
    Matrix3(
      columns: a.columns.x + b.columns.x, a.columns.y + b.columns.y, a.columns.z + b.columns.z)
  }

  /// The difference, entry by entry.
  @inlinable @inline(__always) public static func - (a: Matrix3, b: Matrix3) -> Matrix3 {
    Matrix3(
      columns: a.columns.x - b.columns.x, a.columns.y - b.columns.y, a.columns.z - b.columns.z)
  }

  /// The matrix with every entry multiplied.
  @inlinable @inline(__always) public static func * (s: Double, m: Matrix3) -> Matrix3 {
    Matrix3(columns: s * m.columns.x, s * m.columns.y, s * m.columns.z)
  }

  /// Whether all nine entries are equal.
  public static func == (a: Matrix3, b: Matrix3) -> Bool {
    a.columns == b.columns
  }

  /// Hashes all nine entries.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(columns.x)
    hasher.combine(columns.y)
    hasher.combine(columns.z)
  }
}

extension Matrix3: Codable {
  /// Reads the nine entries, column by column.
  public init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    let x = try values.decode(Vector3.self)
    let y = try values.decode(Vector3.self)
    let z = try values.decode(Vector3.self)
    self.init(columns: x, y, z)
  }

  /// Writes the nine entries, column by column.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    try values.encode(columns.x)
    try values.encode(columns.y)
    try values.encode(columns.z)
  }
}
