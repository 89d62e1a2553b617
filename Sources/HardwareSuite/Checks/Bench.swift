import SensorHub
import SensorTypes

/// What the checks work on: a board whose hub runs, and a way to let time pass.
struct Bench: Sendable {
  let board: Board
  let hub: Hub
  let capture: Capture
  let person: any Operator
  /// The monotonic clock of the board.
  let now: @Sendable () -> Timestamp
  /// Lets so many seconds pass.
  let pass: @Sendable (Double) -> Void
  /// Shows a line of progress.
  let say: @Sendable (String) -> Void

  init(
    board: Board, hub: Hub, person: any Operator, now: @escaping @Sendable () -> Timestamp,
    pass: @escaping @Sendable (Double) -> Void, say: @escaping @Sendable (String) -> Void
  ) {
    self.board = board
    self.hub = hub
    self.person = person
    self.now = now
    self.pass = pass
    self.say = say
    capture = Capture(hub, now: now)
  }

  /// Lets time pass until something holds or `limit` seconds are over; says whether it holds.
  func wait(atMost limit: Double, step: Double = 0.05, until holds: () -> Bool) -> Bool {
    let end = now().advanced(bySeconds: limit)
    while !holds() {
      guard now() < end else { return false }
      pass(step)
    }
    return true
  }

  /// The chip's name, with its place where the board has two of the kind.
  func name(_ sensor: Int) -> String {
    let chip = board.sensors[sensor].chip
    let isAlone = board.sensors.count { $0.chip == chip } == 1
    return isAlone ? chip : "\(chip) at \(board.sensors[sensor].attachment)"
  }
}
