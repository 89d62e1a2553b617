import ArgumentParser
import CalibrationCore
import Foundation
import Lodestone
import SensorHub
import SensorTypes

/// `lodestone calibrate deviation`: a vessel is swung, and its deviation card drawn.
struct DeviationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deviation",
    abstract: "Calibrate on headings known by shore marks, another compass or the course.",
    discussion: """
      Turn the vessel to each heading in turn by a reference and press Return when it is steady: the \
      heading is held for a few seconds then. 's' and Return leaves a heading out, another number and \
      Return takes that heading instead, 'q' ends. Headings are true unless --magnetic is given. \
      Without hands: --every SECONDS takes one heading after the other by the clock, --course takes \
      them from the receiver's course until all eight directions were seen, or it is good and nothing new \
      comes; Return (or s and Return) ends it with what was gathered. Prints the deviation card before and after, with the \
      coefficients A to E.
      """)

  @OptionGroup var options: ReferencedOptions

  @Option(help: "The headings, degrees, separated by commas.")
  var headings = "0,45,90,135,180,225,270,315"

  @Flag(help: "Headings are from magnetic north.")
  var magnetic = false

  @Option(parsing: .unconditional, help: "How well each heading is known, degrees (one sigma).")
  var error = 2.0

  @Option(parsing: .unconditional, help: "How long each heading is held, seconds.")
  var hold = 5.0

  @Option(
    parsing: .unconditional,
    help:
      "Take the next heading every so many seconds, without a key; each is held at the end of it.")
  var every: Double?

  @Flag(help: "Take the headings from the receiver's course: sail each one for some seconds.")
  var course = false

  @Option(parsing: .unconditional, help: "With --course: give up after this many seconds.")
  var seconds = 900.0

  /// A magnetometer that fell silent is waited for so long, seconds.
  private static let patience = 60.0

  func validate() throws {
    let list = try points()
    guard list.count >= 4, list.count <= 72 else {
      throw ValidationError("--headings takes 4 to 72 of them, better eight")
    }
    guard error >= 0.1, error <= 20 else { throw ValidationError("--error must be 0.1 to 20") }
    guard hold >= 1, hold <= 120 else { throw ValidationError("--hold must be 1 to 120") }
    if let every, !(every >= hold && every <= 3_600) {
      throw ValidationError("--every must be as long as --hold at least")
    }
    guard every == nil || !course else { throw ValidationError("--every or --course, not both") }
    guard seconds > 0, seconds.isFinite else {
      throw ValidationError("--seconds takes a number above zero")
    }
  }

  private func points() throws -> [Double] {
    try headings.split(separator: ",").map { text in
      guard let value = Double(text.trimmingCharacters(in: .whitespaces)),
        (0...360).contains(value)
      else { throw ValidationError("--headings: '\(text)' is no heading from 0 to 360") }
      return value == 360 ? 0 : value
    }
  }

  func run() throws {
    var bench = try ReferencedBench(options)
    if course {
      try CourseRun(
        options: options, method: .deviation, seconds: seconds,
        isDone: { state, _ in state.eighths == 8 }
      ).run(bench)
      return
    }
    let sightings = try swing(&bench)
    let fitter = try bench.fitter()
    let outcome = fitter.deviation(sightings)
    var report = ReferencedReport(
      outcome: outcome, bench: bench, samples: sightings.flatMap(\.samples))
    report.judge(sightings, fitter)
    try report.finish()
  }

  private func swing(_ bench: inout ReferencedBench) throws -> [ReferencedFitter.Sighting] {
    var waiting = try points()
    var progress = ProgressLine(options.format)
    var keys = TypedLines()
    var sightings: [ReferencedFitter.Sighting] = []
    var taken: [(heading: Double, samples: [CalibrationSample])] = []
    var held: (heading: Double, since: Timestamp)?
    var asked: Timestamp?
    var known: Double? = magnetic ? 0 : nil
    let start = bench.session.now()
    var heard = (samples: 0, at: start)
    let end = try Gathering(session: bench.session).run { batch in
      bench.take(batch)
      let now = bench.session.now()
      let age = now.seconds(since: start)
      func say(_ words: String, _ left: Double) {
        progress.show("  \(words): \(Int(left.rounded(.up))) s", seconds: age) { line in
          line.set("say", words)
          line.set("directions", taken.count)
          line.set("allDirections", taken.count + waiting.count)
        }
      }
      guard bench.fieldSamples > 0 else {
        if age > 5 { throw bench.silence }
        return true
      }
      if bench.fieldSamples > heard.samples { heard = (bench.fieldSamples, now) }
      // Headings that were taken are worth a wait, and are not thrown away after it.
      if now.seconds(since: heard.at) > Self.patience {
        guard !taken.isEmpty else { throw bench.silence }
        progress.close()
        Terminal.warn("lodestone: \(bench.silence); this is judged by the headings taken so far")
        return false
      }
      if let (heading, since) = held {
        let left = hold - now.seconds(since: since)
        if progress.isDue, left > 0 {
          say("hold \(Self.words(heading))", left)
        }
        // A sample that is late is waited for, one that never comes is not.
        let end = since.advanced(bySeconds: hold)
        guard left <= 0, bench.samples.last.map({ $0.time >= end }) ?? false || left < -1 else {
          return true
        }
        let samples = bench.samples.filter { $0.time >= since }
        guard !samples.isEmpty else {
          // The chip paused: once more.
          held = (heading, now)
          return true
        }
        taken.append((heading, samples))
        if waiting.first == heading { waiting.removeFirst() }
        held = nil
        asked = nil
        return !waiting.isEmpty
      }
      // What was measured between headings says nothing.
      bench.samples.removeAll { now.seconds(since: $0.time) > 2 }
      guard let next = waiting.first else { return false }
      if asked == nil {
        asked = now
        progress.close()
        if options.format == .text {
          Terminal.write(
            every.map {
              "turn to \(Self.words(next)): \(Int($0)) s\n"
            } ?? "turn to \(Self.words(next)), hold it, press Return (s skips, q ends)\n")
        }
      }
      if let every, let since = asked {
        let wait = every - hold - now.seconds(since: since)
        if wait <= 0 {
          held = (next, now)
        } else if progress.isDue {
          say("turn to \(Self.words(next))", wait)
        }
        return true
      }
      guard let line = keys.next()?.trimmingCharacters(in: .whitespaces).lowercased() else {
        return !keys.hasEnded
      }
      switch line {
      case "": held = (next, now)
      case "q": return false
      case "s":
        waiting.removeFirst()
        asked = nil
      default:
        if let other = Double(line), (0...360).contains(other) {
          waiting[0] = other
          held = (other, now)
        } else {
          let mistake = "'\(line)' is no heading: a number from 0 to 360, Return, s or q"
          if options.format == .text { Terminal.say(mistake) } else { Terminal.warn(mistake) }
          asked = nil
        }
      }
      return !waiting.isEmpty
    }
    progress.close()
    try end.check()
    if known == nil { known = try bench.declination(magnetic: false) }
    for (heading, samples) in taken {
      sightings.append(
        ReferencedFitter.Sighting(
          samples: samples, heading: heading * .pi / 180 - (known ?? 0),
          deviation: error * .pi / 180))
    }
    return sightings
  }

  private static func words(_ heading: Double) -> String {
    let degrees = JSONLine.fixed(heading, digits: 1)
    let name = Compass.name(heading)
    return name.isEmpty ? "\(degrees) deg" : "\(name) (\(degrees) deg)"
  }
}

extension ReferencedReport {
  /// Draws the cards of the record in force (none: the raw field) and of the new one.
  mutating func judge(_ sightings: [ReferencedFitter.Sighting], _ fitter: ReferencedFitter) {
    let squares = sightings.reduce(0) { $0 + $1.deviation * $1.deviation }
    let count = max(1, sightings.count)
    judge = ((squares / Double(count)).squareRoot() * 180 / .pi, count)
    let old = fitter.card(sightings, by: bench.record)
    before = old.error
    guard let fit = outcome.fit else { return }
    let new = fitter.card(sightings, by: fit.applied)
    after = new.error
    cards = (old, new)
  }
}
