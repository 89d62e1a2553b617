import ArgumentParser
import BoardFile
import FoundationEssentials
import LinuxIO
import Reports
import SensorDrivers
import SensorTypes
import StateStore
import TerminalUI
import TextForms

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
    let now = ClockReading.now
    try store.set(KnownAltitude.Elevation(elevation, accuracy: accuracy, now: now))
    Terminal.say(
      KnownAltitudeText.kept(
        "\(DecimalText.short(elevation, 2)) m +- \(DecimalText.short(accuracy, 2))",
        "one has a minute for it: after that nobody knows where the board was", now))
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
        "--age: a QNH's age is 0 to 180 minutes, not \(DecimalText.short(age, 0))")
    }
  }

  func run() throws {
    let store = try board.tellableAltitude()
    let now = ClockReading.now
    try store.set(
      KnownAltitude.QNH(
        qnh, accuracy: accuracy, stationElevation: station, age: age * 60, now: now))
    Terminal.say(
      KnownAltitudeText.kept(
        "QNH \(DecimalText.short(qnh, 2)) hPa +- \(DecimalText.short(accuracy, 2))",
        "it gets older meanwhile", now))
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
        "this board stays at \(DecimalText.short(place.altitude, 2)) m, as 'altitudeAccuracy' "
          + "in its file says: change it there")
    }
    return store
  }
}

extension ClockReading {
  fileprivate static var now: ClockReading {
    let linux = LinuxBusProvider()
    return ClockReading(seconds: linux.wallTime(), isSet: linux.isWallTimeSet)
  }
}
