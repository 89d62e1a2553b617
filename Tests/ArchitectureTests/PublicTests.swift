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

  /// The lines of a file's code that declare or import something publicly, from 1.
  static func publicLines(in code: String) -> [Int] {
    code.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap {
      number, line in
      guard line.utf8.count > 4, line.contains("public ") || line.contains("open ") else {
        return nil
      }
      let isPublic = line.contains(
        #/\b(public|open) +(@?\w+(\(\w+\))? +)*(import|class|struct|enum|protocol|actor|extension|func|var|let|init|subscript|typealias|case|operator|indirect)\b/#
          .wordBoundaryKind(.simple))
      return isPublic ? number + 1 : nil
    }
  }

  @Test("only modules that a library of the package names have public declarations")
  func products() throws {
    let manifest = try String(
      contentsOf: House.root.appending(path: "Package.swift"), encoding: .utf8)
    let promised = Self.promised(in: manifest)
    #expect(promised.isSuperset(of: ["CoreLocation", "FusionCore", "GNSSProtocol"]))
    for target in Manifest.shared.targets where !promised.contains(target.name) {
      for file in House.sources(below: House.root.appending(path: target.path)) {
        let lines = Self.publicLines(in: try SwiftText.code(at: file))
        #expect(lines.isEmpty, "\(file.lastPathComponent) of \(target.name)")
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
    let promised = Self.promised(in: try text("Package.swift"))
    #expect(Set(named) == promised)
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
        @available(*, deprecated, message: "use C") public func g()
        open override func h()
        public init?(_ open: Int)
        @_spi(Rig) public private(set) var i = 1
        return public == open
      """
    #expect(Self.publicLines(in: SwiftText.code(of: text)) == [1, 3, 6, 8, 9, 10, 11])
  }
}
