import LinearAlgebra
import SensorTypes

/// Decides whether what the magnetometer sees is the earth's field: by strength, and by dip where down is
/// known. Says so within a second, and takes it back when the field has been right for a second.
struct FieldWatch: Sendable, Hashable {
  /// What the field should be.
  struct Expectation: Sendable, Hashable {
    /// Total intensity, microtesla, and how far off it may be.
    var intensity: Double
    var tolerance: Double
    /// Inclination, radians, down positive; `nil` where it is not known.
    var inclination: Double?
  }

  // Local geology, a calibration's residual and the model together stay below these nearly everywhere.
  static let intensityTolerance = 4.0
  static let inclinationTolerance = 8.0 * Double.pi / 180
  /// The earth's own field at the surface, microtesla (WMM2025: 22 to 67), with the tolerance.
  static let earth = 18.0...71.0
  private static let filterTime = 0.3
  private static let patience = 0.5
  private static let recovery = 1.0

  private var slow: Vector3?
  private var last: Timestamp?
  private var wrongFor = 0.0
  private var rightFor = 0.0
  private(set) var reason: NoData?

  init() {}

  /// Takes a calibrated sample.
  ///
  /// - Parameters:
  ///   - field: Microtesla; in the body frame, or turned to the earth where the attitude is known.
  ///   - dip: The angle of the field below the horizon, radians, where down is known.
  ///   - expected: What it should be; `nil` without position and reference.
  mutating func update(
    _ field: Vector3, dip: Double?, expected: Expectation?, at time: Timestamp
  ) {
    let dt = last.map { min(1, max(0, time.seconds(since: $0))) } ?? 0
    last = time
    let strength = field.length
    let smooth =
      slow.map { $0 + min(1, dt / Self.filterTime) * (Vector3(strength, dip ?? 0, 0) - $0) }
      ?? Vector3(strength, dip ?? 0, 0)
    slow = smooth
    let complaint = Self.complaint(strength: smooth.x, dip: dip.map { _ in smooth.y }, expected)
    if complaint == nil {
      rightFor += dt
      wrongFor = 0
      if rightFor >= Self.recovery { reason = nil }
    } else {
      wrongFor += dt
      rightFor = 0
      // The text is made once an incident, not once a sample.
      if wrongFor >= Self.patience, reason == nil { reason = complaint?.reason }
    }
  }

  private enum Complaint {
    case strength(Double, expected: Double, tolerance: Double)
    case notEarth(Double)
    case dip(Double, expected: Double)

    var reason: NoData {
      func whole(_ value: Double) -> String { String(Int(value.rounded())) }
      let degrees = 180 / Double.pi
      switch self {
      case .strength(let found, let expected, let tolerance):
        return .magneticInterference(
          "field \(whole(found)) uT, expected \(whole(expected)) +- \(whole(tolerance)): iron nearby"
        )
      case .notEarth(let found):
        return .magneticInterference(
          "field \(whole(found)) uT, the earth's is 22 to 67: iron nearby, or not calibrated")
      case .dip(let found, let expected):
        return .magneticInterference(
          "field dips \(whole(found * degrees)) deg, expected \(whole(expected * degrees)) +- "
            + "\(whole(FieldWatch.inclinationTolerance * degrees)): iron nearby")
      }
    }
  }

  private static func complaint(
    strength: Double, dip: Double?, _ expected: Expectation?
  ) -> Complaint? {
    guard let expected else {
      return earth.contains(strength) ? nil : .notEarth(strength)
    }
    if abs(strength - expected.intensity) > expected.tolerance {
      return .strength(strength, expected: expected.intensity, tolerance: expected.tolerance)
    }
    if let dip, let inclination = expected.inclination,
      abs(dip - inclination) > inclinationTolerance
    {
      return .dip(dip, expected: inclination)
    }
    return nil
  }
}
