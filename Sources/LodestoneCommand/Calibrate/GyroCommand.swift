import ArgumentParser
import BoardFile
import CalibrationCore
import CalibrationUI
import LinearAlgebra
import Lodestone
import SensorDrivers
import SensorHub
import SensorTypes
import TerminalUI

/// `lodestone calibrate gyro`: what the gyro says at rest.
struct GyroCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gyro",
    abstract: "Measures what the gyro says while the board lies still.",
    discussion: """
      A program then starts with it instead of learning it from its own first rest, which a board that is \
      switched on in the hand or under way does not have. Refused when the board moves.
      """)

  @OptionGroup var options: StillOptions

  @Option(help: "How long to listen, seconds, 3 to 600.")
  var seconds = 10.0

  func validate() throws {
    guard (GyroAtRest.shortest...600).contains(seconds) else {
      throw ValidationError("--seconds takes 3 to 600")
    }
  }

  func run() throws {
    try Keyboard.check(options.saving.yes)
    let session = try Session(board: options.board.name)
    guard let (index, sensor) = session.sensor(of: .inertial) else {
      try options.saving.settings.refuse("this board has no gyro (\(session.chips))")
    }
    try RecordSaver(session: session, settings: options.saving.settings).begin(.gyro, sensor)
    try options.prepare("Lay the board down where nothing moves it, for \(Int(seconds)) s.")
    let magnetometer = session.sensor(of: .magnetometer)?.index
    var rest = GyroAtRest()
    var gathering = StillGathering(
      session: session, sensor: index, seconds: seconds, format: options.saving.format)
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
      try options.refuse(
        outcome.refusal ?? "the gyro said nothing", hasMoved: rest.movement != nil, on: session)
    }
    try options.save(
      .gyro(
        GyroRecord(
          chip: sensor.chip, busPosition: sensor.attachment.description, board: session.board.name,
          date: session.date, samples: outcome.samples, bias: bias, deviation: outcome.deviation,
          temperature: gathering.temperature)), session)
  }
}
