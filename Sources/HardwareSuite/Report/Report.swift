// What a hardware test found out, as a value; the writers beside this file turn it into files.

package import FoundationEssentials
import TextForms

/// The result of one run of the hardware tests.
package struct Report: Sendable, Codable {
  /// One figure that was measured.
  package struct Measure: Sendable, Codable, Hashable {
    package var name: String
    /// Its value, in `unit`.
    package var value: Double
    /// SI, or what people speak.
    package var unit: String
    /// What it was held against, for a person: "at most 0.5 ms".
    package var limit: String?

    package init(_ name: String, _ value: Double, _ unit: String, limit: String? = nil) {
      (self.name, self.value, self.unit, self.limit) = (name, value, unit, limit)
    }
  }

  /// One thing that was tried.
  package struct Check: Sendable, Codable {
    /// The part of the suite: wiring, rates, a scenario's name.
    package var group: String
    package var name: String
    package var outcome: CheckOutcome
    /// What was found, in a sentence; for a failure the cause.
    package var detail: String
    /// The line or the hand that mends it.
    package var mend: String?
    package var measures: [Measure]
    /// How long it took.
    package var seconds: Double

    package init(
      _ group: String, _ name: String, _ outcome: CheckOutcome, _ detail: String,
      mend: String? = nil,
      measures: [Measure] = [], seconds: Double = 0
    ) {
      self.group = group
      self.name = name
      self.outcome = outcome
      self.detail = detail
      self.mend = mend
      self.measures = measures
      self.seconds = seconds
    }
  }

  /// A curve: what was measured over time.
  package struct Series: Sendable, Codable {
    /// What it is, and of which chip.
    package var title: String
    /// The unit of `values`.
    package var unit: String
    /// Seconds from the start of the measurement.
    package var times: [Double]
    /// One value a time.
    package var values: [Double]
    /// What the values are held against, in `unit`; drawn where it is near them.
    package var limits: [Double]

    /// Makes a curve; of a long one every n-th point is kept, so that at most `limit` are left.
    package init(
      _ title: String, unit: String, _ points: [(Double, Double)], limits: [Double] = [],
      limit: Int = 600
    ) {
      self.title = title
      self.limits = limits
      self.unit = unit
      let stride = max(1, (points.count + limit - 1) / limit)
      let kept = points.indices.filter { $0 % stride == 0 }.map { points[$0] }
      times = kept.map(\.0)
      values = kept.map(\.1)
    }
  }

  /// What a command printed on this board.
  package struct Transcript: Sendable, Codable {
    /// The command as one would type it.
    package var command: String
    /// Its exit code; -1 if it was ended for taking too long.
    package var exitCode: Int
    /// What it printed, both streams.
    package var output: String

    package init(command: String, exitCode: Int, output: String) {
      (self.command, self.exitCode, self.output) = (command, exitCode, output)
    }
  }

  /// The board's name, as its file gives it.
  package var board: String
  /// Where the board file lies; "probed" without one.
  package var boardFile: String
  /// The machine and its kernel.
  package var machine: String
  /// Who carried out the scenarios' steps: a rig, a person, the simulation, nobody.
  package var rig: String
  /// When it began, by the system's clock.
  package var date: Date
  /// How long it took.
  package var seconds: Double = 0
  /// Where the board file asks for less than the suite usually does, in sentences.
  package var deviations: [String] = []
  /// Everything that was tried, in order.
  package var checks: [Check] = []
  /// What was measured over time.
  package var series: [Series] = []
  /// What the commands printed.
  package var transcripts: [Transcript] = []
  /// The signal that ended the run before its end (`SIGINT`), and what it was at; `nil` for a whole run.
  package var brokenOff: Interrupted?

  /// What ended a run before its end.
  package struct Interrupted: Sendable, Codable, Hashable {
    package var signal: String
    /// What was being tried.
    package var during: String

    package init(signal: String, during: String) {
      (self.signal, self.during) = (signal, during)
    }
  }

  /// Makes a report without checks.
  package init(board: String, boardFile: String, machine: String, rig: String, date: Date) {
    self.board = board
    self.boardFile = boardFile
    self.machine = machine
    self.rig = rig
    self.date = date
  }

  /// How many checks ended so.
  package func count(_ outcome: CheckOutcome) -> Int { checks.count { $0.outcome == outcome } }

  /// How the run ended.
  package var result: SuiteResult {
    if brokenOff != nil { return .brokenOff }
    if checks.isEmpty || count(.failed) > 0 { return .failed }
    return count(.skipped) > 0 ? .notPassed : .passed
  }

  /// Whether everything that was to be tried was tried and is well.
  package var isPassed: Bool { result == .passed }

  /// What a program that shows this report ends with: 0 passed, 1 failed, 2 not passed. (A run that was
  /// broken off ends by its signal: `BrokenOff.exitCode`.)
  package var exitCode: Int32 {
    switch result {
    case .passed: 0
    case .failed, .brokenOff: 1
    case .notPassed: 2
    }
  }

  /// The result in one line.
  package var verdict: String {
    let word = result == .passed ? result.rawValue : result.rawValue.uppercased()
    let end = brokenOff.map { "by \($0.signal) during \($0.during); " } ?? ""
    return "\(word): \(end)\(count(.passed)) passed, \(count(.failed)) failed, "
      + "\(count(.skipped)) skipped, \(DecimalText.steady(seconds, 1)) s"
  }

  /// A figure with as many digits as say something: no noughts at the end, and none but noughts for none.
  static func figure(_ value: Double) -> String {
    guard value.isFinite else { return "\(value)" }
    let size = abs(value)
    let digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 4 : 6
    var text = DecimalText.steady(value, digits)
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// Three numbers as people write them.
  static func figures(_ values: [Double]) -> String {
    values.map(figure).joined(separator: " ")
  }
}

/// How a run ended, in one word.
package enum SuiteResult: String, Sendable, Codable {
  /// Everything that was to be tried was tried and is well.
  case passed
  /// Something is not well, or nothing was tried.
  case failed
  /// Nothing is wrong that was tried; something could not be tried.
  case notPassed = "not passed"
  /// It ended before its end.
  case brokenOff = "broken off"
}

/// How a check ended. What could not be tried did not pass.
package enum CheckOutcome: String, Sendable, Codable {
  case passed, failed, skipped
}

extension Report.Check {
  /// How it ended, as lines for a terminal; with the reason where it is not well.
  var lines: [String] {
    let first = "\(outcome.rawValue)  \(name)"
    guard outcome != .passed else { return [first] }
    return ["\(first): \(detail)"] + [mend.map { "        mend: \($0)" }].compactMap { $0 }
  }
}
