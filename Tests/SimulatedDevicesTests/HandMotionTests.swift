// A simulated board that is turned while it runs: smooth, and never against what was true already.

import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("A hand with a simulated board")
struct HandMotionTests {
  private let start = Timestamp(seconds: 50)

  private func world(_ trajectory: Trajectory = .still) -> SimulatedWorld {
    SimulatedWorld(.init(startHeading: 30), trajectory: trajectory, start: start)
  }

  private func at(_ seconds: Double) -> Timestamp { start.advanced(bySeconds: seconds) }

  @Test("what was true before a motion stays true, and the motion reaches its target")
  func appends() throws {
    let world = world(Trajectory(segments: [.init(duration: 2, turn: 40, pitch: 20, speed: 1)]))
    let moments = (0..<600).map { at(Double($0) * 0.02) }
    let before = moments.map(world.truth)
    let end = try #require(
      world.move(HandMotion(seconds: 3, turn: 360, pitch: -45, roll: 90), now: at(12)))
    #expect(end >= at(15))
    #expect(end <= at(15.1))
    for (moment, truth) in zip(moments, before) {
      let after = world.truth(at: moment)
      #expect((after.magneticField - truth.magneticField).length < 1e-9)
      #expect(abs(after.pitch - truth.pitch) < 1e-9)
      #expect(abs(after.latitude - truth.latitude) < 1e-12)
    }
    let last = world.truth(at: at(60))
    #expect(abs(last.pitch + 45) < 1e-9)
    #expect(abs(last.roll - 90) < 1e-9)
    #expect(abs(last.heading - 70) < 1e-6)
    #expect(last.angularRate.length == 0)
  }

  @Test("motions queue, and angular rate and attitude belong together all the way")
  func isSmooth() throws {
    let world = world()
    var end = at(0)
    for motion in [
      HandMotion(seconds: 1, turn: 90), HandMotion(seconds: 2, pitch: 45, roll: -120),
      HandMotion(seconds: 0.8, turn: -200, pitch: 0, roll: 180),
    ] {
      let next = try #require(world.move(motion, now: at(5)))
      #expect(next > end)
      end = next
    }
    let step = 5e-4
    var last = world.truth(at: at(4.9))
    for k in 1..<10_000 {
      let now = world.truth(at: at(4.9 + Double(k) * step))
      let turned = (last.attitude.conjugate * now.attitude).rotationVector / step
      #expect((turned - (last.angularRate + now.angularRate) / 2).length < 1e-3)
      #expect((now.angularRate - last.angularRate).length < 0.1)
      last = now
    }
  }

  @Test("a magnet comes and goes with its motion")
  func magnet() throws {
    let world = world()
    let earth = world.truth(at: at(0)).magneticField
    _ = try #require(world.move(HandMotion(seconds: 5, field: Vector3(60, 0, 0)), now: at(1)))
    #expect((world.truth(at: at(3.5)).magneticField - earth - Vector3(60, 0, 0)).length < 1e-9)
    #expect((world.truth(at: at(7)).magneticField - earth).length < 1e-9)
  }

  @Test("a way that begins anew each time, and numbers that are none, are left alone")
  func refuses() {
    #expect(world(.walk).move(HandMotion(seconds: 1, turn: 5), now: at(1)) == nil)
    let world = world()
    for motion in [
      HandMotion(seconds: 0), HandMotion(seconds: -1), HandMotion(seconds: .nan),
      HandMotion(seconds: .infinity), HandMotion(seconds: 1, turn: .nan),
      HandMotion(seconds: 1, roll: .infinity),
      HandMotion(seconds: 1, field: Vector3(.nan, 0, 0)),
    ] {
      #expect(world.move(motion, now: at(1)) == nil)
    }
    #expect(world.truth(at: at(9)).angularRate == .zero)
  }

  @Test("truth may be asked for by others while it is moved")
  func threads() async {
    let world = world()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for k in 0..<500 {
          _ = world.move(HandMotion(seconds: 0.1, turn: 10), now: at(Double(k) * 0.01))
        }
      }
      for _ in 0..<3 {
        group.addTask {
          for k in 0..<1_000 { #expect(world.truth(at: at(Double(k) * 0.02)).attitude.w.isFinite) }
        }
      }
    }
    #expect(abs(world.trajectory.duration - 51) < 2)
  }

  @Test("a motion is asked for at the control line")
  func request() throws {
    #expect(
      try ControlRequest.parse("move 3") == .move(HandMotion(seconds: 3)))
    #expect(
      try ControlRequest.parse("move 2.5 turn -90 pitch 45 roll 200 field 1 2 -3")
        == .move(
          HandMotion(seconds: 2.5, turn: -90, pitch: 45, roll: 200, field: Vector3(1, 2, -3))))
    for line in [
      "move", "move x", "move 0", "move 2 pitch 90", "move 2 turn", "move 2 yaw 3",
      "move 2 field 1 2", "move nan",
    ] {
      #expect(throws: ControlRequest.Mistake.self) { try ControlRequest.parse(line) }
    }
    let clock = VirtualClock()
    let provider = SimulatedBusProvider(.standard(trajectory: .still), clock: clock)
    let control = RigControl(provider: provider, names: ["A", "B", "C", "D"])
    #expect(control.answer(to: Array("move 2 turn 90".utf8)) == "ok")
    let repeating = RigControl(
      provider: SimulatedBusProvider(.standard(), clock: clock), names: ["A", "B", "C", "D"])
    #expect(repeating.answer(to: Array("move 2 turn 90".utf8))?.hasPrefix("error ") == true)
  }
}
