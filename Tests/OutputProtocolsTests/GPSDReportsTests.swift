// gpsd's TPV and SKY, against lines that gpsd itself has written.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import OutputProtocols

/// What the tests of gpsd's protocol share.
enum GPSDBoard {
  static let receiver = "/dev/serial0"
  static let compass = "/dev/i2c-1:0x1e"
  /// 2019-04-22T21:19:27Z, the moment of the vector, on a clock that is set.
  static let utc = 1_555_967_967.0

  static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 1_000 + seconds) }

  static func reports(isSet: Bool = true, leapSeconds: Int? = nil) -> GPSDReports {
    GPSDReports(
      devices: [
        GPSDDevice(
          path: receiver, driver: "u-blox", subtype: "ZED-F9P", activated: utc, isReceiver: true,
          baudRate: 38_400, isBinary: true, cycle: 1),
        GPSDDevice(path: compass, driver: "LIS3MDL", activated: utc),
      ], receiver: receiver, instrument: compass, leapSeconds: leapSeconds
    ) { ClockReading(seconds: utc + $0.seconds(since: at(0)), isSet: isSet) }
  }

  static func object(_ bytes: [UInt8]) throws -> [String: Any] {
    #expect(bytes.suffix(2) == [13, 10] && !bytes.dropLast(2).contains(10))
    return try #require(
      try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  static func state(_ observations: Observation...) -> PublishedState {
    var state = PublishedState()
    for observation in observations { state.take(observation) }
    return state
  }
}

struct GPSDReportsTests {
  // Of gpsd 3.22: test/daemon/ublox-zed-f9p-hp.log.chk, a u-blox ZED-F9P in Dunedin.
  private static let written = """
    {"class":"TPV","mode":3,"time":"2019-04-22T21:19:27.000Z","leapseconds":18,"ept":0.005,"lat":-45.877517700,"lon":170.500131500,\
    "altHAE":29.2460,"altMSL":27.4550,"alt":27.4550,"epx":8.500,"epy":9.149,"epv":12.674,"track":217.8765,"magtrack":243.6232,\
    "magvar":25.7,"speed":0.219,"climb":0.104,"eps":0.84,"epc":25.39,"geoidSep":5.124,"eph":14.514,"sep":23.750}
    """

  private static func fix() -> GNSSFix {
    var fix = GNSSFix(received: GPSDBoard.at(0), mode: .threeDimensional)
    (fix.utc, fix.kind, fix.accuracySource) = (GPSDBoard.utc, .autonomous, .receiver)
    (fix.latitude, fix.longitude) = (-45.8775177, 170.5001315)
    (fix.altitude, fix.ellipsoidalAltitude) = (27.455, 29.246)
    (fix.horizontalAccuracy, fix.verticalAccuracy) = (10, 5)
    (fix.speed, fix.course, fix.verticalSpeed) = (0.219, 217.8765, 0.104)
    (fix.speedAccuracy, fix.courseAccuracy) = (0.5, 20)
    return fix
  }

  private static func position(
    _ fix: GNSSFix, isSimulated: Bool = false, carried: DeadReckonedPosition? = nil,
    heading: HeadingEstimate? = nil, after seconds: Double = 0
  ) throws -> [String: Any] {
    var state = GPSDBoard.state(
      .location(LocationEstimate(fix: fix, isSimulated: isSimulated, carried: carried)))
    if let heading { state.take(.heading(heading)) }
    let reports = GPSDBoard.reports(leapSeconds: 18)
    return try GPSDBoard.object(reports.position(state, at: GPSDBoard.at(seconds)).bytes)
  }

  @Test("what gpsd passes on of a receiver is written as gpsd writes it")
  func vector() throws {
    let theirs = try #require(
      try JSONSerialization.jsonObject(with: Data(Self.written.utf8)) as? [String: Any])
    let ours = try Self.position(Self.fix())
    let passedOn = [
      "mode", "leapseconds", "lat", "lon", "altHAE", "altMSL", "alt", "track", "speed", "climb",
    ]
    for key in passedOn { #expect(ours[key] as? Double == theirs[key] as? Double, "\(key)") }
    #expect(ours["time"] as? String == theirs["time"] as? String)
    #expect(ours["device"] as? String == GPSDBoard.receiver)
    // gpsd has this of a table, and not of the receiver.
    #expect(ours["geoidSep"] as? Double == 1.791 && ours["datum"] as? String == "WGS84")
    // The status of an autonomous fix is left out by gpsd as well; of the time's error and the climb's nothing is known.
    for key in ["status", "ept", "epc", "magvar", "magtrack", "dgpsAge", "dgpsSta"] {
      #expect(ours[key] == nil, "\(key)")
    }
  }

  @Test("every error is a 95 % figure")
  func confidence() throws {
    let ours = try Self.position(Self.fix())
    func number(_ key: String) -> Double { ours[key] as? Double ?? .nan }
    // Of a Rayleigh distribution 68 % lie within sqrt(-2 ln 0.32) deviations, 95 % within sqrt(-2 ln 0.05).
    let radius = 10 * (log(0.05) / log(0.32)).squareRoot()
    #expect(abs(number("eph") - radius) < 0.001)
    #expect(number("epx") == number("eph") && number("epy") == number("eph"))
    // 95 % of a normal distribution lie within 1.96 deviations.
    #expect(abs(number("epv") - 9.7998) < 0.001)
    #expect(abs(number("eps") - 0.97998) < 0.001 && abs(number("epd") - 39.1993) < 0.001)
    #expect(abs(number("sep") - hypot(number("eph"), number("epv"))) < 0.002)
  }

  @Test("a magnetic course is the true one without the declination, which is positive to the east")
  func declination() throws {
    let heading = HeadingEstimate(
      time: GPSDBoard.at(0), magneticHeading: 1, accuracy: nil, declination: 25.7 * .pi / 180,
      reason: .uncalibrated, field: nil, attitude: .identity)
    let ours = try Self.position(Self.fix(), heading: heading)
    #expect(ours["magvar"] as? Double == 25.7)
    // Dunedin's needle points 25.7 degrees east of true north: a course of 217.88 is 192.18 by it.
    #expect(ours["magtrack"] as? Double == 192.1765)
  }

  @Test(
    "the kinds of a fix are gpsd's numbers (gps.h, STATUS_)",
    arguments: [
      (FixKind.autonomous, nil), (.differential, 2), (.rtkFixed, 3), (.rtkFloat, 4),
      (.deadReckoning, 5), (.combined, 6), (.timeOnly, 7), (.simulated, 8), (.preciseCode, 9),
      (.manual, 7), (.precisePoint, 2), (.none, nil),
    ] as [(FixKind, Int?)])
  func status(kind: FixKind, status: Int?) throws {
    var fix = Self.fix()
    fix.kind = kind
    #expect(try Self.position(fix)["status"] as? Int == status)
  }

  @Test("a position that is carried on says so, and has no height")
  func carried() throws {
    var fix = Self.fix()
    (fix.mode, fix.kind, fix.horizontalAccuracy) = (.twoDimensional, .deadReckoning, 120)
    let ours = try Self.position(
      fix, carried: DeadReckonedPosition(fixTime: GPSDBoard.at(-30), isTurnMeasured: true))
    #expect(ours["status"] as? Int == 5 && ours["mode"] as? Int == 2)
    for key in ["altHAE", "altMSL", "alt", "epv", "sep", "climb", "geoidSep"] {
      #expect(ours[key] == nil, "\(key)")
    }
    #expect((ours["eph"] as? Double ?? 0) > 190)
  }

  @Test("a simulated board says so, whatever it simulates")
  func simulated() throws {
    var fix = Self.fix()
    #expect(try Self.position(fix, isSimulated: true)["status"] as? Int == 8)
    fix.isValid = false
    let lost = try Self.position(fix, isSimulated: true)
    #expect(lost["status"] as? Int == 8 && lost["mode"] as? Int == 1 && lost["lat"] == nil)
  }

  @Test("without a fix there is mode 1 and nothing that was")
  func lost() throws {
    let keys: Set = ["class", "device", "mode", "leapseconds"]
    // Refused by the receiver itself; too old; taken back; never there.
    var refused = Self.fix()
    refused.isValid = false
    #expect(Set(try Self.position(refused).keys) == keys)
    #expect(Set(try Self.position(Self.fix(), after: 5.5).keys) == keys)
    var state = GPSDBoard.state(.location(LocationEstimate(fix: Self.fix(), isSimulated: false)))
    state.take(.locationUnavailable(.noFix, at: GPSDBoard.at(1)))
    let reports = GPSDBoard.reports()
    let taken = try GPSDBoard.object(reports.position(state, at: GPSDBoard.at(1)).bytes)
    #expect(taken["mode"] as? Int == 1 && taken.count == 3)
    let never = try GPSDBoard.object(reports.position(PublishedState(), at: GPSDBoard.at(1)).bytes)
    #expect(never["mode"] as? Int == 1 && never.count == 3)
  }

  @Test("what is not known, or no number, is left out")
  func unknown() throws {
    var fix = GNSSFix(received: GPSDBoard.at(0), mode: .threeDimensional)
    (fix.latitude, fix.longitude) = (1, 2)
    (fix.altitude, fix.speed, fix.course) = (.nan, .infinity, nil)
    (fix.horizontalAccuracy, fix.verticalAccuracy, fix.courseAccuracy) = (0, -1, 3)
    let ours = try Self.position(fix)
    for key in [
      "altMSL", "alt", "speed", "track", "eph", "epx", "epy", "epv", "sep", "epd", "geoidSep",
    ] {
      #expect(ours[key] == nil, "\(key)")
    }
    // The receiver says no date: the clock is set. Where it is not, there is no time.
    #expect(ours["time"] as? String == "2019-04-22T21:19:26.920Z")
    let state = GPSDBoard.state(.location(LocationEstimate(fix: fix, isSimulated: false)))
    let unset = GPSDBoard.reports(isSet: false)
    #expect(try GPSDBoard.object(unset.position(state, at: GPSDBoard.at(0)).bytes)["time"] == nil)
  }

  @Test("directions do not reach 360 degrees by rounding")
  func fullTurn() throws {
    var fix = Self.fix()
    fix.course = 359.99996
    #expect(try Self.position(fix)["track"] as? Double == 0)
  }

  @Test("corrections are told as far as they are known")
  func corrections() throws {
    var fix = Self.fix()
    fix.corrections = FixCorrections(age: 1.25, station: 1_023)
    #expect(try Self.position(fix)["dgpsAge"] as? Double == 1.3)
    #expect(try Self.position(fix)["dgpsSta"] as? Int == 1_023)
    fix.corrections = FixCorrections(age: 2)
    #expect(try Self.position(fix)["dgpsSta"] == nil)
  }
}

/// SKY.
struct GPSDSkyTests {
  // Of the same file of gpsd 3.22: PRN, gnssid, svid.
  private static let numbers: [(Int, GNSSSystem, Int)] = [
    (2, .gps, 2), (301, .galileo, 1), (327, .galileo, 27), (401, .beidou, 1), (428, .beidou, 28),
    (193, .qzss, 1),
  ]

  private static func sky(_ satellites: [GNSSSatellite], fix: GNSSFix? = nil) throws -> (
    [String: Any], [[String: Any]], bytes: Int
  ) {
    var state = GPSDBoard.state(.sky(GNSSSky(received: GPSDBoard.at(0), satellites: satellites)))
    if let fix { state.take(.location(LocationEstimate(fix: fix, isSimulated: false))) }
    let bytes = GPSDBoard.reports().sky(state, at: GPSDBoard.at(1)).bytes
    let object = try GPSDBoard.object(bytes)
    return (object, object["satellites"] as? [[String: Any]] ?? [], bytes.count)
  }

  @Test("satellites have gpsd's numbers")
  func numbers() throws {
    let (object, satellites, _) = try Self.sky(
      Self.numbers.map { GNSSSatellite($0.1, $0.2) } + [
        GNSSSatellite(.sbas, 120), GNSSSatellite(.sbas, 158), GNSSSatellite(.glonass, 32),
        // What has no number of gpsd's is no satellite for its clients, which count numbers above 0.
        GNSSSatellite(.glonass, 255), GNSSSatellite(.gps, 0), GNSSSatellite(.sbas, 33),
      ])
    #expect(satellites.compactMap { $0["PRN"] as? Int } == Self.numbers.map(\.0) + [33, 158, 96])
    #expect(
      satellites.compactMap { $0["gnssid"] as? Int }
        == Self.numbers.map { Int($0.1.rawValue) } + [1, 1, 6])
    #expect(satellites.compactMap { $0["svid"] as? Int } == Self.numbers.map(\.2) + [120, 158, 32])
    #expect(object["nSat"] as? Int == 9 && object["uSat"] == nil)
    #expect(object["time"] as? String == "2019-04-22T21:19:27.000Z")
    // Nothing was said of them.
    for key in ["el", "az", "ss"] { #expect(satellites[0][key] == nil) }
    #expect(satellites[0]["used"] as? Bool == false)
  }

  @Test("what is known of a satellite is told, and how many are in use")
  func directions() throws {
    var (used, heard) = (GNSSSatellite(.gps, 29), GNSSSatellite(.gps, 2))
    (used.elevation, used.azimuth, used.carrierToNoise, used.isUsed) = (73, 241, 18, true)
    (heard.elevation, heard.azimuth, heard.isUsed) = (-4.25, 359.96, false)
    var fix = GNSSFix(received: GPSDBoard.at(0), mode: .twoDimensional)
    (fix.latitude, fix.longitude, fix.hdop, fix.pdop) = (1, 2, 0.77, 1.25)
    let (object, satellites, _) = try Self.sky([used, heard], fix: fix)
    #expect(object["uSat"] as? Int == 1 && object["nSat"] as? Int == 2)
    #expect(object["hdop"] as? Double == 0.77 && object["pdop"] as? Double == 1.25)
    #expect(object["vdop"] == nil && object["xdop"] == nil)
    #expect(satellites[0]["el"] as? Double == 73 && satellites[0]["az"] as? Double == 241)
    #expect(satellites[0]["ss"] as? Double == 18 && satellites[0]["used"] as? Bool == true)
    #expect(satellites[1]["az"] as? Double == 0 && satellites[1]["used"] as? Bool == false)
  }

  @Test("an empty sky is one without satellites, an old one is none")
  func empty() throws {
    let (object, satellites, _) = try Self.sky([])
    #expect(object["nSat"] as? Int == 0 && object["uSat"] as? Int == 0 && satellites.isEmpty)
    let state = GPSDBoard.state(.sky(GNSSSky(received: GPSDBoard.at(0), satellites: [])))
    let old = try GPSDBoard.object(GPSDBoard.reports().sky(state, at: GPSDBoard.at(16)).bytes)
    #expect(Set(old.keys) == ["class", "device", "satellites"])
  }

  @Test("as many satellites are told as a client's buffer holds, those in use first of all")
  func many() throws {
    let ranges: [(GNSSSystem, ClosedRange<Int>)] = [
      (.gps, 1...32), (.galileo, 1...36), (.beidou, 1...63), (.glonass, 1...32),
    ]
    var all = ranges.flatMap { system, numbers in numbers.map { GNSSSatellite(system, $0) } }
    for index in all.indices {
      (all[index].elevation, all[index].azimuth) = (45.5, 123.5)
      (all[index].carrierToNoise, all[index].isUsed) = (44.5, index >= 160)
    }
    let (object, satellites, bytes) = try Self.sky(all)
    #expect(satellites.count == 100 && object["nSat"] as? Int == 100)
    #expect(object["uSat"] as? Int == 3 && satellites.last?["used"] as? Bool == true)
    // GPS_JSON_RESPONSE_MAX of gpsd 3.22.
    #expect(bytes < 10_240)
  }
}
