// What the field says of a wrong heading, and what it says of none.

import LinearAlgebra
import SensorTypes
import Testing

@_spi(Tuning) @testable import FusionCore

@Suite struct FieldContradictionTests {
  private let params = ContradictionParameters()

  /// Feeds blocks of a tenth of a second; gives the moments at which heading was doubted, and by what.
  private func run(
    _ test: inout FieldContradiction, seconds: Double, azimuth: Double, isRight: Bool,
    heading: Double = 0, isAtRest: Bool = false
  ) -> [(after: Double, azimuth: Double)] {
    (1...Int(seconds * 10)).compactMap { step in
      test.update(
        azimuth: azimuth, variance: 0.0001, heading: heading, isRight: isRight, isAtRest: isAtRest,
        0.1,
        params
      ).map { (Double(step) / 10, $0) }
    }
  }

  @Test("a right field that points elsewhere doubts heading once it has done so for long enough")
  func fires() throws {
    var test = FieldContradiction()
    let doubts = run(&test, seconds: 20, azimuth: 10 * degree, isRight: true)
    let first = try #require(doubts.first)
    // The low pass reaches 3 of 10 degrees after 1.1 s.
    #expect(abs(first.after - (1.1 + params.least)) < 0.4)
    #expect(abs(first.azimuth - 10 * degree) < 0.7 * degree)
    #expect(doubts.count == 2, "it begins anew")
    #expect(abs(test.surplus - (first.azimuth * first.azimuth - 0.0001)) < 0.003)
  }

  @Test("at rest the contradiction shows in the accuracy, and the heading is left alone")
  func held() {
    var test = FieldContradiction()
    #expect(run(&test, seconds: 60, azimuth: 10 * degree, isRight: true, isAtRest: true).isEmpty)
    let square = 10 * degree * (10 * degree)
    #expect(abs(test.surplus - square) < 0.001)
  }

  @Test("a heading that is known to be as wrong as that is not doubted")
  func known() {
    var test = FieldContradiction()
    let wide = 12 * degree
    #expect(
      run(&test, seconds: 60, azimuth: 10 * degree, isRight: true, heading: wide * wide).isEmpty)
    // Nor does it wait for a minute with a doubt that was long due.
    _ = run(&test, seconds: 30, azimuth: 10 * degree, isRight: false)
    #expect(run(&test, seconds: 7, azimuth: 10 * degree, isRight: true).isEmpty)
  }

  @Test("a magnet that passes leaves nothing behind")
  func magnet() {
    var test = FieldContradiction()
    #expect(run(&test, seconds: 5, azimuth: 5, isRight: false).isEmpty)
    #expect(test.surplus == 0)
    #expect(run(&test, seconds: 30, azimuth: 0.01, isRight: true).isEmpty)
    #expect(test.surplus < 0.0001)
  }

  @Test("a field that is right now and then takes longer")
  func interrupted() {
    var test = FieldContradiction()
    var doubts = 0
    for _ in 0..<4 {
      doubts += run(&test, seconds: 3, azimuth: 10 * degree, isRight: true).count
      doubts += run(&test, seconds: 3, azimuth: 10 * degree, isRight: false).count
    }
    #expect(doubts == 0)
  }
}

@Suite struct HeadingDoubtTests {
  private let level = HeadingSlopes(
    rotation: .identity, field: Vector3(0, 20, -40), HeadingAccuracyParameters())

  @Test("each part of the bar by hand")
  func parts() {
    let p = HeadingAccuracyParameters()
    func variance(_ doubt: HeadingDoubt, whole: Double = 0) -> HeadingVariance {
      doubt.variance(whole: whole, slopes: level, p)
    }
    func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) < 1e-12 }
    var doubt = HeadingDoubt()
    #expect(variance(doubt, whole: 0.01) == HeadingVariance(gyro: 1.96 * 0.01))
    doubt.anomaly = 0.004
    // Half of that is the anomaly's, and counts 0.45 times in an even field.
    var parts = variance(doubt, whole: 0.01)
    #expect(isNear(parts.iron, 0.45 * 0.002) && isNear(parts.gyro, 1.96 * 0.008))
    doubt.unevenness = 4
    parts = variance(doubt, whole: 0.001)
    #expect(isNear(parts.iron, 1.85 * 0.001) && parts.gyro == 0)
    parts = variance(doubt, whole: 0.01)
    #expect(isNear(parts.iron, 1.85 * 0.002) && isNear(parts.gyro, 1.96 * 0.008))
    // Beyond 1.96 times, what a block's error lasts for, it is the field's unevenness again that widens the bar.
    doubt.unevenness = 20
    parts = variance(doubt, whole: 0.01)
    #expect(isNear(parts.iron, 7.45 * 0.002 + (7.45 - 1.96) * 0.008))
    #expect(isNear(parts.gyro, 1.96 * 0.008))
    doubt = HeadingDoubt()
    doubt.north = 2
    #expect(isNear(variance(doubt).iron, 1.6 * 0.01))
    doubt = HeadingDoubt()
    doubt.azimuth = 0.02
    #expect(variance(doubt) == HeadingVariance(iron: 0.01))
    // A tilt about north of 0.1 rad, in a field twice as steep as it is long.
    doubt = HeadingDoubt()
    doubt.pull = 0.1
    #expect(isNear(variance(doubt).acceleration, 1.4 * 0.1 * 0.1 * 4))
  }

  @Test("the largest part is the limit, and the bar is of all")
  func limit() {
    var variance = HeadingVariance(
      mounting: 1e-4, calibration: 2e-4, iron: 3e-4, acceleration: 4e-4, gyro: 5e-4, motion: 6e-4,
      elevation: 7e-4)
    #expect(abs(variance.halfWidth() - 1.96 * 28e-4.squareRoot()) < 1e-12)
    #expect(abs(variance.halfWidth(heldBack: -0.1) - 0.1 - variance.halfWidth()) < 1e-12)
    #expect(abs((variance * 4).halfWidth() - 2 * variance.halfWidth()) < 1e-12)
    // A change of calibration that is blended in counts like the rest: 1.96 sigma.
    #expect(variance.limit(heldBack: -1.95 * 7e-4.squareRoot()) == .elevation)
    #expect(variance.limit(heldBack: -1.97 * 7e-4.squareRoot()) == .calibration)
    for (part, limit) in [
      (\HeadingVariance.elevation, HeadingLimit.elevation), (\.motion, .motion), (\.gyro, .gyro),
      (\.acceleration, .acceleration), (\.iron, .iron), (\.calibration, .calibration),
      (\.mounting, .mounting),
    ] {
      #expect(variance.limit() == limit)
      variance[keyPath: part] = 0
    }
    #expect(HeadingVariance(gyro: .infinity).halfWidth() == .pi)
    var moved = HeadingVariance(gyro: 1)
    moved.moveToElevation(0.75)
    #expect(moved == HeadingVariance(gyro: 0.25, elevation: 0.75))
    #expect(Set(HeadingLimit.allCases.map(\.description)).count == 9)
  }
}

@Suite struct FieldGatheringTests {
  @Test("samples are judged together once they span long enough, and the first at once")
  func means() throws {
    var gathering = FieldGathering()
    let first = gathering.add(Vector3(1, 2, 3), length: 4, earth: nil, 0, least: 0.04)
    #expect(first?.body == Vector3(1, 2, 3) && first?.length == 4 && first?.duration == 0)
    for value in [1.0, 2, 3] {
      let field = Vector3(value, 0, 0)
      #expect(gathering.add(field, length: value, earth: field, 0.01, least: 0.04) == nil)
    }
    let last = gathering.add(
      Vector3(6, 0, 0), length: 6, earth: Vector3(6, 0, 0), 0.01, least: 0.04)
    let mean = try #require(last)
    #expect(mean.body == Vector3(3, 0, 0) && mean.length == 3 && mean.earth == Vector3(3, 0, 0))
    #expect(abs(mean.duration - 0.04) < 1e-12)
    // One sample whose attitude is unknown: the mean's is.
    _ = gathering.add(Vector3(1, 0, 0), length: 1, earth: nil, 0.03, least: 0.04)
    let other = gathering.add(Vector3(1, 0, 0), length: 1, earth: .zero, 0.03, least: 0.04)
    #expect(other?.earth == nil && other?.length == 1)
  }

  @Test("after another record samples of before have no part in the mean")
  func anotherRecord() {
    var estimator = AttitudeEstimator()
    let quality = SimulatedBoard().quality
    func feed(_ field: Vector3, from start: Double, seconds: Double, _ quality: MagnetometerQuality)
    {
      for step in 0..<Int(seconds * 80) {
        let time = Timestamp(seconds: 100 + start + Double(step) / 80)
        estimator.update(angularRate: .zero, at: time)
        estimator.update(acceleration: Vector3(0, 0, 9.81), at: time)
        estimator.update(magneticField: field, at: time, quality: quality)
      }
    }
    // Not a whole number of means of four samples.
    feed(Vector3(60, 20, -40), from: 0, seconds: 5.025, quality)
    let better = MagnetometerQuality(
      isCalibrated: true, offsetCovariance: quality.offsetCovariance, residual: 0.2,
      strength: quality.strength)
    estimator.calibrationDidChange(shift: Vector3(-60, 0, 0), quality: better)
    feed(Vector3(0, 20, -40), from: 5.025, seconds: 0.0625, better)
    let strength = estimator.storage.state.monitor.strength
    #expect(strength.map { abs($0 - 44.7) < 0.1 } ?? false)
  }
}
