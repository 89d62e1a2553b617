import BoardFile
import CalibrationCore
import LinearAlgebra
import Lodestone
import SensorDrivers
import SensorHub
import SensorTypes
import TerminalUI

/// Measures how the board sits in its carrier, from gravity, and saves it: `lodestone calibrate level`.
package struct LevelRun {
  private let board: String?
  private let settings: SaveSettings
  private let seconds: Double
  private let hasTwoPositions: Bool

  /// - Parameters:
  ///   - board: The board's name; `nil` for the machine's own.
  ///   - settings: Who is asked, and how the result is printed.
  ///   - seconds: How long to listen in each position.
  ///   - hasTwoPositions: Whether the board is turned by half a turn and listened to again.
  package init(board: String?, settings: SaveSettings, seconds: Double, hasTwoPositions: Bool) {
    self.board = board
    self.settings = settings
    self.seconds = seconds
    self.hasTwoPositions = hasTwoPositions
  }

  package func run() throws {
    try Keyboard.check(settings.yes)
    let still = StillRun(settings: settings)
    let session = try BoardViews.openForCalibration(board: board)
    let (index, sensor): (Int, Board.Sensor)
    do {
      (index, sensor) = try session.gravitySensor(for: "level")
    } catch let error as CommandError {
      try settings.refuse(error.description)
    }
    try RecordSaver(session: session, settings: settings).begin(.level, sensor)
    try still.prepare("Hold the board as it is level in use, for \(Int(seconds)) s.")
    var positions = [try position(session, index, sensor)]
    if hasTwoPositions {
      try still.prepare("Turn it by half a turn (180 deg) on the same place, and leave it again.")
      // A board that this command owns is opened again, so that nothing is heard in between.
      let second = session.isShared ? session : try BoardViews.openForCalibration(board: board)
      positions.append(try position(second, index, sensor))
    }
    let outcome = LevelAtRest.outcome(of: positions)
    guard outcome.refusal == nil, let rotation = outcome.rotation else {
      var reason = outcome.refusal ?? "the accelerometer said nothing"
      let hasMoved = positions.contains { $0.movement != nil }
      if hasTwoPositions, session.summary.isSimulated, !session.isShared, !hasMoved {
        reason += "; a simulated board starts over at the second position"
      }
      try still.refuse(reason, hasMoved: hasMoved, on: session)
    }
    try still.save(
      .level(
        LevelRecord(
          chip: sensor.chip, busPosition: sensor.attachment.description, mount: sensor.mount,
          board: session.board.name, date: session.date,
          method: hasTwoPositions ? "twoPositions" : "onePosition", samples: outcome.samples,
          rotation: rotation, deviation: outcome.deviation, surfaceTilt: outcome.surfaceTilt)),
      session)
  }

  private func position(
    _ session: any CalibrationBoard, _ index: Int, _ sensor: Board.Sensor
  ) throws -> LevelPosition {
    let mount = sensor.mount.matrix
    let magnetometer = session.sensor(of: .magnetometer)?.index
    var position = LevelPosition()
    var gathering = StillGathering(
      session: session, sensor: index, seconds: seconds, format: settings.format)
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
