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
    for path in ["Sources/LodestoneCommand", "Sources/CoreLocation", "Sources/HardwareSuite"] {
      for file in House.sources(below: House.root.appending(path: path)) {
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("\"\(version)\""), "\(file.lastPathComponent) says the version too")
      }
    }
  }
}
