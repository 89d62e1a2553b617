// A field that is right in strength and dip, and points elsewhere than north.

import LinearAlgebra

/// For how long, and by how much, the field has contradicted heading.
struct FieldContradiction: Sendable, Hashable, Codable {
  /// Low-passed azimuth of the field, radians.
  private var azimuth = 0.0
  /// Seconds for which strength and dip have been right.
  private var rightTime = 0.0
  /// Seconds for which azimuth has been off to one side meanwhile.
  private var contradictedTime = 0.0
  /// What the square of the azimuth is beyond its own variance while the field is right otherwise, rad^2.
  private(set) var surplus = 0.0

  /// Takes the azimuth of a block.
  ///
  /// - Parameters:
  ///   - now: Of the field against the filter's north, radians; `variance` is what the filter expects of its square.
  ///   - heading: Variance of heading, rad^2.
  ///   - isRight: Whether strength and dip are the earth's.
  ///   - isAtRest: Whether the board is at rest, so that the contradiction may be iron's and only the error bar shows it.
  /// - Returns: What heading is off by, once that is beyond doubt.
  mutating func update(
    azimuth now: Double, variance: Double, heading: Double, isRight: Bool, isAtRest: Bool,
    _ duration: Double,
    _ p: ContradictionParameters
  ) -> Double? {
    // Beside iron azimuth says nothing, and what was seen before that fades.
    azimuth += ((isRight ? now : 0) - azimuth) * (duration / (p.time + duration))
    guard isRight else {
      (rightTime, surplus) = (0, 0)
      contradictedTime = max(0, contradictedTime - p.recovery * duration)
      return nil
    }
    rightTime = min(rightTime, p.settling) + duration
    let square = azimuth * azimuth
    surplus = rightTime > p.settling ? max(0, square - variance) : 0
    guard !isAtRest else {
      contradictedTime = max(0, contradictedTime - p.recovery * duration)
      return nil
    }
    guard abs(azimuth) > p.deviation else {
      contradictedTime = 0
      return nil
    }
    contradictedTime = min(contradictedTime, p.least) + duration
    guard contradictedTime > p.least, square > heading else { return nil }
    contradictedTime = 0
    return azimuth
  }
}
