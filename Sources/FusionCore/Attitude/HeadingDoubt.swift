// What heading may be off by that the covariance of the attitude does not tell.

/// What the field of a place says of how far heading can be trusted.
struct HeadingDoubt: Sendable, Hashable, Codable {
  /// What the assumption of standstill has turned the attitude by of late, radians.
  var pull = 0.0
  /// Mean square per axis of what neither a field nor an offset explains over the turns of the window, at the reference
  /// strength, uT^2.
  var unevenness = 0.0
  /// What dip is wrong by, as a horizontal field, microtesla.
  var north = 0.0
  /// Variance of heading that the field's east anomaly comes to, rad^2.
  var anomaly = 0.0
  /// The square of the azimuth of a field that is right otherwise beyond its own deviation, or of the angle by which the
  /// field has turned north at rest, in rad^2.
  var azimuth = 0.0

  /// Returns the variance of heading, split by source of error.
  ///
  /// As far as the covariance comes from the anomaly, turns average it out: what they leave unexplained says by how much.
  /// What is beyond that is the start's, or the gyro's, and counts wholly.
  ///
  /// - Parameters:
  ///   - whole: By the covariance of the attitude, rad^2.
  ///   - slopes: How errors of this moment show in heading.
  @inline(__always)
  func variance(
    whole: Double, slopes: HeadingSlopes, _ p: HeadingAccuracyParameters
  ) -> HeadingVariance {
    let share = p.evenFactor + p.unevenFactor * min(unevenness, p.largestUnevenness)
    let settled = min(whole, p.settledFactor * anomaly)
    // The gyro's part counts as in an even field. The excess comes from the iron that makes the field uneven.
    let lasting = whole - settled
    let excess = max(share, p.covarianceFactor) - p.covarianceFactor
    let turned = north / slopes.horizontal
    return HeadingVariance(
      iron: share * settled + excess * lasting + p.dipFactor * turned * turned + p.azimuthFactor
        * azimuth,
      acceleration: p.pullFactor * slopes.variance(tilt: pull),
      gyro: p.covarianceFactor * lasting)
  }
}
