// One state of a board, and what each protocol says of it at the same moment: none may say more than another knows.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import OutputProtocols

@Suite("the same state in all protocols") struct WarrantTests {
  private static let now = VesselState.now
  private static let clock = ClockReading(seconds: VesselState.utc, isSet: true)

  // MARK: What peers are told

  /// A sentence of NMEA 0183 without its check sum.
  private func sentence(_ sentence: OutputSentence, _ state: PublishedState) -> String {
    NMEA0183Board.body(sentence, of: state, at: Self.now, clock: Self.clock)
  }

  private func group(_ pgn: UInt32, _ state: PublishedState) -> String {
    var encoder = NMEA2000Encoder()
    let entry = NMEA2000Entry(pgn: pgn, interval: 1, priority: 3)
    return VesselState.hex(
      encoder.message(entry, of: state, clock: Self.clock, at: Self.now)?.payload)
  }

  /// The method of a 129029, by its number.
  private func method(_ state: PublishedState) -> String {
    String(group(NMEA2000PGN.gnssPosition, state).dropFirst(62).prefix(1))
  }

  private func values(_ state: PublishedState) -> [SignalKPath: SignalKSnapshot.DatedValue] {
    SignalKSnapshot(state, at: Self.now, clock: Self.clock).entries
  }

  private func mavlink(_ kind: MAVLinkMessage.MessageKind, _ state: PublishedState) -> [UInt8]? {
    var encoder = MAVLinkEncoder()
    return encoder.message(kind, of: state, clock: Self.clock, at: Self.now)?.payload
  }

  /// The type of fix of a GPS_INPUT.
  private func fixType(_ state: PublishedState) -> UInt8? { mavlink(.gpsInput, state)?[61] }

  private func gpsd(
    _ report: (GPSDReports) -> GPSDServerReport
  ) throws -> [String: Any] {
    let reports = GPSDReports(devices: [], receiver: "r", instrument: "i") { _ in Self.clock }
    return try GPSDBoard.object(report(reports).bytes)
  }

  private func telemetry(_ state: PublishedState) -> Telemetry {
    Telemetry(state, at: Self.now, showsPosition: true)
  }

  private func metrics(_ state: PublishedState) -> [Substring] {
    let page = MetricsPage(board: "b", version: "1", showsPosition: true)
    let bytes = page.bytes(state, sensors: [], clock: Self.clock, at: Self.now)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  private func robots(_ observation: Observation) -> [RobotMessage] {
    var messages = RobotMessages(.foxglove, showsPosition: true)
    return messages.take(observation) { _ in Self.clock }
  }

  /// The number at a place behind the encapsulation header.
  private func double(_ data: [UInt8], _ place: Int) -> Double {
    Double(bitPattern: (0..<8).reduce(0) { $0 | UInt64(data[4 + place + $1]) << UInt64(8 * $1) })
  }

  // MARK: Headings and attitudes

  @Test("a heading that is hardly known is told only with its accuracy")
  func wideHeading() throws {
    // 25 degrees.
    let state = VesselState.state(VesselState.heading(1, accuracy: 0.436), VesselState.location())
    #expect(sentence(.hdg, state) == "$HCHDG,,,,3.0,W")
    #expect(sentence(.hdm, state) == "$HCHDM,,M")
    #expect(sentence(.hdt, state) == "$IIHDT,,T")
    #expect(sentence(.ths, state) == "$IITHS,,V")
    let pashr = sentence(.pashr, state).split(separator: ",", omittingEmptySubsequences: false)
    // One sigma of 24.98 degrees of 95 %.
    #expect(pashr[2] == "54.29" && pashr[9] == "12.746" && pashr.last == "1")
    #expect(group(NMEA2000PGN.heading, state).hasPrefix("00ffff"))
    #expect(mavlink(.gpsInput, state)?.suffix(2) == [0, 0])
    #expect(mavlink(.globalPosition, state)?.suffix(2) == [0xFF, 0xFF])
    #expect(mavlink(.attitude, state) == nil)
    #expect(state.bareHeading(at: Self.now) == nil)
    #expect(try gpsd { $0.attitude(state, at: Self.now) }["headingAccuracy"] as? Double == 24.981)
    #expect(values(state)[.headingAccuracy]?.value == .number(0.436))
    #expect(telemetry(state).headingAccuracy.map { abs($0 - 24.981) < 0.001 } == true)
    let narrow = VesselState.state(VesselState.heading(1, accuracy: 0.349))
    #expect(sentence(.hdm, narrow) == "$HCHDM,57.3,M")
  }

  @Test("an accuracy below zero is none")
  func negative() {
    let state = VesselState.state(VesselState.heading(1, accuracy: -0.1))
    #expect(state.trustedHeading(at: Self.now) == nil)
    #expect(telemetry(state).magneticHeading == nil)
  }

  // A board that is declared level, antennas that give no tilt, and antennas that give the pitch of their line alone.
  @Test(
    "a tilt that is assumed is not told",
    arguments: [(0.0, 0.0), (0.1, 0.0), (0.0, -0.25)])
  func assumedTilt(pitch: Double, roll: Double) throws {
    let state = VesselState.state(
      .heading(
        HeadingEstimate(
          time: Self.now, magneticHeading: 2.5, accuracy: 0.05, trueHeading: 2.45,
          declination: -0.05, field: nil,
          attitude: VesselState.attitude(heading: 2.5, pitch: pitch, roll: roll))))
    #expect(sentence(.xdr, state).hasPrefix("$YXXDR,A,,D,PTCH,A,,D,ROLL|"))
    #expect(sentence(.pashr, state).contains(",140.37,T,,,,,,"))
    #expect(group(NMEA2000PGN.attitude, state).dropFirst(6) == "ff7fff7fff")
    #expect(values(state)[.attitude] == nil)
    #expect(telemetry(state).roll == nil && telemetry(state).pitch == nil)
    #expect(mavlink(.attitude, state) == nil, "it has no word for a roll that is not known")
    let attitude = try gpsd { $0.attitude(state, at: Self.now) }
    #expect(attitude["pitch"] == nil && attitude["roll"] == nil)
    // The heading is known all the same.
    #expect(attitude["mheading"] as? Double == 143.239)
  }

  @Test("a board that lies level by its filter is level")
  func measuredLevel() {
    var attitude = MotionAttitude(
      angularRate: .zero, free: .identity, steadied: .identity, north: .identity)
    (attitude.northAccuracy, attitude.tiltAccuracy) = (0.05, 0.02)
    let state = VesselState.state(.motion(MotionEstimate(time: Self.now, attitude: attitude)))
    #expect(state.tilt(at: Self.now)?.roll == 0)
  }

  @Test("without a vertical there is no rate of turn about it")
  func tiltUnknown() throws {
    var attitude = MotionAttitude(
      angularRate: Vector3(0, 0, 0.5), free: .identity, steadied: .identity)
    attitude.northReason = .tiltUnknown
    let state = VesselState.state(.motion(MotionEstimate(time: Self.now, attitude: attitude)))
    #expect(sentence(.rot, state) == "$TIROT,,V")
    #expect(group(NMEA2000PGN.rateOfTurn, state) == "00ffffff7fffffff")
    #expect(values(state)[.rateOfTurn] == nil && telemetry(state).rateOfTurn == nil)
    #expect(try gpsd { $0.attitude(state, at: Self.now) }["rot"] == nil)
  }

  @Test("a sample of a chip that has fallen silent is no sample of the moment")
  func silentChip() throws {
    let old = Self.now.advanced(bySeconds: -0.6)
    let motion = MotionEstimate(
      time: Self.now, force: Sample(time: old, value: Vector3(1, 2, 9.75)),
      angularRate: Sample(time: old, value: Vector3(0.1, 0.2, 0.3)),
      field: Sample(time: Self.now, value: Vector3(20, 0, -40)))
    let imu = try #require(robots(.motion(motion)).first).data
    // Behind a header with "imu_link": rates at 13, forces at 25, each with its covariance of -1.
    for place in [13, 25] {
      #expect(double(imu, 24 + 8 * place).isNaN && double(imu, 24 + 8 * (place + 3)) == -1)
    }
  }

  // MARK: Positions

  @Test("in two dimensions a height is assumed, and not told")
  func twoDimensions() throws {
    let observation = VesselState.location { $0.mode = .twoDimensional }
    let state = VesselState.state(observation)
    let gga = sentence(.gga, state).split(separator: ",", omittingEmptySubsequences: false)
    #expect(gga[2] == "5310.808790" && gga[9].isEmpty && gga[11].isEmpty)
    #expect(sentence(.gst, state).hasSuffix(","))
    guard case .position(_, _, let altitude)? = values(state)[.position]?.value else {
      Issue.record("there is no position")
      return
    }
    #expect(altitude == nil && values(state)[.gnssAltitude] == nil)
    #expect(values(state)[.altitudeAccuracy] == nil)
    #expect(values(state)[.gnssGeoidalSeparation] == nil)
    let messages = robots(observation)
    #expect(messages.map(\.topic) == [.fix, .location])
    #expect(double(messages[0].data, 32) == 53.1801465 && double(messages[0].data, 48).isNaN)
    #expect(!String(decoding: messages[1].data, as: UTF8.self).contains("altitude"))
    #expect(try gpsd { $0.position(state, at: Self.now) }["climb"] == nil)
  }

  @Test("a simulated board says so wherever there is a word for it")
  func simulated() throws {
    let state = VesselState.state(
      .location(LocationEstimate(fix: VesselState.fix(), isSimulated: true)))
    #expect(method(state) == "8")
    #expect(sentence(.gga, state).contains(",W,8,"))
    #expect(sentence(.rmc, state).hasSuffix(",S,V"))
    #expect(values(state)[.gnssMethod]?.value == .text("Simulator mode"))
    #expect(try gpsd { $0.position(state, at: Self.now) }["status"] as? Int == 8)
    #expect(metrics(state).contains("lodestone_position_simulated 1"))
    let real = metrics(VesselState.state(VesselState.location()))
    #expect(real.contains("lodestone_position_simulated 0"))
  }

  // By the receiver's own word: it guesses, was told its place, or simulates.
  @Test(
    "a position that no satellites have a part in is no receiver's fix",
    arguments: [(FixKind.deadReckoning, 6), (.manual, 7), (.simulated, 8)])
  func unmeasured(_ kind: FixKind, _ quality: Int) throws {
    let observation = VesselState.location { $0.kind = kind }
    let state = VesselState.state(observation)
    #expect(fixType(state) == 1 && mavlink(.globalPosition, state) == nil)
    #expect(group(NMEA2000PGN.position, state) == "ffffff7fffffff7f")
    #expect(group(NMEA2000PGN.courseAndSpeed, state) == "ffffffffffffffff")
    #expect(method(state) == "\(quality)")
    #expect(sentence(.gga, state).contains(",W,\(quality),"))
    let messages = robots(observation)
    #expect(messages.map(\.topic) == [.fix], "LocationFix has no word for it")
    #expect(messages[0].data[4 + 22] == 0xFF)
    let position = try #require(telemetry(state).position)
    #expect(position.isCarried == (kind == .deadReckoning))
    #expect(position.isSimulated == (kind == .simulated))
    let carried = "lodestone_position_carried \(kind == .deadReckoning ? 1 : 0)"
    #expect(metrics(state).contains { $0 == carried })
    #expect((values(state)[.positionNotification] != nil) == (kind == .deadReckoning))
  }

  // What an owner who shows where the board is about, and no more, has told: the middle of a cell of kilometres.
  @Test("a coarse position is estimated, and never of the kind of the fix behind it")
  func coarse() throws {
    var fix = VesselState.fix { $0.mode = .twoDimensional }
    (fix.horizontalAccuracy, fix.accuracySource) = (5_000, .dilution)
    (fix.hdop, fix.vdop, fix.pdop, fix.satellitesUsed, fix.corrections) = (nil, nil, nil, nil, nil)
    (fix.speed, fix.speedAccuracy, fix.course, fix.courseAccuracy) = (nil, nil, nil, nil)
    let observation = Observation.location(LocationEstimate(fix: fix, isSimulated: false))
    let state = VesselState.state(
      observation,
      .absoluteAltitude(AbsoluteAltitudeEstimate(time: Self.now, altitude: 5, accuracy: 2)))
    #expect(sentence(.gga, state).contains(",W,6,"))
    #expect(sentence(.rmc, state).hasSuffix(",E,V") && sentence(.rmc, state).contains(",V,"))
    // 5 km of 68 % are 3.3 km along an axis.
    #expect(sentence(.gst, state).contains(",3311.258,3311.258,"))
    #expect(method(state) == "6")
    #expect(group(NMEA2000PGN.position, state) == "ffffff7fffffff7f")
    #expect(values(state)[.gnssMethod]?.value == .text("Estimated (DR) mode"))
    #expect(values(state)[.positionAccuracy]?.value == .number(5_000 * 1.621_5))
    let position = try gpsd { $0.position(state, at: Self.now) }
    #expect(position["status"] == nil && position["eph"] as? Double == 8_107.312)
    #expect(fixType(state) == 1, "an autopilot takes no radius of kilometres from it")
    #expect(mavlink(.globalPosition, state) == nil, "it has no field for the accuracy")
    #expect(telemetry(state).position?.kind == nil)
    #expect(robots(observation)[0].data[4 + 22] == 0, "no augmentation")
    // The owner has just forbidden the exact position: what was told with it ends at once.
    let height = AbsoluteAltitudeEstimate(
      time: Self.now, altitude: 5, accuracy: 2, fixTime: Self.now)
    let after = VesselState.state(
      VesselState.location(), VesselState.sky([VesselState.satellite(.gps, 5, isUsed: true)]),
      .absoluteAltitude(height), observation)
    #expect(after.sky(at: Self.now) == nil && after.absoluteAltitude(at: Self.now) == nil)
  }

  @Test(
    "what a lost receiver has said besides the position ends with it",
    arguments: [NoData.sensorLost("a wire"), .notAuthorized("the owner"), .noFix])
  func receiverLost(_ reason: NoData) {
    let sky = VesselState.sky([VesselState.satellite(.gps, 5, isUsed: true)])
    let height = AbsoluteAltitudeEstimate(
      time: Self.now, altitude: 5, accuracy: 2, fixTime: Self.now)
    let state = VesselState.state(
      VesselState.location(), sky, .absoluteAltitude(height),
      .locationUnavailable(reason, at: Self.now))
    #expect((state.sky(at: Self.now) == nil) == (reason != .noFix))
    #expect(group(NMEA2000PGN.satellites, state).hasPrefix(reason == .noFix ? "ffff01" : "ffffff"))
    // A barometer holds the height of the last fix; it tells of the place.
    let isWithheld = reason == .notAuthorized("the owner")
    #expect((state.absoluteAltitude(at: Self.now) == nil) == isWithheld)
  }
}
