import CalibrationCore
import Glibc
import LinearAlgebra
import Testing

@Suite("The mount detective on a vehicle")
struct MountDriveTests {
  @Test("a drive with bends tells how an inertial chip sits, all 48 ways")
  func drive() {
    for (number, placement) in MountTrials.placements.enumerated() {
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
          chips: hasGyro ? MountTrials.inertial : MountTrials.plain, downwardField: 43.9)
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
    var detective = MountDetector(chips: MountTrials.inertial)
    board.play(way, into: &detective, &random, driving: { _ in (.zero, 8) })
    let found = detective.findings()
    #expect(found.allSatisfy { $0.mount == nil })
    #expect(found[1].refusal?.contains("take bends both ways") == true, "\(found[1])")
  }
}
