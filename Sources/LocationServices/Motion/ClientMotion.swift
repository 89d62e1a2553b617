// What stands between the samples of motion and one client.

import LinearAlgebra
import SensorTypes

/// The motion services of one client: what it has started, and its rhythm of each.
struct ClientMotion: Sendable {
  /// One service that runs.
  struct Running: Sendable {
    var rhythm = SampleRhythm()
    /// What was said of a loss, so that it is said once.
    var told: FailureCause?
  }

  var accelerometer: Running?
  var gyro: Running?
  var magnetometer: Running?
  var device: Running?

  /// A running service by its name; `nil` where it does not run, or is none of motion.
  subscript(service: Service) -> Running? {
    get {
      switch service {
      case .accelerometer: accelerometer
      case .gyro: gyro
      case .magnetometer: magnetometer
      case .deviceMotion: device
      default: nil
      }
    }
    set {
      switch service {
      case .accelerometer: accelerometer = newValue
      case .gyro: gyro = newValue
      case .magnetometer: magnetometer = newValue
      case .deviceMotion: device = newValue
      default: break
      }
    }
  }

  /// The services of motion.
  static let services: [Service] = [.accelerometer, .gyro, .magnetometer, .deviceMotion]

  /// What is asked of the board for this client.
  func demand(_ settings: MotionSettings) -> MotionDemand {
    var demand = MotionDemand()
    func ask(_ running: Running?, _ interval: Double) {
      guard running != nil else { return }
      let wanted = interval > 0 ? interval : nil
      demand = demand.merged(with: MotionDemand(samples: true, interval: wanted))
    }
    ask(accelerometer, settings.accelerometerInterval)
    ask(gyro, settings.gyroInterval)
    if magnetometer != nil {
      let wanted = settings.magnetometerInterval > 0 ? settings.magnetometerInterval : nil
      demand = demand.merged(with: MotionDemand(field: true, interval: wanted))
    }
    if device != nil {
      let wanted = settings.deviceInterval > 0 ? settings.deviceInterval : nil
      demand = demand.merged(
        with: MotionDemand(attitude: true, field: settings.frame.usesField, interval: wanted))
    }
    return demand
  }

  /// Begins every rhythm anew: another board speaks.
  mutating func forget() {
    for service in Self.services where self[service] != nil { self[service] = Running() }
  }

  /// Takes what the board has measured and emits what is due for the client.
  mutating func take(
    _ estimate: MotionEstimate, _ settings: MotionSettings, emit: (MotionEvent) -> Void
  ) {
    func due(
      _ sample: Sample<Vector3>?, _ running: inout Running?, _ interval: Double
    ) -> MotionSample? {
      guard let sample, sample.value.isFinite,
        running?.rhythm.accepts(sample.time, interval: interval) == true
      else { return nil }
      running?.told = nil
      return MotionSample(time: sample.time, value: sample.value)
    }
    if let sample = due(estimate.force, &accelerometer, settings.accelerometerInterval) {
      emit(.force(sample))
    }
    if let sample = due(estimate.angularRate, &gyro, settings.gyroInterval) {
      emit(.angularRate(sample))
    }
    if let sample = due(estimate.field, &magnetometer, settings.magnetometerInterval) {
      emit(.field(sample))
    }
  }

  /// The attitude for the client, where one is due, or what keeps it from being known; `nil` for neither.
  mutating func attitude(
    _ estimate: MotionEstimate, _ settings: MotionSettings
  ) -> Result<DeviceMotionReport, ServiceFailure>? {
    guard device != nil, let attitude = estimate.attitude, let force = estimate.force else {
      return nil
    }
    switch DeviceMotionReport.make(attitude, force.value, settings.frame, at: estimate.time) {
    case nil: return nil
    case .failure(let failure):
      guard device?.told != failure.cause else { return nil }
      device?.told = failure.cause
      return .failure(failure)
    case .success(let report):
      guard device?.rhythm.accepts(estimate.time, interval: settings.deviceInterval) == true else {
        return nil
      }
      device?.told = nil
      return .success(report)
    }
  }
}

extension DeviceMotionReport {
  /// From ENU to a frame whose x axis points north: a quarter turn clockwise about up.
  private static let northward = Quaternion(rotationVector: Vector3(0, 0, -.pi / 2))

  /// The report in the frame that is asked for, or why there is none; `nil` while that will be known by itself.
  static func make(
    _ known: MotionAttitude, _ force: Vector3, _ frame: MotionFrame, at time: Timestamp
  ) -> Result<DeviceMotionReport, ServiceFailure>? {
    let attitude: Quaternion
    switch frame {
    case .arbitrary: attitude = known.free
    case .arbitraryCorrected: attitude = known.steadied
    case .magneticNorth, .trueNorth:
      guard let north = known.north else { return lack(of: known) }
      if frame == .magneticNorth {
        attitude = northward * north
      } else {
        guard let declination = known.declination else {
          return .failure(
            ServiceFailure(
              service: .deviceMotion,
              reason: (known.declinationReason ?? .positionUnknown).description,
              cause: .trueNorthUnknown))
        }
        // Magnetic north lies east of true north by the declination: the earth's frame turns clockwise by as much.
        attitude = northward * Quaternion(rotationVector: Vector3(0, 0, -declination)) * north
      }
    }
    guard attitude.w.isFinite, attitude.vector.isFinite, force.isFinite,
      known.angularRate.isFinite
    else { return nil }
    let pointsNorth = frame == .magneticNorth || frame == .trueNorth
    let field = frame.usesField ? known.field.flatMap { $0.isFinite ? $0 : nil } : nil
    return .success(
      DeviceMotionReport(
        time: time, frame: frame, scalar: attitude.w, vector: attitude.vector,
        angularRate: known.angularRate, force: force,
        up: attitude.conjugate.rotate(Vector3(0, 0, 1)), field: field,
        fieldTrust: field == nil ? .uncalibrated : known.fieldTrust,
        heading: pointsNorth ? heading(of: attitude) : nil,
        headingAccuracy: pointsNorth ? known.northAccuracy.map { $0 * 180 / .pi } : nil))
  }

  private static func lack(
    of known: MotionAttitude
  ) -> Result<DeviceMotionReport, ServiceFailure>? {
    guard let reason = known.northReason else { return nil }
    let cause: FailureCause
    switch reason {
    case .notYet, .tiltUnknown: return nil
    case .uncalibrated: cause = .needsMovement
    default: cause = .unavailable
    }
    return .failure(
      ServiceFailure(service: .deviceMotion, reason: reason.description, cause: cause))
  }

  /// The body's y axis clockwise from the frame's x axis, degrees.
  private static func heading(of attitude: Quaternion) -> Double {
    let y = attitude.rotate(Vector3(0, 1, 0))
    return HeadingReport.degrees(atan2(-y.y, y.x))
  }
}
