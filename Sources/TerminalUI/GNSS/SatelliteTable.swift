// Satellites as rows of text.

import SensorTypes
import TextForms

/// The satellites in view as a table of one or more columns.
enum SatelliteTable {
  /// The columns that a satellite takes, and those between two of them.
  static let (cellWidth, gap) = (19, 3)
  private static let head = "sat  elev azim C/N0"

  /// The lines for a room of so many columns and rows; none where there is no satellite, or no room. Of more satellites
  /// than it holds the most important ones are named, in the order of their names, and the others counted.
  static func lines(_ satellites: [GNSSSatellite], width: Int, rows: Int) -> [String] {
    guard !satellites.isEmpty, rows >= 2, width >= cellWidth else { return [] }
    let columns = (width + gap) / (cellWidth + gap)
    let isWhole = satellites.count <= columns * (rows - 1)
    let height = isWhole ? rows - 1 : rows - 2
    let shown = satellites.sorted { $0.outranks($1) }.prefix(columns * height)
      .sorted { $0.order < $1.order }
    let space = String(repeating: " ", count: gap)
    let used = height > 0 ? (shown.count + height - 1) / height : 0
    var lines = [Array(repeating: head, count: max(1, used)).joined(separator: space)]
    for row in 0..<min(height, shown.count) {
      let cells = stride(from: row, to: shown.count, by: height).map { cell(shown[$0]) }
      lines.append(cells.joined(separator: space))
    }
    if !isWhole { lines.append("and \(satellites.count - shown.count) more") }
    return lines
  }

  /// Whole degrees and dB-Hz; a dash for what the receiver does not say.
  private static func cell(_ satellite: GNSSSatellite) -> String {
    // What is rounded up to a whole turn is north.
    let azimuth = satellite.azimuth.map { $0.rounded() == 360 ? 0 : $0 }
    return satellite.label + (satellite.isUsed == true ? "*" : " ")
      + right(satellite.elevation) + right(azimuth) + right(satellite.carrierToNoise)
  }

  private static func right(_ value: Double?) -> String {
    let text = value.map { DecimalText.short($0, 0) } ?? "-"
    return String(repeating: " ", count: max(0, 5 - text.count)) + text
  }
}

extension GNSSSatellite {
  /// Three characters, as in RINEX (3.04, section 3.5): the system's letter, M for IMES, which has none there, and the
  /// number, of SBAS less 100; `R??` for a GLONASS satellite whose slot the receiver does not know yet.
  var label: String {
    let letter =
      switch system {
      case .gps: "G"
      case .sbas: "S"
      case .galileo: "E"
      case .beidou: "C"
      case .imes: "M"
      case .qzss: "J"
      case .glonass: "R"
      case .navic: "I"
      }
    let number = system == .sbas ? number - 100 : number
    guard (1...99).contains(number) else { return letter + "??" }
    return letter + (number < 10 ? "0" : "") + String(number)
  }

  /// Its place in a list: by system, and by number there.
  var order: (UInt8, Int) { (system.rawValue, number) }

  /// Whether it is named first where there is not room for all: used before not used, the stronger before the weaker.
  func outranks(_ other: GNSSSatellite) -> Bool {
    if (isUsed == true) != (other.isUsed == true) { return isUsed == true }
    let (mine, others) = (carrierToNoise ?? -1, other.carrierToNoise ?? -1)
    return mine != others ? mine > others : order < other.order
  }
}
