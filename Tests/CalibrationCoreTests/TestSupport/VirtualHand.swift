// A hand that knows only the words it is told, and turns a board as people do: late, crooked and not quite round.
// Shares nothing with the coach but its words.

import SeededDraws
import CalibrationCore
import Glibc
import LinearAlgebra
import SensorTypes

/// A person with the board in the hand.
struct VirtualHand {
  /// Degrees: heading clockwise, nose up, right side down.
  struct Attitude {
    var heading = 0.0
    var pitch = 0.0
    var roll = 0.0
  }

  /// How crooked every angle may be, degrees.
  var slack = 10.0
  /// How fast it turns at most, degrees a second.
  var haste = 60.0
  private var from = Attitude()
  private var to = Attitude()
  private var begin = 0.0
  private var duration = 0.0
  private var heard: String?
  private var hearsAt = 0.0
  private var target: (pitch: Double, roll: Double)?
  private var sense = 1.0
  private var random: SyntheticDraws

  init(seed: UInt64) {
    random = SyntheticDraws(state: seed &* 0x9E37_79B9_7F4A_7C15 ^ 77)
    from.heading = random.uniform(0, 360)
    to = from
  }

  /// What a person makes of the words: how far the nose is up and the right side down, degrees.
  static func understand(_ words: String) -> (pitch: Double, roll: Double)? {
    let text = words.lowercased()
    var (pitch, roll) = (0.0, 0.0)
    let isHalf = text.contains("half")
    if text.contains("upside down") { roll = 180 }
    if text.contains("on its right side") { roll = 90 }
    if text.contains("on its left side") { roll = -90 }
    if text.contains("lift the nose") || text.contains("nose up")
      || text.contains("nose straight up")
    {
      pitch = isHalf ? 45 : 88
    }
    if text.contains("lower the nose") || text.contains("nose down")
      || text.contains("nose straight down")
    {
      pitch = isHalf ? -45 : -88
    }
    if text.contains("right side down by half") { roll = 135 }
    if text.contains("left side down by half") { roll = -135 }
    if text.contains("lower the right side by half") { roll = 45 }
    if text.contains("lower the left side by half") { roll = -45 }
    let isKnown = ["flat", "side", "nose"].contains { text.contains($0) } || roll != 0
    return isKnown ? (pitch, roll) : nil
  }

  /// Reads the words at a moment; goes on with what it does when that is done.
  mutating func read(_ words: String, at time: Double) {
    if words != heard {
      heard = words
      // Reads, understands, begins.
      hearsAt = time + random.uniform(0.8, 2)
      target = nil
    }
    guard time >= hearsAt, time >= begin + duration else { return }
    from = to
    begin = time
    if target == nil, let wish = Self.understand(words) {
      target = (wish.pitch + off(), wish.roll + off())
      sense = random.uniform(0, 1) < 0.5 ? 1 : -1
      move(to: target ?? wish, turn: random.uniform(-40, 40))
    } else if let target {
      move(
        to: (target.pitch + 0.7 * off(), target.roll + 0.7 * off()),
        turn: sense * random.uniform(60, 130))
    }
  }

  private mutating func off() -> Double { random.uniform(-slack, slack) }

  private mutating func move(to angles: (pitch: Double, roll: Double), turn: Double) {
    to.heading += turn
    to.pitch = angles.pitch
    // The short way round.
    to.roll += (angles.roll - to.roll).remainder(dividingBy: 360)
    let most = max(abs(turn), abs(to.pitch - from.pitch), abs(to.roll - from.roll))
    duration = max(1, most / (haste * random.uniform(0.6, 1)))
  }

  /// From the body to east, north, up.
  func attitude(at time: Double) -> Quaternion {
    let u = duration > 0 ? max(0, min(1, (time - begin) / duration)) : 1
    let s = u * u * u * (10 - 15 * u + 6 * u * u)
    func mix(_ a: Double, _ b: Double) -> Double { (a + s * (b - a)) * .pi / 180 }
    return Quaternion(rotationVector: Vector3(0, 0, -mix(from.heading, to.heading)))
      * Quaternion(rotationVector: Vector3(mix(from.pitch, to.pitch), 0, 0))
      * Quaternion(rotationVector: Vector3(0, mix(from.roll, to.roll), 0))
  }
}

/// A board with iron in such a hand.
struct CoachedBoard {
  var unit: SyntheticUnit
  var hand: VirtualHand
  var mount = Mount.aligned
  var hasGyro = true
  var hasForce = true
  var noise = 0.4
  var rate = 80.0
  /// Root mean square of each component of the hand's own acceleration, m/s^2.
  var shaking = 0.3
  /// Added to the earth's field, microtesla, east, north and up, at seconds from the start.
  var disturbance: (Double) -> Vector3 = { _ in .zero }
  /// Whether a sample is told at all, at seconds from the start.
  var isHeard: (Double) -> Bool = { _ in true }

  init(seed: Int, hasForce: Bool = true) {
    var draws = SyntheticDraws(state: UInt64(seed) &* 0x1_0000_0007)
    unit = SyntheticUnit(draws: &draws, hasForce: hasForce)
    self.hasForce = hasForce
    hand = VirtualHand(seed: UInt64(seed))
  }

  /// Lives until the coach has ended, or `limit` seconds; `look` sees it five times a second.
  mutating func run(
    _ coach: inout CalibrationCoach, seed: Int, limit: Double = 400,
    listens: Bool = true, look: (inout CalibrationCoach, Double) -> Void = { _, _ in }
  ) {
    var random = SyntheticDraws(state: UInt64(seed) &* 0x7_0000_0001 &+ 3)
    let earth =
      unit.strength * Vector3(0.08 * cos(unit.dip), 0.9968 * cos(unit.dip), -sin(unit.dip))
    let bias = 0.02 * random.normals()
    let tones = (0..<6).map { _ in (random.uniform(2, 12), random.uniform(0, 6.3)) }
    let toSensor = mount.matrix.transposed
    let (begin, step) = (Timestamp(seconds: 100), 1 / rate)
    var (time, next) = (0.0, 0.0)
    var before = hand.attitude(at: 0)
    while coach.end == nil, time < limit {
      // Half a degree of tremor.
      func wave(_ k: Int) -> Double { sin(tones[k].0 * time + tones[k].1) }
      let tremor = Quaternion(rotationVector: 0.008 * Vector3(wave(0), wave(1), wave(2)))
      let attitude = (hand.attitude(at: time) * tremor).normalized
      let turn = (before.conjugate * attitude).rotationVector / step
      before = attitude
      let now = begin.advanced(bySeconds: time)
      if isHeard(time) {
        let felt = attitude.conjugate.rotate(
          Vector3(0, 0, 9.81) + shaking * 1.4 * Vector3(wave(3), wave(4), wave(5)))
        var raw = unit.raw(toSensor * attitude.conjugate.rotate(earth + disturbance(time)))
        raw += noise * random.normals()
        if random.uniform(0, 1) < 0.005 { raw += 300 * random.direction() }
        coach.take(
          CalibrationSample(
            time: now, field: raw,
            force: hasForce ? toSensor * felt + 0.05 * random.normals() : nil,
            angularRate: hasGyro && hasForce
              ? toSensor.determinant * (toSensor * turn) + bias + 0.005 * random.normals() : nil))
      }
      if time >= next {
        next += 0.2
        coach.update(at: now)
        look(&coach, time)
        if listens { hand.read(coach.words.pose, at: time) }
      }
      time += step
    }
  }

  /// The error of a level heading with what the coach found, degrees, root mean square over the compass.
  func headingError(_ coach: CalibrationCoach) -> Double {
    guard let fit = coach.outcome.fit else { return 180 }
    return level(fit.applied)
  }

  func level(_ calibration: AppliedCalibration) -> Double {
    let turn = hasForce ? Matrix3.identity : unit.misalignment.conjugate.matrix
    var sum = 0.0
    for step in 0..<36 {
      let heading = Double(step) * .pi / 18
      let field =
        unit.strength
        * Vector3(-sin(heading) * cos(unit.dip), cos(heading) * cos(unit.dip), -sin(unit.dip))
      let raw = unit.raw(turn * (mount.matrix.transposed * field))
      let corrected = mount.matrix * calibration.correct(raw)
      let error = (atan2(-corrected.x, corrected.y) - heading).remainder(dividingBy: 2 * .pi)
      sum += error * error
    }
    return (sum / 36).squareRoot() * 180 / .pi
  }
}
