// What can be asked of a receiver besides where it is, and who it says that it is.

/// How whatever carries the receiver moves: a receiver smooths and refuses by it.
public enum DynamicModel: String, Sendable, Hashable, CaseIterable {
  /// Nothing is known: little is taken for granted.
  case portable
  /// It does not move: a surveyed antenna.
  case stationary
  /// Someone walks with it.
  case pedestrian
  /// A car or a train.
  case automotive
  /// On the water, at its height.
  case sea
  /// An aircraft, up to 2 g where the receiver tells accelerations apart.
  case airborne
}

/// What a sensor itself says that it is.
public struct SensorIdentity: Sendable, Hashable {
  /// Maker and model: `u-blox NEO-M9N`, `Quectel-L76B`.
  public var name: String
  /// The version of its firmware, as it says it; `nil` where it says none.
  public var firmware: String?

  /// Makes an identity.
  public init(name: String, firmware: String?) {
    self.name = name
    self.firmware = firmware
  }

  /// As in messages: `u-blox NEO-M9N, firmware SPG 4.04`.
  public var description: String { name + (firmware.map { ", firmware \($0)" } ?? "") }
}
