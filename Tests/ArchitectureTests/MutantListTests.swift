import Foundation
import Testing

/// `Tests/mutants.py` plants each line of its list once.
struct MutantListTests {
  struct Row: Sendable {
    var number: Substring
    var path: Substring
    var line: Substring
  }

  static func rows(in text: String) -> [Row] {
    text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { row in
      let cells = row.split(separator: "\t", omittingEmptySubsequences: false)
      let isWhole = (4...5).contains(cells.count) && Int(cells[0]).map { $0 < 4_096 } == true
      guard isWhole, cells[2] != cells[3] else {
        Issue.record("no planted fault: \(row)")
        return nil
      }
      return Row(number: cells[0], path: cells[1], line: cells[2])
    }
  }

  @Test("every line in which a fault is planted stands exactly once in its file")
  func current() throws {
    let text = try String(
      contentsOf: House.root.appending(path: "Tests/mutants.tsv"), encoding: .utf8)
    let rows = Self.rows(in: text)
    #expect(rows.count >= 200)
    #expect(Set(rows.map(\.number)).count == rows.count)
    for (path, rows) in Dictionary(grouping: rows, by: \.path) {
      let file = House.root.appending(path: String(path))
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      for row in rows {
        let count = lines.count { $0 == row.line }
        #expect(count == 1, "\(row.number): \(path) has this line \(count) times: \(row.line)")
      }
    }
  }
}
