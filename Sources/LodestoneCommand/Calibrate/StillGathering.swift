import ArgumentParser
import CalibrationCore
import Foundation
import LinearAlgebra
import Lodestone
import SensorDrivers
import SensorHub
import SensorTypes

/// What the commands that want a board at rest have in common.
struct StillOptions: ParsableArguments {
  @OptionGroup var board: BoardOptions

  @Flag(help: "Ask nothing: the board lies as it has to.")
  var yes = false

  @Flag(help: "In place of a locked record too.")
  var force = false

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  /// Says what to do and waits for Return.
  func prepare(_ words: String) throws {
    guard !yes else { return }
    guard Keyboard.isTerminal else {
      throw CommandError("nobody is at the keyboard: say --yes when the board lies as it has to")
    }
    Terminal.warn(words)
    Terminal.warn("Press Return when it does.")
    guard readLine() != nil else { throw CommandError("nothing was changed") }
  }
}

/// Listens to a board that is held still, for some seconds.
struct StillGathering {
  /// How long a chip may say nothing, seconds.
  private static let patience = 6.0

  let session: Session
  /// The chip that is listened to above all, by its place in the board's list.
  let sensor: Int
  /// Seconds that it is to be heard.
  let seconds: Double

  /// The board's temperature as its barometer says it, degrees Celsius.
  private(set) var temperature: Double?

  init(session: Session, sensor: Int, seconds: Double) {
    self.session = session
    self.sensor = sensor
    self.seconds = seconds
  }

  /// Hands on the samples of all chips until the time is over or `movement` says why not to go on; shows how far
  /// it is.
  mutating func run(
    _ take: (SensorReading) -> Void, movement: () -> String?
  ) throws {
    let start = session.now()
    var first: Timestamp?
    var temperature: Double?
    var shown = 0
    var silence: String?
    let (session, sensor, seconds) = (self.session, self.sensor, self.seconds)
    let end = try Gathering(session: session).run { batch in
      for case .reading(let reading) in batch {
        if case .atmosphere(_, let degrees) = reading.sample.value { temperature = degrees }
        if reading.sensor == sensor, first == nil { first = reading.sample.time }
        take(reading)
      }
      if movement() != nil { return false }
      let now = session.now()
      guard let first else {
        guard now.seconds(since: start) > Self.patience else { return true }
        silence = Self.reason(session.hub.status[sensor])
        return false
      }
      let done = now.seconds(since: first)
      if Int(done) > shown, done < seconds {
        shown = Int(done)
        Terminal.warn("  held still for \(shown) of \(Int(seconds.rounded(.up))) s")
      }
      // A little more, so that the last window is whole.
      return done < seconds + 0.3
    }
    self.temperature = temperature
    if case .interrupted = end { throw CommandError("interrupted: nothing was changed") }
    if let silence { throw CommandError(silence) }
  }

  private static func reason(_ status: SensorStatus) -> String {
    let name = "\(status.chip) at \(status.position)"
    if case .failed(let why) = status.state { return "\(name): \(why)" }
    return "\(name) says nothing: lodestone doctor says why"
  }
}

extension Session {
  /// Now in UTC as records say it.
  var date: String {
    Date(timeIntervalSince1970: wallTime(of: now())).formatted(.iso8601)
  }

  /// The chip that feels gravity for the hub: the first with a gyro, else the first accelerometer.
  func gravitySensor(for what: String) throws -> (index: Int, sensor: Board.Sensor) {
    for kind in [ChipKind.inertial, .accelerometer] {
      if let found = sensor(of: kind) { return found }
    }
    throw CommandError("\(what) needs an accelerometer, and this board has none (\(chips))")
  }

  /// The first chip of a kind.
  func sensor(of kind: ChipKind) -> (index: Int, sensor: Board.Sensor)? {
    board.sensors.enumerated().first { ChipCatalog.chip(named: $0.element.chip)?.kind == kind }
      .map { ($0.offset, $0.element) }
  }

  /// The board's chips, for a message.
  var chips: String {
    board.sensors.isEmpty ? "no chips" : board.sensors.map(\.chip).joined(separator: ", ")
  }
}

extension StillOptions {
  /// Refuses: with a reason on standard output where JSON is wanted, and always with exit code 1.
  func refuse(_ reason: String) throws -> Never {
    if format == .json {
      var line = JSONLine()
      line.set("accepted", false)
      line.set("reason", reason)
      print(line.line)
      throw ExitCode.failure
    }
    throw CommandError("refused: \(reason)")
  }

  /// Refuses before anything is asked where the record in place is locked.
  func checkLock(_ session: Session, _ kind: CalibrationKind, _ sensor: Board.Sensor) throws {
    let key = CalibrationStore.Key(kind, sensor)
    if !force, case .record(let record) = session.state.calibrations.current(key), record.isLocked {
      try refuse(CalibrationStore.Locked(key: key).description)
    }
  }

  /// Stores a record and says so.
  func save(_ record: StoredRecord, _ session: Session) throws {
    try session.state.calibrations.save(record, overridingLock: force)
    let file = session.state.calibrations.file(CalibrationStore.Key(record))
    let isKept = Session.keptState(isSimulated: session.simulation != nil) != nil
    switch format {
    case .json:
      var line = RecordText.line(record)
      line.set("accepted", true)
      if isKept { line.set("file", file.path) }
      print(line.line)
    case .text:
      for line in RecordText.lines(record) { print(line) }
      print(
        isKept
          ? "saved             \(file.path)"
          : "not kept          this is a simulated board: set STATE_DIRECTORY to keep it")
    }
  }
}
