// What is gathered of the field until it is judged.

import LinearAlgebra

/// The means of the field's newest samples. Whether the field is the earth's, and whether the board turns slowly, needs no
/// answer at every sample of a fast chip: a few of them are judged as one, which is quicker and less noisy.
struct FieldGathering: Sendable, Hashable, Codable {
  private var count = 0.0
  private var body = Vector3.zero
  private var length = 0.0
  private var earth: Vector3? = .zero
  /// Seconds since the last sample that was judged.
  private(set) var duration = 0.0

  /// Means of samples.
  struct Mean {
    /// As they were measured, body frame, microtesla.
    var body: Vector3
    /// Strength without the iron that is known, microtesla: of a board that turns it is more than the length of a mean.
    var length: Double
    /// Freed of iron and lag, earth frame; `nil` where the attitude of one of them was not known.
    var earth: Vector3?
    /// Seconds since the samples before.
    var duration: Double
  }

  /// Takes one sample; gives the means once they span `least` seconds, and for a first sample, whose `dt` is 0.
  mutating func add(
    _ field: Vector3, length fieldLength: Double, earth earthField: Vector3?, _ dt: Double,
    least: Double
  ) -> Mean? {
    count += 1
    duration += dt
    body += field
    length += fieldLength
    if let sum = earth { earth = earthField.map { sum + $0 } }
    guard duration >= least || dt == 0 else { return nil }
    let share = 1 / count
    let mean = Mean(
      body: body * share, length: length * share, earth: earth.map { $0 * share },
      duration: dt == 0 ? 0 : duration)
    self = FieldGathering()
    return mean
  }
}
