// How the filter's nominal state takes corrections, and what it keeps in sum.

import LinearAlgebra

extension ErrorStateFilter {
  /// Turns the earth frame's axes against the world, radians counterclockwise; not what the block has summed.
  mutating func turnEarth(by angle: Double) {
    let turn = Quaternion(rotationVector: Vector3(0, 0, angle))
    strapdown.attitude = turn * strapdown.attitude
    func turned(_ v: SIMD2<Double>) -> SIMD2<Double> {
      let v = turn.rotate(Vector3(v.x, v.y, 0))
      return SIMD2(v.x, v.y)
    }
    velocity = turned(velocity)
    pull = turned(pull)
    lastForce = lastForce.map(turn.rotate)
    meanForce = meanForce.map(turn.rotate)
    reckonedVelocity = turn.rotate(reckonedVelocity)
    residual.turnEarth(turn)
    covariance.turnEarth(sine: sin(angle), cosine: cos(angle))
  }

  mutating func apply(_ x: ErrorVector, _ c: AttitudeConstants) {
    headingCorrection += x[2]
    let turn = Quaternion(rotationVector: x[vector: ErrorVector.attitude])
    strapdown.attitude = (turn * strapdown.attitude).normalized
    // An error that is found now was there all along: the window of the iron turns with it.
    residual.turnEarth(turn)
    strapdown.bias += x[vector: ErrorVector.bias]
    velocity += SIMD2(x[6], x[7])
    anomaly += x[ErrorVector.anomaly]
    field += SIMD2(x[ErrorVector.field], x[ErrorVector.field + 1])
    field.x = max(field.x, c.place.leastHorizontal)
    attached += x[vector: ErrorVector.iron]
    let largestLag = c.magnetometer.largestLag
    lag = max(-largestLag, min(largestLag, lag + x[ErrorVector.lag]))
    let g = ErrorVector.gyroMatrix
    strapdown.gyroMatrix =
      strapdown.gyroMatrix
      + Matrix3(rows: x[vector: g], x[vector: g + 3], x[vector: g + 6])
  }

  mutating func summarise(_ c: AttitudeConstants) {
    let b = ErrorVector.bias
    summary.attitude = covariance.block(ErrorVector.attitude)
    summary.biasVariance =
      max(covariance[b, b], max(covariance[b + 1, b + 1], covariance[b + 2, b + 2]))
    summary.biasDeviation = summary.biasVariance.squareRoot()
    summary.iron = attached + residual.found
    summary.hiddenIron = residual.hidden(c.residual)
    summary.doubt = headingDoubt(c)
    summary.tiltAccuracy = summary.tiltAccuracy(c.tilt)
  }

  private func headingDoubt(_ c: AttitudeConstants) -> HeadingDoubt {
    // As it would be in a field of the reference strength.
    let reference = c.magnetometer.referenceStrength
    let scale = reference * reference / max((field * field).sum(), 1)
    return HeadingDoubt(
      pull: max(0, (pull * pull).sum().squareRoot() - c.heading.leastPull / haste(c)),
      unevenness: max(0, residual.unexplained(known: attached)) / 3 * scale,
      north: dipMean * field.x, anomaly: anomalyVariance(c) / max(field.x * field.x, 1),
      azimuth: max(contradiction.surplus, placeTurn * placeTurn))
  }

  /// Whether all numbers are still numbers.
  var isSound: Bool {
    let g = strapdown.gyroMatrix.columns
    return strapdown.attitude.w.isFinite && strapdown.attitude.vector.isFinite
      && strapdown.bias.isFinite && g.x.isFinite && g.y.isFinite && g.z.isFinite
      && velocity.x.isFinite && velocity.y.isFinite && anomaly.isFinite && field.x.isFinite
      && field.y.isFinite
      && summary.iron.isFinite && covariance.isSound
  }
}

extension ErrorStateFilter.Summary {
  /// The radius of the 95 % circle of two errors that are independent, in deviations of each: sqrt(-2 ln 0.05).
  private static let circle = 2.447_746_831

  /// The radius of the 95 % circle of the tilt, in radians.
  fileprivate func tiltAccuracy(_ p: TiltAccuracyParameters) -> Double {
    // The largest of the variances in all horizontal directions.
    let (x, y) = (attitude.columns.x, attitude.columns.y)
    let (mean, half) = ((x.x + y.y) / 2, (x.x - y.y) / 2)
    let largest = mean + (half * half + x.y * x.y).squareRoot()
    let variance =
      p.covarianceFactor * largest + p.pullFactor * doubt.pull * doubt.pull + p.floor * p.floor
    return Self.circle * variance.squareRoot()
  }
}
