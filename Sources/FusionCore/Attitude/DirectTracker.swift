// Attitude without a gyro: low-passed accelerometer and magnetometer, turned into an attitude.

import LinearAlgebra

/// Follows up and field with low passes whose cutoff rises with the speed of turning.
///
/// Without a gyro nothing tells turning from noise but the magnetometer itself: a board at rest is
/// smoothed hard, one that turns is followed fast (the idea of the 1-euro filter, Casiez et al.,
/// CHI 2012). The accelerometer cannot tell tilt from acceleration, so it takes its cutoff from
/// the magnetometer's turning too.
struct DirectTracker: Sendable, Hashable, Codable {
  /// Low-passed specific force, m/s^2.
  private(set) var up: Vector3?
  /// Low-passed field, microtesla.
  private(set) var field: Vector3?
  /// Mean square of what the low pass took from the specific force, (m/s^2)^2.
  private(set) var forceVariance = 0.0
  private var lastField = Vector3.zero
  private var slope = Vector3.zero

  static let restCutoff = 0.6
  /// Hz of cutoff per rad/s of turning.
  static let cutoffSlope = 3.0
  /// Of the tilt at rest, (0.57 deg)^2.
  static let tiltFloor = 0.000_1
  /// A tilt less sure than this says nothing of the field's dip, radians.
  static let judgingTilt = 0.03
  /// One less sure than this says nothing of heading.
  static let blindTilt = 0.35
  static let slopeTimeConstant = 0.15

  /// How fast the field turns in the body frame, rad/s.
  var turning: Double {
    guard let length = field?.length, length > 0 else { return 0 }
    return slope.length / length
  }

  private var cutoff: Double { Self.restCutoff + Self.cutoffSlope * turning }

  /// How far the low pass trails behind a turn, radians: speed times time constant.
  var trailing: Double { turning / (2 * .pi * cutoff) }

  /// One sigma of the tilt, radians: half a degree, and what the low pass of the force has taken from it or
  /// left of its excess over gravity, which is acceleration.
  func tiltDeviation(gravity: Double) -> Double {
    (Self.tiltFloor + forceVariance / (gravity * gravity)).squareRoot()
  }

  /// The attitude, or `nil` while one of the two is missing.
  var attitude: Quaternion? {
    guard let up, let field else { return nil }
    return DirectAttitude.attitude(up: up, field: field)
  }

  /// Moves to another calibration of the field.
  mutating func shiftField(by shift: Vector3) {
    field = field.map { $0 + shift }
    lastField += shift
  }

  /// Takes one specific force; 0 seconds starts anew.
  mutating func update(force: Vector3, _ dt: Double, gravity: Double) {
    guard let old = up, dt > 0 else {
      up = force
      let excess = force.length - gravity
      forceVariance = excess * excess
      return
    }
    let new = old + (force - old) * Self.gain(dt, cutoff)
    up = new
    let excess = new.length - gravity
    let square = (force - new).lengthSquared + excess * excess
    forceVariance += (square - forceVariance) * (dt / (0.5 + dt))
  }

  /// Takes one field; 0 seconds starts anew.
  mutating func update(field measured: Vector3, _ dt: Double) {
    defer { lastField = measured }
    guard let old = field, dt > 0 else {
      field = measured
      slope = .zero
      return
    }
    slope += ((measured - lastField) / dt - slope) * (dt / (Self.slopeTimeConstant + dt))
    field = old + (measured - old) * Self.gain(dt, cutoff)
  }

  private static func gain(_ dt: Double, _ cutoff: Double) -> Double {
    let x = 2 * .pi * cutoff * dt
    return x / (1 + x)
  }
}

/// Means over the first fraction of a second, carried along by the gyro, so that one noisy sample
/// does not start the filter.
struct StartAverage: Sendable, Hashable, Codable {
  /// For how long an acceleration lasts that is no vehicle's, seconds.
  static let shakeTime = 0.3

  /// Body to the frame the body had at the first sample.
  var frame = Quaternion.identity
  var force = Vector3.zero
  var forceCount = 0.0
  var forceSquares = 0.0
  var field = Vector3.zero
  var fieldCount = 0.0
  var duration = 0.0

  mutating func add(force sample: Vector3) {
    force += frame.rotate(sample)
    forceSquares += sample.lengthSquared
    forceCount += 1
  }

  mutating func add(field sample: Vector3) {
    field += frame.rotate(sample)
    fieldCount += 1
  }

  /// Body to earth, north known; `nil` while a vector is missing.
  var attitude: Quaternion? {
    guard forceCount > 0, fieldCount > 0 else { return nil }
    return DirectAttitude.attitude(up: force, field: field).map { ($0 * frame).normalized }
  }

  /// Body to earth with an arbitrary heading; `nil` while up is unknown.
  var tilt: Quaternion? {
    guard forceCount > 0 else { return nil }
    return DirectAttitude.attitude(up: force).map { ($0 * frame).normalized }
  }

  /// One sigma of the tilt, radians: 1 deg and what says that the board accelerates.
  func tiltDeviation(gravity: Double) -> Double {
    guard forceCount > 0 else { return .pi }
    let mean = force / forceCount
    let spread = max(0, forceSquares / forceCount - mean.lengthSquared)
    // Steps and shakes cancel over their own duration.
    let scatter = (spread * min(1, Self.shakeTime / max(duration, 1e-3))).squareRoot()
    let excess = (scatter + abs(mean.length - gravity)) / gravity
    let base = Double.pi / 180
    return min((base * base + excess * excess).squareRoot(), 1)
  }
}
