// What a hand does with a simulated board while it runs.

package import LinearAlgebra

/// One motion of a board in a hand: smooth, from rest to rest. Angles are those of `Trajectory.Segment`.
package struct HandMotion: Sendable, Hashable {
  /// Seconds that a motion may take.
  package static let durations = 0.05...3_600.0

  /// How long it takes, seconds, within `durations`.
  package var seconds: Double
  /// Change of heading, degrees, clockwise positive.
  package var turn: Double
  /// Pitch at the end, degrees within 85; `nil` keeps it.
  package var pitch: Double?
  /// Roll at the end, degrees; `nil` keeps it. 360 degrees on is the same attitude by another way.
  package var roll: Double?
  /// What a magnet adds to the earth's field at its nearest, microtesla, ENU: it comes over the first fifth of the
  /// motion and goes over the last; `nil` without one.
  package var field: Vector3?

  /// Makes a motion; what is not named stays as it is.
  package init(
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
