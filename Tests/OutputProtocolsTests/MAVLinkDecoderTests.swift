// Frames of pymavlink 2.4.50 (Tests/peers/mavlink-vectors.py), and the values that its own decoder reads in them.

import SensorTypes
import Testing

@testable import OutputProtocols

@Suite struct MAVLinkDecoderTests {
  private static func bytes(_ text: String) -> [UInt8] {
    var (bytes, rest): ([UInt8], Substring) = ([], text[...])
    while rest.count >= 2 {
      bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  private static func decoded(_ text: String) throws -> DecodedMessage {
    try #require(MAVLinkDecoder.decode(bytes(text)))
  }

  @Test("a heartbeat and a pressure in one line each")
  func lines() throws {
    #expect(
      try Self.decoded("fd0900000001bf000000000000001208000403aec6").text
        == "HEARTBEAT: system 1, component 191, sequence 0, custom_mode 0, type onboard controller, "
        + "autopilot invalid (no autopilot), base_mode 0, system_status active, mavlink_version 3")
    #expect(
      try Self.decoded("fd0e00000001bf1d0000404b4c0031507d440000c07f6608c87d").text
        == "SCALED_PRESSURE: system 1, component 191, sequence 0, time_boot_ms 5000 s since the boot, "
        + "press_abs 1013.252991 hPa, press_diff not known, temperature 21.5 C, temperature_press_diff not known"
    )
  }

  @Test("a global position, with a heading and without")
  func position() throws {
    let whole = try Self.decoded(
      "fd1c00000001bf210000404b4c0079a5b21f21afc3fcbe3c0000000000000800c2fe190005680db8")
    #expect(whole["lat"] == "53.1801465 deg" && whole["lon"] == "-5.4284511 deg")
    #expect(whole["alt"] == "15.55 m" && whole["relative_alt"] == "0 m")
    #expect(whole["vx"] == "0.08 m/s" && whole["vy"] == "-3.18 m/s" && whole["vz"] == "0.25 m/s")
    #expect(whole["hdg"] == "266.29 deg")
    let noHeading = try Self.decoded(
      "fd1c00000001bf210000404b4c0079a5b21f21afc3fcbe3c0000000000000800c2fe1900ffff1613")
    #expect(noHeading["hdg"] == "not known")
  }

  @Test("a receiver's fix")
  func receiver() throws {
    let fix = try Self.decoded(
      "fd4100000001bfe8000020b14a836761060044da2f0279a5b21f21afc3fccdcc78413333333fcdcc8c3f257baa3d"
        + "44734bc00000803ecdcccc3d0ad7a33c0ad7233d00008f0900051105687348")
    #expect(fix["time_usec"] == "2026-11-29T10:11:12.500Z")
    #expect(fix["time_week_ms"] == "36690500 ms" && fix["time_week"] == "2447")
    #expect(fix["alt"] == "15.55 m" && fix["hdop"] == "0.7" && fix["vdop"] == "1.1")
    #expect(fix["vn"] == "0.083243 m/s" && fix["ve"] == "-3.17891 m/s" && fix["vd"] == "0.25 m/s")
    #expect(fix["horiz_accuracy"] == "0.02 m" && fix["vert_accuracy"] == "0.04 m")
    #expect(fix["ignore_flags"] == "none" && fix["fix_type"] == "3D with RTK")
    #expect(fix["satellites_visible"] == "17" && fix["yaw"] == "266.29 deg")
  }

  @Test("an attitude and odometry, whose unknown covariance is not known")
  func poses() throws {
    let attitude = try Self.decoded(
      "fd4800000001bf3d000020b14a83676106006ea42e3fb19248bd8a84ff3dee0138bf76754cbc7513fcbc6acdf63d"
        + "366b8d3800000000000000000000000062028c38000000000000000000000000139a2a3a67ef")
    #expect(attitude["q"] == "[0.682196, -0.048968, 0.124765, -0.718779]")
    #expect(attitude["yawspeed"] == "0.120509 rad/s")
    #expect(
      attitude["covariance"]
        == "[6.743374e-5, 0, 0, 0, 6.676164e-5, 0, 0, 0, 6.507944e-4]")
    let odometry = try Self.decoded(
      "fde800000001bf4b010020b14a83676106000000000000000000000000006ea42e3fb19248bd8a84ff3dee0138bf"
        + "9011484023810f3ed56a1e3f76754cbc7513fcbc6acdf63d520d383900000000000000000000000000000000000000"
        + "00520d38390000000000000000000000000000000017b7d13a000000000000000000000000366b8d38000000000000"
        + "000062028c3800000000139a2a3a0000c07f000000000000000000000000000000000000000000000000000000000000"
        + "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        + "0000140c00056e39")
    #expect(odometry["vx"] == "3.126072 m/s" && odometry["frame_id"] == "LOCAL_FRD")
    #expect(odometry["child_frame_id"] == "BODY_FRD")
    #expect(odometry["estimator_type"] == "GPS and inertial sensors")
    #expect(odometry["velocity_covariance"] == "not known" && odometry["quality"] == "not known")
  }

  @Test("a receiver without a fix tells no number that looks like one")
  func noFix() throws {
    var (encoder, framer) = (MAVLinkEncoder(), MAVLinkFramer(system: 1))
    let told = encoder.message(.gpsInput, of: PublishedState(), clock: nil, at: VesselState.now)
    let frame = framer.frame(try #require(told))
    let fix = try #require(MAVLinkDecoder.decode(frame))
    #expect(fix["time_usec"] == "5000 s since the boot")
    for name in [
      "lat", "lon", "alt", "hdop", "vdop", "vn", "ve", "vd", "speed_accuracy", "horiz_accuracy",
      "vert_accuracy", "time_week_ms", "time_week", "satellites_visible", "yaw",
    ] {
      #expect(fix[name] == "not known", "\(name)")
    }
    #expect(fix["fix_type"] == "no fix")
    #expect(fix["ignore_flags"]?.hasPrefix("(alt, hdop, vdop") == true)
  }

  @Test("bytes that are no frame of these messages are none")
  func hostile() {
    let frame = Self.bytes("fd0900000001bf000000000000001208000403aec6")
    for place in frame.indices {
      var damaged = frame
      damaged[place] ^= 0x40
      #expect(MAVLinkDecoder.decode(damaged) == nil, "byte \(place)")
    }
    for count in 0..<frame.count {
      #expect(MAVLinkDecoder.decode(Array(frame.prefix(count))) == nil)
    }
    #expect(MAVLinkDecoder.decode(frame + [0]) == nil)
  }
}
