// What the chips that feel motion say of one moment, for whoever asks for them as such.

public import LinearAlgebra

/// How far a calibrated field can be trusted.
public enum FieldTrust: Int, Sendable, Hashable, Codable, CaseIterable {
  /// The chip has no calibration record: the board's iron is in the field.
  case uncalibrated
  /// Calibrated, and something beside the earth is measured, or north is known to no better than 15 degrees.
  case low
  /// North is known to 15 degrees.
  case medium
  /// North is known to 5 degrees.
  case high
}

/// The attitude of one moment, as the filter of gyro, accelerometer and magnetometer knows it.
public struct MotionAttitude: Sendable, Hashable, Codable {
  /// Angular rate without the gyro's bias, rad/s, body frame.
  public var angularRate: Vector3
  /// Body to a frame whose z axis points up and whose y axis lay under the body's when somebody first asked. Gyro and
  /// accelerometer alone: it drifts about the vertical, and no magnetometer ever turns it.
  public var free: Quaternion
  /// The same, with what drifts about the vertical led back to where it was against magnetic north, slowly.
  public var steadied: Quaternion
  /// Body to earth (ENU with y to *magnetic* north); `nil` with a `northReason`.
  public var north: Quaternion?
  /// Why `north` is missing.
  public var northReason: NoData?
  /// Half the width of the 95 % interval about `north`, radians; `nil` where that is missing, or not to be trusted.
  public var northAccuracy: Double?
  /// The angle within which the vertical of `north`, or of `free`, is from the true one with a probability of 95 %, radians; `nil` if that is
  /// not known. About each horizontal axis the standard deviation is this angle divided by 2.448.
  public var tiltAccuracy: Double?
  /// Declination, radians east; `nil` with a `declinationReason`.
  public var declination: Double?
  /// Why `declination` is missing.
  public var declinationReason: NoData?
  /// The field without the board's iron as far as that is known, microtesla, body frame; `nil` where none is measured
  /// or asked for.
  public var field: Vector3?
  /// How far `field` can be trusted.
  public var fieldTrust: FieldTrust

  /// Makes an attitude of which no north is known.
  @inlinable public init(
    angularRate: Vector3, free: Quaternion, steadied: Quaternion, north: Quaternion? = nil,
    northReason: NoData? = nil, declination: Double? = nil, declinationReason: NoData? = nil,
    field: Vector3? = nil, fieldTrust: FieldTrust = .uncalibrated
  ) {
    self.angularRate = angularRate
    self.free = free
    self.steadied = steadied
    self.north = north
    self.northReason = northReason
    self.declination = declination
    self.declinationReason = declinationReason
    self.field = field
    self.fieldTrust = fieldTrust
  }
}

/// The newest samples of the chips that feel motion, in the body frame, and what they say together.
///
/// Each sample has its own time: chips measure at their own rates, and of a chip that is silent the last one stays.
public struct MotionEstimate: Sendable, Hashable, Codable {
  /// The moment that it was published for: that of the newest sample.
  public var time: Timestamp
  /// Specific force, m/s^2: at rest it points up.
  public var force: Sample<Vector3>?
  /// Angular rate as the gyro gives it, its bias included, rad/s.
  public var angularRate: Sample<Vector3>?
  /// The field as the magnetometer gives it, the board's iron included, microtesla.
  public var field: Sample<Vector3>?
  /// The attitude at `time`; `nil` where nobody asks for it, and while there is none.
  public var attitude: MotionAttitude?

  /// Makes an estimate.
  @inlinable public init(
    time: Timestamp, force: Sample<Vector3>? = nil, angularRate: Sample<Vector3>? = nil,
    field: Sample<Vector3>? = nil, attitude: MotionAttitude? = nil
  ) {
    self.time = time
    self.force = force
    self.angularRate = angularRate
    self.field = field
    self.attitude = attitude
  }
}

/// What a board may have to feel motion with.
public enum MotionSensor: String, Sendable, Hashable, Codable, CaseIterable {
  /// Feels gravity and acceleration.
  case accelerometer
  /// Feels turns.
  case gyro
  /// Feels the magnetic field.
  case magnetometer
}

/// What all clients together ask for of the samples themselves.
public struct MotionDemand: Sendable, Hashable, Codable {
  /// Somebody wants what accelerometer or gyro measure.
  public var samples: Bool
  /// Somebody wants attitude.
  public var attitude: Bool
  /// Somebody wants what the magnetometer measures, or an attitude that it has a part in.
  public var field: Bool
  /// Seconds between two samples that are enough for the most demanding of them; `nil`: as the board file says. It says
  /// nothing where nobody wants any.
  public var interval: Double?

  /// Makes a demand.
  public init(
    samples: Bool = false, attitude: Bool = false, field: Bool = false, interval: Double? = nil
  ) {
    self.samples = samples
    self.attitude = attitude
    self.field = field
    self.interval = interval
  }

  /// Whether anything is asked for.
  public var isAny: Bool { samples || attitude || field }

  /// Returns what serves both: the shorter interval, where both want any.
  package func merged(with other: MotionDemand) -> MotionDemand {
    guard isAny else { return other }
    guard other.isAny else { return self }
    var interval: Double?
    if let mine = self.interval, let theirs = other.interval { interval = min(mine, theirs) }
    return MotionDemand(
      samples: samples || other.samples, attitude: attitude || other.attitude,
      field: field || other.field, interval: interval)
  }
}

/// What the board really has to feel motion with, asked of the hardware.
public struct MotionCapabilities: Sendable, Hashable, Codable {
  /// An accelerometer that answers.
  public var accelerometer: Bool
  /// A gyro that answers. Not one that the kernel owns and that has no buffer: its turns come too late to be used.
  public var gyro: Bool
  /// A magnetometer that answers.
  public var magnetometer: Bool
  /// Something says where the board is, so that declination is known or will be.
  public var place: Bool

  /// Makes a list of what there is.
  public init(
    accelerometer: Bool = false, gyro: Bool = false, magnetometer: Bool = false,
    place: Bool = false
  ) {
    self.accelerometer = accelerometer
    self.gyro = gyro
    self.magnetometer = magnetometer
    self.place = place
  }
}

/// Picks of samples that come at their own rate those nearest to an even rhythm.
///
/// Over time there is one sample an interval, however the two rates go together; after a pause the rhythm begins anew.
public struct SampleRhythm: Sendable, Hashable {
  // A step back by more than this is another clock.
  private static let longestStep = 2.0

  private var newest: Timestamp?
  private var slot: Timestamp?

  /// Makes a rhythm that takes the first sample.
  public init() {}

  /// Whether the sample of `time` is taken; one that is no newer than the one before is not.
  ///
  /// - Parameter interval: Seconds between two that are taken; `nil`, zero, negative or NaN takes every one.
  public mutating func accepts(_ time: Timestamp, interval: Double?) -> Bool {
    guard let last = newest else {
      (newest, slot) = (time, time)
      return true
    }
    let spacing = time.seconds(since: last)
    guard spacing > 0 || spacing < -Self.longestStep else { return false }
    newest = time
    guard let interval, interval > 0, let slot, spacing > 0 else {
      self.slot = time
      return true
    }
    let late = time.seconds(since: slot) - interval
    // Of the samples around the slot the nearest: half their spacing, at most half the interval.
    let tolerance = min(spacing, interval) / 2
    guard late >= -tolerance else { return false }
    self.slot = late < tolerance ? slot.advanced(bySeconds: interval) : time
    return true
  }
}
