// Payloads of canboat's encoder, read back. Vectors and the values that they were made of: Tests/peers/nmea2000-vectors.py, PyPI's
// nmea2000 2026.10.3 with canboat 9.0.0.

import SensorTypes
import Testing

@testable import OutputProtocols

@Suite struct NMEA2000DecoderTests {
  private static func bytes(_ text: String) -> [UInt8] {
    var (bytes, rest): ([UInt8], Substring) = ([], text[...])
    while rest.count >= 2 {
      bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  private static func text(_ pgn: UInt32, _ payload: String) -> String {
    NMEA2000Decoder.message(pgn, bytes(payload)).text
  }

  @Test("headings, rates and angles in degrees")
  func motion() {
    // 3.141 rad, variation -0.0524 rad.
    #expect(
      Self.text(127_250, "00b27a0000f4fdfd")
        == "127250 Vessel Heading: SID 0, Heading 179.97 deg, Deviation 0 deg, Variation -3 deg, Reference Magnetic"
    )
    #expect(
      Self.text(127_250, "00a678ff7ff4fdfc")
        == "127250 Vessel Heading: SID 0, Heading 176.96 deg, Deviation not known, Variation -3 deg, Reference True"
    )
    // 0.125 and -1.5 rad/s.
    #expect(
      Self.text(127_251, "0000093d00ffffff") == "127251 Rate of Turn: SID 0, Rate 7.162 deg/s")
    #expect(Self.text(127_251, "00009423fdffffff").hasSuffix("Rate -85.9437 deg/s"))
    #expect(Self.text(127_252, "0081ffffffffffff") == "127252 Heave: SID 0, Heave -1.27 m")
    // -1.5708, 0.1 and -0.25 rad.
    #expect(
      Self.text(127_257, "00a4c2e8033cf6ff")
        == "127257 Attitude: SID 0, Yaw -90 deg, Pitch 5.73 deg, Roll -14.32 deg")
    #expect(
      Self.text(127_258, "00f9ffff7601ffff")
        == "127258 Magnetic Variation: SID 0, Source WMM 2025, Age of service not known, Variation 2.14 deg"
    )
  }

  @Test("a position with its corrections")
  func position() {
    #expect(
      Self.text(129_025, "79a5b21f21afc3fc")
        == "129025 Position, Rapid Update: Latitude 53.1801465 deg, Longitude -5.4284511 deg")
    #expect(
      Self.text(129_026, "00fc1ab93e01ffff")
        == "129026 COG & SOG, Rapid Update: SID 0, COG Reference True, COG 271.5 deg, SOG 3.18 m/s")
    let fix = NMEA2000Decoder.message(
      129_029,
      Self.bytes(
        "00325188c7db15007a5b649d566107000a0a5d86243fffd099a6030000000044fc1146008200da11000001"
          + "2f419600"))
    #expect(fix.name == "129029 GNSS Position Data")
    #expect(
      fix.fields.map { "\($0.name) \($0.value)" } == [
        "SID 0", "Date 2026-11-29", "Time 10:11:12.5000", "Latitude 53.1801465 deg",
        "Longitude -5.4284511 deg", "Altitude 61.25 m", "GNSS type GPS+SBAS/WAAS+GLONASS",
        "Method RTK Fixed Integer", "Integrity No integrity checking", "Number of SVs 17",
        "HDOP 0.7", "PDOP 1.3", "Geoidal Separation 45.7 m", "Reference Stations 1",
        "#1 Reference Station Type not known", "#1 Reference Station ID 1042",
        "#1 Age of DGNSS Corrections 1.5 s",
      ])
    #expect(
      Self.text(129_539, "00d746006e00ff7f")
        == "129539 GNSS DOPs: SID 0, Desired Mode not known, Actual Mode 3D, HDOP 0.7, VDOP 1.1, TDOP not known"
    )
  }

  @Test("satellites, as many as the message says and has")
  func satellites() {
    let sky = NMEA2000Decoder.message(
      129_540,
      Self.bytes(
        "ffff04" + "05ae1e1ab95c12ffffff7f02" + "0b2e085c3d6211ffffff7f22"
          + "48f4fdd106d10bffffff7f11" + "24ff7fffffff7fffffff7ff0"))
    #expect(sky["Sats in View"] == "4")
    #expect(sky["#1 PRN"] == "5" && sky["#1 Elevation"] == "45 deg")
    #expect(sky["#1 Azimuth"] == "271.5 deg" && sky["#1 SNR"] == "47 dB")
    #expect(sky["#1 Status"] == "Used" && sky["#1 GNSS System"] == "GPS")
    #expect(sky["#2 GNSS System"] == "Galileo" && sky["#3 GNSS System"] == "GLONASS")
    #expect(sky["#3 Elevation"] == "-3 deg" && sky["#3 Status"] == "Tracked")
    #expect(sky["#4 SNR"] == "not known" && sky["#4 GNSS System"] == "not known")
    let cut = NMEA2000Decoder.message(129_540, Self.bytes("ffff0405ae1e1a"))
    #expect(cut["#1 PRN"] == "5" && cut["#1 SNR"] == "missing" && cut["#2 PRN"] == nil)
    #expect(NMEA2000Decoder.message(129_540, [])["SID"] == "missing")
  }

  @Test("time, and air in hectopascals and degrees Celsius")
  func air() {
    #expect(
      Self.text(126_992, "00f0325188c7db15")
        == "126992 System Time: SID 0, Source GPS, Date 2026-11-29, Time 10:11:12.5000")
    #expect(
      Self.text(126_992, "fff5325188c7db15").hasPrefix(
        "126992 System Time: SID not known, Source Local Crystal clock"))
    #expect(
      Self.text(129_033, "325188c7db15ff7f")
        == "129033 Time & Date: Date 2026-11-29, Time 10:11:12.5000, Local Offset not known")
    #expect(
      Self.text(130_314, "00000005760f00ff")
        == "130314 Actual Pressure: SID 0, Instance 0, Source Atmospheric, Pressure 1013.253 hPa")
    #expect(
      Self.text(130_311, "000219733336f503")
        == "130311 Environmental Parameters: SID 0, Temperature Source Inside Temperature, Humidity Source Inside, "
        + "Temperature 21.5 C, Humidity 55.5 %, Atmospheric Pressure 1013 hPa")
    #expect(
      Self.text(130_316, "000001fa7e04ffff")
        == "130316 Temperature Extended Range: SID 0, Instance 0, Source Outside Temperature, Temperature 21.5 C, "
        + "Set Temperature not known")
  }

  @Test("a board without any value tells none, in every message that it sends")
  func unknown() {
    var encoder = NMEA2000Encoder()
    for entry in NMEA2000Entry.all {
      guard
        let sent = encoder.message(entry, of: PublishedState(), clock: nil, at: VesselState.now)
      else {
        Issue.record("\(entry.pgn) is not sent")
        continue
      }
      let message = NMEA2000Decoder.message(sent.pgn, sent.payload)
      #expect(!message.fields.isEmpty, "\(message.name)")
      let known = message.fields.filter { $0.value != DecodedMessage.notKnown }.map(\.name)
      let allowed: Set = [
        "SID", "Instance", "Source", "Method", "Integrity", "COG Reference", "Reference",
      ]
      #expect(allowed.isSuperset(of: known), "\(message.text)")
    }
  }

  @Test("a message of several frames is read behind the last of them")
  func frames() throws {
    let payload = Self.bytes(
      "00325188c7db15007a5b649d566107000a0a5d86243fffd099a6030000000044fc1146008200da11000001"
        + "2f419600")
    let frames = NMEA2000Message(priority: 3, pgn: 129_029, payload: payload)
      .frames(from: 35, sequence: 5)
    var decoder = NMEA2000Decoder()
    let messages = frames.map { decoder.decode($0, at: VesselState.now) }
    #expect(frames.count == 7 && messages.dropLast().allSatisfy { $0 == nil })
    #expect(messages.last??["Time"] == "10:11:12.5000")
    let first = try #require(frames.first)
    // 0DF80523 is canboat's identifier of priority 3, 129029, from 35.
    #expect(first.dump("can0") == "  can0  0DF80523   [8]  A0 2F 00 32 51 88 C7 DB")
    let other = try #require(CANFrame(identifier: 0x0DF0_0023, bytes: [1, 2]))
    #expect(decoder.decode(other, at: VesselState.now)?.text == "126976")
    #expect(other.dump("vcan1") == "  vcan1  0DF00023   [2]  01 02")
  }

  @Test("the node's own messages")
  func node() {
    // canboat's NAME of manufacturer 2046, number 123456, function 140, class 60, device instance 5, system instance 1.
    let name = NMEA2000Name(
      uniqueNumber: 123_456, manufacturer: 2_046, deviceInstance: 5, function: 140,
      deviceClass: 60, systemInstance: 1)
    let payload = (0..<8).map { UInt8(truncatingIfNeeded: name.value >> (8 * UInt64($0))) }
    #expect(
      NMEA2000Decoder.message(60_928, payload).text
        == "60928 ISO Address Claim: Unique Number 123456, Manufacturer Code 2046, Device Instance 5, "
        + "Device Function 140, Device Class 60, System Instance 1, Industry Group 4, Arbitrary address capable Yes"
    )
    #expect(Self.text(59_904, "00ee00") == "59904 ISO Request: PGN 60928")
    #expect(
      Self.text(126_993, "60ea00fcffffffff").hasPrefix(
        "126993 Heartbeat: Data transmit offset 60 s, Sequence Counter 0, Controller 1 State Error Active, "
      ))
  }
}
