// The ROS 2 messages of sensors (package sensor_msgs of ROS 2, interface definitions of Humble and later), as CDR.

import LinearAlgebra

/// The header of a message. A time of zero says that it is not known.
struct ROSHeader {
  /// UTC in nanoseconds since 1970; 0 where the date is not known.
  var nanoseconds: UInt64
  var frame: String

  func write(into bytes: inout CDRBytes) {
    writeTime(into: &bytes)
    bytes.append(frame)
  }

  func writeTime(into bytes: inout CDRBytes) {
    bytes.append(Int32(clamping: nanoseconds / 1_000_000_000))
    bytes.append(UInt32(nanoseconds % 1_000_000_000))
  }
}

/// Nine numbers of a covariance by rows.
enum ROSCovariance {
  /// The first element is -1: the quantity is not measured.
  static let absent: [Double] = [-1, 0, 0, 0, 0, 0, 0, 0, 0]
  /// All zero: the covariance is not known.
  static let unknown = [Double](repeating: 0, count: 9)
}

/// `sensor_msgs/msg/Imu`. Vectors are in `imu_link`: x forward, y left, z up.
struct ROSImu {
  var header: ROSHeader
  /// `imu_link` to a frame with x east, y north, z up; `nil` where it is not known.
  var orientation: Quaternion?
  var orientationCovariance = ROSCovariance.unknown
  /// rad/s; `nil` where it is not measured.
  var angularVelocity: Vector3?
  /// Specific force in m/s^2, which points up at rest; `nil` where it is not measured.
  var linearAcceleration: Vector3?

  var bytes: [UInt8] {
    var bytes = CDRBytes()
    header.write(into: &bytes)
    let vector = orientation?.vector ?? ROSImu.absent
    bytes.append([vector.x, vector.y, vector.z, orientation?.w ?? .nan])
    bytes.append(orientation == nil ? ROSCovariance.absent : orientationCovariance)
    for value in [angularVelocity, linearAcceleration] {
      let vector = value ?? ROSImu.absent
      bytes.append([vector.x, vector.y, vector.z])
      bytes.append(value == nil ? ROSCovariance.absent : ROSCovariance.unknown)
    }
    return bytes.bytes
  }

  private static let absent = Vector3(.nan, .nan, .nan)
}

/// `sensor_msgs/msg/MagneticField`, in tesla, in `imu_link`.
struct ROSMagneticField {
  var header: ROSHeader
  var field: Vector3

  var bytes: [UInt8] {
    var bytes = CDRBytes()
    header.write(into: &bytes)
    bytes.append([field.x, field.y, field.z])
    bytes.append(ROSCovariance.unknown)
    return bytes.bytes
  }
}

/// `sensor_msgs/msg/NavSatFix`.
struct ROSNavSatFix {
  enum NavSatFixStatus: Int8 {
    case noFix = -1
    case fix = 0
    /// Augmented by satellite.
    case satelliteAugmented = 1
    /// Augmented by a base station.
    case groundAugmented = 2
  }

  enum CovarianceType: UInt8 {
    case unknown = 0
    case approximated = 1
    case diagonalKnown = 2
  }

  var header: ROSHeader
  var status: NavSatFixStatus
  /// Bits of the satellite systems: 1 GPS, 2 GLONASS, 4 BeiDou, 8 Galileo; 0 where they are not known.
  var service: UInt16 = 0
  /// Degrees; NaN where it is not known.
  var latitude = Double.nan
  /// Degrees; NaN where it is not known.
  var longitude = Double.nan
  /// Metres above the WGS 84 ellipsoid; NaN where it is not known.
  var altitude = Double.nan
  /// East, north and up in m^2.
  var covariance = ROSCovariance.unknown
  var covarianceType = CovarianceType.unknown

  var bytes: [UInt8] {
    var bytes = CDRBytes()
    header.write(into: &bytes)
    bytes.append(status.rawValue)
    bytes.append(service)
    bytes.append([latitude, longitude, altitude])
    bytes.append(covariance)
    bytes.append(covarianceType.rawValue)
    return bytes.bytes
  }
}

/// `rcl_interfaces/msg/Log`: a message in words, for example the reason why heading is not available.
struct ROSLog {
  enum Level: UInt8 {
    case info = 20
    case warning = 30
  }

  var header: ROSHeader
  var level: Level
  /// What it is about.
  var name: String
  var message: String

  var bytes: [UInt8] {
    var bytes = CDRBytes()
    header.writeTime(into: &bytes)
    bytes.append(level.rawValue)
    bytes.append(name)
    bytes.append(message)
    // File and function: none.
    bytes.append("")
    bytes.append("")
    bytes.append(UInt32(0))
    return bytes.bytes
  }
}

/// `compass_interfaces/msg/Azimuth`: a heading with its variance and its north (docs.ros.org/en/rolling/p/compass_interfaces).
struct ROSAzimuth {
  enum Reference: UInt8 {
    case magnetic = 0
    case geographic = 1
  }

  var header: ROSHeader
  /// Radians, 0 east, positive to the left, -pi to pi; NaN where it is not known.
  var azimuth: Double
  /// rad^2; NaN where it is not known.
  var variance: Double
  var reference: Reference

  /// Makes the azimuth of a heading in radians clockwise from north; `nil` makes one that is not known.
  ///
  /// - Parameter accuracy: Half the width of the 95 % interval, in radians.
  init(header: ROSHeader, heading: Double?, accuracy: Double?, reference: Reference) {
    (self.header, self.reference) = (header, reference)
    guard let heading = heading.finite, let accuracy = accuracy.finite else {
      (azimuth, variance) = (.nan, .nan)
      return
    }
    azimuth = (Double.pi / 2 - heading).remainder(dividingBy: 2 * Double.pi)
    let sigma = accuracy / 1.959_963_985
    variance = sigma * sigma
  }

  var bytes: [UInt8] {
    var bytes = CDRBytes()
    header.write(into: &bytes)
    bytes.append(azimuth)
    bytes.append(variance)
    // Radians, and 0 is east.
    bytes.append(UInt8(0))
    bytes.append(UInt8(0))
    bytes.append(reference.rawValue)
    return bytes.bytes
  }
}

/// `sensor_msgs/msg/FluidPressure` in pascals, `Temperature` in degrees Celsius, `RelativeHumidity` from 0 to 1: all alike.
struct ROSScalar {
  var header: ROSHeader
  var value: Double
  /// 0 where it is not known.
  var variance = 0.0

  var bytes: [UInt8] {
    var bytes = CDRBytes()
    header.write(into: &bytes)
    bytes.append(value)
    bytes.append(variance)
    return bytes.bytes
  }
}
