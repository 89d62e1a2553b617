package import BoardFile
import CalibrationCore
import FoundationEssentials
import SensorHub
package import StateStore
import TerminalUI
import TextForms

/// The calibration records of a machine: what `lodestone calibrate list` prints.
package struct RecordTable {
  private let store: CalibrationStore
  private let board: Board?

  /// - Parameters:
  ///   - store: The records.
  ///   - board: The board whose chips use them; `nil` where no board is known.
  package init(_ store: CalibrationStore, board: Board?) {
    self.store = store
    self.board = board
  }

  /// One JSON object for each record, for each file that cannot be used, and for each that was put aside.
  package var jsonLines: [String] {
    var lines: [String] = []
    for key in store.keys {
      guard case .record(let record) = store.current(key) else {
        // No record is in use, but a former one can be brought back.
        guard let former = store.former(key) else { continue }
        var line = JSONLine()
        line.set("kind", key.kind.rawValue)
        line.set("chip", key.chip)
        line.set("busPosition", key.position)
        line.set("inUse", false)
        line.set("formerDate", former.date)
        lines.append(line.line)
        continue
      }
      var line = RecordText.line(record)
      line.set("inUse", true)
      line.set("former", store.history(key).count)
      line.set("file", store.file(key).path)
      lines.append(line.line)
    }
    for entry in store.entries {
      guard case .failure(let why) = entry.record else { continue }
      var line = JSONLine()
      line.set("file", entry.file.path)
      line.set("reason", why.description)
      lines.append(line.line)
    }
    for file in store.setAsideFiles {
      var line = JSONLine()
      line.set("setAside", file.path)
      line.set("damaged", CalibrationStore.isDamaged(file))
      lines.append(line.line)
    }
    return lines
  }

  /// The table for people, at most 80 columns wide, and below it what does not fit into a row.
  package var textLines: [String] {
    let keys = store.keys
    guard !keys.isEmpty else {
      let none = "no records in \(store.folder.path): lodestone calibrate magnetometer makes one"
      return [Hints.complete(none)] + fileNotes.map { Hints.complete($0) }
    }
    var rows = [
      Self.row([
        ("chip", 14), ("place", 17), ("kind", 13), ("method", 13), ("result", 11), ("made", 0),
      ])
    ]
    var notes: [String] = []
    for key in keys {
      guard case .record(let record) = store.current(key) else {
        guard let former = store.former(key) else { continue }
        rows.append(
          Self.row([(key.chip, 14), (key.position, 17), (key.kind.rawValue, 13), ("not in use", 0)])
        )
        notes.append(
          "\(key.chip): the record before (\(RecordText.short(former))) comes back by\n"
            + "  lodestone calibrate rollback \(key.chip)@\(key.position) "
            + "--kind \(key.kind.rawValue)"
        )
        continue
      }
      rows.append(
        Self.row([
          (key.chip, 14), (key.position, 17), (key.kind.rawValue, 13), (record.methodName, 13),
          (RecordText.figure(record) ?? "", 11), (RecordText.day(record), 11),
        ]))
      notes += self.notes(record, key)
    }
    return rows + (notes + fileNotes).map { Hints.complete($0) }
  }

  /// What is to be said of a record that is in use.
  private func notes(_ record: StoredRecord, _ key: CalibrationKey) -> [String] {
    var notes: [String] = []
    // Both errors in the row would make it wider than a terminal.
    if case .magnetometer(let iron) = record, iron.headingErrorBefore != nil,
      let errors = RecordText.headingErrors(iron)
    {
      notes.append("\(key.chip): heading error \(errors)")
    }
    if let origin = record.origin { notes.append("\(key): its record is \(origin)") }
    if record.isLocked { notes.append("\(key) is locked") }
    if let board, !board.sensors(for: key.kind).contains(where: { key.fits($0) }) {
      notes.append("\(key) is no chip of this board: its record is not used")
    }
    return notes
  }

  /// What is to be said of files that are not in use.
  private var fileNotes: [String] {
    var notes: [String] = []
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
    return notes
  }

  /// A row of cells with their widths in columns. A cell that is too wide is followed by one space.
  static func row(_ cells: [(text: String, width: Int)]) -> String {
    var text = ""
    for (cell, width) in cells {
      text +=
        cell.count < width
        ? cell.padded(to: width)
        : cell + " "
    }
    while text.hasSuffix(" ") { text.removeLast() }
    return text
  }
}
