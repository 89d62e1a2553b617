import ArgumentParser
import FusionCore
import Foundation
import LinuxIO
import Lodestone
import SensorDrivers
import SensorHub

/// `lodestone altitude`: what a person knows of the board's height.
struct AltitudeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "altitude",
    abstract:
      "Tells the board how high it is, or the pressure at sea level, for its height above the sea.",
    discussion: """
      A barometer gives a height above the sea once it knows the weather. What is given here says so for a moment, \
      and is worth less as the weather drifts: 6.6 m (one sigma) more after an hour, 32 m after a day. A program that \
      runs takes it within two seconds, and says so; it is kept for a week of later runs, as far as the network or a \
      receiver sets the clock. A receiver with a fix that is far from it is believed instead.
      """,
    subcommands: [
      ShowAltitudeCommand.self, SetAltitudeCommand.self, QNHCommand.self, ClearAltitudeCommand.self,
    ], defaultSubcommand: ShowAltitudeCommand.self)
}

/// `lodestone altitude show`: what is known and how old it is.
struct ShowAltitudeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "What is known, how old it is and what it is worth by now.")

  @OptionGroup var board: BoardOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws {
    let (store, board) = try board.knownAltitude()
    let known: KnownAltitude
    switch store.current {
    case .none: known = KnownAltitude()
    case .record(let record): known = record
    case .unusable(let why):
      throw CommandError(
        "\(store.file.path) cannot be used: \(why): lodestone altitude clear removes it",
        kind: .data)
    }
    switch format {
    case .json: Terminal.say(KnownAltitudeText.line(known, .now).line)
    case .text:
      for line in KnownAltitudeText.lines(known, board, .now) { Terminal.say(Hints.complete(line)) }
    }
  }
}

/// `lodestone altitude set`: the board is at a known height now.
struct SetAltitudeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "The board is at this elevation now: a trailhead, a dock, a hut.",
    discussion: """
      By the map's or the sign's elevation and by the datum of its country, which may be a metre or two from a \
      receiver's mean sea level: --accuracy has to hold that too.
      """)

  @OptionGroup var board: BoardOptions

  @Argument(help: "Metres above mean sea level, -500 to 9000.")
  var elevation: Double

  @Option(help: "One sigma of it, metres.")
  var accuracy = 5.0

  func run() throws {
    let store = try board.tellableAltitude()
    try store.set(KnownAltitude.Elevation(elevation, accuracy: accuracy, now: .now))
    KnownAltitudeText.sayKept(
      "\(JSONLine.fixed(elevation, digits: 2)) m +- \(JSONLine.fixed(accuracy, digits: 2))",
      "one has a minute for it: after that nobody knows where the board was")
  }
}

/// `lodestone altitude qnh`: the pressure at sea level by a station.
struct QNHCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "qnh", abstract: "An aerodrome or a harbour gives this pressure at sea level.",
    discussion: """
      By the ICAO standard atmosphere, as in a METAR (Q1013), where whole hectopascals are rounded down: half of \
      one is added. Air that is warmer or colder than the standard makes an error that grows with the height between \
      the station and the board, 4.5 % of it (one sigma): --station says how high the station lies. The barometer's \
      own error, 1 hPa, is added; an elevation has none of the two.
      """)

  @OptionGroup var board: BoardOptions

  @Argument(help: "Hectopascals, 870 to 1085.")
  var qnh: Double

  @Option(
    help: "One sigma of it, hectopascals: by default what a station within 50 km leaves open.")
  var accuracy = KnownAltitude.usualPressureAccuracy

  @Option(parsing: .unconditional, help: "Metres above mean sea level of the station.")
  var station = 0.0

  @Option(help: "How old it is, minutes, 180 at most.")
  var age = 0.0

  func validate() throws {
    guard (0...180).contains(age) else {
      throw ValidationError(
        "--age: a QNH's age is 0 to 180 minutes, not \(JSONLine.fixed(age, digits: 0))")
    }
  }

  func run() throws {
    let store = try board.tellableAltitude()
    try store.set(
      KnownAltitude.QNH(
        qnh, accuracy: accuracy, stationElevation: station, age: age * 60, now: .now))
    KnownAltitudeText.sayKept(
      "QNH \(JSONLine.fixed(qnh, digits: 2)) hPa +- \(JSONLine.fixed(accuracy, digits: 2))",
      "it gets older meanwhile")
  }
}

/// `lodestone altitude clear`: forgets both.
struct ClearAltitudeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Forgets elevation and QNH; a program that runs forgets them too.")

  @OptionGroup var board: BoardOptions

  func run() throws {
    let (store, _) = try board.knownAltitude()
    try store.clear()
    Terminal.say("elevation and QNH are forgotten")
  }
}

extension BoardOptions {
  /// What the named board was told of its height.
  fileprivate func knownAltitude() throws -> (store: KnownAltitudeStore, board: Board?) {
    let (folder, board) = try keptState()
    return (StateStore(folder: folder).knownAltitude, board)
  }

  /// The same of a board that can do something with it.
  fileprivate func tellableAltitude() throws -> KnownAltitudeStore {
    let (store, board) = try knownAltitude()
    let hasBarometer = board?.sensors.contains { sensor in
      ChipCatalog.chip(named: sensor.chip)?.kind == .barometer
    }
    guard hasBarometer ?? true else {
      throw CommandError(
        "this board has no barometer: a height that is given says nothing after the moment")
    }
    if let place = board?.position, place.altitudeAccuracy != nil {
      throw CommandError(
        "this board stays at \(JSONLine.fixed(place.altitude, digits: 2)) m, as 'altitudeAccuracy' "
          + "in its file says: change it there")
    }
    return store
  }
}

extension ClockReading {
  /// This machine's clock.
  fileprivate static var now: ClockReading {
    let linux = LinuxBusProvider()
    return ClockReading(seconds: linux.wallTime(), isSet: linux.isWallTimeSet)
  }
}

/// What is known of the height, in words and as JSON.
enum KnownAltitudeText {
  static func sayKept(_ what: String, _ otherwise: String) {
    Terminal.say(
      "\(what) is kept. A program that measures takes it within two seconds and says so; "
        + "where none runs, \(otherwise)")
  }

  static func lines(_ known: KnownAltitude, _ board: Board?, _ now: ClockReading) -> [String] {
    var lines: [String] = []
    if let elevation = known.elevation {
      let age = age(elevation.given, elevation.utc, 0, now)
      let said = "\(metres(elevation.elevation)) +- \(metres(elevation.accuracy))"
      lines.append("elevation  \(said), \(age)")
      lines.append(
        "           \(state(elevation.verdict, elevation.pressure))\(worth(elevation, now))")
    }
    if let qnh = known.qnh {
      let said = "\(number(qnh.qnh)) hPa +- \(number(qnh.accuracy))"
      let age = age(qnh.given, qnh.utc, qnh.age, now)
      lines.append("QNH        \(said), of a station at \(metres(qnh.stationElevation)), \(age)")
      lines.append("           \(state(qnh.verdict, nil))")
    }
    if let place = board?.position, let accuracy = place.altitudeAccuracy {
      lines.append("board file \(metres(place.altitude)) +- \(metres(accuracy)), for good")
    }
    guard lines.isEmpty else { return lines }
    return [
      "nothing is known of this board's height: "
        + "lodestone altitude set METRES, or lodestone altitude qnh HPA"
    ]
  }

  static func line(_ known: KnownAltitude, _ now: ClockReading) -> JSONLine {
    // What nobody knows is left out.
    func dated(_ utc: Double?, _ age: Double, _ line: inout JSONLine) {
      line.set("time", time: utc.map { $0 - age })
      line.set("age", elapsed(since: utc, now).map { $0 + age }, digits: 0)
    }
    var line = JSONLine()
    line.set("v", ObservationLines.version)
    line.set("kind", "knownAltitude")
    line.set("clockIsSet", now.isSet)
    if let elevation = known.elevation {
      var nested = JSONLine()
      nested.set("elevation", elevation.elevation, digits: 3)
      nested.set("accuracy", elevation.accuracy, digits: 3)
      dated(elevation.utc, 0, &nested)
      nested.set("pressure", elevation.pressure.map { $0 / 1_000 }, digits: 6)
      nested.set("verdict", elevation.verdict.rawValue)
      line.set("elevation", nested)
    }
    if let qnh = known.qnh {
      var nested = JSONLine()
      nested.set("qnh", qnh.qnh, digits: 3)
      nested.set("accuracy", qnh.accuracy, digits: 3)
      nested.set("stationElevation", qnh.stationElevation, digits: 3)
      dated(qnh.utc, qnh.age, &nested)
      nested.set("verdict", qnh.verdict.rawValue)
      line.set("qnh", nested)
    }
    return line
  }

  private static func number(_ value: Double) -> String { JSONLine.fixed(value, digits: 2) }

  private static func metres(_ value: Double) -> String { number(value) + " m" }

  /// How long ago that was, as a program that starts now has it; `nil` where no clock says so, and after now.
  private static func elapsed(since utc: Double?, _ now: ClockReading) -> Double? {
    guard let utc, now.isSet else { return nil }
    let seconds = now.seconds - utc
    return seconds > -KnownAltitude.clockSlack ? max(0, seconds) : nil
  }

  private static func age(
    _ given: Double, _ utc: Double?, _ before: Double, _ now: ClockReading
  ) -> String {
    if now.isSet {
      guard utc != nil else { return "given when nobody had set the clock" }
      guard let seconds = elapsed(since: utc, now) else { return "given later than now" }
      return "\(duration(seconds + before)) old"
    }
    // The same clock, unless it began anew in between.
    let seconds = now.seconds - given
    guard seconds >= 0 else { return "nobody knows how old: the clock is not set" }
    return "\(duration(seconds + before)) old, by a clock that nobody has set"
  }

  private static func duration(_ seconds: Double) -> String {
    let minutes = seconds / 60
    func whole(_ value: Double) -> String { JSONLine.fixed(value, digits: 0) }
    return minutes < 120
      ? whole(minutes) + " min"
      : minutes < 2_880 ? whole(minutes / 60) + " h" : whole(minutes / 1_440) + " days"
  }

  private static func state(_ verdict: KnownAltitude.Verdict, _ pressure: Double?) -> String {
    switch verdict {
    case .waiting: "no program has measured since"
    case .taken:
      "taken" + (pressure.map { " at \(JSONLine.fixed($0 / 100, digits: 1)) hPa" } ?? "")
    case .contradictsReceiver: "not used: the receiver was far from it"
    case .contradictsPressure: "not used: no weather has the pressure that was measured there"
    case .tooLate: "not used: no pressure was measured within a minute of it"
    case .notBetter: "no better than what was known already"
    case .boardStays: "not used: the board stays, and its file says the altitude"
    }
  }

  private static func worth(
    _ elevation: KnownAltitude.Elevation, _ now: ClockReading
  ) -> String {
    guard elevation.verdict == .taken, let age = elapsed(since: elevation.utc, now) else {
      return ""
    }
    guard age < KnownAltitude.longestAge else { return ", worth nothing by now: it is too old" }
    let sigma = AbsoluteAltitudeEstimator.Params().faded(elevation.accuracy, after: age)
    return ", worth +- \(JSONLine.fixed(sigma, digits: 0)) m by now"
  }
}
