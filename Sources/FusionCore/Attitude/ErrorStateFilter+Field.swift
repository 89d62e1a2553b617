// What the attitude filter learns from the magnetic field: heading, the field of the place, iron on the board.

import LinearAlgebra

extension ErrorStateFilter {
  /// Takes the mean field of the block.
  mutating func takeField(
    _ mean: MotionBlock.Field, _ x: inout ErrorVector, _ now: Circumstances, _ duration: Double,
    _ c: AttitudeConstants
  ) {
    hasTakenField = true
    northAge += duration
    let (rotation, lagSlope) = (mean.rotation, mean.lagSlope)
    let u = mean.earth - rotation * summary.iron
    let rows = FieldRows(to: u, rotation, lagSlope, c.azimuth)
    let z = Vector3(rows.azimuth - anomaly, rows.horizontal - field.x, u.z - field.y)
    let strength = (field * field).sum().squareRoot()
    let scale = strength / c.magnetometer.referenceStrength

    // What passes is no offset, and would be in the window for three turns. What stays `magnetDetector` finds.
    if !now.isBesideMagnet {
      let move = residual.update(
        rotation: rotation, body: mean.body, earth: mean.earth, square: mean.square,
        turned: block.turned, known: attached, c.residual)
      if let move { loosenField(bySquare: move, c) }
      if let solution = residual.solution {
        let turn = atan2(solution.field.x, solution.field.y)
        if abs(turn) > c.north.solutionTurn {
          // What was found in this block so far belongs to the frame that is given up.
          apply(x, c)
          x = .zero
          return adopt(solution, turn: turn, c)
        }
      }
    }

    let strengthError = u.length - strength
    noteScatter(strengthError: strengthError, east: u.x, noise: mean.noise, duration, c)
    var (variance, eastVariance) = fieldVariances(now, scale: scale, duration, c)
    var products = rows.products(with: covariance)
    if weighContradiction(
      u, azimuth: z.x, variance: rows.east.dot(products.east), strengthError: strengthError,
      now, duration, c)
    {
      products = rows.products(with: covariance)
    }
    if let size = magnetDetector.update(
      error: u - Vector3(anomaly, field.x, field.y), rotation: rotation,
      isStationary: now.isStationary, scale: scale, duration,
      c.magnet)
    {
      for axis in 0..<3 { covariance.add(size, to: ErrorVector.iron + axis) }
      if northAge < c.north.proofDuration {
        covariance.tape?.doubtHeading()
        covariance.add(c.north.magnetVariance, to: 2)
        covariance.add(size, to: ErrorVector.field)
        covariance.add(size, to: ErrorVector.field + 1)
      }
      restartResidual(c)
      meanNIS = 0
      products = rows.products(with: covariance)
    } else {
      var factor = doubt(z, rows, products, variance: variance, duration, c)
      // At rest a field that is known to be wrong says nothing that would ever come to an end.
      if now.isDisturbed {
        factor *=
          now.isStationary ? c.magnetometer.stationaryFactor : c.magnetometer.disturbedFactor
      }
      variance *= factor
      eastVariance *= factor
    }
    measure(
      z, rows, products, &x, variance: variance, eastVariance: eastVariance, shares(now, c))
  }

  /// Notes by how much the field of this place differs from what it is held for.
  private mutating func noteScatter(
    strengthError: Double, east: Double, noise: Double, _ duration: Double, _ c: AttitudeConstants
  ) {
    let share = duration / (c.magnetometer.scatterTime + duration)
    // An error of strength cannot come from the attitude: beyond the sensor's noise it measures how much
    // the field of this place is worth.
    let scatter = strengthError * strengthError - noise
    fieldScatter += (scatter - fieldScatter) * share
    // A magnet that passes is not the place.
    let reference = c.magnetometer.referenceStrength
    let most = c.azimuth.largestScatter / reference
    unevenness +=
      (min(scatter, most * most * (field * field).sum()) - unevenness)
      * (duration / (c.azimuth.scatterTime + duration))
    eastMean += (east - eastMean) * share
    let bend = east - eastMean
    eastScatter += (bend * bend - noise - eastScatter) * share
  }

  /// Variances of a component of the block's mean field, and of its east part, uT^2. What scatters lasts for seconds, so
  /// that each block counts for many.
  private func fieldVariances(
    _ now: Circumstances, scale: Double, _ duration: Double, _ c: AttitudeConstants
  ) -> (any: Double, east: Double) {
    let ceiling = c.fieldCeiling * scale * scale / duration
    let strength = max(0, fieldScatter)
    let any = min((c.magneticVariance + c.scatterWeight * strength) / duration, ceiling)
    if now.isFindingBias { return (any, any) }
    // Azimuth is worth what the east part shows: iron that strength tells of need not turn the field.
    let scatter =
      c.azimuth.strengthWeight * strength + c.azimuth.eastWeight * max(0, eastScatter)
    return (any, min((c.magneticVariance + scatter) / duration, ceiling))
  }

  /// How much of each error the field corrects: of tilt less where strength shows that iron bends the field, and while the
  /// bias is being found, when the attitude is too far off for what is linear.
  private func shares(_ now: Circumstances, _ c: AttitudeConstants) -> UpdateShares {
    let up = strapdown.attitude.conjugate.rotate(Vector3(0, 0, 1))
    var part = UpdateShares(
      shares: c.fieldShares, levelBias: c.magnetometer.levelBiasShare, up: SIMD3(up.x, up.y, up.z))
    // The offset of an uncalibrated magnetometer turns with the board, and would be taken for a gyro that turns back.
    // A gyro whose bias is being found is wrong by more than that. A filter with a tape corrects everything wholly, because a
    // smoother can go back over such corrections only.
    guard now.isCalibrated || now.isFindingBias || isTaped else {
      (part.shares[0], part.shares[1]) = (0, 0)
      for entry in ErrorVector.gyroMatrix..<ErrorVector.gyroMatrix + 9 { part.shares[entry] = 0 }
      (part.levelBias, part.verticalBias) = (0, 0)
      return part
    }
    guard !now.isFindingBias else { return part }
    let half = c.magnetometer.evenVariance
    let even = half > 0 ? half / (half + max(0, unevenness)) : 0
    for axis in 0..<2 { part.shares[axis] += even * (1 - part.shares[axis]) }
    for entry in ErrorVector.gyroMatrix..<ErrorVector.gyroMatrix + 9 {
      part.shares[entry] += even * (1 - part.shares[entry])
    }
    part.levelBias += even * (1 - part.levelBias)
    return part
  }

  /// Takes azimuth, horizontal and vertical field, one after the other.
  private mutating func measure(
    _ z: Vector3, _ rows: FieldRows, _ products: FieldRows.Products, _ x: inout ErrorVector,
    variance: Double, eastVariance: Double, _ part: UpdateShares
  ) {
    var (along, up) = (products.along, products.up)
    if let taken = covariance.update(
      &x, h: rows.east, ph: products.east, value: z.x, variance: eastVariance, part: part)
    {
      along = taken.applied(to: along, rows.along)
      up = taken.applied(to: up, rows.up)
    }
    if let taken = covariance.update(
      &x, h: rows.along, ph: along, value: z.y, variance: variance, part: part)
    {
      up = taken.applied(to: up, rows.up)
    }
    _ = covariance.update(&x, h: rows.up, ph: up, value: z.z, variance: variance, part: part)
  }

  /// Weighs a field that is right in strength and dip and keeps pointing elsewhere than north. In motion it is heading that
  /// is wrong: its variance grows by what is seen, so that a wrong heading cannot be sure of itself for long. At rest it may
  /// be iron as well, and only the error bar grows.
  ///
  /// - Returns: Whether the variance of heading has grown.
  private mutating func weighContradiction(
    _ u: Vector3, azimuth: Double, variance: Double, strengthError: Double,
    _ now: Circumstances, _ duration: Double, _ c: AttitudeConstants
  ) -> Bool {
    let p = c.contradiction
    let dipError = atan2(-u.z, hypot(u.x, u.y)) - atan2(-field.y, field.x)
    let isEarths = !now.isDisturbed || now.isTurned
    dipMean +=
      ((isEarths ? dipError : 0) - dipMean) * (duration / (c.magnetometer.scatterTime + duration))
    let strength = (field * field).sum().squareRoot()
    let isRight =
      isEarths && abs(strengthError) < max(p.strengthFloor, p.strengthShare * strength)
      && abs(dipError) < p.largestDipError
    let horizontal = max(field.x, 1)
    guard
      let azimuth = contradiction.update(
        azimuth: azimuth / horizontal, variance: variance / (horizontal * horizontal),
        heading: covariance[2, 2], isRight: isRight, isAtRest: now.isTurned, duration, p)
    else { return false }
    covariance.add(azimuth * azimuth, to: 2)
    // On its way to the wrong heading the filter has taken some of that for the gyro's bias.
    let up = strapdown.attitude.conjugate.rotate(Vector3(0, 0, 1))
    var common = ErrorVector.zero
    common[vector: ErrorVector.bias] = SIMD3(up.x, up.y, up.z) * (p.biasShare * azimuth)
    covariance.add(common: common)
    return true
  }

  /// The anomaly belongs to a north that is given up.
  mutating func forgetAnomaly(_ c: AttitudeConstants) {
    (anomaly, eastMean, contradiction) = (0, 0, FieldContradiction())
    covariance.decouple(ErrorVector.anomaly, variance: anomalyVariance(c))
  }

  /// What was seen of the field's unevenness belongs to samples, or to a field, that no longer count.
  mutating func forgetScatter() {
    (fieldScatter, unevenness, eastMean, eastScatter, dipMean, meanNIS) = (0, 0, 0, 0, 0, 0)
    contradiction = FieldContradiction()
  }

  /// Variance of the field's east anomaly, which grows with the field as iron's magnetization does, uT^2.
  func anomalyVariance(_ c: AttitudeConstants) -> Double {
    let scale =
      (field * field).sum() / (c.magnetometer.referenceStrength * c.magnetometer.referenceStrength)
    let (least, most) = (c.azimuth.leastDeviation, c.azimuth.deviation)
    return min(least * least * scale + max(0, unevenness), most * most * scale)
  }

  /// North was found beside a magnet, and what the turns since have shown says where it is: no small error
  /// that a linear filter could mend.
  private mutating func adopt(
    _ solution: ResidualOffsetSolution, turn: Double, _ c: AttitudeConstants
  ) {
    covariance.tape?.doubtHeading()
    residual.adopt(solution, known: attached)
    turnEarth(by: turn)
    headingCorrection += turn
    let u = solution.field
    setField(Vector3(0, hypot(u.x, u.y), u.z), nil, c)
    covariance.decouple(2, variance: c.north.solutionVariance)
    forgetAnomaly(c)
    for axis in 0..<3 { covariance.decouple(ErrorVector.iron + axis, variance: c.ironVariance) }
    northAge = 0
    placeTurn = 0
  }

  /// How many times more uncertain the field is than was thought: nothing is rejected wholly, so that a
  /// wrong heading cannot lock itself in.
  private mutating func doubt(
    _ z: Vector3, _ rows: FieldRows, _ products: FieldRows.Products, variance: Double,
    _ duration: Double, _ c: AttitudeConstants
  ) -> Double {
    let (hx, hy, hz) = (rows.east, rows.along, rows.up)
    let (px, py, pz) = (products.east, products.along, products.up)
    let floor = variance * c.magnetometer.innovationShare
    let (xy, xz, yz) = (hx.dot(py), hx.dot(pz), hy.dot(pz))
    let spread = Matrix3(
      columns: Vector3(hx.dot(px) + floor, xy, xz), Vector3(xy, hy.dot(py) + floor, yz),
      Vector3(xz, yz, hz.dot(pz) + floor))
    guard let inverse = spread.inverse else { return 1 }
    let now = max(0, z.dot(inverse * z) / 3)
    meanNIS += (now - meanNIS) * (duration / (c.magnetometer.innovationTime + duration))
    return max(1, max(now, meanNIS) / c.magnetometer.gate)
  }

  /// Turns the earth frame so that the field's horizontal part lies along y.
  mutating func alignNorth(
    _ u: Vector3, _ expected: ReferenceField?, _ c: AttitudeConstants
  ) {
    guard hypot(u.x, u.y) > c.north.leastHorizontalShare * u.length else { return }
    covariance.tape?.doubtHeading()
    turnEarth(by: atan2(u.x, u.y))
    covariance.decouple(2, variance: c.north.deviation * c.north.deviation)
    setField(u, expected, c)
    forgetAnomaly(c)
    hasNorth = true
    northAge = 0
    hasTakenField = true
  }

  /// What was known of north is worth nothing any more: it is found anew from the samples to come.
  mutating func seekNorth() {
    hasNorth = false
    block.forgetField()
  }

  /// Takes the field of this place from a first measurement, or from the magnetic model where the place is
  /// known: a magnet that was there from the start then shows.
  mutating func setField(
    _ mean: Vector3, _ expected: ReferenceField?, _ c: AttitudeConstants
  ) {
    knowsField = true
    var variance = c.fieldVariance
    if let expected {
      (field, variance) = Self.prior(expected, c)
    } else {
      field = SIMD2(hypot(mean.x, mean.y), mean.z)
    }
    covariance.decouple(ErrorVector.field, variance: variance)
    covariance.decouple(ErrorVector.field + 1, variance: variance)
    forgetScatter()
    // Where the attitude is doubtful, so is what is known of the field.
    if uncertainTime > 0 { fieldScatter = c.fieldCeiling / c.scatterWeight }
  }

  /// Whether what is known of iron has moved by as much as matters to who judges the field, since the
  /// last time that this was true.
  mutating func takeIronMove(_ p: MagnetDetectorParameters) -> Bool {
    let iron = summary.iron
    guard (iron - toldIron).lengthSquared > p.reportedChange * p.reportedChange else {
      return false
    }
    toldIron = iron
    return true
  }

  /// The place has become known: what the model says of its field is worth as much as it says.
  mutating func take(
    _ expected: ReferenceField, _ x: inout ErrorVector, _ c: AttitudeConstants
  ) {
    let (value, variance) = Self.prior(expected, c)
    for axis in 0..<2 {
      covariance.update(
        &x, error: ErrorVector.field + axis, value: value[axis] - field[axis],
        variance: variance)
    }
  }

  /// Horizontal and up, microtesla, and their variance.
  private static func prior(
    _ expected: ReferenceField, _ c: AttitudeConstants
  ) -> (SIMD2<Double>, Double) {
    let dip = expected.strength * expected.dipDeviation
    return (
      SIMD2(expected.strength * cos(expected.dip), -expected.strength * sin(expected.dip)),
      c.placeVariance + expected.strengthDeviation * expected.strengthDeviation + dip * dip
    )
  }
}
