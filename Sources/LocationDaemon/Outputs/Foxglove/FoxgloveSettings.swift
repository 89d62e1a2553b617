// What serve.yaml says of Foxglove.

import BoardFile
import LocationServices

/// How a board is shown to Foxglove.
package struct FoxgloveSettings: Hashable, Sendable {
  /// The time between two messages of motion in seconds.
  static let intervals = 0.005...60.0
  /// Web pages that may connect. Programs that are no page may always.
  static let pages = ["https://app.foxglove.dev", "https://studio.foxglove.dev"]

  package var interval = 0.05
  /// Further web pages that may connect, as `https://view.example.org`.
  package var origins: [String] = []
}

extension OutputSettings {
  /// Keys of Foxglove that no other protocol has.
  static let foxgloveKeys = ["origins"]

  /// Reads an entry of Foxglove.
  static func foxglove(_ entry: YAMLMapping) throws(BoardFileError) -> OutputSettings {
    if let transport = try entry.string("transport"), transport != "tcp" {
      throw entry.error("transport", "Foxglove connects by tcp")
    }
    var settings = FoxgloveSettings()
    if entry.has("interval") {
      settings.interval = try entry.requiredNumber(
        "interval", in: FoxgloveSettings.intervals, unit: "seconds from one message to the next")
    }
    settings.origins = try entry.strings("origins") ?? []
    for origin in settings.origins {
      let rest = origin.drop { $0 != ":" }
      guard origin.hasPrefix("http://") || origin.hasPrefix("https://"),
        !rest.dropFirst(3).isEmpty, !rest.dropFirst(3).contains("/")
      else {
        throw entry.error("origins", "'\(origin)' is not the origin of a page: https://HOST")
      }
    }
    return OutputSettings(
      kind: .foxglove(settings), transport: .tcp,
      address: try ServeFile.numericAddress(entry) ?? "127.0.0.1",
      port: UInt16(try entry.integer("port", in: 1...65_535) ?? 8_765),
      positions: try ServeFile.positions(entry) ?? .none, line: entry.line(of: "protocol"))
  }
}
