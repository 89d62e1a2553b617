import CalibrationCore
import FoundationEssentials
package import StateStore
import TerminalUI
import TextForms

/// The record of one chip and those before it: what `lodestone calibrate show` prints.
package struct RecordHistory {
  private let store: CalibrationStore
  private let key: CalibrationKey

  package init(_ key: CalibrationKey, in store: CalibrationStore) {
    self.key = key
    self.store = store
  }

  private var current: StoredRecord? {
    if case .record(let record) = store.current(key) { record } else { nil }
  }

  /// One JSON object for each record that can be read, the one in use first.
  package var jsonLines: [String] {
    var lines: [String] = []
    if let current {
      var line = RecordText.line(current)
      line.set("inUse", true)
      line.set("file", store.file(key).path)
      lines.append(line.line)
    }
    for former in store.history(key) {
      guard let record = former.record else { continue }
      var line = RecordText.line(record)
      line.set("inUse", false)
      line.set("number", former.number)
      line.set("undone", former.isUndone)
      lines.append(line.line)
    }
    return lines
  }

  /// The record in use with every number, and a line for each one before it.
  package var textLines: [String] {
    var lines: [String] = []
    if let current {
      lines += RecordText.lines(current)
      lines.append("file               \(store.file(key).path)")
    } else {
      lines.append(
        Hints.complete(
          "\(key): no record in use; lodestone calibrate rollback brings back the one before"))
    }
    let history = store.history(key)
    if !history.isEmpty { lines.append("before it:") }
    for former in history {
      let words = former.record.map(RecordText.short) ?? "cannot be read"
      lines.append("  \(former.number)  \(words)\(former.isUndone ? ", gone back from" : "")")
    }
    return lines
  }
}
