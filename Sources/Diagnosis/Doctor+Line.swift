// What the doctor hears on a receiver's serial line. Nothing is sent to the receiver.

import BoardFile
import SensorBus
import SensorDrivers
import SensorTypes

/// What was heard of a receiver on a serial line.
private struct LineHearing {
  var fix: GNSSFix?
  var hasHeading = false
  /// The talkers of positions that are not read.
  var ignored: [String] = []
  var cause = SilenceCause.nothing
  /// The rate at which it was understood, or listened to last, in bits per second.
  var baudRate: Int?
  /// Whether every usual rate was tried.
  var hasSearched = false
}

extension Doctor {
  /// Seconds in which a receiver that is understood has an epoch. One that speaks once a second has three.
  static let epochTime = 3.6
  /// Seconds more in which a heading comes with the epochs.
  private static let headingTime = 2.2
  /// Seconds after which the search over all rates ends in any case.
  private static let longestSearch = 25.0
  private static let look = 0.02

  /// Listens to a receiver on a serial line, at its rate, or at all usual ones where the board file names none. Takes up to
  /// 25 s, and twice as long if the rate of the board file is wrong.
  func line(_ sensor: Board.Sensor, _ index: Int, port: String, baudRate: Int?) -> Finding {
    let place = "\(sensor.chip) at \(port)"
    do throws(BusError) {
      let rate = baudRate ?? (sensor.chip == "NMEA" ? 9_600 : 38_400)
      let stream = try provider.byteStream(port: port, baudRate: rate)
      let heard = try hear(sensor, stream, at: rate, searches: baudRate == nil)
      if let fix = heard.fix { return epochs(fix, heard, sensor, index, place) }
      // The rate of the board file may be another receiver's.
      if let baudRate, heard.cause == .garbage || heard.cause == .fragments {
        let other = try hear(sensor, stream, at: baudRate, searches: true)
        if let right = other.baudRate, right != baudRate,
          other.fix != nil || other.cause == .noPosition
        {
          return Finding(
            .problem,
            "\(place): what comes makes no sense at \(baudRate) baud; the receiver sends at \(right) baud",
            mend: "baudRate: \(right)   # in the board file, line \(sensor.line)", sensor: index)
        }
      }
      return silence(heard, sensor, index, place, rate: baudRate)
    } catch {
      return Finding(
        .problem, "\(sensor.chip): \(error)", mend: Self.lineRemedy(port, error), sensor: index)
    }
  }

  private func hear(
    _ sensor: Board.Sensor, _ stream: any ByteStream, at rate: Int, searches: Bool
  ) throws(BusError) -> LineHearing {
    let receiver = GNSSReceiver(
      stream, as: .readOnly, outputRate: 1, talker: sensor.talker,
      readsHeading: sensor.antennas != nil, baudRate: rate, searchesBaudRate: searches)
    var heard = LineHearing()
    let begun = provider.now()
    var understood: Timestamp?
    var firstFix: Timestamp?
    var epochs = 0
    while true {
      let now = provider.now()
      do {
        while let fix = try receiver.poll(now: now) {
          heard.fix = fix
          epochs += 1
          firstFix = firstFix ?? now
        }
      } catch {
        guard case .bus(let failure) = error else { break }
        throw failure
      }
      if receiver.takeHeading() != nil { heard.hasHeading = true }
      if let firstFix {
        let isComplete = sensor.antennas == nil || heard.hasHeading
        // A single one may be of a time that stands still.
        let limit = epochs > 1 ? Self.headingTime : Self.epochTime
        if isComplete && epochs > 1 || now.seconds(since: firstFix) > limit { break }
      }
      if receiver.isHeard { understood = understood ?? now } else { understood = nil }
      let start = searches ? understood : begun
      if let start, firstFix == nil, now.seconds(since: start) > Self.epochTime { break }
      if searches, receiver.hasSearched || now.seconds(since: begun) > Self.longestSearch { break }
      wait(Self.look)
    }
    heard.cause = receiver.silenceCause
    heard.ignored = receiver.ignored
    if epochs == 1, heard.cause == .standstill { heard.fix = nil }
    heard.baudRate = receiver.baudRate
    heard.hasSearched = receiver.hasSearched
    return heard
  }

  private func epochs(
    _ fix: GNSSFix, _ heard: LineHearing, _ sensor: Board.Sensor, _ index: Int, _ place: String
  ) -> Finding {
    let rate = heard.baudRate.map { " at \($0) baud" } ?? ""
    guard fix.mode != .none else {
      return Finding(
        .note, "\(place): the receiver sends\(rate), and has no fix at present",
        mend: Self.view, sensor: index)
    }
    if sensor.antennas != nil, !heard.hasHeading, sensor.chip == "NMEA" {
      return Self.headless(place, index)
    }
    if sensor.talker == nil, !heard.ignored.isEmpty {
      return Self.sources(place, heard.ignored, sensor, index)
    }
    return Finding(.good, "\(place): positions come\(rate)", sensor: index)
  }

  /// The finding for a line with another source of positions, which is not read.
  static func sources(
    _ place: String, _ talkers: [String], _ sensor: Board.Sensor?, _ index: Int?
  ) -> Finding {
    let line = sensor.map { ", line \($0.line)" } ?? ""
    return Finding(
      .note,
      "\(place): positions come, and those of another source, \(talkers.joined(separator: ", ")), which are not read",
      mend:
        "talker: \(talkers.first ?? "GP")   # in the board file\(line), if that one is to be read",
      sensor: index)
  }

  private func silence(
    _ heard: LineHearing, _ sensor: Board.Sensor, _ index: Int, _ place: String, rate: Int?
  ) -> Finding {
    let at = rate.map { "at \($0) baud" } ?? "at any usual rate"
    let text: String
    var mend = "lodestone gnss   # shows what the receiver says"
    switch heard.cause {
    case .nothing:
      guard !sensor.sleeps else {
        return Finding(
          .note, "\(place): nothing comes; it may sleep, as 'standby' lets it", mend: mend,
          sensor: index)
      }
      text = "nothing comes \(at)"
      mend =
        "check its power, that its TX is wired to RX of this board, and that GND is connected"
        + (sensor.chip == "NMEA"
          ? ""
          : "; lodestone gnss   # also asks a receiver whose output is off, which doctor does not")
    case .garbage, .fragments:
      text =
        rate == nil || heard.hasSearched
        ? "what comes is no message at any usual rate" : "what comes is no message \(at)"
      mend =
        rate == nil
        ? "check that GND is connected, and that the line has the levels of a UART (3.3 V), not of RS-232"
        : "take 'baudRate' out of the board file, line \(sensor.line): all usual rates are then tried"
    case .noPosition:
      text = "messages come, and none has a position (RMC, GGA, GNS, GLL)"
      mend =
        sensor.chip == "NMEA"
        ? "chip: GNSS   # in the board file: a receiver of a known family is then told to send them"
        : "lodestone gnss   # tells the receiver to send them, and says whether it does"
    case .noTime, .standstill, .damaged, .otherTalkers, .service:
      text = heard.cause.words ?? ""
      mend = Self.mend(of: heard.cause, sensor) ?? mend
    }
    return Finding(.problem, "\(place): \(text)", mend: mend, sensor: index)
  }

  /// How a receiver gets a fix.
  static let view = "give its antenna a view of the sky; lodestone gnss   # shows the satellites"

  /// The step that mends a cause, on a line or in the network; `nil` where that depends on the line.
  static func mend(of cause: SilenceCause, _ sensor: Board.Sensor?) -> String? {
    let line = sensor.map { ", line \($0.line)" } ?? ""
    switch cause {
    case .nothing, .garbage, .fragments, .noPosition: return nil
    case .damaged: return "check cable and ground, or the program that passes the sentences on"
    case .service(.gpsd):
      return "chip: gpsd   # in the board file\(line), in place of NMEA, with 'host: HOST:2947'"
    case .service(.ssh), .service(.http):
      return "host: tcp://HOST:PORT   # in the board file\(line): the port of the server of NMEA"
    case .service(.corrections):
      return "corrections:   # in the board file: an entry of the receiver that takes them"
    case .otherTalkers(_, let heard):
      return "talker: \(heard.first ?? "GP")   # in the board file\(line)"
    case .standstill: return "switch the receiver off and on, or end what repeats a recording"
    case .noTime: return view
    }
  }

  /// The finding for a receiver whose headings are wanted and do not come.
  static func headless(_ place: String, _ index: Int?) -> Finding {
    Finding(
      .problem,
      "\(place): positions come, and no heading, which 'antennas' is for (HDT, THS and others)",
      mend: "take 'antennas' out of the board file, or let the receiver send its heading",
      sensor: index)
  }

  private static func lineRemedy(_ port: String, _ error: BusError) -> String {
    switch error.reason {
    case .permissionDenied(let group): joining(group)
    case .inUse: "sudo fuser -v \(port)   # names the process that has it"
    default: listing
    }
  }

  /// The command that shows the serial ports of the machine.
  static let listing =
    "ls /dev/serial/by-id /dev/ttyAMA* /dev/ttyS* /dev/ttyUSB* /dev/ttyACM*   # 'port' is one of them"
}
