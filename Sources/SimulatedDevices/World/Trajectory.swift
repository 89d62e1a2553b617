// A smooth motion made of segments: what the simulated board truly does.

package import LinearAlgebra

/// A field that does not belong to the earth, for the time of one segment: a car, a lift, a magnet.
package struct MagneticDisturbance: Sendable, Hashable {
  /// What is added to the earth's field at its strongest, microtesla, ENU.
  package var field: Vector3

  /// Makes a disturbance that swells over the first fifth of its segment and fades over the last.
  package init(field: Vector3) { self.field = field }
}

/// The motion of the body at one moment, relative to where and how the trajectory started.
package struct MotionState: Sendable, Hashable {
  /// Metres from the start, ENU.
  package var position: Vector3
  /// Velocity, m/s, ENU.
  package var velocity: Vector3
  /// Acceleration, m/s^2, ENU.
  package var acceleration: Vector3
  /// Heading of the body's y axis clockwise from true north, radians, not wrapped: turns add up.
  package var heading: Double
  /// Angle of the body's y axis above the horizon, radians.
  package var pitch: Double
  /// Rotation about the body's y axis, radians: positive lowers the right side.
  package var roll: Double
  /// The attitude, body to ENU with y to true north.
  package var attitude: Quaternion
  /// Angular rate of the body, rad/s, body frame.
  package var angularRate: Vector3
  /// Whether a receiver has a fix.
  package var hasFix: Bool
  /// The disturbance of the field, microtesla, ENU.
  package var disturbance: Vector3
}

/// A motion made of segments, smooth to the second derivative: every quantity moves from its old to its
/// new value along the quintic `10 u^3 - 15 u^4 + 6 u^5`, so that rates and accelerations are finite,
/// continuous and consistent.
///
/// It starts level and at rest. After its end it stands still, or begins anew from where it is.
package struct Trajectory: Sendable, Hashable {
  /// One piece of the motion.
  package struct Segment: Sendable, Hashable {
    /// Seconds, more than 0.
    package var duration: Double
    /// Change of heading, degrees, clockwise positive.
    package var turn: Double
    /// Pitch at the end, degrees within 85; `nil` keeps it.
    package var pitch: Double?
    /// Roll at the end, degrees; `nil` keeps it.
    package var roll: Double?
    /// Change of height, metres.
    package var climb: Double
    /// Speed along the heading at the end, m/s; `nil` keeps it.
    package var speed: Double?
    /// Whether a receiver has a fix during this segment.
    package var fix: Bool
    /// A magnetic disturbance during this segment.
    package var disturbance: MagneticDisturbance?

    /// Makes a segment; what is not named stays as it is.
    package init(
      duration: Double, turn: Double = 0, pitch: Double? = nil, roll: Double? = nil,
      climb: Double = 0, speed: Double? = nil, fix: Bool = true,
      disturbance: MagneticDisturbance? = nil
    ) {
      self.duration = duration
      self.turn = turn
      self.pitch = pitch
      self.roll = roll
      self.climb = climb
      self.speed = speed
      self.fix = fix
      self.disturbance = disturbance
    }
  }

  /// A quantity that goes from one value to another during a segment.
  private struct Move: Sendable, Hashable {
    var from: Double
    var change: Double
  }

  private struct Piece: Sendable, Hashable {
    var start: Double
    var duration: Double
    var heading: Move
    var pitch: Move
    var roll: Move
    var height: Move
    var speed: Move
    var fix: Bool
    var disturbance: Vector3?
  }

  /// The segments as given, and one more that brings the motion to rest where it would otherwise break
  /// off: at a speed, or, if it repeats, tilted.
  package private(set) var segments: [Segment]
  /// Seconds until the end or the repetition.
  package private(set) var duration: Double
  /// Whether it begins anew after its end.
  package let repeats: Bool
  /// Heading at the start, degrees clockwise from true north.
  package var startHeading: Double

  private var pieces: [Piece]
  /// Horizontal position at each `step` seconds for a start heading of zero.
  private var track: [SIMD2<Double>]
  private var end: MotionEnd
  private static let step = 0.05

  private struct MotionEnd: Sendable, Hashable {
    var position: SIMD2<Double>
    var height: Double
    var heading: Double
  }

  /// Makes a trajectory. Durations must be finite and above zero, speeds, turns and climbs finite.
  package init(segments given: [Segment], startHeading: Double = 0, repeats: Bool = false) {
    precondition(
      given.allSatisfy { $0.duration > 0 && $0.duration.isFinite },
      "a segment needs a positive duration")
    var segments = given
    let last = (
      pitch: given.last { $0.pitch != nil }?.pitch ?? 0,
      roll: given.last { $0.roll != nil }?.roll ?? 0,
      speed: given.last { $0.speed != nil }?.speed ?? 0
    )
    if last.speed != 0 || repeats && (last.pitch != 0 || last.roll != 0) {
      segments.append(
        Segment(
          duration: 2, pitch: repeats ? 0 : nil, roll: repeats ? 0 : nil, speed: 0,
          fix: given.last?.fix ?? true))
    }
    var pieces: [Piece] = []
    var start = 0.0
    var (heading, pitch, roll, height, speed) = (0.0, 0.0, 0.0, 0.0, 0.0)
    let degree = Double.pi / 180
    for segment in segments {
      let piece = Piece(
        start: start, duration: segment.duration,
        heading: Move(from: heading, change: segment.turn * degree),
        pitch: Move(from: pitch, change: segment.pitch.map { $0 * degree - pitch } ?? 0),
        roll: Move(from: roll, change: segment.roll.map { $0 * degree - roll } ?? 0),
        height: Move(from: height, change: segment.climb),
        speed: Move(from: speed, change: segment.speed.map { $0 - speed } ?? 0),
        fix: segment.fix, disturbance: segment.disturbance?.field)
      pieces.append(piece)
      start += segment.duration
      heading += piece.heading.change
      pitch += piece.pitch.change
      roll += piece.roll.change
      height += piece.height.change
      speed += piece.speed.change
    }
    var track = [SIMD2<Double>(0, 0)]
    for node in 0..<Int((start / Self.step).rounded(.up)) {
      let from = Double(node) * Self.step
      let to = min(start, from + Self.step)
      track.append(
        track[node] + Self.horizontalPath(from: from, to: to, pieces: pieces))
    }
    self.segments = segments
    self.duration = start
    self.repeats = repeats
    self.startHeading = startHeading
    self.pieces = pieces
    self.track = track
    self.end = MotionEnd(position: track[track.count - 1], height: height, heading: heading)
  }

  /// Goes on with one more motion on the spot, from a moment on or from the present end, whichever is later; what
  /// lies before it stays as it is to the last bit, and in between the board stands still. A speed is not taken
  /// up.
  ///
  /// - Returns: Seconds from the start at which the motion ends, or `nil` for a trajectory that repeats, and for
  ///   durations that are not above zero.
  package mutating func append(_ segment: Segment, notBefore seconds: Double) -> Double? {
    guard !repeats, segment.duration > 0, segment.duration.isFinite, seconds.isFinite else {
      return nil
    }
    if seconds > duration { add(Segment(duration: seconds - duration, fix: segment.fix)) }
    var onTheSpot = segment
    onTheSpot.speed = nil
    add(onTheSpot)
    return duration
  }

  private mutating func add(_ segment: Segment) {
    let degree = Double.pi / 180
    func after(_ move: Move?) -> Double { move.map { $0.from + $0.change } ?? 0 }
    let last = pieces.last
    let (pitch, roll) = (after(last?.pitch), after(last?.roll))
    pieces.append(
      Piece(
        start: duration, duration: segment.duration,
        heading: Move(from: after(last?.heading), change: segment.turn * degree),
        pitch: Move(from: pitch, change: segment.pitch.map { $0 * degree - pitch } ?? 0),
        roll: Move(from: roll, change: segment.roll.map { $0 * degree - roll } ?? 0),
        height: Move(from: after(last?.height), change: segment.climb),
        // It ended at rest.
        speed: Move(from: 0, change: 0), fix: segment.fix, disturbance: segment.disturbance?.field))
    segments.append(segment)
    duration += segment.duration
    // Nothing moves over ground any more: the track's last node holds, for all later times.
    end.height += segment.climb
    end.heading += segment.turn * degree
  }

  /// The motion at `seconds` from the start; before it the body waits at the start.
  package func state(at seconds: Double) -> MotionState {
    let turned = startHeading * Double.pi / 180
    guard !pieces.isEmpty, seconds.isFinite else {
      return Self.still(heading: turned, hasFix: !pieces.isEmpty && pieces[0].fix)
    }
    var time = max(0, seconds)
    var offset = SIMD2<Double>(0, 0)
    var height = 0.0
    var heading = turned
    if repeats, time >= duration {
      let cycles = (time / duration).rounded(.down)
      time -= cycles * duration
      offset = Self.sum(of: end.position, turning: end.heading, times: cycles)
      height = cycles * end.height
      heading += cycles * end.heading
    }
    time = min(time, duration)
    let node = min(track.count - 1, Int(time / Self.step))
    let path =
      track[node]
      + Self.horizontalPath(
        from: Double(node) * Self.step, to: time, pieces: pieces)
    let piece = pieces[Self.piece(at: time, of: pieces)]
    let blend = Blend((time - piece.start) / piece.duration, duration: piece.duration)
    let horizontal = Self.turned(offset, by: turned) + Self.turned(path, by: heading)

    let headingNow = heading + piece.heading.from + piece.heading.change * blend.value
    let headingRate = piece.heading.change * blend.rate
    let pitch = piece.pitch.from + piece.pitch.change * blend.value
    let roll = piece.roll.from + piece.roll.change * blend.value
    let speed = piece.speed.from + piece.speed.change * blend.value
    let speedRate = piece.speed.change * blend.rate
    let ahead = Vector3(sin(headingNow), cos(headingNow), 0)
    let right = Vector3(cos(headingNow), -sin(headingNow), 0)

    // Body to earth: roll about y first, then pitch about x, then heading, which is clockwise.
    let byPitch = Quaternion(rotationVector: Vector3(pitch, 0, 0))
    let byRoll = Quaternion(rotationVector: Vector3(0, roll, 0))
    let byHeading = Quaternion(rotationVector: Vector3(0, 0, -headingNow))
    let attitude = (byHeading * byPitch * byRoll).normalized
    let rate =
      attitude.conjugate.rotate(Vector3(0, 0, -headingRate))
      + byRoll.conjugate.rotate(Vector3(piece.pitch.change * blend.rate, 0, 0))
      + Vector3(0, piece.roll.change * blend.rate, 0)

    return MotionState(
      position: Vector3(
        horizontal.x, horizontal.y, height + piece.height.from + piece.height.change * blend.value),
      velocity: speed * ahead + Vector3(0, 0, piece.height.change * blend.rate),
      acceleration: speedRate * ahead + (speed * headingRate) * right
        + Vector3(0, 0, piece.height.change * blend.acceleration),
      heading: headingNow, pitch: pitch, roll: roll, attitude: attitude, angularRate: rate,
      hasFix: piece.fix,
      disturbance: (piece.disturbance ?? .zero) * Self.swell((time - piece.start) / piece.duration))
  }

  private static func still(heading: Double, hasFix: Bool) -> MotionState {
    MotionState(
      position: .zero, velocity: .zero, acceleration: .zero, heading: heading, pitch: 0, roll: 0,
      attitude: Quaternion(rotationVector: Vector3(0, 0, -heading)), angularRate: .zero,
      hasFix: hasFix, disturbance: .zero)
  }

  /// The quintic and its derivatives by time.
  private struct Blend {
    var value: Double
    var rate: Double
    var acceleration: Double

    init(_ u: Double, duration: Double) {
      let u = max(0, min(1, u))
      let v = 1 - u
      value = u * u * u * (10 - 15 * u + 6 * u * u)
      rate = 30 * u * u * v * v / duration
      acceleration = 60 * u * v * (1 - 2 * u) / (duration * duration)
    }
  }

  private static func swell(_ u: Double) -> Double {
    Blend(u * 5, duration: 1).value * Blend((1 - u) * 5, duration: 1).value
  }

  private static func piece(at time: Double, of pieces: [Piece]) -> Int {
    var low = 0
    var high = pieces.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if pieces[middle].start <= time { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// The way over ground between two moments, by Gauss and Legendre's rule with three points.
  private static func horizontalPath(
    from: Double, to: Double, pieces: [Piece]
  ) -> SIMD2<Double> {
    guard to > from else { return SIMD2(0, 0) }
    let middle = (from + to) / 2
    let reach = (to - from) / 2 * 0.774_596_669_241_483_4
    let sum =
      5 * horizontalVelocity(at: middle - reach, pieces: pieces)
      + 8 * horizontalVelocity(at: middle, pieces: pieces)
      + 5 * horizontalVelocity(at: middle + reach, pieces: pieces)
    return sum * ((to - from) / 18)
  }

  private static func horizontalVelocity(at time: Double, pieces: [Piece]) -> SIMD2<Double> {
    let piece = pieces[piece(at: time, of: pieces)]
    let value = Blend((time - piece.start) / piece.duration, duration: piece.duration).value
    let heading = piece.heading.from + piece.heading.change * value
    return (piece.speed.from + piece.speed.change * value) * SIMD2(sin(heading), cos(heading))
  }

  /// Turns a horizontal vector clockwise.
  private static func turned(_ v: SIMD2<Double>, by angle: Double) -> SIMD2<Double> {
    SIMD2(v.x * cos(angle) + v.y * sin(angle), v.y * cos(angle) - v.x * sin(angle))
  }

  /// `v + turned(v, a) + turned(v, 2a) + ...`, `times` terms: a geometric series in the plane.
  private static func sum(
    of v: SIMD2<Double>, turning a: Double, times: Double
  ) -> SIMD2<Double> {
    let half = sin(a / 2)
    guard abs(half) > 1e-9 else { return v * times }
    return turned(v, by: (times - 1) * a / 2) * (sin(times * a / 2) / half)
  }
}
