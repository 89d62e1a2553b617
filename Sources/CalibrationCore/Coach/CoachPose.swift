// How a person may be asked to hold the board, in words and as the side of it that points down.

public import LinearAlgebra

/// A way to hold the board while it is turned once round about the vertical.
public struct CoachPose: Sendable, Hashable, CaseIterable {
  /// What the person is asked for: `Lift the nose by half`.
  public let words: String
  /// Angle of the nose (the body's y axis) above the horizon, radians.
  public let pitch: Double
  /// Rotation about the nose, radians; positive lowers the right side.
  public let roll: Double
  /// The direction of the body that points down then, a unit vector.
  public let down: Vector3
  /// Poses that are easy to take come first where several would help as much, in cells.
  let ease: Double

  private init(_ words: String, pitch: Double, roll: Double, ease: Double) {
    self.words = words
    self.pitch = pitch * .pi / 180
    self.roll = roll * .pi / 180
    self.ease = ease
    down = Vector3(
      cos(self.pitch) * sin(self.roll), -sin(self.pitch), -cos(self.pitch) * cos(self.roll))
  }

  /// Level, as the board is used.
  public static let flat = CoachPose("Lay it flat", pitch: 0, roll: 0, ease: 3)

  /// All 18: six sides down, and the twelve halfway between two of them.
  public static let allCases: [CoachPose] = [
    flat,
    CoachPose("Turn it upside down", pitch: 0, roll: 180, ease: 2.5),
    CoachPose("Stand it on its right side", pitch: 0, roll: 90, ease: 2),
    CoachPose("Stand it on its left side", pitch: 0, roll: -90, ease: 2),
    CoachPose("Point the nose straight up", pitch: 90, roll: 0, ease: 2),
    CoachPose("Point the nose straight down", pitch: -90, roll: 0, ease: 2),
    CoachPose("Lift the nose by half", pitch: 45, roll: 0, ease: 1),
    CoachPose("Lower the nose by half", pitch: -45, roll: 0, ease: 1),
    CoachPose("Lower the right side by half", pitch: 0, roll: 45, ease: 1),
    CoachPose("Lower the left side by half", pitch: 0, roll: -45, ease: 1),
    CoachPose("On its right side, nose up by half", pitch: 45, roll: 90, ease: 0),
    CoachPose("On its right side, nose down by half", pitch: -45, roll: 90, ease: 0),
    CoachPose("On its left side, nose up by half", pitch: 45, roll: -90, ease: 0),
    CoachPose("On its left side, nose down by half", pitch: -45, roll: -90, ease: 0),
    CoachPose("Upside down, nose up by half", pitch: 45, roll: 180, ease: 0),
    CoachPose("Upside down, nose down by half", pitch: -45, roll: 180, ease: 0),
    CoachPose("Upside down, right side down by half", pitch: 0, roll: 135, ease: 0),
    CoachPose("Upside down, left side down by half", pitch: 0, roll: -135, ease: 0),
  ]

  /// Where the field points during a whole turn in this pose: cells of the sphere in the magnetometer's axes.
  ///
  /// - Parameters:
  ///   - dip: The field's dip, radians.
  ///   - toSensor: From the body's axes to the magnetometer's.
  func cells(dip: Double, toSensor: Matrix3) -> SphereCells {
    var cells = SphereCells()
    let axis = toSensor * down
    let aside = abs(axis.z) < 0.8 ? Vector3(0, 0, 1) : Vector3(1, 0, 0)
    guard let first = axis.cross(aside).normalized else { return cells }
    let second = axis.cross(first)
    for step in 0..<36 {
      let angle = Double(step) * .pi / 18
      let level = first * cos(angle) + second * sin(angle)
      cells.insert(axis * sin(dip) + level * cos(dip))
    }
    return cells
  }

  /// What a person has to change to come from one side down to this one, or `nil` where it is near enough.
  func correction(from down: Vector3) -> String? {
    let near = max(-1, min(1, self.down.dot(down)))
    guard acos(near) > CalibrationCoach.poseReach else { return nil }
    // The nose is higher the more the body's -y points down.
    let nose = asin(max(-1, min(1, -down.y)))
    if abs(nose - pitch) > 0.4 { return nose < pitch ? "the nose higher" : "the nose lower" }
    return "turn it on: \(words.prefix(1).lowercased() + words.dropFirst())"
  }
}
