package import BoardFile
import FoundationEssentials
import LinearAlgebra
package import Lodestone
package import SensorDrivers
package import SensorTypes
package import TerminalUI

/// Listens to a board that is held still, for some seconds.
package struct StillGathering {
  let session: any CalibrationBoard
  /// The chip that is listened to above all, by its place in the board's list.
  let sensor: Int
  /// Seconds that it is to be heard.
  let seconds: Double
  private let format: OutputFormat

  /// The board's temperature as its barometer says it, degrees Celsius.
  package private(set) var temperature: Double?

  package init(session: any CalibrationBoard, sensor: Int, seconds: Double, format: OutputFormat) {
    self.session = session
    self.format = format
    self.sensor = sensor
    self.seconds = seconds
  }

  /// Hands on the samples of all chips until the time is over or `movement` says why not to go on; shows how far
  /// it is.
  package mutating func run(
    _ take: (SensorReading) -> Void, movement: () -> String?
  ) throws {
    let start = session.now()
    var rest = RestProgress(seconds: seconds, from: start)
    var temperature: Double?
    var progress = ProgressLine(format)
    var silence: String?
    let (session, sensor) = (self.session, self.sensor)
    let whole = Int(seconds.rounded(.up))
    let end = try Gathering(session: session).run { batch in
      for case .reading(let reading) in batch {
        if case .atmosphere(_, let degrees, _) = reading.sample.value { temperature = degrees }
        if reading.sensor == sensor { rest.heard(at: reading.sample.time) }
        take(reading)
      }
      if movement() != nil { return false }
      let now = session.now()
      switch rest.step(to: now) {
      case .listening: break
      case .held(let held):
        progress.show(
          "  held still for \(held) of \(whole) s", seconds: now.seconds(since: start))
      case .silent:
        silence = Self.reason(session.sensors[sensor])
        return false
      case .done: return false
      }
      return true
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

extension CalibrationBoard {
  /// Now in UTC as records say it.
  package var date: String {
    Date(timeIntervalSince1970: wallTime(of: now())).formatted(.iso8601)
  }

  /// The chip that feels gravity for the hub: the first with a gyro, else the first accelerometer.
  package func gravitySensor(for what: String) throws -> (index: Int, sensor: Board.Sensor) {
    for kind in [ChipKind.inertial, .accelerometer] {
      if let found = sensor(of: kind) { return found }
    }
    throw CommandError("\(what) needs an accelerometer, and this board has none (\(chips))")
  }

  /// The first chip of a kind.
  package func sensor(of kind: ChipKind) -> (index: Int, sensor: Board.Sensor)? {
    board.sensors.enumerated().first { ChipCatalog.chip(named: $0.element.chip)?.kind == kind }
      .map { ($0.offset, $0.element) }
  }

  /// The board's chips, for a message.
  package var chips: String {
    board.sensors.isEmpty ? "no chips" : board.sensors.map(\.chip).joined(separator: ", ")
  }
}
