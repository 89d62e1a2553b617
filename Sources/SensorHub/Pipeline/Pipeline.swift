import CalibrationCore
import FusionCore
import Geomagnetism
import LinearAlgebra
import SensorDrivers
import SensorTypes

/// Whether headings are to be smoothed, which takes two runs of the same deliveries.
enum SmoothingPass: Sendable {
  case none
  /// Learns.
  case first
  /// Publishes what the first has learned.
  case second(AttitudeSmoother)

  var keepsHistory: Bool {
    if case .first = self { true } else { false }
  }
}

/// From a chip's reading to a published estimate: calibration, mount, estimators, judgement.
///
/// A value that is told everything, the time included; the hub keeps it behind one lock. Per sample it
/// allocates nothing.
struct Pipeline: Sendable {
  private struct Channel: Sendable {
    let kind: ChipKind
    /// From the chip's frame to the carrier's: its mount, then the board's level.
    var mount: Matrix3
    /// -1 for a mirrored mount: an angular rate is an axial vector.
    let sense: Double
    var calibration: AppliedCalibration?
    var quality = MagnetometerQuality.uncalibrated
    /// A magnetometer's newest sample, not corrected, in its own frame.
    var newestField: Vector3?
    /// Counts the records that were applied.
    var calibrations: UInt32 = 0
    /// When what it measures was last beyond its range.
    var overflowTime: Timestamp?
    /// Whether this is the first chip of its kind, the one that is listened to.
    var isPrimary: Bool
    /// Whether an inertial chip says how it turns.
    var givesRate = true
    /// Whether its file was found to be of no use: it is put aside then, and the record in use stays.
    var fileWasUnusable = false
    /// What its own record says of a gyro's bias.
    var gyroBias: AppliedGyroBias?
  }

  private var channels: [Channel]
  private(set) var status: [SensorStatus]
  private var hasSpoken: [Bool]
  private var heading: AttitudeEstimator
  /// What a run of the same deliveries has taught, where this one is a second.
  private let smoother: AttitudeSmoother?
  private var vertical: VerticalChannel
  private var motion: MotionChannel
  private var seaLevel = SeaLevel()
  private var halvedPressure: HalvedPressure
  /// Whether it was said that the barometer's pressure is not used, and why.
  private var refusesPressure = false
  private var position: PositionChannel
  private var local: LocalField
  private var hasFix: Bool?
  /// Whether the board has no receiver, and that was not said yet.
  private var lacksReceiver: Bool
  private var memory = PositionMemory()
  /// When the magnetometer last spoke, and when a heading was last published without it.
  private var fieldTime: Timestamp?
  private var courseTime: Timestamp?
  private var courseIsLost = true
  private let isVehicle: Bool
  /// Whether heading could only be a vehicle's, and whether it was said that none is declared.
  private let needsVehicle: Bool
  private var hasSaidUndeclared = false
  /// Whether it was said that the receiver's weeks have rolled over.
  private var hasSaidWeeks = false
  /// Between two headings without a magnetometer, seconds.
  private static let courseInterval = 0.05
  /// A chip that fell silent so soon after it was driven beyond its range did so for that, seconds.
  private static let overflowMemory = 0.5
  private var pendingDiagnostics: [String]
  private let places: [(position: String, mount: Mount)]
  /// How the board sits in its carrier.
  private var level: Quaternion?
  private var levelFileWasUnusable = false
  private let isSimulated: Bool
  /// Whether the board has something that feels gravity and that has not been heard of yet, since the start or since it was
  /// put to sleep.
  private var awaitsGravity: Bool
  /// Whether the magnetometer has not been heard of since it was put to sleep.
  private var awaitsField = false
  /// What became of the chip that feels gravity, where the board has one and it is lost.
  private var lostGravity: NoData?

  /// - Parameters:
  ///   - models: The magnetic models, in the order of their epochs.
  ///   - notes: What a person should know from the start.
  ///   - pass: Whether headings are to be smoothed.
  init(
    board: Board, models: [MagneticModel], notes: [String] = [], isSimulated: Bool,
    pass: SmoothingPass = .none
  ) {
    self.isSimulated = isSimulated
    pendingDiagnostics = notes + board.sensors.flatMap(\.deviations)
    places = board.sensors.map { ($0.attachment.description, $0.mount) }
    var params: AttitudeEstimator.Params
    switch pass {
    case .none:
      params = AttitudeEstimator.Params()
      smoother = nil
    case .first:
      params = .offline
      smoother = nil
    case .second(let known):
      params = AttitudeEstimator.Params()
      smoother = known
    }
    params.level = board.isLevel
    let gyros = board.sensors.lazy.compactMap { ChipCatalog.chip(named: $0.chip)?.zeroRateLevel }
    if let level = gyros.first { params.allow(zeroRateLevel: level) }
    heading = AttitudeEstimator(params, keepsHistory: pass.keepsHistory)
    isVehicle = board.isVehicle
    position = PositionChannel(longestLoss: board.longestCarry)
    heading.followsCourse = isVehicle
    local = LocalField(position: board.position, models: models)
    halvedPressure = HalvedPressure(board)
    vertical = VerticalChannel(board)
    motion = MotionChannel(board)
    var seen: Set<ChipKind> = []
    channels = []
    for sensor in board.sensors {
      let kind = ChipCatalog.chip(named: sensor.chip)?.kind ?? .receiver
      // Gyro and accelerometer in one chip come before an accelerometer alone.
      let isPrimary = seen.insert(kind).inserted
      if sensor.mount.isMirrored {
        pendingDiagnostics.append(
          "\(sensor.chip) at \(sensor.attachment): its mount is a mirror image")
      }
      channels.append(
        Channel(
          kind: kind, mount: sensor.mount.matrix, sense: sensor.mount.isMirrored ? -1 : 1,
          isPrimary: isPrimary))
    }
    lacksReceiver = !seen.contains(.receiver)
    let canFollow = seen.contains(.inertial) && seen.contains(.receiver)
    needsVehicle = canFollow && !seen.contains(.magnetometer)
    if isVehicle, !canFollow {
      pendingDiagnostics.append("`vehicle: true` changes nothing without a gyro and a receiver")
    }
    awaitsGravity = seen.contains(.inertial) || seen.contains(.accelerometer)
    if seen.contains(.inertial) {
      for index in channels.indices where channels[index].kind == .accelerometer {
        channels[index].isPrimary = false
      }
    }
    status = board.sensors.enumerated().map { index, sensor in
      SensorStatus(
        index: index, chip: sensor.chip, position: sensor.attachment.description, state: .starting,
        since: Timestamp(nanoseconds: 0))
    }
    hasSpoken = board.sensors.map { _ in false }
  }

  /// What was learned of attitude, for a second pass; of a first one only.
  func makeSmoother() -> AttitudeSmoother { AttitudeSmoother(heading) }

  /// What the board has: chips that were identified and are not lost.
  var equipment: Equipment {
    func has(_ kind: ChipKind, _ condition: (Channel) -> Bool = { _ in true }) -> Bool {
      zip(channels, status).contains { channel, status in
        guard channel.kind == kind, condition(channel) else { return false }
        switch status.state {
        case .running, .idle: return true
        case .starting, .failed: return false
        }
      }
    }
    let vehicle = has(.inertial, { $0.givesRate }) && has(.receiver)
    return Equipment(
      heading: has(.magnetometer) || (vehicle && heading.followsCourse),
      location: has(.receiver), relativeAltitude: has(.barometer), vehicleHeading: vehicle,
      absoluteAltitude: has(.barometer) && (has(.receiver) || vertical.given.isAny),
      motion: MotionEquipment(
        accelerometer: has(.accelerometer) || has(.inertial),
        gyro: has(.inertial, { $0.givesRate }), magnetometer: has(.magnetometer),
        place: has(.receiver) || local.isPlaceKnown))
  }

  /// Whether a sensor has just said for the first time that it is there, or that it is not.
  mutating func isFirstWord(of status: SensorStatus) -> Bool {
    guard status.state != .starting, !hasSpoken[status.index] else { return false }
    hasSpoken[status.index] = true
    return true
  }

  /// Where the board is, when that is worth keeping for the next run; once each time.
  mutating func takePositionToKeep() -> LastPosition? { memory.takeDue() }

  /// What was made of a person's words on the board's height, to be kept for the next run; once each.
  mutating func takeKnownAltitudeToKeep() -> [KnownAltitudeStore.Change] {
    vertical.takeChanges()
  }

  /// Whether it may be said, and kept, how the receiver's height compares with one that a person has given.
  var tellsOfReceiver: Bool {
    get { vertical.tellsOfReceiver }
    set { vertical.tellsOfReceiver = newValue }
  }

  /// The magnetometer that is listened to: from its frame to the body's, and what corrects it.
  var magnetometer: (mount: Matrix3, calibration: AppliedCalibration?) {
    for channel in channels where channel.isPrimary && channel.kind == .magnetometer {
      return (channel.mount, channel.calibration)
    }
    return (.identity, nil)
  }

  /// Strength, microtesla, and dip, radians, of the field here, where they are known.
  var expectedField: (strength: Double, dip: Double)? {
    local.expectedField.map { ($0.strength, $0.dip) }
  }

  /// Takes one delivery and publishes what follows from it.
  mutating func process(_ delivery: Delivery, publish: (Observation) -> Void) {
    switch delivery {
    case .reading(let reading): process(reading.sample, of: reading.sensor, publish)
    case .beyondRange(let sensor, let time): takeOverflow(of: sensor, at: time, publish)
    case .fix(let sensor, let fix):
      status[sensor].counters.samples &+= 1
      if channels[sensor].isPrimary { process(fix, publish) }
    case .sky(let sensor, let sky):
      if channels[sensor].isPrimary { publish(.sky(sky)) }
    case .givesRate(let sensor, let gives):
      channels[sensor].givesRate = gives
      if channels[sensor].isPrimary {
        motion.take(givesRate: gives, at: status[sensor].since, publish)
      }
    case .status(let status): process(status, publish)
    case .counters(let sensor, let counters): status[sensor].counters = counters
    case .identity(let sensor, let identity): status[sensor].identity = identity
    case .link(let sensor, let link): status[sensor].link = link
    case .wallTime(let seconds, let isSet, let time):
      local.update(wallTime: seconds)
      if isSet { vertical.given.take(networkDate: seconds, at: time) }
      heading.expectedField = local.expectedField
      publishDiagnostics(at: time, publish)
      if lacksReceiver {
        lacksReceiver = false
        publish(.locationUnavailable(.notEquipped("receiver"), at: time))
      }
    case .calibration(let sensor, let finding, let time):
      take(finding, for: sensor)
      publishDiagnostics(at: time, publish)
    case .gyroBias(let sensor, let finding, let time):
      take(finding, forGyro: sensor)
      publishDiagnostics(at: time, publish)
    case .level(let sensor, let finding, let time):
      take(level: finding, from: sensor)
      publishDiagnostics(at: time, publish)
    case .lastPosition(let last):
      local.update(last)
      heading.expectedField = local.expectedField
    case .knownAltitude(let finding, let isFirst, let time):
      take(finding, isFirst: isFirst, at: time)
      publishDiagnostics(at: time, publish)
    case .followsCourse(let follows):
      heading.followsCourse = follows || isVehicle
      hasSaidUndeclared = false
    case .motion(let demand, let time): motion.take(demand, at: time, publish)
    case .diagnostic(let message, let time): publish(.diagnostic(message, at: time))
    }
  }

  // Between two samples: the filter keeps its heading and finds its place in the new field from there.
  private mutating func take(_ finding: CalibrationStore.Finding, for sensor: Int) {
    let name = "\(status[sensor].chip) at \(places[sensor].position)"
    let before = channels[sensor]
    let wasCalibrated = before.calibration != nil
    defer { channels[sensor].fileWasUnusable = finding.isUnusable }
    switch finding {
    case .record(let calibration):
      guard calibration != channels[sensor].calibration else { return }
      channels[sensor].calibration = calibration
      channels[sensor].calibrations &+= 1
      channels[sensor].quality = MagnetometerQuality(calibration, mount: before.mount)
      if wasCalibrated { pendingDiagnostics.append("\(name): the new calibration is applied") }
    // Gone because it was put aside: that was said, and the one before stays.
    case .none where before.fileWasUnusable: return
    case .none:
      channels[sensor].calibration = nil
      channels[sensor].quality = .uncalibrated
      pendingDiagnostics.append("\(name) is not calibrated: heading will not be trusted")
    case .unusable(let reason):
      let consequence = wasCalibrated ? "the one before stays" : "heading will not be trusted"
      pendingDiagnostics.append(
        "\(name): its calibration record cannot be used (\(reason)): \(consequence); "
          + "lodestone calibrate list shows what there is")
      return
    }
    guard before.isPrimary, let raw = before.newestField else { return }
    let (old, new) = (before.calibration, channels[sensor].calibration)
    let shift = (new?.correct(raw) ?? raw) - (old?.correct(raw) ?? raw)
    heading.calibrationDidChange(
      shift: before.mount * shift, quality: channels[sensor].quality)
  }

  // Once the filter runs it knows better: a bias that comes then is for the next start.
  private mutating func take(_ finding: StoredFinding<AppliedGyroBias>, forGyro sensor: Int) {
    let name = "\(status[sensor].chip) at \(places[sensor].position)"
    switch finding {
    case .none: break
    case .record(let bias):
      let before = channels[sensor].gyroBias
      guard bias != before else { return }
      channels[sensor].gyroBias = bias
      expectGyroBias()
      if before != nil { pendingDiagnostics.append("\(name): the gyro's new record was read") }
    case .unusable(let reason):
      pendingDiagnostics.append(
        "\(name): its gyro record cannot be used (\(reason)): its bias is learned from rest; "
          + "lodestone calibrate list shows what there is")
    }
  }

  private mutating func expectGyroBias() {
    guard let channel = channels.first(where: { $0.kind == .inertial && $0.isPrimary }),
      let known = channel.gyroBias
    else { return }
    heading.expectGyroBias(
      channel.sense * (channel.mount * known.bias), deviation: known.deviation)
  }

  private mutating func take(level finding: StoredFinding<Quaternion>, from sensor: Int) {
    guard channels[sensor].isPrimary else { return }
    let wasUnusable = levelFileWasUnusable
    levelFileWasUnusable = finding.isUnusable
    let new: Quaternion?
    switch finding {
    case .record(let rotation): new = rotation
    case .none where wasUnusable: return
    case .none: new = nil
    case .unusable(let reason):
      let consequence = level == nil ? "the board is as its mounts say" : "the one before stays"
      pendingDiagnostics.append(
        "the board's level record cannot be used (\(reason)): \(consequence); "
          + "lodestone calibrate list shows what there is")
      return
    }
    guard new != level else { return }
    let turn = (new ?? .identity) * (level ?? .identity).conjugate
    level = new
    for index in channels.indices {
      let mount = places[index].mount.matrix
      channels[index].mount = new.map { $0.matrix * mount } ?? mount
      if let calibration = channels[index].calibration {
        channels[index].quality = MagnetometerQuality(calibration, mount: channels[index].mount)
      }
    }
    heading.bodyDidTurn(by: turn)
    motion.bodyDidTurn(by: turn)
    if status.contains(where: { $0.counters.samples > 0 }) {
      pendingDiagnostics.append("the board's new level is applied: attitude starts anew")
    }
  }

  private mutating func take(
    _ finding: KnownAltitudeStore.Finding, isFirst: Bool, at time: Timestamp
  ) {
    if case .record = finding, !channels.contains(where: { $0.kind == .barometer }) {
      pendingDiagnostics.append(
        "this board has no barometer: an elevation or a QNH says nothing of its height after the moment"
      )
    }
    vertical.given.take(finding, isFirst: isFirst, at: time)
    pendingDiagnostics += vertical.given.notes
    vertical.given.notes.removeAll()
  }

  private mutating func publishDiagnostics(at time: Timestamp, _ publish: (Observation) -> Void) {
    guard !pendingDiagnostics.isEmpty || !local.diagnostics.isEmpty else { return }
    for message in pendingDiagnostics + local.diagnostics {
      publish(.diagnostic(message, at: time))
    }
    pendingDiagnostics.removeAll()
    local.diagnostics.removeAll()
  }

  private mutating func process(
    _ sample: Sample<Reading>, of sensor: Int, _ publish: (Observation) -> Void
  ) {
    let channel = channels[sensor]
    status[sensor].counters.samples &+= 1
    guard channel.isPrimary else { return }
    let (mount, time) = (channel.mount, sample.time)
    switch sample.value {
    case .acceleration(let force):
      awaitsGravity = false
      heading.update(acceleration: mount * force, at: time)
      vertical.update(heading, at: time)
      motion.update(
        force: mount * force, angularRate: nil, at: time, heading, local.declination, publish)
    case .inertial(let rate, let force):
      awaitsGravity = false
      let turn = channel.sense * (mount * rate)
      heading.update(angularRate: turn, acceleration: mount * force, at: time)
      position.update(angularRate: turn, heading, at: time)
      publishCourseHeading(at: time, publish)
      vertical.update(heading, at: time)
      motion.update(
        force: mount * force, angularRate: turn, at: time, heading, local.declination, publish)
    case .magneticField(let raw):
      channels[sensor].newestField = raw
      fieldTime = time
      awaitsField = false
      let field = mount * (channel.calibration?.correct(raw) ?? raw)
      heading.update(magneticField: field, at: time, quality: channel.quality)
      publishHeading(at: time, publish)
      motion.update(field: mount * raw, corrected: field, at: time, publish)
    case .atmosphere(let pressure, let temperature):
      if let doubt = halvedPressure.doubt(
        of: status[sensor].chip, sensor: sensor, pressure: pressure)
      {
        if !refusesPressure {
          publish(.diagnostic(doubt, at: time))
          publish(.altitudeUnavailable(.sensorLost(doubt), at: time))
        }
        refusesPressure = true
        break
      }
      refusesPressure = false
      vertical.update(pressure: pressure, temperature: temperature, at: time, publish)
    }
    carry(at: time, publish)
  }

  // A magnetometer that is driven to its end still says something: that this is not the earth's field. Its
  // headings go on, without accuracy.
  private mutating func takeOverflow(
    of sensor: Int, at time: Timestamp, _ publish: (Observation) -> Void
  ) {
    guard channels[sensor].isPrimary, channels[sensor].kind == .magnetometer else { return }
    channels[sensor].overflowTime = time
    guard heading.fieldIsBeyondRange(at: time) else { return }
    fieldTime = time
    awaitsField = false
    publishHeading(at: time, publish)
  }

  // Without a magnetometer nothing but the gyro's samples says when a heading is due.
  private mutating func publishCourseHeading(at time: Timestamp, _ publish: (Observation) -> Void) {
    guard heading.followsCourse else {
      guard needsVehicle, !hasSaidUndeclared else { return }
      hasSaidUndeclared = true
      return publish(.headingUnavailable(.vehicleUndeclared, at: time))
    }
    if let last = fieldTime, time.seconds(since: last) < Self.courseInterval * 4 { return }
    if let last = courseTime, time.seconds(since: last) < Self.courseInterval { return }
    courseTime = time
    // That there is none any more is said once.
    if case .failure = heading.heading(at: time) {
      guard !courseIsLost else { return }
      courseIsLost = true
    } else {
      courseIsLost = false
    }
    publishHeading(at: time, publish)
  }

  private mutating func publishHeading(at time: Timestamp, _ publish: (Observation) -> Void) {
    switch heading.heading(at: time) {
    case .failure(.notYet): break
    // Chips start one after the other: the first field may come before the first tilt.
    case .failure(.tiltUnknown) where awaitsGravity: break
    // Or one after the other they wake: what the filter takes for silence was sleep.
    case .failure(.sensorLost) where awaitsGravity || awaitsField: break
    case .failure(.tiltUnknown):
      publish(.headingUnavailable(lostGravity ?? .tiltUnknown, at: time))
    case .failure(let reason): publish(.headingUnavailable(reason, at: time))
    case .success(let causal):
      position.update(causal)
      var estimate = smoother?.heading(causal) ?? causal
      if estimate.fieldCheck != nil {
        estimate.fieldCheck?.calibration = appliedRecord
      }
      publish(.heading(TrueNorth.apply(local.declination, to: estimate)))
    }
  }

  /// The number of the record that the listened-to magnetometer's samples are corrected by.
  private var appliedRecord: UInt32? {
    for channel in channels where channel.isPrimary && channel.kind == .magnetometer {
      return channel.calibration == nil ? nil : channel.calibrations
    }
    return nil
  }

  private mutating func process(_ fix: GNSSFix, _ publish: (Observation) -> Void) {
    guard fix.mode > .none, fix.isValid, let latitude = fix.latitude, let longitude = fix.longitude,
      abs(latitude) <= 90, abs(longitude) <= 180
    else {
      // Said once a loss, and once at the start.
      if hasFix != false { loseFix(.noFix, at: fix.received, publish) }
      hasFix = false
      return carry(at: fix.received, publish)
    }
    hasFix = true
    if fix.weeksAdded > 0, !hasSaidWeeks {
      hasSaidWeeks = true
      publish(
        .diagnostic(
          "the receiver's date is \(fix.weeksAdded) weeks back: it counts weeks modulo 1024, as satellites do, and "
            + "was made for earlier years; they are added", at: fix.received))
    }
    local.update(fix)
    heading.expectedField = local.expectedField
    memory.take(fix)
    if let velocity = GroundVelocity(fix, declination: local.declination) {
      heading.update(
        velocity: velocity.value, deviation: velocity.deviation, at: velocity.time)
    }
    let (completed, note) = seaLevel.completed(AccuracyModel.completed(fix))
    if let note { publish(.diagnostic(note, at: fix.received)) }
    halvedPressure.update(completed)
    vertical.update(completed, publish)
    let steadied = position.take(completed)
    publish(.location(LocationEstimate(fix: steadied, isSimulated: isSimulated)))
  }

  private mutating func loseFix(
    _ reason: NoData, at time: Timestamp, _ publish: (Observation) -> Void
  ) {
    guard !position.lose(reason, at: time, isWatched: isWatched) else { return }
    publish(.locationUnavailable(reason, at: time))
  }

  /// Whether anything speaks: a receiver that says it has no fix will say so again, of one that is lost nothing may
  /// follow.
  private var isWatched: Bool {
    zip(channels, status).contains { $0.isPrimary && $1.state == .running }
  }

  /// Publishes a carried position, or that there is none any more, where one or the other is due.
  private mutating func carry(at time: Timestamp, _ publish: (Observation) -> Void) {
    switch position.word(at: time) {
    case nil: break
    case .unavailable(let reason): publish(.locationUnavailable(reason, at: time))
    case .carried(let fix, let carried):
      publish(.location(LocationEstimate(fix: fix, isSimulated: isSimulated, carried: carried)))
    }
  }

  private mutating func process(_ new: SensorStatus, _ publish: (Observation) -> Void) {
    status[new.index] = new
    publish(.sensor(new))
    if !isWatched, let reason = position.abandon() {
      publish(.locationUnavailable(reason, at: new.since))
    }
    guard channels[new.index].isPrimary else { return }
    let feelsGravity = [.accelerometer, .inertial].contains(channels[new.index].kind)
    if feelsGravity {
      if case .running = new.state { lostGravity = nil }
      if case .idle = new.state { awaitsGravity = true }
    } else if channels[new.index].kind == .magnetometer {
      if case .idle = new.state { awaitsField = true }
      if case .failed = new.state { awaitsField = false }
    }
    guard case .failed(let why) = new.state else { return }
    if feelsGravity { lostGravity = .sensorLost("\(new.chip): \(why)") }
    let reason = NoData.sensorLost(why)
    motion.lose(
      channels[new.index].kind, .sensorLost("\(new.chip): \(why)"), at: new.since, publish)
    switch channels[new.index].kind {
    case .magnetometer:
      // Headings say already that a magnet is near.
      if let time = channels[new.index].overflowTime, fieldTime == time,
        new.since.seconds(since: time) < Self.overflowMemory
      {
        return
      }
      publish(.headingUnavailable(reason, at: new.since))
    case .barometer: publish(.altitudeUnavailable(reason, at: new.since))
    case .receiver:
      // What it says when it is back is news, "no fix" too.
      hasFix = nil
      loseFix(reason, at: new.since, publish)
    case .accelerometer, .inertial: awaitsGravity = false
    }
  }
}
