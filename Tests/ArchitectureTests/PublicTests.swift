import Foundation
import Testing

/// What is `public` is promised: `Documentation/public-api.md`.
struct PublicTests {
  /// The targets that the libraries of a manifest name.
  static func promised(in manifest: String) -> Set<String> {
    var targets: Set<String> = []
    for library in manifest.matches(of: #/\.library\(\s*name: "\w+",\s*targets: \[([^\]]*)\]/#) {
      targets.formUnion(library.1.matches(of: #/"(\w+)"/#).map { String($0.1) })
    }
    return targets
  }

  /// The lines of a file that declare or import something publicly, from 1.
  static func publicLines(in text: String) -> [Int] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap {
      number, line in
      let code = line.split(separator: "//", omittingEmptySubsequences: false).first ?? ""
      let words = code.split(separator: " ").prefix { !$0.contains("\"") }
      let isPublic = zip(words, words.dropFirst()).contains { word, next in
        word == "public" || word == "open" && ["class", "func", "var"].contains(next)
      }
      return isPublic ? number + 1 : nil
    }
  }

  @Test("only modules that a library of the package names have public declarations")
  func products() throws {
    let manifest = try String(
      contentsOf: House.root.appending(path: "Package.swift"), encoding: .utf8)
    let promised = Self.promised(in: manifest)
    #expect(promised.isSuperset(of: ["CoreLocation", "FusionCore", "GNSSProtocol"]))
    for target in House.shared.rooms.keys where !promised.contains(target) {
      for file in House.sources(of: target) {
        let lines = Self.publicLines(in: try String(contentsOf: file, encoding: .utf8))
        #expect(lines.isEmpty, "\(file.lastPathComponent) of \(target)")
      }
    }
  }

  @Test("the page of what is promised names the modules of every library, and no other")
  func page() throws {
    func text(_ path: String) throws -> String {
      try String(contentsOf: House.root.appending(path: path), encoding: .utf8)
    }
    let rows = try text("Documentation/public-api.md").split(separator: "\n").filter {
      $0.hasPrefix("|")
    }
    let modules = rows.compactMap { row in
      let cells = row.split(separator: "|", omittingEmptySubsequences: false)
      return cells.count > 2 ? cells[2] : nil
    }
    let named = modules.flatMap { $0.matches(of: #/`(\w+)`/#).map { String($0.1) } }
    #expect(Set(named) == Self.promised(in: try text("Package.swift")))
  }

  @Test("a public declaration is found behind attributes, and not in comments or strings")
  func parsing() {
    let text = """
      public import A
      package import B
        @frozen public struct C {
      // public here
      let d = "public e"
        open class F {}
        let open = openFile(var: open)
      """
    #expect(Self.publicLines(in: text) == [1, 3, 6])
  }
}
