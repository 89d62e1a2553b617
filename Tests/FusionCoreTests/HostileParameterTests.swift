// Parameters that no estimator can work with: the default stands in for them, and nothing traps.

import LinearAlgebra
import SensorTypes
import Testing

@_spi(Tuning) @testable import FusionCore

@Suite struct HostileParameterTests {
  /// Changes every number in turn, and requires that what comes of it is in its range.
  private func checkEach<Root: Equatable>(
    _ numbers: [ParameterNumber<Root>], _ usual: Root, _ value: Double, sound: (Root) -> Root
  ) {
    #expect(sound(usual) == usual)
    for number in numbers {
      var changed = usual
      number.set(value, in: &changed)
      let mended = sound(changed)
      #expect(number.range.contains(number.value(in: mended)), "\(number.name)")
      if !number.range.contains(value) { #expect(mended == usual, "\(number.name)") }
    }
  }

  @Test(
    "every number out of its range counts as its default",
    arguments: [-1e9, -1, 0, .nan, .infinity, 1e300])
  func mending(value: Double) {
    checkEach(AttitudeParameters.numbers, AttitudeParameters(), value) { $0.sound }
    checkEach(VerticalFramesParameters.numbers, VerticalFramesParameters(), value) { $0.sound }
    checkEach(RelativeAltitudeParameters.numbers, RelativeAltitudeParameters(), value) { $0.sound }
    checkEach(AbsoluteAltitudeParameters.numbers, AbsoluteAltitudeParameters(), value) { $0.sound }
    checkEach(PositionParameters.numbers, PositionParameters(), value) { $0.sound }
    checkEach(SeaStateParameters.numbers, SeaStateParameters(), value) { $0.sound }
    checkEach(HeaveParameters.numbers, HeaveParameters(), value) { $0.sound }
  }

  @Test("values that only make sense together count as their defaults together")
  func relations() {
    var attitude = AttitudeParameters()
    attitude.smoother.whole = attitude.smoother.reach
    #expect(attitude.sound == AttitudeParameters())
    var position = PositionParameters()
    position.trials.ages[3] = position.trials.ages[2]
    position.trials.speeds[0] = .nan
    #expect(position.sound == PositionParameters())
  }

  @Test("windows and counts out of their ranges do not trap", arguments: [Int.min, -1, 0, Int.max])
  func counts(value: Int) {
    var params = AttitudeParameters()
    (params.smoother.window, params.smoother.overlap) = (value, value)
    params.course.contradictions = value
    var estimator = AttitudeEstimator(params, keepsHistory: true)
    SimulatedBoard().run(.still(heading: 2), seconds: 3, seed: 63, &estimator) { _, _, _ in }
    #expect(estimator.headingOrNil(at: 3) != nil)
    var position = PositionParameters()
    position.trials.most = value
    var outage = PositionEstimator(position)
    for second in 0..<30 {
      let time = Timestamp(seconds: 10 + Double(second))
      var fix = GNSSFix(received: time, mode: .twoDimensional)
      (fix.latitude, fix.longitude) = (47 + 0.0001 * Double(second), 8)
      (fix.horizontalAccuracy, fix.speed, fix.course) = (5, 11.1, 0)
      outage.update(fix, at: time)
    }
    #expect(outage.estimate(at: Timestamp(seconds: 41)) != nil)
  }
}
