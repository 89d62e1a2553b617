import ArgumentParser
import CalibrationCore
import CalibrationUI

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
    switch CompassSwing.headings(headings) {
    case .success(let list): return list
    case .failure(let error): throw ValidationError("--headings: \(error)")
    }
  }

  func run() throws {
    let bench = try options.bench()
    if course {
      try CourseRun(
        saving: options.saving.settings, method: .deviation, seconds: seconds,
        isDone: { state, _ in state.eighths == 8 }
      ).run(bench)
    } else {
      try DeviationRun(
        headings: points(), isMagnetic: magnetic, error: error, hold: hold, every: every
      ).run(bench)
    }
  }
}
