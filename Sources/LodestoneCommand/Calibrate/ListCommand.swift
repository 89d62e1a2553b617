import ArgumentParser
import BoardFile
import CalibrationCore
import Foundation
import Reports
import SensorHub
import StateStore
import TerminalUI
import TextForms

/// `lodestone calibrate list`: the records that this machine keeps.
struct ListRecordsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "The calibration records of this machine.",
    discussion: """
      Changes nothing. A damaged record is named, and the one before it is offered; what was put aside earlier, damaged \
      or replaced, is named at the end.
      """)

  @OptionGroup var board: BoardOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws {
    let (store, board) = try board.records()
    switch format {
    case .json: printLines(store)
    case .text: printTable(store, board)
    }
  }

  private func printLines(_ store: CalibrationStore) {
    for key in store.keys {
      guard case .record(let record) = store.current(key) else {
        // In use is nothing; there is something to go back to.
        guard let former = store.former(key) else { continue }
        var line = JSONLine()
        line.set("kind", key.kind.rawValue)
        line.set("chip", key.chip)
        line.set("busPosition", key.position)
        line.set("inUse", false)
        line.set("formerDate", former.date)
        Terminal.say(line.line)
        continue
      }
      var line = RecordText.line(record)
      line.set("inUse", true)
      line.set("former", store.history(key).count)
      line.set("file", store.file(key).path)
      Terminal.say(line.line)
    }
    for entry in store.entries {
      guard case .failure(let why) = entry.record else { continue }
      var line = JSONLine()
      line.set("file", entry.file.path)
      line.set("reason", why.description)
      Terminal.say(line.line)
    }
    for file in store.setAsideFiles {
      var line = JSONLine()
      line.set("setAside", file.path)
      line.set("damaged", CalibrationStore.isDamaged(file))
      Terminal.say(line.line)
    }
  }

  private func printTable(_ store: CalibrationStore, _ board: Board?) {
    func row(_ cells: [(String, Int)]) -> String {
      var text = ""
      for (cell, width) in cells {
        text +=
          cell.count < width
          ? cell.padding(toLength: width, withPad: " ", startingAt: 0)
          : cell + " "
      }
      while text.hasSuffix(" ") { text.removeLast() }
      return text
    }
    let keys = store.keys
    if keys.isEmpty {
      Terminal.say(
        Hints.complete(
          "no records in \(store.folder.path): lodestone calibrate magnetometer makes one"))
    }
    if !keys.isEmpty {
      Terminal.say(
        row([
          ("chip", 14), ("place", 17), ("kind", 13), ("method", 13), ("result", 11), ("made", 0),
        ]))
    }
    var notes: [String] = []
    for key in keys {
      guard case .record(let record) = store.current(key) else {
        guard let former = store.former(key) else { continue }
        Terminal.say(
          row([(key.chip, 14), (key.position, 17), (key.kind.rawValue, 13), ("not in use", 0)]))
        notes.append(
          "\(key.chip): the record before (\(RecordText.short(former))) comes back by\n"
            + "  lodestone calibrate rollback \(key.chip)@\(key.position) --kind \(key.kind.rawValue)"
        )
        continue
      }
      Terminal.say(
        row([
          (key.chip, 14), (key.position, 17), (key.kind.rawValue, 13), (record.method, 13),
          (RecordText.figure(record) ?? "", 11), (RecordText.day(record), 11),
        ]))
      // The table is as wide as a terminal.
      if case .magnetometer(let iron) = record, iron.headingErrorBefore != nil,
        let errors = RecordText.headingErrors(iron)
      {
        notes.append("\(key.chip): heading error \(errors)")
      }
      if record.isLocked { notes.append("\(key) is locked") }
      if let board, !board.sensors(for: key.kind).contains(where: { key.fits($0) }) {
        notes.append("\(key) is no chip of this board: its record is not used")
      }
    }
    for entry in store.entries {
      if case .failure(let why) = entry.record {
        notes.append("\(entry.file.lastPathComponent) is not used: \(why)")
      }
    }
    for (isDamaged, words) in [(true, "damaged"), (false, "could not be used here, replaced")] {
      let files = store.setAsideFiles.filter { CalibrationStore.isDamaged($0) == isDamaged }
      guard !files.isEmpty else { continue }
      let names = files.map(\.lastPathComponent).joined(separator: ", ")
      notes.append("put aside (\(words)): \(names)")
    }
    for note in notes { Terminal.say(Hints.complete(note)) }
  }
}
