public import LinearAlgebra

/// How a chip sits on the board: which signed sensor axes lie along body x (right), y (forward), z (up).
///
/// Written `[+y, -x, +z]` in a board file: body x is the sensor's y, body y its negative x.
public struct Mount: Sendable, Hashable, Codable {
  /// The sensor axis along body x, right.
  public let x: SignedAxis
  /// The sensor axis along body y, forward.
  public let y: SignedAxis
  /// The sensor axis along body z, up.
  public let z: SignedAxis

  /// Makes a mount, or `nil` if the three axes do not span space (one is named twice).
  public init?(x: SignedAxis, y: SignedAxis, z: SignedAxis) {
    self.x = x
    self.y = y
    self.z = z
    guard abs(matrix.determinant) == 1 else { return nil }
  }

  private init(aligned: Void) {
    (x, y, z) = (.plusX, .plusY, .plusZ)
  }

  /// The chip's axes are the body's.
  public static let aligned = Mount(aligned: ())

  /// The mount of another chip in the same package, which sits as `part` where this one is aligned.
  public func carrying(_ part: Mount) -> Mount {
    func axis(_ own: SignedAxis) -> SignedAxis {
      switch own {
      case .plusX: part.x
      case .minusX: part.x.opposite
      case .plusY: part.y
      case .minusY: part.y.opposite
      case .plusZ: part.z
      case .minusZ: part.z.opposite
      }
    }
    return Mount(x: axis(x), y: axis(y), z: axis(z)) ?? self
  }

  /// As in a board file: `[+y, -x, +z]`.
  public var words: String { "[\(x.rawValue), \(y.rawValue), \(z.rawValue)]" }

  /// Turns a vector from the sensor frame into the body frame.
  public var matrix: Matrix3 { Matrix3(rows: x.direction, y.direction, z.direction) }

  /// Whether the placement is a mirror image (a chip whose frame is left-handed).
  public var isMirrored: Bool { matrix.determinant < 0 }
}

/// One signed axis of the sensor.
public enum SignedAxis: String, Sendable, Hashable, Codable, CaseIterable {
  /// Along the sensor's x.
  case plusX = "+x"
  /// Against the sensor's x.
  case minusX = "-x"
  /// Along the sensor's y.
  case plusY = "+y"
  /// Against the sensor's y.
  case minusY = "-y"
  /// Along the sensor's z.
  case plusZ = "+z"
  /// Against the sensor's z.
  case minusZ = "-z"

  /// The same axis, the other way.
  public var opposite: SignedAxis {
    switch self {
    case .plusX: .minusX
    case .minusX: .plusX
    case .plusY: .minusY
    case .minusY: .plusY
    case .plusZ: .minusZ
    case .minusZ: .plusZ
    }
  }

  /// The axis as a unit vector in the sensor frame.
  public var direction: Vector3 {
    switch self {
    case .plusX: Vector3(1, 0, 0)
    case .minusX: Vector3(-1, 0, 0)
    case .plusY: Vector3(0, 1, 0)
    case .minusY: Vector3(0, -1, 0)
    case .plusZ: Vector3(0, 0, 1)
    case .minusZ: Vector3(0, 0, -1)
    }
  }
}
