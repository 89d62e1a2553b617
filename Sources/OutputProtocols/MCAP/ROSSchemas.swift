// The definitions of the messages, in ROS 2's interface definition language, as a file must bring them along.

/// A message type of ROS 2 with its definition and that of the types in it.
enum ROSSchema: String, CaseIterable {
  case imu = "sensor_msgs/msg/Imu"
  case magneticField = "sensor_msgs/msg/MagneticField"
  case navSatFix = "sensor_msgs/msg/NavSatFix"
  case fluidPressure = "sensor_msgs/msg/FluidPressure"
  case temperature = "sensor_msgs/msg/Temperature"
  case relativeHumidity = "sensor_msgs/msg/RelativeHumidity"
  case log = "rcl_interfaces/msg/Log"
  case azimuth = "compass_interfaces/msg/Azimuth"

  static let encoding = "ros2msg"

  /// The definition, then those of the types in it, each behind a line of 80 equals signs and its name.
  var text: String {
    ([definition] + parts.map { "MSG: \($0.0)\n\($0.1)" })
      .joined(separator: String(repeating: "=", count: 80) + "\n")
  }

  private var definition: String {
    switch self {
    case .imu:
      """
      std_msgs/Header header
      geometry_msgs/Quaternion orientation
      float64[9] orientation_covariance
      geometry_msgs/Vector3 angular_velocity
      float64[9] angular_velocity_covariance
      geometry_msgs/Vector3 linear_acceleration
      float64[9] linear_acceleration_covariance

      """
    case .magneticField:
      """
      std_msgs/Header header
      geometry_msgs/Vector3 magnetic_field
      float64[9] magnetic_field_covariance

      """
    case .navSatFix:
      """
      std_msgs/Header header
      sensor_msgs/NavSatStatus status
      float64 latitude
      float64 longitude
      float64 altitude
      float64[9] position_covariance
      uint8 COVARIANCE_TYPE_UNKNOWN = 0
      uint8 COVARIANCE_TYPE_APPROXIMATED = 1
      uint8 COVARIANCE_TYPE_DIAGONAL_KNOWN = 2
      uint8 COVARIANCE_TYPE_KNOWN = 3
      uint8 position_covariance_type

      """
    case .fluidPressure: Self.scalar("fluid_pressure")
    case .temperature: Self.scalar("temperature")
    case .relativeHumidity: Self.scalar("relative_humidity")
    case .log:
      """
      builtin_interfaces/Time stamp
      uint8 level
      string name
      string msg
      string file
      string function
      uint32 line

      """
    case .azimuth:
      """
      std_msgs/Header header
      float64 azimuth
      float64 variance
      uint8 UNIT_RAD=0
      uint8 UNIT_DEG=1
      uint8 unit
      uint8 ORIENTATION_ENU=0
      uint8 ORIENTATION_NED=1
      uint8 orientation
      uint8 REFERENCE_MAGNETIC=0
      uint8 REFERENCE_GEOGRAPHIC=1
      uint8 REFERENCE_UTM=2
      uint8 reference

      """
    }
  }

  private var parts: [(String, String)] {
    switch self {
    case .imu: Self.header + [Self.quaternion, Self.vector]
    case .magneticField: Self.header + [Self.vector]
    case .navSatFix: Self.header + [Self.status]
    case .fluidPressure, .temperature, .relativeHumidity, .azimuth: Self.header
    case .log: [Self.time]
    }
  }

  private static func scalar(_ name: String) -> String {
    "std_msgs/Header header\nfloat64 \(name)\nfloat64 variance\n"
  }

  private static let header = [
    ("std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"),
    time,
  ]
  private static let time = ("builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n")
  private static let quaternion = (
    "geometry_msgs/Quaternion",
    "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n"
  )
  private static let vector = ("geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n")
  private static let status = (
    "sensor_msgs/NavSatStatus",
    """
    int8 STATUS_NO_FIX = -1
    int8 STATUS_FIX = 0
    int8 STATUS_SBAS_FIX = 1
    int8 STATUS_GBAS_FIX = 2
    int8 status
    uint16 SERVICE_GPS = 1
    uint16 SERVICE_GLONASS = 2
    uint16 SERVICE_COMPASS = 4
    uint16 SERVICE_GALILEO = 8
    uint16 service

    """
  )
}
