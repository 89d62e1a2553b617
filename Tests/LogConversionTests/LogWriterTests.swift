// What a receiver's log becomes: GPX, a table, sentences anew.

import CommandTestSupport
import Foundation
import GNSSProtocol
import LogConversion
import OutputProtocols
import SensorTypes
import Testing

import TextForms
@testable import TerminalUI

@Suite struct LogWriterTests {
  static func text(_ writer: some LogWriter, _ fixes: [GNSSFix], named name: String = "log")
    -> String
  {
    var (writer, bytes) = (writer, [UInt8]())
    writer.begin(&bytes)
    writer.beginLog(named: name, &bytes)
    for fix in fixes { writer.append(fix, to: &bytes) }
    writer.endLog(&bytes)
    writer.end(&bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// At a second of 2026-11-22, east of Greenwich.
  static func fix(second: Double, longitude: Double = 13) -> GNSSFix {
    var fix = GNSSFix(received: Timestamp(nanoseconds: 0), mode: .twoDimensional)
    (fix.utc, fix.timeOfDay) = (1_795_305_600 + second, second)
    (fix.latitude, fix.longitude) = (52, longitude)
    return fix
  }

  @Test func aPointOfATrackHasAllThatIsKnownInTheSchemasOrder() {
    let text = Self.text(GPXWriter(), [GNSSFix.full], named: "a<b>&\u{1}")
    #expect(text.contains("<name>a&lt;b&gt;&amp;\u{FFFD}</name>"))
    #expect(
      text.contains(
        """
        <trkpt lat="-33.123456789" lon="-0.000012345"><ele>100.25</ele>\
        <time>2026-11-22T03:04:05.250Z</time><geoidheight>-19.75</geoidheight><fix>dgps</fix><sat>9</sat>\
        <hdop>0.9</hdop><vdop>1.2</vdop><pdop>1.5</pdop>\
        <ageofdgpsdata>1.5</ageofdgpsdata><dgpsid>120</dgpsid><extensions>\
        <lodestone:fixKind>rtkFixed</lodestone:fixKind>\
        <lodestone:horizontalAccuracy>3.02</lodestone:horizontalAccuracy>\
        <lodestone:verticalAccuracy>4.5</lodestone:verticalAccuracy>\
        <lodestone:course>271.5</lodestone:course>\
        <lodestone:courseAccuracy>3</lodestone:courseAccuracy>\
        <lodestone:speed>1.5</lodestone:speed><lodestone:speedAccuracy>0.25</lodestone:speedAccuracy>\
        <lodestone:verticalSpeed>-0.5</lodestone:verticalSpeed></extensions></trkpt>
        """))
    // The schema's longitudes end below 180; what is not known has no element.
    #expect(
      Self.text(GPXWriter(), [Self.fix(second: 0, longitude: 180)]).contains(
        "lon=\"-180\"><time>2026-11-22T00:00:00.000Z</time><fix>2d</fix></trkpt>"))
  }

  @Test func aTrackIsBrokenWhereThereWasNoFix() {
    func segments(_ fixes: [GNSSFix]) -> [Int] {
      Self.text(GPXWriter(), fixes).components(separatedBy: "<trkseg>").dropFirst()
        .map { $0.components(separatedBy: "<trkpt").count - 1 }
    }
    let seconds = { (list: [Double]) in list.map { Self.fix(second: $0) } }
    #expect(segments(seconds([0, 1, 2, 12, 13])) == [5])
    #expect(segments(seconds([0, 1, 2, 12.5, 13])) == [3, 2])
    // A logger that speaks once a minute has no gaps, and one that goes back in time has one.
    #expect(segments(seconds([0, 60, 120, 180])) == [4])
    #expect(segments(seconds([60, 61, 10, 11])) == [2, 2])
    // A receiver without a date, over midnight: ten seconds are no pause, eleven are.
    let times = { (list: [Double]) in
      list.map { time in
        var fix = Self.fix(second: 0)
        (fix.utc, fix.timeOfDay) = (nil, time)
        return fix
      }
    }
    #expect(segments(times([86_392, 86_393, 3, 4])) == [4])
    #expect(segments(times([86_392, 86_393, 4, 5])) == [2, 2])
    #expect(segments(times([43_201, 43_202, 1, 2])) == [2, 2])
    var lost = Self.fix(second: 2)
    lost.mode = .none
    var doubted = Self.fix(second: 5)
    doubted.isValid = false
    let mixed = seconds([0, 1]) + [lost] + seconds([3, 4]) + [doubted] + seconds([6])
    #expect(segments(mixed) == [2, 2, 1])
    #expect(segments([lost]) == [])
  }

  @Test func aTableHasAColumnForEachValueAndNothingForNone() {
    var lost = GNSSFix(received: Timestamp(nanoseconds: 0))
    lost.isValid = false
    let rows = Self.text(CSVWriter(), [GNSSFix.full, lost]).split(separator: "\n")
      .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    #expect(rows.map(\.count) == [23, 23, 23])
    let row = Dictionary(uniqueKeysWithValues: zip(rows[0], rows[1]))
    #expect(row["time_utc"] == "2026-11-22T03:04:05.250Z" && row["time_of_day_s"] == "11045.25")
    #expect(row["latitude_deg"] == "-33.123456789" && row["longitude_deg"] == "-0.000012345")
    #expect(row["altitude_msl_m"] == "100.25" && row["altitude_ellipsoid_m"] == "80.5")
    #expect(row["horizontal_accuracy_m"] == "3.02" && row["vertical_accuracy_m"] == "4.5")
    #expect(row["fix_kind"] == "rtkFixed" && row["correction_station"] == "120")
    #expect(row["course_deg"] == "271.5" && row["satellites_used"] == "9" && row["pdop"] == "1.5")
    #expect(
      rows[2] == ["", "", "1", "false"] + [String](repeating: "", count: 19))
  }

  @Test func sentencesReadBackAsTheEpoch() throws {
    let fixes = [GNSSFix.full, Self.fix(second: 86_399.5, longitude: 179.999999999)]
    let text = Self.text(NMEAWriter(), fixes)
    // The check sum of the first one by hand: exclusive or of what stands between $ and *.
    let first = try #require(text.split(separator: "\r\n").dropFirst().first)
    #expect(
      first.hasPrefix("$GNRMC,030405.250,A,3307.407407,S,00000.000741,W,2.916,271.50,221126,,,R*"))
    let sum = first.dropFirst().prefix { $0 != "*" }.utf8.reduce(0, ^)
    #expect(first.hasSuffix(String(format: "*%02X", sum)))
    let lines = text.components(separatedBy: "\r\n").dropLast()
    // The standard ends a line at 82 characters; receivers that have corrections write longer ones.
    #expect(lines.count == 5)
    #expect(lines.allSatisfy { $0.utf8.count + 2 <= ($0.contains("0120*") ? 91 : 82) })
    var decoder = GNSSDecoder(endsByRule: false)
    Array(text.utf8).withUnsafeBytes { decoder.append($0, at: Timestamp(nanoseconds: 0)) }
    decoder.finish()
    var read: [GNSSFix] = []
    while let event = decoder.next() {
      if case .epoch(let fix, _) = event { read.append(fix) }
    }
    #expect(decoder.counters.badChecksums == 0 && read.count == 2)
    let fix = try #require(read.first)
    #expect(fix.utc == GNSSFix.full.utc && fix.mode == .threeDimensional && fix.satellitesUsed == 9)
    #expect(abs((fix.latitude ?? 0) + 33.123456789) < 1e-8)
    #expect(abs((fix.longitude ?? 0) + 0.000012345) < 1e-8)
    #expect(fix.altitude == 100.25 && abs((fix.ellipsoidalAltitude ?? 0) - 80.5) < 1e-9)
    #expect(abs((fix.horizontalAccuracy ?? 0) - 3.02) < 1e-3 && fix.verticalAccuracy == 4.5)
    #expect(fix.kind == .rtkFixed && fix.corrections == FixCorrections(age: 1.5, station: 120))
    #expect(text.contains(",4,9,0.90,100.25,M,-19.75,M,1.5,0120*"))
    #expect(abs((fix.speed ?? 0) - 1.5) < 3e-4 && fix.course == 271.5 && fix.hdop == 0.9)
    // A place a hair from the next degree is carried as a whole, not to sixty minutes.
    #expect(text.contains(",5200.000000,N,18000.000000,E,") && read[1].utc == fixes[1].utc)
  }

  @Test(
    "the kind of a fix reads back, as far as NMEA has a word for it", arguments: FixKind.allCases)
  func kinds(kind: FixKind) throws {
    var fix = GNSSFix.full
    fix.kind = kind
    let isPlace = kind != .none && kind != .timeOnly
    if !isPlace { fix.mode = .none }
    let text = Self.text(NMEAWriter(), [fix])
    var decoder = GNSSDecoder(endsByRule: false)
    Array(text.utf8).withUnsafeBytes { decoder.append($0, at: Timestamp(nanoseconds: 0)) }
    decoder.finish()
    var read: [GNSSFix] = []
    while let event = decoder.next() {
      if case .epoch(let fix, _) = event { read.append(fix) }
    }
    let back = try #require(read.first)
    let coarser: [FixKind: FixKind] = [
      .combined: .autonomous, .precisePoint: .differential, .timeOnly: .none,
    ]
    #expect(back.kind == coarser[kind] ?? kind)
    #expect(back.isValid == (isPlace && kind != .manual && kind != .simulated))
  }

  @Test func noFixIsSaidAsNone() {
    var lost = GNSSFix.full
    lost.mode = .none
    let lines = Self.text(NMEAWriter(), [lost]).components(separatedBy: "\r\n").dropLast()
    #expect(lines.count == 2)
    #expect(lines.last?.hasPrefix("$GNRMC,030405.250,V,,,,,,,221126,,,N*") == true)
    #expect(lines.first?.hasPrefix("$GNGGA,030405.250,,,,,0,9,0.90,,M,,M,,*") == true)
  }

  // 2016-12-31T23:59:60Z is the second before the second 1,483,228,800 and has no number of its own.
  @Test func aLeapSecondIsTheSixtyFirst() {
    var fix = GNSSFix.full
    (fix.utc, fix.timeOfDay) = (1_483_228_800, 86_400)
    #expect(Self.text(NMEAWriter(), [fix]).contains("$GNRMC,235960,A,"))
    #expect(Self.text(NMEAWriter(), [fix]).contains(",311216,,,R*"))
    // The end of a day that has none is not rounded up to one.
    (fix.utc, fix.timeOfDay) = (1_795_305_599.9996, 86_399.9996)
    #expect(Self.text(NMEAWriter(), [fix]).contains("$GNRMC,235959.999,A,"))
  }

  @Test func linesSayWhatElseTheReceiverSaid() throws {
    var lines = ObservationLines { _ in nil }
    var bytes: [UInt8] = []
    var satellite = GNSSSatellite(.galileo, 7)
    (satellite.elevation, satellite.carrierToNoise, satellite.isUsed) = (71, 45.5, true)
    lines.append(GNSSFix.full, to: &bytes)
    lines.append([satellite, GNSSSatellite(.gps, 3)], to: &bytes)
    var heading = ReceiverHeading(received: Timestamp(nanoseconds: 0))
    (heading.trueHeading, heading.accuracy) = (12.5, 0.25)
    lines.append(heading, to: &bytes)
    var identity = ReceiverIdentity()
    (identity.software, identity.extensions, identity.uniqueID) = ("ROM \"1\"", ["MOD=X"], 0xAB12)
    lines.append(identity, to: &bytes)
    let said = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    #expect(said.count == 4)
    #expect(
      said[0].hasPrefix(#"{"v":1,"sequence":0,"monotonic":0,"kind":"location","time":"2026-"#))
    #expect(
      said[1] == #"{"v":1,"sequence":1,"monotonic":0,"kind":"sky","used":1,"inView":[{"system":"#
        + #""Galileo","number":7,"elevation":71,"carrierToNoise":45.5,"used":true},"#
        + #"{"system":"GPS","number":3}]}"#)
    #expect(
      said[2] == #"{"v":1,"sequence":2,"monotonic":0,"kind":"receiverHeading","#
        + #""magneticHeading":-1,"trueHeading":12.5,"headingAccuracy":0.25}"#)
    #expect(
      said[3] == #"{"v":1,"sequence":3,"monotonic":0,"kind":"receiver","software":"ROM \"1\"","#
        + #""extensions":["MOD=X"],"uniqueID":"ab12"}"#)
    for line in said { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
  }

  // Foundation's calendar is the oracle.
  @Test func timesAreFoundations() {
    let dates = [
      0, 951_782_399.999, 951_782_400, 951_868_800, 4_107_542_400, 4_102_444_799.9994, -1, -0.25,
      -11_676_096_000, 253_402_300_798.5, 1_795_316_645.25, -2_203_977_600,
    ]
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for seconds in dates {
      var bytes: [UInt8] = []
      let isWritten = bytes.append(iso8601: seconds)
      #expect(isWritten)
      let whole = (seconds * 1_000).rounded() / 1_000
      #expect(
        String(decoding: bytes, as: UTF8.self)
          == Date(timeIntervalSince1970: whole + 1e-4).formatted(style))
    }
    var bytes: [UInt8] = []
    // Foundation's calendar is the Julian one before 1582.
    bytes.append(iso8601: -62_135_596_800)
    #expect(String(decoding: bytes, as: UTF8.self) == "0001-01-01T00:00:00.000Z")
    bytes = []
    let refused = [
      1e12, -1e12, .infinity, .nan, 253_402_300_800, -62_166_000_000, -62_162_100_000,
    ]
    for seconds in refused {
      let isWritten = bytes.append(iso8601: seconds)
      #expect(!isWritten)
    }
    #expect(bytes.isEmpty)
  }

  @Test(arguments: [
    (0.0, 3, "0"), (-0.0004, 3, "0"), (-0.0005, 3, "-0.001"), (1.25, 1, "1.3"), (120, 0, "120"),
    (0.05, 9, "0.05"), (-12.5, 4, "-12.5"), (99.9996, 3, "100"), (1e20, 2, "1e+20"),
  ]) func numbersAreShort(value: Double, digits: Int, text: String) {
    #expect(DecimalText.short(value, digits) == text)
  }
}
