// A compass swing: one known heading after the other, held for some seconds.

import CalibrationCore
import Lodestone
package import SensorTypes
package import TerminalUI
import TextForms

/// What a swing listens to.
protocol SwingSamples {
  /// What came since it was last taken away.
  var samples: [CalibrationSample] { get set }
  /// How many came since the beginning.
  var fieldSamples: Int { get }
  /// What is said where none comes.
  var silence: CommandError { get }
}

extension ReferencedBench: SwingSamples {}

/// Leads a person, or the clock, through known headings and gathers the samples of each.
package struct CompassSwing {
  /// Seconds for which a magnetometer that fell silent is waited for.
  private static let patience = 60.0

  /// The samples of one known heading, in degrees.
  package typealias HeldHeading = (heading: Double, samples: [CalibrationSample])

  /// The headings that were taken, in this order.
  package private(set) var taken: [HeldHeading] = []

  private let hold: Double
  private let every: Double?
  private let format: OutputFormat
  private var waiting: [Double]
  private var progress: ProgressLine
  private var keys = TypedLines()
  private var held: (heading: Double, since: Timestamp)?
  private var asked: Timestamp?
  private var start: Timestamp?
  private var heard = (samples: 0, at: Timestamp(nanoseconds: 0))

  /// - Parameters:
  ///   - headings: The headings to take, in degrees.
  ///   - hold: Seconds for which each is held.
  ///   - every: Seconds from one heading to the next without a key; `nil` to wait for Return.
  package init(headings: [Double], hold: Double, every: Double?, format: OutputFormat) {
    (waiting, self.hold, self.every, self.format) = (headings, hold, every, format)
    progress = ProgressLine(format)
  }

  /// Gathers until all headings were taken, somebody ends it, or the magnetometer stays silent.
  package mutating func run(_ bench: inout ReferencedBench) throws {
    let end = try Gathering(session: bench.session).run { batch in
      bench.take(batch)
      return try step(&bench, at: bench.session.now())
    }
    progress.close()
    try end.check()
  }

  /// Does what is due. Returns whether the swing goes on.
  mutating func step(_ bench: inout some SwingSamples, at now: Timestamp) throws -> Bool {
    if start == nil { (start, heard) = (now, (0, now)) }
    let age = start.map { now.seconds(since: $0) } ?? 0
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
    if let held { return hold(held, bench, at: now, age: age) }
    // What was measured between headings says nothing.
    bench.samples.removeAll { now.seconds(since: $0.time) > 2 }
    guard let next = waiting.first else { return false }
    ask(next, at: now)
    if let every, let asked {
      let wait = every - hold - now.seconds(since: asked)
      if wait <= 0 {
        held = (next, now)
      } else if progress.isDue {
        show("turn to \(Self.words(next))", wait, age: age)
      }
      return true
    }
    guard let line = keys.next() else { return !keys.hasEnded }
    return answer(line, at: now)
  }

  /// Waits for the end of a heading that is held.
  private mutating func hold(
    _ point: (heading: Double, since: Timestamp), _ bench: some SwingSamples, at now: Timestamp,
    age: Double
  ) -> Bool {
    let left = hold - now.seconds(since: point.since)
    if progress.isDue, left > 0 { show("hold \(Self.words(point.heading))", left, age: age) }
    // A sample that is late is waited for, one that never comes is not.
    let end = point.since.advanced(bySeconds: hold)
    guard left <= 0, bench.samples.last.map({ $0.time >= end }) ?? false || left < -1 else {
      return true
    }
    let samples = bench.samples.filter { $0.time >= point.since }
    guard !samples.isEmpty else {
      // The chip paused: once more.
      held = (point.heading, now)
      return true
    }
    taken.append((point.heading, samples))
    if waiting.first == point.heading { waiting.removeFirst() }
    (held, asked) = (nil, nil)
    return !waiting.isEmpty
  }

  /// Asks for the next heading, once.
  private mutating func ask(_ next: Double, at now: Timestamp) {
    guard asked == nil else { return }
    asked = now
    progress.close()
    guard format == .text else { return }
    let how =
      every.map { ": \(Int($0)) s\n" } ?? ", hold it, press Return (s skips, q ends)\n"
    Terminal.write("turn to \(Self.words(next))" + how)
  }

  /// Takes what a person has typed. Returns whether the swing goes on.
  mutating func answer(_ typed: String, at now: Timestamp) -> Bool {
    guard let next = waiting.first else { return false }
    let line = typed.trimmingPrefix(while: \.isWhitespace).lowercased()
    let end = line.lastIndex { !$0.isWhitespace }.map { line.index(after: $0) } ?? line.startIndex
    switch line[..<end] {
    case "": held = (next, now)
    case "q": return false
    case "s":
      waiting.removeFirst()
      asked = nil
    case let word:
      if let other = Double(word), (0...360).contains(other) {
        waiting[0] = other
        held = (other, now)
      } else {
        let mistake = "'\(word)' is no heading: a number from 0 to 360, Return, s or q"
        if format == .text { Terminal.say(mistake) } else { Terminal.warn(mistake) }
        asked = nil
      }
    }
    return !waiting.isEmpty
  }

  private mutating func show(_ words: String, _ left: Double, age: Double) {
    let (count, all) = (taken.count, taken.count + waiting.count)
    progress.show("  \(words): \(Int(left.rounded(.up))) s", seconds: age) { line in
      line.set("say", words)
      line.set("directions", count)
      line.set("allDirections", all)
    }
  }

  private static func words(_ heading: Double) -> String {
    let degrees = DecimalText.short(heading, 1)
    let name = Compass.name(heading)
    return name.isEmpty ? "\(degrees) deg" : "\(name) (\(degrees) deg)"
  }
}
