import ArgumentParser
import CalibrationCore
import Foundation
import LinearAlgebra
import LinuxIO
import Lodestone
import SensorDrivers
import SensorHub

/// The kinds of records by their names in `CalibrationKind`, as an option.
enum KindName: String, ExpressibleByArgument, CaseIterable {
  case magnetometer
  case gyro
  case level

  var kind: CalibrationKind {
    switch self {
    case .magnetometer: .magnetometer
    case .gyro: .gyro
    case .level: .level
    }
  }
}

/// Which of this machine's stored records a command works on.
struct RecordOptions: ParsableArguments {
  @OptionGroup var board: BoardOptions

  @Argument(
    help: """
      Whose record: LIS3MDL, or LIS3MDL@/dev/i2c-1:0x1c where there are several. May be left out where only \
      one fits.
      """)
  var chip: String?

  @Option(help: "Of which kind: magnetometer, gyro or level.")
  var kind: KindName?

  /// The one record that is meant, of those that this machine keeps.
  func key(in store: CalibrationStore) throws -> CalibrationStore.Key {
    let keys = store.keys
    guard !keys.isEmpty else {
      throw CommandError(
        "there is no record in \(store.folder.path): lodestone calibrate magnetometer makes one")
    }
    let wanted = chip.map(ChipName.init)
    let fitting = keys.filter { key in
      (kind.map { $0.kind == key.kind } ?? true) && (wanted?.fits(key) ?? true)
    }
    guard let key = fitting.first else {
      throw CommandError(
        "there is no such record; there are: \(keys.map(\.description).joined(separator: ", "))")
    }
    guard fitting.count == 1 else {
      throw CommandError(
        "which one? \(fitting.map(\.description).joined(separator: ", ")): name the chip, or --kind",
        kind: .usage)
    }
    return key
  }
}

/// A chip as a person names it: `LIS3MDL`, or with its place `LIS3MDL@/dev/i2c-1:0x1c`.
struct ChipName {
  var chip: String
  var position: String?

  init(_ text: String) {
    let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    chip = String(parts.first ?? "")
    position = parts.count == 2 ? String(parts[1]) : nil
  }

  func fits(_ key: CalibrationStore.Key) -> Bool {
    chip.lowercased() == key.chip.lowercased() && (position.map { $0 == key.position } ?? true)
  }
}

extension BoardOptions {
  /// The board that is named, if one is, and the folder of what this machine keeps for it.
  func keptState() throws -> (folder: URL, board: Board?) {
    let board = try BoardLocator.locate(name)?.board
    guard let folder = Session.keptState(of: board) else {
      throw CommandError(
        "a simulated board keeps nothing: set STATE_DIRECTORY to a folder", kind: .configuration)
    }
    return (folder, board)
  }

  /// The same with the records of its chips.
  func records() throws -> (store: CalibrationStore, board: Board?) {
    let (folder, board) = try keptState()
    return (CalibrationStore(stateDirectory: folder), board)
  }

  /// The same with the buses probed where nothing names a board.
  func recordsOfBoard() throws -> (store: CalibrationStore, board: Board?) {
    let (store, board) = try records()
    let probed = {
      // As a run probes: the records must belong to the same chips.
      BoardProbe.board(with: LinuxBusProvider(), wait: { Thread.sleep(forTimeInterval: $0) })
    }
    return (store, board ?? probed())
  }
}

extension CalibrationKind {
  /// The chips that such a record can be of.
  var chips: [ChipKind] {
    switch self {
    case .magnetometer: [.magnetometer]
    case .gyro: [.inertial]
    case .level: [.inertial, .accelerometer]
    }
  }
}

extension Board {
  /// The chips of this board that a record of a kind can be of.
  func sensors(for kind: CalibrationKind) -> [Board.Sensor] {
    sensors.filter { sensor in
      ChipCatalog.chip(named: sensor.chip).map { kind.chips.contains($0.kind) } ?? false
    }
  }
}

/// Records in words and as JSON.
enum RecordText {
  /// What it says, short: `ellipsoid, score 92, of 2026-11-21 14:03 UTC`.
  static func short(_ record: StoredRecord) -> String {
    var parts = [record.method]
    if let figure = figure(record) { parts.append(figure) }
    parts.append("of \(Figures.date(record.date))")
    return parts.joined(separator: ", ")
  }

  static func day(_ record: StoredRecord) -> String { String(record.date.prefix(10)) }

  /// The number that says how good it is.
  static func figure(_ record: StoredRecord) -> String? {
    switch record {
    case .magnetometer(let record): record.score.map { "score \($0)" }
    case .gyro(let record):
      "\(decimal(record.bias.length * degrees, 2)) deg/s"
    case .level(let record): "\(decimal(record.tilt, 1)) deg"
    }
  }

  /// What a level heading was off by before, and what is to be expected of it now; `nil` where neither is known.
  static func headingErrors(_ record: CalibrationRecord) -> String? {
    let parts = [
      record.headingErrorBefore.map { "\(decimal($0, 2)) deg before" },
      record.headingError.map { "\(decimal($0, 2)) deg expected" },
    ]
    .compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  static func decimal(_ value: Double, _ digits: Int) -> String {
    JSONLine.fixed(value, digits: digits)
  }

  /// A record as one JSON object, its keys those of the interface.
  static func line(_ record: StoredRecord) -> JSONLine {
    var line = JSONLine()
    line.set("kind", record.kind.rawValue)
    fill(&line, record)
    if case .magnetometer(let record) = record {
      line.set("hardIron", FitCommand.list(record.offset), digits: 4)
      line.set("softIron", rows: FitCommand.rows(record.matrix), digits: 6)
    }
    return line
  }

  /// Adds what a record says to an object that names its kind.
  static func fill(_ line: inout JSONLine, _ record: StoredRecord) {
    line.set("chip", record.chip)
    line.set("busPosition", record.busPosition)
    line.set("board", record.board)
    line.set("date", record.date)
    line.set("method", record.method)
    switch record {
    case .magnetometer(let record):
      line.set("samples", record.samples)
      line.set("coverage", record.coverage, digits: 3)
      line.set("score", record.score)
      line.set("residual", record.residual, digits: 4)
      line.set("headingError", record.headingError, digits: 3)
      line.set("headingErrorBefore", record.headingErrorBefore, digits: 3)
      line.set("expectedAccuracy", record.expectedAccuracy, digits: 3)
      line.set("temperature", record.temperature, digits: 2)
      line.set("field", record.field, digits: 3)
    case .gyro(let record):
      line.set("samples", record.samples)
      // Radians a second, as stored.
      line.set("biasX", record.bias.x, digits: 7)
      line.set("biasY", record.bias.y, digits: 7)
      line.set("biasZ", record.bias.z, digits: 7)
      line.set("deviation", record.deviation, digits: 8)
      line.set("temperature", record.temperature, digits: 2)
    case .level(let record):
      line.set("samples", record.samples)
      line.set("tilt", record.tilt, digits: 3)
      line.set("deviation", record.deviation, digits: 4)
      line.set("surfaceTilt", record.surfaceTilt, digits: 3)
    }
    line.set("locked", record.isLocked)
  }

  /// The same with every number of it, a line each.
  static func lines(_ record: StoredRecord) -> [String] {
    func row(_ name: String, _ text: String) -> String {
      name.padding(toLength: 19, withPad: " ", startingAt: 0) + text
    }
    var lines = [
      "\(record.kind.rawValue) \(record.chip) at \(record.busPosition)"
        + (record.isLocked ? ", locked" : ""),
      row("board", record.board), row("made", record.date), row("method", record.method),
    ]
    switch record {
    case .magnetometer(let record):
      let (b, m) = (record.offset, record.matrix.transposed.columns)
      func numbers(_ v: SIMD3<Double>, _ digits: Int) -> String {
        [v.x, v.y, v.z].map { decimal($0, digits) }.joined(separator: "  ")
      }
      lines += [
        row("samples", "\(record.samples)"),
        row("coverage", "\(decimal(record.coverage * 100, 0)) % of the sphere"),
      ]
      if let score = record.score { lines.append(row("score", "\(score) of 100")) }
      lines.append(row("residual", "\(decimal(record.residual, 2)) uT"))
      if let errors = headingErrors(record) { lines.append(row("heading error", errors)) }
      if let accuracy = record.expectedAccuracy {
        lines.append(row("accuracy", "+- \(decimal(accuracy, 2)) deg at best"))
      }
      lines += [
        row("field", "\(decimal(record.field, 2)) uT"),
        row("hard iron, uT", numbers(b, 2)), row("soft iron", numbers(m.x, 4)),
        row("", numbers(m.y, 4)), row("", numbers(m.z, 4)),
      ]
      if let temperature = record.temperature {
        lines.append(row("temperature", "\(decimal(temperature, 1)) C, by the barometer"))
      }
    case .gyro(let record):
      let b = record.bias * degrees
      lines += [
        row("samples", "\(record.samples)"),
        row(
          "bias, deg/s",
          [b.x, b.y, b.z].map { decimal($0, 3) }.joined(separator: "  ")
            + "  +- \(decimal(record.deviation * degrees, 4))"),
      ]
      if let temperature = record.temperature {
        lines.append(row("temperature", "\(decimal(temperature, 1)) C"))
      }
    case .level(let record):
      lines += [
        row("samples", "\(record.samples)"),
        row("tilt", "\(decimal(record.tilt, 2)) deg +- \(decimal(record.deviation, 3))"),
      ]
      if let tilt = record.surfaceTilt {
        lines.append(row("surface", "\(decimal(tilt, 2)) deg from level"))
      }
    }
    return lines
  }
}
