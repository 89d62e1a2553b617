import SensorTypes

extension ReceiverHeading {
  /// Takes roll and pitch in degrees, where they are angles.
  mutating func setTilt(roll: Double?, pitch: Double?) {
    self.roll = roll.flatMap { abs($0) <= 180 ? $0 : nil }
    self.pitch = pitch.flatMap { abs($0) <= 90 ? $0 : nil }
  }
}
