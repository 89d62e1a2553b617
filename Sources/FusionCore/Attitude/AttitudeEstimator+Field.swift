// What a field sample does to the attitude, and what a change of the magnetometer's calibration does.

public import LinearAlgebra
public import SensorTypes

extension AttitudeEstimator {
  /// Takes one field sample, microtesla, body frame, with the quality of its calibration; at most
  /// 10 000 uT on each axis.
  public mutating func update(
    magneticField field: Vector3, at time: Timestamp, quality: MagnetometerQuality
  ) {
    detach()
    let c = storage.coefficients
    let dt: Double
    switch admit(
      field, limit: c.limits.field, at: time, after: storage.state.fieldTime)
    {
    case .rejected: return
    case .first: dt = 0
    case .after(let seconds): dt = seconds
    }
    storage.state.fieldTime = time
    storage.state.field = field
    if storage.state.mode != .inertial {
      storage.state.transition.decay(dt, c.transition)
    }
    if quality != storage.state.quality { calibrationDidChange(quality: quality) }
    if dt == 0 { storage.state.monitor.reset() }
    var earth: Vector3?
    var (tilt, shownTilt) = (0.0, 0.0)
    var heading: Double?
    if let offset = gyroOffset(at: time) {
      if storage.state.filter.isRunning {
        let freed = storage.state.filter.add(
          field: field, offset: offset, c)
        if storage.state.filter.hasNorth {
          earth = freed
          if storage.state.northTrustedTime >= c.north.trustDuration {
            heading = max(0, storage.state.filter.summary.attitude.columns.z.z).squareRoot()
          }
          updateStationary(field, dt, c)
        }
      } else {
        storage.state.start.add(field: field)
      }
    } else {
      leaveInertial()
      storage.state.direct.update(field: field, dt, c.direct)
      storage.state.mode = mode(at: time)
      // Accelerated the board does not quite know where down is, and so not how the field dips.
      tilt = storage.state.direct.tiltDeviation(c)
      shownTilt = storage.state.direct.shownTilt(c)
      if tilt < c.direct.blindTilt {
        earth = attitude?.rotate(storage.state.direct.field ?? field)
      }
    }
    let iron = storage.state.mode == .inertial ? storage.state.filter.summary.iron : .zero
    let wasDisturbed = storage.state.monitor.disturbance != nil
    storage.state.monitor.update(
      field - iron, earth: earth, dt, residual: calibrationDeviation, tilt: tilt,
      shownTilt: shownTilt, heading: heading,
      calibrated: storage.state.quality.isCalibrated ? storage.state.quality.strength : nil,
      teaches: tilt < c.direct.learningTilt, c)
    detectMagnet(iron, field, dt, c)
    updateNorth(wasDisturbed: wasDisturbed, dt, c)
  }

  /// Says that the magnetometer has measured a field beyond its range: there is no sample, and the field is not
  /// the earth's.
  ///
  /// - Returns: Whether that was news: `false` before the first field sample, for a time that is not later than
  ///   the newest one's, and after a pause, when there is nothing that it could be the continuation of.
  public mutating func fieldIsBeyondRange(at time: Timestamp) -> Bool {
    detach()
    let c = storage.coefficients
    guard let last = storage.state.fieldTime else { return false }
    let dt = time.seconds(since: last)
    guard dt > 0, dt <= c.limits.lossTimeout else { return false }
    storage.state.fieldTime = time
    storage.state.monitor.saturate(c)
    if gyroOffset(at: time) == nil {
      leaveInertial()
      storage.state.mode = mode(at: time)
    }
    return true
  }

  /// The field of the earth tells a slow turn from rest.
  private mutating func updateStationary(_ field: Vector3, _ dt: Double, _ c: AttitudeConstants) {
    guard storage.state.monitor.disturbance == nil, dt > 0 else {
      return storage.state.rest.forgetField()
    }
    if let turn = storage.state.rest.update(
      field: field, dt, c)
    {
      storage.state.filter.doubtRest(turn, c)
    }
  }

  /// A magnet that was found on the board and is taken off again need not be unlearned by turning: as soon
  /// as the field is right without it, it is forgotten.
  private mutating func detectMagnet(
    _ iron: Vector3, _ field: Vector3, _ dt: Double, _ c: AttitudeConstants
  ) {
    guard iron.length > c.magnet.removable, let attitude = unsmoothedAttitude,
      storage.state.monitor.magnetHasGone(
        bare: attitude.rotate(field), dt, residual: calibrationDeviation,
        c)
    else { return }
    storage.state.filter.loosenField(by: -iron, c)
    storage.state.monitor.magnetWasFound(c)
  }

  /// A north that was found in a disturbed field and never confirmed is sought anew once the field
  /// is the earth's again, and one that the field has contradicted for long.
  private mutating func updateNorth(wasDisturbed: Bool, _ dt: Double, _ c: AttitudeConstants) {
    // A north by course needs no field.
    guard storage.state.filter.hasNorth, storage.state.courseTime == nil else { return }
    if storage.state.monitor.northHasTurned(c) {
      storage.state.filter.seekNorth()
      storage.state.northTrustedTime = 0
      return
    }
    let isDisturbed = storage.state.monitor.disturbance != nil
    let trustDuration = c.north.trustDuration
    if !isDisturbed && wasDisturbed && storage.state.northTrustedTime < trustDuration {
      storage.state.filter.hasNorth = false
      storage.state.northTrustedTime = 0
    } else if !isDisturbed {
      storage.state.northTrustedTime = min(storage.state.northTrustedTime + dt, 10)
    }
  }

  /// Says that field samples are corrected by another calibration from now on.
  ///
  /// North is found anew at once; the published heading follows within seconds, without a jump.
  /// - Parameters:
  ///   - shift: What the newest sample would have been corrected by besides, body frame, microtesla.
  ///   - quality: The new calibration's; one that has none before or after is not rebased but begun anew.
  public mutating func calibrationDidChange(shift: Vector3, quality: MagnetometerQuality) {
    detach()
    let c = storage.coefficients
    guard quality.isCalibrated, storage.state.quality.isCalibrated, shift.isFinite else {
      return calibrationDidChange(quality: quality)
    }
    storage.state.quality = quality
    storage.history?.note(quality)
    storage.state.monitor.reset()
    switch storage.state.mode {
    case .none, .starting: break
    case .inertial:
      let isFiner =
        shift.length < c.north.recordShift * storage.state.filter.field.x
      storage.state.filter.loosenField(by: shift, c)
      storage.state.transition.settle(c.transition)
      guard !isFiner, storage.state.courseTime == nil else { return }
      storage.state.filter.seekNorth()
      storage.state.northTrustedTime = 0
    case .direct, .level:
      guard let before = unsmoothedAttitude else { return }
      storage.state.direct.shiftField(by: shift)
      guard let after = unsmoothedAttitude else { return }
      storage.state.transition.absorb(
        turn: DirectAttitude.heading(of: before) - DirectAttitude.heading(of: after))
    }
  }

  /// The same where nobody says by how much samples have shifted.
  private mutating func calibrationDidChange(quality: MagnetometerQuality) {
    let c = storage.coefficients
    guard quality != storage.state.quality else { return }
    let wasCalibrated = storage.state.quality.isCalibrated
    storage.state.quality = quality
    storage.history?.note(quality)
    storage.state.monitor.reset()
    if quality.isCalibrated && wasCalibrated {
      if storage.state.filter.isRunning { storage.state.filter.loosenField(c) }
    } else {
      if storage.state.filter.isRunning { storage.state.filter.forgetField(c) }
      storage.state.courseTime = nil
      storage.state.northTrustedTime = 0
    }
  }

  /// One sigma of the field that calibration leaves open, uT.
  var calibrationDeviation: Double {
    let c = storage.state.quality.offsetCovariance.columns
    let offset = max(0, (c.x.x + c.y.y + c.z.z) / 3)
    return (offset + storage.state.quality.residual * storage.state.quality.residual).squareRoot()
  }
}
