// One thing, one name; one name, one thing.

import Foundation
import Testing

struct NameTests {
  /// Names that the SDK or the standard library gives to nested types of several classes, and private helpers of the Swift
  /// language itself.
  private static let given: Set = [
    "AsyncIterator", "Code", "CodingKeys", "Diagnostic", "Diagnostics", "Event", "Events",
    "Iterator", "Options", "Publisher", "Record", "State", "StringInterpolation", "Updates",
  ]

  /// Where the SDK's names stand.
  private static let facades: Set = [
    "CoreLocation", "CoreMotion", "MapKit", "FoundationCombine",
  ]

  /// The types that a file declares, but for private ones.
  static func types(in text: String) -> [String] {
    let modifiers = "(?:public|package|internal|open|final|indirect|nonisolated)"
    guard
      let declaration = try? Regex(
        "^ *(?:@\\w+(?:\\([^)]*\\))? +)*(?:\(modifiers) +)*(?:class|struct|enum|protocol|actor) +(\\w+)"
      )
    else { return [] }
    return text.split(separator: "\n").compactMap { line in
      guard let match = line.firstMatch(of: declaration), let name = match.output[1].substring,
        name.first?.isUppercase == true
      else { return nil }
      return String(name)
    }
  }

  @Test("no two targets have a type of the same name")
  func unique() throws {
    var targets: [String: Set<String>] = [:]
    for target in House.shared.rooms.keys {
      for file in House.sources(of: target) {
        let text = try String(contentsOf: file, encoding: .utf8)
        for name in Self.types(in: text) {
          if Self.given.contains(name), Self.facades.contains(target) { continue }
          targets[name, default: []].insert(target)
        }
      }
    }
    #expect(targets.count > 1_000, "the sources were not found")
    for (name, places) in targets where places.count > 1 {
      Issue.record("\(name) is a type of \(places.sorted().joined(separator: " and "))")
    }
  }

  @Test("a type is found behind modifiers and attributes; a private one is nobody else's business")
  func parsing() {
    let text = """
      package final class One: NSObject {
        @frozen package enum Two { case a }
        private struct Hidden {}
        fileprivate enum Other {}
        class func make() {}
        indirect enum Three {}
      }
      // struct Four
      @_spi(Rig) public actor Five {}
      """
    #expect(Self.types(in: text) == ["One", "Two", "Three", "Five"])
  }
}
