// Records from a file, for the chips of this machine: what `lodestone calibrate import` does.

package import BoardFile
package import CalibrationCore
import Lodestone
import SensorHub
package import StateStore
import TerminalUI

/// The records of a file on their way into the store of this machine: all of them, or none where one is refused.
package struct RecordImport {
  private let file: String
  private let board: Board?
  private let store: CalibrationStore
  private let overridesLock: Bool

  /// - Parameters:
  ///   - file: The path of the file, or `-` for standard input.
  ///   - board: The board whose chips get the records; `nil` where none is known.
  ///   - store: Where the records go.
  ///   - overridesLock: Whether a locked record is replaced too.
  package init(
    from file: String, to board: Board?, in store: CalibrationStore,
    overridingLock overridesLock: Bool
  ) {
    self.file = file
    self.board = board
    self.store = store
    self.overridesLock = overridesLock
  }

  /// Reads the file, and stores its records.
  ///
  /// - Parameters:
  ///   - chip: The chip that gets the file's one record, as a person names it; `nil` gives each record to its own.
  ///   - say: Called with each record that was stored.
  package func run(asChip chip: String?, say: (StoredRecord) -> Void) throws {
    let records = try accepted(read(), asChip: chip.map(ChipName.init))
    for (index, record) in records.enumerated() {
      do {
        try store.save(record, overridingLock: overridesLock)
      } catch {
        throw Self.cut(error, taken: records[..<index], left: records[index...])
      }
      say(record)
    }
  }

  /// Returns the records as they are to be stored. Throws where one of them is refused.
  ///
  /// - Parameter chip: The chip that gets the one record; `nil` gives each record to its own.
  func accepted(_ given: [StoredRecord], asChip chip: ChipName?) throws -> [StoredRecord] {
    var records = given
    if let chip {
      guard records.count == 1 else {
        throw CommandError(
          "--as-chip goes with a file of one record; \(file) has \(records.count)", kind: .usage)
      }
      records[0] = try moved(records[0], to: chip)
    } else {
      for record in records { try check(record) }
    }
    for (index, record) in records.enumerated() {
      let key = CalibrationKey(record)
      guard !records[..<index].contains(where: { CalibrationKey($0) == key }) else {
        throw CommandError("refused: \(file) has two records of the \(key)", kind: .data)
      }
    }
    if board?.simulation == nil, records.contains(where: Self.isSimulated) {
      throw CommandError(
        "refused: the record is a simulated board's own truth, which no real chip has")
    }
    for record in records where !overridesLock {
      if let locked = store.lock(of: CalibrationKey(record)) { throw locked }
    }
    return records
  }

  private static func isSimulated(_ record: StoredRecord) -> Bool {
    // An import appends the origin, which does not make the record a real chip's.
    record.kind == .magnetometer && record.methodName == Simulation.method
  }

  /// What became of a file whose records could not all be written.
  static func cut(
    _ error: any Error, taken: ArraySlice<StoredRecord>, left: ArraySlice<StoredRecord>
  ) -> CommandError {
    func names(_ records: ArraySlice<StoredRecord>) -> String {
      records.map { CalibrationKey($0).description }.joined(separator: ", ")
    }
    let before =
      taken.isEmpty
      ? "nothing was taken"
      : "taken: \(names(taken)); lodestone calibrate rollback brings the ones before them back"
    return CommandError(
      "\(error)\n\(before)\nnot taken: \(names(left))",
      kind: (error as? FileProblem).map(CommandErrorKind.init) ?? .finding)
  }

  private func read() throws -> [StoredRecord] {
    var bytes: [UInt8] = []
    var input = try InputFile(file)
    // One more than is taken, to see that there is more; a pipe gives less than it is asked for.
    let most = CalibrationArchive.limit + 1
    while bytes.count < most, let data = try input.read(most - bytes.count) { bytes += data }
    do {
      let records = try CalibrationArchive(json: bytes).records
      guard !records.isEmpty else {
        throw CommandError("\(file): there is no record in it", kind: .data)
      }
      return records
    } catch let error as InvalidArchive {
      throw CommandError("\(file): \(error)", kind: .data)
    }
  }

  private func check(_ record: StoredRecord) throws {
    let key = CalibrationKey(record)
    guard let board else {
      throw CommandError(
        "no board file and no known chip: name a board by --board, or a chip by --as-chip",
        kind: .configuration)
    }
    let sensors = board.sensors(for: key.kind)
    guard let sensor = sensors.first(where: { key.fits($0) }) else {
      let there = sensors.map { "\($0.chip) at \($0.attachment)" }.joined(separator: ", ")
      let other = sensors.first.map {
        "; --as-chip \($0.chip)@\($0.attachment) gives it to that one"
      }
      throw CommandError(
        "refused: the record is of the \(key), and this board has "
          + (there.isEmpty ? "no such chip" : "\(there)\(other ?? "")"))
    }
    try check(record, mountOf: sensor)
  }

  private func check(_ record: StoredRecord, mountOf sensor: Board.Sensor) throws {
    guard case .level(let level) = record, level.mount != sensor.mount else { return }
    throw CommandError(
      "refused: the level was made with another mount of \(sensor.chip) than the board file has now"
    )
  }

  private func moved(_ record: StoredRecord, to name: ChipName) throws -> StoredRecord {
    let key = CalibrationKey(record.kind, chip: name.chip, position: name.position ?? "")
    let sensor = board?.sensors(for: record.kind).first { sensor in
      name.position == nil ? sensor.chip.lowercased() == name.chip.lowercased() : key.fits(sensor)
    }
    if let sensor { try check(record, mountOf: sensor) }
    guard let position = name.position ?? sensor?.attachment.description else {
      throw CommandError(
        "--as-chip \(name.chip): where? say it as CHIP@PLACE, LIS3MDL@/dev/i2c-1:0x1c",
        kind: .usage)
    }
    if let board, sensor == nil {
      let there = board.sensors(for: record.kind).map { "\($0.chip)@\($0.attachment)" }
      throw CommandError(
        "refused: this board has no \(name.chip) at \(position) for a record of kind "
          + "\(record.kind.rawValue); it has "
          + (there.isEmpty ? "none" : there.joined(separator: ", ")))
    }
    // The chip of a record stays as it is recorded, unless it is another one's from now on.
    let isSameChip = record.chip.lowercased() == name.chip.lowercased()
    let recordedPlace = record.busPosition
    var record = record
    record.chip = sensor?.chip ?? (isSameChip ? record.chip : name.chip)
    record.busPosition = position
    guard !isSameChip || recordedPlace != position else { return record }
    // What it was good for was another chip, or this one among other iron: nobody has judged it here.
    if case .magnetometer(var moved) = record {
      // Moved to a third place, another chip's record is still another chip's.
      let isOthers = !isSameChip || record.origin == RecordOrigin.chip.rawValue
      let origin: RecordOrigin = isOthers ? .chip : .place
      moved.method = "\(record.methodName), \(origin.rawValue)"
      (moved.score, moved.headingError) = (nil, nil)
      (moved.headingErrorBefore, moved.expectedAccuracy) = (nil, nil)
      record = .magnetometer(moved)
    }
    return record
  }
}
