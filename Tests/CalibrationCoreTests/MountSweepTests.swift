import CalibrationCore
import LinearAlgebra
import SensorTypes
import Testing

/// How many mounts were asked for, how many were answered with confidence, and how many of these wrongly.
private struct MountTally {
  private(set) var all = 0
  private(set) var sure = 0
  private(set) var wrong = 0

  /// Counts an answer, which is `nil` where it is a refusal.
  mutating func count(isRight: Bool?) {
    all += 1
    guard let isRight else { return }
    sure += 1
    wrong += isRight ? 0 : 1
  }
}

@Suite("Sweeps of the mount detective")
struct MountSweepTests {
  @Test("a seeded sweep of full minutes: found, and never wrong")
  func fullMinutes() {
    var tally = MountTally()
    for seed in 0..<UInt64(15 * MountTrials.effort) {
      var random = HandlingRandom(1000 + seed + Seeds.shift)
      let board = HandledBoard.drawn(&random, hasGyro: seed % 3 != 0)
      let way = Handling.minute(&random)
      let found = board.findings(way, &random)
      for (finding, truth) in zip(found, [board.magnetometer, board.inertial]) {
        tally.count(isRight: finding.mount.map { $0 == truth })
      }
    }
    print("full minutes: \(tally.all) chips, \(tally.sure) sure, \(tally.wrong) wrong")
    #expect(tally.wrong == 0)
    #expect(tally.sure >= tally.all * 95 / 100)
  }

  @Test("a seeded sweep of weak motions: never a confident wrong answer")
  func weakMotions() {
    var tallies: [String: MountTally] = [:]
    var worst = 0.0
    let motions = WeakMotion.allCases
    for seed in 0..<(MountTrials.effort == 1 ? 36 : 3000) {
      var random = HandlingRandom(50_000 + UInt64(seed) + Seeds.shift)
      let board = HandledBoard.drawn(&random, hasGyro: seed % 3 != 0)
      let motion = motions[seed / 3 % motions.count]
      let way = motion.handling(&random)
      let found = board.findings(way, &random)
      for (finding, truth) in zip(found, [board.magnetometer, board.inertial]) {
        let isRight = finding.mount.map { $0 == truth }
        let chip = finding.chip == 0 ? "field" : "force"
        tallies["\(motion) mount \(chip)", default: MountTally()].count(isRight: isRight)
        if isRight == false { print(seed, motion, board.hasGyro, truth.line, finding) }
        if isRight == nil {
          #expect(finding.refusal != nil)
          if let best = finding.best, best != truth { worst = max(worst, finding.margin) }
        }
        guard finding.chip == 0 else { continue }
        let relative = board.inertial.matrix.transposed * board.magnetometer.matrix
        let isRelativeRight = finding.relative.map { $0.matrix == relative }
        tallies["\(motion) relative", default: MountTally()].count(isRight: isRelativeRight)
        if isRelativeRight == false { print("relative", seed, motion, board.hasGyro, finding) }
      }
    }
    print("weak: greatest margin of a wrong best", worst)
    for (key, tally) in tallies.sorted(by: { $0.key < $1.key }) {
      print("weak \(key): \(tally.all), \(tally.sure) sure, \(tally.wrong) wrong")
    }
    #expect(tallies.values.reduce(0) { $0 + $1.wrong } == 0)
  }

  @Test("one gesture of four done the other way round is never a confident wrong answer")
  func slips() {
    var tally = MountTally()
    for seed in 0..<UInt64(12 * MountTrials.effort) {
      var random = HandlingRandom(80_000 + seed + Seeds.shift)
      let board = HandledBoard(
        magnetometer: Mount.everyPlacement[Int(random.between(0, 48))],
        inertial: Mount.everyPlacement[Int(random.between(0, 48))], hasGyro: seed % 2 == 0,
        iron: random.between(0, 3), softness: random.between(0, 0.2))
      var way = Handling.guided(&random)
      for index in way.keys.indices {
        switch seed % 3 {
        case 0: if way.keys[index].pitch > 30 { way.keys[index].pitch.negate() }
        case 1: if way.keys[index].roll > 30 { way.keys[index].roll.negate() }
        default: way.keys[index].heading.negate()
        }
      }
      way.tumble(until: 60, &random)
      for (finding, truth) in zip(
        board.findings(way, &random), [board.magnetometer, board.inertial])
      {
        let isRight = finding.mount.map { $0 == truth }
        tally.count(isRight: isRight)
        if isRight == false { print(seed, board.hasGyro, truth.line, finding) }
      }
    }
    print("slips: \(tally.all) chips, \(tally.sure) sure, \(tally.wrong) wrong")
    #expect(tally.wrong == 0)
  }
}
