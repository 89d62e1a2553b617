// A hard iron that did not stay as it was while samples were taken.

package import LinearAlgebra

/// A change of the board's hard iron during a recording, as `MagnetometerFitter` finds it.
package struct HardIronChange: Sendable, Hashable {
  /// Whether the hard iron stepped, drifted or alternated.
  package var kind: HardIronChangeKind
  /// Hard iron before a step, at the start of a drift, or in the more frequent state; in the samples' unit.
  package var first: Vector3
  /// Hard iron after a step, at the end of a drift, or in the other state; in the samples' unit.
  package var second: Vector3
  /// The share of the recording before a step, and of the samples in the more frequent state, 0 to 1; 0.5 for a drift.
  package var share: Double
  /// How far the headings of a level board differ between `first` and `second`, root mean square over the compass,
  /// degrees.
  package var degrees: Double
}

/// How the hard iron changed.
package enum HardIronChangeKind: Sendable, Hashable {
  /// Once: two recordings that were joined, a battery or a screw that was moved.
  case step
  /// Slowly: a magnet or a chip that warms up.
  case drift
  /// Alternately between two states: a motor, a lamp or a charger whose current is switched.
  case states
}
