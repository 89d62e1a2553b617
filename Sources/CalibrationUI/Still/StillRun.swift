import CalibrationCore
import Lodestone
import Reports
import SensorTypes
import TerminalUI
import TextForms

/// What the calibrations of a board at rest have in common: who is asked, what is refused, what is saved.
struct StillRun {
  let settings: SaveSettings

  /// Says what to do and waits for Return.
  func prepare(_ words: String) throws {
    guard !settings.yes else { return }
    try Keyboard.waitForReturn("\(words)\nPress Return when that is so.\n")
  }

  /// Refuses what came of a rest.
  func refuse(_ reason: String, hasMoved: Bool, on session: any CalibrationBoard) throws -> Never {
    try settings.refuse(
      Self.words(reason, isSimulated: session.summary.isSimulated, hasMoved: hasMoved))
  }

  /// A refusal in words: a simulated board that moved does not lie down for being asked to.
  static func words(_ reason: String, isSimulated: Bool, hasMoved: Bool) -> String {
    guard hasMoved, isSimulated else { return reason }
    return "\(reason); a simulated board goes the way of its file "
      + "(Boards/simulated-hand.yaml lies still until its control socket turns it)"
  }

  /// Stores a record and says so.
  func save(_ record: StoredRecord, _ session: any CalibrationBoard) throws {
    let file = try RecordSaver(session: session, settings: settings).save(record)
    switch settings.format {
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
