import ArgumentParser
import CalibrationCore
import CalibrationUI
import Lodestone
import SensorHub
import SensorTypes
import TerminalUI
import TextForms

/// `lodestone calibrate heading DEG`: a board that is held still at a heading that is known.
struct HeadingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "heading",
    abstract: "Calibrate hard iron from one heading that is known.",
    discussion: """
      The board is held still and points to DEG: true north unless --magnetic is given. One heading shows \
      hard iron only; soft iron stays as the record in force says. A record that is better and shows DEG \
      as well as it is known stays, unless --force is given. It needs the earth's field: from a fix, \
      the board file's position, --latitude and --longitude, or --field.
      """)

  @OptionGroup var options: ReferencedOptions

  @Argument(help: "Where the board points, degrees, 0 to 360.")
  var heading: Double

  @Flag(help: "DEG is from magnetic north.")
  var magnetic = false

  @Option(parsing: .unconditional, help: "How well DEG is known, degrees (one sigma).")
  var error = 2.0

  @Option(parsing: .unconditional, help: "How long to measure, seconds.")
  var seconds = 5.0

  /// A longer wait for a fix is in vain, seconds.
  private static let patience = 60.0
  /// A record that was used until now is hardly as wrong as this, degrees; a heading is soon mistaken.
  private static let unlikely = 45.0

  func validate() throws {
    guard (0...360).contains(heading) else { throw ValidationError("DEG must be 0 to 360") }
    guard error >= 0.1, error <= 30 else { throw ValidationError("--error must be 0.1 to 30") }
    guard seconds >= 1, seconds <= 600 else { throw ValidationError("--seconds must be 1 to 600") }
  }

  func run() throws {
    var bench = try options.bench()
    if options.format == .text {
      Terminal.write(
        "Hold the board still, pointing to \(DecimalText.short(heading, 1)) deg "
          + "\(magnetic ? "magnetic" : "true").\n")
    }
    var progress = ProgressLine(options.format)
    let start = bench.session.now()
    var begun: Timestamp?
    let end = try Gathering(session: bench.session).run { batch in
      bench.take(batch)
      let now = bench.session.now()
      let age = now.seconds(since: start)
      try bench.checkHeard()
      if bench.awaitsFix, age < Self.patience {
        if progress.isDue {
          let words = "waiting for the first fix"
          progress.show("\(Int(age)) s  \(words)", seconds: age) { $0.set("say", words) }
        }
        bench.samples.removeAll(keepingCapacity: true)
        return true
      }
      guard let since = begun else {
        if !bench.samples.isEmpty { begun = now }
        bench.samples.removeAll(keepingCapacity: true)
        return true
      }
      let measured = now.seconds(since: since)
      if progress.isDue {
        progress.show("\(Int(measured)) s of \(Int(seconds)) s", seconds: age)
      }
      return measured < seconds
    }
    progress.close()
    try end.check()
    let declination = try bench.declination(magnetic: magnetic)
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
    if let before = report.before, before > Self.unlikely {
      report.doubt =
        "with the record in force the board points \(DecimalText.short(before, 0)) deg elsewhere"
    }
    if let fit = outcome.fit { report.after = fitter.card([sighting], by: fit.applied).error }
    try report.finish()
  }
}
