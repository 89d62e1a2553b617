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
    let z = u - Vector3(0, field.x, field.y)
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

    // An error of strength cannot come from the attitude: beyond the sensor's noise it measures how much
    // the field of this place is worth. It lasts for seconds, so each block counts for many.
    let strengthError = u.length - strength
    let scatter = strengthError * strengthError - mean.noise
    fieldScatter += (scatter - fieldScatter) * (duration / (c.magnetometer.scatterTime + duration))
    let ceiling = c.fieldCeiling * scale * scale / duration
    var variance = min(
      (c.magneticVariance + c.scatterWeight * max(0, fieldScatter)) / duration, ceiling)

    if let size = magnetDetector.update(
      error: z, rotation: rotation, isStationary: now.isStationary, scale: scale, duration,
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
    } else {
      variance *= doubt(z, field: u, rotation, lagSlope, variance: variance, duration, c)
      // At rest a field that is known to be wrong says nothing that would ever come to an end.
      if now.isDisturbed {
        variance *=
          now.isStationary ? c.magnetometer.stationaryFactor : c.magnetometer.disturbedFactor
      }
    }
    let (hx, hy, hz) = Self.sensitivity(to: u, rotation, lagSlope)
    covariance.update(&x, h: hx, value: z.x, variance: variance)
    covariance.update(&x, h: hy, value: z.y, variance: variance)
    covariance.update(&x, h: hz, value: z.z, variance: variance)
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
    for axis in 0..<3 { covariance.decouple(ErrorVector.iron + axis, variance: c.ironVariance) }
    northAge = 0
  }

  /// How many times more uncertain the field is than was thought: nothing is rejected wholly, so that a
  /// wrong heading cannot lock itself in.
  private mutating func doubt(
    _ z: Vector3, field u: Vector3, _ rotation: Matrix3, _ lagSlope: Vector3, variance: Double,
    _ duration: Double, _ c: AttitudeConstants
  ) -> Double {
    let (hx, hy, hz) = Self.sensitivity(to: u, rotation, lagSlope)
    let (px, py, pz) = (covariance.times(hx), covariance.times(hy), covariance.times(hz))
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

  /// How the field in the earth frame, less what is expected, follows from the errors:
  /// `z = dB + R dc + lag slope dlag - phi x u`.
  private static func sensitivity(
    to u: Vector3, _ rotation: Matrix3, _ lagSlope: Vector3
  ) -> (ErrorVector, ErrorVector, ErrorVector) {
    let r = rotation.columns
    return (
      ErrorVector(
        motion: SIMD8(0, -u.z, u.y, 0, 0, 0, 0, 0),
        magnetic: SIMD8(0, 0, r.x.x, r.y.x, r.z.x, lagSlope.x, 0, 0)),
      ErrorVector(
        motion: SIMD8(u.z, 0, -u.x, 0, 0, 0, 0, 0),
        magnetic: SIMD8(1, 0, r.x.y, r.y.y, r.z.y, lagSlope.y, 0, 0)),
      ErrorVector(
        motion: SIMD8(-u.y, u.x, 0, 0, 0, 0, 0, 0),
        magnetic: SIMD8(0, 1, r.x.z, r.y.z, r.z.z, lagSlope.z, 0, 0))
    )
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
    // Where the attitude is doubtful, so is what is known of the field.
    fieldScatter = uncertainTime > 0 ? c.fieldCeiling / c.scatterWeight : 0
    meanNIS = 0
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

  /// Lets field and heading move by what another calibration changes, microtesla squared.
  mutating func loosenField(bySquare square: Double, _ c: AttitudeConstants) {
    covariance.tape?.doubtHeading()
    covariance.add(min(square / max(field.x * field.x, 1), c.north.largestVariance), to: 2)
    covariance.add(square, to: ErrorVector.field)
    covariance.add(square, to: ErrorVector.field + 1)
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

  /// Lets field and heading move by what another calibration changes, microtesla.
  mutating func loosenField(by shift: Vector3, _ c: AttitudeConstants) {
    // A record that was made beside a magnet takes it up; one that was not leaves it where it is.
    let rest = summary.iron + shift
    let isTakenUp = rest.lengthSquared < shift.lengthSquared
    attached = isTakenUp ? .zero : summary.iron
    let square = isTakenUp ? rest.lengthSquared : shift.lengthSquared
    loosenField(bySquare: square, c)
    // The wrong field has pulled at the tilt as well.
    let tilt = min(square / max((field * field).sum(), 1), c.north.largestVariance)
    covariance.add(tilt, to: 0)
    covariance.add(tilt, to: 1)
    residual.restart(c.residual)
    fieldScatter = 0
    meanNIS = 0
    summarise(c)
  }

  /// The place has become known: what the model says of its field is worth as much as it says.
  mutating func take(
    _ expected: ReferenceField, _ x: inout ErrorVector, _ c: AttitudeConstants
  ) {
    let (value, variance) = Self.prior(expected, c)
    for axis in 0..<2 {
      covariance.update(
        &x, h: .unit(ErrorVector.field + axis), value: value[axis] - field[axis],
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

  /// Forgets the field and all iron: samples are corrected from now on that were not, or the reverse.
  mutating func forgetField(_ c: AttitudeConstants) {
    hasNorth = false
    hasTakenField = false
    knowsField = false
    attached = .zero
    toldIron = .zero
    residual = ResidualOffset()
    magnetDetector = MagnetDetector()
    for axis in 0..<3 { covariance.decouple(ErrorVector.iron + axis, variance: c.ironVariance) }
    fieldScatter = 0
    meanNIS = 0
    block.forgetField()
    summarise(c)
  }

  /// Lets field and heading find their place again after the magnetometer's calibration has
  /// changed.
  mutating func loosenField(_ c: AttitudeConstants) {
    covariance.decouple(ErrorVector.field, variance: c.fieldVariance)
    covariance.decouple(ErrorVector.field + 1, variance: c.fieldVariance)
    covariance.tape?.doubtHeading()
    covariance.add(c.north.solutionVariance, to: 2)
    residual.restart(c.residual)
    fieldScatter = 0
    meanNIS = 0
    summarise(c)
  }
}
