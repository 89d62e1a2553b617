import ArgumentParser
import CalibrationCore
import FoundationEssentials
import StateStore
import TerminalUI

/// `lodestone calibrate export`: records in one file, for another machine or for safety.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes records into one file: all of them, or one chip's.",
    discussion: "The file is read by 'lodestone calibrate import'. History is not in it.")

  @OptionGroup var which: RecordOptions

  @Option(name: [.short, .long], help: "The file; standard output without.")
  var output: String?

  @Flag(help: "Over a file that is there already.")
  var force = false

  func run() throws {
    if let output { try OutputFile.refuseTaken(output, unless: force) }
    let (store, _) = try which.board.records()
    let isOne = which.chip != nil || which.kind != nil
    let keys = isOne ? [try which.key(in: store)] : store.keys
    let records = keys.compactMap { key -> StoredRecord? in
      if case .record(let record) = store.current(key) { record } else { nil }
    }
    guard !records.isEmpty else {
      throw CommandError("there is no record in use in \(store.folder.path)")
    }
    let bytes = try CalibrationArchive(records).encoded()
    guard let output else {
      Terminal.write(bytes)
      return
    }
    try OutputFile.replace(output, by: bytes)
    let count = records.count
    Terminal.warn("\(count) record\(count == 1 ? "" : "s") in \(output)")
  }
}
