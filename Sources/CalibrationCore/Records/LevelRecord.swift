// How a board sits in what carries it, as it is stored: JSON, schema 1 (Calibration/README.md).

public import LinearAlgebra
public import SensorTypes

/// How the board sits in its carrier: a small rotation that is applied to everything after the mounts.
///
/// It belongs to the board. What tells one board from another is the chip that feels gravity, where that is,
/// and its mount in the board file: with another mount the rotation would mean something else.
public struct LevelRecord: Sendable, Hashable {
  /// More than this is a mount, not a level, degrees.
  public static let largestTilt = 45.0
  /// As much of a turn about the vertical (the quaternion's z) is rounding, by hand to six decimals perhaps.
  static let rounding = 1e-5

  /// The chip that felt gravity, as in a board file.
  public var chip: String
  /// Where it is: `/dev/i2c-1:0x6a`.
  public var busPosition: String
  /// Its mount then.
  public var mount: Mount
  /// The board's name.
  public var board: String
  /// When it was made, ISO 8601 UTC.
  public var date: String
  /// How: `onePosition` or `twoPositions`.
  public var method: String
  /// Samples in the mean.
  public var samples: Int
  /// From the frame that the mounts give to the carrier's, a unit quaternion.
  public var rotation: Quaternion
  /// One sigma of the mean tilt, degrees: scatter alone, without what the chip's own bias adds.
  public var deviation: Double
  /// The tilt of what the board lay on, degrees; `nil` where it was measured in one position only and is part
  /// of the rotation.
  public var surfaceTilt: Double?
  /// Whether nothing may take its place unless a person says so.
  public var isLocked: Bool

  /// Makes a record.
  public init(
    chip: String, busPosition: String, mount: Mount, board: String, date: String, method: String,
    samples: Int, rotation: Quaternion, deviation: Double, surfaceTilt: Double? = nil,
    isLocked: Bool = false
  ) {
    self.chip = chip
    self.busPosition = busPosition
    self.mount = mount
    self.board = board
    self.date = date
    self.method = method
    self.samples = samples
    self.rotation = rotation
    self.deviation = deviation
    self.surfaceTilt = surfaceTilt
    self.isLocked = isLocked
  }

  /// How far the board is from level in its carrier, degrees.
  public var tilt: Double { rotation.rotationVector.length * 180 / .pi }
}

extension LevelRecord {
  struct Stored: Codable {
    var schema: Int
    var kind: CalibrationKind
    var chip: String
    var busPosition: String
    var mount: [SignedAxis]
    var board: String
    var date: String
    var method: String
    var samples: Int
    var rotation: [Double]
    var deviation: Double
    var surfaceTilt: Double?
    var locked: Bool?
  }

  /// Reads a stored record; throws for one that is damaged, of another schema or kind, or that no board could
  /// have given.
  public init(json: [UInt8]) throws(InvalidRecord) {
    let stored = try RecordJSON.read(json, as: .level, Stored.self)
    guard stored.mount.count == 3,
      let mount = Mount(x: stored.mount[0], y: stored.mount[1], z: stored.mount[2])
    else { throw InvalidRecord(description: "'mount' is no mount") }
    let q = stored.rotation
    guard q.count == 4, q.allSatisfy(\.isFinite) else {
      throw InvalidRecord(description: "rotation must be four finite numbers")
    }
    let given = Quaternion(w: q[0], vector: Vector3(q[1], q[2], q[3]))
    let square = given.w * given.w + given.vector.lengthSquared
    guard abs(square - 1) < 1e-3 else {
      throw InvalidRecord(description: "rotation is no unit quaternion")
    }
    self.init(
      chip: stored.chip, busPosition: stored.busPosition, mount: mount, board: stored.board,
      date: stored.date, method: stored.method, samples: stored.samples,
      // One that was written by this version is read as it was, to the bit.
      rotation: abs(square - 1) < 1e-14 ? given : given.normalized, deviation: stored.deviation,
      surfaceTilt: stored.surfaceTilt, isLocked: stored.locked ?? false)
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
      schema: CalibrationRecord.schema, kind: .level, chip: chip, busPosition: busPosition,
      mount: [mount.x, mount.y, mount.z], board: board, date: date, method: method,
      samples: samples,
      rotation: [rotation.w, rotation.vector.x, rotation.vector.y, rotation.vector.z],
      deviation: deviation, surfaceTilt: surfaceTilt, locked: isLocked ? true : nil)
  }

  private func validate() throws(InvalidRecord) {
    try RecordJSON.check(chip: chip, busPosition: busPosition, others: [board, date, method])
    guard tilt <= Self.largestTilt else {
      throw InvalidRecord(
        description: "a tilt of \(tilt) degrees is a mount, not a level")
    }
    // What turns about the vertical is no level: it would turn every heading by as much.
    guard abs(rotation.vector.z) <= Self.rounding else {
      throw InvalidRecord(
        description: "the rotation turns about the vertical: a level does not")
    }
    guard (0...Self.largestTilt).contains(deviation), samples >= 0,
      (0...Self.largestTilt).contains(surfaceTilt ?? 0)
    else {
      throw InvalidRecord(
        description: "deviation, samples or surfaceTilt cannot be right")
    }
  }
}
