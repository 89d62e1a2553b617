// Carries out a scenario's steps, one after the other, each with its own check.

import BoardFile
import LinearAlgebra
import SensorDrivers
import SensorHub
import SensorTypes
import SimulatedDevices
import StateStore

/// Plays a scenario on a board.
struct ScenarioPlayer {
  /// How far heading may be from what a shown field means, degrees: nothing moves, so that only the
  /// chip's own errors are left.
  private static let headingLimit = 3.0
  /// How long heading may take to be what a shown field means, seconds.
  private static let headingPatience = 3.0
  /// How long a receiver is silent meanwhile, seconds: as long as all of it may take. What is left of it then is
  /// waited for.
  private static let silence = 8.0
  /// How long the chips sleep so that heading begins anew, seconds: longer than the longest gap over which a gyro's
  /// board knows where it was (`AttitudeParameters.limits.longestGap`), with the time that falling asleep takes.
  private static let pause = 1.5

  let bench: Bench

  /// Plays it; every check goes into `found` as it comes.
  func play(_ scenario: Scenario, into found: inout Findings) throws(BrokenOff) {
    let group = "scenario \(scenario.name)"
    var left: [String] = []
    for (number, step) in scenario.steps.enumerated() {
      found.stage = "step \(number + 1) of \(group)"
      let isByHand = bench.person.isPerson && isForHands(step.action)
      if isByHand, bench.person.hasLeft {
        left.append(title(step.action))
        continue
      }
      var checks: [Report.Check] = []
      var attempt = 0
      var isOver = false
      while !isOver {
        // Nobody asks for what came before.
        bench.capture.forget()
        attempt += 1
        checks = try self.checks(step.action, group)
        for check in checks { bench.tell(check) }
        let isFailed = checks.contains { $0.outcome == .failed }
        isOver = isByHand && isFailed ? try !bench.person.wantsAgain() : true
      }
      if attempt > 1 {
        for index in checks.indices { checks[index].detail += " (at attempt \(attempt))" }
      }
      found.checks += checks
    }
    if !left.isEmpty {
      let check = Report.Check(
        group, "the remaining steps by hand", .skipped,
        "\(Person.ended) before \(left.joined(separator: ", "))")
      bench.tell(check)
      found.checks.append(check)
    }
  }

  /// The same for one who has time until the end.
  func play(_ scenario: Scenario) throws(BrokenOff) -> [Report.Check] {
    var found = Findings()
    try play(scenario, into: &found)
    return found.checks
  }

  private func isForHands(_ action: ScenarioAction) -> Bool {
    if case .fault = action { true } else { action.needsHands }
  }

  private func title(_ action: ScenarioAction) -> String {
    switch action {
    case .measure(let seconds): "measuring for \(Report.figure(seconds)) s"
    case .fault(let chip, let fault, _): "\(bench.name(chip)): \(fault.rawValue)"
    case .randomFaults(let count, _): "\(count) random faults"
    case .show(let chip, let shown, _, _):
      "\(bench.name(chip)) is shown \(shown.quantity) "
        + "\(Report.figures(shown.expectation.values))"
    case .turn(let degrees, _, _): "turning by \(Report.figure(degrees)) deg"
    case .tilt(let degrees, _, _): "tilting to \(Report.figure(degrees)) deg"
    case .lift(let metres, _, _): "lifting by \(Report.figure(metres)) m"
    }
  }

  private func checks(
    _ action: ScenarioAction, _ group: String
  ) throws(BrokenOff) -> [Report.Check] {
    switch action {
    case .measure(let seconds):
      let measurement = Measurement(bench, seconds: seconds)
      if let end = measurement.end { throw end }
      return measurement.checks(group)
    case .fault(let chip, let fault, let seconds):
      return [
        try FaultTrial(bench: bench, sensor: chip, fault: fault, seconds: seconds).run(group)
      ]
    case .randomFaults(let count, let seed): return try randomFaults(count, seed, group)
    case .show(let chip, let shown, let within, let heading):
      return [try show(ChipTarget(chip, of: bench.board), action, shown, within, heading, group)]
    case .turn, .tilt, .lift: return [try HandTrial(bench: bench).run(action, title(action), group)]
    }
  }

  /// Sequences of one to three faults that overlap, each on a chip of its own.
  private func randomFaults(
    _ count: Int, _ seed: UInt64, _ group: String
  ) throws(BrokenOff) -> [Report.Check] {
    var random = SeededGenerator(seed: seed, stream: 31)
    func tenths(_ range: ClosedRange<Double>) -> Double {
      (Double.random(in: range, using: &random) * 10).rounded() / 10
    }
    var checks: [Report.Check] = []
    for number in 1...count {
      bench.capture.forget()
      let chips = bench.board.sensors.indices.shuffled(using: &random)
      let parts = chips.prefix(Int.random(in: 1...3, using: &random)).enumerated().map {
        place, index in
        let isReceiver = bench.kind(index) == .receiver
        let kinds = RigFault.allCases.filter { $0.suits(receiver: isReceiver) }
        let fault = kinds.randomElement(using: &random) ?? .noAnswer
        // Long enough for a loss to be known: a shorter one may rightly pass unseen.
        return FaultTrialChip(
          sensor: index, fault: fault, delay: place == 0 ? 0 : tenths(0...2),
          seconds: tenths(2.5...4))
      }
      var check = try FaultTrial(bench: bench, parts: parts).run(group)
      check.name = "seed \(seed), \(number) of \(count): \(check.name)"
      checks.append(check)
    }
    return checks
  }

  // MARK: What is shown

  private func show(
    _ chip: ChipTarget, _ action: ScenarioAction, _ shown: Shown, _ within: Double,
    _ heading: Double?, _ group: String
  ) throws(BrokenOff) -> Report.Check {
    let name = title(action)
    let begin = bench.now()
    // A field says where north is to a board that lies level and still, and a rig's may be on its way.
    let others = heading == nil ? [] : stand
    do {
      for (other, level) in others { try bench.person.show(level, on: other) }
      // Its speed and course would speak against a board that stands still.
      for receiver in others.isEmpty ? [] : receivers {
        try bench.person.inject(.receiverSilent, on: receiver, seconds: Self.silence)
      }
      try bench.person.show(shown, on: chip)
    } catch let end as BrokenOff {
      throw end
    } catch {
      return Report.Check(group, name, .failed, "\(error)")
    }
    func endShow() {
      for shown in others.map(\.0) + [chip] { try? bench.person.endShow(on: shown) }
    }
    let check: Report.Check
    do throws(BrokenOff) {
      check = try look(chip, name, shown, within, heading, group, since: begin)
    } catch {
      endShow()
      throw error
    }
    endShow()
    // What comes next does not begin with a heading from another field, nor without its receiver.
    if heading != nil { try beginAnew() }
    if !others.isEmpty {
      let left = Self.silence - bench.now().seconds(since: begin)
      _ = try bench.wait(atMost: max(0, left) + FaultTrial.returnLimit) {
        receivers.allSatisfy { bench.source.status[$0.index].state == .running }
      }
    }
    return check
  }

  private var receivers: [ChipTarget] {
    bench.board.sensors.indices.filter { bench.kind($0) == .receiver }
      .map { ChipTarget($0, of: bench.board) }
  }

  /// What the chips that feel movement are shown on a board that lies level and still.
  private var stand: [(ChipTarget, Shown)] {
    bench.board.sensors.indices.flatMap { index -> [(ChipTarget, Shown)] in
      let kind = bench.kind(index)
      guard kind == .accelerometer || kind == .inertial else { return [] }
      let force =
        bench.board.sensors[index].mount.matrix.transposed * Vector3(0, 0, SimulatedWorld.gravity)
      let chip = ChipTarget(index, of: bench.board)
      let level: [(ChipTarget, Shown)] = [
        (chip, .acceleration(SIMD3(force.x, force.y, force.z)))
      ]
      return kind == .inertial ? level + [(chip, .rate(.zero))] : level
    }
  }

  /// A board with a gyro knows that it was not turned, and rightly takes a field that turned for a disturbance.
  /// After a pause it does not know any more: heading begins with the field that is there.
  private func beginAnew() throws(BrokenOff) {
    guard bench.board.sensors.indices.contains(where: { bench.kind($0) == .inertial }) else {
      return
    }
    bench.source.setDemand(Demand())
    try bench.pass(Self.pause)
    bench.source.setDemand(.everything)
    _ = try bench.wait(atMost: FaultTrial.returnLimit) {
      !bench.source.status.contains { $0.state == .idle || $0.state == .starting }
    }
  }

  private func look(
    _ chip: ChipTarget, _ name: String, _ shown: Shown, _ within: Double, _ heading: Double?,
    _ group: String, since begin: Timestamp
  ) throws(BrokenOff) -> Report.Check {
    if heading != nil { try beginAnew() }
    // What was being converted when it was shown is gone.
    try bench.pass(1)
    if let heading {
      let from = bench.capture.mark
      _ = try bench.wait(atMost: Self.headingPatience, step: 0.2) {
        newestHeading(since: from).map { Self.angle($0, heading) <= Self.headingLimit / 2 } ?? false
      }
    }
    let mark = bench.capture.mark
    try bench.pass(1)
    let record = record(of: chip)
    let readings = bench.capture.readings(of: chip.index, since: mark).map(\.value)
    let (quantity, wanted) = shown.expectation
    let channels = Channels(readings, quantity: quantity)
    var means = channels.values.compactMap { Statistics($0)?.mean }
    guard means.count == wanted.count else {
      return Report.Check(
        group, name, .failed, "\(chip.name) delivers no \(quantity)", mend: bench.remedy)
    }
    if let record, case .field = shown {
      let field = record.correct(Vector3(means[0], means[1], means[2]))
      means = [field.x, field.y, field.z]
    }
    let unit = Channels.unit(of: quantity)
    let error = zip(means, wanted).map { abs($0 - $1) }.max() ?? .nan
    var complaints: [String] = []
    var mends: [String] = []
    if !(error <= within) {
      let what = record == nil ? "it reads" : "calibrated it reads"
      complaints.append("\(what) \(Report.figures(means)) \(unit)")
      mends.append(remedy(for: shown, record))
    }
    var measures = [
      Report.Measure(
        "largest difference", error, unit, limit: "at most \(Report.figure(within))")
    ]
    if let heading {
      let found = newestHeading(since: mark)
      measures.append(
        Report.Measure(
          "heading", found ?? .nan, "deg",
          limit: "\(Report.figure(heading)) +- \(Report.figure(Self.headingLimit))"))
      if !(found.map { Self.angle($0, heading) <= Self.headingLimit } ?? false) {
        complaints.append(found.map { "heading is \(Report.figure($0)) deg" } ?? "no heading came")
        mends.append(headingRemedy(shown, chip, heading))
      }
    }
    return Report.Check(
      group, name, complaints.isEmpty ? .passed : .failed,
      complaints.isEmpty
        ? "\(readings.count) samples\(record == nil ? "" : ", calibrated")"
        : complaints.joined(separator: "; "),
      mend: mends.first, measures: measures, seconds: bench.now().seconds(since: begin))
  }

  private func record(of chip: ChipTarget) -> AppliedCalibration? {
    guard bench.kind(chip.index) == .magnetometer,
      case .record(let record)? = bench.calibrations?.find(bench.board.sensors[chip.index])
    else { return nil }
    return record
  }

  private func newestHeading(since mark: StreamPosition) -> Double? {
    var found: Double?
    for case .heading(let value) in bench.capture.observations(since: mark).map(\.value) {
      found = value.magneticHeading * degrees
    }
    return found
  }

  private static func angle(_ a: Double, _ b: Double) -> Double {
    abs((a - b).remainder(dividingBy: 360))
  }

  private func remedy(for shown: Shown, _ record: AppliedCalibration?) -> String {
    guard case .field = shown else { return "'within' must leave room for the chip's own offset" }
    return record == nil
      ? "without a calibration record the board's iron and the chip's offset are in what it reads: give it "
        + "a record, or a wider 'within'"
      : "is its calibration record of this board? (lodestone doctor names the file)"
  }

  /// What the shown field means for a level board, where that is not what was expected.
  private func headingRemedy(_ shown: Shown, _ chip: ChipTarget, _ wanted: Double) -> String {
    guard case .field(let value) = shown else { return bench.remedy }
    let field =
      bench.board.sensors[chip.index].mount.matrix * Vector3(value.x, value.y, value.z)
    let angle = atan2(-field.x, field.y) * degrees
    let meant = angle < 0 ? angle + 360 : angle
    return Self.angle(meant, wanted) > Self.headingLimit
      ? "through this chip's mount the field means \(Report.figure(meant)) deg on a level board: heading is "
        + "where the body's y axis points"
      : "is the board level, and is the field one that the earth can have there (strength and dip)?"
  }
}

extension Shown {
  /// The quantity it is, and its numbers.
  var expectation: (quantity: String, values: [Double]) {
    switch self {
    case .field(let v): ("field", [v.x, v.y, v.z])
    case .acceleration(let v): ("acceleration", [v.x, v.y, v.z])
    case .rate(let v): ("angular rate", [v.x, v.y, v.z])
    case .pressure(let p): ("pressure", [p])
    case .temperature(let t): ("temperature", [t])
    }
  }
}
