import BoardFile
import CalibrationCore
import FusionCore
import Geomagnetism
import LinearAlgebra
import SensorDrivers
import SensorTypes
import StateStore

/// From a chip's reading to a published estimate: what a delivery says goes to the channels, and what they make of it out.
///
/// A value that is told everything, the time included; the hub keeps it behind one lock. Per sample it
/// allocates nothing.
struct Pipeline: Sendable {
  private(set) var chips: [ChipState]
  private(set) var status: [SensorStatus]
  private var hasSpoken: [Bool]
  private(set) var heading: HeadingChannel
  private(set) var vertical: VerticalChannel
  private var motion: MotionChannel
  private var waves: WaveChannel
  private var halvedPressure: HalvedPressure
  /// Whether it was said that the barometer's pressure is not used, and why.
  private var refusesPressure = false
  private var position: PositionChannel
  private(set) var local: LocalField
  private var hasFix: Bool?
  /// Whether the board has no receiver, and that was not said yet.
  private var lacksReceiver: Bool
  private var memory = PositionMemory()
  private var judgement = FixJudgement()
  private var pendingDiagnostics: [String]
  private var found = FoundRecords()
  private let positions: [String]
  private var level = BoardLevel()
  private let isSimulated: Bool
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
    positions = board.sensors.map(\.attachment.description)
    position = PositionChannel(longestLoss: board.longestCarry)
    let givesHeading = board.sensors.contains {
      $0.antennas != nil || ChipCatalog.chip(named: $0.chip)?.kind == .magnetometer
    }
    local = LocalField(position: board.position, models: models, givesHeading: givesHeading)
    halvedPressure = HalvedPressure(board)
    vertical = VerticalChannel(board)
    motion = MotionChannel(board)
    waves = WaveChannel(board)
    var seen: Set<ChipKind> = []
    chips = []
    for sensor in board.sensors {
      let kind = ChipCatalog.chip(named: sensor.chip)?.kind ?? .receiver
      // Gyro and accelerometer in one chip come before an accelerometer alone.
      let isPrimary = seen.insert(kind).inserted
      if sensor.mount.isMirrored {
        pendingDiagnostics.append(
          "\(sensor.chip) at \(sensor.attachment): its mount is a mirror image")
      }
      chips.append(ChipState(kind, sensor.mount, isPrimary: isPrimary))
    }
    heading = HeadingChannel(board, kinds: seen, pass: pass)
    pendingDiagnostics += heading.note.map { [$0] } ?? []
    lacksReceiver = !seen.contains(.receiver)
    if seen.contains(.inertial) {
      for index in chips.indices where chips[index].kind == .accelerometer {
        chips[index].isPrimary = false
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
  func makeSmoother() -> AttitudeSmoother { heading.makeSmoother() }

  /// Whether a sensor has just said for the first time that it is there, or that it is not.
  mutating func isFirstWord(of status: SensorStatus) -> Bool {
    guard status.state != .starting, !hasSpoken[status.index] else { return false }
    hasSpoken[status.index] = true
    return true
  }

  /// Where the board is, when that is worth keeping for the next run; once each time.
  mutating func takePositionToKeep() -> LastPosition? { memory.takeDue() }

  /// What was made of a person's words on the board's height, to be kept for the next run; once each.
  mutating func takeKnownAltitudeToKeep() -> [KnownAltitudeUpdate] {
    vertical.takeChanges()
  }

  /// Whether it may be said, and kept, how the receiver's height compares with one that a person has given.
  var tellsOfReceiver: Bool {
    get { vertical.tellsOfReceiver }
    set { vertical.tellsOfReceiver = newValue }
  }

  /// The magnetometer that is listened to: from its frame to the body's, and what corrects it.
  var magnetometer: (mount: Matrix3, calibration: AppliedCalibration?) {
    listenedMagnetometer.map { ($0.mount, $0.calibration) } ?? (.identity, nil)
  }

  private var listenedMagnetometer: ChipState? {
    chips.first { $0.isPrimary && $0.kind == .magnetometer }
  }

  /// Strength, microtesla, and dip, radians, of the field here, where they are known.
  var expectedField: (strength: Double, dip: Double)? {
    local.expectedField.map { ($0.strength, $0.dip) }
  }

  /// Takes one delivery and publishes what follows from it.
  mutating func process(_ delivery: WorkerOutput, publish: (Observation) -> Void) {
    switch delivery {
    case .reading(let reading): process(reading.sample, of: reading.sensor, publish)
    case .beyondRange(let sensor, let time):
      guard chips[sensor].isPrimary, chips[sensor].kind == .magnetometer else { return }
      say(heading.takeOverflow(at: time), at: time, publish)
    case .fix(let sensor, let fix):
      status[sensor].counters.samples &+= 1
      if chips[sensor].isPrimary { process(fix, publish) }
    case .sky(let sensor, let sky):
      if chips[sensor].isPrimary { publish(.sky(sky)) }
    case .receiverHeading(let sensor, let said):
      if chips[sensor].isPrimary { process(said, publish) }
    case .givesRate(let sensor, let gives):
      chips[sensor].givesRate = gives
      if chips[sensor].isPrimary {
        motion.take(givesRate: gives, at: status[sensor].since, publish)
        waves.take(givesRate: gives, at: status[sensor].since, publish)
      }
    case .status(let status): process(status, publish)
    case .counters(let sensor, let counters): status[sensor].counters = counters
    case .identity(let sensor, let identity): status[sensor].identity = identity
    case .link(let sensor, let link): status[sensor].link = link
    case .wallTime(let seconds, let isSet, let time):
      local.update(wallTime: seconds)
      vertical.given.take(systemClock: seconds, isSet: isSet, at: time)
      heading.expect(local.expectedField)
      publishDiagnostics(at: time, publish)
      if lacksReceiver {
        lacksReceiver = false
        publish(.locationUnavailable(.notEquipped("receiver"), at: time))
      }
    case .record(let record, let time):
      take(record, at: time)
      if case .position = record { return }
      publishDiagnostics(at: time, publish)
    case .followsCourse(let follows):
      heading.setFollowsCourse(follows)
    case .motion(let demand, let time): motion.take(demand, at: time, publish)
    case .waves(let isWanted, let time): waves.take(wanted: isWanted, at: time, publish)
    case .diagnostic(let message, let time): publish(.diagnostic(message, at: time))
    }
  }

  private func name(of sensor: Int) -> String { "\(status[sensor].chip) at \(positions[sensor])" }

  private mutating func note(_ words: String?) {
    if let words { pendingDiagnostics.append(words) }
  }

  private mutating func take(_ record: KeptRecord, at time: Timestamp) {
    switch found.take(record) {
    case nil: break
    case .magnetometer(let sensor, let finding): take(finding, for: sensor)
    case .gyro(let sensor, let finding): take(finding, forGyro: sensor)
    case .level(let sensor, let finding): take(level: finding, from: sensor)
    case .altitude(let finding, let isFirst): take(finding, isFirst: isFirst, at: time)
    case .position(let last):
      local.update(last)
      heading.expect(local.expectedField)
    }
  }

  private mutating func take(_ finding: StoredFinding<AppliedCalibration>, for sensor: Int) {
    let (words, shift) = chips[sensor].apply(finding, name: name(of: sensor))
    note(words)
    guard let shift, chips[sensor].isPrimary else { return }
    heading.calibrationDidChange(shift: shift, quality: chips[sensor].quality)
  }

  // Once the filter runs it knows better: a bias that comes then is for the next start.
  private mutating func take(_ finding: StoredFinding<AppliedGyroBias>, forGyro sensor: Int) {
    let (words, isNew) = chips[sensor].apply(finding, name: name(of: sensor))
    note(words)
    guard isNew, let chip = chips.first(where: { $0.kind == .inertial && $0.isPrimary }),
      let bias = chip.bodyGyroBias
    else { return }
    heading.expect(gyroBias: bias.value, deviation: bias.deviation)
  }

  private mutating func take(level finding: StoredFinding<Quaternion>, from sensor: Int) {
    guard chips[sensor].isPrimary else { return }
    let (words, turn) = level.apply(finding)
    note(words)
    guard let turn else { return }
    for index in chips.indices { chips[index].apply(level: level.rotation) }
    heading.bodyDidTurn(by: turn)
    motion.bodyDidTurn(by: turn)
    if status.contains(where: { $0.counters.samples > 0 }) {
      pendingDiagnostics.append("the board's new level is applied: attitude starts anew")
    }
  }

  private mutating func take(
    _ finding: StoredFinding<KnownAltitude>, isFirst: Bool, at time: Timestamp
  ) {
    if case .record = finding, !chips.contains(where: { $0.kind == .barometer }) {
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
    (pendingDiagnostics + local.diagnostics).forEach { publish(.diagnostic($0, at: time)) }
    pendingDiagnostics.removeAll()
    local.diagnostics.removeAll()
  }

  private mutating func process(
    _ sample: Sample<Reading>, of sensor: Int, _ publish: (Observation) -> Void
  ) {
    let chip = chips[sensor]
    status[sensor].counters.samples &+= 1
    guard chip.isPrimary else { return }
    let (mount, time) = (chip.mount, sample.time)
    switch sample.value {
    case .acceleration(let force):
      heading.update(force: mount * force, at: time)
      vertical.update(heading.estimator, at: time)
      motion.update(
        force: mount * force, angularRate: nil, at: time, heading.estimator, local.declination,
        publish)
    case .inertial(let rate, let force): process(rate, force, .init(), of: chip, at: time, publish)
    case .clippedInertial(let rate, let force, let clipped):
      process(rate, force, clipped, of: chip, at: time, publish)
    case .magneticField(let raw):
      chips[sensor].newestField = raw
      let field = chip.corrected(raw)
      heading.update(field: field, quality: chip.quality, at: time)
      say(heading.output(at: time), at: time, publish)
      motion.update(field: mount * raw, corrected: field, at: time, publish)
    case .atmosphere(let pressure, let temperature, let humidity):
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
      vertical.update(pressure: pressure, temperature, humidity: humidity, at: time, publish)
    }
    carry(at: time, publish)
  }

  /// Takes what a gyro and an accelerometer have said together.
  private mutating func process(
    _ rate: Vector3, _ force: Vector3, _ clipped: InertialClipping, of chip: ChipState,
    at time: Timestamp, _ publish: (Observation) -> Void
  ) {
    let (turn, force) = (chip.sense * (chip.mount * rate), chip.mount * force)
    let clipped = clipped.seen(through: chip.mount)
    heading.update(angularRate: turn, force: force, clipped: clipped, at: time)
    position.update(angularRate: turn, heading.estimator, at: time)
    say(heading.courseOutput(at: time), at: time, publish)
    // A clipped force would be taken for a fall, and so would one that a wrong attitude turns.
    if clipped.isEmpty {
      vertical.update(heading.estimator, at: time)
      waves.update(force: force, at: time, heading.estimator, publish)
    }
    motion.update(
      force: force, angularRate: turn, at: time, heading.estimator, local.declination, publish)
  }

  private mutating func say(
    _ output: Result<HeadingEstimate, NoData>?, at time: Timestamp, _ publish: (Observation) -> Void
  ) {
    switch output {
    case nil: break
    case .failure(let reason):
      if heading.isNews(reason) { publish(.headingUnavailable(reason, at: time)) }
    case .success(let causal):
      position.update(causal)
      var estimate = heading.give(causal)
      if estimate.fieldCheck != nil {
        estimate.fieldCheck?.calibration = listenedMagnetometer?.appliedRecord
      }
      publish(.heading(TrueNorth.apply(local.declination, to: estimate)))
    }
  }

  private mutating func process(_ said: ReceiverHeading, _ publish: (Observation) -> Void) {
    if !heading.readsAntennas, said.source != .vehicle, let note = judgement.notes.noteUnread(said)
    {
      publish(.diagnostic(note, at: said.received))
    }
    say(heading.take(said, local.declination), at: said.received, publish)
  }

  private mutating func process(_ fix: GNSSFix, _ publish: (Observation) -> Void) {
    if let note = judgement.notes.note(about: fix) { publish(.diagnostic(note, at: fix.received)) }
    guard fix.mode > .none, fix.isValid, let latitude = fix.latitude, let longitude = fix.longitude,
      abs(latitude) <= 90, abs(longitude) <= 180
    else {
      // Said once a loss, and once at the start.
      if hasFix != false { loseFix(.noFix, at: fix.received, publish) }
      hasFix = false
      return carry(at: fix.received, publish)
    }
    hasFix = true
    let (completed, hasLeapt, isMeasured, notes) = judgement.complete(fix)
    for note in notes { publish(.diagnostic(note, at: fix.received)) }
    if !hasLeapt { local.update(fix) }
    heading.expect(local.expectedField)
    say(heading.takeFix(at: fix.received), at: fix.received, publish)
    if isMeasured { memory.take(fix) }
    if isMeasured, let velocity = GroundVelocity(fix, declination: local.declination) {
      heading.update(velocity)
    }
    // A guess is passed on, and teaches the filters nothing.
    guard isMeasured else {
      _ = position.abandon()
      return publish(.location(LocationEstimate(fix: completed, isSimulated: isSimulated)))
    }
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
    zip(chips, status).contains { $0.isPrimary && $1.state == .running }
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
    guard chips[new.index].isPrimary else { return }
    let kind = chips[new.index].kind
    let feelsGravity = zip(chips, status).contains { $0.feelsGravity && $1.state == .running }
    let output = heading.take(new, of: kind, feelsGravity: feelsGravity)
    guard case .failed(let why) = new.state else { return }
    motion.lose(kind, .sensorLost("\(new.chip): \(why)"), at: new.since, publish)
    waves.lose(kind, .sensorLost("\(new.chip): \(why)"), at: new.since, publish)
    switch kind {
    case .magnetometer, .accelerometer, .inertial: say(output, at: new.since, publish)
    case .barometer: publish(.altitudeUnavailable(.sensorLost(why), at: new.since))
    case .receiver:
      // What it says when it is back is news, "no fix" too.
      hasFix = nil
      loseFix(.sensorLost(why), at: new.since, publish)
    }
  }
}
