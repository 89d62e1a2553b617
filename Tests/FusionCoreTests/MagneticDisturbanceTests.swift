// Iron nearby: heading loses its accuracy, says why, and comes back by itself.

import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct MagneticDisturbanceTests {
  static let model = ReferenceField(strength: 49, dip: 67 * degree)

  struct Course {
    var lostAt: Double?
    var backAt: Double?
    var reason: NoData?
    var worstAfter = 0.0
    var worstDuring = 0.0
  }

  private func course(_ iron: Vector3, model: ReferenceField?, hasGyro: Bool = true) -> Course {
    var board = SimulatedBoard()
    board.hasGyro = hasGyro
    board.bias = Vector3(0.5, -0.3, 0.4) * degree
    board.disturbance = { $0 >= 10 && $0 < 20 ? iron : .zero }
    var estimator = AttitudeEstimator()
    estimator.expectedField = model
    var course = Course()
    let trajectory = Trajectory(heading: { 1 + 0.4 * Trajectory.ramp($0, 12, 16) })
    board.run(trajectory, seconds: 30, seed: 21, &estimator) { t, truth, estimator in
      guard t > 3, let estimate = estimator.headingOrNil(at: t) else { return }
      let error = abs(angleDifference(estimate.magneticHeading, trueHeading(truth))) / degree
      if let reason = estimate.reason {
        course.lostAt = course.lostAt ?? t
        course.reason = reason
      } else if course.lostAt != nil {
        course.backAt = course.backAt ?? t
      }
      if t > 10 && t < 20 { course.worstDuring = max(course.worstDuring, error) }
      if t > 25 { course.worstAfter = max(course.worstAfter, error) }
    }
    return course
  }

  @Test(arguments: [Vector3(22, 15, 0), Vector3(0, 0, -30), Vector3(-30, 0, 0)], [true, false])
  func ironIsNoticedWithinTwoSecondsAndForgottenWithinFive(iron: Vector3, hasModel: Bool) throws {
    let course = course(iron, model: hasModel ? Self.model : nil)
    let lost = try #require(course.lostAt)
    let back = try #require(course.backAt)
    #expect(lost > 10 && lost < 12)
    #expect(back > 20 && back < 25)
    #expect(course.worstAfter < 2)
    // The gyro carries the heading meanwhile.
    #expect(course.worstDuring < 4)
  }

  @Test func withoutAGyroItIsNoticedJustTheSame() throws {
    let course = course(Vector3(22, 15, 0), model: Self.model, hasGyro: false)
    let lost = try #require(course.lostAt)
    let back = try #require(course.backAt)
    #expect(lost > 10 && lost < 12)
    #expect(back > 20 && back < 25)
    #expect(course.worstAfter < 2)
  }

  @Test func theReasonNamesBothStrengths() {
    let course = course(Vector3(0, 0, -24), model: Self.model)
    // |(0, 19.1, -69.1)| = 71.7 uT; 6 uT and twice sqrt(0.5^2 + 0.2^2 + 0.04) = 1.15 are accepted.
    #expect(
      course.reason
        == .magneticInterference(
          "field 72 uT: iron nearby", compared: "field 72 uT, expected 49 +- 7: iron nearby"))
  }

  @Test func aFieldOfTheRightStrengthThatDipsWronglyIsNoticed() throws {
    // Turned by 20 deg about east: strength is the same.
    let wrong = Quaternion(rotationVector: Vector3(20 * degree, 0, 0)).rotate(earthField())
    let course = course(wrong - earthField(), model: Self.model)
    let lost = try #require(course.lostAt)
    #expect(lost > 10 && lost < 12)
    guard case .magneticInterference(let text, let compared) = course.reason else {
      Issue.record("no interference but \(String(describing: course.reason))")
      return
    }
    #expect(text.hasPrefix("field dips") && !text.contains("67"))
    #expect(compared?.hasPrefix("field dips") == true && compared?.contains("expected 67") == true)
  }

  /// Strength and dip are the same: only the gyro tells.
  @Test(arguments: [true, false])
  func aFieldThatTurnsWithoutTheBoardIsNoticedAndAfterLongIsNorth(hasModel: Bool) throws {
    let turned = Quaternion(rotationVector: Vector3(0, 0, -25 * degree)).rotate(earthField())
    let short = course(turned - earthField(), model: hasModel ? Self.model : nil)
    let lost = try #require(short.lostAt)
    let back = try #require(short.backAt)
    #expect(lost > 10 && lost < 12)
    #expect(back > 20 && back < 25)
    #expect(short.worstDuring < 4)
    #expect(short.worstAfter < 2)
    let said = "field turned by 25 deg and the board did not: iron nearby"
    #expect(short.reason == .magneticInterference(said))

    var board = SimulatedBoard()
    board.disturbance = { $0 < 10 ? .zero : turned - earthField() }
    var estimator = AttitudeEstimator()
    estimator.expectedField = hasModel ? Self.model : nil
    var doubted = 0.0...0.0
    board.run(.still(heading: 1), seconds: 45, seed: 25, &estimator) { t, _, estimator in
      guard t > 10, let estimate = estimator.headingOrNil(at: t), estimate.reason != nil
      else { return }
      doubted = (doubted.upperBound == 0 ? t : doubted.lowerBound)...t
    }
    print(
      "a field that turns without the board is doubted from \(doubted.lowerBound) to \(doubted.upperBound) s"
    )
    #expect(doubted.lowerBound < 12)
    #expect(doubted.upperBound > 30 && doubted.upperBound < 32)
    let late = try #require(estimator.headingOrNil(at: 45))
    #expect(abs(angleDifference(late.magneticHeading, 1 - 25 * degree)) < 1.5 * degree)
  }

  /// Strength and dip are the same, and there is no gyro: only the speed tells.
  @Test(arguments: [60.0, 120, -150], [true, false])
  func aFieldThatTurnsAtOnceIsNoticedWithoutAGyro(angle: Double, hasModel: Bool) throws {
    let turned = Quaternion(rotationVector: Vector3(0, 0, angle * degree)).rotate(earthField())
    let course = course(
      turned - earthField(), model: hasModel ? Self.model : nil, hasGyro: false)
    let lost = try #require(course.lostAt)
    let back = try #require(course.backAt)
    #expect(lost > 10 && lost < 10.2)
    #expect(back > 12 && back < 14)
    #expect(course.worstAfter < 2)
  }

  @Test func aNorthThatTheFieldPointsToIsNotSoughtAnewForIronThatShowsElsewhere() {
    var monitor = FieldMonitor()
    let constants = AttitudeConstants(AttitudeParameters())
    monitor.expect(Self.model)
    let tolerance = FieldMonitor.strengthTolerance(Self.model, residual: 0, constants)
    func run(_ excess: Double, _ seconds: Double) -> Bool {
      let field = earthField(strength: 49 + excess * tolerance)
      var hasTurned = false
      for _ in 0..<Int(seconds * 50) {
        monitor.update(
          strength: field.length, earth: field, 0.02, residual: 0, heading: 0.02, constants)
        if monitor.northHasTurned(constants) { hasTurned = true }
      }
      return hasTurned
    }
    #expect(!run(0, 3) && monitor.disturbance == nil)
    #expect(!run(1.3, 2) && monitor.disturbance == .strength)
    #expect(!run(0.9, 30) && monitor.disturbance == .strength)
    #expect(!run(0, 3) && monitor.disturbance == nil)
  }

  @Test func aNorthFoundBesideIronIsSoughtAnewOnceTheIronIsGone() throws {
    var board = SimulatedBoard()
    board.disturbance = { $0 < 6 ? Vector3(30, 10, 0) : .zero }
    var estimator = AttitudeEstimator()
    estimator.expectedField = Self.model
    var before: HeadingEstimate?
    board.run(.still(heading: 1), seconds: 12, seed: 22, &estimator) { t, _, estimator in
      if t < 5.9 { before = estimator.headingOrNil(at: t) }
    }
    let wrong = try #require(before)
    #expect(wrong.accuracy == nil)
    #expect(abs(angleDifference(wrong.magneticHeading, 1)) > 20 * degree)
    let right = try #require(estimator.headingOrNil(at: 12))
    #expect(right.accuracy != nil)
    #expect(abs(angleDifference(right.magneticHeading, 1)) < 1.5 * degree)
  }

  @Test func aFieldNoPlaceOnEarthHasIsNotTrustedWithoutAModelEither() throws {
    var board = SimulatedBoard()
    board.field = earthField(strength: 110)
    var estimator = AttitudeEstimator()
    board.run(.still(heading: 1), seconds: 3, seed: 23, &estimator) { _, _, _ in }
    let estimate = try #require(estimator.headingOrNil(at: 3))
    #expect(estimate.accuracy == nil)
    #expect(
      estimate.reason
        == .magneticInterference("field 110 uT, on earth it is 20 to 70: iron nearby"))
  }

  @Test func anotherPlaceIsAcceptedAfterTwentySecondsUnlessTheModelSaysOtherwise() {
    for hasModel in [false, true] {
      var board = SimulatedBoard()
      board.disturbance = { $0 < 5 ? .zero : Vector3(0, 3, -9) }
      var estimator = AttitudeEstimator()
      estimator.expectedField = hasModel ? Self.model : nil
      board.run(.still(heading: 1), seconds: 40, seed: 24, &estimator) { _, _, _ in }
      #expect(estimator.isMagneticallyDisturbed == hasModel)
    }
  }

  /// A magnet of 30 uT stuck to the board before it was switched on; it is turned about from 2 s on.
  private func stuckMagnet(seed: UInt64, model: ReferenceField?) -> ErrorStatistics {
    var noise = Noise(900 + seed)
    var board = SimulatedBoard()
    board.bias = noise.vector(0.4 * degree)
    board.offset = noise.vector(1)
    board.offset *= 30 / board.offset.length
    var estimator = AttitudeEstimator()
    estimator.expectedField = model
    let trajectory = Trajectory(
      heading: { 1 + 2 * sin(0.7 * max(0, $0 - 2)) }, pitch: { 0.8 * sin(0.9 * max(0, $0 - 2)) },
      roll: { 0.9 * sin(0.6 * max(0, $0 - 2)) })
    var result = ErrorStatistics()
    board.run(trajectory, seconds: 70, seed: seed, &estimator) { t, truth, estimator in
      guard t > 40, let estimate = estimator.headingOrNil(at: t) else { return }
      let error = angleDifference(estimate.magneticHeading, trueHeading(truth)) / degree
      result.add(error, halfWidth: estimate.accuracy.map { $0 / degree })
    }
    return result
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func aMagnetThatWasThereFromTheStartIsFoundByTurning(seed: UInt64) {
    let known = stuckMagnet(seed: seed, model: Self.model)
    let unknown = stuckMagnet(seed: seed, model: nil)
    print(
      "stuck magnet, seed \(seed): rms \(text(known.rms)) with a model, \(text(unknown.rms)) without;",
      "inside \(text(known.coverage)), \(text(unknown.coverage))")
    // After forty seconds of turning it is found, and heading is what it is without one.
    #expect(known.rms < 1 && unknown.rms < 1)
    #expect(known.coverage >= 0.95)
    #expect(unknown.coverage >= 0.95)
  }

  @Test func aRecordThatTakesUpAMagnetDoesNotTakeItTwice() throws {
    var board = SimulatedBoard()
    var estimator = AttitudeEstimator()
    estimator.expectedField = Self.model
    let trajectory = Trajectory(
      heading: { 1 + 2 * sin(0.7 * max(0, $0 - 2)) }, pitch: { 0.8 * sin(0.9 * max(0, $0 - 2)) },
      roll: { 0.9 * sin(0.6 * max(0, $0 - 2)) })
    board.run(trajectory, seconds: 10, seed: 70, &estimator) { _, _, _ in }
    let magnet = Vector3(14, -9, 20)
    board.offset = magnet
    board.run(trajectory, from: 10, seconds: 15, seed: 71, &estimator) { _, _, _ in }
    let found = estimator.state.filter.summary.iron
    #expect((found - magnet).length < 4)
    // The new record corrects the magnet away; from here on the samples are good.
    board.offset = .zero
    estimator.calibrationDidChange(shift: -magnet, quality: board.quality)
    var worst = 0.0
    board.run(trajectory, from: 25, seconds: 15, seed: 72, &estimator) { t, truth, estimator in
      guard let estimate = estimator.headingOrNil(at: t) else { return }
      worst = max(
        worst, abs(angleDifference(estimate.magneticHeading, trueHeading(truth))) / degree)
    }
    #expect(worst < 3)
    #expect(estimator.state.filter.summary.iron.length < 3)
  }

}
