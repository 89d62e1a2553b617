import CalibrationCore
import Lodestone
import SensorTypes
import TerminalUI
import TextForms

/// Turns something that stays level through a whole circle, and fits to that: `lodestone calibrate planar`.
package struct PlanarRun {
  private let seconds: Double

  /// - Parameter seconds: How long to gather at most, in seconds.
  package init(seconds: Double) { self.seconds = seconds }

  /// Gathers, prints what came of it and saves it.
  package func run(_ given: ReferencedBench) throws {
    var bench = given
    if bench.saving.format == .text {
      Terminal.write(
        "Turn slowly through a whole circle, level; a minute is good.\n\(StopKey.words)")
    }
    var stop = StopKey()
    var progress = ProgressLine(bench.saving.format)
    var outcome = CalibrationOutcome(fit: nil, refusal: "no sample")
    let start = bench.session.now()
    var schedule = FitSchedule()
    let end = try Gathering(session: bench.session).run { batch in
      bench.take(batch)
      let age = bench.session.now().seconds(since: start)
      let isLate = stop.wasPressed() || age >= seconds
      guard progress.isDue || isLate else { return true }
      try bench.checkHeard()
      var sectors = Set<Int>()
      if schedule.isDue(at: age) || isLate {
        let fitter = bench.fitter()
        outcome = fitter.planar(bench.samples)
        schedule.note(bench.session.now().seconds(since: start) - age, from: age)
        if let fit = outcome.fit {
          for heading in fitter.headings(bench.samples, by: fit.applied) {
            sectors.insert(Compass.sector(heading))
          }
        }
        show(&progress, age: age, sectors: sectors, outcome)
      }
      return !(isLate || (outcome.isAccepted && sectors.count == Compass.sectors && age > 15))
    }
    progress.close()
    try end.check()
    let fitter = bench.fitter()
    var report = ReferencedReport(
      outcome: outcome, bench: bench, samples: bench.samples)
    if let fit = outcome.fit, let record = bench.record {
      // No reference: the old one is judged by the new one.
      let before = Self.difference(
        fitter.headings(bench.samples, by: record), fitter.headings(bench.samples, by: fit.applied))
      if let before {
        report.before = before
        report.judge = (fit.quality.headingError, 1)
      }
    }
    try report.finish()
  }

  /// How far two calibrations' headings (radians) of the same samples are apart, degrees (root of the mean square);
  /// `nil` where one of them makes nothing of a sample.
  static func difference(_ old: [Double], _ new: [Double]) -> Double? {
    guard old.count == new.count, !old.isEmpty else { return nil }
    let sum = zip(old, new).reduce(0) {
      let turn = ($1.0 - $1.1).remainder(dividingBy: 2 * .pi) * 180 / .pi
      return $0 + turn * turn
    }
    return (sum / Double(old.count)).squareRoot()
  }

  /// The compass from north eastwards, a sign for each sector.
  static func bar(_ sectors: Set<Int>) -> String {
    (0..<Compass.sectors).map { sectors.contains($0) ? "#" : "." }.joined()
  }

  private func show(
    _ progress: inout ProgressLine, age: Double, sectors: Set<Int>, _ outcome: CalibrationOutcome
  ) {
    let bar = Self.bar(sectors)
    let word =
      outcome.fit.map { "score \($0.quality.score)" } ?? (outcome.refusal ?? "")
    progress.show(
      "\(Int(age)) s  N[\(bar)]  \(sectors.count) of \(Compass.sectors)  \(word)", seconds: age
    ) { line in
      line.set("directions", sectors.count)
      line.set("allDirections", Compass.sectors)
      line.set(outcome)
    }
  }
}
