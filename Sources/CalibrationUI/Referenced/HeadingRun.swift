import CalibrationCore
import Lodestone
import SensorTypes
import TerminalUI
import TextForms

/// Holds a board still at a heading that is known, and fits the hard iron to it: `lodestone calibrate heading`.
package struct HeadingRun {
  private let heading: Double
  private let isMagnetic: Bool
  private let error: Double
  private let seconds: Double

  /// The error of the record in use, in degrees, above which the given heading is doubted instead: a misread heading is
  /// then more likely.
  private static let unlikely = 45.0

  /// - Parameters:
  ///   - heading: Where the board points, degrees.
  ///   - isMagnetic: Whether that is from magnetic north.
  ///   - error: How well it is known, degrees (one sigma).
  ///   - seconds: How long to measure.
  package init(heading: Double, isMagnetic: Bool, error: Double, seconds: Double) {
    self.heading = heading
    self.isMagnetic = isMagnetic
    self.error = error
    self.seconds = seconds
  }

  /// Measures, prints what came of it and saves it.
  package func run(_ given: ReferencedBench) throws {
    var bench = given
    if bench.saving.format == .text {
      Terminal.write(
        "Hold the board still, pointing to \(DecimalText.short(heading, 1)) deg "
          + "\(isMagnetic ? "magnetic" : "true").\n")
    }
    var progress = ProgressLine(bench.saving.format)
    let start = bench.session.now()
    var measurement = HeldMeasurement(seconds: seconds, from: start)
    let end = try Gathering(session: bench.session).run { batch in
      bench.take(batch)
      let now = bench.session.now()
      try bench.checkHeard()
      let phase = measurement.phase(
        at: now, awaitsFix: bench.awaitsFix, hasSamples: !bench.samples.isEmpty)
      switch phase {
      case .awaitingFix(let waited):
        if progress.isDue {
          let words = "waiting for the first fix"
          progress.show("\(Int(waited)) s  \(words)", seconds: waited) { $0.set("say", words) }
        }
        bench.samples.removeAll(keepingCapacity: true)
      case .beginning: bench.samples.removeAll(keepingCapacity: true)
      case .measuring(let measured):
        if progress.isDue {
          progress.show(
            "\(Int(measured)) s of \(Int(seconds)) s", seconds: now.seconds(since: start))
        }
      case .done:
        progress.show("\(Int(seconds)) s of \(Int(seconds)) s", seconds: now.seconds(since: start))
        return false
      }
      return true
    }
    progress.close()
    try end.check()
    let declination = try bench.declination(magnetic: isMagnetic)
    let fitter = bench.fitter(basis: true)
    let direction = heading * .pi / 180 - declination
    let rest = HeadingAtRest(bench.samples)
    var outcome = fitter.knownHeading(
      rest.samples, heading: direction, deviation: error * .pi / 180)
    if let movement = rest.movement { outcome.refusal = movement }
    if let bias = rest.bias {
      Terminal.warn(Hints.complete("lodestone: \(bias): lodestone calibrate gyro learns it"))
    }
    if case .failure(let reason) = bench.local(), outcome.fit == nil {
      outcome.refusal =
        "\(reason): give --latitude and --longitude, --field, or a position in the board file"
    }
    var report = ReferencedReport(outcome: outcome, bench: bench, samples: rest.samples)
    let sighting = ReferencedFitter.Sighting(
      samples: rest.samples, heading: direction, deviation: error * .pi / 180)
    report.judge = (error, 1)
    if let record = bench.record { report.before = fitter.card([sighting], by: record).error }
    report.doubt = report.before.flatMap(Self.doubt)
    if let fit = outcome.fit { report.after = fitter.card([sighting], by: fit.applied).error }
    try report.finish()
  }

  /// What speaks against a heading by which the record in force is this many degrees off; `nil` where nothing does.
  static func doubt(_ before: Double) -> String? {
    guard before > unlikely else { return nil }
    return "with the record in force the board points \(DecimalText.short(before, 0)) deg elsewhere"
  }
}
