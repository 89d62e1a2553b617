import ArgumentParser
import CalibrationCore
import CalibrationUI

/// `lodestone calibrate course`: a drive with a few bends.
struct CourseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "course",
    abstract: "Calibrate from the receiver's course: drive a few bends.",
    discussion: """
      For what points the way it goes: cars, bicycles, robots, boats without much current or leeway. \
      Straight stretches of ten seconds in three directions or more, faster than 2 m/s; it ends by itself \
      when it is good, and at a terminal by Return (or s and Return) with what was gathered so far.
      """)

  @OptionGroup var options: ReferencedOptions

  @Option(parsing: .unconditional, help: "Stop after this many seconds.")
  var seconds = 900.0

  /// A heading error at which nothing more is to be gained, degrees.
  private static let good = 1.0

  func validate() throws {
    guard seconds > 0, seconds.isFinite else {
      throw ValidationError("--seconds takes a number above zero")
    }
  }

  func run() throws {
    let bench = try options.bench()
    try CourseRun(
      saving: options.saving.settings, method: .course, seconds: seconds,
      isDone: { _, outcome in (outcome.fit?.quality.headingError ?? .infinity) <= Self.good }
    ).run(bench)
  }
}
