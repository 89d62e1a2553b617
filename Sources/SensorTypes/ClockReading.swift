/// The system's clock, and whether it says the date.
public struct ClockReading: Sendable, Hashable {
  /// Seconds since 1970.
  public var seconds: Double
  /// Whether it was set by somebody who knows: `BusProvider.isWallTimeSet`.
  public var isSet: Bool

  /// Makes a reading.
  public init(seconds: Double, isSet: Bool) {
    self.seconds = seconds
    self.isSet = isSet
  }
}
