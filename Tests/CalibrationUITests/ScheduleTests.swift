import SensorTypes
import Testing

@testable import CalibrationUI

/// When calibrations begin, fit, speak and end, by a clock that is an argument.
struct ScheduleTests {
  private static func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 5_000_000_000).advanced(bySeconds: seconds)
  }

  @Test("a known heading is measured from the first sample on, for as long as was asked")
  func held() {
    var measurement = HeldMeasurement(seconds: 10, from: Self.time(0))
    func phase(_ seconds: Double, _ awaitsFix: Bool, _ hasSamples: Bool)
      -> HeldMeasurement.HeldPhase
    {
      measurement.phase(at: Self.time(seconds), awaitsFix: awaitsFix, hasSamples: hasSamples)
    }
    #expect(phase(0.5, true, true) == .awaitingFix(seconds: 0.5))
    #expect(phase(3, true, true) == .awaitingFix(seconds: 3))
    // The fix is there, and no sample since.
    #expect(phase(4, false, false) == .beginning && phase(7, false, false) == .beginning)
    #expect(phase(8, false, true) == .beginning)
    #expect(phase(8.5, false, false) == .measuring(seconds: 0.5))
    #expect(phase(17.5, false, true) == .measuring(seconds: 9.5))
    #expect(phase(18, false, true) == .done && phase(30, false, true) == .done)
  }

  @Test("a first fix that does not come is waited for a minute, and then done without")
  func withoutFix() {
    var measurement = HeldMeasurement(seconds: 5, from: Self.time(0))
    let late = measurement.phase(at: Self.time(59.5), awaitsFix: true, hasSamples: true)
    guard case .awaitingFix(let waited) = late, abs(waited - 59.5) < 1e-6 else {
      Issue.record("\(late)")
      return
    }
    let begun = measurement.phase(at: Self.time(60), awaitsFix: true, hasSamples: true)
    #expect(begun == .beginning)
    let measuring = measurement.phase(at: Self.time(61), awaitsFix: true, hasSamples: true)
    #expect(measuring == .measuring(seconds: 1))
  }

  @Test("fits begin after a second, then every 0.9 s, or as rarely as they take long")
  func fits() {
    var schedule = FitSchedule()
    #expect(!schedule.isDue(at: 0.95) && schedule.isDue(at: 1))
    schedule.note(0.1, from: 1)
    #expect(!schedule.isDue(at: 1.85) && schedule.isDue(at: 1.9))
    // Two seconds of work, then six of rest.
    schedule.note(2, from: 10)
    #expect(!schedule.isDue(at: 17.9) && schedule.isDue(at: 18))
  }

  /// Whether a drive that saw its newest direction after 30 s, with 25 s of steady course, is over.
  private func isOver(
    steady: Double, age: Double, score: Int? = 85, isAccepted: Bool = true, isDone: Bool = false
  ) -> Bool {
    var ending = DriveEnding(goodScore: 80)
    let before = ending.isReached(
      eighths: 5, steady: 25, age: 30, score: nil, isAccepted: false, isDone: false)
    #expect(!before)
    return ending.isReached(
      eighths: 5, steady: steady, age: age, score: score, isAccepted: isAccepted, isDone: isDone)
  }

  @Test("a good drive is over a minute of steady course, or two of any, after its newest direction")
  func drive() {
    #expect(!isOver(steady: 85, age: 140) && isOver(steady: 85.5, age: 140))
    #expect(!isOver(steady: 40, age: 150) && isOver(steady: 40, age: 150.5))
    // Not good, or not acceptable.
    #expect(!isOver(steady: 300, age: 600, score: 79) && isOver(steady: 300, age: 600, score: 80))
    #expect(!isOver(steady: 300, age: 600, score: nil))
    #expect(!isOver(steady: 300, age: 600, isAccepted: false))
    // What the caller wanted is there, whatever the score.
    #expect(isOver(steady: 30, age: 40, score: 50, isDone: true))
    #expect(!isOver(steady: 30, age: 40, isAccepted: false, isDone: true))
  }

  @Test("a new direction begins the wait anew; no drive is enough before twenty steady seconds")
  func newDirection() {
    var ending = DriveEnding(goodScore: 80)
    func isOver(_ eighths: Int, steady: Double, age: Double, isDone: Bool = false) -> Bool {
      ending.isReached(
        eighths: eighths, steady: steady, age: age, score: 90, isAccepted: true, isDone: isDone)
    }
    #expect(!isOver(8, steady: 20, age: 25, isDone: true))
    #expect(isOver(8, steady: 20.5, age: 26, isDone: true))
    ending = DriveEnding(goodScore: 80)
    #expect(!isOver(3, steady: 55, age: 60) && !isOver(4, steady: 110, age: 130))
    #expect(!isOver(4, steady: 165, age: 190) && isOver(4, steady: 171, age: 200))
  }

  @Test("a rest begins with the chip's first sample, is said each second, and lasts a bit longer")
  func rest() {
    var rest = RestProgress(seconds: 3, from: Self.time(0))
    func step(_ seconds: Double) -> RestProgress.RestStep { rest.step(to: Self.time(seconds)) }
    #expect(step(5) == .listening)
    rest.heard(at: Self.time(5.5))
    rest.heard(at: Self.time(5.6))
    #expect(step(6.25) == .listening && step(6.5) == .held(seconds: 1))
    #expect(step(6.75) == .listening && step(7.75) == .held(seconds: 2))
    // The third second is the last: the result says it.
    #expect(step(8.5) == .listening && step(8.75) == .listening && step(8.85) == .done)
  }

  @Test("a chip that says nothing for six seconds ends the rest")
  func silence() {
    var rest = RestProgress(seconds: 3, from: Self.time(0))
    let patient = rest.step(to: Self.time(6))
    let silent = rest.step(to: Self.time(6.1))
    #expect(patient == .listening && silent == .silent)
  }
}
