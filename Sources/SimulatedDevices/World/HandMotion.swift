// What a hand does with a simulated board while it runs.

public import LinearAlgebra

/// One motion of a board in a hand: smooth, from rest to rest. Angles are those of `Trajectory.Segment`.
public struct HandMotion: Sendable, Hashable {
  /// Seconds that a motion may take.
  public static let durations = 0.05...3_600.0

  /// How long it takes, seconds, within `durations`.
  public var seconds: Double
  /// Change of heading, degrees, clockwise positive.
  public var turn: Double
  /// Pitch at the end, degrees within 85; `nil` keeps it.
  public var pitch: Double?
  /// Roll at the end, degrees; `nil` keeps it. 360 degrees on is the same attitude by another way.
  public var roll: Double?
  /// What a magnet adds to the earth's field at its nearest, microtesla, ENU: it comes over the first fifth of the
  /// motion and goes over the last; `nil` without one.
  public var field: Vector3?

  /// Makes a motion; what is not named stays as it is.
  public init(
    seconds: Double, turn: Double = 0, pitch: Double? = nil, roll: Double? = nil,
    field: Vector3? = nil
  ) {
    self.seconds = seconds
    self.turn = turn
    self.pitch = pitch
    self.roll = roll
    self.field = field
  }
}
