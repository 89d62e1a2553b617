import CalibrationCore
import LinearAlgebra
import SensorTypes
import Testing

@Suite("The guide to the mount detective")
struct MountGuideTests {
  /// Runs a handling through a guide that looks five times a second; `onStep` hears of each new step.
  private func run(
    _ board: HandledBoard, _ way: Handling, _ random: inout HandlingRandom, seconds: Double = 60,
    onStep: (MountStep, Double) -> Void = { _, _ in }
  ) -> MountGuide {
    var guide = MountGuide(
      MountDetector(
        chips: [.field, board.hasGyro ? [.force, .turning] : .force], downwardField: 43.9),
      seconds: seconds)
    var next: Timestamp?
    var first: Timestamp?
    board.live(way, &random) { reading, chip, time in
      guide.take(reading, of: chip, at: time)
      guard time >= next ?? time else { return }
      next = time.advanced(bySeconds: 0.2)
      first = first ?? time
      let before = guide.step
      guide.update(at: time)
      if guide.step != before { onStep(guide.step, time.seconds(since: first ?? time)) }
    }
    return guide
  }

  /// A hand that does what it is asked for, a few seconds late.
  private func obedient(_ random: inout HandlingRandom) -> Handling {
    var way = Handling()
    way.move(5)
    way.move(2, pitch: 45)
    way.move(4, heading: 3)
    way.move(2, pitch: 2, roll: 43)
    way.move(4, heading: -3)
    way.move(2, roll: -2)
    way.move(1)
    way.move(6, heading: 270)
    way.move(3)
    way.tumble(until: 75, &random)
    return way
  }

  @Test(
    "a hand that does as it is asked ends within a minute with both mounts, with and without a gyro"
  )
  func obedientHand() {
    for (number, placement) in Mount.everyPlacement.enumerated() where number % 5 == 0 {
      for hasGyro in [true, false] {
        var random = HandlingRandom(UInt64(number) + 40)
        let other = Mount.everyPlacement[(number * 29 + 7) % 48]
        let board = HandledBoard(magnetometer: placement, inertial: other, hasGyro: hasGyro)
        let way = obedient(&random)
        var steps: [MountStep] = []
        let guide = run(board, way, &random) { step, _ in steps.append(step) }
        #expect(steps == [.noseUp, .rightSideDown, .clockwise, .free, .done])
        // Without a gyro the field has shown the turn.
        #expect(guide.seen == MountDetector.Gesture.allCases && guide.unchecked.isEmpty)
        #expect(guide.findings.map(\.mount) == [placement, other], "\(guide.findings)")
      }
    }
  }

  @Test("a hand that does something else ends in time, with an honest answer")
  func disobedientHand() {
    for seed in 0..<UInt64(10 * MountTrials.effort) {
      var random = HandlingRandom(seed + Seeds.shift)
      let board = HandledBoard()
      var way = Handling()
      way.move(2)
      way.tumble(until: 130, &random)
      var ended = 0.0
      let guide = run(board, way, &random, seconds: 120) { _, time in ended = time }
      #expect(guide.step == .done && ended < 121)
      #expect(
        guide.findings.allSatisfy { $0.mount == nil || $0.mount == .aligned },
        "\(seed) \(guide.seen)")
      #expect(guide.findings.first?.mount(ifReferenceIs: .aligned) == .aligned)
    }
  }

  @Test("the nose lifted once more is not taken for the right side")
  func sameTilt() {
    var random = HandlingRandom(8)
    var way = Handling()
    way.move(5)
    way.move(2, pitch: 45)
    way.move(12)
    let guide = run(HandledBoard(), way, &random)
    #expect(guide.step == .rightSideDown && guide.seen == [.level, .noseUp])
    #expect(guide.hint?.contains("same way") == true)
  }

  @Test("a turn is missed where there was none, with a gyro and without", arguments: [true, false])
  func noTurn(hasGyro: Bool) {
    for (turn, isSeen) in [(0.0, false), (60, false), (120, false), (-200, true), (200, true)] {
      var random = HandlingRandom(10)
      var way = Handling()
      way.move(5)
      way.move(2, pitch: 45)
      way.move(4)
      way.move(2, pitch: 0, roll: 45)
      way.move(4)
      way.move(2, roll: 0)
      way.move(1)
      way.move(5, heading: turn)
      way.move(30)
      let guide = run(HandledBoard(hasGyro: hasGyro), way, &random, seconds: 50)
      // The wrong way round is a turn as well: what it shows is judged with the rest.
      #expect(guide.seen.contains(.clockwise) == isSeen, "\(turn) \(guide.seen)")
      #expect(guide.unchecked.isEmpty)
    }
  }

  @Test("time that is up ends it in any step")
  func timeIsUp() {
    var random = HandlingRandom(9)
    var way = Handling()
    way.move(30)
    let guide = run(HandledBoard(), way, &random, seconds: 6)
    #expect(guide.step == .done && guide.findings.count == 2)
    #expect(guide.findings.allSatisfy { $0.mount == nil && $0.refusal != nil })
  }

  @Test("what is said fits a terminal")
  func words() {
    for step in MountStep.allCases { #expect(step.words.count <= 68) }
  }
}
