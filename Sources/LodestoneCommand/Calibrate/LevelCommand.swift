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

/// `lodestone calibrate level`: how the board sits in what carries it.
struct LevelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "level",
    abstract: "Measures how the board sits in its carrier, from gravity.",
    discussion: """
      Hold the board, or what carries it, as it is level in use. The small rotation that is found is applied \
      to all its chips, after their mounts. In one position the tilt of what it lies on is part of it; with \
      --two-positions it is turned by half a turn in between, and that tilt falls out. Needs an \
      accelerometer; refused when the board moves, or where its magnetometer has seen no turn in between.
      """)

  @OptionGroup var options: StillOptions

  @Option(help: "How long to listen in each position, seconds, 2 to 600.")
  var seconds = 5.0

  @Flag(help: "A second time after half a turn on the same place.")
  var twoPositions = false

  func validate() throws {
    guard (LevelAtRest.shortest...600).contains(seconds) else {
      throw ValidationError("--seconds takes 2 to 600")
    }
    if twoPositions, options.saving.yes {
      throw ValidationError("--two-positions needs somebody who turns the board: not with --yes")
    }
  }

  func run() throws {
    try Keyboard.check(options.saving.yes)
    let session = try Session(board: options.board.name)
    let (index, sensor): (Int, Board.Sensor)
    do {
      (index, sensor) = try session.gravitySensor(for: "level")
    } catch let error as CommandError {
      try options.saving.settings.refuse(error.description)
    }
    try RecordSaver(session: session, settings: options.saving.settings).begin(.level, sensor)
    try options.prepare("Hold the board as it is level in use, for \(Int(seconds)) s.")
    var positions = [try position(session, index, sensor)]
    if twoPositions {
      try options.prepare("Turn it by half a turn (180 deg) on the same place, and leave it again.")
      // A board is opened again: what it does in between is not listened to.
      positions.append(
        try position(try Session(board: options.board.name), index, sensor))
    }
    let outcome = LevelAtRest.outcome(of: positions)
    guard outcome.refusal == nil, let rotation = outcome.rotation else {
      var reason = outcome.refusal ?? "the accelerometer said nothing"
      let hasMoved = positions.contains { $0.movement != nil }
      if twoPositions, session.simulation != nil, !hasMoved {
        reason += "; a simulated board begins anew with the second position"
      }
      try options.refuse(reason, hasMoved: hasMoved, on: session)
    }
    try options.save(
      .level(
        LevelRecord(
          chip: sensor.chip, busPosition: sensor.attachment.description, mount: sensor.mount,
          board: session.board.name, date: session.date,
          method: twoPositions ? "twoPositions" : "onePosition", samples: outcome.samples,
          rotation: rotation, deviation: outcome.deviation, surfaceTilt: outcome.surfaceTilt)),
      session)
  }

  private func position(
    _ session: Session, _ index: Int, _ sensor: Board.Sensor
  ) throws -> LevelPosition {
    let mount = sensor.mount.matrix
    let magnetometer = session.sensor(of: .magnetometer)?.index
    var position = LevelPosition()
    var gathering = StillGathering(
      session: session, sensor: index, seconds: seconds, format: options.saving.format)
    try gathering.run { reading in
      let time = reading.sample.time
      if reading.sensor == magnetometer, case .magneticField(let field) = reading.sample.value {
        position.field.take(field, at: time)
      }
      guard reading.sensor == index else { return }
      switch reading.sample.value {
      case .inertial(let rate, let force):
        position.rate.take(rate, at: time)
        position.force.take(mount * force, at: time)
      case .acceleration(let force): position.force.take(mount * force, at: time)
      default: break
      }
    } movement: {
      position.movement
    }
    return position
  }
}
