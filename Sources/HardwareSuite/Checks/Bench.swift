import BoardFile
import SensorDrivers
import SensorHub
import SensorTypes
import StateStore

/// What the checks work on: a board that runs, and a way to let time pass.
struct Bench: Sendable {
  let board: Board
  /// Whether there is no hardware. The board of a daemon does not say what is simulated.
  let isSimulated: Bool
  let source: any TestedBoard
  let capture: Capture
  let person: any Operator
  /// The monotonic clock of the board.
  let now: @Sendable () -> Timestamp
  /// Lets so many seconds pass, unless the run is to end.
  let pass: @Sendable (Double) throws(BrokenOff) -> Void
  /// Shows a line of progress.
  let say: @Sendable (String) -> Void
  /// The records of the board's magnetometers, which are in use.
  let calibrations: CalibrationStore?
  /// The chips that a driver of the kernel has, by their places.
  let kernels: Set<Int>
  /// Seconds for which this program was not let run so far.
  private let ownStandstill: @Sendable () -> Double

  init(
    board: Board, source: any TestedBoard, calibrations: CalibrationStore?, person: any Operator,
    now: @escaping @Sendable () -> Timestamp,
    pass: @escaping @Sendable (Double) throws(BrokenOff) -> Void,
    say: @escaping @Sendable (String) -> Void, kernels: Set<Int> = [],
    isSimulated: Bool? = nil, standstill: @escaping @Sendable () -> Double = { 0 }
  ) {
    self.board = board
    self.isSimulated = isSimulated ?? (board.simulation != nil)
    self.source = source
    self.calibrations = calibrations
    self.person = person
    self.now = now
    self.pass = pass
    self.say = say
    self.kernels = kernels
    ownStandstill = standstill
    capture = Capture(source, of: board, now: now)
  }

  /// Lets time pass until something holds or `limit` seconds are over; says whether it holds.
  func wait(
    atMost limit: Double, step: Double = 0.05, until holds: () -> Bool
  ) throws(BrokenOff) -> Bool {
    let end = now().advanced(bySeconds: limit)
    while !holds() {
      guard now() < end else { return false }
      try pass(step)
    }
    return true
  }

  /// Seconds so far for which this program or the rig was kept from its work. Two that stood still at the same time
  /// count twice: it is a bound.
  func standstill() -> Double { ownStandstill() + person.stoodStill() }

  /// Lets time pass and, for a person, counts it down.
  func countDown(_ seconds: Double) throws(BrokenOff) {
    guard person.isPerson else { return try pass(seconds) }
    say("    begins: \(Report.figure(seconds)) s")
    var left = seconds
    while left > 0 {
      // Full tens are said.
      let next = max(0, ((left - 0.001) / 10).rounded(.down) * 10)
      try pass(left - next)
      left = next
      say(left > 0 ? "    \(Report.figure(left)) s left" : "    over")
    }
  }

  /// Shows how a check ended, and why where it is not well.
  func tell(_ check: Report.Check) { for line in check.lines { say(line) } }

  /// The chip's name, with its place where the board has two of the kind.
  func name(_ sensor: Int) -> String { ChipTarget(sensor, of: board).name }

  /// What is known of a chip's kind.
  func kind(_ sensor: Int) -> ChipKind? {
    ChipCatalog.chip(named: board.sensors[sensor].chip)?.kind
  }

  /// What to do about a chip that does not do its work.
  var remedy: String {
    guard let simulation = board.simulation else {
      return isSimulated
        ? "lodestone monitor   # shows what the simulated chip says" : "lodestone doctor"
    }
    return simulation.faults.isEmpty
      ? "lodestone monitor --board FILE   # shows what the simulated chip says"
      : "the 'faults' of the simulated board's file rehearse this"
  }
}
