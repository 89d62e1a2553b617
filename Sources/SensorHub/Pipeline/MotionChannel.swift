// The samples of motion on their way to those who ask for them as such.

import BoardFile
import FusionCore
import LinearAlgebra
import SensorDrivers
import SensorTypes

/// Keeps the newest samples of accelerometer, gyro and magnetometer in the body frame, and publishes them at the
/// interval that is asked for. While nobody asks it does nothing.
struct MotionChannel: Sendable {
  /// A field is published by itself where no other chip has spoken for so long, seconds.
  private static let fieldWait = 0.1
  /// What a heading may be off by where its field is trusted highly, and medium, radians.
  private static let (highTrust, mediumTrust) = (5 * Double.pi / 180, 15 * Double.pi / 180)

  private var demand = MotionDemand()
  private var estimate = MotionEstimate(time: Timestamp(nanoseconds: 0))
  private var rhythm = SampleRhythm()
  private var frames = VerticalFrames()
  /// The field without the board's iron.
  private var corrected: Vector3?
  /// What the board file names, whether it answers or not.
  private let has: Set<MotionSensor>
  /// Whether the inertial chip can say how it turns.
  private var givesRate = true

  init(_ board: Board) {
    var has: Set<MotionSensor> = []
    for sensor in board.sensors {
      switch ChipCatalog.chip(named: sensor.chip)?.kind {
      case .inertial: has.formUnion([.accelerometer, .gyro])
      case .accelerometer: has.insert(.accelerometer)
      case .magnetometer: has.insert(.magnetometer)
      case .barometer, .receiver, nil: break
      }
    }
    self.has = has
  }

  private func isWanted(_ sensor: MotionSensor) -> Bool {
    switch sensor {
    case .accelerometer, .gyro: demand.samples || demand.attitude
    case .magnetometer: demand.field
    }
  }

  /// Takes what is asked for, and says which of it is not there.
  mutating func take(
    _ demand: MotionDemand, at time: Timestamp, _ publish: (Observation) -> Void
  ) {
    guard demand != self.demand else { return }
    let before = self
    self.demand = demand
    if !demand.attitude { frames = VerticalFrames() }
    if !demand.isAny { (estimate, corrected) = (MotionEstimate(time: time), nil) }
    for sensor in MotionSensor.allCases where isWanted(sensor) && !before.isWanted(sensor) {
      if !has.contains(sensor) {
        publish(.motionUnavailable(sensor, .notEquipped("\(sensor.rawValue)"), at: time))
      }
    }
    if !givesRate { tellRate(at: time, publish) }
  }

  /// Takes whether the inertial chip says how it turns, which is known once it was started.
  mutating func take(givesRate gives: Bool, at time: Timestamp, _ publish: (Observation) -> Void) {
    givesRate = gives
    if !gives { tellRate(at: time, publish) }
  }

  private func tellRate(at time: Timestamp, _ publish: (Observation) -> Void) {
    guard isWanted(.gyro) else { return }
    publish(
      .motionUnavailable(
        .gyro, .notEquipped("gyro that can be used: the kernel gives no buffer of it"), at: time))
  }

  /// Says that a chip gives nothing any more.
  func lose(
    _ kind: ChipKind, _ reason: NoData, at time: Timestamp, _ publish: (Observation) -> Void
  ) {
    let sensors: [MotionSensor] =
      switch kind {
      case .inertial: givesRate ? [.accelerometer, .gyro] : [.accelerometer]
      case .accelerometer: [.accelerometer]
      case .magnetometer: [.magnetometer]
      case .barometer, .receiver: []
      }
    for sensor in sensors where isWanted(sensor) {
      publish(.motionUnavailable(sensor, reason, at: time))
    }
  }

  /// Says that samples come in another body frame from now on.
  mutating func bodyDidTurn(by turn: Quaternion) { frames.bodyDidTurn(by: turn) }

  /// Takes a sample of the chip that feels gravity, and turns where it feels them, after the estimator did.
  mutating func update(
    force: Vector3, angularRate: Vector3?, at time: Timestamp, _ attitude: AttitudeEstimator,
    _ declination: Result<TrueNorth.Declination, NoData>, _ publish: (Observation) -> Void
  ) {
    guard demand.isAny else { return }
    estimate.force = Sample(time: time, value: force)
    if let angularRate {
      estimate.angularRate = Sample(time: time, value: angularRate)
      if demand.attitude { frames.update(angularRate: angularRate, at: time, attitude) }
    }
    guard demand.samples || demand.attitude else { return }
    say(at: time, angularRate, attitude, declination, publish)
  }

  /// Takes a field, as it came and corrected, both in the body frame.
  mutating func update(
    field: Vector3, corrected: Vector3, at time: Timestamp, _ publish: (Observation) -> Void
  ) {
    guard demand.field else { return }
    estimate.field = Sample(time: time, value: field)
    self.corrected = corrected
    // Where others speak it goes with them.
    if demand.samples || demand.attitude, let force = estimate.force,
      abs(time.seconds(since: force.time)) < Self.fieldWait
    {
      return
    }
    guard rhythm.accepts(time, interval: demand.interval) else { return }
    estimate.time = time
    estimate.attitude = nil
    publish(.motion(estimate))
  }

  private mutating func say(
    at time: Timestamp, _ rate: Vector3?, _ attitude: AttitudeEstimator,
    _ declination: Result<TrueNorth.Declination, NoData>, _ publish: (Observation) -> Void
  ) {
    guard rhythm.accepts(time, interval: demand.interval) else { return }
    estimate.time = time
    estimate.attitude = demand.attitude ? known(at: time, rate, attitude, declination) : nil
    publish(.motion(estimate))
  }

  private mutating func known(
    at time: Timestamp, _ rate: Vector3?, _ attitude: AttitudeEstimator,
    _ declination: Result<TrueNorth.Declination, NoData>
  ) -> MotionAttitude? {
    guard let rate, attitude.isTurnedByGyro else { return nil }
    let heading = attitude.heading(at: time)
    if case .success(let heading) = heading {
      let isTrusted = demand.field && heading.accuracy != nil && heading.reason == nil
      frames.steady(isTrusted: isTrusted, at: time)
    } else {
      frames.steady(isTrusted: false, at: time)
    }
    guard let free = frames.free, let steadied = frames.steadied else { return nil }
    var known = MotionAttitude(
      angularRate: attitude.corrected(angularRate: rate), free: free, steadied: steadied)
    known.tiltAccuracy = attitude.tiltAccuracy
    switch heading {
    case .success(let heading):
      // Without a record the iron of the board may be anything, and north anywhere.
      if heading.reason == .uncalibrated {
        known.northReason = .uncalibrated
      } else {
        known.north = heading.attitude
        known.northAccuracy = heading.accuracy
      }
      if demand.field, heading.field != nil, let corrected {
        known.field = corrected
        known.fieldTrust = Self.trust(heading)
      }
    case .failure(let reason): known.northReason = reason
    }
    switch declination {
    case .success(let declination): known.declination = declination.angle
    case .failure(let reason): known.declinationReason = reason
    }
    return known
  }

  private static func trust(_ heading: HeadingEstimate) -> FieldTrust {
    if heading.reason == .uncalibrated { return .uncalibrated }
    guard heading.reason == nil, let accuracy = heading.accuracy else { return .low }
    return accuracy <= highTrust ? .high : accuracy <= mediumTrust ? .medium : .low
  }
}
