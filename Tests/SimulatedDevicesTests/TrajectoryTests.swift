// The truth must be consistent with itself: rates are derivatives, turns add up, air thins out.

import Geodesy
import LinearAlgebra
import SensorTypes
import SimulatedDevices
import Testing

@Suite("Trajectory")
struct TrajectoryTests {
  private static let moments = stride(from: 0.37, to: 69.6, by: 0.43)

  @Test("has an angular rate that is the attitude's derivative, in the body frame")
  func angularRate() {
    let walk = Trajectory.walk
    let h = 1e-4
    for time in Self.moments {
      let before = walk.state(at: time - h).attitude
      let after = walk.state(at: time + h).attitude
      let numeric = (before.conjugate * after).rotationVector / (2 * h)
      #expect((numeric - walk.state(at: time).angularRate).length < 1e-5)
    }
  }

  @Test("has a velocity and an acceleration that are the position's derivatives")
  func motion() {
    let walk = Trajectory.walk
    // Small, because the third derivative jumps at the seams: 3 m/s^3 times a quarter of this.
    let h = 1e-4
    for time in Self.moments {
      let (a, b, c) = (walk.state(at: time - h), walk.state(at: time), walk.state(at: time + h))
      #expect(((c.position - a.position) / (2 * h) - b.velocity).length < 1e-4)
      #expect(((c.velocity - a.velocity) / (2 * h) - b.acceleration).length < 1e-4)
    }
  }

  @Test("is continuous to the second derivative across its segments")
  func smoothness() {
    let walk = Trajectory.walk
    var seam = 0.0
    for segment in walk.segments.dropLast() {
      seam += segment.duration
      let (a, b) = (walk.state(at: seam - 1e-7), walk.state(at: seam + 1e-7))
      #expect((a.angularRate - b.angularRate).length < 1e-5)
      #expect((a.acceleration - b.acceleration).length < 1e-5)
      #expect((a.position - b.position).length < 1e-5)
    }
  }

  @Test("means by heading where the body's y axis points over ground, at any tilt")
  func heading() {
    let walk = Trajectory.walk
    for time in Self.moments {
      let state = walk.state(at: time)
      let forward = state.attitude.rotate(Vector3(0, 1, 0))
      let flat = Vector3(forward.x, forward.y, 0).normalized ?? .zero
      // (sin, cos) of the heading, east and north.
      let expected = Quaternion(rotationVector: Vector3(0, 0, -state.heading)).rotate(
        Vector3(0, 1, 0))
      #expect((flat - expected).length < 1e-9)
      let up = state.attitude.rotate(Vector3(0, 0, 1))
      #expect(up.z > 0.7)
    }
  }

  @Test("adds up its turns, full ones included, and reaches its targets")
  func turns() {
    let trajectory = Trajectory(
      segments: [
        .init(duration: 4, turn: 360, pitch: 30, climb: 2),
        .init(duration: 5, turn: 450, roll: -45),
        .init(duration: 3, turn: -90, pitch: -10, climb: -5),
      ], startHeading: 20)
    let degree = Double.pi / 180
    #expect(abs(trajectory.state(at: 4).heading / degree - 380) < 1e-9)
    #expect(abs(trajectory.state(at: 9).heading / degree - 830) < 1e-9)
    let end = trajectory.state(at: 100)
    #expect(abs(end.heading / degree - 740) < 1e-9)
    #expect(abs(end.pitch / degree + 10) < 1e-9)
    #expect(abs(end.roll / degree + 45) < 1e-9)
    #expect(abs(end.position.z + 3) < 1e-9)
    #expect(end.angularRate.length == 0)
  }

  @Test("stands still after its end, though it ended at a speed")
  func holds() {
    let trajectory = Trajectory(segments: [.init(duration: 2, speed: 3)])
    #expect(trajectory.duration == 4)
    #expect(trajectory.state(at: 10).velocity == .zero)
    #expect(trajectory.state(at: 10).position == trajectory.state(at: 50).position)
    // Half of 3 m/s over 2 s, twice: the quintic is symmetric.
    #expect(abs(trajectory.state(at: 50).position.y - 6) < 1e-9)
  }

  @Test("repeats from where it is, turned as it is")
  func repeats() {
    let quarter = Trajectory(
      segments: [
        .init(duration: 2, speed: 1), .init(duration: 2, speed: 0), .init(duration: 1, turn: 90),
      ], repeats: true)
    // 2 m ahead, a quarter turn, four times: a square.
    let corners = (0..<9).map { quarter.state(at: 5 * Double($0)).position }
    #expect((corners[1] - Vector3(0, 2, 0)).length < 1e-9)
    #expect((corners[2] - Vector3(2, 2, 0)).length < 1e-9)
    #expect((corners[3] - Vector3(2, 0, 0)).length < 1e-9)
    #expect(corners[4].length < 1e-9)
    #expect((corners[5] - corners[1]).length < 1e-9)
    #expect(
      abs(quarter.state(at: 17.5).velocity.length - quarter.state(at: 2.5).velocity.length) < 1e-12)
  }

  @Test("walks by default as its description says")
  func walk() {
    let walk = Trajectory.walk
    #expect(walk.duration == 70)
    #expect(!walk.state(at: 7.9).hasFix)
    #expect(walk.state(at: 8.1).hasFix)
    #expect(!walk.state(at: 35.1).hasFix)
    #expect(!walk.state(at: 44.9).hasFix)
    #expect(walk.state(at: 45.1).hasFix)
    #expect(abs(walk.state(at: 70).heading) < 1e-9)
    #expect(abs(walk.state(at: 70).position.z) < 1e-9)
    let heights = Self.moments.map { walk.state(at: $0).position.z }
    #expect((heights.max() ?? 0) > 10.9)
    let tilts = Self.moments.map { abs(walk.state(at: $0).pitch) * 180 / Double.pi }
    #expect((tilts.max() ?? 0) > 44)
    #expect(walk.state(at: 2.9).angularRate.length == 0)
  }
}

@Suite("Simulated world")
struct SimulatedWorldTests {
  private let start = ms(0)

  @Test("has the standard atmosphere's pressure")
  func pressure() {
    // ISO 2533, table of geopotential height.
    for (height, expected) in [(0.0, 101_325.0), (1000, 89_874.6), (5000, 54_019.9)] {
      let value = SimulatedWorld.standardPressure(altitude: height, seaLevel: 101_325)
      #expect(abs(value - expected) < 0.5)
    }
  }

  @Test("has a specific force of acceleration plus gravity, in the body frame")
  func specificForce() {
    let world = SimulatedWorld(.init(startHeading: 75), trajectory: .walk, start: start)
    let h = 0.001
    for seconds in stride(from: 0.5, to: 69, by: 0.71) {
      let a = world.truth(at: start.advanced(bySeconds: seconds - h))
      let b = world.truth(at: start.advanced(bySeconds: seconds))
      let c = world.truth(at: start.advanced(bySeconds: seconds + h))
      let earth = (c.velocity - a.velocity) / (2 * h) + Vector3(0, 0, 9.80665)
      #expect((b.attitude.rotate(b.specificForce) - earth).length < 1e-4)
    }
  }

  @Test("moves latitude and longitude by the ellipsoid's metres")
  func position() {
    // One metre north and east at 45 degrees: 111131.8 and 78846.8 metres a degree on WGS 84.
    let trajectory = Trajectory(
      segments: [.init(duration: 10, speed: 20), .init(duration: 10, speed: 0)])
    for (heading, isNorth) in [(0.0, true), (90.0, false)] {
      let world = SimulatedWorld(
        .init(latitude: 45, longitude: 7, altitude: 0, geoidSeparation: 0, startHeading: heading),
        trajectory: trajectory, start: start)
      let truth = world.truth(at: start.advanced(bySeconds: 60))
      #expect(abs((truth.latitude - 45) * 111_131.8 - (isNorth ? 200 : 0)) < 0.01)
      #expect(abs((truth.longitude - 7) * 78_846.8 - (isNorth ? 0 : 200)) < 0.01)
    }
  }

  @Test("ten kilometres on it is where the geodesic leads, to a centimetre")
  func farAway() {
    let trajectory = Trajectory(
      segments: [.init(duration: 990, speed: 20), .init(duration: 10, speed: 0)])
    let world = SimulatedWorld(
      .init(latitude: 48, longitude: 179.95, altitude: 0, geoidSeparation: 0, startHeading: 70),
      trajectory: trajectory, start: start)
    let truth = world.truth(at: start.advanced(bySeconds: 1100))
    let way = Geodesic.inverse(
      from: Position(latitude: 48, longitude: 179.95),
      to: Position(latitude: truth.latitude, longitude: truth.longitude))
    #expect(abs(way.distance - 10_000) < 0.02)
    #expect(abs(way.initialAzimuth - 70) < 1e-6)
    #expect(truth.longitude < -179.9)
  }

  @Test("tells true and magnetic heading, course and UTC")
  func headings() {
    let world = SimulatedWorld(
      .init(startHeading: 350), trajectory: Trajectory(segments: [.init(duration: 1, turn: 20)]),
      start: start)
    let truth = world.truth(at: start.advanced(bySeconds: 30))
    #expect(abs(truth.heading - 10) < 1e-9)
    #expect(abs(truth.declination - 4.378) < 0.001)
    #expect(abs(truth.magneticHeading - (10 - truth.declination)) < 1e-9)
    #expect(truth.utc == 1_774_526_430)
    #expect(abs(truth.course - 10) < 1e-9)
  }

  @Test("shows a chip the field through mount and iron")
  func mount() throws {
    let mount = try #require(Mount(x: .plusY, y: .minusX, z: .plusZ))
    let world = SimulatedWorld(
      .init(field: { _, _, _ in Vector3(1, 20, -40) }), trajectory: .still, start: start)
    let source = DistortedStimulus(
      MountedStimulus(world: world, mount: mount), softIron: Matrix3(diagonal: Vector3(2, 1, 1)),
      hardIron: Vector3(5, 6, 7))
    let stimulus = source.stimulus(at: start)
    // Body x is the sensor's y and body y its negative x: the sensor sees (-20, 1, -40).
    #expect((stimulus.magneticField - Vector3(-35, 7, -33)).length < 1e-9)
    #expect((stimulus.specificForce - Vector3(0, 0, 9.80665)).length < 1e-9)
  }

  @Test("lays a disturbance over its segment and nothing outside")
  func disturbance() {
    let world = SimulatedWorld(
      .init(),
      trajectory: Trajectory(segments: [
        .init(duration: 10), .init(duration: 10, disturbance: .init(field: Vector3(30, 0, 0))),
        .init(duration: 10),
      ]), start: start)
    func east(_ seconds: Double) -> Double {
      world.truth(at: start.advanced(bySeconds: seconds)).magneticField.x
    }
    #expect(abs(east(5) - 1.6) < 1e-9)
    #expect(abs(east(15) - 31.6) < 1e-9)
    #expect(abs(east(25) - 1.6) < 1e-9)
  }
}

@Suite("Seeded generator")
struct SeededGeneratorTests {
  @Test("is SplitMix64")
  func reference() {
    // The published outputs of the reference implementation for the state 1234567.
    var generator = SeededGenerator(state: 1_234_567)
    let expected: [UInt64] = [
      6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
    ]
    for value in expected { #expect(generator.next() == value) }
  }

  @Test("is normal where it says so")
  func gaussian() {
    var generator = SeededGenerator(seed: 3)
    let values = (0..<20_000).map { _ in generator.gaussian() }
    let mean = values.reduce(0, +) / 20_000
    let variance = values.reduce(0) { $0 + $1 * $1 } / 20_000 - mean * mean
    #expect(abs(mean) < 0.03)
    #expect(abs(variance - 1) < 0.05)
    let inside = values.filter { abs($0) < 1 }.count
    #expect(abs(Double(inside) / 20_000 - 0.6827) < 0.015)
  }
}
