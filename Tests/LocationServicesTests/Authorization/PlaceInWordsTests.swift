// Reasons and prompts: the field that is expected at a place tells roughly where that is.

import LinearAlgebra
import SensorTypes
import Testing

@testable import LocationServices

/// What a program hears of iron beside the board, with and without the right to know where that is.
struct PlaceInWordsTests {
  private static let reason = NoData.magneticInterference(
    "field 93 uT: iron nearby", compared: "field 93 uT, expected 49 +- 7: iron nearby")

  /// A board on which iron stays, and what a client of everything hears.
  private func words(isDenied: Bool) -> [EventContent] {
    var bench = EngineBench()
    let decision = AuthorizationDecision(isDenied ? .denied : .always)
    bench.engine.authorize(.decided(decision, UsageDescriptions())) { _ in }
    bench.ask(.register)
    var settings = ClientSettings()
    settings.answersQuestions = true
    settings.motion.frame = .magneticNorth
    bench.ask(.configure(settings))
    for service in [Service.heading, .deviceMotion] { bench.ask(.start(service)) }
    for tenth in 0...400 {
      let time = Timestamp(seconds: Double(tenth) / 10)
      bench.now = time
      var estimate = HeadingEstimate(
        time: time, magneticHeading: 1, accuracy: nil, trueHeading: nil, reason: Self.reason,
        field: Vector3(1, 60, -70), attitude: .identity)
      estimate.fieldCheck = FieldCheck(
        measured: FieldShape(strength: 93, dip: 0.9),
        expected: FieldShape(strength: 49, dip: 1.169), origin: .model, isDisturbed: true,
        calibration: 1)
      bench.say(.heading(estimate))
      var attitude = MotionAttitude(angularRate: .zero, free: .identity, steadied: .identity)
      attitude.northReason = Self.reason
      bench.say(
        .motion(
          MotionEstimate(
            time: time, force: Sample(time: time, value: Vector3(0, 0, 9.8)), attitude: attitude)))
    }
    return bench.heard()
  }

  @Test("a program that may not know the place hears of iron in words that do not tell it")
  func denied() {
    let (denied, allowed) = (words(isDenied: true), words(isDenied: false))
    func tells(_ events: [EventContent]) -> [String] {
      events.map { "\($0)" }.filter { $0.contains("49") || $0.contains("1.169") }
    }
    #expect(tells(denied).isEmpty)
    // The same words tell it to a program that may know.
    #expect(tells(allowed).contains { $0.contains("expected 49 +- 7") })
    #expect(tells(allowed).contains { $0.contains("1.169") })
    for kind in [EventKind.failure(.heading), .question] {
      #expect(denied.count { $0.kind == kind } == allowed.count { $0.kind == kind })
      #expect(denied.contains { $0.kind == kind })
    }
  }

  @Test("observations that pass the filter of a program without access do not tell it either")
  func filtered() {
    var filter = ObservationFilter(.withheld("the owner says so"))
    let time = Timestamp(seconds: 1)
    let estimate = HeadingEstimate(
      time: time, magneticHeading: 1, accuracy: nil, trueHeading: nil, reason: Self.reason,
      field: nil, attitude: .identity)
    var attitude = MotionAttitude(angularRate: .zero, free: .identity, steadied: .identity)
    attitude.northReason = Self.reason
    let observations: [Observation] = [
      .heading(estimate), .headingUnavailable(Self.reason, at: time),
      .motionUnavailable(.magnetometer, Self.reason, at: time),
      .motion(MotionEstimate(time: time, attitude: attitude)),
    ]
    for observation in observations {
      #expect("\(observation)".contains("expected 49"))
      let passed = filter.pass(observation)
      #expect(passed != nil && !String(describing: passed).contains("expected 49"))
    }
  }
}
