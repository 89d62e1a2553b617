import Foundation
import Testing

struct VersionTests {
  @Test("the version is said in one place, and the changelog begins with it")
  func version() throws {
    func text(_ path: String) throws -> String {
      try String(contentsOf: House.root.appending(path: path), encoding: .utf8)
    }
    let source = try text("Sources/Lodestone/Version.swift")
    let version = try #require(source.firstMatch(of: #/static let version = "(\d+\.\d+\.\d+)"/#)).1
    let changes = try text("CHANGELOG.md")
    let released = changes.matches(of: #/(?m)^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$/#)
    #expect(released.first?.1 == version)
    #expect(changes.contains("\n## [Unreleased]\n"))
    let places = [
      "Sources", "Tests", "Examples", "Documentation", "Scripts", "Boards", "README.md",
    ]
    var files: Set<String> = []
    for place in places {
      for file in try Self.texts(below: House.root.appending(path: place))
      where !file.path.hasSuffix("Lodestone/Version.swift") {
        files.insert(file.lastPathComponent)
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
        let isFree = text.matches(of: #/(?:^|[^\d.])(\d+\.\d+\.\d+)(?![\d.])/#).allSatisfy {
          $0.1 != version
        }
        #expect(isFree, "\(file.path) says the version, too")
      }
    }
    #expect(files.isSuperset(of: ["README.md", "filter.md", "map.js"]) && files.count > 1_000)
  }

  /// A file, or those of a folder that people and programs read.
  private static func texts(below place: URL) throws -> [URL] {
    let kinds: Set = ["swift", "md", "py", "sh", "js", "html", "c", "h", "yaml", "tutorial"]
    let all = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
    let inside = all?.compactMap { $0 as? URL } ?? []
    return ([place] + inside).filter { kinds.contains($0.pathExtension) }
  }
}
