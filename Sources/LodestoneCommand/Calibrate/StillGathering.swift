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

  @OptionGroup var saving: SaveOptions

  /// Says what to do and waits for Return.
  func prepare(_ words: String) throws {
    guard !saving.yes else { return }
    try Keyboard.waitForReturn("\(words)\nPress Return when that is so.\n")
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
  private let format: OutputFormat

  /// The board's temperature as its barometer says it, degrees Celsius.
  private(set) var temperature: Double?

  init(session: Session, sensor: Int, seconds: Double, format: OutputFormat) {
    self.session = session
    self.format = format
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
    var progress = ProgressLine(format)
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
        progress.show(
          "  held still for \(shown) of \(Int(seconds.rounded(.up))) s",
          seconds: now.seconds(since: start))
      }
      // A little more, so that the last window is whole.
      return done < seconds + 0.3
    }
    progress.close()
    self.temperature = temperature
    try end.check()
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
  /// Refuses what came of a rest. A simulated board that moved does not lie down for being asked to.
  func refuse(_ reason: String, hasMoved: Bool, on session: Session) throws -> Never {
    guard hasMoved, session.simulation != nil else { try saving.refuse(reason) }
    try saving.refuse(
      "\(reason); a simulated board goes the way of its file (Boards/simulated-hand.yaml lies still until its control "
        + "socket turns it)")
  }

  /// Stores a record and says so.
  func save(_ record: StoredRecord, _ session: Session) throws {
    let file = try RecordSaver(session: session, options: saving).save(record)
    switch saving.format {
    case .json:
      var line = RecordSaver.line(of: record.kind, isAccepted: true, savedTo: file, reason: nil)
      RecordText.fill(&line, record)
      Terminal.say(line.line)
    case .text:
      for line in RecordText.lines(record) { Terminal.say(line) }
      RecordSaver.say(savedTo: file)
    }
  }
}
