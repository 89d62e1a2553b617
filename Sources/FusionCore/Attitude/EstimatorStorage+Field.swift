// What a field sample does to the attitude, and what a change of the magnetometer's calibration does.

import LinearAlgebra
import SensorTypes

extension EstimatorStorage {
  func update(
    magneticField field: Vector3, at time: Timestamp, quality: MagnetometerQuality
  ) {
    let c = coefficients
    let dt: Double
    switch admit(field, limit: c.limits.field, at: time, after: state.fieldTime) {
    case .rejected: return
    case .first: dt = 0
    case .after(let seconds): dt = seconds
    }
    state.fieldTime = time
    state.field = field
    if state.mode != .inertial {
      state.transition.decay(dt, c.transition)
    }
    if quality != state.quality { calibrationDidChange(quality: quality) }
    if dt == 0 { restartFieldTests() }
    var earth: Vector3?
    var (tilt, shownTilt) = (0.0, 0.0)
    var heading: Double?
    if let offset = gyroOffset(at: time) {
      if state.filter.isRunning {
        let freed = state.filter.add(field: field, offset: offset, c)
        // In a swing beyond the gyro's range the attitude that turned it is not the board's.
        if state.filter.hasNorth, !state.filter.clipping.isOpen {
          earth = freed
          if state.northTrustedTime >= c.north.trustDuration {
            heading = max(0, state.filter.summary.attitude.columns.z.z).squareRoot()
          }
        }
      } else {
        state.start.add(field: field)
      }
    } else {
      leaveInertial()
      state.direct.update(field: field, dt, c.direct)
      state.mode = mode(at: time)
      // Accelerated the board does not quite know where down is, and so not how the field dips.
      tilt = state.direct.tiltDeviation(c)
      shownTilt = state.direct.shownTilt(c)
      if tilt < c.direct.blindTilt {
        earth = attitude?.rotate(state.direct.field ?? field)
      }
    }
    let isInertial = state.mode == .inertial
    if isInertial, state.filter.hasNorth, state.monitor.disturbance == nil,
      let seconds = state.rest.takeUnobserved(c)
    {
      state.filter.doubtRest(unobservedFor: seconds, c)
    }
    let iron = isInertial ? state.filter.summary.iron : .zero
    guard
      let mean = state.gathering.add(
        field, length: (field - iron).length, earth: earth, dt, least: c.fieldTest.interval)
    else { return }
    if isInertial, state.filter.hasNorth { updateStationary(mean.body, mean.duration, c) }
    if !isInertial { noteStep(mean.body, mean.duration, c) }
    let wasDisturbed = state.monitor.disturbance != nil
    state.monitor.update(
      strength: mean.length, earth: mean.earth, mean.duration, residual: calibrationDeviation,
      tilt: tilt, shownTilt: shownTilt, heading: heading,
      calibrated: state.quality.isCalibrated ? state.quality.strength : nil,
      teaches: tilt < c.direct.learningTilt, c)
    detectMagnet(iron, field, mean.duration, c)
    updateNorth(wasDisturbed: wasDisturbed, mean.duration, c)
    noteCarried()
  }

  /// Without a gyro: whether the field has turned, and not the board.
  private func noteStep(_ field: Vector3, _ dt: Double, _ c: AttitudeConstants) {
    let up = state.mode == .level ? Vector3(0, 0, 1) : state.direct.up
    let level = up.flatMap(DirectAttitude.attitude(up:))?.rotate(field)
    guard let angle = state.step.update(level: level, dt, c.fieldTest) else { return }
    state.monitor.step(by: angle, c)
  }

  /// Discards everything that compares new field samples with old ones.
  func restartFieldTests() {
    state.monitor.reset()
    state.gathering = FieldGathering()
    state.rest.forgetField()
  }

  func fieldIsBeyondRange(at time: Timestamp) -> Bool {
    let c = coefficients
    guard let last = state.fieldTime else { return false }
    let dt = time.seconds(since: last)
    guard dt > 0, dt <= c.limits.lossTimeout else { return false }
    state.fieldTime = time
    state.gathering = FieldGathering()
    state.monitor.saturate(c)
    if gyroOffset(at: time) == nil {
      leaveInertial()
      state.mode = mode(at: time)
    }
    noteCarried()
    return true
  }

  /// The field of the earth tells a slow turn from rest.
  private func updateStationary(_ field: Vector3, _ dt: Double, _ c: AttitudeConstants) {
    guard dt > 0 else { return state.rest.forgetField() }
    guard state.monitor.disturbance == nil else { return state.rest.noteDisturbedField(c) }
    if let turn = state.rest.update(field: field, dt, c) {
      state.filter.doubtRest(turn, c)
    }
  }

  /// A magnet that was found on the board and is taken off again need not be unlearned by turning: as soon
  /// as the field is right without it, it is forgotten.
  private func detectMagnet(
    _ iron: Vector3, _ field: Vector3, _ dt: Double, _ c: AttitudeConstants
  ) {
    guard iron.length > c.magnet.removable, let attitude = unsmoothedAttitude,
      state.monitor.magnetHasGone(
        bare: attitude.rotate(field), dt, residual: calibrationDeviation, c)
    else { return }
    state.filter.loosenField(by: -iron, isStationary: state.rest.isStationary(c), c)
    state.monitor.magnetWasFound(c)
    state.gathering = FieldGathering()
  }

  /// Searches for north again where it was found in a disturbed field, never confirmed, and the field has become the
  /// earth's; and where the field has contradicted it for long.
  private func updateNorth(wasDisturbed: Bool, _ dt: Double, _ c: AttitudeConstants) {
    let isStationary = state.rest.isStationary(c)
    if let azimuth = state.monitor.takeAdoption(), isStationary {
      state.filter.doubtPlace(turnedBy: azimuth)
    }
    // A north by course needs no field.
    guard state.filter.hasNorth, state.courseTime == nil else { return }
    if state.monitor.northHasTurned(c) {
      if isStationary, let azimuth = state.monitor.azimuth {
        state.filter.doubtPlace(turnedBy: azimuth)
      }
      state.filter.seekNorth()
      state.northTrustedTime = 0
      return
    }
    let isDisturbed = state.monitor.disturbance != nil
    let trustDuration = c.north.trustDuration
    if !isDisturbed && wasDisturbed && state.northTrustedTime < trustDuration {
      state.filter.hasNorth = false
      state.northTrustedTime = 0
    } else if !isDisturbed {
      state.northTrustedTime = min(state.northTrustedTime + dt, 10)
    }
  }

  func calibrationDidChange(shift: Vector3, quality: MagnetometerQuality) {
    let c = coefficients
    guard quality.isCalibrated, state.quality.isCalibrated, shift.isFinite else {
      return calibrationDidChange(quality: quality)
    }
    take(quality)
    switch state.mode {
    case .none, .starting: break
    case .inertial:
      let isFiner =
        shift.length < c.north.recordShift * state.filter.field.x
      state.filter.loosenField(by: shift, isStationary: state.rest.isStationary(c), c)
      state.transition.settle(c.transition)
      guard !isFiner, state.courseTime == nil else { return }
      state.filter.seekNorth()
      state.northTrustedTime = 0
    case .direct, .level:
      guard let before = unsmoothedAttitude else { return }
      state.direct.shiftField(by: shift)
      state.step.forget()
      guard let after = unsmoothedAttitude else { return }
      state.transition.absorb(
        turn: DirectAttitude.heading(of: before) - DirectAttitude.heading(of: after))
    }
  }

  /// Takes another calibration's quality. No mean may hold samples of both calibrations.
  private func take(_ quality: MagnetometerQuality) {
    state.quality = quality
    history?.note(quality)
    restartFieldTests()
    state.start.forgetField()
    state.filter.block.forgetField()
    state.filter.magnetDetector = MagnetDetector()
  }

  /// The same where nobody says by how much samples have shifted.
  private func calibrationDidChange(quality: MagnetometerQuality) {
    let c = coefficients
    guard quality != state.quality else { return }
    let wasCalibrated = state.quality.isCalibrated
    let before = calibrationDeviation
    take(quality)
    state.direct.forgetField()
    state.step.forget()
    if quality.isCalibrated && wasCalibrated {
      let shift = before * before + calibrationDeviation * calibrationDeviation
      if state.filter.isRunning {
        let isStationary = state.rest.isStationary(c)
        state.filter.findField(afterShiftOf: shift, isStationary: isStationary, c)
      }
    } else {
      if state.filter.isRunning {
        state.filter.forgetField(c)
        // Samples whose offset turned with the board have taught it, or have not shown a slow turn that passed for rest.
        state.filter.forgetBias(
          deviation: state.isFindingBias ? startBiasDeviation : c.gyroBias.widestDeviation, c)
      }
      state.courseTime = nil
      state.northTrustedTime = 0
    }
  }

  /// One sigma of the field that calibration leaves open, uT.
  var calibrationDeviation: Double {
    let c = state.quality.offsetCovariance.columns
    let offset = max(0, (c.x.x + c.y.y + c.z.z) / 3)
    return (offset + state.quality.residual * state.quality.residual).squareRoot()
  }
}
