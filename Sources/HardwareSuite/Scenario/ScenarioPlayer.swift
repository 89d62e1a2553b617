// Carries out a scenario's steps, one after the other, each with its own check.

import Foundation
import LinearAlgebra
import SensorDrivers
import SensorHub
import SensorTypes
import SimulatedDevices

/// Plays a scenario on a board.
struct ScenarioPlayer {
  /// How far heading may be from what a shown field means, degrees: nothing moves, so that only the
  /// chip's own errors are left.
  private static let headingLimit = 3.0

  let bench: Bench

  /// All checks of a scenario.
  func play(_ scenario: Scenario) -> [Report.Check] {
    let group = "scenario \(scenario.name)"
    var checks: [Report.Check] = []
    for step in scenario.steps {
      // Nobody asks for what came before.
      bench.capture.forget()
      let found = self.checks(step.action, group)
      for check in found { bench.say("\(check.outcome.rawValue)  \(check.name)") }
      checks += found
    }
    return checks
  }

  private func checks(_ action: Scenario.Action, _ group: String) -> [Report.Check] {
    switch action {
    case .measure(let seconds): return Measurement(bench, seconds: seconds).checks(group)
    case .fault(let chip, let fault, let seconds):
      return [trial(chip, fault, seconds)?.run(group)].compactMap { $0 }
    case .randomFaults(let count, let seed): return randomFaults(count, seed, group)
    case .show(let chip, let shown, let within, let heading):
      return [show(chip, shown, within, heading, group)]
    case .turn(let degrees, let within, let seconds):
      return [turn(degrees, within, seconds, group)]
    case .tilt(let degrees, let within, let seconds):
      return [tilt(degrees, within, seconds, group)]
    case .lift(let metres, let within, let seconds):
      return [lift(metres, within, seconds, group)]
    }
  }

  private func sensor(_ chip: String) -> Int? {
    bench.board.sensors.firstIndex { $0.chip == chip }
  }

  private func trial(_ chip: String, _ fault: RigFault, _ seconds: Double) -> FaultTrial? {
    sensor(chip).map { FaultTrial(bench: bench, sensor: $0, fault: fault, seconds: seconds) }
  }

  /// Sequences of one to three faults that overlap, each on a chip of its own.
  private func randomFaults(_ count: Int, _ seed: UInt64, _ group: String) -> [Report.Check] {
    var random = SeededGenerator(seed: seed, stream: 31)
    func tenths(_ range: ClosedRange<Double>) -> Double {
      (Double.random(in: range, using: &random) * 10).rounded() / 10
    }
    return (1...count).map { number in
      bench.capture.forget()
      let chips = bench.board.sensors.indices.shuffled(using: &random)
      let parts = chips.prefix(Int.random(in: 1...3, using: &random)).enumerated().map {
        place, index in
        let chip = bench.board.sensors[index].chip
        let isReceiver = ChipCatalog.chip(named: chip)?.kind == .receiver
        let kinds = RigFault.allCases.filter { $0.suits(receiver: isReceiver) }
        let fault = kinds.randomElement(using: &random) ?? .noAnswer
        // Long enough for a loss to be known: a shorter one may rightly pass unseen.
        return FaultTrial.Part(
          sensor: index, fault: fault, delay: place == 0 ? 0 : tenths(0...2),
          seconds: tenths(2.5...4))
      }
      var check = FaultTrial(bench: bench, parts: parts).run(group)
      check.name = "seed \(seed), \(number) of \(count): \(check.name)"
      return check
    }
  }

  private func show(
    _ chip: String, _ shown: Shown, _ within: Double, _ heading: Double?, _ group: String
  ) -> Report.Check {
    let name = "\(chip) shows \(shown)"
    guard let index = sensor(chip) else {
      return Report.Check(group, name, .failed, "the board has no \(chip)")
    }
    do {
      try bench.person.show(shown, chip: chip)
    } catch {
      return Report.Check(group, name, .failed, "\(error)")
    }
    defer { try? bench.person.endShow(chip: chip) }
    // What was being converted when it was shown is gone, and the heading has settled.
    bench.pass(heading == nil ? 1 : 3)
    let mark = bench.capture.mark
    bench.pass(1)
    let readings = bench.capture.readings(of: index, since: mark).map(\.value)
    let (quantity, wanted) = shown.expectation
    let means = Channels(readings, quantity: quantity).values.compactMap { Statistics($0)?.mean }
    guard means.count == wanted.count else {
      return Report.Check(group, name, .failed, "\(chip) delivers no \(quantity)")
    }
    let error = zip(means, wanted).map { abs($0 - $1) }.max() ?? .nan
    var complaints = error <= within ? [] : ["it reads \(means.map(Report.figure))"]
    var measures = [
      Report.Measure(
        "largest difference", error, Channels.unit(of: quantity),
        limit: "at most \(Report.figure(within))")
    ]
    if let heading {
      var found = Double.nan
      for case .heading(let value) in bench.capture.observations(since: mark).map(\.value) {
        found = value.magneticHeading * degrees
      }
      let difference = abs((found - heading).remainder(dividingBy: 360))
      measures.append(
        Report.Measure(
          "heading", found, "deg",
          limit: "\(Report.figure(heading)) +- \(Report.figure(Self.headingLimit))"))
      if !(difference <= Self.headingLimit) { complaints.append("heading is \(found)") }
    }
    return Report.Check(
      group, name, complaints.isEmpty ? .passed : .failed,
      complaints.isEmpty ? "\(readings.count) samples" : complaints.joined(separator: "; "),
      measures: measures)
  }

  // MARK: What hands do

  private func headings(since mark: Capture.Mark) -> [HeadingEstimate] {
    bench.capture.observations(since: mark).compactMap {
      if case .heading(let heading) = $0.value { heading } else { nil }
    }
  }

  /// Asks for something, lets it happen, and judges what came; nobody there to do it is a failure.
  private func byHand(
    _ name: String, _ instruction: String, _ seconds: Double, _ group: String,
    judge: (_ mark: Capture.Mark) -> Report.Check
  ) -> Report.Check {
    do {
      try bench.person.ask("\(instruction) You have \(Int(seconds)) s. Press return to begin.")
    } catch {
      return Report.Check(group, name, .failed, "\(error)")
    }
    let mark = bench.capture.mark
    bench.pass(seconds)
    return judge(mark)
  }

  private func turn(
    _ degreesWanted: Double, _ within: Double, _ seconds: Double, _ group: String
  ) -> Report.Check {
    let name = "turning by \(Report.figure(degreesWanted)) deg"
    return byHand(
      name, "Turn the board clockwise by \(Int(degreesWanted)) degrees, level, in peace.", seconds,
      group
    ) { mark in
      let course = headings(since: mark).map { $0.magneticHeading * degrees }
      let turned = zip(course, course.dropFirst()).reduce(0) {
        $0 + ($1.1 - $1.0).remainder(dividingBy: 360)
      }
      let isGood = abs(turned - degreesWanted) <= within
      return Report.Check(
        group, name, isGood ? .passed : .failed,
        isGood ? "followed" : turned < 0 ? "heading ran backwards" : "heading did not follow",
        mend: isGood
          ? nil : "is the mount in the board file right? A wrong sign turns heading the other way",
        measures: [
          Report.Measure(
            "turned", turned, "deg",
            limit: "\(Report.figure(degreesWanted)) +- \(Report.figure(within))")
        ])
    }
  }

  private func tilt(
    _ degreesWanted: Double, _ within: Double, _ seconds: Double, _ group: String
  ) -> Report.Check {
    let name = "tilting to \(Report.figure(degreesWanted)) deg"
    return byHand(
      name,
      "Tilt the board to about \(Int(degreesWanted)) degrees forwards, back and to both sides, "
        + "without turning it.", seconds, group
    ) { mark in
      let all = headings(since: mark)
      let tilts = all.map { acos(max(-1, min(1, $0.attitude.matrix.columns.z.z))) * degrees }
      let start = all.first?.magneticHeading ?? .nan
      let errors = all.map {
        abs((($0.magneticHeading - start) * degrees).remainder(dividingBy: 360))
      }
      let (most, error) = (tilts.max() ?? 0, Statistics(errors)?.quantile(0.95) ?? .nan)
      let isGood = most >= 0.7 * degreesWanted && error <= within
      return Report.Check(
        group, name, isGood ? .passed : .failed,
        isGood
          ? "heading stayed"
          : most < 0.7 * degreesWanted ? "it was hardly tilted" : "heading went with the tilt",
        mend: isGood
          ? nil
          : "the mounts of magnetometer and accelerometer must agree; calibrate the magnetometer",
        measures: [
          Report.Measure("largest tilt", most, "deg"),
          Report.Measure(
            "heading moved (95 %)", error, "deg", limit: "at most \(Report.figure(within))"),
        ])
    }
  }

  private func lift(
    _ metres: Double, _ within: Double, _ seconds: Double, _ group: String
  ) -> Report.Check {
    let name = "lifting by \(Report.figure(metres)) m"
    return byHand(
      name, "Lift the board by \(Report.figure(metres)) m and hold it there.", seconds, group
    ) { mark in
      let heights = bench.capture.observations(since: mark).compactMap { arrival -> Double? in
        if case .altitude(let altitude) = arrival.value { altitude.relativeAltitude } else { nil }
      }
      let tail = Statistics(Array(heights.suffix(20)))?.mean ?? .nan
      let lifted = tail - (Statistics(Array(heights.prefix(10)))?.mean ?? .nan)
      let isGood = abs(lifted - metres) <= within
      return Report.Check(
        group, name, isGood ? .passed : .failed, isGood ? "followed" : "altitude did not follow",
        mend: isGood ? nil : "keep wind and light away from the sensor's hole",
        measures: [
          Report.Measure(
            "lifted", lifted, "m", limit: "\(Report.figure(metres)) +- \(Report.figure(within))")
        ])
    }
  }
}

extension Shown {
  /// The quantity it is, and its numbers.
  fileprivate var expectation: (quantity: String, values: [Double]) {
    switch self {
    case .field(let v): ("field", [v.x, v.y, v.z])
    case .acceleration(let v): ("acceleration", [v.x, v.y, v.z])
    case .rate(let v): ("angular rate", [v.x, v.y, v.z])
    case .pressure(let p): ("pressure", [p])
    case .temperature(let t): ("temperature", [t])
    }
  }
}
