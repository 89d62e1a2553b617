// One row of the attitude filter's covariance, or one vector of its errors: 24 lanes on the stack.

/// The errors of the attitude filter, or one value for each of them.
///
/// Three vectors of eight lanes, because Swift 6.0 has no array of fixed size.
struct ErrorVector: Sendable, Hashable, Codable {
  /// Attitude in the earth frame, `R_true = exp([phi]x) R`, radians: 0, 1, 2.
  static let attitude = 0
  /// Gyro bias in the body frame, rad/s: 3, 4, 5.
  static let bias = 3
  /// Horizontal velocity in the earth frame, m/s: 6, 7.
  static let velocity = 6
  /// The earth's field, horizontal and up, microtesla: 8, 9.
  static let field = 8
  /// What the calibration left of the magnetometer's offset, body frame, microtesla: 10, 11, 12.
  static let iron = 10
  /// The magnetometer's lag behind the gyro, seconds: 13.
  static let lag = 13
  /// Scale and misalignment of the gyro, row by row: 14 to 22.
  static let gyroMatrix = 14
  /// How many errors there are.
  static let count = 24
  /// The east anomaly of the field: what points the local field elsewhere than north, microtesla: 23.
  static let anomaly = 23

  var motion = SIMD8<Double>.zero
  /// Field, iron, lag, and two entries of the gyro's matrix.
  var magnetic = SIMD8<Double>.zero
  /// The other seven entries of the gyro's matrix, and the anomaly.
  var scale = SIMD8<Double>.zero

  static let zero = ErrorVector()

  /// One error; `index` below 24.
  subscript(index: Int) -> Double {
    get {
      switch index >> 3 {
      case 0: motion[index & 7]
      case 1: magnetic[index & 7]
      default: scale[index & 7]
      }
    }
    set {
      switch index >> 3 {
      case 0: motion[index & 7] = newValue
      case 1: magnetic[index & 7] = newValue
      default: scale[index & 7] = newValue
      }
    }
  }

  /// Three errors that follow each other.
  subscript(vector index: Int) -> SIMD3<Double> {
    get { SIMD3(self[index], self[index + 1], self[index + 2]) }
    set { for axis in 0..<3 { self[index + axis] = newValue[axis] } }
  }

  /// The unit vector of one error.
  static func unit(_ index: Int) -> ErrorVector {
    var vector = ErrorVector.zero
    vector[index] = 1
    return vector
  }

  /// Gives every error's index and value, without the choice between three vectors that a subscript makes each time.
  @inline(__always)
  func forEach(_ body: (Int, Double) -> Void) {
    for lane in 0..<8 { body(lane, motion[lane]) }
    for lane in 0..<8 { body(8 + lane, magnetic[lane]) }
    for lane in 0..<8 { body(16 + lane, scale[lane]) }
  }

  @inline(__always)
  func dot(_ other: ErrorVector) -> Double {
    (motion * other.motion + magnetic * other.magnetic + scale * other.scale).sum()
  }

  @inline(__always)
  mutating func add(_ other: ErrorVector, times factor: Double) {
    motion += other.motion * factor
    magnetic += other.magnetic * factor
    scale += other.scale * factor
  }
}
