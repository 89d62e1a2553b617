// The facades speak in messages, and in nothing else: so that the services can be in another process.

import Foundation
import Testing

/// They hold a port, and the compiler lets them call what a port has. What is left to see here is that nobody imports what stands
/// behind it, and that a port has nothing else.
struct MessageTests {
  private static let facades = ["CoreLocation", "CoreMotion", "MapKit"]
  /// The file of a facade that names the port of the process.
  private static let door = "ProcessPort.swift"
  /// What a facade may call: the port's own, and `date`, which CoreLocation makes of `wallTime`.
  private static let calls: Set = ["connect", "send", "ask", "wallTime", "note", "date"]

  /// Code without comments, and without what stands in quotes.
  private static func code(of text: String) -> String {
    var code = text.replacing(#/"""[\s\S]*?"""/#, with: "\"\"")
    code = code.replacing(#/"(\\.|[^"\\\n])*"/#, with: "\"\"")
    return code.replacing(#/\/\/[^\n]*/#, with: "")
  }

  private static func code(at file: URL) throws -> String {
    code(of: try String(contentsOf: file, encoding: .utf8))
  }

  /// What is called of ports in a piece of code, wherever they are held.
  private static func calls(in code: String) -> [String] {
    code.matches(of: #/\b(?:port|processPort)\??\s*\.(\w+)/#.wordBoundaryKind(.simple))
      .map { String($0.1) }
  }

  @Test("only the door of a facade imports Lodestone, and names the port", arguments: facades)
  func door(facade: String) throws {
    for file in House.sources(of: facade) {
      let text = try String(contentsOf: file, encoding: .utf8)
      guard House.imports(of: text).contains("Lodestone") else { continue }
      #expect(file.lastPathComponent == Self.door, "\(file.lastPathComponent) imports Lodestone")
      let words = Self.code(of: text).split(whereSeparator: \.isWhitespace)
        .filter { $0 != "package" && $0 != "internal" }
      let expected =
        "import LocationServices import Lodestone var processPort: any ServicePort "
        + "{ LodestoneRuntime.shared }"
      #expect(words.joined(separator: " ") == expected)
    }
  }

  @Test("no facade names the runtime, or calls what a port has not", arguments: facades)
  func names(facade: String) throws {
    var count = 0
    for file in House.sources(of: facade) where file.lastPathComponent != Self.door {
      let code = try Self.code(at: file)
      let name = file.lastPathComponent
      #expect(
        !code.contains(#/\bLodestoneRuntime\b/#.wordBoundaryKind(.simple)),
        "\(name) names the runtime")
      #expect(!code.contains(#/\bas[?!]?\s+(any\s+)?\w*Runtime\b/#), "\(name) casts a port")
      for call in Self.calls(in: code) {
        count += 1
        #expect(Self.calls.contains(call), "\(name) of \(facade) calls port.\(call)")
      }
      // Nobody gives a port more than it has.
      for match in code.matches(of: #/extension ServicePort\b[^{]*\{([\s\S]*?)\n\}/#) {
        let members = match.1.matches(of: #/\b(?:func|var|subscript)\s+(\w+)/#).map { $0.1 }
        #expect(members == ["date"], "\(name) of \(facade) adds \(members) to a port")
      }
    }
    #expect(count > 0, "no call was found")
  }

  @Test("a port has five calls, without a closure, and what goes through it can be encoded")
  func port() throws {
    let folder = House.root.appending(path: "Sources/LocationServices")
    let text = try Self.code(at: folder.appending(path: "Port/ServicePort.swift"))
    let body = try #require(text.firstMatch(of: #/protocol ServicePort[^{]*\{([^}]*)\}/#)).1
    let found = body.matches(of: #/\b(?:func|var|let|subscript|init)\s*(\w*)/#).map { $0.1 }
    #expect(found == ["connect", "send", "answer", "wallTime", "note"])
    // No socket carries a closure.
    #expect(!body.contains("@escaping") && !body.contains("-> Void") && !body.contains("async"))
    for (name, file) in [
      ("ServiceRequest", "Messages.swift"), ("ServiceEvent", "Messages.swift"),
      ("ServiceQuestion", "Port/ServiceQuestion.swift"),
      ("ServiceAnswer", "Port/ServiceQuestion.swift"),
    ] {
      let text = try Self.code(at: folder.appending(path: file))
      let declaration = try #require(
        text.firstMatch(of: try Regex("(struct|enum) \(name): ([^{]*)")))
      #expect("\(declaration.output[2].substring ?? "")".contains("Codable"), "\(name)")
    }
  }

  @Test("a call is found behind every spelling, and a comment is none")
  func parsing() {
    let code = Self.code(
      of: """
        port?.send(x) // port.a
        let s = "port.c" + self.port.d
        feed.port.f()
        processPort
          .g()
        """)
    #expect(Self.calls(in: code) == ["send", "d", "f", "g"])
  }
}
