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

  /// Associated types that a protocol of the SDK or of the standard library asks for by these names.
  private static let associated: Set = [
    "Element", "Failure", "Input", "Joined", "Output", "SchedulerTimeType", "Stride",
  ]

  /// The types that a file's code declares, aliases among them, but for private ones.
  static func types(in code: String) -> [String] {
    let modifiers =
      "(?:public|package|internal|open|final|indirect|nonisolated(?:\\(unsafe\\))?)"
    let keywords = "(?:class|struct|enum|protocol|actor|typealias)"
    guard
      let declaration = try? Regex(
        "(?:^|[{};])[ \\t]*(?:@\\w+(?:\\([^)\\n]*\\))?\\s*)*(?:\(modifiers)[ \\t]+)*\(keywords)[ \\t]+(_*[A-Z]\\w*)"
      )
    else { return [] }
    let kinds = ["class ", "struct ", "enum ", "protocol ", "actor ", "typealias "]
    let lines = code.split(separator: "\n").filter { line in kinds.contains { line.contains($0) } }
    return lines.flatMap { $0.matches(of: declaration) }.compactMap { match in
      let name = match.output[1].substring.map(String.init) ?? ""
      let isAlias = match.output[0].substring?.contains("typealias ") == true
      return isAlias && associated.contains(name) ? nil : name
    }
  }

  @Test("no two targets have a type of the same name, nested or not")
  func unique() throws {
    var targets: [String: Set<String>] = [:]
    for target in House.shared.rooms.keys {
      for file in House.sources(of: target) {
        for name in Self.types(in: try SwiftText.code(at: file)) {
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
      @available(*, deprecated, message: "a (b)") struct Six { struct Seven {} }
      package typealias Eight = Int
      @MainActor
      final class _Nine {}
      let ten = "struct Ten {}"
      """
    #expect(
      Self.types(in: SwiftText.code(of: text)) == [
        "One", "Two", "Three", "Five", "Six", "Seven", "Eight", "_Nine",
      ])
  }
}
