// What the pipeline knows of attitude and heading: the filter, what it waits for, and when a heading is due.

import BoardFile
import FusionCore
import LinearAlgebra
import SensorDrivers
import SensorTypes

/// Whether headings are to be smoothed, which takes two runs of the same deliveries.
enum SmoothingPass: Sendable {
  case none
  case first
  /// Publishes what the first has learned.
  case second(AttitudeSmoother)

  var keepsHistory: Bool {
    if case .first = self { true } else { false }
  }
}

/// The attitude filter of one board, and what is to be said of its heading.
struct HeadingChannel: Sendable {
  /// Between two headings without a magnetometer, seconds.
  private static let courseInterval = 0.05
  /// The age of the newest field up to which headings are asked for, seconds: a magnetometer that nobody asks sleeps.
  private static let fieldMemory = 2.0
  /// A chip that fell silent so soon after it was driven beyond its range did so for that, seconds.
  private static let overflowMemory = 0.5
  /// The number of fixes without a heading by antennas, and the seconds from the first of them on, after which there is none.
  private static let patience = (fixes: 5, seconds: 5.0)

  private(set) var estimator: AttitudeEstimator
  /// What a run of the same deliveries has taught, where this one is a second.
  private let smoother: AttitudeSmoother?
  private let isVehicle: Bool
  private let antennas: AntennaHeading?
  /// When the gyro last spoke.
  private var rateTime: Timestamp?
  /// Whether heading could only be a vehicle's, and whether it was said that none is declared.
  private let needsVehicle: Bool
  private var hasSaidUndeclared = false
  /// When the magnetometer last spoke, and when a heading was last due without it.
  private var fieldTime: Timestamp?
  private var courseTime: Timestamp?
  /// When the antennas last gave a heading.
  private var antennaTime: Timestamp?
  /// The fixes since then: the first of them, and their number.
  private var headless: (first: Timestamp, count: Int)?
  private var courseIsLost = true
  /// When the field was last beyond the magnetometer's range.
  private var overflowTime: Timestamp?
  /// Whether the board has something that feels gravity and that has not been heard of yet, since the start or since it was
  /// put to sleep.
  private var awaitsGravity: Bool
  /// Whether the magnetometer has not been heard of since it was put to sleep.
  private var awaitsField = false
  /// What became of the chip that feels gravity, where the board has one and it is lost.
  private var lostGravity: NoData?
  /// Why there is no heading, as it was said last. A chip that runs again may fail again.
  private var saidLoss: NoData?
  /// What a person should know of the board's description.
  let note: String?

  init(_ board: Board, kinds: Set<ChipKind>, pass: SmoothingPass) {
    var params: AttitudeParameters
    switch pass {
    case .none:
      params = AttitudeParameters()
      smoother = nil
    case .first:
      params = .offline
      smoother = nil
    case .second(let known):
      params = AttitudeParameters()
      smoother = known
    }
    params.level = board.isLevel
    let gyros = board.sensors.lazy.compactMap { ChipCatalog.chip(named: $0.chip)?.zeroRateLevel }
    if let level = gyros.first { params.allow(zeroRateLevel: level) }
    estimator = AttitudeEstimator(params, keepsHistory: pass.keepsHistory)
    isVehicle = board.isVehicle
    estimator.followsCourse = isVehicle
    let canFollow = kinds.contains(.inertial) && kinds.contains(.receiver)
    antennas = board.sensors.lazy.compactMap(\.antennas).first.map { AntennaHeading(angle: $0) }
    needsVehicle = canFollow && !kinds.contains(.magnetometer) && antennas == nil
    note =
      isVehicle && !canFollow
      ? "`vehicle: true` changes nothing without a gyro and a receiver" : nil
    awaitsGravity = kinds.contains(.inertial) || kinds.contains(.accelerometer)
  }

  /// Whether heading may be taken from the course: the board file or a client says that this is a vehicle.
  var followsCourse: Bool { estimator.followsCourse }

  /// Whether the board file says how a receiver's antennas lie.
  var readsAntennas: Bool { antennas != nil }

  /// Takes a heading by antennas, or by an instrument on the line. Returns what is to be published where no gyro carries it.
  ///
  /// That of a vehicle, by the receiver's own inertial sensors, is not used: it is no measurement of the line.
  mutating func take(
    _ said: ReceiverHeading, _ declination: Result<TrueNorth.Declination, NoData>
  ) -> Result<HeadingEstimate, NoData>? {
    guard said.source != .vehicle, let antennas else { return nil }
    if said.trueHeading != nil || said.magneticHeading != nil { headless = nil }
    guard let measured = antennas.measured(said, declination) else { return nil }
    antennaTime = said.received
    estimator.update(heading: measured.angle, deviation: measured.deviation, at: measured.time)
    return hasRate(at: said.received) ? nil : .success(measured.estimate)
  }

  /// Takes that the receiver has a fix. Returns why there is no heading, where its antennas alone could give one and do not.
  mutating func takeFix(at time: Timestamp) -> Result<HeadingEstimate, NoData>? {
    guard readsAntennas else { return nil }
    let (first, count) = (headless?.first ?? time, (headless?.count ?? 0) + 1)
    headless = (first, min(count, Self.patience.fixes))
    if let fieldTime, time.seconds(since: fieldTime) < Self.fieldMemory { return nil }
    guard count >= Self.patience.fixes, time.seconds(since: first) >= Self.patience.seconds,
      !hasRate(at: time)
    else { return nil }
    return .failure(
      .sensorLost("the receiver gives no heading, which 'antennas' in the board file is for"))
  }

  private func hasRate(at time: Timestamp) -> Bool {
    rateTime.map { time.seconds(since: $0) < Self.courseInterval * 4 } ?? false
  }

  mutating func setFollowsCourse(_ follows: Bool) {
    estimator.followsCourse = follows || isVehicle
    hasSaidUndeclared = false
  }

  mutating func expect(_ field: ReferenceField?) { estimator.expectedField = field }

  mutating func expect(gyroBias: Vector3, deviation: Double) {
    estimator.expectGyroBias(gyroBias, deviation: deviation)
  }

  /// Takes a specific force in the body frame, m/s^2.
  mutating func update(force: Vector3, at time: Timestamp) {
    (awaitsGravity, lostGravity) = (false, nil)
    estimator.update(acceleration: force, at: time)
  }

  /// Takes an angular rate, rad/s, and a specific force, both in the body frame.
  mutating func update(
    angularRate: Vector3, force: Vector3, clipped: InertialClipping, at time: Timestamp
  ) {
    (awaitsGravity, lostGravity) = (false, nil)
    rateTime = time
    estimator.update(
      angularRate: angularRate, acceleration: force, clipped: clipped, at: time)
  }

  /// Takes a corrected field in the body frame, microtesla.
  mutating func update(field: Vector3, quality: MagnetometerQuality, at time: Timestamp) {
    fieldTime = time
    awaitsField = false
    estimator.update(magneticField: field, at: time, quality: quality)
  }

  mutating func update(_ velocity: GroundVelocity) {
    estimator.update(
      velocity: velocity.value, deviation: velocity.deviation, at: velocity.time)
  }

  /// Takes that the field is beyond the magnetometer's range. A magnetometer that is driven to its end still says
  /// something: that this is not the earth's field. Its headings go on, without accuracy.
  ///
  /// - Returns: What is to be published.
  mutating func takeOverflow(at time: Timestamp) -> Result<HeadingEstimate, NoData>? {
    overflowTime = time
    guard estimator.fieldIsBeyondRange(at: time) else { return nil }
    fieldTime = time
    awaitsField = false
    return output(at: time)
  }

  /// Takes that the record of the magnetometer was changed: between two samples, so that the filter keeps its heading and
  /// finds its place in the new field from there.
  mutating func calibrationDidChange(shift: Vector3, quality: MagnetometerQuality) {
    estimator.calibrationDidChange(shift: shift, quality: quality)
  }

  mutating func bodyDidTurn(by turn: Quaternion) { estimator.bodyDidTurn(by: turn) }

  /// Whether headings are given at a moment and end without a chip that feels gravity.
  private func needsGravity(at time: Timestamp) -> Bool {
    guard estimator.needsGravity else { return false }
    let isGivenWithout = followsCourse || readsAntennas
    guard let fieldTime else { return isGivenWithout }
    return !awaitsField && time.seconds(since: fieldTime) < Self.fieldMemory || isGivenWithout
  }

  /// Takes what has become of a chip that is listened to. Returns what is to be published.
  ///
  /// - Parameter feelsGravity: Whether another chip that feels gravity runs.
  mutating func take(
    _ status: SensorStatus, of kind: ChipKind, feelsGravity: Bool
  ) -> Result<HeadingEstimate, NoData>? {
    if status.state == .running { saidLoss = nil }
    if kind == .receiver { headless = nil }
    switch (kind, status.state) {
    case (.accelerometer, .running), (.inertial, .running): lostGravity = nil
    case (.accelerometer, .idle), (.inertial, .idle): awaitsGravity = true
    case (.accelerometer, .failed(let why)), (.inertial, .failed(let why)):
      guard !feelsGravity else { return nil }
      let reason = NoData.sensorLost("\(status.chip): \(why)")
      (awaitsGravity, lostGravity) = (false, reason)
      // A chip that has failed is not waited for as one that is silent.
      return needsGravity(at: status.since) ? .failure(reason) : nil
    case (.magnetometer, .idle): awaitsField = true
    case (.magnetometer, .failed(let why)):
      awaitsField = false
      // Headings say already that a magnet is near.
      if let time = overflowTime, fieldTime == time,
        status.since.seconds(since: time) < Self.overflowMemory
      {
        return nil
      }
      return .failure(.sensorLost("\(status.chip): \(why)"))
    default: break
    }
    return nil
  }

  /// What is due behind a sample of the gyro: without a magnetometer nothing else says when a heading is.
  mutating func courseOutput(at time: Timestamp) -> Result<HeadingEstimate, NoData>? {
    guard followsCourse || readsAntennas else {
      guard needsVehicle, !hasSaidUndeclared else { return nil }
      hasSaidUndeclared = true
      return .failure(.vehicleUndeclared)
    }
    if let last = fieldTime, time.seconds(since: last) < Self.courseInterval * 4 { return nil }
    if let last = courseTime, time.seconds(since: last) < Self.courseInterval { return nil }
    courseTime = time
    // That there is none any more is said once.
    if case .failure = estimator.heading(at: time) {
      guard !courseIsLost else { return nil }
      courseIsLost = true
    } else {
      courseIsLost = false
    }
    return output(at: time)
  }

  /// What is due behind a sample of the magnetometer; `nil` while the filter waits for chips that start or wake.
  func output(at time: Timestamp) -> Result<HeadingEstimate, NoData>? {
    // Antennas are better than a field whose turns no gyro follows.
    if let antennaTime, !hasRate(at: time), time.seconds(since: antennaTime) < Self.fieldMemory {
      return nil
    }
    if let lostGravity, !awaitsGravity, needsGravity(at: time) { return .failure(lostGravity) }
    return switch estimator.heading(at: time) {
    case .failure(.notYet): nil
    // Chips start one after the other: the first field may come before the first tilt.
    case .failure(.tiltUnknown) where awaitsGravity: nil
    // Or one after the other they wake: what the filter takes for silence was sleep.
    case .failure(.sensorLost) where awaitsGravity || awaitsField: nil
    case .failure(.tiltUnknown): .failure(lostGravity ?? .tiltUnknown)
    case let known: known
    }
  }

  /// Takes note of a heading that is given. Returns it in the light of the whole run, where this is the second of two.
  mutating func give(_ causal: HeadingEstimate) -> HeadingEstimate {
    saidLoss = nil
    return smoother?.heading(causal) ?? causal
  }

  /// Takes note of why there is no heading. Returns whether that was not said yet.
  mutating func isNews(_ reason: NoData) -> Bool {
    defer { saidLoss = reason }
    return saidLoss != reason
  }

  /// What was learned of attitude, for a second pass; of a first one only.
  func makeSmoother() -> AttitudeSmoother { AttitudeSmoother(estimator) }
}
