import Foundation
import Testing

/// Files and functions are short enough to be read at once.
struct LengthTests {
  /// Where something begins that has a body in braces.
  private struct Opening {
    var name: String
    var indentation: Int
    var line: Int
  }

  @Test("a driver's file and a chip's twin have at most 300 lines")
  func lines() throws {
    let twins = House.sources(of: "SimulatedDevices").filter {
      $0.pathComponents.contains("Chips")
    }
    for file in House.sources(of: "SensorDrivers") + twins {
      let text = try String(contentsOf: file, encoding: .utf8)
      let count = text.utf8.count { $0 == UInt8(ascii: "\n") }
      #expect(count <= 300, "\(file.lastPathComponent) has \(count)")
    }
  }

  @Test("a file of the sources has at most 400 lines, but for data and one class body")
  func longFiles() throws {
    // A table; and a class whose stored properties and overridable methods Swift wants in its body.
    let excused: Set = ["EGM96.swift", "CLLocationManager.swift"]
    for file in House.sources(below: House.root.appending(path: "Sources"))
    where !excused.contains(file.lastPathComponent) {
      let count = try String(contentsOf: file, encoding: .utf8).utf8.count { $0 == 10 }
      #expect(count <= 400, "\(file.lastPathComponent) has \(count)")
    }
  }

  @Test("a file of the tests has at most 400 lines, but for data")
  func longTestFiles() throws {
    // Data: the lines of GeographicLib's test set.
    for file in House.sources(below: House.root.appending(path: "Tests"))
    where file.lastPathComponent != "GeodesicVectors.swift" {
      let count = try String(contentsOf: file, encoding: .utf8).utf8.count { $0 == 10 }
      #expect(count <= 400, "\(file.lastPathComponent) has \(count)")
    }
  }

  @Test("a function has at most 80 lines, from its name to its closing brace")
  func longFunctions() throws {
    var count = 0
    for folder in ["Sources", "Tests"] {
      for file in House.sources(below: House.root.appending(path: folder)) {
        for function in Self.functions(in: try String(contentsOf: file, encoding: .utf8)) {
          count += 1
          #expect(
            function.lines <= 80,
            "\(function.name) in \(file.lastPathComponent) has \(function.lines)")
        }
      }
    }
    #expect(count > 5_000, "the functions were not found")
  }

  @Test("functions are found by their indentation, and counted with their signature")
  func parsing() {
    let text = """
      protocol One {
        func promised() -> Int
        var also: Int { get }
      }
      struct Two {
        let table = [1, 2].map {
          $0 + 1
        }
        func short() { run() }
        enum Three {
          case a
        }
        @Named("a (b) func c") private static func signature(
          _ value: Int
        ) -> Int {
          func inner() {
            run()
          }

          return value
        }
        public private(set) var stored = 3
        package var computed: Int {
          get {
            1
          }
        }
        init?<Value>(_ value: Value) where Value: One {
          initialize()
        }
        deinit {
        }
        subscript(index: Int) -> Int {
          index
        }
        static func == (one: Two, other: Two) -> Bool
        {
          true
        }
      }
      // func four() {
      """
    let found = Self.functions(in: text)
    #expect(
      found.map(\.name) == [
        "inner", "signature", "computed", "init", "deinit", "subscript", "==",
      ])
    #expect(found.map(\.lines) == [3, 9, 5, 3, 2, 3, 4])
  }

  /// The functions, initialisers, subscripts and computed properties of a file that swift-format has laid out: the brace
  /// that closes one is indented as the line that names it. Those of a single line are left out.
  static func functions(in text: String) -> [(name: String, lines: Int)] {
    var found: [(name: String, lines: Int)] = []
    var open: [Opening] = []
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      let code = line.drop { $0 == " " }
      guard !code.isEmpty else { continue }
      let indentation = line.utf8.count - code.utf8.count
      // Without a body it is a protocol's.
      while let last = open.last, last.indentation > indentation { open.removeLast() }
      if let name = declared(by: code) {
        if open.last?.indentation == indentation { open.removeLast() }
        let isWhole = code.hasSuffix("}") && code.contains("{")
        guard !isWhole else { continue }
        open.append(Opening(name: name, indentation: indentation, line: number))
      } else if code.hasPrefix("}"), let last = open.last, last.indentation == indentation {
        open.removeLast()
        found.append((last.name, number - last.line + 1))
      }
    }
    return found
  }

  /// The name of what a line declares that may have a body.
  private static func declared(by line: Substring) -> String? {
    var words = withoutAttributes(line).split(separator: " ")[...]
    while let word = words.first, modifiers.contains(word.prefix { $0 != "(" }) {
      words.removeFirst()
    }
    guard let first = words.popFirst() else { return nil }
    let keyword = first.prefix(while: \.isLetter)
    switch keyword {
    case "func": return words.first.map { String($0.prefix { !"(<".contains($0) }) }
    case "init", "deinit", "subscript": return String(keyword)
    case "var":
      // A stored property begins with its value.
      guard line.hasSuffix("{"), !words.contains("=") else { return nil }
      return words.first.map { String($0.prefix { $0 != ":" }) }
    default: return nil
    }
  }

  private static let modifiers: Set<Substring> = [
    "borrowing", "class", "consuming", "convenience", "dynamic", "fileprivate", "final", "infix",
    "internal", "isolated", "lazy", "mutating", "nonisolated", "nonmutating", "open", "override",
    "package", "postfix", "prefix", "private", "public", "required", "static", "unowned", "weak",
  ]

  private static func withoutAttributes(_ line: Substring) -> Substring {
    var rest = line
    while rest.hasPrefix("@") {
      rest = rest.drop { $0 != " " && $0 != "(" }
      if rest.hasPrefix("(") {
        var depth = 0
        rest = rest.drop { character in
          if character == "(" { depth += 1 }
          if character == ")" { depth -= 1 }
          return depth > 0
        }.dropFirst()
      }
      rest = rest.drop { $0 == " " }
    }
    return rest
  }
}
