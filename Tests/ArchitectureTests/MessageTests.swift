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

  /// What is added to a port, and where: a question's default, and CoreLocation's dates.
  private static let added = ["CLLocationManager+Delivery.swift date", "ServicePort.swift ask"]

  /// What is called of ports in a piece of code, wherever they are held.
  private static func calls(in code: String) -> [String] {
    code.matches(of: #/(\w+\??\.)?\b(?:port|processPort)\??\s*\.(\w+)/#.wordBoundaryKind(.simple))
      // A URL has a port, too.
      .filter { $0.1?.lowercased().contains("url") != true }
      .map { String($0.2) }
  }

  @Test("only the door of a facade imports Lodestone, and names the port", arguments: facades)
  func door(facade: String) throws {
    for file in House.sources(of: facade) {
      let code = try SwiftText.code(at: file)
      guard House.imports(of: code).contains("Lodestone") else { continue }
      #expect(file.lastPathComponent == Self.door, "\(file.lastPathComponent) imports Lodestone")
      let words = code.split(whereSeparator: \.isWhitespace)
        .filter { !["package", "internal", "@preconcurrency"].contains($0) }
      let expected =
        "import LocationServices import Lodestone var processPort: any ServicePort "
        + "{ LodestoneRuntime.shared }"
      #expect(words.joined(separator: " ") == expected)
    }
  }

  @Test("no facade names the runtime, or calls what a port has not", arguments: facades)
  func names(facade: String) throws {
    var count = 0
    let own = Set(
      try House.sources(of: facade).flatMap { try NameTests.types(in: SwiftText.code(at: $0)) })
    for file in House.sources(of: facade) where file.lastPathComponent != Self.door {
      let code = try SwiftText.code(at: file)
      let name = file.lastPathComponent
      #expect(
        !code.contains(#/\bLodestoneRuntime\b/#.wordBoundaryKind(.simple)),
        "\(name) names the runtime")
      #expect(
        !code.contains(Self.cast.wordBoundaryKind(.simple)),
        "\(name) casts a port")
      for call in Self.calls(in: code) {
        count += 1
        #expect(Self.calls.contains(call), "\(name) of \(facade) calls port.\(call)")
      }
      let foreign = Self.foreignNames(in: code, but: own)
      #expect(foreign.isEmpty, "\(name) of \(facade) names what goes through no port")
    }
    #expect(count > 0, "no call was found")
  }

  /// A port that is taken for something else.
  private static var cast: Regex<Substring> {
    #/\b(?:port|processPort)\??\s+(?:as|is)\b|\bas[?!]?\s+(?:any\s+)?\w*(?:Runtime|Port)\b/#
  }

  /// The types of `LocationServices` that a facade holds without sending them: the port, its client's inbox, and what asks.
  private static let held: Set = [
    "EventInbox", "EventKind", "LiveFeed", "ServicePort", "ServiceQuery", "SettlingClient",
  ]
  /// The types of `LocationServices` that are no messages: what the services are made of.
  private static let machinery: Set<String> = {
    var names: Set<String> = []
    let declaration = #/(\w*\ *)(?:struct|class|enum|protocol|actor|typealias)\ +(\w+)([^{\n]*)/#
    for file in House.sources(of: "LocationServices") {
      for match in (try? SwiftText.code(at: file).matches(of: declaration)) ?? [] {
        let isPrivate = match.1.hasSuffix("private ")
        if !isPrivate, !match.3.contains("Codable") { names.insert(String(match.2)) }
      }
    }
    return names.subtracting(held)
  }()

  /// The names of a facade's code that are the services' own.
  private static func foreignNames(in code: String, but own: Set<String>) -> [String] {
    code.matches(of: #/\b[A-Z]\w+/#.wordBoundaryKind(.simple)).map { String($0.0) }
      .filter { machinery.contains($0) && !own.contains($0) }
  }

  @Test("nobody gives a port more than it has")
  func extensions() throws {
    var found: [String] = []
    for file in House.sources(below: House.root.appending(path: "Sources")) {
      let code = try SwiftText.code(at: file)
      for match in code.matches(of: #/extension +(?:any +)?ServicePort\b[^{]*\{([\s\S]*?)\n\}/#) {
        found += match.1.matches(
          of: #/\b(?:func|var|subscript|init)\b\s*\(?(\w*)/#.wordBoundaryKind(.simple)
        )
        .map { "\(file.lastPathComponent) \($0.1)" }
      }
    }
    #expect(found.sorted() == Self.added)
  }

  @Test("a port has five calls, without a closure, and what goes through it can be encoded")
  func port() throws {
    let folder = House.root.appending(path: "Sources/LocationServices")
    let text = try SwiftText.code(at: folder.appending(path: "Port/ServicePort.swift"))
    let port = try #require(
      text.firstMatch(of: #/protocol ServicePort: ([^{]*?) *\{([\s\S]*?)\n\}/#))
    #expect(port.1 == "AnyObject, Sendable")
    let body = port.2
    let found = body.matches(of: #/\b(?:func|var|let|subscript|init)\s*(\w*)/#).map { $0.1 }
    #expect(found == ["connect", "send", "answer", "wallTime", "note"])
    // No socket carries a closure.
    #expect(!body.contains("@escaping") && !body.contains("-> Void") && !body.contains("async"))
    for (name, file) in [
      ("ServiceRequest", "Messages.swift"), ("ServiceEvent", "Messages.swift"),
      ("ServiceQuestion", "Port/ServiceQuestion.swift"),
      ("ServiceAnswer", "Port/ServiceQuestion.swift"),
    ] {
      let text = try SwiftText.code(at: folder.appending(path: file))
      let declaration = try #require(
        text.firstMatch(of: try Regex("(struct|enum) \(name): ([^{]*)")))
      #expect("\(declaration.output[2].substring ?? "")".contains("Codable"), "\(name)")
    }
  }

  @Test("a call is found behind every spelling, and a comment is none")
  func parsing() {
    let code = SwiftText.code(
      of: #"""
        port?.send(x) // port.a
        let s = "port.c \(port.h())" + self.port.d
        feed.port.f()
        processPort
          .g()
        url.port?.description
        """#)
    #expect(Self.calls(in: code) == ["send", "h", "d", "f", "g"])
    for cast in ["self.port as? Foo", "feed.port is Foo", "x as! any ServicePort"] {
      #expect(cast.contains(Self.cast.wordBoundaryKind(.simple)), "\(cast)")
    }
    #expect(!"port.send(x as Foo); export as Bar".contains(Self.cast.wordBoundaryKind(.simple)))
    #expect(Self.machinery.contains("LocationEngine") && !Self.machinery.contains("ClientID"))
  }
}
