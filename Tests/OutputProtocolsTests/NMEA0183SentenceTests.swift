// Sentences of NMEA 0183, against sentences that other people's libraries read as the board's values.

import Foundation
import SensorTypes
import Testing

@testable import OutputProtocols

@Suite("sentences of NMEA 0183") struct NMEA0183SentenceTests {
  /// Made by Tests/peers/nmea0183-vectors.py and read back by pynmea2 1.19.0 and pynmeagps 1.1.8 as the values of the board.
  private static let vectors = [
    "$HCHDG,128.3,,,3.1,E*23",
    "$HCHDM,128.3,M*21",
    "$IIHDT,131.4,T*25",
    "$IITHS,131.4,A*27",
    "$TIROT,-120.0,A*15",
    "$PASHR,030405.250,131.40,T,-12.50,+5.00,,0.250,0.250,0.500,2,1*3F",
    "$YXXDR,A,5.00,D,PTCH,A,-12.50,D,ROLL*43",
    "$YXXDR,P,0.99720,B,Barometer,C,17.20,C,TempBarometer,H,47.4,P,HumBarometer*74",
    "$WIMDA,29.4473,I,0.9972,B,,,,,,,,,,,,,,,,*67",
    "$GNGGA,030405.250,3307.4074,S,00000.0007,W,4,09,0.9,100.3,M,-19.8,M,1.5,0120*4C",
    "$GNRMC,030405.250,A,3307.40741,S,00000.00074,W,2.92,271.5,221126,3.1,E,R,V*44",
    "$GNGLL,3307.407407,S,00000.000741,W,030405.250,A,R*5B",
    "$GNVTG,271.50,T,268.40,M,2.916,N,5.400,K,R*2A",
    "$GNGSA,A,3,03,33,,,,,,,,,,,1.50,0.90,1.20,1*0C",
    "$GNGSA,A,3,65,,,,,,,,,,,,1.50,0.90,1.20,2*0F",
    "$GPGSV,1,1,03,03,71,005,46,33,33,,,32,,,,0*55",
    "$GLGSV,1,1,01,65,,,30,0*78",
    "$GNGST,030405.250,,,,,2.000,2.000,4.500*7D",
    "$GNZDA,030405.250,22,11,2026,00,00*4B",
  ]

  @Test("what is known of a board is in its sentences") func vectors() {
    #expect(
      NMEA0183Board.lines(OutputSentence.allCases, of: NMEA0183Board.full) == Self.vectors)
  }

  @Test("a board that knows nothing has empty fields and no status that says more") func nothing() {
    let state = PublishedState()
    let lines = NMEA0183Board.lines(
      OutputSentence.allCases, of: state, clock: NMEA0183Board.unset
    ).map { $0.prefix { $0 != "*" } }
    #expect(
      lines == [
        "$HCHDG,,,,,", "$HCHDM,,M", "$IIHDT,,T", "$IITHS,,V", "$TIROT,,V",
        "$YXXDR,A,,D,PTCH,A,,D,ROLL", "$YXXDR,P,,B,Barometer",
        "$WIMDA,,,,,,,,,,,,,,,,,,,,", "$GNGGA,,,,,,0,,,,M,,M,,", "$GNRMC,,V,,,,,,,,,,N,V",
        "$GNGLL,,,,,,V,N", "$GNVTG,,T,,M,,N,,K,N", "$GNGSA,A,1,,,,,,,,,,,,,,,,", "$GNGST,,,,,,,,",
        "$GNZDA,,,,,,",
      ])
  }

  @Test("a heading that is not to be trusted is none, and the variation stays known")
  func untrusted() {
    let state = NMEA0183Board.state([
      .heading(NMEA0183Board.heading(accuracy: nil, reason: .magneticInterference("90 uT")))
    ])
    #expect(NMEA0183Board.body(.hdg, of: state) == "$HCHDG,,,,3.1,E")
    #expect(NMEA0183Board.body(.hdm, of: state) == "$HCHDM,,M")
    #expect(NMEA0183Board.body(.hdt, of: state) == "$IIHDT,,T")
    #expect(NMEA0183Board.body(.ths, of: state) == "$IITHS,,V")
    #expect(
      NMEA0183Board.body(.pashr, of: state) == "$PASHR,030405.250,,T,-12.50,+5.00,,,,,0,0")
  }

  @Test("a heading without a declination is magnetic only, one in a disturbed field is estimated")
  func modes() {
    let magnetic = NMEA0183Board.state([.heading(NMEA0183Board.heading(true: nil))])
    #expect(NMEA0183Board.body(.hdg, of: magnetic) == "$HCHDG,128.3,,,,")
    #expect(NMEA0183Board.body(.ths, of: magnetic) == "$IITHS,,V")
    let carried = NMEA0183Board.state([
      .heading(NMEA0183Board.heading(reason: .magneticInterference("90 uT")))
    ])
    #expect(NMEA0183Board.body(.ths, of: carried) == "$IITHS,131.4,E")
    let simulated = NMEAEncoder(isSimulated: true)
    #expect(
      NMEA0183Board.body(.ths, of: NMEA0183Board.full, encoder: simulated) == "$IITHS,131.4,S")
    let gga = NMEA0183Board.body(.gga, of: NMEA0183Board.full, encoder: simulated)
    #expect(gga.split(separator: ",", omittingEmptySubsequences: false)[6] == "8")
  }

  @Test("values end by their age") func ages() {
    let later = NMEA0183Board.now.advanced(bySeconds: 2.5)
    #expect(NMEA0183Board.body(.hdg, of: NMEA0183Board.full, at: later) == "$HCHDG,,,,,")
    #expect(NMEA0183Board.body(.rot, of: NMEA0183Board.full, at: later) == "$TIROT,,V")
    #expect(NMEA0183Board.body(.gll, of: NMEA0183Board.full, at: later).hasSuffix("A,R"))
    let muchLater = NMEA0183Board.now.advanced(bySeconds: 16)
    #expect(
      NMEA0183Board.body(.rmc, of: NMEA0183Board.full, at: muchLater)
        == "$GNRMC,030405.250,V,,,,,,,221126,,,N,V")
    #expect(NMEA0183Board.body(.gsv, of: NMEA0183Board.full, at: muchLater) == "")
  }

  // IEC 61162-1 (NMEA 0183): the status is V for every mode but those of a measured position. u-blox receivers have A with E.
  @Test("a dead-reckoned position is estimated, one that its receiver does not vouch for is none")
  func carried() {
    var fix = GNSSFix(received: NMEA0183Board.now, mode: .twoDimensional)
    (fix.utc, fix.timeOfDay, fix.kind) = (1_795_316_645, 11_045, .deadReckoning)
    (fix.latitude, fix.longitude, fix.horizontalAccuracy) = (52.5, 13.25, 15.1)
    let carried = DeadReckonedPosition(fixTime: Timestamp(seconds: 80), isTurnMeasured: true)
    let state = NMEA0183Board.state([
      .location(LocationEstimate(fix: fix, isSimulated: false, carried: carried)),
      .sky(NMEA0183Board.sky),
    ])
    #expect(
      NMEA0183Board.body(.rmc, of: state)
        == "$GNRMC,030405,V,5230.000000,N,01315.000000,E,,,221126,,,E,V")
    #expect(
      NMEA0183Board.body(.gll, of: state) == "$GNGLL,5230.000000,N,01315.000000,E,030405,V,E")
    #expect(
      NMEA0183Board.body(.gga, of: state)
        == "$GNGGA,030405,5230.000000,N,01315.000000,E,6,,,,M,,M,,")
    #expect(NMEA0183Board.body(.gst, of: state) == "$GNGST,030405,,,,,10.000,10.000,")
    #expect(NMEA0183Board.body(.gsa, of: state) == "$GNGSA,A,2,,,,,,,,,,,,,,,,")
    fix = NMEA0183Board.fix
    fix.isValid = false
    let doubted = NMEA0183Board.state([
      .location(LocationEstimate(fix: fix, isSimulated: false))
    ])
    #expect(
      NMEA0183Board.body(.rmc, of: doubted) == "$GNRMC,030405.250,V,,,,,,,221126,,,N,V")
    #expect(NMEA0183Board.body(.gst, of: doubted) == "$GNGST,030405.250,,,,,,,")
  }

  // gpsd's, u-blox's and NMEA 4.11's tables of quality and mode.
  @Test(
    "the kind of a fix",
    arguments: [
      (FixKind.autonomous, "1", "A"), (.combined, "1", "A"), (.differential, "2", "D"),
      (.precisePoint, "2", "D"), (.preciseCode, "3", "P"), (.rtkFixed, "4", "R"),
      (.rtkFloat, "5", "F"), (.deadReckoning, "6", "E"), (.manual, "7", "M"),
      (.simulated, "8", "S"),
    ]) func kinds(kind: FixKind, quality: String, mode: String)
  {
    var fix = NMEA0183Board.fix
    fix.kind = kind
    let state = NMEA0183Board.state([.location(LocationEstimate(fix: fix, isSimulated: false))])
    let gga = NMEA0183Board.body(.gga, of: state).split(
      separator: ",", omittingEmptySubsequences: false)
    #expect(gga[6] == quality && gga[2] == "3307.4074")
    let rmc = NMEA0183Board.body(.rmc, of: state)
    #expect(rmc.hasSuffix(",\(mode),V"))
    let isValid = !["E", "M"].contains(mode)
    #expect(rmc.hasPrefix("$GNRMC,030405.250,\(isValid ? "A" : "V"),3307."))
    #expect(NMEA0183Board.body(.gll, of: state).hasSuffix(",\(isValid ? "A" : "V"),\(mode)"))
    #expect(NMEA0183Board.body(.vtg, of: state).hasSuffix("K,\(mode)"))
  }

  @Test("an accuracy that is only assumed is left out") func assumed() {
    var fix = NMEA0183Board.fix
    fix.accuracySource = .dilution
    let state = NMEA0183Board.state([.location(LocationEstimate(fix: fix, isSimulated: false))])
    #expect(NMEA0183Board.body(.gst, of: state) == "$GNGST,030405.250,,,,,,,")
  }

  @Test("a full turn is zero, west is W") func wrapping() {
    let state = NMEA0183Board.state([.heading(NMEA0183Board.heading(359.96, true: 359.96))])
    #expect(NMEA0183Board.body(.hdg, of: state) == "$HCHDG,0.0,,,3.1,E")
    #expect(NMEA0183Board.body(.pashr, of: state).contains(",359.96,T,"))
    var heading = NMEA0183Board.heading(359.94, true: 0)
    heading.declination = NMEA0183Board.radians(-0.06)
    let west = NMEA0183Board.state([.heading(heading)])
    #expect(NMEA0183Board.body(.hdg, of: west) == "$HCHDG,359.9,,,0.1,W")
    #expect(NMEA0183Board.body(.hdt, of: west) == "$IIHDT,0.0,T")
  }

  @Test("the time is the receiver's where the clock is not set, and a leap second is the 61st")
  func time() {
    var fix = NMEA0183Board.fix
    let state = NMEA0183Board.state([
      .location(LocationEstimate(fix: fix, isSimulated: false)), .heading(NMEA0183Board.heading()),
    ])
    // The epoch is received 0.08 s after it was measured.
    #expect(
      NMEA0183Board.body(.pashr, of: state, clock: NMEA0183Board.unset)
        .hasPrefix("$PASHR,030405.330,131.40"))
    #expect(
      NMEA0183Board.body(.zda, of: state, clock: NMEA0183Board.unset)
        == "$GNZDA,030405.250,22,11,2026,00,00")
    // 2016-12-31T23:59:60Z is the second before the second 1,483,228,800.
    (fix.utc, fix.timeOfDay) = (1_483_228_800, 86_400)
    let leap = NMEA0183Board.state([.location(LocationEstimate(fix: fix, isSimulated: false))])
    #expect(
      NMEA0183Board.body(.zda, of: leap) == "$GNZDA,235960,31,12,2016,00,00")
    #expect(NMEA0183Board.body(.rmc, of: leap).contains(",311216,"))
  }

  // Decoders of several authors show this sentence of a weather station: $WIMDA,29.4473,I,0.9972,B,17.2,C,,,,,,,,,,,,,,*3E.
  @Test("air outside is called so, and what was there once is empty when it is lost") func air() {
    var configuration = NMEAConfiguration.standard
    configuration.measuresOutsideAir = true
    var air = NMEA0183Board.air
    air.humidity = nil
    var encoder = NMEAEncoder(configuration)
    var state = NMEA0183Board.state([.altitude(air)])
    #expect(
      NMEA0183Board.lines([.mda], of: state, encoder: encoder)
        == ["$WIMDA,29.4473,I,0.9972,B,17.2,C,,,,,,,,,,,,,,*3E"])
    var bytes: [UInt8] = []
    encoder.append(
      [.xdr], of: state, at: NMEA0183Board.now, clock: NMEA0183Board.clock, to: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self)
        .contains("$YXXDR,P,0.99720,B,Barometer,C,17.20,C,TempAir*"))
    state.take(.altitudeUnavailable(.sensorLost("BMP280: a wire"), at: NMEA0183Board.now))
    #expect(
      NMEA0183Board.body(.xdr, of: state, encoder: encoder)
        .hasSuffix("|$YXXDR,P,,B,Barometer,C,,C,TempAir"))
  }

  @Test("extreme and impossible values make no sentence longer than 82 characters or wrong")
  func extremes() {
    var fix = NMEA0183Board.fix
    (fix.latitude, fix.longitude, fix.altitude) = (-89.999999999, -179.999999999, -9_999.99)
    (fix.ellipsoidalAltitude, fix.speed, fix.course) = (-10_999.99, 51_000, 359.999)
    (fix.hdop, fix.vdop, fix.pdop, fix.satellitesUsed) = (99_999.99, .nan, .infinity, 1_000)
    fix.corrections = FixCorrections(age: 99_999.9, station: 4_095)
    (fix.horizontalAccuracy, fix.verticalAccuracy) = (99_999, 99_999)
    var heading = NMEA0183Board.heading(accuracy: 179)
    heading.declination = NMEA0183Board.radians(-179.9)
    let state = NMEA0183Board.state([
      .heading(heading), .location(LocationEstimate(fix: fix, isSimulated: false)),
      .sky(
        GNSSSky(
          received: NMEA0183Board.now,
          satellites: GNSSSystem.allCases.flatMap { system in
            (-1...200).map { GNSSSatellite(system, $0) }
          })),
      .altitude(
        AltitudeEstimate(
          time: NMEA0183Board.now, relativeAltitude: 0, relativeAccuracy: 0, pressure: .nan,
          temperature: .infinity, humidity: -.infinity)),
    ])
    let lines = NMEA0183Board.lines(OutputSentence.allCases, of: state)
    for line in lines {
      #expect(line.utf8.count + 2 <= 82, "\(line)")
      #expect(!line.contains("nan") && !line.contains("inf") && !line.contains("e+"))
      let parts = line.dropFirst().split(separator: "*")
      #expect(String(format: "%02X", parts[0].utf8.reduce(0, ^)) == parts[1])
    }
    #expect(
      lines.contains { $0.hasPrefix("$GNGGA,") } && lines.contains { $0.hasPrefix("$GNRMC,") })
    // 36 of a system at most, in nine sentences.
    #expect(lines.filter { $0.hasPrefix("$GBGSV,9,") }.count == 9)
    var nowhere = NMEA0183Board.fix
    (nowhere.latitude, nowhere.timeOfDay, nowhere.utc) = (.nan, .nan, .infinity)
    let lost = NMEA0183Board.state([.location(LocationEstimate(fix: nowhere, isSimulated: false))])
    #expect(NMEA0183Board.body(.rmc, of: lost) == "$GNRMC,,V,,,,,,,,,,N,V")
  }

  @Test("a true heading that cannot be is none") func impossible() {
    var heading = NMEA0183Board.heading()
    heading.trueHeading = 1e19
    let state = NMEA0183Board.state([.heading(heading)])
    #expect(NMEA0183Board.body(.ths, of: state) == "$IITHS,,V")
    #expect(NMEA0183Board.body(.pashr, of: state).hasSuffix(",,,,0,0"))
  }

  @Test("a tilt without an accelerometer is none") func tiltUnknown() {
    let state = NMEA0183Board.state([
      .heading(NMEA0183Board.heading(accuracy: nil, reason: .tiltUnknown))
    ])
    #expect(
      NMEA0183Board.body(.xdr, of: state).hasPrefix("$YXXDR,A,,D,PTCH,A,,D,ROLL|"))
  }
}
