// The kinds of records that a machine keeps, and one of any kind.

/// What a record is of.
public enum CalibrationKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// Hard and soft iron of a magnetometer.
  case magnetometer
  /// What a gyro says at rest.
  case gyro
  /// How the board sits in what carries it.
  case level
}

/// A record of any kind.
public enum StoredRecord: Sendable, Hashable {
  /// A magnetometer's.
  case magnetometer(CalibrationRecord)
  /// A gyro's.
  case gyro(GyroRecord)
  /// The board's.
  case level(LevelRecord)

  /// Reads a stored record of whatever kind; throws for one that is damaged or not known.
  public init(json: [UInt8]) throws(InvalidRecord) {
    switch try RecordJSON.head(of: json) {
    case .magnetometer: self = .magnetometer(try CalibrationRecord(json: json))
    case .gyro: self = .gyro(try GyroRecord(json: json))
    case .level: self = .level(try LevelRecord(json: json))
    }
  }

  /// The record as JSON with sorted keys; throws for one that would not be read again.
  public func encoded() throws -> [UInt8] {
    switch self {
    case .magnetometer(let record): try record.encoded()
    case .gyro(let record): try record.encoded()
    case .level(let record): try record.encoded()
    }
  }

  /// The record as JSON even where it would not be read again, with what is no number in words: what a person can keep,
  /// and mend, of one that cannot be stored.
  public func draft() throws -> [UInt8] {
    switch self {
    case .magnetometer(let record): try RecordJSON.write(record.stored, isDraft: true)
    case .gyro(let record): try RecordJSON.write(record.stored, isDraft: true)
    case .level(let record): try RecordJSON.write(record.stored, isDraft: true)
    }
  }

  /// What it is of.
  public var kind: CalibrationKind {
    switch self {
    case .magnetometer: .magnetometer
    case .gyro: .gyro
    case .level: .level
    }
  }

  /// The chip it was made with.
  public var chip: String {
    get {
      switch self {
      case .magnetometer(let record): record.chip
      case .gyro(let record): record.chip
      case .level(let record): record.chip
      }
    }
    set {
      change(
        magnetometer: { $0.chip = newValue }, gyro: { $0.chip = newValue },
        level: { $0.chip = newValue })
    }
  }

  /// Where that chip is: `/dev/i2c-1:0x1e`.
  public var busPosition: String {
    get {
      switch self {
      case .magnetometer(let record): record.busPosition
      case .gyro(let record): record.busPosition
      case .level(let record): record.busPosition
      }
    }
    set {
      change(
        magnetometer: { $0.busPosition = newValue }, gyro: { $0.busPosition = newValue },
        level: { $0.busPosition = newValue })
    }
  }

  /// The board's name.
  public var board: String {
    switch self {
    case .magnetometer(let record): record.board
    case .gyro(let record): record.board
    case .level(let record): record.board
    }
  }

  /// When it was made, ISO 8601 UTC.
  public var date: String {
    switch self {
    case .magnetometer(let record): record.date
    case .gyro(let record): record.date
    case .level(let record): record.date
    }
  }

  /// How it was found.
  public var method: String {
    switch self {
    case .magnetometer(let record): record.method
    case .gyro(let record): record.method
    case .level(let record): record.method
    }
  }

  /// Whether nothing may take its place unless a person says so.
  public var isLocked: Bool {
    get {
      switch self {
      case .magnetometer(let record): record.isLocked
      case .gyro(let record): record.isLocked
      case .level(let record): record.isLocked
      }
    }
    set {
      change(
        magnetometer: { $0.isLocked = newValue }, gyro: { $0.isLocked = newValue },
        level: { $0.isLocked = newValue })
    }
  }

  private mutating func change(
    magnetometer: (inout CalibrationRecord) -> Void, gyro: (inout GyroRecord) -> Void,
    level: (inout LevelRecord) -> Void
  ) {
    switch self {
    case .magnetometer(var record):
      magnetometer(&record)
      self = .magnetometer(record)
    case .gyro(var record):
      gyro(&record)
      self = .gyro(record)
    case .level(var record):
      level(&record)
      self = .level(record)
    }
  }

  /// Whether both say the same, locked or not.
  public func saysTheSame(as other: StoredRecord) -> Bool {
    var (mine, its) = (self, other)
    mine.isLocked = false
    its.isLocked = false
    return mine == its
  }
}
