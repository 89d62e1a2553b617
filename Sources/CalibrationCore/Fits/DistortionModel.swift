// The unknowns of a magnetometer's iron, and how a sample's residuals depend on them.

import LinearAlgebra

/// One sample as the fit sees it: about the middle of the data, in units of their spread.
struct DistortionPoint: Sendable {
  var raw: Vector3
  /// Unit vector along the specific force; `nil` where none was felt.
  var up: Vector3?
  /// How much less than at rest the force is trusted to point up: 1 and more.
  var doubt: Double
  /// Angular rate, rad/s; zero where it is not known.
  var rate = Vector3.zero
  /// Seconds since the first sample.
  var time: Double
  /// What the sample counts, so that a place where the board lay does not outweigh the rest.
  var share = 1.0
}

/// How much of the iron a fit leaves free.
enum DistortionFreedom: Int, Sendable, CaseIterable {
  case sphere = 4
  case diagonal = 6
  case ellipsoid = 9
}

/// Hard iron, strength, soft iron, alignment, the field's vertical part and its lag, in the order of the
/// unknowns.
///
/// `corrected = turn * soft * (raw - offset)` has the length `radius` and along the force the component
/// `vertical`. `soft` is symmetric and its diagonal's mean is 1.
struct DistortionModel: Sendable {
  /// Unknowns of the iron.
  static let iron = 9
  /// With the alignment, the vertical part and the lag.
  static let all = 14

  var offset = Vector3.zero
  var radius = 1.0
  /// How the diagonal differs from 1, its first two; the third makes their sum zero.
  var (first, second) = (0.0, 0.0)
  var mixed = Vector3.zero
  var turn = Quaternion.identity
  var vertical = 0.0
  /// How many seconds later than the force the field is told: a filter in the chip, or a bus that is
  /// slow. A board that turns one way more than the other would take it for an alignment.
  var lag = 0.0

  var soft: Matrix3 {
    Matrix3(
      rows: Vector3(1 + first, mixed.x, mixed.y), Vector3(mixed.x, 1 + second, mixed.z),
      Vector3(mixed.y, mixed.z, 1 - first - second))
  }

  /// The model a step further. The step holds `freedom` unknowns of the iron, then what is left.
  func moved(_ step: [Double], freedom: DistortionFreedom) -> DistortionModel {
    var model = self
    model.offset += Vector3(step[0], step[1], step[2])
    model.radius += step[3]
    if freedom != .sphere {
      model.first += step[4]
      model.second += step[5]
    }
    if freedom == .ellipsoid { model.mixed += Vector3(step[6], step[7], step[8]) }
    let rest = freedom.rawValue
    if step.count >= rest + 5 {
      let turn = Quaternion(rotationVector: Vector3(step[rest], step[rest + 1], step[rest + 2]))
      model.turn = (turn * self.turn).normalized
      model.vertical += step[rest + 3]
      model.lag += step[rest + 4]
    }
    return model
  }

  /// Whether the model is one that any board could have; a fit does not step out of it.
  var isSane: Bool {
    let ends = [1 + first, 1 + second, 1 - first - second]
    guard radius > 0, radius.isFinite, offset.isFinite, vertical.isFinite, lag.isFinite,
      turn.w > 0.8,
      ends.allSatisfy({ $0 > 0.2 && $0 < 2.5 }), mixed.isFinite
    else { return false }
    // Positive definite, by its leading minors.
    return ends[0] * ends[1] > mixed.x * mixed.x && soft.determinant > 0.01
  }

  /// How far a corrected field lies off the sphere, as a distance in the raw field: what noise of the chip moves it by
  /// along the ellipsoid's normal.
  ///
  /// In the corrected field a fit would make what it sees smaller by shrinking it, and stretch the axis that it does
  /// not see: tens of degrees of heading after a single turn in the hand. Dividing by the gradient's length takes that
  /// gain away (Sampson, "Fitting conic sections to very scattered data", 1982).
  func misfit(_ corrected: Vector3, soft: Matrix3) -> Double {
    let length = corrected.length
    guard length > 0 else { return -radius }
    return length * (length - radius) / max(1e-9, (soft * corrected).length)
  }

  /// Writes how `misfit` changes with the unknowns of the iron; returns it. `nil` for a field of no length.
  func misfitSlopes(
    _ away: Vector3, soft: Matrix3, freedom: DistortionFreedom, into row: inout [Double]
  ) -> Double? {
    let corrected = soft * away
    let length = corrected.length
    guard length > 0 else { return nil }
    let direction = corrected / length
    let normal = soft * direction
    let gradient = normal.length
    guard gradient > 1e-9 else { return nil }
    let misfit = (length - radius) / gradient
    // d misfit = (d length - misfit * d gradient) / gradient, where the gradient changes with soft iron itself and with
    // the direction in which it is taken.
    let lean = (soft * normal - gradient * gradient * direction) / length
    Self.slopes(
      (direction - misfit / gradient * lean) / gradient, away, soft, freedom: freedom, into: &row)
    Self.addSoftSlopes(
      -misfit / (gradient * gradient) * normal, direction, freedom: freedom, into: &row)
    row[3] = -1 / gradient
    return misfit
  }

  /// Adds how `left . soft right` changes with soft iron.
  private static func addSoftSlopes(
    _ left: Vector3, _ right: Vector3, freedom: DistortionFreedom, into row: inout [Double]
  ) {
    guard freedom != .sphere else { return }
    let products = left * right
    row[4] += products.x - products.z
    row[5] += products.y - products.z
    guard freedom == .ellipsoid else { return }
    row[6] += left.x * right.y + left.y * right.x
    row[7] += left.x * right.z + left.z * right.x
    row[8] += left.y * right.z + left.z * right.y
  }

  /// Writes how `direction . soft (raw - offset)` changes with the unknowns of the iron but the radius.
  static func slopes(
    _ direction: Vector3, _ away: Vector3, _ soft: Matrix3, freedom: DistortionFreedom,
    into row: inout [Double]
  ) {
    let hard = soft * direction
    (row[0], row[1], row[2], row[3]) = (-hard.x, -hard.y, -hard.z, 0)
    for k in 4..<max(4, freedom.rawValue) { row[k] = 0 }
    addSoftSlopes(direction, away, freedom: freedom, into: &row)
  }
}
