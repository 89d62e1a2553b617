// Frames of MAVLink 2 in words. Names, order, units and words for "not known": common.xml of MAVLink, as pymavlink 2.4.50 has it.

/// Reads the frames of messages that a board sends.
package enum MAVLinkDecoder {
  /// Begin, length, two flags, sequence, system, component and three bytes of the number.
  private static let headLength = 10

  /// Reads a frame without a signature; `nil` for bytes that are none, and for one with a wrong checksum or of a message that a board does
  /// not send.
  package static func decode(_ frame: [UInt8]) -> DecodedMessage? {
    guard frame.count >= headLength + 2, frame[0] == 0xFD,
      frame.count == headLength + Int(frame[1]) + 2, frame[2] == 0
    else { return nil }
    let number = UInt32(frame[7]) | UInt32(frame[8]) << 8 | UInt32(frame[9]) << 16
    guard let kind = MAVLinkMessage.MessageKind(rawValue: number) else { return nil }
    var checksum = MAVLinkChecksum()
    for byte in frame[1..<frame.count - 2] { checksum.add(byte) }
    checksum.add(kind.guardByte)
    let sent = UInt16(frame[frame.count - 2]) | UInt16(frame[frame.count - 1]) << 8
    guard checksum.value == sent else { return nil }
    var message = DecodedMessage(kind.name)
    message.append("system", "\(frame[5])")
    message.append("component", "\(frame[6])")
    message.append("sequence", "\(frame[4])")
    // Zeros at the end of a payload are not sent.
    let payload = frame[headLength..<frame.count - 2]
    var reader = BinaryFields(payload + [UInt8](repeating: 0, count: 255 - payload.count))
    for field in kind.fields { message.append(field.name, field.read(&reader)) }
    return message
  }
}

/// A field of a message: its name, and how it is read.
struct MAVLinkField: Sendable {
  var name: String
  /// Returns the value with its unit, or `nil` for one that is not known.
  var read: @Sendable (inout BinaryFields) -> String?

  /// A whole number in steps of `scale`.
  ///
  /// - Parameter none: The word for a value that is not known, if there is one.
  static func integer(
    _ name: String, _ bits: Int, _ scale: Double = 1, digits: Int = 0, unit: String = "",
    hasSign: Bool = false, none: Int64? = nil
  ) -> MAVLinkField {
    MAVLinkField(name: name) { reader in
      guard let raw = reader.number(bits: bits) else { return nil }
      let number = hasSign ? BinaryFields.signed(raw, bits: bits) : Int64(clamping: raw)
      return number == none ? nil : DecodedNumber.text(Double(number) * scale, digits, unit)
    }
  }

  /// A number of IEEE 754. NaN is not known.
  static func float(_ name: String, unit: String = "", none: Float? = nil) -> MAVLinkField {
    MAVLinkField(name: name) { reader in
      guard let value = reader.float(), value != none else { return nil }
      return DecodedNumber.text(Double(value)).map { unit.isEmpty ? $0 : "\($0) \(unit)" }
    }
  }

  /// Several numbers of IEEE 754. NaN as the first says that none is known.
  static func floats(_ name: String, _ count: Int) -> MAVLinkField {
    MAVLinkField(name: name) { reader in
      let values = (0..<count).map { _ in reader.float().flatMap { DecodedNumber.text(Double($0)) }
      }
      guard values.first != .some(nil) else { return nil }
      return "[\(values.map { $0 ?? DecodedMessage.notKnown }.joined(separator: ", "))]"
    }
  }

  /// A number of a list.
  static func list(_ name: String, _ names: [UInt64: String]) -> MAVLinkField {
    MAVLinkField(name: name) { reader in
      reader.number(bits: 8).map { names[$0] ?? "number \($0)" }
    }
  }

  /// Bits with a meaning each, from the lowest on.
  static func flags(_ name: String, _ bits: Int, _ names: [String]) -> MAVLinkField {
    MAVLinkField(name: name) { reader in
      reader.number(bits: bits).map { value in
        let set = names.indices.filter { value >> UInt64($0) & 1 == 1 }.map { names[$0] }
        return set.isEmpty ? "none" : "(\(set.joined(separator: ", ")))"
      }
    }
  }

  /// Microseconds since 1970 or since the boot, which their size tells apart.
  static let time = MAVLinkField(name: "time_usec") { reader in
    guard let microseconds = reader.number(bits: 64) else { return nil }
    let seconds = Double(microseconds) / 1e6
    // 1980 in seconds since 1970.
    guard seconds > 315_532_800 else {
      return DecodedNumber.text(seconds, 3, "s since the boot")
    }
    return DecodedNumber.utc(seconds)
  }

  static let bootTime = integer("time_boot_ms", 32, 1e-3, digits: 3, unit: "s since the boot")

  static func place(_ name: String) -> MAVLinkField {
    integer(name, 32, 1e-7, digits: 7, unit: "deg", hasSign: true, none: Int64(Int32.max))
  }

  static func height(_ name: String) -> MAVLinkField {
    integer(name, 32, 1e-3, digits: 3, unit: "m", hasSign: true, none: Int64(Int32.max))
  }

  static func speed(_ name: String) -> MAVLinkField {
    integer(name, 16, 0.01, digits: 2, unit: "m/s", hasSign: true, none: Int64(Int16.max))
  }
}

extension MAVLinkMessage.MessageKind {
  /// The name in the definition of the messages (common.xml).
  package var name: String {
    switch self {
    case .heartbeat: "HEARTBEAT"
    case .scaledPressure: "SCALED_PRESSURE"
    case .globalPosition: "GLOBAL_POSITION_INT"
    case .attitude: "ATTITUDE_QUATERNION_COV"
    case .gpsInput: "GPS_INPUT"
    case .odometry: "ODOMETRY"
    }
  }

  /// The fields in the order in which they are sent.
  fileprivate var fields: [MAVLinkField] {
    switch self {
    case .heartbeat: Self.heartbeatFields
    case .scaledPressure: Self.pressureFields
    case .globalPosition: Self.positionFields
    case .attitude: Self.attitudeFields
    case .gpsInput: Self.receiverFields
    case .odometry: Self.odometryFields
    }
  }

  private static func join(_ parts: [MAVLinkField]...) -> [MAVLinkField] { parts.flatMap(\.self) }

  private static func floats(_ names: [String], _ unit: String) -> [MAVLinkField] {
    names.map { MAVLinkField.float($0, unit: unit) }
  }

  private static let rates = floats(["rollspeed", "pitchspeed", "yawspeed"], "rad/s")

  private static let attitudeFields = join(
    [.time, .floats("q", 4)], rates, [.floats("covariance", 9)])

  private static let heartbeatFields: [MAVLinkField] = [
    .integer("custom_mode", 32), .list("type", [18: "onboard controller"]),
    .list("autopilot", [8: "invalid (no autopilot)"]), .integer("base_mode", 8),
    .list(
      "system_status",
      [
        0: "uninitialized", 1: "boot", 2: "calibrating", 3: "standby", 4: "active", 5: "critical",
        6: "emergency",
      ]), .integer("mavlink_version", 8),
  ]

  private static let pressureFields: [MAVLinkField] = [
    .bootTime, .float("press_abs", unit: "hPa"), .float("press_diff", unit: "hPa"),
    .integer(
      "temperature", 16, 0.01, digits: 2, unit: "C", hasSign: true, none: Int64(Int16.max)),
    // 0 is not available.
    .integer(
      "temperature_press_diff", 16, 0.01, digits: 2, unit: "C", hasSign: true, none: 0),
  ]

  private static let positionFields: [MAVLinkField] = [
    .bootTime, .place("lat"), .place("lon"), .height("alt"), .height("relative_alt"),
    .speed("vx"), .speed("vy"), .speed("vz"),
    .integer("hdg", 16, 0.01, digits: 2, unit: "deg", none: Int64(UInt16.max)),
  ]

  private static let receiverFields = join(
    [
      .time, .integer("time_week_ms", 32, unit: "ms", none: 0), .place("lat"), .place("lon"),
      .float("alt", unit: "m"), .float("hdop", none: 65_535), .float("vdop", none: 65_535),
    ], floats(["vn", "ve", "vd", "speed_accuracy"], "m/s"),
    floats(["horiz_accuracy", "vert_accuracy"], "m"),
    [
      .flags("ignore_flags", 16, ignored), .integer("time_week", 16, none: 0),
      .integer("gps_id", 8), .list("fix_type", fixTypes),
      .integer("satellites_visible", 8, none: 255),
      // 0 is not available, and north is 36000.
      .integer("yaw", 16, 0.01, digits: 2, unit: "deg", none: 0),
    ])

  private static let ignored = [
    "alt", "hdop", "vdop", "vn and ve", "vd", "speed_accuracy", "horiz_accuracy", "vert_accuracy",
  ]

  private static let fixTypes: [UInt64: String] = [
    0: "no fix", 1: "no fix", 2: "2D fix", 3: "3D fix", 4: "3D with DGPS", 5: "3D with RTK",
  ]

  private static let odometryFields = join(
    [.time], floats(["x", "y", "z"], "m"), [.floats("q", 4)], floats(["vx", "vy", "vz"], "m/s"),
    rates,
    [
      .floats("pose_covariance", 21), .floats("velocity_covariance", 21),
      .list("frame_id", frames), .list("child_frame_id", frames), .integer("reset_counter", 8),
      .list("estimator_type", [0: "unknown", 4: "GPS", 5: "GPS and inertial sensors"]),
      .integer("quality", 8, unit: "%", hasSign: true, none: 0),
    ])

  private static let frames: [UInt64: String] = [1: "LOCAL_NED", 12: "BODY_FRD", 20: "LOCAL_FRD"]
}
