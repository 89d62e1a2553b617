import ArgumentParser
import Reports
import StateStore
import TerminalUI
import TextForms

/// `lodestone calibrate rollback`: the record before the one in use.
struct RollbackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback",
    abstract: "Puts the record before in place of the one in use; again goes further back.",
    discussion: """
      The one in use is kept in the history, and --forward brings it back. A running program applies a magnetometer's record and a level \
      within two seconds; a level starts its attitude anew. A gyro's bias waits for the next start.
      """)

  @OptionGroup var which: RecordOptions

  @Flag(help: "The other way: the record that the last rollback went back from.")
  var forward = false

  @Flag(help: "A locked record too.")
  var force = false

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws {
    let (store, _) = try which.board.records()
    let key = try which.key(in: store)
    let record =
      forward
      ? try store.rollForward(key, overridingLock: force)
      : try store.rollback(key, overridingLock: force)
    switch format {
    case .json: Terminal.say(RecordText.line(record).line)
    case .text: Terminal.say("\(key): in use is now \(RecordText.short(record))")
    }
  }
}
