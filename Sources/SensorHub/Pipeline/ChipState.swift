// What the pipeline keeps of each chip, and what stored records make of it.

import CalibrationCore
import FusionCore
import LinearAlgebra
import SensorDrivers
import SensorTypes
import StateStore

/// One chip of the board: how it is mounted, and the records that its samples are corrected by.
struct ChipState: Sendable {
  let kind: ChipKind
  /// From the chip's frame to the carrier's: its mount, then the board's level.
  private(set) var mount: Matrix3
  private let ownMount: Mount
  /// -1 for a mirrored mount: an angular rate is an axial vector.
  let sense: Double
  private(set) var calibration: AppliedCalibration?
  private(set) var quality = MagnetometerQuality.uncalibrated
  /// A magnetometer's newest sample, not corrected, in its own frame.
  var newestField: Vector3?
  /// Counts the records that were applied.
  private(set) var calibrations: UInt32 = 0
  /// Whether this is the first chip of its kind, the one that is listened to.
  var isPrimary: Bool
  /// Whether it is listened to, and feels gravity.
  var feelsGravity: Bool { isPrimary && (kind == .inertial || kind == .accelerometer) }
  /// Whether an inertial chip says how it turns.
  var givesRate = true
  /// Whether its file was found to be of no use: it is put aside then, and the record in use stays.
  private var fileWasUnusable = false
  /// What its own record says of a gyro's bias.
  private(set) var gyroBias: AppliedGyroBias?

  init(_ kind: ChipKind, _ mount: Mount, isPrimary: Bool) {
    self.kind = kind
    ownMount = mount
    self.mount = mount.matrix
    sense = mount.isMirrored ? -1 : 1
    self.isPrimary = isPrimary
  }

  /// The number of the record that its samples are corrected by; `nil` where there is none.
  var appliedRecord: UInt32? { calibration == nil ? nil : calibrations }

  /// A field in the body frame: corrected, then turned.
  func corrected(_ raw: Vector3) -> Vector3 { mount * (calibration?.correct(raw) ?? raw) }

  /// What its record says of a gyro's bias, rad/s in the body frame, and one sigma of it.
  var bodyGyroBias: (value: Vector3, deviation: Double)? {
    gyroBias.map { (sense * (mount * $0.bias), $0.deviation) }
  }

  /// Takes the board's level, behind which the mount stands.
  mutating func apply(level: Quaternion?) {
    let own = ownMount.matrix
    mount = level.map { $0.matrix * own } ?? own
    if let calibration { quality = MagnetometerQuality(calibration, mount: mount) }
  }

  /// Takes what a magnetometer's file says now.
  ///
  /// - Parameter name: What a person calls the chip.
  /// - Returns: What a person should know; by how much the newest sample of the field, in the body frame, is another one
  ///   now; `nil` where the record stays the same.
  mutating func apply(
    _ finding: StoredFinding<AppliedCalibration>, name: String
  ) -> (note: String?, shift: Vector3?) {
    let wasUnusable = fileWasUnusable
    fileWasUnusable = finding.isUnusable
    let before = calibration
    var note: String?
    switch finding {
    case .record(let new):
      guard new != before else { return (nil, nil) }
      calibration = new
      calibrations &+= 1
      quality = MagnetometerQuality(new, mount: mount)
      if before != nil { note = "\(name): the new calibration is applied" }
    // Gone because it was put aside: that was said, and the one before stays.
    case .none where wasUnusable: return (nil, nil)
    case .none:
      calibration = nil
      quality = .uncalibrated
      note = "\(name) is not calibrated: heading will not be trusted"
    case .unusable(let reason):
      let consequence = before != nil ? "the one before stays" : "heading will not be trusted"
      return (
        "\(name): its calibration record cannot be used (\(reason)): \(consequence); "
          + "lodestone calibrate list shows what there is", nil
      )
    }
    guard let raw = newestField else { return (note, nil) }
    let shift = (calibration?.correct(raw) ?? raw) - (before?.correct(raw) ?? raw)
    return (note, mount * shift)
  }

  /// Takes what a gyro's file says now. Returns what a person should know, and whether the record is another one.
  mutating func apply(
    _ finding: StoredFinding<AppliedGyroBias>, name: String
  ) -> (note: String?, isNew: Bool) {
    switch finding {
    case .none: return (nil, false)
    case .record(let bias):
      guard bias != gyroBias else { return (nil, false) }
      defer { gyroBias = bias }
      return (gyroBias == nil ? nil : "\(name): the gyro's new record was read", true)
    case .unusable(let reason):
      return (
        "\(name): its gyro record cannot be used (\(reason)): its bias is learned from rest; "
          + "lodestone calibrate list shows what there is", false
      )
    }
  }
}

/// How the board sits in its carrier, as its record says.
struct BoardLevel: Sendable {
  private(set) var rotation: Quaternion?
  private var fileWasUnusable = false

  /// Takes what the file says now. Returns what a person should know, and the turn from the level before, where there is
  /// another one.
  mutating func apply(
    _ finding: StoredFinding<Quaternion>
  ) -> (note: String?, turn: Quaternion?) {
    let wasUnusable = fileWasUnusable
    fileWasUnusable = finding.isUnusable
    let new: Quaternion?
    switch finding {
    case .record(let rotation): new = rotation
    case .none where wasUnusable: return (nil, nil)
    case .none: new = nil
    case .unusable(let reason):
      let consequence = rotation == nil ? "the board is as its mounts say" : "the one before stays"
      return (
        "the board's level record cannot be used (\(reason)): \(consequence); "
          + "lodestone calibrate list shows what there is", nil
      )
    }
    guard new != rotation else { return (nil, nil) }
    defer { rotation = new }
    return (nil, (new ?? .identity) * (rotation ?? .identity).conjugate)
  }
}
