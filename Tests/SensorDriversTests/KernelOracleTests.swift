// The rig's oracle (Tests/Hardware/uml) and the README say of every chip of the catalogue what the kernel has for it.

import Foundation
import SensorDrivers
import Testing

@Suite struct KernelOracleTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// What lies between two marks in each line that has both.
  private static func between(_ start: String, _ end: String, in text: String) -> [String] {
    text.split(separator: "\n").compactMap { line in
      guard let begin = line.range(of: start),
        let stop = line.range(of: end, range: begin.upperBound..<line.endIndex)
      else { return nil }
      return String(line[begin.upperBound..<stop.lowerBound])
    }
  }

  private static func list(_ name: String, in script: String) throws -> [String] {
    let words = try #require(between("\(name) = [", "]", in: script).first)
    return words.split(separator: ",").map { $0.filter { $0 != "\"" && $0 != " " } }
  }

  private static func compared() throws -> [String] {
    between("{chip: ", ",", in: try text("Tests/Hardware/uml/oracle.yaml"))
  }

  @Test("every chip is compared, or said to have no driver, and none of them both")
  func everyChip() throws {
    let script = try Self.text("Tests/Hardware/uml/guest/oracle.py")
    let compared = try Self.compared()
    for chip in compared { #expect(script.contains("\"\(chip)\""), "\(chip) is not read") }
    let said =
      try compared + Self.list("NO_DRIVER", in: script) + Self.list("RECEIVERS", in: script)
    #expect(said.sorted() == ChipCatalog.chips.map(\.name).sorted())
  }

  @Test("the README's column says the same")
  func column() throws {
    let compared = Set(try Self.compared())
    let names = Set(ChipCatalog.chips.map(\.name))
    var seen: Set<String> = []
    for line in try Self.text("README.md").split(separator: "\n") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard cells.count == 8 else { continue }
      func words(_ cell: String) -> Set<String> {
        Set(cell.split { " ,()".contains($0) }.map(String.init)).intersection(names)
      }
      let chips = words(cells[1])
      guard !chips.isEmpty else { continue }
      seen.formUnion(chips)
      // `T; K` is of all chips of the row, `T; K: BMM150` of one.
      let kernel = cells[6].split(separator: "; ").first { $0 == "K" || $0.hasPrefix("K: ") }
      let marked = kernel.map { $0 == "K" ? chips : words(String($0)) } ?? []
      #expect(marked == chips.intersection(compared), "\(cells[1])")
    }
    #expect(seen.isSuperset(of: compared))
  }
}
