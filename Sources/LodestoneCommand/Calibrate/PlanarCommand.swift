import ArgumentParser
import CalibrationCore
import CalibrationUI
import Lodestone
import SensorHub
import SensorTypes
import TerminalUI
import TextForms

/// `lodestone calibrate planar`: a whole turn of something that stays level.
struct PlanarCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "planar",
    abstract: "Calibrate a boat or a vehicle by turning it through a whole circle.",
    discussion: """
      Turn slowly and level, a minute for a circle, and no faster than at a walk unless the board has a \
      receiver (a bend's force is taken for tilt). It ends by itself when all the compass was seen, and at \
      a terminal by Return (or s and Return) with what was gathered so far. How the chip is turned about \
      the vertical a turn cannot show: 'calibrate heading' or 'calibrate deviation' can. Exit code 1 when \
      there is nothing to save; what was stored stays then.
      """)

  @OptionGroup var options: ReferencedOptions

  @Option(parsing: .unconditional, help: "Stop after this many seconds.")
  var seconds = 180.0

  func validate() throws {
    guard seconds > 0, seconds.isFinite else {
      throw ValidationError("--seconds takes a number above zero")
    }
  }

  func run() throws {
    var bench = try options.bench()
    if options.format == .text {
      Terminal.write(
        "Turn slowly through a whole circle, level; a minute is good.\n\(StopKey.words)")
    }
    var stop = StopKey()
    var progress = ProgressLine(options.format)
    var outcome = CalibrationOutcome(fit: nil, refusal: "no sample")
    let start = bench.session.now()
    var nextFit = 1.0
    let end = try Gathering(session: bench.session).run { batch in
      bench.take(batch)
      let age = bench.session.now().seconds(since: start)
      let isLate = stop.wasPressed() || age >= seconds
      guard progress.isDue || isLate else { return true }
      try bench.checkHeard()
      var sectors = Set<Int>()
      if age >= nextFit || isLate {
        let fitter = bench.fitter()
        outcome = fitter.planar(bench.samples)
        // A small board must not fit all the time.
        let took = bench.session.now().seconds(since: start) - age
        nextFit = age + max(0.9, 4 * took)
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
      let old = fitter.headings(bench.samples, by: record)
      let new = fitter.headings(bench.samples, by: fit.applied)
      if old.count == new.count, !old.isEmpty {
        let sum = zip(old, new).reduce(0) {
          let turn = ($1.0 - $1.1).remainder(dividingBy: 2 * .pi) * 180 / .pi
          return $0 + turn * turn
        }
        report.before = (sum / Double(old.count)).squareRoot()
        report.judge = (fit.quality.headingError, 1)
      }
    }
    try report.finish()
  }

  private func show(
    _ progress: inout ProgressLine, age: Double, sectors: Set<Int>, _ outcome: CalibrationOutcome
  ) {
    let bar = (0..<Compass.sectors).map { sectors.contains($0) ? "#" : "." }.joined()
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
