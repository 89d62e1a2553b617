// What a gyro says at rest, as it is stored: JSON, schema 1 (Calibration/README.md).

public import LinearAlgebra

/// A gyro's bias, with how it came about. It belongs to one chip at one place.
public struct GyroRecord: Sendable, Hashable {
  /// The most that a data sheet allows on an axis, rad/s: an MPU6050's 20 deg/s and as much again over temperature
  /// (PS-MPU-6000A-00 rev. 3.4, 6.1). An LSM9DS1 has 30 as typical (DocID025715 rev. 3, table 3).
  static let largestBias = 40 * Double.pi / 180

  /// Whether a gyro can say so at rest. Each axis for itself: three at their worst are no less likely than one.
  static func isPossible(_ bias: Vector3) -> Bool {
    (0..<3).allSatisfy { abs(bias[$0]) <= largestBias }
  }

  /// The chip's name, as in a board file.
  public var chip: String
  /// Where it is: `/dev/i2c-1:0x6a`.
  public var busPosition: String
  /// The board's name.
  public var board: String
  /// When it was made, ISO 8601 UTC.
  public var date: String
  /// How: `rest`.
  public var method: String
  /// Samples in the mean.
  public var samples: Int
  /// What the chip says at rest, rad/s, in its own frame; at most 40 deg/s on an axis.
  public var bias: Vector3
  /// One sigma of the mean on the worst axis, rad/s.
  public var deviation: Double
  /// The board's temperature then, degrees Celsius; `nil` where it was not measured.
  public var temperature: Double?
  /// Whether nothing may take its place unless a person says so.
  public var isLocked: Bool

  /// Makes a record.
  public init(
    chip: String, busPosition: String, board: String, date: String, method: String = "rest",
    samples: Int, bias: Vector3, deviation: Double, temperature: Double? = nil,
    isLocked: Bool = false
  ) {
    self.chip = chip
    self.busPosition = busPosition
    self.board = board
    self.date = date
    self.method = method
    self.samples = samples
    self.bias = bias
    self.deviation = deviation
    self.temperature = temperature
    self.isLocked = isLocked
  }

  /// The part that is applied.
  public var applied: AppliedGyroBias { AppliedGyroBias(bias: bias, measured: deviation) }
}

/// A gyro's bias as an estimator starts with it, in the chip's own frame.
public struct AppliedGyroBias: Sendable, Hashable {
  /// How far a bias may have gone since it was measured, rad/s: 20 K at 0.01 deg/s a kelvin, which is what
  /// data sheets of small inertial chips give as typical, and what switching on and off adds.
  static let wandering = 0.2 * Double.pi / 180

  /// rad/s.
  public var bias: Vector3
  /// One sigma of each axis, rad/s.
  public var deviation: Double

  /// Makes a bias that was measured to `measured` rad/s, one sigma, at some other time.
  public init(bias: Vector3, measured: Double) {
    self.bias = bias
    deviation = (measured * measured + Self.wandering * Self.wandering).squareRoot()
  }
}

extension GyroRecord {
  struct Stored: Codable {
    var schema: Int
    var kind: CalibrationKind
    var chip: String
    var busPosition: String
    var board: String
    var date: String
    var method: String
    var samples: Int
    var bias: [Double]
    var deviation: Double
    var temperature: Double?
    var locked: Bool?
  }

  /// Reads a stored record; throws for one that is damaged, of another schema or kind, or that no gyro could
  /// have given.
  public init(json: [UInt8]) throws(InvalidRecord) {
    let stored = try RecordJSON.read(json, as: .gyro, Stored.self)
    self.init(
      chip: stored.chip, busPosition: stored.busPosition, board: stored.board, date: stored.date,
      method: stored.method, samples: stored.samples,
      bias: try RecordJSON.vector(stored.bias, "bias"), deviation: stored.deviation,
      temperature: stored.temperature, isLocked: stored.locked ?? false)
    try validate()
  }

  /// The record as JSON with sorted keys; throws for one that would not be read again.
  public func encoded() throws -> [UInt8] {
    try validate()
    return try RecordJSON.write(stored)
  }

  /// As JSON spells it, whether or not it is a good one.
  var stored: Stored {
    Stored(
      schema: CalibrationRecord.schema, kind: .gyro, chip: chip, busPosition: busPosition,
      board: board, date: date, method: method, samples: samples, bias: RecordJSON.list(bias),
      deviation: deviation, temperature: temperature, locked: isLocked ? true : nil)
  }

  private func validate() throws(InvalidRecord) {
    try RecordJSON.check(chip: chip, busPosition: busPosition, others: [board, date, method])
    guard Self.isPossible(bias) else {
      throw InvalidRecord(
        description: "a bias of \(bias.length) rad/s is beyond any chip")
    }
    guard (0...Self.largestBias).contains(deviation), samples >= 0 else {
      throw InvalidRecord(description: "deviation or samples cannot be right")
    }
    try RecordJSON.check(temperature: temperature)
  }
}
