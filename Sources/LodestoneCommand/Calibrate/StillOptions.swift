import ArgumentParser
import CalibrationCore
import CalibrationUI
import Lodestone
import Reports
import TerminalUI
import TextForms

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

extension StillOptions {
  /// Refuses what came of a rest. A simulated board that moved does not lie down for being asked to.
  func refuse(_ reason: String, hasMoved: Bool, on session: Session) throws -> Never {
    guard hasMoved, session.simulation != nil else { try saving.settings.refuse(reason) }
    try saving.settings.refuse(
      "\(reason); a simulated board goes the way of its file (Boards/simulated-hand.yaml lies still until its control "
        + "socket turns it)")
  }

  /// Stores a record and says so.
  func save(_ record: StoredRecord, _ session: Session) throws {
    let file = try RecordSaver(session: session, settings: saving.settings).save(record)
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
