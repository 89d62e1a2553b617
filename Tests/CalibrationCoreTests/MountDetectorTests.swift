import CalibrationCore
import Glibc
import LinearAlgebra
import SensorTypes
import Testing

@Suite("The mount detective")
struct MountDetectorTests {
  static let inertial: [MountDetector.Senses] = [.field, [.force, .turning]]
  static let plain: [MountDetector.Senses] = [.field, .force]
  /// Where all this happens the field points down.
  static let down = 43.9

  // A thousand minutes take an optimised build; few of them find a slip in it all the same.
  #if DEBUG
    static let effort = 1
    static let placements = stride(from: 0, to: 48, by: 5).map { Mount.everyPlacement[$0] }
  #else
    static let effort = 20
    static let placements = Mount.everyPlacement
  #endif

  /// A minute of handling as asked for.
  private func minute(_ random: inout HandlingRandom) -> Handling {
    var way = Handling.guided(&random)
    way.tumble(until: 60, &random)
    return way
  }

  private func findings(
    _ board: HandledBoard, _ way: Handling, _ random: inout HandlingRandom, down: Double? = down
  ) -> [MountFinding] {
    var detective = MountDetector(
      chips: board.hasGyro ? Self.inertial : Self.plain, downwardField: down)
    board.play(way, into: &detective, &random)
    return detective.findings()
  }

  @Test(
    "all 48 placements of both chips are found in a minute of handling, with and without a gyro")
  func everyPlacement() {
    var least = [false: Double.infinity, true: Double.infinity]
    for (number, placement) in Self.placements.enumerated() {
      for hasGyro in [true, false] {
        var random = HandlingRandom(UInt64(number) * 2 + (hasGyro ? 1 : 0))
        let other = Mount.everyPlacement[(number * 17 + 5) % 48]
        let board = HandledBoard(
          magnetometer: placement, inertial: other, hasGyro: hasGyro, iron: random.between(0, 3))
        let way = minute(&random)
        let found = findings(board, way, &random)
        #expect(found.count == 2)
        #expect(found[0].mount == placement, "\(number) gyro \(hasGyro): \(found[0])")
        #expect(found[1].mount == other, "\(number) gyro \(hasGyro): \(found[1])")
        least[hasGyro] = min(least[hasGyro] ?? 0, found[0].margin)
      }
    }
    print("least margins:", least)
  }

  @Test("a seeded sweep of full minutes: found, and never wrong")
  func fullMinutes() {
    var (sure, wrong, all) = (0, 0, 0)
    for seed in 0..<UInt64(15 * Self.effort) {
      var random = HandlingRandom(1000 + seed + Seeds.shift)
      let board = HandledBoard(
        magnetometer: Mount.everyPlacement[Int(random.between(0, 48))],
        inertial: Mount.everyPlacement[Int(random.between(0, 48))],
        hasGyro: seed % 3 != 0, iron: random.between(0, 4), softness: random.between(0, 0.4),
        magnetometerRate: random.between(10, 80), lag: random.between(-0.01, 0.02),
        wander: random.between(0, 4))
      let way = minute(&random)
      let found = findings(board, way, &random)
      for (finding, truth) in zip(found, [board.magnetometer, board.inertial]) {
        all += 1
        if let mount = finding.mount {
          sure += 1
          if mount != truth { wrong += 1 }
        }
      }
    }
    print("full minutes: \(all) chips, \(sure) sure, \(wrong) wrong")
    #expect(wrong == 0)
    #expect(sure >= all * 95 / 100)
  }

  @Test("a seeded sweep of weak motions: never a confident wrong answer")
  func weakMotions() {
    var counts: [String: [Int]] = [:]
    var worst = 0.0
    for seed in 0..<UInt64(Self.effort == 1 ? 36 : 3000) {
      var random = HandlingRandom(50_000 + seed + Seeds.shift)
      let board = HandledBoard(
        magnetometer: Mount.everyPlacement[Int(random.between(0, 48))],
        inertial: Mount.everyPlacement[Int(random.between(0, 48))],
        hasGyro: seed % 3 != 0, iron: random.between(0, 4), softness: random.between(0, 0.4),
        magnetometerRate: random.between(10, 80), lag: random.between(-0.01, 0.02),
        wander: random.between(0, 4))
      var way = Handling()
      way.tremor = random.between(0, 3)
      way.sway = random.between(0, 1.5)
      let kind = Int(seed / 3) % 6
      switch kind {
      case 0:  // Gestures too small, and a little of everything.
        way = .guided(&random, slack: random.between(2, 15), tilt: random.between(3, 30))
        way.tumble(until: random.between(26, 45), &random, swing: random.between(0, 20))
      case 1:  // Gestures left out.
        way = .guided(&random, slack: random.between(2, 15))
        way.marks.removeAll { _ in random.unit() < 0.5 }
      case 2:  // About one axis only.
        let axis = Int(random.between(0, 3))
        for _ in 0..<15 {
          let turn = random.between(-90, 90)
          way.move(
            2, heading: axis == 0 ? turn : 0, pitch: axis == 1 ? turn / 2 : nil,
            roll: axis == 2 ? turn / 2 : nil)
        }
      case 3:  // A little of everything, briefly.
        way.tumble(until: random.between(2, 15), &random, swing: random.between(1, 40))
      case 4:  // Turned on the table, lifted a little.
        for _ in 0..<20 {
          way.move(
            2, heading: random.between(-120, 120), pitch: random.between(-6, 6),
            roll: random.between(-6, 6))
        }
      default:  // Gestures of a sloppy hand.
        way = .guided(&random, slack: random.between(15, 35), tilt: random.between(20, 60))
      }
      if kind > 1, kind < 5, random.unit() < 0.5 {
        // The gestures are asked for, and the person does something else.
        for gesture in MountDetector.Gesture.allCases {
          let from = random.between(0, way.duration)
          way.marks.append((gesture, from, from + random.between(1, 8)))
        }
      }
      let found = findings(board, way, &random)
      for (finding, truth) in zip(found, [board.magnetometer, board.inertial]) {
        let relative = board.inertial.matrix.transposed * board.magnetometer.matrix
        var key = "\(kind) mount " + (finding.chip == 0 ? "field" : "force")
        var entry = counts[key] ?? [0, 0, 0]
        entry[0] += 1
        if let mount = finding.mount {
          entry[1] += 1
          entry[2] += mount == truth ? 0 : 1
          if mount != truth { print(seed, kind, board.hasGyro, truth.line, finding) }
        } else {
          #expect(finding.refusal != nil)
          if let best = finding.best, best != truth { worst = max(worst, finding.margin) }
        }
        counts[key] = entry
        guard finding.chip == 0 else { continue }
        key = "\(kind) relative"
        entry = counts[key] ?? [0, 0, 0]
        entry[0] += 1
        if let found = finding.relative {
          entry[1] += 1
          if found.matrix != relative {
            entry[2] += 1
            print("relative", seed, kind, board.hasGyro, finding)
          }
        }
        counts[key] = entry
      }
    }
    print("weak: greatest margin of a wrong best", worst)
    for (key, entry) in counts.sorted(by: { $0.key < $1.key }) {
      print("weak \(key): \(entry[0]), \(entry[1]) sure, \(entry[2]) wrong")
    }
    #expect(counts.values.reduce(0) { $0 + $1[2] } == 0)
  }

  private static let turned = Mount(x: .plusY, y: .minusX, z: .plusZ) ?? .aligned
  private static let mirrored = Mount(x: .plusZ, y: .plusY, z: .plusX) ?? .aligned

  @Test("refuses what the motion cannot tell, and says what is missing of it")
  func refusals() {
    for hasGyro in [true, false] {
      for seed in 0..<UInt64(Self.effort) {
        var random = HandlingRandom(9_000 + seed + Seeds.shift)
        let board = HandledBoard(
          magnetometer: Self.turned, inertial: Self.mirrored, hasGyro: hasGyro)
        // On the table, nobody near.
        var still = Handling()
        (still.tremor, still.sway) = (0, 0)
        still.move(60)
        still.marks = MountDetector.Gesture.allCases.map { ($0, 0, 60) }
        var found = findings(board, still, &random)
        #expect(found.allSatisfy { $0.mount == nil && $0.relative == nil }, "\(found)")
        #expect(found[0].refusal?.contains("hardly turned") == true, "\(found[0])")
        // On a turntable.
        var table = Handling()
        (table.tremor, table.sway) = (0, 0)
        table.move(4)
        for _ in 0..<8 { table.move(7, heading: random.between(90, 400)) }
        table.marks = [
          (.level, 0, 4), (.noseUp, 4, 20), (.rightSideDown, 20, 40), (.clockwise, 40, 60),
        ]
        found = findings(board, table, &random)
        #expect(found.allSatisfy { $0.mount == nil && $0.relative == nil }, "\(found)")
        if hasGyro {
          #expect(found[0].refusal?.contains("one axis only") == true, "\(found[0])")
        }
        // Picked up and put down.
        var little = Handling()
        little.tremor = 0.3
        little.move(2)
        little.move(2, pitch: 10)
        little.move(2, pitch: 0)
        found = findings(board, little, &random)
        #expect(found.allSatisfy { $0.mount == nil }, "\(found)")
        // Turned enough, but without gestures: chip against chip is known, forward is not.
        var free = Handling()
        free.tumble(until: 60, &random)
        found = findings(board, free, &random)
        #expect(found.allSatisfy { $0.mount == nil })
        #expect(found[0].mount(ifReferenceIs: Self.mirrored) == Self.turned, "\(found[0])")
        #expect(found[1].refusal?.contains("lift the nose by 45 degrees") == true)
      }
    }
  }

  @Test("a gesture done the wrong way round is no answer, where another one tells")
  func contradictions() {
    for hasGyro in [true, false] {
      var random = HandlingRandom(77)
      let board = HandledBoard(hasGyro: hasGyro)
      var way = Handling.guided(&random, slack: 3)
      // The left side, although the right one was asked for.
      for index in way.keys.indices where way.keys[index].roll > 30 {
        way.keys[index].roll.negate()
      }
      way.tumble(until: 60, &random)
      let found = findings(board, way, &random)
      #expect(found.allSatisfy { $0.mount == nil }, "\(found)")
      #expect(found.allSatisfy { $0.refusal?.contains("contradict") == true }, "\(found)")
    }
  }

  // Where gestures contradict each other, the answer asks to do one of them once more.
  @Test("of a gesture that is marked twice the newer mark counts, and counts once")
  func markedTwice() {
    for hasGyro in [true, false] {
      var random = HandlingRandom(hasGyro ? 1 : 0)
      let (placement, other) = (Self.placements[0], Mount.everyPlacement[5])
      let board = HandledBoard(
        magnetometer: placement, inertial: other, hasGyro: hasGyro, iron: random.between(0, 3))
      let way = minute(&random)
      // The same random hand for every handling.
      func found(_ change: (inout Handling) -> Void = { _ in }) -> [MountFinding] {
        var (handling, hand) = (way, random)
        change(&handling)
        return findings(board, handling, &hand)
      }
      let once = found()
      #expect(once.map(\.mount) == [placement, other])
      #expect(found { $0.marks += $0.marks } == once)
      // While the nose was up the right side was not down.
      let nose = way.marks[1]
      #expect(nose.gesture == .noseUp)
      #expect(found { $0.marks.insert((.rightSideDown, nose.from, nose.to), at: 0) } == once)
      let spoilt = found { $0.marks.append((.rightSideDown, nose.from, nose.to)) }
      #expect(spoilt.allSatisfy { $0.mount == nil }, "\(spoilt)")
    }
  }

  @Test("one gesture of four done the other way round is never a confident wrong answer")
  func slips() {
    var (sure, wrong, all) = (0, 0, 0)
    for seed in 0..<UInt64(12 * Self.effort) {
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
        findings(board, way, &random), [board.magnetometer, board.inertial])
      {
        all += 1
        guard let mount = finding.mount else { continue }
        sure += 1
        wrong += mount == truth ? 0 : 1
        if mount != truth { print(seed, board.hasGyro, truth.line, finding) }
      }
    }
    print("slips: \(all) chips, \(sure) sure, \(wrong) wrong")
    #expect(wrong == 0)
  }

  @Test("without the place on earth a magnetometer's mirror image fits as well, and is named")
  func noPlace() {
    for placement in Self.placements {
      var random = HandlingRandom(500)
      let board = HandledBoard(magnetometer: placement, inertial: Self.turned)
      let found = findings(board, minute(&random), &random, down: nil)
      #expect(found[0].mount == nil && found[1].mount == Self.turned)
      #expect(found[0].refusal?.contains("position") == true)
      let reverse = Mount.everyPlacement.first { $0.matrix == -1 * placement.matrix }
      #expect(found[0].ifNotMirrored == (placement.isMirrored ? reverse : placement))
    }
  }

  @Test("in the south the field points up")
  func south() {
    for placement in [Self.turned, Self.mirrored] {
      var random = HandlingRandom(501)
      let board = HandledBoard(
        magnetometer: placement, inertial: Self.mirrored, field: Vector3(5, 23, 50))
      let found = findings(board, minute(&random), &random, down: -50)
      #expect(found.map(\.mount) == [placement, Self.mirrored])
    }
  }

  @Test("a gyro that turns against its accelerometer fits no mount")
  func reversedGyro() {
    var random = HandlingRandom(502)
    let board = HandledBoard(gyroSign: -1)
    let found = findings(board, minute(&random), &random)
    #expect(found.allSatisfy { $0.mount == nil })
    #expect(found[1].refusal?.contains("opposite ways") == true, "\(found)")
  }

  @Test("a second accelerometer is found beside an inertial chip")
  func accelerometerBesides() {
    for placement in Self.placements {
      var random = HandlingRandom(503)
      let way = minute(&random)
      var t = 0.0
      let start = Timestamp(seconds: 0)
      var plain = MountDetector(chips: [[.force, .turning], .force])
      while t < 30 {
        let a = way.attitude(at: t)
        let toBody =
          (HandledBoard.rotation(2, -a.heading) * HandledBoard.rotation(0, a.pitch)
          * HandledBoard.rotation(1, a.roll)).transposed
        let force = toBody * Vector3(0, 0, 9.81)
        plain.take(
          .inertial(angularRate: .zero, acceleration: Self.turned.matrix.transposed * force), of: 0,
          at: start.advanced(bySeconds: t))
        plain.take(
          .acceleration(placement.matrix.transposed * force + random.normal3(0.1)), of: 1,
          at: start.advanced(bySeconds: t))
        t += 0.02
      }
      let found = plain.findings()
      #expect(found[1].mount(ifReferenceIs: Self.turned) == placement)
    }
  }

  @Test("a magnetometer alone is refused with the reason")
  func magnetometerAlone() {
    let found = MountDetector(chips: [.field]).findings()
    #expect(found.count == 1 && found[0].mount == nil)
    #expect(found[0].refusal?.contains("without an accelerometer") == true)
    #expect(MountDetector(chips: []).findings().isEmpty)
  }

  @Test("nothing that a chip may say breaks it")
  func nonsense() {
    var random = HandlingRandom(3)
    var detective = MountDetector(chips: Self.inertial, downwardField: .nan)
    let odd = [0, .nan, .infinity, -.infinity, 1e300, -1e300, 1e-300, 30]
    func any() -> Vector3 {
      Vector3(odd[Int(random.between(0, 8))], odd[Int(random.between(0, 8))], 5)
    }
    for step in 0..<4000 {
      let time = Timestamp(
        nanoseconds: Int64(step % 50 == 49 ? random.between(-1e18, 1e18) : Double(step) * 1e7))
      detective.take(.magneticField(any()), of: step % 3, at: time)
      detective.take(.inertial(angularRate: any(), acceleration: any()), of: 1, at: time)
      detective.take(speed: odd[step % 8], course: odd[step % 7], at: time)
      detective.mark(.level, from: time, to: Timestamp(nanoseconds: Int64(step) * 10_000_000))
    }
    for gesture in MountDetector.Gesture.allCases {
      detective.mark(gesture, from: .distantFuture, to: Timestamp(nanoseconds: .min))
    }
    #expect(detective.findings().allSatisfy { $0.mount == nil && !$0.margin.isNaN })
  }

  @Test("a drive with bends tells how an inertial chip sits, all 48 ways")
  func drive() {
    for (number, placement) in Self.placements.enumerated() {
      for hasGyro in [true, false] {
        var random = HandlingRandom(600 + UInt64(number))
        let board = HandledBoard(inertial: placement, hasGyro: hasGyro)
        var way = Handling()
        (way.tremor, way.sway) = (0.5, 0.5)
        way.move(10)
        for _ in 0..<6 {
          way.move(4, heading: random.between(30, 100), pitch: random.between(-2, 2))
          way.move(4, roll: random.between(-3, 3))
          way.move(4, heading: random.between(-100, -30))
        }
        // Between 4 and 12 m/s, with period of 12 s, from standing.
        func speed(_ t: Double) -> Double { min(t, 8) + 2.5 * sin(t / 2) * min(1, t / 10) + 0.5 }
        var detective = MountDetector(
          chips: hasGyro ? Self.inertial : Self.plain, downwardField: 43.9)
        board.play(
          way, into: &detective, &random,
          driving: { t in
            let h = 0.05
            let turn =
              (way.attitude(at: t + h).heading - way.attitude(at: t - h).heading) / (2 * h) * .pi
              / 180
            let change = (speed(t + h) - speed(t - h)) / (2 * h)
            return (Vector3(speed(t) * turn, change, 0), speed(t))
          })
        let found = detective.findings()
        #expect(found[1].mount == placement, "\(hasGyro) \(found[1])")
        #expect(found[0].mount == nil || found[0].mount == board.magnetometer)
        if found[0].mount == nil {
          #expect(found[0].refusal?.contains("in the hand") == true, "\(found[0])")
        }
      }
    }
  }

  @Test("straight on at one speed a drive tells nothing")
  func straightOn() {
    var random = HandlingRandom(700)
    let board = HandledBoard()
    var way = Handling()
    way.move(60)
    var detective = MountDetector(chips: Self.inertial)
    board.play(way, into: &detective, &random, driving: { _ in (.zero, 8) })
    let found = detective.findings()
    #expect(found.allSatisfy { $0.mount == nil })
    #expect(found[1].refusal?.contains("take bends both ways") == true, "\(found[1])")
  }
}
