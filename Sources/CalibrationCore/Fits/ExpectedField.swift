// What is known of the field before a fit: from the magnetic model, or from the user.

public import LinearAlgebra

/// What is known of the earth's field where a calibration takes place, and how the board lies in it.
///
/// It is not the fusion core's type of the same name, and its deviations are wider: there a field is judged that
/// was calibrated, and half a degree of dip and half a microtesla are what places differ by. Here the strength
/// holds the chip's own gain as well, and the dip what a fit cannot tell from it: an accelerometer's offset (20
/// mg are a degree) and how a hand shakes the board.
public struct CalibrationField: Sendable, Hashable {
  /// Strength in the unit of the samples (microtesla); `nil` where it is not known.
  public var strength: Double?
  /// Standard deviation of the strength, as a share of it: of the model, of what buildings add, and of the
  /// chip's own gain. A model knows the field outdoors to half a percent, most chips their gain to five.
  public var strengthDeviation: Double
  /// Dip (inclination), radians, positive where the field points down; `nil` where it is not known.
  public var dip: Double?
  /// Standard deviation of the dip, radians; 2 degrees where nothing else is said.
  public var dipDeviation: Double
  /// Which way is up on a level board, in the magnetometer's own frame; needs no length of one.
  public var up: Vector3

  /// Makes an expectation. What is not known stays away.
  public init(
    strength: Double? = nil, strengthDeviation: Double = 0.05, dip: Double? = nil,
    dipDeviation: Double = 0.035, up: Vector3 = Vector3(0, 0, 1)
  ) {
    self.strength = strength
    self.strengthDeviation = strengthDeviation
    self.dip = dip
    self.dipDeviation = dipDeviation
    self.up = up
  }

  /// The dip a heading's error is told for where none is known, radians: 65 degrees.
  public static let usualDip = 65 * Double.pi / 180
}
