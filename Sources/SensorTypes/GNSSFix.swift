/// One epoch of a GNSS receiver: what it said, all of one moment, nothing filled in.
///
/// Angles are degrees here because that is what every receiver speaks; `nil` means the receiver did not
/// say, never zero.
public struct GNSSFix: Sendable, Hashable, Codable {
  /// Where an accuracy comes from.
  public enum AccuracySource: UInt8, Sendable, Hashable, Codable {
    /// The receiver's own estimate (UBX NAV-PVT, NMEA GST).
    case receiver
    /// Dilution of precision times a documented range error: `assumed`.
    case dilution
    /// A documented worst case: `assumed`.
    case worstCase

    /// Whether the figure is an assumption and not the receiver's word.
    @inlinable public var isAssumed: Bool { self != .receiver }
  }

  /// When the epoch's first byte arrived, on the monotonic clock. Of the first fixes of a pulse that comes into use, whose
  /// moments would lie before that of the fix before them: a little earlier, so that time does not go back.
  public var received: Timestamp
  /// The moment that the epoch is of, on the monotonic clock, by the receiver's pulse per second; `nil` where no pulse
  /// tells it. It lies less than a second before `received`.
  public var pulseTime: Timestamp?
  /// UTC of the epoch in seconds since 1970-01-01 (no leap seconds counted); `nil` without a full date.
  public var utc: Double?
  /// By how many weeks `utc` is later than the receiver has said, a multiple of 1024: satellites tell the week modulo
  /// 1024, and a receiver that was made more than 19.6 years ago takes today for a day of then (IS-GPS-200, 20.3.3.3.1.1).
  public var weeksAdded = 0
  /// UTC time of day of the epoch in seconds, when only that is known (NMEA without RMC or ZDA).
  public var timeOfDay: Double?
  /// How many dimensions the position has.
  public var mode: FixMode
  /// How the position came about; `nil` if the receiver does not report it.
  public var kind: FixKind?
  /// The corrections that the position rests on; `nil` if the receiver reports none.
  public var corrections: FixCorrections?
  /// Whether the receiver itself vouches for the position: within its own limits of accuracy and dilution
  /// (UBX `gnssFixOK`). What it does not vouch for is said, and not used.
  public var isValid: Bool
  /// Geodetic latitude, WGS 84, degrees north.
  public var latitude: Double?
  /// Longitude, WGS 84, degrees east, -180 to 180.
  public var longitude: Double?
  /// Height above mean sea level, metres, by the receiver's geoid.
  public var altitude: Double?
  /// Height above the WGS 84 ellipsoid, metres.
  public var ellipsoidalAltitude: Double?
  /// Horizontal 68 % radius, metres.
  public var horizontalAccuracy: Double?
  /// One sigma of the height, metres.
  public var verticalAccuracy: Double?
  /// Where the two accuracies above come from.
  public var accuracySource: AccuracySource
  /// Speed over ground, m/s.
  public var speed: Double?
  /// One sigma of the speed, m/s.
  public var speedAccuracy: Double?
  /// Course over ground, degrees from true north, 0 up to 360.
  public var course: Double?
  /// One sigma of the course, degrees.
  public var courseAccuracy: Double?
  /// Climb rate, m/s, up positive.
  public var verticalSpeed: Double?
  /// Horizontal dilution of precision.
  public var hdop: Double?
  /// Vertical dilution of precision.
  public var vdop: Double?
  /// Positional dilution of precision.
  public var pdop: Double?
  /// Satellites used in the solution.
  public var satellitesUsed: Int?

  /// Makes an epoch in which the receiver has said nothing yet.
  public init(received: Timestamp, mode: FixMode = .none) {
    self.received = received
    self.mode = mode
    self.isValid = true
    self.accuracySource = .worstCase
  }

  /// Whether the epoch lies in a leap second, whose `utc` is that of the second behind it.
  package var isLeapSecond: Bool { timeOfDay.map { $0 >= 86_400 } ?? false }

  /// Whether there is a horizontal accuracy, and the receiver did not say it.
  package var hasAssumedAccuracy: Bool { horizontalAccuracy != nil && accuracySource.isAssumed }

  /// How old an epoch usually is when its message comes, seconds: receivers take 40 to 150 ms.
  public static let usualLatency = 0.08

  /// When the epoch was, as well as it is known: by the receiver's pulse, else so many seconds before it was received.
  public func moment(latency: Double = usualLatency) -> Timestamp {
    pulseTime ?? received.advanced(bySeconds: -latency)
  }
}

/// How many dimensions of the position the receiver claims to know.
public enum FixMode: UInt8, Sendable, Hashable, Codable, Comparable {
  /// No position.
  case none = 1
  /// Latitude and longitude only; any altitude is assumed, not measured.
  case twoDimensional = 2
  /// Position and altitude.
  case threeDimensional = 3

  /// A better kind of fix is the greater one.
  @inlinable public static func < (a: FixMode, b: FixMode) -> Bool { a.rawValue < b.rawValue }
}
