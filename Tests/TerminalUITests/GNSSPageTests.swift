// The receiver's page: what stands where, that it fits, and that nothing is made up.

import CommandTestSupport
import Foundation
import OutputProtocols
import SensorTypes
@testable import TerminalUI
import Testing

@Suite struct GNSSPageTests {
  private static func satellite(
    _ system: GNSSSystem, _ number: Int, _ elevation: Double? = nil,
    _ azimuth: Double? = nil, _ strength: Double? = nil, used: Bool = false
  ) -> GNSSSatellite {
    var satellite = GNSSSatellite(system, number)
    (satellite.elevation, satellite.azimuth) = (elevation, azimuth)
    (satellite.carrierToNoise, satellite.isUsed) = (strength, used)
    return satellite
  }

  /// Two hundred, a dozen of them used, all over the sky.
  private static let many: [GNSSSatellite] = {
    let systems: [(GNSSSystem, ClosedRange<Int>)] = [
      (.gps, 1...32), (.glonass, 1...24), (.galileo, 1...36), (.beidou, 1...63), (.qzss, 1...10),
      (.sbas, 120...154),
    ]
    var all: [GNSSSatellite] = []
    for (system, numbers) in systems {
      for number in numbers {
        let place = Double(all.count)
        all.append(
          GNSSPageTests.satellite(
            system, number, (place * 7).truncatingRemainder(dividingBy: 90),
            (place * 47).truncatingRemainder(dividingBy: 360), 20 + Double(all.count % 25),
            used: all.count % 17 == 3))
      }
    }
    return all
  }()

  static func status(_ state: SensorState = .running) -> SensorStatus {
    var status = SensorStatus(
      index: 3, chip: "u-blox", position: "/dev/serial0", state: state,
      since: Timestamp(seconds: 1))
    status.identity = SensorIdentity(name: "u-blox M9 or F9", firmware: "SPG 4.04")
    status.link = ReceiverLink(baudRate: 38_400, language: .ubxKeys)
    status.link?.interval = 0.2
    return status
  }

  /// Nothing is well, and a leap second comes at the end of 2026.
  static var condition: ReceiverCondition {
    var condition = ReceiverCondition()
    (condition.antenna, condition.interference, condition.spoofing) = (.open, .severe, .suspected)
    condition.leapSecond = ReceiverCondition.LeapSecond(change: 1, midnight: 1_798_761_600)
    return condition
  }

  static func page(
    _ satellites: [GNSSSatellite]?, receiver: SensorStatus = GNSSPageTests.status()
  ) -> GNSSPage {
    var page = GNSSPage(
      BoardDescription(name: "Boat", isSimulated: false, isVehicle: false, chips: ["u-blox"]))
    page.receivers = [receiver]
    page.take(.location(LocationEstimate(fix: GNSSFix.full, isSimulated: false)))
    if let satellites {
      page.take(.sky(GNSSSky(received: Timestamp(seconds: 7), satellites: satellites)))
    }
    return page
  }

  private static func lines(
    _ page: GNSSPage, columns: Int = 80, rows: Int = 24
  ) -> [String] {
    page.lines(at: Timestamp(seconds: 10), size: (columns, rows))
  }

  @Test("each satellite stands where it is: north up, east on the right, the zenith in the middle")
  func plot() throws {
    let plot = try #require(SkyPlot(width: 35, rows: 17))
    let lines = plot.lines([
      Self.satellite(.gps, 1, 90, 0, 40, used: true),
      Self.satellite(.galileo, 5, 45, 90, 35),
      Self.satellite(.glonass, 255, 0, 270, nil, used: true),
      Self.satellite(.sbas, 136, 45, 180, 30),
    ])
    #expect(lines.count == 17 && lines.allSatisfy { $0.count == 35 })
    #expect(lines[8] == "R??      .      G01     e05      E ")
    #expect(lines[0].dropFirst(17).first == "N" && lines[16].dropFirst(17).first == "S")
    #expect(lines[12].dropFirst(16).hasPrefix("s36"))
    // What is nowhere, or below the horizon, is not in it.
    let empty = plot.lines([])
    let hidden = [
      Self.satellite(.gps, 2), Self.satellite(.gps, 3, -5, 90), Self.satellite(.gps, 4, 30),
      Self.satellite(.gps, 5, .nan, 10), Self.satellite(.gps, 6, 30, .infinity),
    ]
    #expect(plot.lines(hidden) == empty)
    #expect(empty[8].dropFirst(17).first == "+")
  }

  @Test("where labels would lie over each other the more important one is written")
  func collisions() throws {
    let plot = try #require(SkyPlot(width: 35, rows: 17))
    let lines = plot.lines([
      Self.satellite(.gps, 2, 33.75, 90, 50), Self.satellite(.gps, 3, 45, 90, 20, used: true),
      Self.satellite(.gps, 4, 45, 90, 30),
    ])
    // Columns 24 to 26, and 27; the third is where the first is.
    #expect(lines[8].dropFirst(24).hasPrefix("G03o"))
    #expect(!lines.joined().lowercased().contains("g04"))
  }

  @Test("a plot is as large as there is room for, and none where nobody could read it")
  func sizes() {
    #expect(SkyPlot(width: 19, rows: 9)?.width == 19)
    #expect(SkyPlot(width: 18, rows: 9) == nil && SkyPlot(width: 19, rows: 8) == nil)
    #expect(SkyPlot(width: 500, rows: 500)?.width == 51)
    #expect(SkyPlot(width: -5, rows: -5) == nil)
  }

  @Test("a row has what is known, and a dash for what is not")
  func table() {
    let satellites = [
      Self.satellite(.navic, 3), Self.satellite(.beidou, 63, 5.4, 359.7, 7.6),
      Self.satellite(.gps, 7, 71, 285, 47, used: true), Self.satellite(.qzss, 4, -3, 8, 30),
    ]
    #expect(
      SatelliteTable.lines(satellites, width: 21, rows: 5) == [
        "sat  elev azim C/N0", "G07*   71  285   47", "C63     5    0    8",
        "J04    -3    8   30", "I03     -    -    -",
      ])
    #expect(
      SatelliteTable.lines(satellites, width: 41, rows: 3) == [
        "sat  elev azim C/N0   sat  elev azim C/N0",
        "G07*   71  285   47   J04    -3    8   30", "C63     5    0    8   I03     -    -    -",
      ])
    // The strongest of those that are not used has the room that is left.
    #expect(
      SatelliteTable.lines(satellites, width: 21, rows: 4) == [
        "sat  elev azim C/N0", "G07*   71  285   47", "J04    -3    8   30", "and 2 more",
      ])
    #expect(SatelliteTable.lines(satellites, width: 21, rows: 2).last == "and 4 more")
    #expect(SatelliteTable.lines(satellites, width: 21, rows: 1).isEmpty)
    #expect(SatelliteTable.lines([], width: 80, rows: 20).isEmpty)
  }

  @Test("who, how it is set, its fix and its sky stand on a page of 80 by 24")
  func whole() throws {
    let satellites = [
      Self.satellite(.gps, 7, 71, 285, 47, used: true), Self.satellite(.galileo, 5, 20, 90, 35),
    ]
    let lines = Self.lines(Self.page(satellites))
    #expect(lines.count <= 23 && lines.allSatisfy { $0.count <= 79 && $0.last != " " })
    let text = lines.joined(separator: "\n")
    for words in [
      "lodestone · Boat",
      "u-blox    u-blox M9 or F9, firmware SPG 4.04, at /dev/serial0: running",
      "38400 baud, UBX (CFG-VALSET), asked for an epoch every 0.2 s",
      "fix       3D RTK fixed -33.123457 -0.000012 +- 3.0 m\n",
      "          height 100.3 +- 4.5 m, 1.50 +- 0.25 m/s, course 272 +- 3 deg\n",
      "quality   9 satellites, pdop 1.5, hdop 0.9, vdop 1.2, corrections 1.5 s old of\n",
      "sky       1 used (*) of 2 in view, 3 s ago", "G07*   71  285   47", "E05    20   90   35",
    ] {
      #expect(text.contains(words), "\(words) in \(text)")
    }
    #expect(text.contains("e05") && !text.contains("does not take"))
    var receiver = Self.status()
    receiver.link?.notTaken = ["the rate", "the satellites"]
    let refusing = Self.lines(Self.page(satellites, receiver: receiver)).joined(separator: " ")
    #expect(refusing.contains("not take the rate and the satellites"))
  }

  @Test("how the corrections are doing stands on the page and in the receiver's line")
  func corrections() {
    var status = CorrectionStatus(source: "caster.example/ROOF")
    func text() -> String {
      var receiver = Self.status()
      receiver.link?.corrections = status
      var lines = ObservationLines { _ in nil }
      return Self.lines(Self.page(nil, receiver: receiver)).joined(separator: "\n")
        + lines.line(for: .sensor(receiver))
    }
    (status.phase, status.recentFrames, status.recentBytes) = (.receiving, 12, 3_449)
    (status.connections, status.frames, status.bytes, status.rejected) = (1, 40, 9_000, 7)
    let good = text()
    #expect(
      good.contains(
        "\n          corrections: 12 frames, 3.4 kB in the last 10 s from\n          caster.example/ROOF\n"
      ))
    #expect(
      good.contains(
        #""corrections":"receiving","correctionSource":"caster.example/ROOF","correctionConnections":1,"#
          + #""correctionFrames":40,"correctionBytes":9000,"correctionsRejected":7,"correctionsDropped":0}"#
      ))
    (status.phase, status.failure, status.retry) = (.pausing, "no data within 30 s", 4)
    let bad = text()
    #expect(bad.contains("none from caster.example/ROOF: no data within"))
    #expect(bad.contains(#""correctionReason":"no data within 30 s""#))
    // Figures that rise all the time are no news.
    var changes = ReceiverChanges()
    var receiver = Self.status()
    receiver.link?.corrections = status
    #expect(changes.take([receiver]).count == 1)
    receiver.link?.corrections?.frames = 99
    receiver.link?.corrections?.retry = 3
    #expect(changes.take([receiver]).isEmpty)
    receiver.link?.corrections?.phase = .connecting
    #expect(changes.take([receiver]).count == 1)
  }

  @Test(
    "whether the pulse tells the time is said where there is a line for it, while the receiver runs"
  )
  func pulse() {
    func text(_ use: PulseUse?, _ state: SensorState = .running) -> String {
      var receiver = Self.status(state)
      receiver.link?.pulse = use
      var lines = ObservationLines { _ in nil }
      return Self.lines(Self.page(nil, receiver: receiver)).joined(separator: "\n")
        + lines.line(for: .sensor(receiver))
    }
    #expect(!text(nil).lowercased().contains("pps"))
    #expect(!text(.inUse, .failed("unplugged")).lowercased().contains("pps"))
    let used = text(.inUse)
    #expect(used.contains("\n          PPS tells the time of each fix\n"))
    #expect(used.contains(#""pps":"used"}"#))
    let waiting = text(.waiting)
    #expect(waiting.contains("PPS not used yet") && waiting.contains(#""pps":"waiting"}"#))
    let unused = text(.unusable("no pulse comes"))
    #expect(unused.contains("PPS not used: no pulse comes"))
    #expect(unused.contains(#""pps":"unused","ppsReason":"no pulse comes"}"#))
    // The position's line has the pulse's moment.
    var fix = GNSSFix.full
    fix.received = Timestamp(seconds: 7.06)
    fix.pulseTime = Timestamp(seconds: 7)
    var lines = ObservationLines { _ in nil }
    let line = lines.line(for: .location(LocationEstimate(fix: fix, isSimulated: false)))
    #expect(line.contains(#""monotonic":7,"#) && line.contains(#""pps":true"#))
  }

  @Test("whether chrony takes the time is said where the board file asks for it")
  func time() {
    func text(_ state: TimeServiceState, isPulse: Bool = false) -> String {
      var receiver = Self.status(.running)
      var service = TimeService(path: "/run/x", isPulse: isPulse)
      service.state = state
      receiver.link?.timeServices = [service]
      var lines = ObservationLines { _ in nil }
      return Self.lines(Self.page(nil, receiver: receiver)).joined(separator: "\n")
        + lines.line(for: .sensor(receiver))
    }
    let sending = text(.sending)
    #expect(sending.contains("\n          time of its messages given to chrony at /run/x\n"))
    #expect(sending.contains(#""chrony":["time of its messages given to chrony at /run/x"]"#))
    #expect(text(.waiting, isPulse: true).contains("no pulse is used"))
    #expect(text(.waiting).contains("no valid time"))
    #expect(text(.refused("chrony is away")).contains("time of its messages: chrony is away"))
  }

  @Test("200 satellites fit: those that are used are named, the others counted")
  func crowd() {
    let lines = Self.lines(Self.page(Self.many))
    #expect(lines.count <= 23 && lines.allSatisfy { $0.count <= 79 })
    let text = lines.joined(separator: "\n")
    #expect(text.contains("12 used (*) of 200 in view"))
    for satellite in Self.many where satellite.isUsed == true {
      #expect(text.contains(satellite.label + "*"))
    }
    let named = Self.many.count { text.contains($0.label + ($0.isUsed == true ? "* " : "  ")) }
    #expect(text.contains("and \(200 - named) more"), "\(named) are named")
  }

  @Test(
    "a small terminal gets what it has room for",
    arguments: [(60, 24), (40, 24), (24, 12), (80, 8)])
  func small(columns: Int, rows: Int) {
    let lines = Self.lines(Self.page(Self.many), columns: columns, rows: rows)
    // The rows that have no table begin with words, which the drawing cuts.
    for line in lines where line.contains("*") && !line.contains("used") {
      #expect(line.count < columns)
    }
    #expect(lines.contains { $0.contains("200") })
    let body = lines.drop { !$0.hasPrefix("sat ") }
    #expect(body.isEmpty == (rows < 24))
    if rows == 24 { #expect(lines.count <= 23) }
    // The plot has room beside one column at 60, and none at 40: nothing else has dots there.
    #expect(body.contains { $0.contains(".") } == (columns == 60))
  }

  @Test("a sky without satellites, none said yet, and a receiver that is lost are told apart")
  func nothing() {
    func words(_ page: GNSSPage) -> String { Self.lines(page).joined(separator: "\n") }
    #expect(words(Self.page([])).hasSuffix("sky       0 used (*) of 0 in view, 3 s ago"))
    #expect(words(Self.page(nil)).hasSuffix("sky       - (no satellites said)"))
    var lost = Self.page(Self.many, receiver: Self.status(.failed("no message for 1700 ms")))
    lost.take(.locationUnavailable(.noFix, at: Timestamp(seconds: 9)))
    #expect(words(lost).contains("failed, no") && words(lost).contains("message for 1700 ms"))
    #expect(words(lost).hasSuffix("sky       - (no satellites said)"))
    #expect(!words(lost).contains("quality") && !words(lost).contains("3D"))
    // A position that is carried on is none of the receiver's.
    var carried = Self.page(nil)
    carried.take(
      .location(
        LocationEstimate(
          fix: GNSSFix.full, isSimulated: false,
          carried: DeadReckonedPosition(fixTime: Timestamp(seconds: 1), isTurnMeasured: true))))
    #expect(!words(carried).contains("-33."))
  }

  @Test("what is not known of a fix is left out, and doubts are said")
  func doubts() {
    var page = Self.page(nil)
    var fix = GNSSFix(received: Timestamp(seconds: 9), mode: .twoDimensional)
    (fix.latitude, fix.longitude, fix.isValid) = (52, 13, false)
    (fix.horizontalAccuracy, fix.accuracySource) = (25, .worstCase)
    page.take(.location(LocationEstimate(fix: fix, isSimulated: true)))
    let words =
      "2D 52.000000 13.000000 +- 25.0 m (accuracy assumed) (the receiver doubts it) (simulated)"
    let lines = Self.lines(page, columns: 120)
    #expect(lines.contains("fix       " + words))
    // The board, the receiver, how it is set, the fix and the sky.
    #expect(lines.count == 5)
    // What is not there is not assumed.
    (fix.horizontalAccuracy, fix.isValid) = (nil, true)
    page.take(.location(LocationEstimate(fix: fix, isSimulated: false)))
    #expect(Self.lines(page, columns: 120).contains("fix       2D 52.000000 13.000000"))
  }

  @Test("only one that speaks is said to be read as it is, and gpsd is named once")
  func languages() {
    func setting(_ state: SensorState, _ link: ReceiverLink) -> String {
      var receiver = Self.status(state)
      receiver.link = link
      return Self.lines(Self.page(nil, receiver: receiver))[2]
    }
    let unconfigured = ReceiverLink(baudRate: 9_600)
    #expect(setting(.running, unconfigured) == "          9600 baud, read as it is")
    #expect(setting(.starting, unconfigured) == "          9600 baud")
    #expect(setting(.running, ReceiverLink(language: .gpsd)).hasPrefix("fix "))
  }

  @Test("lines of JSON have what was said, and no key for what was not")
  func json() throws {
    var lines = ObservationLines { _ in nil }
    let sky = lines.line(
      for: .sky(
        GNSSSky(
          received: Timestamp(seconds: 3),
          satellites: [
            Self.satellite(.galileo, 7, 71, nil, 45.5, used: true), Self.satellite(.gps, 3),
          ])))
    #expect(
      sky == #"{"v":1,"sequence":0,"monotonic":3,"kind":"sky","used":1,"inView":[{"system":"#
        + #""Galileo","number":7,"elevation":71,"carrierToNoise":45.5,"used":true},"#
        + #"{"system":"GPS","number":3,"used":false}]}"#)
    let empty = lines.line(for: .sky(GNSSSky(received: Timestamp(seconds: 4), satellites: [])))
    #expect(empty.hasSuffix(#""kind":"sky","used":0,"inView":[]}"#))
    var receiver = Self.status()
    receiver.link?.notTaken = ["'dynamicModel'"]
    let status = lines.line(for: .sensor(receiver))
    #expect(
      status.hasSuffix(
        #""name":"u-blox M9 or F9","firmware":"SPG 4.04","refusals":0,"baudRate":38400,"#
          + #""protocol":"UBX (CFG-VALSET)","interval":0.2,"notTaken":["'dynamicModel'"]}"#))
    receiver.link = ReceiverLink()
    receiver.link?.condition = Self.condition
    let condition = lines.line(for: .sensor(receiver))
    #expect(
      condition.hasSuffix(
        #""refusals":0,"antenna":"open","interference":"severe","spoofing":"suspected","leapSecondChange":1,"#
          + #""leapSecondBefore":"2027-01-01T00:00:00.000Z"}"#))
    receiver.link = ReceiverLink()
    #expect(lines.line(for: .sensor(receiver)).hasSuffix(#""refusals":0}"#))
    let location = lines.line(
      for: .location(LocationEstimate(fix: GNSSFix.full, isSimulated: false)))
    #expect(location.hasSuffix(#""satellites":9,"pdop":1.5,"hdop":0.9,"vdop":1.2}"#))
    for line in [sky, empty, status, condition, location] {
      _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
    }
  }
}
