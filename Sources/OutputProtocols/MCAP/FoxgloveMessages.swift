// Messages of Foxglove as JSON: what ROS 2 has no message for, or what Foxglove's map reads without a ROS schema
// (docs.foxglove.dev, message schemas LocationFix and Log).

import TextForms

/// `foxglove.LocationFix`. JSON has no NaN: what is not known is left out.
struct FoxgloveLocationFix {
  var nanoseconds: UInt64
  var frame: String
  /// Degrees.
  var latitude: Double
  /// Degrees.
  var longitude: Double
  /// Metres above the WGS 84 ellipsoid.
  var altitude: Double?
  /// East, north and up in m^2; `nil` where one of them is not known.
  var covariance: [Double]?
  var covarianceType = ROSNavSatFix.CovarianceType.unknown

  var bytes: [UInt8] {
    var line = JSONLine()
    line.setTimestamp(nanoseconds)
    line.set("frame_id", frame)
    line.set("latitude", latitude, digits: 9)
    line.set("longitude", longitude, digits: 9)
    line.set("altitude", altitude, digits: 4)
    line.set("position_covariance", covariance, digits: 6)
    line.set(
      "position_covariance_type", Int(covariance == nil ? 0 : covarianceType.rawValue))
    return Array(line.line.utf8)
  }
}

/// `foxglove.Log`: a message in words, for example the reason why heading is not available.
struct FoxgloveLog {
  enum Level: Int {
    case info = 2
    case warning = 3
  }

  var nanoseconds: UInt64
  var level: Level
  var message: String
  /// What it is about.
  var name: String

  var bytes: [UInt8] {
    var line = JSONLine()
    line.setTimestamp(nanoseconds)
    line.set("level", level.rawValue)
    line.set("message", message)
    line.set("name", name)
    line.set("file", "")
    line.set("line", 0)
    return Array(line.line.utf8)
  }
}

/// The JSON schemas of the messages.
enum FoxgloveSchema: String {
  case locationFix = "foxglove.LocationFix"
  case log = "foxglove.Log"

  static let encoding = "jsonschema"

  var text: String {
    switch self {
    case .locationFix:
      """
      {"title":"foxglove.LocationFix","type":"object","properties":{\
      \(Self.timestamp),"frame_id":{"type":"string"},\
      "latitude":{"type":"number"},"longitude":{"type":"number"},"altitude":{"type":"number"},\
      "position_covariance":{"type":"array","items":{"type":"number"},"minItems":9,"maxItems":9},\
      "position_covariance_type":{"title":"foxglove.PositionCovarianceType","oneOf":[\
      {"title":"UNKNOWN","const":0},{"title":"APPROXIMATED","const":1},\
      {"title":"DIAGONAL_KNOWN","const":2},{"title":"KNOWN","const":3}]}}}
      """
    case .log:
      """
      {"title":"foxglove.Log","type":"object","properties":{\
      \(Self.timestamp),"level":{"title":"foxglove.LogLevel","oneOf":[\
      {"title":"UNKNOWN","const":0},{"title":"DEBUG","const":1},{"title":"INFO","const":2},\
      {"title":"WARNING","const":3},{"title":"ERROR","const":4},{"title":"FATAL","const":5}]},\
      "message":{"type":"string"},"name":{"type":"string"},"file":{"type":"string"},\
      "line":{"type":"integer","minimum":0}}}
      """
    }
  }

  private static let timestamp = """
    "timestamp":{"type":"object","title":"time","properties":{\
    "sec":{"type":"integer","minimum":0},\
    "nsec":{"type":"integer","minimum":0,"maximum":999999999}}}
    """
}

extension JSONLine {
  fileprivate mutating func setTimestamp(_ nanoseconds: UInt64) {
    var time = JSONLine()
    time.set("sec", Int(clamping: nanoseconds / 1_000_000_000))
    time.set("nsec", Int(nanoseconds % 1_000_000_000))
    set("timestamp", time)
  }
}
