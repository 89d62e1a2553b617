// What the attitude filter doubts: after another calibration, after a rest that may have been a turn, at a new place.

import LinearAlgebra

extension ErrorStateFilter {
  /// Lets field and heading move by what another calibration changes, microtesla squared.
  mutating func loosenField(bySquare square: Double, _ c: AttitudeConstants) {
    covariance.tape?.doubtHeading()
    covariance.add(min(square / max(field.x * field.x, 1), c.north.largestVariance), to: 2)
    covariance.add(square, to: ErrorVector.field)
    covariance.add(square, to: ErrorVector.field + 1)
  }

  /// Lets field, heading and gyro bias move by what another calibration changes.
  ///
  /// - Parameters:
  ///   - shift: What is added to each sample from now on, body frame, in uT.
  ///   - isStationary: Whether the board is at rest, which has taught the bias better than any field.
  mutating func loosenField(by shift: Vector3, isStationary: Bool, _ c: AttitudeConstants) {
    // A record that was made beside a magnet takes it up; one that was not leaves it where it is.
    let rest = summary.iron + shift
    let isTakenUp = rest.lengthSquared < shift.lengthSquared
    attached = isTakenUp ? .zero : summary.iron
    let square = isTakenUp ? rest.lengthSquared : shift.lengthSquared
    loosenField(bySquare: square, c)
    if !isStationary { loosenBias(bySquare: square, c) }
    residual.restart(c.residual)
    forgetScatter()
    summarise(c)
  }

  /// Lets field and heading find their place again after the magnetometer's calibration has changed by an unknown shift.
  ///
  /// - Parameters:
  ///   - square: The variance of each axis of that shift, in uT^2.
  ///   - isStationary: Whether the board is at rest.
  mutating func findField(
    afterShiftOf square: Double, isStationary: Bool, _ c: AttitudeConstants
  ) {
    covariance.decouple(ErrorVector.field, variance: c.fieldVariance)
    covariance.decouple(ErrorVector.field + 1, variance: c.fieldVariance)
    covariance.tape?.doubtHeading()
    let turn = square / max(field.x * field.x, 1)
    covariance.add(min(max(c.north.solutionVariance, turn), c.north.largestVariance), to: 2)
    if !isStationary { loosenBias(bySquare: square, c) }
    residual.restart(c.residual)
    forgetScatter()
    summarise(c)
  }

  /// Adds variance to the gyro's bias that the filter learned from a wrong field.
  ///
  /// - Parameter square: The square of the field's error, in uT^2.
  private mutating func loosenBias(bySquare square: Double, _ c: AttitudeConstants) {
    let turn = min(c.north.largestVariance, square / max(field.x * field.x, 1))
    let added = turn * c.north.biasShare * c.north.biasShare
    for axis in ErrorVector.bias..<ErrorVector.bias + 3 {
      covariance.add(max(0, min(added, c.biasVariance - covariance[axis, axis])), to: axis)
    }
  }

  /// Forgets the field and all iron: samples are corrected from now on that were not, or the reverse.
  mutating func forgetField(_ c: AttitudeConstants) {
    hasNorth = false
    hasTakenField = false
    knowsField = false
    attached = .zero
    toldIron = .zero
    placeTurn = 0
    residual = ResidualOffset()
    magnetDetector = MagnetDetector()
    for axis in 0..<3 { covariance.decouple(ErrorVector.iron + axis, variance: c.ironVariance) }
    forgetScatter()
    block.forgetField()
    summarise(c)
  }

  /// Forgets how sure the gyro's bias was: one sigma of each axis is at least `deviation` from now on, in rad/s. A filter with a
  /// tape keeps it, because a smoother needs the way back from a late bias to the beginning.
  mutating func forgetBias(deviation: Double, _ c: AttitudeConstants) {
    guard !isTaped else { return }
    for axis in ErrorVector.bias..<ErrorVector.bias + 3 {
      covariance.decouple(axis, variance: max(covariance[axis, axis], deviation * deviation))
    }
    summarise(c)
  }

  /// What passed for rest was a slow turn. As much of it as was learned as the gyro's bias, nobody knows how much,
  /// heading has not turned by; and the field says what the bias is without it.
  mutating func doubtRest(
    _ turn: AttitudeStationaryDetector.SlowTurn, _ c: AttitudeConstants
  ) {
    covariance.tape?.doubtHeading()
    var common = ErrorVector.zero
    common[ErrorVector.attitude + 2] = turn.angle
    common[vector: ErrorVector.bias] = -turn.rate * turn.up
    covariance.add(common: common)
    var (x, h) = (ErrorVector.zero, ErrorVector.zero)
    h[vector: ErrorVector.bias] = turn.up
    let deviation = c.slowTurn.biasFloor + c.slowTurn.biasShare * abs(turn.rate)
    covariance.update(
      &x, h: h, value: turn.up.dot(turn.felt - strapdown.bias) - turn.rate,
      variance: deviation * deviation)
    apply(x, c)
    block.turn(by: Quaternion(rotationVector: x[vector: ErrorVector.attitude]))
    summarise(c)
  }

  /// Adds variance to heading and gyro bias after a rest without a field. A slow turn may have passed for rest meanwhile.
  ///
  /// - Parameter seconds: The duration of the silence, in s.
  mutating func doubtRest(unobservedFor seconds: Double, _ c: AttitudeConstants) {
    let turn = c.slowTurn.unobserved * seconds
    covariance.add(min(turn * turn, c.north.largestVariance), to: 2)
    let up = strapdown.attitude.conjugate.rotate(Vector3(0, 0, 1))
    var bias = ErrorVector.zero
    bias[vector: ErrorVector.bias] = c.slowTurn.unobserved * SIMD3(up.x, up.y, up.z)
    covariance.add(common: bias)
    summarise(c)
  }

  /// Widens the error bar by an angle by which the field turns north while the board is at rest, in radians. A turn the
  /// other way takes it back.
  mutating func doubtPlace(turnedBy angle: Double) {
    placeTurn = (placeTurn + angle).remainder(dividingBy: 2 * .pi)
  }
}
