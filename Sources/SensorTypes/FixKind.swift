/// How a position came about.
///
/// They are ordered: what the satellites of the moment had no part in comes before what they had, and of that the finer comes
/// later.
public enum FixKind: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  /// There is no position.
  case none
  /// The receiver solves for time alone, with its antenna at a known place. Its position is no measurement and is not given,
  /// unless the board file has made it a base station: see `manual`.
  case timeOnly
  /// A simulator's.
  case simulated
  /// Entered by hand, or the fixed place that a base station was given or has surveyed before.
  case manual
  /// Estimated from the last position: by the receiver's own inertial sensors or wheel ticks, or by carrying the last velocity on.
  case deadReckoning
  /// By satellites and the receiver's own inertial sensors together.
  case combined
  /// By one receiver's code phases alone.
  case autonomous
  /// By the encrypted code of authorized receivers (PPS, the precise positioning service).
  case preciseCode
  /// With code corrections, by a reference station (DGNSS) or by satellite (SBAS).
  case differential
  /// By precise point positioning: orbits and clocks from a service.
  case precisePoint
  /// By carrier phases relative to a base station whose ambiguities are not resolved.
  case rtkFloat
  /// By carrier phases relative to a base station, with their ambiguities resolved.
  case rtkFixed

  /// Whether the satellites of the moment have a part in the position.
  public var isMeasured: Bool { self >= .combined }

  private var rank: UInt8 {
    switch self {
    case .none: 0
    case .timeOnly: 1
    case .simulated: 2
    case .manual: 3
    case .deadReckoning: 4
    case .combined: 5
    case .autonomous: 6
    case .preciseCode: 7
    case .differential: 8
    case .precisePoint: 9
    case .rtkFloat: 10
    case .rtkFixed: 11
    }
  }

  /// Whether a position of one kind is coarser than one of another.
  public static func < (a: FixKind, b: FixKind) -> Bool { a.rank < b.rank }
}

/// The corrections that a position rests on, as far as the receiver reports them.
public struct FixCorrections: Sendable, Hashable, Codable {
  /// The age of the corrections in seconds. From a receiver that reports it in classes (UBX NAV-PVT), the upper end of the class;
  /// 120 is also given for more.
  public var age: Double?
  /// The number of the reference station, 0 to 4095.
  public var station: Int?

  /// Makes corrections of which nothing is known.
  public init(age: Double? = nil, station: Int? = nil) { (self.age, self.station) = (age, station) }

  /// Whether nothing is known of them.
  public var isEmpty: Bool { age == nil && station == nil }
}
