// A board in a person's hands, or on a vehicle, as its chips feel it: for the mount detective's tests.
// Nothing here comes from what is tested: attitudes are products of plain rotations, rates their differences.

import SeededDraws
import CalibrationCore
import Glibc
import LinearAlgebra
import SensorTypes

/// What the simulation of a hand draws.
struct HandlingRandom {
  private var bits: SplitMix64
  init(_ seed: UInt64) {
    bits = SplitMix64(state: seed &* 0x9E37_79B9_7F4A_7C15 ^ 0xD1B5_4A32_D192_ED03)
  }

  mutating func unit() -> Double { bits.unit() }

  mutating func between(_ low: Double, _ high: Double) -> Double { low + (high - low) * unit() }

  mutating func normal() -> Double {
    (-2 * log(1 - unit())).squareRoot() * cos(2 * .pi * unit())
  }

  mutating func normal3(_ deviation: Double) -> Vector3 {
    Vector3(normal(), normal(), normal()) * deviation
  }

  mutating func direction() -> Vector3 { normal3(1).normalized ?? Vector3(0, 0, 1) }
}

/// A way of handling: attitudes at moments, smooth in between.
struct Handling {
  /// Degrees: heading clockwise, nose up, right side down.
  struct Key {
    var time: Double
    var heading: Double
    var pitch: Double
    var roll: Double
  }

  var keys: [Key] = [Key(time: 0, heading: 0, pitch: 0, roll: 0)]
  var marks: [(gesture: MountDetector.Gesture, from: Double, to: Double)] = []
  /// Degrees of tremor, and m/s^2 of the hand's own acceleration.
  var tremor = 1.0
  var sway = 0.4

  var duration: Double { keys.last?.time ?? 0 }

  mutating func move(
    _ seconds: Double, heading: Double = 0, pitch: Double? = nil, roll: Double? = nil
  ) {
    let last = keys[keys.count - 1]
    keys.append(
      Key(
        time: last.time + seconds, heading: last.heading + heading, pitch: pitch ?? last.pitch,
        roll: roll ?? last.roll))
  }

  mutating func gesture(_ gesture: MountDetector.Gesture, _ body: (inout Handling) -> Void) {
    let from = duration
    body(&self)
    marks.append((gesture, from, duration))
  }

  /// The four gestures as asked for, 26 seconds; off by up to `slack` degrees in every angle.
  static func guided(_ random: inout HandlingRandom, slack: Double = 8, tilt: Double = 45)
    -> Handling
  {
    var way = Handling()
    func off() -> Double { random.between(-slack, slack) }
    way.keys[0] = Key(time: 0, heading: random.between(0, 360), pitch: off(), roll: off())
    way.gesture(.level) { $0.move(3.5) }
    way.gesture(.noseUp) {
      $0.move(2, heading: off(), pitch: tilt + off(), roll: off())
      $0.move(3)
    }
    way.gesture(.rightSideDown) {
      $0.move(2.5, heading: off(), pitch: off(), roll: tilt + off())
      $0.move(3)
    }
    way.move(2, pitch: off(), roll: off())
    way.gesture(.clockwise) {
      $0.move(5, heading: 270 + off(), pitch: off(), roll: off())
      $0.move(1)
    }
    return way
  }

  /// Goes on until `end` with turns into all directions.
  mutating func tumble(until end: Double, _ random: inout HandlingRandom, swing: Double = 80) {
    while duration < end {
      move(
        random.between(1.5, 3), heading: random.between(-2, 2) * swing,
        pitch: random.between(-1, 1) * swing, roll: random.between(-1.5, 1.5) * swing)
    }
  }

  /// Degrees at a moment.
  func attitude(at time: Double) -> (heading: Double, pitch: Double, roll: Double) {
    let time = max(0, time)
    guard let next = keys.firstIndex(where: { $0.time > time }) else {
      let last = keys[keys.count - 1]
      return (last.heading, last.pitch, last.roll)
    }
    let (a, b) = (keys[next - 1], keys[next])
    let u = (time - a.time) / (b.time - a.time)
    let s = u * u * u * (10 - 15 * u + 6 * u * u)
    return (
      a.heading + s * (b.heading - a.heading), a.pitch + s * (b.pitch - a.pitch),
      a.roll + s * (b.roll - a.roll)
    )
  }
}

/// Chips on a board: how they sit and what is wrong with them.
struct HandledBoard {
  var magnetometer: Mount = .aligned
  var inertial: Mount = .aligned
  var hasGyro = true
  /// Microtesla, ENU.
  var field = Vector3(1.6, 20.9, -43.9)
  /// Multiple of the field.
  var iron = 2.0
  /// Degrees that every chip is off its placement.
  var skew = 3.0
  /// Axis ratio of soft iron, less one.
  var softness = 0.1
  var gyroSign = 1.0
  var magnetometerRate = 40.0
  /// Seconds by which the field's samples are stamped too late.
  var lag = 0.004
  /// Microtesla: iron on the table, in the hand, as the board moves past it.
  var wander = 0.0

  static func rotation(_ axis: Int, _ degrees: Double) -> Matrix3 {
    let (c, s) = (cos(degrees * .pi / 180), sin(degrees * .pi / 180))
    switch axis {
    case 0: return Matrix3(rows: Vector3(1, 0, 0), Vector3(0, c, -s), Vector3(0, s, c))
    case 1: return Matrix3(rows: Vector3(c, 0, s), Vector3(0, 1, 0), Vector3(-s, 0, c))
    default: return Matrix3(rows: Vector3(c, -s, 0), Vector3(s, c, 0), Vector3(0, 0, 1))
    }
  }

  /// A rotation by `degrees` about any axis.
  private static func skewed(_ random: inout HandlingRandom, _ degrees: Double) -> Matrix3 {
    let v = random.direction() * (degrees * .pi / 180)
    return rotation(0, v.x * 180 / .pi) * rotation(1, v.y * 180 / .pi)
      * rotation(2, v.z * 180 / .pi)
  }

  /// Lives through a handling and tells the detective, with its marks.
  func play(
    _ way: Handling, into detective: inout MountDetector, _ random: inout HandlingRandom,
    driving: ((Double) -> (acceleration: Vector3, speed: Double))? = nil
  ) {
    let start = live(way, &random, driving: driving) { detective.take($0, of: $1, at: $2) }
    for mark in way.marks {
      detective.mark(
        mark.gesture, from: start.advanced(bySeconds: mark.from),
        to: start.advanced(bySeconds: mark.to))
    }
    guard let driving else { return }
    var epoch = 0.0
    while epoch < way.duration {
      let course = way.attitude(at: epoch).heading * .pi / 180 + 0.01 * random.normal()
      detective.take(
        speed: max(0, driving(epoch).speed + 0.05 * random.normal()), course: course,
        at: start.advanced(bySeconds: epoch + 0.1))
      epoch += 0.2
    }
  }

  /// Lives through a handling and hands on what the chips say, in the order of time: chip 0 is the
  /// magnetometer, chip 1 the other. Returns when it began.
  @discardableResult
  func live(
    _ way: Handling, _ random: inout HandlingRandom,
    driving: ((Double) -> (acceleration: Vector3, speed: Double))? = nil,
    say: (Reading, Int, Timestamp) -> Void
  ) -> Timestamp {
    let phases = (0..<12).map { _ in random.between(0, 2 * .pi) }
    let tones = (0..<12).map { _ in random.between(2, 8) }
    func wobble(_ k: Int, _ t: Double) -> Double {
      (sin(tones[k] * t + phases[k]) + 0.5 * sin(2.7 * tones[k] * t + 2 * phases[k])) / 1.12
    }
    func attitude(_ t: Double) -> Matrix3 {
      let a = way.attitude(at: t)
      return Self.rotation(2, -(a.heading + way.tremor * wobble(0, t)))
        * Self.rotation(0, a.pitch + way.tremor * wobble(1, t))
        * Self.rotation(1, a.roll + way.tremor * wobble(2, t))
    }
    let inertialSkew = Self.skewed(&random, skew)
    let magneticSkew = Self.skewed(&random, skew)
    let stretch = random.direction()
    let soft = Matrix3(
      columns: stretch * stretch.x, stretch * stretch.y, stretch * stretch.z)
    let softIron = Matrix3.identity + softness * soft
    let strength: Double = iron * field.length
    let hardIron = strength * random.direction()
    let forceOffset = random.normal3(0.15)
    let rateOffset = random.normal3(0.012)
    let gyroScale = 1 + 0.015 * random.normal()
    let start = Timestamp(seconds: random.between(10, 1000))
    let (m, i) = (magnetometer.matrix.transposed, inertial.matrix.transposed)
    let step = 1 / 104.0
    var t = 0.0
    var nextField = 0.0
    while t < way.duration {
      let turn = attitude(t)
      let toBody = turn.transposed
      let hand = way.sway * Vector3(wobble(3, t), wobble(4, t), wobble(5, t))
      let ride = driving.map { turn * $0(t).acceleration } ?? .zero
      let force =
        i * (inertialSkew * (toBody * (Vector3(0, 0, 9.81) + hand + ride))) + forceOffset
        + random.normal3(0.01)
      if hasGyro {
        // What changes within a millisecond, taken apart into turns about the axes of the body.
        let h = 0.0005
        let change = attitude(t - h).transposed * attitude(t + h)
        let rate =
          Vector3(
            change.columns.y.z - change.columns.z.y, change.columns.z.x - change.columns.x.z,
            change.columns.x.y - change.columns.y.x) / (4 * h)
        let felt =
          gyroScale * gyroSign * inertial.matrix.determinant * (i * (inertialSkew * rate))
          + rateOffset + random.normal3(0.001)
        say(.inertial(angularRate: felt, acceleration: force), 1, start.advanced(bySeconds: t))
      } else {
        say(.acceleration(force), 1, start.advanced(bySeconds: t))
      }
      if t >= nextField {
        nextField += 1 / magnetometerRate
        let stray = wander * Vector3(sin(0.4 * t + phases[0]), sin(0.7 * t), cos(0.5 * t))
        let there: Vector3 = attitude(t).transposed * (field + stray)
        let raw: Vector3 = m * (softIron * (magneticSkew * there)) + hardIron + random.normal3(0.4)
        say(.magneticField(raw), 0, start.advanced(bySeconds: t + lag))
      }
      t += step
    }
    return start
  }
}
