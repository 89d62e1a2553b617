import ArgumentParser
import Reports
import StateStore
import TerminalUI
import TextForms

/// `lodestone calibrate lock`: nothing takes a record's place unless a person says so.
struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Keeps a record in its place: nothing replaces it without --force.")

  @OptionGroup var which: RecordOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws { try which.setLock(true, format) }
}

/// `lodestone calibrate unlock`: the record may be replaced again.
struct UnlockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Lets a record be replaced again.")

  @OptionGroup var which: RecordOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws { try which.setLock(false, format) }
}

extension RecordOptions {
  fileprivate func setLock(_ isLocked: Bool, _ format: OutputFormat) throws {
    let (store, _) = try board.records()
    let key = try key(in: store)
    let record = try store.setLock(isLocked, key)
    switch format {
    case .json: Terminal.say(RecordText.line(record).line)
    case .text: Terminal.say("\(key) is \(isLocked ? "locked" : "not locked")")
    }
  }
}
