// The source table of a caster as text and as JSON.

import GNSSProtocol
import TextForms

/// What `lodestone gnss --ntrip-sources` prints.
package struct SourceTableReport {
  /// The version of the JSON lines, the same for all commands.
  private static let version = 1

  private let table: SourceTable

  init(_ table: SourceTable) { self.table = table }

  /// Whether there is a stream to choose.
  package var isEmpty: Bool { table.streams.isEmpty }

  /// What a person should know of the table: that it is empty, or was cut off; `nil` for a whole one.
  package var remark: String? {
    let end = table.isWhole ? nil : "its table has no end (ENDSOURCETABLE) and may be incomplete"
    guard isEmpty else { return end }
    return ["it has no streams", end].compactMap(\.self).joined(separator: "; ")
  }

  /// The table as text: one line for each stream, in the order of the caster.
  package var lines: [String] {
    guard !isEmpty else { return [] }
    let head = [
      "mountpoint", "format", "systems", "country", "latitude", "longitude", "position", "password",
      "station",
    ]
    let rows =
      [head]
      + table.streams.map { stream in
        [
          stream.mountpoint, stream.format, stream.systems, stream.country,
          stream.latitude.map { DecimalText.steady($0, 2) } ?? "",
          stream.longitude.map { DecimalText.steady($0, 2) } ?? "",
          stream.wantsPosition ? "wanted" : "", Self.needsPassword(stream) ? "yes" : "no",
          stream.identifier,
        ].map { $0.isEmpty ? "-" : String($0.prefix(40)) }
      }
    let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, field) in row.enumerated() {
        let blanks = String(repeating: " ", count: widths[column] - field.count)
        // Numbers end at one column.
        line += (4...5).contains(column) ? blanks + field : field + blanks
        line += "  "
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  /// The table as JSON: an object a stream, a line each.
  package var json: [String] {
    table.streams.map { stream in
      var line = JSONLine()
      line.set("v", Self.version)
      line.set("kind", "source")
      line.set("mountpoint", stream.mountpoint)
      line.set("identifier", Self.text(stream.identifier))
      line.set("format", Self.text(stream.format))
      line.set("formatDetails", Self.text(stream.formatDetails))
      line.set("systems", Self.text(stream.systems))
      line.set("network", Self.text(stream.network))
      line.set("country", Self.text(stream.country))
      line.set("latitude", stream.latitude, digits: 4)
      line.set("longitude", stream.longitude, digits: 4)
      line.set("wantsPosition", stream.wantsPosition)
      line.set("isNetwork", stream.isNetwork)
      line.set("needsPassword", Self.needsPassword(stream))
      line.set("hasFee", stream.hasFee)
      return line.line
    }
  }

  private static func needsPassword(_ stream: SourceStream) -> Bool {
    ["B", "D"].contains(stream.authentication)
  }

  private static func text(_ field: String) -> String? { field.isEmpty ? nil : field }
}
