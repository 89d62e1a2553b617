// Samples that a chip, or the program that logged it, has cut off at the end of a range.

import LinearAlgebra

/// Where axes stop: values that many samples share exactly while the rest of the field goes on changing.
///
/// A chip that is driven beyond its range says its largest number for every field beyond it. Such samples lie on a flat
/// of the ellipsoid, and a fit bends towards them: they are no measurement. Not every value that occurs often is a
/// stop: a coarse chip has a few samples of the same highest number, all of them about the ellipsoid's pole.
struct EndStops: Sendable, Hashable {
  /// Least and largest value that is a measurement, of each axis.
  private(set) var least = Vector3(repeating: -.infinity)
  private(set) var most = Vector3(repeating: .infinity)

  /// Samples at one value that make a stop: so many, and this share of all.
  private static let leastCount = 5
  private static let leastShare = 0.005
  /// Range of an axis, in radii, below which its ends say nothing.
  private static let leastRange = 0.5
  /// How much wider than the pole's a flat is, in mean squares.
  private static let flatness = 3.0

  /// Looks for stops. `radius` is about that of the ellipsoid.
  init(_ fields: [Vector3], radius: Double) {
    for axis in 0..<3 {
      if let stop = Self.stop(fields.map { Self.turned($0, axis) }, radius: radius) {
        most[axis] = stop
      }
      if let stop = Self.stop(fields.map { -1 * Self.turned($0, axis) }, radius: radius) {
        least[axis] = -stop
      }
    }
  }

  /// Whether a field lies between all stops.
  func contains(_ field: Vector3) -> Bool {
    (0..<3).allSatisfy { field[$0] > least[$0] && field[$0] < most[$0] }
  }

  /// What is wrong, in words; `share` of the samples are at a stop.
  func words(_ share: Double) -> String {
    let axes = zip(["x", "y", "z"], 0..<3).filter { least[$1].isFinite || most[$1].isFinite }
    let percent = max(1, Int((100 * share).rounded()))
    return "\(percent) % of the samples stand at an end of the range of "
      + axes.map(\.0).joined(separator: ", ") + ": the chip cannot measure this field"
  }

  /// The axis first, the others after it.
  private static func turned(_ field: Vector3, _ axis: Int) -> Vector3 {
    Vector3(field[axis], field[(axis + 1) % 3], field[(axis + 2) % 3])
  }

  /// The largest first component, if it is a stop.
  private static func stop(_ fields: [Vector3], radius: Double) -> Double? {
    // An axis that hardly moves has a last value too: that of a board which only turns level is no stop.
    guard let top = fields.lazy.map(\.x).max(), let bottom = fields.lazy.map(\.x).min(),
      top - bottom > leastRange * radius
    else { return nil }
    let flat = fields.filter { $0.x == top }
    guard flat.count >= leastCount, Double(flat.count) >= leastShare * Double(fields.count) else {
      return nil
    }
    guard let next = fields.lazy.map(\.x).filter({ $0 < top }).max() else { return nil }
    let mean = flat.reduce(.zero, +) / Double(flat.count)
    let square = flat.reduce(0) { $0 + ($1 - mean).lengthSquared } / Double(flat.count)
    // A sphere's cap of the height h has the mean square radius R h about its axis, as long as it is flat.
    return square > flatness * radius * (top - next) ? top : nil
  }
}
