// The coach with a virtual hand that does as the words say, in virtual time.

import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@Suite("The coach of the guided calibration")
struct CalibrationCoachTests {
  struct Row {
    var seed: Int
    var seconds: Double
    var error: Double
    var score: Int
    var coverage: Double
    var end: CoachEnd?
    var falseAlarms = 0
  }

  /// A run with everything drawn from the seed: iron, mount, gyro or none, and whether the place is known.
  static func run(_ seed: Int, interval: Double = 3) -> Row {
    var board = CoachedBoard(seed: seed)
    let mounts = Mount.everyPlacement.filter { !$0.isMirrored }
    board.mount = mounts[seed % mounts.count]
    board.hasGyro = seed % 4 != 3
    let up = board.mount.matrix.transposed * Vector3(0, 0, 1)
    var expected = CalibrationField(up: up)
    if seed % 2 == 0 {
      expected = CalibrationField(strength: board.unit.strength, dip: board.unit.dip, up: up)
    }
    var coach = CalibrationCoach(mount: board.mount, expected: expected)
    coach.params.refitInterval = interval
    var falseAlarms = 0
    board.run(&coach, seed: seed) { coach, _ in if coach.warning == .magnet { falseAlarms += 1 } }
    return Row(
      seed: seed, seconds: coach.age, error: board.headingError(coach), score: coach.score,
      coverage: coach.coverage, end: coach.end, falseAlarms: falseAlarms)
  }

  /// What goes through whole calibrations takes an optimised build, or patience.
  static var isOptimised: ConditionTrait {
    .enabled(if: SyntheticUnitsTests.isLong, "skipped: not optimised, and LODESTONE_LONG is not 1")
  }

  /// Two hundred where time does not matter.
  static var seeds: ClosedRange<Int> {
    Seeds.units(ProcessInfo.processInfo.environment["LODESTONE_LONG"] == "1" ? 200 : 50)
  }

  @Test("hands that follow the words get their boards calibrated to a degree", Self.isOptimised)
  func obedientHands() async {
    let rows = await withTaskGroup(of: Row.self) { group in
      for seed in Self.seeds { group.addTask { Self.run(seed) } }
      return await group.reduce(into: [Row]()) { $0.append($1) }
    }.sorted { $0.seed < $1.seed }
    for row in rows {
      #expect(row.end == .good, "seed \(row.seed): \(row)")
      #expect(row.error <= 1, "seed \(row.seed): \(row)")
    }
    // Where wrong samples meet, a magnet may be suspected for two seconds: in one run of a hundred at most.
    #expect(rows.filter { $0.falseAlarms > 0 }.count <= rows.count / 100)
    #expect(rows.allSatisfy { $0.falseAlarms <= 11 })
    let times = rows.map(\.seconds).sorted()
    let errors = rows.map(\.error).sorted()
    print(
      "coach: \(rows.filter { $0.end == .good }.count) of \(rows.count) good,",
      "seconds median \(times[times.count / 2]) most \(times[times.count - 1]),",
      "error median \(errors[errors.count / 2]) 95 % \(errors[errors.count * 95 / 100])",
      "most \(errors[errors.count - 1]), a magnet suspected in",
      rows.filter { $0.falseAlarms > 0 }.map { ($0.seed, $0.falseAlarms) })
    #expect(times[times.count / 2] < 120)
  }

  private func coached(
    _ seed: Int, hasForce: Bool = true, seconds: Double = 240, interval: Double = 3
  ) -> (board: CoachedBoard, coach: CalibrationCoach) {
    let board = CoachedBoard(seed: seed, hasForce: hasForce)
    var params = CoachParameters()
    (params.seconds, params.refitInterval) = (seconds, interval)
    return (board, CalibrationCoach(params: params))
  }

  @Test(
    "what is asked for stays for some seconds, and every pose is understood and told apart",
    Self.isOptimised)
  func keepsItsMind() {
    var (board, coach) = coached(11)
    var (asked, since) = (coach.pose, 0.0)
    var stays: [Double] = []
    board.run(&coach, seed: 11) { coach, time in
      guard coach.pose != asked else { return }
      stays.append(time - since)
      (asked, since) = (coach.pose, time)
    }
    #expect(stays.count >= 3)
    #expect(stays.allSatisfy { $0 >= 4.9 && $0 <= 31 }, "\(stays)")
    let understood = CoachPose.allCases.compactMap { pose -> Vector3? in
      guard let way = VirtualHand.understand(pose.words) else { return nil }
      #expect(abs(way.pitch * .pi / 180 - pose.pitch) < 0.1, "\(pose.words)")
      return Vector3(way.pitch, way.roll, 0)
    }
    #expect(Set(understood).count == 18)
    #expect(CoachPose.allCases.allSatisfy { $0.words.count <= 40 })
  }

  @Test(
    "a board that lies still fills one cell and no more, has no figures, and is refused when time is up",
    Self.isOptimised)
  func still() {
    var (board, coach) = coached(12, seconds: 120, interval: 5)
    var sawStill = false
    var poses: Set<CoachPose> = []
    board.run(&coach, seed: 12, listens: false) { coach, _ in
      if coach.warning == .tooStill { sawStill = true }
      poses.insert(coach.pose)
      #expect(coach.score == 0 && coach.headingError == nil && coach.strength == nil)
    }
    // What nobody does is not done because time goes by.
    #expect(poses == [.flat])
    #expect(coach.end == .timeUp)
    #expect(abs(coach.age - 120) < 0.3)
    #expect(sawStill)
    #expect(!coach.outcome.isAccepted)
    #expect(coach.missing?.isEmpty == false)
    #expect(coach.samples.count <= 5 * 60)
  }

  @Test("what it keeps is bounded, however long it takes", Self.isOptimised)
  func bounded() {
    var (board, coach) = coached(13, seconds: 600, interval: 20)
    // Never good enough: it goes on to the end.
    coach.params.goodScore = 101
    board.run(&coach, seed: 13, limit: 700)
    #expect(coach.samples.count <= 101 * 2 * 60)
    #expect(coach.end == .nothingMore || coach.end == .timeUp)
    let times = coach.samples.map(\.time)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test(
    "a magnet that comes near is told within two seconds, and does not spoil the result",
    Self.isOptimised)
  func magnet() {
    for seed in 21...22 {
      var (board, coach) = coached(seed, interval: 1)
      board.disturbance = { (35.0..<42.0).contains($0) ? Vector3(60, 40, -50) : .zero }
      var told: Double?
      var falsely = 0
      board.run(&coach, seed: seed) { coach, time in
        if coach.warning == .magnet {
          if time >= 35, time < 45 { told = told ?? time } else { falsely += 1 }
        }
      }
      #expect((told ?? 99) < 37, "seed \(seed)")
      #expect(falsely == 0, "seed \(seed)")
      #expect(coach.end == .good, "seed \(seed)")
      #expect(board.headingError(coach) <= 1, "seed \(seed)")
    }
  }

  // Two good fits end the calibration. Here a magnet comes near just before the second one.
  @Test("it does not end as good while it warns of a magnet, and does once the magnet is gone")
  func magnetAtTheEnd() throws {
    let unit = MagnetometerFitterTests.unit(seed: 7)
    var coach = CalibrationCoach()
    // The first update makes a fit. From then on only a change of the expected dip does.
    (coach.params.refitInterval, coach.params.goodScore) = (1e6, 101)
    for (index, sample) in unit.samples.enumerated() {
      coach.take(sample)
      if index >= 149, index % 2 == 1 { coach.update(at: sample.time) }
    }
    // Ten samples a second of a board that turns evenly in a plane, and what a magnet adds to them.
    func turn(from start: Double, samples: Int, magnet: Vector3 = .zero) {
      for step in 0..<samples {
        let time = start + 0.1 * Double(step)
        let field = unit.raw(unit.strength * Vector3(cos(time), sin(time), 0))
        coach.take(CalibrationSample(time: Timestamp(seconds: time), field: field + magnet))
      }
    }
    turn(from: 60, samples: 20)
    (coach.params.goodScore, coach.params.goodCoverage) = (60, 0.5)
    coach.expected.dip = 1.1
    coach.update(at: Timestamp(seconds: 62))
    try #require(coach.outcome.isAccepted && coach.score >= 60 && coach.coverage >= 0.5)
    #expect(coach.end == nil)
    turn(from: 62, samples: 10)
    coach.update(at: Timestamp(seconds: 63))
    #expect(coach.end == nil && coach.warning != .magnet)
    turn(from: 63, samples: 5, magnet: Vector3(300, 0, 0))
    coach.expected.dip = 1.12
    coach.update(at: Timestamp(seconds: 63.5))
    #expect(coach.warning == .magnet && coach.end == nil)
    // No fit is due any more: the second one counts once the magnet is gone.
    turn(from: 64, samples: 50)
    coach.update(at: Timestamp(seconds: 69))
    #expect(coach.warning != .magnet && coach.end == .good)
  }

  @Test("a magnetometer that falls silent is told, and heard again", Self.isOptimised)
  func silence() {
    var (board, coach) = coached(14)
    board.isHeard = { !(20.0..<26.0).contains($0) }
    var told: [Double] = []
    board.run(&coach, seed: 14) { coach, time in
      if coach.warning == .noField { told.append(time) }
    }
    #expect(told.first.map { (21.9..<22.5).contains($0) } == true)
    #expect(told.last.map { $0 < 26.3 } == true)
    #expect(coach.end == .good)
    #expect(board.headingError(coach) <= 1)
  }

  @Test("an accelerometer that falls silent is told")
  func forceIsSilent() {
    var other = CalibrationCoach()
    other.params.refitInterval = 4
    for k in 0..<600 {
      let time = Timestamp(seconds: 1 + Double(k) * 0.02)
      other.take(
        CalibrationSample(
          time: time, field: Vector3(20, Double(k % 7), -40),
          force: k < 200 ? Vector3(0, 0, 9.8) : nil))
      other.update(at: time)
    }
    #expect(other.warning == .noForce)
  }

  @Test("a board that is spun is asked to slow down")
  func tooFast() {
    var (board, coach) = coached(15, seconds: 30)
    board.hand.haste = 400
    var isTold = false
    board.run(&coach, seed: 15) { coach, _ in if coach.warning == .tooFast { isTold = true } }
    #expect(isTold)
  }

  @Test("without an accelerometer it goes through its list, and gets there", Self.isOptimised)
  func alone() {
    for seed in 31...34 {
      var (board, coach) = coached(seed, hasForce: false)
      var asked: [CoachPose] = []
      board.run(&coach, seed: seed) { coach, _ in
        if asked.last != coach.pose { asked.append(coach.pose) }
      }
      #expect(asked == Array(CoachPose.allCases.prefix(asked.count)))
      #expect(coach.end == .good, "seed \(seed)")
      #expect(board.headingError(coach) <= 2, "seed \(seed)")
    }
  }

  @Test("starting over forgets all, and goes on to the end", Self.isOptimised)
  func startsOver() {
    var (board, coach) = coached(16)
    var isDone = false
    board.run(&coach, seed: 16) { coach, time in
      guard time > 30, !isDone else { return }
      isDone = true
      #expect(coach.samples.count > 100)
      coach.startOver(at: Timestamp(seconds: 100 + time))
      #expect(coach.samples.isEmpty)
      #expect(coach.coverage == 0)
      #expect(coach.pose == .flat)
    }
    #expect(coach.end == .good)
    #expect(board.headingError(coach) <= 1)
  }

  @Test("nothing that comes makes it fall")
  func hostile() {
    var coach = CalibrationCoach(
      expected: CalibrationField(strength: .nan, dip: .infinity, up: .zero))
    coach.params.refitInterval = 10
    let bad: [Double] = [.nan, .infinity, -.infinity, 0, 1e308, -1e308, 1e-308, 49]
    var k = 0
    for x in bad {
      for y in bad {
        for z in bad {
          k += 1
          let v = Vector3(x, y, z)
          // Times that jump, backwards too.
          let time = Timestamp(seconds: Double((k * 37) % 101))
          coach.take(CalibrationSample(time: time, field: v, force: v, angularRate: v))
          if k % 5 == 0 { coach.update(at: time) }
          #expect(!coach.coverage.isNaN)
        }
      }
    }
    coach.update(at: .distantFuture)
    #expect(coach.end != nil)
  }

  @Test("how far the calibration before was off is told by the new one", Self.isOptimised)
  func difference() throws {
    var (board, coach) = coached(17)
    board.run(&coach, seed: 17)
    let fit = try #require(coach.outcome.fit)
    #expect(
      headingDifference(fit.applied, fit.applied, of: coach.samples, expected: coach.expected) == 0)
    var off = fit.applied
    let strength = fit.fieldStrength * cos(65 * Double.pi / 180)
    // A tenth of the horizontal part to the side: 5.7 degrees where it lies across, over the square root of 2.
    off.offset += fit.applied.matrix.inverse.map { $0 * Vector3(0.1 * strength, 0, 0) } ?? .zero
    let level = (0..<36).map { step -> CalibrationSample in
      let angle = Double(step) * .pi / 18
      let field = Vector3(-sin(angle) * strength, cos(angle) * strength, -40)
      let raw = (fit.applied.matrix.inverse ?? .identity) * field + fit.applied.offset
      return CalibrationSample(
        time: Timestamp(seconds: Double(step)), field: raw, force: Vector3(0, 0, 9.8))
    }
    let found = try #require(
      headingDifference(off, fit.applied, of: level, expected: coach.expected))
    #expect(abs(found - 5.73 / 2.0.squareRoot()) < 0.05)
    let bare = level.map { CalibrationSample(time: $0.time, field: $0.field) }
    let alone = try #require(
      headingDifference(off, fit.applied, of: bare, expected: CalibrationField()))
    #expect((2..<8).contains(alone))
    #expect(headingDifference(off, fit.applied, of: [], expected: CalibrationField()) == nil)
  }
}
