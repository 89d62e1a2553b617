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

  /// Longer than 400 lines, and why; CONTRIBUTING.md says the same.
  private static let excused: Set = [
    // Data.
    "Sources/Geodesy/EGM96.swift", "Tests/GeodesyTests/GeodesicVectors.swift",
    // A list of targets, which is one file by SwiftPM's rule.
    "Package.swift",
    // Swift wants the stored properties and the methods that can be overridden in a class's body.
    "Sources/CoreLocation/Manager/CLLocationManager.swift",
  ]

  @Test("a file of code has at most 400 lines, but for those that are named here")
  func longFiles() throws {
    let kinds: Set = ["swift", "py", "sh", "js", "css", "html", "c", "h"]
    var count = 0
    let root = House.root.resolvingSymlinksInPath().path + "/"
    for folder in [
      "Sources", "Tests", "Scripts", "Examples", "Fuzz/Sources", "Benchmarks/Sources",
      "Benchmarks/Tests", "Package.swift",
    ] {
      let place = House.root.appending(path: folder)
      let all = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
      for file in [place] + (all?.compactMap { $0 as? URL } ?? [])
      where kinds.contains(file.pathExtension) {
        let path = String(file.resolvingSymlinksInPath().path.dropFirst(root.count))
        let lines = try Data(contentsOf: file).count { $0 == 10 }
        count += 1
        #expect(lines <= 400 || Self.excused.contains(path), "\(path) has \(lines) lines")
      }
    }
    #expect(count > 1_500, "the files were not found")
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

  @Test("whatever has a body that is no type's has at most 80 lines")
  func longBodies() throws {
    for folder in ["Sources", "Tests"] {
      for file in House.sources(below: House.root.appending(path: folder)) {
        let code = try SwiftText.code(at: file)
        let isWhole = code.utf8.count { $0 == 123 } == code.utf8.count { $0 == 125 }
        #expect(isWhole, "\(file.lastPathComponent) was not read right: its braces do not close")
        for body in Self.bodies(in: code) {
          #expect(
            body.lines <= 80, "line \(body.first) of \(file.lastPathComponent): \(body.lines)")
        }
      }
    }
  }

  /// What stands in braces that belong to no type: its first line, from 1, and how many lines it has. What is within
  /// another body is left out.
  static func bodies(in code: String) -> [(first: Int, lines: Int)] {
    var found: [(first: Int, lines: Int)] = []
    // The braces that are open: whether each is a type's, and its line.
    var open: [(isType: Bool, line: Int)] = []
    var line = 1
    var head = ""
    for character in code {
      switch character {
      case "{":
        open.append((isType(head), line))
        head = ""
      case "}":
        if let last = open.popLast(), !last.isType, open.allSatisfy(\.isType) {
          found.append((last.line, line - last.line + 1))
        }
        head = ""
      case ";": head = ""
      case "\n":
        line += 1
        head.append(character)
      default: head.append(character)
      }
    }
    return found
  }

  /// Whether what stands before a brace declares a type or an extension.
  private static func isType(_ head: String) -> Bool {
    let words = head.split(separator: "\n").filter { !$0.contains("import ") }
      .flatMap { $0.split(separator: " ") }
    let kinds: Set<Substring> = ["struct", "enum", "protocol", "extension", "actor"]
    return zip(words, words.dropFirst()).contains { word, next in
      kinds.contains(word)
        || word == "class" && !["func", "var", "let", "subscript", "override"].contains(next)
    }
  }

  @Test("a body is found by its braces, with whatever stands before them")
  func parsingBodies() {
    let text = """
      import struct A.B
      func one() {
        if true {
          run()
        }
      }
      package final class Two: Three {
        class func four() {
        }
        static let five = {
          3
        }()
        var six = 3 {  // {
          didSet { run() }
        }
        enum Seven { case a }
        extension Eight where A: B {
          @Test("{") func nine()
          {

          }
        }
      }
      """
    let found = Self.bodies(in: SwiftText.code(of: text))
    #expect(found.map(\.first) == [2, 8, 10, 13, 19])
    #expect(found.map(\.lines) == [5, 2, 3, 3, 3])
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
