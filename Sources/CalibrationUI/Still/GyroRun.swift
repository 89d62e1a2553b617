import BoardFile
import CalibrationCore
import Lodestone
import SensorDrivers
import SensorHub
import SensorTypes
import TerminalUI

/// Measures what the gyro says while the board lies still, and saves it: `lodestone calibrate gyro`.
package struct GyroRun {
  private let board: String?
  private let settings: SaveSettings
  private let seconds: Double

  /// - Parameters:
  ///   - board: The board's name; `nil` for the machine's own.
  ///   - settings: Who is asked, and how the result is printed.
  ///   - seconds: How long to listen.
  package init(board: String?, settings: SaveSettings, seconds: Double) {
    self.board = board
    self.settings = settings
    self.seconds = seconds
  }

  package func run() throws {
    try Keyboard.check(settings.yes)
    let still = StillRun(settings: settings)
    let session = try BoardViews.openForCalibration(board: board)
    guard let (index, sensor) = session.sensor(of: .inertial) else {
      try settings.refuse("this board has no gyro (\(session.chips))")
    }
    try RecordSaver(session: session, settings: settings).begin(.gyro, sensor)
    try still.prepare("Lay the board down where nothing moves it, for \(Int(seconds)) s.")
    let magnetometer = session.sensor(of: .magnetometer)?.index
    var rest = GyroAtRest()
    var gathering = StillGathering(
      session: session, sensor: index, seconds: seconds, format: settings.format)
    try gathering.run { reading in
      let time = reading.sample.time
      switch reading.sample.value {
      case .inertial(let rate, let force) where reading.sensor == index:
        rest.rate.take(rate, at: time)
        rest.force.take(force, at: time)
      case .magneticField(let field) where reading.sensor == magnetometer:
        rest.field.take(field, at: time)
      default: break
      }
    } movement: {
      rest.movement
    }
    let outcome = rest.outcome
    guard outcome.refusal == nil, let bias = outcome.bias else {
      try still.refuse(
        outcome.refusal ?? "the gyro said nothing", hasMoved: rest.movement != nil, on: session)
    }
    try still.save(
      .gyro(
        GyroRecord(
          chip: sensor.chip, busPosition: sensor.attachment.description, board: session.board.name,
          date: session.date, samples: outcome.samples, bias: bias, deviation: outcome.deviation,
          temperature: gathering.temperature)), session)
  }
}
