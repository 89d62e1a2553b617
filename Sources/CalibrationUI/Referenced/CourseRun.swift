import BoardFile
package import CalibrationCore
import Lodestone
import SensorTypes
import TerminalUI
import TextForms

/// Gathers headings from a receiver's course until they are enough.
package struct CourseRun {
  private let saving: SaveSettings
  package let method: CalibrationMethod
  package let seconds: Double
  /// Whether a calibration that is accepted is enough.
  package let isDone: (CourseProgress, CalibrationOutcome) -> Bool

  package func run(_ given: ReferencedBench) throws {
    guard given.hasReceiver else {
      try saving.refuse("this board has no receiver to give a course")
    }
    try given.session.demandExactPosition("a calibration by course goes by the receiver")
    var bench = given
    bench.takesBendsOut = false
    if saving.format == .text { Terminal.write(introduction) }
    var stop = StopKey()
    var progress = ProgressLine(saving.format)
    var gathering = CourseGathering(
      mount: bench.sensor.mount, level: bench.level, declination: 0)
    var outcome = CalibrationOutcome(fit: nil, refusal: "no steady course yet")
    var note = "waiting for the first fix"
    let start = bench.session.now()
    var schedule = FitSchedule()
    var ending = DriveEnding(goodScore: CoachParameters().goodScore)
    let end = try Gathering(session: bench.session).run { batch in
      bench.take(batch)
      let age = bench.session.now().seconds(since: start)
      try bench.checkHeard()
      for sample in bench.samples { gathering.take(sample) }
      bench.samples.removeAll(keepingCapacity: true)
      if !bench.newFixes.isEmpty {
        switch bench.local() {
        case .success(let local):
          if let declination = local.declination {
            gathering.declination = declination
            for fix in bench.newFixes { note = gathering.take(fix) ?? "" }
          } else {
            note = "the declination is unknown"
          }
        case .failure(let reason): note = "\(reason)"
        }
      }
      let isLate = stop.wasPressed() || age >= seconds
      guard progress.isDue || isLate else { return true }
      let state = CourseProgress(gathering.sightings)
      if schedule.isDue(at: age) || isLate, !gathering.sightings.isEmpty {
        outcome = fit(bench.fitter(), gathering.sightings)
        schedule.note(bench.session.now().seconds(since: start) - age, from: age)
      }
      show(&progress, age: age, gathering.seconds, state, outcome, note)
      let isOver = ending.isReached(
        eighths: state.eighths, steady: gathering.seconds, age: age,
        score: outcome.fit?.quality.score, isAccepted: outcome.isAccepted,
        isDone: isDone(state, outcome))
      return !(isLate || isOver)
    }
    progress.close()
    try end.check()
    if outcome.fit == nil, !note.isEmpty {
      outcome.refusal = (outcome.refusal ?? "no steady course") + " (\(note))"
    }
    let fitter = bench.fitter()
    var report = ReferencedReport(
      outcome: outcome, bench: bench, samples: gathering.sightings.flatMap(\.samples))
    if outcome.fit != nil {
      report.judge(CourseProgress.points(gathering.sightings), fitter)
      report.source = "of the receiver"
      if method == .course { report.cards = nil }
    }
    try report.finish()
  }

  private var introduction: String {
    let way =
      method == .course
      ? "Drive straight for ten seconds, then a bend, and so on; faster than 2 m/s."
      : "Hold each of the eight directions for ten seconds, faster than 2 m/s; it ends by\n"
        + "itself when it has seen all of them, or is good and has seen nothing new for a\n"
        + "minute of steady course or two of any; after \(Int(seconds)) s at the latest."
    return "\(way)\n\(StopKey.words)"
  }

  private func fit(_ fitter: ReferencedFitter, _ sightings: [ReferencedFitter.Sighting])
    -> CalibrationOutcome
  {
    method == .deviation ? fitter.deviation(sightings) : fitter.course(sightings)
  }

  private func show(
    _ progress: inout ProgressLine, age: Double, _ steady: Double, _ state: CourseProgress,
    _ outcome: CalibrationOutcome, _ note: String
  ) {
    var text = "\(Int(age)) s  \(Int(steady)) s steady, \(state.eighths) of 8 directions"
    if let fit = outcome.fit {
      text += ", score \(fit.quality.score)"
      text += " (\(DecimalText.short(fit.quality.headingError, 1)) deg)"
    }
    if !note.isEmpty { text += "  \(note)" }
    progress.show(text, seconds: age) { line in
      line.set("directions", state.eighths)
      line.set("allDirections", 8)
      line.set("steadySeconds", steady, digits: 1)
      line.set(outcome)
      line.set("note", note.isEmpty ? nil : note)
    }
  }

  package init(
    saving: SaveSettings, method: CalibrationMethod, seconds: Double,
    isDone: @escaping (CourseProgress, CalibrationOutcome) -> Bool
  ) { self.saving = saving; self.method = method; self.seconds = seconds; self.isDone = isDone }
}

/// What a drive has seen so far.
package struct CourseProgress {
  /// How many eighths of the compass were driven.
  package let eighths: Int

  init(_ sightings: [ReferencedFitter.Sighting]) {
    eighths = Set(sightings.map { Compass.sector($0.heading + .pi / 8, of: 8) }).count
  }

  /// One sighting an eighth of the compass, for a card.
  static func points(_ sightings: [ReferencedFitter.Sighting]) -> [ReferencedFitter.Sighting] {
    var best: [Int: ReferencedFitter.Sighting] = [:]
    func distance(_ sighting: ReferencedFitter.Sighting) -> Double {
      abs(sighting.heading.remainder(dividingBy: .pi / 4))
    }
    for sighting in sightings {
      let eighth = Compass.sector(sighting.heading + .pi / 8, of: 8)
      if let old = best[eighth], distance(old) <= distance(sighting) { continue }
      best[eighth] = sighting
    }
    return best.values.sorted { $0.heading < $1.heading }
  }
}
