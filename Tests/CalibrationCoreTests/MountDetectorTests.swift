import CalibrationCore
import LinearAlgebra
import SensorTypes
import Testing

@Suite("The mount detective")
struct MountDetectorTests {
  @Test(
    "all 48 placements of both chips are found in a minute of handling, with and without a gyro")
  func everyPlacement() {
    var least = [false: Double.infinity, true: Double.infinity]
    for (number, placement) in MountTrials.placements.enumerated() {
      for hasGyro in [true, false] {
        var random = HandlingRandom(UInt64(number) * 2 + (hasGyro ? 1 : 0))
        let other = Mount.everyPlacement[(number * 17 + 5) % 48]
        let board = HandledBoard(
          magnetometer: placement, inertial: other, hasGyro: hasGyro, iron: random.between(0, 3))
        let way = Handling.minute(&random)
        let found = board.findings(way, &random)
        #expect(found.count == 2)
        #expect(found[0].mount == placement, "\(number) gyro \(hasGyro): \(found[0])")
        #expect(found[1].mount == other, "\(number) gyro \(hasGyro): \(found[1])")
        least[hasGyro] = min(least[hasGyro] ?? 0, found[0].margin)
      }
    }
    print("least margins:", least)
  }

  @Test("refuses what the motion cannot tell, and says what is missing of it")
  func refusals() {
    for hasGyro in [true, false] {
      for seed in 0..<UInt64(MountTrials.effort) {
        var random = HandlingRandom(9_000 + seed + Seeds.shift)
        let board = HandledBoard(
          magnetometer: MountTrials.turned, inertial: MountTrials.mirrored, hasGyro: hasGyro)
        // On the table, nobody near.
        var still = Handling()
        (still.tremor, still.sway) = (0, 0)
        still.move(60)
        still.marks = MountDetector.Gesture.allCases.map { ($0, 0, 60) }
        var found = board.findings(still, &random)
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
        found = board.findings(table, &random)
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
        found = board.findings(little, &random)
        #expect(found.allSatisfy { $0.mount == nil }, "\(found)")
        // Turned enough, but without gestures: chip against chip is known, forward is not.
        var free = Handling()
        free.tumble(until: 60, &random)
        found = board.findings(free, &random)
        #expect(found.allSatisfy { $0.mount == nil })
        #expect(
          found[0].mount(ifReferenceIs: MountTrials.mirrored) == MountTrials.turned, "\(found[0])")
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
      let found = board.findings(way, &random)
      #expect(found.allSatisfy { $0.mount == nil }, "\(found)")
      #expect(found.allSatisfy { $0.refusal?.contains("contradict") == true }, "\(found)")
    }
  }

  // Where gestures contradict each other, the answer asks to do one of them once more.
  @Test("of a gesture that is marked twice the newer mark counts, and counts once")
  func markedTwice() {
    for hasGyro in [true, false] {
      var random = HandlingRandom(hasGyro ? 1 : 0)
      let (placement, other) = (MountTrials.placements[0], Mount.everyPlacement[5])
      let board = HandledBoard(
        magnetometer: placement, inertial: other, hasGyro: hasGyro, iron: random.between(0, 3))
      let way = Handling.minute(&random)
      // The same random hand for every handling.
      func found(_ change: (inout Handling) -> Void = { _ in }) -> [MountFinding] {
        var (handling, hand) = (way, random)
        change(&handling)
        return board.findings(handling, &hand)
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

  @Test("without the place on earth a magnetometer's mirror image fits as well, and is named")
  func noPlace() {
    for placement in MountTrials.placements {
      var random = HandlingRandom(500)
      let board = HandledBoard(magnetometer: placement, inertial: MountTrials.turned)
      let found = board.findings(Handling.minute(&random), &random, down: nil)
      #expect(found[0].mount == nil && found[1].mount == MountTrials.turned)
      #expect(found[0].refusal?.contains("position") == true)
      let reverse = Mount.everyPlacement.first { $0.matrix == -1 * placement.matrix }
      #expect(found[0].ifNotMirrored == (placement.isMirrored ? reverse : placement))
    }
  }

  @Test("in the south the field points up")
  func south() {
    for placement in [MountTrials.turned, MountTrials.mirrored] {
      var random = HandlingRandom(501)
      let board = HandledBoard(
        magnetometer: placement, inertial: MountTrials.mirrored, field: Vector3(5, 23, 50))
      let found = board.findings(Handling.minute(&random), &random, down: -50)
      #expect(found.map(\.mount) == [placement, MountTrials.mirrored])
    }
  }

  @Test("a gyro that turns against its accelerometer fits no mount")
  func reversedGyro() {
    var random = HandlingRandom(502)
    let board = HandledBoard(gyroSign: -1)
    let found = board.findings(Handling.minute(&random), &random)
    #expect(found.allSatisfy { $0.mount == nil })
    #expect(found[1].refusal?.contains("opposite ways") == true, "\(found)")
  }

  @Test("a second accelerometer is found beside an inertial chip")
  func accelerometerBesides() {
    for placement in MountTrials.placements {
      var random = HandlingRandom(503)
      let way = Handling.minute(&random)
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
          .inertial(angularRate: .zero, acceleration: MountTrials.turned.matrix.transposed * force),
          of: 0,
          at: start.advanced(bySeconds: t))
        plain.take(
          .acceleration(placement.matrix.transposed * force + random.normal3(0.1)), of: 1,
          at: start.advanced(bySeconds: t))
        t += 0.02
      }
      let found = plain.findings()
      #expect(found[1].mount(ifReferenceIs: MountTrials.turned) == placement)
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
    var detective = MountDetector(chips: MountTrials.inertial, downwardField: .nan)
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
}
