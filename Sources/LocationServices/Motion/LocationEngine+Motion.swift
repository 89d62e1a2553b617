// The motion services and the height above the sea in the engine.

import SensorTypes

/// Why the chips that feel motion give nothing, and whether declination is known.
struct MotionServices: Sendable {
  private var accelerometer: NoData?
  private var gyro: NoData?
  private var magnetometer: NoData?
  var knowsDeclination = false

  subscript(sensor: MotionSensor) -> NoData? {
    get {
      switch sensor {
      case .accelerometer: accelerometer
      case .gyro: gyro
      case .magnetometer: magnetometer
      }
    }
    set {
      switch sensor {
      case .accelerometer: accelerometer = newValue
      case .gyro: gyro = newValue
      case .magnetometer: magnetometer = newValue
      }
    }
  }

  /// What speaks is not lost.
  mutating func take(_ estimate: MotionEstimate) {
    func speaks(_ sample: Sample<SIMD3<Double>>?) -> Bool { sample?.time == estimate.time }
    if accelerometer != nil, speaks(estimate.force) { accelerometer = nil }
    if gyro != nil, speaks(estimate.angularRate) { gyro = nil }
    if magnetometer != nil, let field = estimate.field,
      abs(estimate.time.seconds(since: field.time)) < 0.5
    {
      magnetometer = nil
    }
    if let attitude = estimate.attitude { knowsDeclination = attitude.declination != nil }
  }
}

extension LocationEngine {
  /// Seconds between two positions for a height above the sea: what air and sea do takes minutes.
  static let seaLevelInterval = 10.0

  /// What the motion services and heights above the sea of all clients ask for besides.
  func addMotion(to demand: inout Demand, askForLocation ask: (Double?, inout Demand) -> Void) {
    for client in clients {
      let settings = client.settings.motion
      demand.motion = demand.motion.merged(with: client.motion.demand(settings))
      if client.motion.device != nil, settings.frame == .trueNorth, !motion.knowsDeclination,
        authorization.mayLocate
      {
        ask(ClientLocation.shortestInterval, &demand)
      }
      if let heights = client.absoluteAltitude {
        demand.altitude = true
        guard positionIsOpen || authorization.awaitsEvent else { continue }
        ask(heights.hasTold ? Self.seaLevelInterval : ClientLocation.shortestInterval, &demand)
      }
    }
  }

  /// Whether the next attitude may end that a position is wanted for its true north.
  package var awaitsDeclination: Bool {
    !motion.knowsDeclination
      && clients.contains { $0.motion.device != nil && $0.settings.motion.frame == .trueNorth }
  }

  /// Whether an attitude is asked for in which a magnetometer has a part: a reason to want a calibration.
  var wantsNorth: Bool {
    clients.contains { $0.motion.device != nil && $0.settings.motion.frame.usesField }
  }

  mutating func take(_ estimate: MotionEstimate, _ emit: (ServiceEvent) -> Void) {
    motion.take(estimate)
    var estimate = estimate
    // True north needs a position, and tells something of it.
    if !authorization.mayLocate {
      estimate.attitude?.declination = nil
      estimate.attitude?.declinationReason = .notAuthorized(
        AuthorizationProblem.notGranted.description)
      let northReason = estimate.attitude?.northReason?.withoutPlace
      estimate.attitude?.northReason = northReason
    } else if authorization.report.accuracy == .reduced {
      let declination = estimate.attitude?.declination.map(ObservationFilter.rounded)
      estimate.attitude?.declination = declination
    }
    for index in clients.indices where !clients[index].isSuspended {
      let (client, settings) = (clients[index].id, clients[index].settings.motion)
      clients[index].motion.take(estimate, settings) {
        emit(ServiceEvent(client: client, content: .motion($0)))
      }
      switch clients[index].motion.attitude(estimate, settings) {
      case nil: break
      case .success(let report):
        emit(ServiceEvent(client: client, content: .motion(.device(report))))
      case .failure(let failure):
        emit(ServiceEvent(client: client, content: .failure(failure)))
      }
    }
  }

  mutating func lose(
    _ sensor: MotionSensor, _ reason: NoData, _ emit: (ServiceEvent) -> Void
  ) {
    motion[sensor] = reason
    for index in clients.indices where !clients[index].isSuspended {
      for service in ClientMotion.services { tellMotionLoss(of: service, index, emit) }
    }
  }

  mutating func startMotion(
    _ service: Service, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    // Started again it begins anew: whoever listens now has heard nothing yet.
    clients[index].motion[service] = ClientMotion.Running()
    tellMotionLoss(of: service, index, emit)
  }

  // A chip that is not there is said, unlike with headings, as the SDK does: and there is nothing to wait for, so that
  // the service is not started.
  private mutating func tellMotionLoss(
    of service: Service, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    guard let running = clients[index].motion[service] else { return }
    let frame = clients[index].settings.motion.frame
    let losses = Self.sensors(of: service, frame).compactMap { motion[$0] }
    let isMissing = losses.contains { if case .notEquipped = $0 { true } else { false } }
    guard let reason = isMissing ? losses.first(where: Self.isMissing) : losses.first else {
      return
    }
    if case .notYet = reason { return }
    let cause: FailureCause = isMissing ? .notEquipped : .unavailable
    guard running.told != cause else { return }
    if isMissing {
      clients[index].motion[service] = nil
    } else {
      clients[index].motion[service]?.told = cause
    }
    emit(
      ServiceEvent(
        client: clients[index].id,
        content: .failure(
          ServiceFailure(service: service, reason: words(reason), cause: cause))))
  }

  private static func isMissing(_ reason: NoData) -> Bool {
    if case .notEquipped = reason { true } else { false }
  }

  private static func sensors(of service: Service, _ frame: MotionFrame) -> [MotionSensor] {
    switch service {
    case .accelerometer: [.accelerometer]
    case .gyro: [.gyro]
    case .magnetometer: [.magnetometer]
    case .deviceMotion:
      frame.usesField ? [.accelerometer, .gyro, .magnetometer] : [.accelerometer, .gyro]
    default: []
    }
  }

  mutating func deliver(
    _ estimate: AbsoluteAltitudeEstimate, _ emit: (ServiceEvent) -> Void
  ) {
    guard let report = AbsoluteAltitudeReport(estimate) else { return }
    let isWithheld = estimate.usesFix && !positionIsOpen
    for index in clients.indices
    where clients[index].absoluteAltitude != nil && !clients[index].isSuspended {
      guard !isWithheld else {
        tellHeightRefusal(index, emit)
        continue
      }
      clients[index].absoluteAltitude = AbsoluteAltitudeService(hasTold: true)
      emit(ServiceEvent(client: clients[index].id, content: .absoluteAltitude(report)))
    }
  }

  /// Whether the application may know exactly where the board is. A height that a fix is part of tells more of the place
  /// than reduced accuracy does.
  package var positionIsOpen: Bool {
    authorization.mayLocate && authorization.report.accuracy == .full
  }

  // While nobody has decided yet nothing is said, as with positions.
  private mutating func tellHeightRefusal(_ index: Int, _ emit: (ServiceEvent) -> Void) {
    let report = authorization.report
    guard report.isRefused || report.accuracy == .reduced,
      clients[index].absoluteAltitude?.hasToldLoss == false
    else { return }
    clients[index].absoluteAltitude?.hasToldLoss = true
    let failure: ServiceFailure =
      report.isRefused
      ? .denied(.absoluteAltitude)
      : ServiceFailure(
        service: .absoluteAltitude, reason: "a receiver's height needs full accuracy",
        isDenied: true)
    emit(ServiceEvent(client: clients[index].id, content: .failure(failure)))
  }
}

/// Heights above the sea of one client.
struct AbsoluteAltitudeService: Sendable {
  /// Whether it has been given one.
  var hasTold = false
  /// Whether a loss was told.
  var hasToldLoss = false
}
