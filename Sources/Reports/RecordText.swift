package import CalibrationCore
import LinearAlgebra
import TerminalUI
package import TextForms

/// Records in words and as JSON.
package enum RecordText {
  /// What it says, short: `ellipsoid, score 92, of 2026-11-21 14:03 UTC`.
  package static func short(_ record: StoredRecord) -> String {
    var parts = [record.method]
    if let figure = figure(record) { parts.append(figure) }
    if record.isDated { parts.append("of \(Figures.date(record.date))") }
    return parts.joined(separator: ", ")
  }

  package static func day(_ record: StoredRecord) -> String {
    record.isDated ? String(record.date.prefix(10)) : Figures.unknown
  }

  /// The number that says how good it is.
  package static func figure(_ record: StoredRecord) -> String? {
    switch record {
    case .magnetometer(let record): record.score.map { "score \($0)" }
    case .gyro(let record):
      "\(DecimalText.short(record.bias.length * degrees, 2)) deg/s"
    case .level(let record): "\(DecimalText.short(record.tilt, 1)) deg"
    }
  }

  /// What a level heading was off by before, and what is to be expected of it now; `nil` where neither is known.
  package static func headingErrors(_ record: CalibrationRecord) -> String? {
    let parts = [
      record.headingErrorBefore.map { "\(DecimalText.short($0, 2)) deg before" },
      record.headingError.map { "\(DecimalText.short($0, 2)) deg expected" },
    ]
    .compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// A record as one JSON object, its keys those of the interface.
  package static func line(_ record: StoredRecord) -> JSONLine {
    var line = JSONLine()
    line.set("kind", record.kind.rawValue)
    fill(&line, record)
    if case .magnetometer(let record) = record {
      line.set("hardIron", FitText.list(record.offset), digits: 4)
      line.set("softIron", rows: FitText.rows(record.matrix), digits: 6)
    }
    return line
  }

  /// Adds what a record says to an object that names its kind.
  package static func fill(_ line: inout JSONLine, _ record: StoredRecord) {
    line.set("chip", record.chip)
    line.set("busPosition", record.busPosition)
    line.set("board", record.board)
    line.set("date", record.isDated ? record.date : nil)
    line.set("method", record.method)
    switch record {
    case .magnetometer(let record):
      line.set("samples", record.samples)
      line.set("coverage", record.samples > 0 ? record.coverage : nil, digits: 3)
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
  package static func lines(_ record: StoredRecord) -> [String] {
    func row(_ name: String, _ text: String) -> String {
      name.padded(to: 19) + text
    }
    var lines = [
      "\(record.kind.rawValue) \(record.chip) at \(record.busPosition)"
        + (record.isLocked ? ", locked" : ""),
      row("board", record.board), row("made", record.isDated ? record.date : Figures.unknown),
      row("method", record.method),
    ]
    switch record {
    case .magnetometer(let record):
      let (b, m) = (record.offset, record.matrix.transposed.columns)
      func numbers(_ v: SIMD3<Double>, _ digits: Int) -> String {
        [v.x, v.y, v.z].map { DecimalText.short($0, digits) }.joined(separator: "  ")
      }
      lines.append(row("samples", "\(record.samples)"))
      if record.samples > 0 {
        lines.append(
          row("coverage", "\(DecimalText.short(record.coverage * 100, 0)) % of the sphere"))
      }
      if let score = record.score { lines.append(row("score", "\(score) of 100")) }
      lines.append(row("residual", "\(DecimalText.short(record.residual, 2)) uT"))
      if let errors = headingErrors(record) { lines.append(row("heading error", errors)) }
      if let accuracy = record.expectedAccuracy {
        lines.append(row("accuracy", "+- \(DecimalText.short(accuracy, 2)) deg at best"))
      }
      lines += [
        row("field", "\(DecimalText.short(record.field, 2)) uT"),
        row("hard iron, uT", numbers(b, 2)), row("soft iron", numbers(m.x, 4)),
        row("", numbers(m.y, 4)), row("", numbers(m.z, 4)),
      ]
      if let temperature = record.temperature {
        lines.append(row("temperature", "\(DecimalText.short(temperature, 1)) C, by the barometer"))
      }
    case .gyro(let record):
      let b = record.bias * degrees
      lines += [
        row("samples", "\(record.samples)"),
        row(
          "bias, deg/s",
          [b.x, b.y, b.z].map { DecimalText.short($0, 3) }.joined(separator: "  ")
            + "  +- \(DecimalText.short(record.deviation * degrees, 4))"),
      ]
      if let temperature = record.temperature {
        lines.append(row("temperature", "\(DecimalText.short(temperature, 1)) C"))
      }
    case .level(let record):
      lines += [
        row("samples", "\(record.samples)"),
        row(
          "tilt",
          "\(DecimalText.short(record.tilt, 2)) deg +- \(DecimalText.short(record.deviation, 3))"),
      ]
      if let tilt = record.surfaceTilt {
        lines.append(row("surface", "\(DecimalText.short(tilt, 2)) deg from level"))
      }
    }
    return lines
  }
}

extension StoredRecord {
  /// Whether somebody made it at a date: a simulated board's own record has none.
  fileprivate var isDated: Bool { Figures.date(date) != Figures.unknown }
}
