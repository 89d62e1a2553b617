import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import Testing

/// Boards at rest: a gyro's bias and the board's level, and what is refused.
struct StillTests {
  private struct Random {
    var state: UInt64
    mutating func uniform() -> Double {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(state >> 11) / Double(1 << 53)
    }
    mutating func normal() -> Double {
      (-2 * log(max(uniform(), 1e-300))).squareRoot() * cos(2 * .pi * uniform())
    }
    mutating func vector() -> Vector3 { Vector3(normal(), normal(), normal()) }
  }

  private func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: Int64(seconds * 1e9) + 1_000_000_000)
  }

  private let degree = Double.pi / 180

  @Test("a mean over windows is the mean, with a deviation that repeated runs show")
  func mean() throws {
    var random = Random(state: 5)
    var errors: [Double] = []
    var claimed = 0.0
    for _ in 0..<400 {
      var mean = StillMean()
      for index in 0..<1_040 {
        mean.take(
          Vector3(1, -2, 3) + 0.1 * random.vector(), at: time(Double(index) / 104))
      }
      errors.append(try #require(mean.mean).x - 1)
      claimed += try #require(mean.deviation).x / 400
    }
    let spread = (errors.map { $0 * $0 }.reduce(0, +) / 400).squareRoot()
    // 0.1 over the root of a thousand samples.
    #expect(abs(spread - 0.0032) < 0.0005)
    #expect(abs(claimed / spread - 1) < 0.15)
  }

  @Test("a pause, a repeated time and what is no number leave the mean as it was")
  func hostile() throws {
    var mean = StillMean()
    for index in 0..<200 {
      mean.take(Vector3(1, 1, 1), at: time(Double(index) / 100))
      mean.take(Vector3(9, 9, 9), at: time(Double(index) / 100))
      mean.take(Vector3(.nan, 0, 0), at: time(Double(index) / 100 + 0.001))
      mean.take(Vector3(.infinity, 0, 0), at: time(Double(index) / 100 + 0.001))
    }
    #expect(mean.mean == Vector3(1, 1, 1) && mean.wander == 0)
    #expect(StillMean().mean == nil && StillMean().deviation == nil && StillMean().turn == 0)
  }

  private func rest(
    bias: Vector3, seconds: Double, noise: Double = 0.1, seed: UInt64 = 1,
    rate: (Double) -> Vector3 = { _ in .zero },
    force: (Double) -> Vector3 = { _ in Vector3(0, 0, 9.81) },
    field: (Double) -> Vector3 = { _ in Vector3(0, 20, -44) }
  ) -> GyroAtRest {
    var random = Random(state: seed)
    var rest = GyroAtRest()
    for index in 0..<Int(seconds * 208) {
      let t = Double(index) / 208
      rest.rate.take(bias + rate(t) + noise * degree * random.vector(), at: time(t))
      rest.force.take(force(t) + 0.02 * random.vector(), at: time(t))
      if index % 2 == 0 { rest.field.take(field(t) + 0.3 * random.vector(), at: time(t)) }
    }
    return rest
  }

  @Test("a gyro's bias is found to a hundredth of a degree a second in ten seconds of rest")
  func gyro() throws {
    var worst = 0.0
    var inside = 0
    for seed in Seeds.units(100) {
      let bias = Vector3(0.02, -0.03, 0.01)
      let outcome = rest(bias: bias, seconds: 10.1, seed: UInt64(seed)).outcome
      #expect(outcome.refusal == nil)
      let error = try #require(outcome.bias) - bias
      worst = max(worst, error.length / degree)
      if abs(error.x) < 2 * outcome.deviation { inside += 1 }
    }
    print("gyro's bias, worst of 100: \(worst) deg/s, within two sigma: \(inside)")
    #expect(worst < 0.01 && inside >= 90)
  }

  @Test("a gyro that is moved, turned or too short at rest is refused, with how much")
  func movedGyro() {
    let degree = self.degree
    func refusal(_ rest: GyroAtRest) -> String { rest.outcome.refusal ?? "taken" }
    #expect(refusal(GyroAtRest()).contains("said nothing"))
    #expect(refusal(rest(bias: .zero, seconds: 2)).contains("3 s are needed"))
    // A hand that lifts it for half a second.
    let lifted = rest(bias: .zero, seconds: 5) {
      (2.0...2.5).contains($0) ? Vector3(0.2, 0, 0) : .zero
    }
    #expect(lifted.outcome.refusal != nil)
    // A slow, even turn about the vertical, which neither gyro nor accelerometer tells from a bias.
    let turned = rest(
      bias: .zero, seconds: 10, rate: { _ in Vector3(0, 0, 2 * degree) },
      field: {
        Quaternion(rotationVector: Vector3(0, 0, -2 * degree * $0)).rotate(Vector3(0, 20, -44))
      })
    #expect(refusal(turned).contains("turned by"))
    let spun = rest(bias: Vector3(0, 0, 41 * degree), seconds: 5)
    #expect(refusal(spun).contains("more than any chip's bias"))
    // An LSM9DS1 may say 30 deg/s on each axis, an MPU6050 on a cold day 40.
    for most in [30.0, 39.9] {
      let rate = most * degree
      #expect(rest(bias: Vector3(rate, -rate, rate), seconds: 5).outcome.refusal == nil)
    }
    let shaken = rest(bias: .zero, seconds: 5, noise: 3)
    #expect(refusal(shaken).contains("shook") || refusal(shaken).contains("moved"))
    let tilted = rest(
      bias: .zero, seconds: 5, force: { $0 < 2 ? Vector3(0, 0, 9.81) : Vector3(0, 0.5, 9.8) })
    #expect(refusal(tilted).contains("m/s^2"))
  }

  /// A board with an accelerometer and a gyro that is pointed somewhere for five seconds.
  private func pointed(
    bias: Vector3, hertz: Double = 100, hardIron: Vector3 = Vector3(31, -18, 44),
    rate: (Double) -> Vector3 = { _ in .zero },
    attitude: (Double) -> Quaternion = { _ in .identity }
  ) -> [CalibrationSample] {
    var random = Random(state: 3)
    return (0..<Int(5 * hertz)).map { index in
      let t = Double(index) / hertz
      // Berlin's field, y north and z up, seen from the board.
      let back = attitude(t).conjugate
      return CalibrationSample(
        time: time(t),
        field: back.rotate(Vector3(0, 19, -46)) + hardIron + 0.4 * random.vector(),
        force: back.rotate(Vector3(0, 0, 9.81)) + 0.02 * random.vector(),
        angularRate: bias + rate(t) + 0.1 * degree * random.vector())
    }
  }

  // MPU-6000/6050 PS rev. 3.4, 6.1: zero-rate output +-20 deg/s.
  @Test(
    "a still board is still, whatever its gyro says of that",
    arguments: [Vector3(0, 0, 0), Vector3(0, 0, 20), Vector3(20, 0, 0), Vector3(-20, 20, 20)])
  func pointedAtRest(bias: Vector3) throws {
    for hertz in [10.0, 100] {
      let rest = HeadingAtRest(pointed(bias: bias * degree, hertz: hertz))
      #expect(rest.movement == nil)
      #expect((rest.bias == nil) == (bias == .zero))
      if bias != .zero { #expect(try #require(rest.bias).contains("deg/s")) }
    }
    // And its iron is found: what the gyro says at rest is no turn.
    let fitter = ReferencedFitter(
      mount: .aligned,
      earth: EarthField(
        horizontal: 19, vertical: 46, horizontalDeviation: 0.5, verticalDeviation: 0.5))
    let outcome = fitter.knownHeading(
      HeadingAtRest(pointed(bias: bias * degree)).samples, heading: 0, deviation: 1 * degree)
    #expect(outcome.refusal == nil)
    let found = try #require(outcome.fit).hardIron
    #expect((found - Vector3(31, -18, 44)).length < 1.5, "\(found)")
  }

  @Test("a board that moves is not still, whatever its gyro says at rest")
  func pointedAndMoved() {
    let degree = self.degree
    for bias in [Vector3.zero, Vector3(20, -20, 20) * degree] {
      // Turned evenly, about the vertical and about the board's long axis: 8 deg/s is 0.14 rad/s.
      for axis in [Vector3(0, 0, 1), Vector3(0, 1, 0)] {
        let turned = pointed(
          bias: bias, rate: { _ in 8 * degree * axis },
          attitude: { Quaternion(rotationVector: 8 * degree * $0 * axis) })
        #expect(HeadingAtRest(turned).movement?.contains("hold it still") == true)
        #expect(HeadingAtRest(turned).bias == nil)
      }
      // Moved for a second.
      let moved = pointed(bias: bias) { (2.0...3.0).contains($0) ? Vector3(0, 0, 0.4) : .zero }
      #expect(HeadingAtRest(moved).movement != nil)
      // Knocked.
      let knocked = pointed(bias: bias) { abs($0 - 2) < 0.02 ? Vector3(2, 0, 0) : .zero }
      #expect(HeadingAtRest(knocked).movement != nil)
      let isMentioned = HeadingAtRest(moved).movement?.contains("lodestone calibrate gyro")
      #expect(isMentioned == (bias != .zero))
    }
    // Without a gyro the field says it.
    func blind(_ samples: [CalibrationSample]) -> HeadingAtRest {
      HeadingAtRest(samples.map { CalibrationSample(time: $0.time, field: $0.field) })
    }
    #expect(blind(pointed(bias: .zero)).movement == nil)
    let turned = pointed(bias: .zero) { _ in
      .zero
    } attitude: {
      Quaternion(rotationVector: Vector3(0, 0, 0.3 * $0))
    }
    #expect(blind(turned).movement != nil)
    #expect(HeadingAtRest([]).movement == nil && HeadingAtRest([]).rate == nil)
  }

  private func position(
    _ up: Vector3, bias: Vector3 = .zero, seconds: Double = 5.1, seed: UInt64 = 1,
    field: Vector3? = nil, push: (Double) -> Vector3 = { _ in .zero }
  ) -> LevelPosition {
    var random = Random(state: seed)
    var position = LevelPosition()
    for index in 0..<Int(seconds * 104) {
      let t = Double(index) / 104
      position.force.take(9.81 * up + bias + push(t) + 0.02 * random.vector(), at: time(t))
      position.rate.take(0.002 * random.vector(), at: time(t))
      if let field { position.field.take(field + 0.6 * random.vector(), at: time(t)) }
    }
    return position
  }

  @Test("the level turns what gravity was into the vertical, and nothing about the vertical")
  func level() throws {
    var random = Random(state: 9)
    for _ in 0..<50 {
      let tilt = Quaternion(
        rotationVector: Vector3(random.normal(), random.normal(), 0) * (8 * degree))
      let up = tilt.conjugate.rotate(Vector3(0, 0, 1))
      let outcome = LevelAtRest.outcome(of: [position(up, seed: random.state)])
      let rotation = try #require(outcome.rotation)
      #expect(outcome.refusal == nil && outcome.surfaceTilt == nil)
      let off = rotation.rotate(up)
      #expect((off - Vector3(0, 0, 1)).length < 0.05 * degree)
      // The axis lies in the plane of the board.
      #expect(abs(rotation.vector.z) < 1e-12)
    }
  }

  @Test("two positions take out the tilt of what the board lies on, one leaves it in")
  func twoPositions() throws {
    // The board sits 3 deg off in its carrier; the table is 2 deg off.
    let board = Quaternion(rotationVector: Vector3(3 * degree, 0, 0))
    let table = Quaternion(rotationVector: Vector3(1.2 * degree, -1.6 * degree, 0))
    func up(turned by: Double) -> Vector3 {
      let turn = Quaternion(rotationVector: Vector3(0, 0, by))
      // Earth's up in the carrier's frame, then in the board's.
      return board.conjugate.rotate(turn.conjugate.rotate(table.conjugate.rotate(Vector3(0, 0, 1))))
    }
    let first = position(up(turned: 0.4))
    let both = LevelAtRest.outcome(of: [first, position(up(turned: 0.4 + .pi), seed: 2)])
    let rotation = try #require(both.rotation)
    #expect(both.refusal == nil)
    #expect(abs((both.surfaceTilt ?? 0) - 2) < 0.02)
    let left = (rotation * board.conjugate).rotate(Vector3(0, 0, 1)) - Vector3(0, 0, 1)
    #expect(left.length < 0.02 * degree)
    let one = try #require(LevelAtRest.outcome(of: [first]).rotation)
    let off = (one * board.conjugate).rotate(Vector3(0, 0, 1)) - Vector3(0, 0, 1)
    #expect(abs(off.length / degree - 2) < 0.05)
  }

  @Test(
    "a board that was not turned between two positions is refused where it has a compass",
    arguments: [3.0, 20, 40])
  func notTurned(horizontal: Double) {
    let up = Quaternion(rotationVector: Vector3(0.02, 0, 0)).rotate(Vector3(0, 0, 1))
    let iron = Vector3(-60, 110, 30)
    func refusal(_ one: Double, _ other: Double) -> String? {
      LevelAtRest.outcome(
        of: [(one, UInt64(1)), (other, 2)].map { heading, seed in
          let field = Vector3(horizontal * sin(heading), horizontal * cos(heading), -44)
          return position(up, seed: seed, field: iron + field)
        }
      ).refusal
    }
    #expect(refusal(0.4, 0.4)?.contains("was not turned by half") == true)
    #expect(refusal(0.4, 0.4 + .pi) == nil)
  }

  @Test("a level is refused where the board moves, is accelerated, hangs or was not turned flat")
  func refusedLevel() {
    func refusal(_ positions: LevelPosition...) -> String {
      LevelAtRest.outcome(of: positions).refusal ?? "taken"
    }
    let up = Vector3(0, 0, 1)
    #expect(refusal(LevelPosition()).contains("said nothing"))
    #expect(refusal().contains("one position"))
    #expect(refusal(position(up, seconds: 1)).contains("too short"))
    #expect(
      refusal(position(up) { $0 < 2 ? .zero : Vector3(0.5, 0, 0) }).contains("the board moved"))
    #expect(refusal(position(up * 1.2)).contains("is not gravity"))
    #expect(refusal(position(Vector3(1, 0, 0.1).normalized ?? up)).contains("a mount"))
    #expect(refusal(position(up), position(Vector3(1, 0, 1).normalized ?? up)).contains("differ"))
    #expect(LevelAtRest.outcome(of: [position(Vector3(0, 0, -1))]).refusal != nil)
    // An even turn about the vertical leaves the force as it is.
    var turning = position(up)
    turning.rate = StillMean()
    for index in 0..<520 {
      turning.rate.take(Vector3(0, 0, 45 * degree), at: time(Double(index) / 104))
    }
    #expect(refusal(turning).contains("turns at 45.0 deg/s"))
  }
}
