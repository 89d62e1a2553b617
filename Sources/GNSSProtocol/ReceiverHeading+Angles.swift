import SensorTypes

extension ReceiverHeading {
  /// Takes a roll with its accuracy in degrees; what is no angle is left out.
  mutating func setRoll(_ angle: Double, accuracy: Double?) {
    guard abs(angle) <= 180 else { return }
    (roll, rollAccuracy) = (angle, accuracy)
  }

  /// Takes a pitch with its accuracy in degrees; what is no angle is left out.
  mutating func setPitch(_ angle: Double, accuracy: Double?) {
    guard abs(angle) <= 90 else { return }
    (pitch, pitchAccuracy) = (angle, accuracy)
  }
}
