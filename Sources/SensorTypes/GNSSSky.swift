// What a receiver says besides where it is: the satellites it hears, and which way its antennas lie.

/// A satellite as a receiver hears it.
public struct GNSSSatellite: Sendable, Hashable, Codable {
  /// Whose it is.
  public var system: GNSSSystem
  /// Its number among them: GPS 1 to 32, GLONASS slot 1 to 32, SBAS PRN 120 to 158.
  public var number: Int
  /// Degrees above the horizon, -90 to 90; `nil` where the receiver does not know.
  public var elevation: Double?
  /// Degrees from true north, 0 up to 360; `nil` where the receiver does not know.
  public var azimuth: Double?
  /// Carrier to noise density of its strongest signal, dB-Hz; `nil` where it is not heard.
  public var carrierToNoise: Double?
  /// Whether the position rests on it; `nil` where the receiver does not say which satellites it uses.
  public var isUsed: Bool?

  /// Makes a satellite of which only its name is known.
  public init(_ system: GNSSSystem, _ number: Int) {
    self.system = system
    self.number = number
  }
}

/// Whose satellite it is, numbered as u-blox's `gnssId` (u-blox F9 interface description, section 1.5.2).
public enum GNSSSystem: UInt8, Sendable, Hashable, Codable, CaseIterable {
  /// GPS.
  case gps = 0
  /// Augmentation: WAAS, EGNOS, MSAS, GAGAN.
  case sbas = 1
  /// Galileo.
  case galileo = 2
  /// BeiDou.
  case beidou = 3
  /// IMES, indoor transmitters in Japan.
  case imes = 4
  /// QZSS.
  case qzss = 5
  /// GLONASS.
  case glonass = 6
  /// NavIC.
  case navic = 7
}

/// The satellites of one round of a receiver's messages, each once, in the order in which they were said.
public struct GNSSSky: Sendable, Hashable, Codable {
  /// When the round was whole, on the monotonic clock.
  public var received: Timestamp
  /// All that it named, also those that it does not hear; empty where it said that there are none.
  public var satellites: [GNSSSatellite]

  /// Makes a sky.
  public init(received: Timestamp, satellites: [GNSSSatellite]) {
    self.received = received
    self.satellites = satellites
  }
}

/// Which way something is turned by the word of a receiver or another instrument on its line: two antennas, a
/// gyrocompass, a fluxgate.
public struct ReceiverHeading: Sendable, Hashable {
  /// When it arrived, on the monotonic clock.
  public var received: Timestamp
  /// What measured it.
  public var source = HeadingSource.instrument
  /// Degrees from true north, 0 up to 360.
  public var trueHeading: Double?
  /// Degrees from magnetic north, the instrument's deviation taken out where it says one.
  public var magneticHeading: Double?
  /// One sigma, degrees; `nil` where nothing is said.
  public var accuracy: Double?
  /// Magnetic variation, degrees east, where the instrument says one.
  public var variation: Double?
  /// The rotation about the forward axis in degrees, positive with the right side down; -180 to 180.
  public var roll: Double?
  /// The rotation about the axis to the right in degrees, positive with the bow up; -90 to 90.
  public var pitch: Double?
  /// One sigma of `roll`, degrees.
  public var rollAccuracy: Double?
  /// One sigma of `pitch`, degrees.
  public var pitchAccuracy: Double?
  /// Speed through the water, m/s.
  public var waterSpeed: Double?

  /// Makes a heading that says nothing yet.
  public init(received: Timestamp) { self.received = received }
}

/// What a heading on a receiver's line was measured by.
public enum HeadingSource: String, Sendable, Hashable, CaseIterable {
  /// A compass, a gyrocompass, or antennas whose message does not tell them from those (`HDT`, `THS`).
  case instrument
  /// Two antennas of the receiver: the direction of the line from one to the other.
  case antennas
  /// The inertial sensors in the receiver, with its satellites: the direction of the forward axis of the vehicle that it was set up for.
  case vehicle
}
