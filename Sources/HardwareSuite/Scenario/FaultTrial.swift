// Faults, from the first one's beginning to the last chip's return, held against what the project promises.

import BoardFile
import LinearAlgebra
import SensorDrivers
import SensorHub
import SensorTypes

/// Lets something go wrong with one chip, or with several that overlap, and watches the whole board.
struct FaultTrial {
  /// A part that has been carried out.
  private struct Course {
    let part: FaultTrialChip
    // Counted from the asking: a rig's answer takes a while, and its fault is over so much sooner.
    let begin: Timestamp

    // A brown-out is over as soon as it has been.
    var end: Timestamp { part.fault == .brownOut ? begin : begin.advanced(bySeconds: part.seconds) }
  }

  /// Loss is reported within this, or three periods where those are longer; seconds.
  static let reportLimit = 2.0
  /// A chip is back within this of the fault's end; seconds.
  static let returnLimit = 5.0
  /// What a person's hand adds: nobody presses a key at the moment of pulling a wire.
  private static let handLimit = 3.0
  /// A chip that has nothing to do with it may pause for this long; seconds.
  private static let othersLimit = 1.0

  let bench: Bench
  /// In the order of their beginning, each chip once.
  let parts: [FaultTrialChip]

  init(bench: Bench, parts: [FaultTrialChip]) {
    self.bench = bench
    self.parts = parts.sorted { $0.delay < $1.delay }
  }

  init(bench: Bench, sensor: Int, fault: RigFault, seconds: Double) {
    self.init(bench: bench, parts: [FaultTrialChip(sensor: sensor, fault: fault, seconds: seconds)])
  }

  private var name: String {
    parts.map { part in
      let delay = part.delay > 0 ? "after \(Report.figure(part.delay)) s " : ""
      return "\(delay)\(bench.name(part.sensor)): \(part.fault.rawValue) for "
        + "\(Report.figure(part.seconds)) s"
    }.joined(separator: ", ")
  }

  private var handSlack: Double { bench.person.isPerson ? Self.handLimit : 0 }

  /// Carries it out and says how it went.
  func run(_ group: String) throws(BrokenOff) -> Report.Check {
    let begin = bench.now()
    guard
      try bench.wait(
        atMost: Self.returnLimit, until: { parts.allSatisfy { isRunning($0.sensor) } })
    else {
      let absent = parts.filter { !isRunning($0.sensor) }.map { bench.name($0.sensor) }
      return Report.Check(
        group, name, .failed,
        "\(absent.joined(separator: ", ")) not running before the fault: nothing can be learnt",
        mend: bench.remedy, seconds: bench.now().seconds(since: begin))
    }
    let mark = bench.capture.mark
    let standing = bench.standstill()
    // A few values from before: what comes is measured from them.
    try bench.pass(0.1)
    let first = bench.now()
    var courses: [Course] = []
    for part in parts {
      try bench.pass(max(0, first.advanced(bySeconds: part.delay).seconds(since: bench.now())))
      let asked = bench.now()
      do {
        try bench.person.inject(
          part.fault, on: ChipTarget(part.sensor, of: bench.board), seconds: part.seconds)
      } catch let end as BrokenOff {
        throw end
      } catch let skip as StepSkipped {
        return Report.Check(group, name, .skipped, skip.reason)
      } catch {
        return Report.Check(group, name, .failed, "\(error)")
      }
      // A person begins when the question is answered.
      courses.append(Course(part: part, begin: bench.person.isPerson ? bench.now() : asked))
    }
    let losses = courses.filter(\.part.isLoss)
    let longest =
      losses.map { max($0.part.seconds, reportLimit($0.part.sensor) + handSlack) }.max() ?? 0
    func standstill() -> Double { bench.standstill() - standing }
    _ = try bench.wait(atMost: longest + standstill()) {
      losses.allSatisfy { wasLost($0.part.sensor, since: mark) }
    }
    let end = courses.map(\.end).max() ?? first
    try bench.pass(max(0, end.seconds(since: bench.now())))
    if bench.person.isPerson { bench.say(">>> Plug it back now.") }
    _ = try bench.wait(atMost: Self.returnLimit + handSlack + standstill() + 1) {
      courses.allSatisfy { hasReturned($0, since: mark) } && companions.allSatisfy(isRunning)
    }
    // What the others did shows a little later.
    try bench.pass(0.3)
    // What was late by a machine that stood still is the machine's.
    let slack = handSlack + standstill()
    let verdicts = courses.map { judge($0, mark, slack: slack) }
    let complaints =
      verdicts.flatMap(\.complaints) + impossible(mark) + others(mark, slack: standstill())
    let said = verdicts.compactMap(\.said).joined(separator: "; ")
    let detail =
      complaints.isEmpty
      ? said : complaints.joined(separator: "; ") + (said.isEmpty ? "" : ". Said was: " + said)
    return Report.Check(
      group, name, complaints.isEmpty ? .passed : .failed, detail,
      mend: complaints.isEmpty ? nil : verdicts.compactMap(\.mend).first,
      measures: verdicts.flatMap(\.measures), seconds: bench.now().seconds(since: begin))
  }

  private func isRunning(_ index: Int) -> Bool { bench.source.status[index].state == .running }

  private func statuses(
    since mark: StreamPosition, of index: Int
  ) -> [(status: SensorStatus, time: Timestamp)] {
    bench.capture.observations(since: mark).compactMap { arrival in
      if case .sensor(let status) = arrival.value, status.index == index {
        (status, arrival.time)
      } else {
        nil
      }
    }
  }

  private func hasReturned(_ course: Course, since mark: StreamPosition) -> Bool {
    let sensor = course.part.sensor
    return isRunning(sensor)
      && (!wasLost(sensor, since: mark)
        || statuses(since: mark, of: sensor).contains {
          $0.status.state == .running && $0.time >= course.end
        })
  }

  private func wasLost(_ sensor: Int, since mark: StreamPosition) -> Bool {
    statuses(since: mark, of: sensor).contains { $0.status.isFailed }
  }

  /// What is to be said of one chip: what is wrong, what was measured, what the board said itself.
  private struct TrialSummary {
    var complaints: [String] = []
    var measures: [Report.Measure] = []
    /// `nil` where nothing was said and something should have been.
    var said: String?
    var mend: String?
  }

  /// - Parameter slack: What a limit is longer by: a person's hands and a machine that stood still, seconds.
  private func judge(_ course: Course, _ mark: StreamPosition, slack: Double) -> TrialSummary {
    let sensor = course.part.sensor
    var verdict = TrialSummary()
    let own = statuses(since: mark, of: sensor)
    guard course.part.isLoss else {
      if let report = own.first(where: { $0.status.isFailed }) {
        verdict.complaints = ["what was only late was taken for lost"]
        verdict.said = "\(report.status.position): \(report.status.reason)"
      } else {
        verdict.said = "no loss, as it should be"
      }
      return verdict
    }
    func measure(_ what: String, _ delay: Double, atMost limit: Double, late: String) {
      // Of several chips it must be said which one.
      let of = parts.count > 1 ? "\(bench.name(sensor)): " : ""
      verdict.measures.append(
        Report.Measure(of + what, delay, "s", limit: "at most \(Report.figure(limit))"))
      if delay > limit { verdict.complaints.append(of + late) }
    }
    if let report = own.first(where: { $0.status.isFailed }) {
      measure(
        "loss said after", report.time.seconds(since: course.begin),
        atMost: reportLimit(sensor) + slack, late: "the loss was said late")
      verdict.said = "\(report.status.position): \(report.status.reason)"
      if report.status.reason.isEmpty {
        verdict.complaints.append("the loss was said without a reason")
      }
    } else if course.part.fault == .brownOut, keepsNothing(sensor) {
      verdict.said = "no loss: it has no configuration that a brown-out could take"
    } else {
      verdict.complaints.append("\(bench.name(sensor)): no loss was said")
      verdict.mend =
        bench.person.isPerson
        ? "was the wire pulled, and at the moment of pressing return? Try again"
        : "does \(bench.person.name) let \(course.part.fault.rawValue) happen? Its log says what it did"
    }
    if let back = own.first(where: { $0.status.state == .running && $0.time >= course.end }) {
      measure(
        "back after", back.time.seconds(since: course.end), atMost: Self.returnLimit + slack,
        late: "it came back late")
    } else if own.contains(where: { $0.status.isFailed }) {
      verdict.complaints.append("\(bench.name(sensor)): it did not come back")
      verdict.mend =
        bench.person.isPerson ? "is the wire back in its place? lodestone doctor" : bench.remedy
    }
    verdict.complaints += invented(sensor, own, mark)
    return verdict
  }

  /// Whether a chip is told each conversion anew, so that one which has begun again is as it was.
  private func keepsNothing(_ sensor: Int) -> Bool {
    let entry = bench.board.sensors[sensor]
    guard let chip = ChipCatalog.chip(named: entry.chip)?.chip?(entry.rate ?? 25) else {
      return false
    }
    return chip.registerImage.isEmpty && chip.conversionTime != nil
  }

  /// Chips behind the bypass of one that has a fault: with it they go, and come when it was started again.
  private var companions: [Int] {
    bench.board.sensors.indices.filter { index in
      guard !parts.contains(where: { $0.sensor == index }),
        let host = bench.board.host(of: bench.board.sensors[index])
      else { return false }
      return parts.contains { bench.board.sensors[$0.sensor] == host }
    }
  }

  // A receiver's period is the slowest on a board; one whose rate is not said may have a second.
  private func reportLimit(_ sensor: Int) -> Double {
    kind(sensor) == .receiver
      ? max(Self.reportLimit, 3 / (bench.board.sensors[sensor].rate ?? 1)) : Self.reportLimit
  }

  private func kind(_ sensor: Int) -> ChipKind? {
    ChipCatalog.chip(named: bench.board.sensors[sensor].chip)?.kind
  }

  /// Values of a chip that was known to be lost.
  private func invented(
    _ sensor: Int, _ own: [(status: SensorStatus, time: Timestamp)], _ mark: StreamPosition
  ) -> [String] {
    let kind = kind(sensor)
    var isLost = false
    var count = 0
    for arrival in bench.capture.observations(since: mark) {
      switch (arrival.value, kind) {
      case (.sensor(let status), _) where status.index == sensor:
        if status.isFailed {
          isLost = true
        } else if status.state == .running {
          isLost = false
        }
      // A magnet that drives the chip to its end is no silence: headings go on by the gyro, and say why.
      case (.heading(let heading), .magnetometer):
        count += isLost && heading.reason == nil ? 1 : 0
      case (.altitude, .barometer), (.location, .receiver):
        count += isLost ? 1 : 0
      default: break
      }
    }
    return count == 0
      ? [] : ["\(count) values of \(bench.name(sensor)) were published while it was lost"]
  }

  /// Values that no board can have had, measured from those before the first fault.
  private func impossible(_ mark: StreamPosition) -> [String] {
    var altitude: AltitudeEstimate?
    var fix: GNSSFix?
    var complaints: [String] = []
    for arrival in bench.capture.observations(since: mark) {
      switch arrival.value {
      case .heading(let heading) where heading.accuracy != nil && heading.reason == nil:
        if let strength = heading.field?.length, !Self.fields.contains(strength) {
          complaints.append("heading from a field of \(Report.figure(strength)) uT")
        }
      case .altitude(let next):
        let first = altitude ?? next
        altitude = first
        let step = abs(next.relativeAltitude - first.relativeAltitude)
        if !(step <= 5 + Self.climb * next.time.seconds(since: first.time)) {
          complaints.append("altitude jumped by \(Report.figure(step)) m")
        }
      case .location(let location):
        let first = fix ?? location.fix
        fix = first
        guard let step = Self.metres(from: first, to: location.fix) else { continue }
        if !(step <= 100 + Self.speed * location.fix.received.seconds(since: first.received)) {
          complaints.append("position jumped by \(Report.figure(step)) m")
        }
      default: break
      }
    }
    return Array(complaints.prefix(1))
  }

  // The Earth's field is 22 to 67 uT; iron that a heading may still be trusted beside adds to it.
  private static let fields = 15.0...100.0
  // Faster than anything on a desk or a boat, m/s.
  private static let climb = 20.0
  private static let speed = 100.0

  // On a sphere, which is near enough for a jump.
  private static func metres(from a: GNSSFix, to b: GNSSFix) -> Double? {
    guard let north = a.latitude, let east = a.longitude, let toNorth = b.latitude,
      let toEast = b.longitude
    else { return nil }
    let turn = (toEast - east).remainder(dividingBy: 360) * cos(north * .pi / 180)
    return ((toNorth - north) * (toNorth - north) + turn * turn).squareRoot() * 111_195
  }

  /// Chips that had nothing to do with it, and suffered.
  private func others(_ mark: StreamPosition, slack: Double) -> [String] {
    let others = Set(bench.board.sensors.indices).subtracting(parts.map(\.sensor))
      .subtracting(companions).sorted()
    let absent = companions.filter { !isRunning($0) }.map {
      "\(bench.name($0)), which is behind its bypass, did not come back"
    }
    return absent
      + others.flatMap { index -> [String] in
        let name = bench.name(index)
        if let failed = statuses(since: mark, of: index).first(where: { $0.status.isFailed }) {
          return ["\(name) failed with it: \(failed.status.reason)"]
        }
        let times = bench.capture.readings(of: index, since: mark).map(\.time)
        let gap = zip(times, times.dropFirst()).map { $1.seconds(since: $0) }.max() ?? 0
        return gap > Self.othersLimit + slack ? ["\(name) paused for \(Report.figure(gap)) s"] : []
      }
  }
}

/// What befalls one chip.
struct FaultTrialChip {
  let sensor: Int
  let fault: RigFault
  /// Seconds after the trial's beginning.
  var delay = 0.0
  let seconds: Double

  /// Slow transfers are late, not lost.
  var isLoss: Bool { fault != .slow }
}

extension SensorStatus {
  /// Whether it is lost.
  var isFailed: Bool {
    if case .failed = state { true } else { false }
  }

  /// Why it is lost; empty where it is not.
  var reason: String {
    if case .failed(let reason) = state { reason } else { "" }
  }
}
