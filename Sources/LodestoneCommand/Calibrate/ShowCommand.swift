import ArgumentParser
import CalibrationCore
import Foundation
import Reports
import StateStore
import TerminalUI
import TextForms

/// `lodestone calibrate show`: one record, and what was there before it.
struct ShowRecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "One calibration record, with its history.")

  @OptionGroup var which: RecordOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws {
    let (store, _) = try which.board.records()
    let key = try which.key(in: store)
    let history = store.history(key)
    let current: StoredRecord? =
      if case .record(let record) = store.current(key) { record } else { nil }
    switch format {
    case .json:
      if let current {
        var line = RecordText.line(current)
        line.set("inUse", true)
        line.set("file", store.file(key).path)
        Terminal.say(line.line)
      }
      for former in history {
        guard let record = former.record else { continue }
        var line = RecordText.line(record)
        line.set("inUse", false)
        line.set("number", former.number)
        line.set("undone", former.isUndone)
        Terminal.say(line.line)
      }
    case .text:
      if let current {
        for line in RecordText.lines(current) { Terminal.say(line) }
        Terminal.say("file               \(store.file(key).path)")
      } else {
        Terminal.say(
          Hints.complete(
            "\(key): no record in use; lodestone calibrate rollback brings back the one before"))
      }
      if !history.isEmpty { Terminal.say("before it:") }
      for former in history {
        let words = former.record.map(RecordText.short) ?? "cannot be read"
        Terminal.say("  \(former.number)  \(words)\(former.isUndone ? ", gone back from" : "")")
      }
    }
  }
}
