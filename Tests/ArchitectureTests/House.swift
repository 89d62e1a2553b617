// What the tests of the architecture read: the table of rooms, the manifest, the sources.

import Foundation

/// The plan in words: the table of CONTRIBUTING.md.
struct House: Sendable {
  /// A row of the table.
  struct Room: Sendable {
    var job: String
    /// The targets and libraries that it may import; `Foundation` and `FoundationEssentials` among them.
    var mayImport: Set<String>
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  /// The house as it stands.
  static let shared = House(
    table: (try? String(contentsOf: root.appending(path: "CONTRIBUTING.md"), encoding: .utf8)) ?? ""
  )

  let rooms: [String: Room]

  /// Reads the rows `| target | job | may import |`; a row can be of several targets.
  init(table: String) {
    var rooms: [String: Room] = [:]
    for line in table.split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5 else { continue }
      let names = cells[1].split(separator: ",").map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
      }
      let imports = cells[3].split(whereSeparator: { ",;".contains($0) }).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      // The first of two is of C, and the other's.
      for name in names {
        let own = name == names.last ? Set(names.dropLast()) : []
        let others = names.count > 1 && name != names.last ? [] : Set(imports).subtracting(["-"])
        rooms[name] = Room(job: cells[2], mayImport: others.union(own))
      }
    }
    self.rooms = rooms
  }

  /// The Swift files of a folder.
  static func sources(below folder: URL) -> [URL] {
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (all?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
      .sorted { $0.path < $1.path }
  }

  /// The Swift files of a room, which is a folder of `Sources` or one of the rigs'.
  static func sources(of target: String) -> [URL] {
    ["Sources", "Tests/Rig"].flatMap {
      sources(below: root.appending(path: $0).appending(path: target))
    }
  }

  /// The modules that a file imports, without submodules.
  static func imports(of text: String) -> [String] {
    let attributes: Set = [
      "public", "internal", "private", "fileprivate", "package", "@_exported", "@testable",
      "@preconcurrency", "@_spi(Rig)", "@_spi(Tuning)",
    ]
    let kinds: Set = ["struct", "class", "enum", "func", "let", "var", "typealias", "protocol"]
    return text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ").map(String.init)
      guard let index = words.firstIndex(of: "import"), index <= 3, index + 1 < words.count,
        words[..<index].allSatisfy(attributes.contains)
      else { return nil }
      let name =
        kinds.contains(words[index + 1]) && index + 2 < words.count
        ? words[index + 2] : words[index + 1]
      return String(name.split(separator: ".")[0])
    }
  }
}

/// The targets of Package.swift, as they are written there.
struct Manifest: Sendable {
  /// A target and what it says it depends on; a library by its product's name.
  struct Target: Sendable {
    var name: String
    var dependencies: Set<String>
    /// Where its sources are, from the root.
    var path: String
  }

  static let shared = Manifest(
    text: (try? String(contentsOf: House.root.appending(path: "Package.swift"), encoding: .utf8))
      ?? "")

  let targets: [Target]

  init(text: String) {
    var targets: [Target] = []
    let code = text.split(separator: "\n").filter {
      !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//")
    }.joined(separator: "\n")
    let list = code.range(of: "\n  targets: [").map { code[$0.upperBound...] } ?? ""
    var rest = list
    while let call = rest.range(
      of: #"(floor|tests|example|rig|\.target|\.executableTarget)\("#, options: .regularExpression)
    {
      let kind = rest[call].dropLast()
      let arguments = Self.balanced(rest[call.upperBound...])
      rest = rest[call.upperBound...].dropFirst(arguments.count)
      targets.append(Self.target(String(kind), String(arguments)))
    }
    self.targets = targets
  }

  /// What stands before the bracket that closes.
  private static func balanced(_ text: Substring) -> Substring {
    var depth = 1
    for index in text.indices {
      if "([".contains(text[index]) { depth += 1 }
      if ")]".contains(text[index]) { depth -= 1 }
      if depth == 0 { return text[..<index] }
    }
    return text
  }

  private static func target(_ kind: String, _ arguments: String) -> Target {
    // The module of a library has the name of its product here.
    let plain = arguments.replacing(#/\.product\(name: ("\w+"), package: "[\w-]+"\)/#) { $0.1 }
    let name = plain.firstMatch(of: #/"([\w-]+)"/#).map { String($0.1) } ?? ""
    let path = plain.firstMatch(of: #/path: "([^"]+)"/#).map { String($0.1) }
    let list =
      plain.firstMatch(of: #/dependencies: \[([^\]]*)\]/#)?.1
      ?? plain.firstMatch(
        of: #/^\s*(?:program: )?"[\w-]+",(?: in: "\w+",)?\s*\[([^\]]*)\]/#)?.1 ?? ""
    let dependencies = list.matches(of: #/"([\w-]+)"/#).map { String($0.1) }
    switch kind {
    case "tests":
      return Target(
        name: name + "Tests", dependencies: Set(dependencies), path: "Tests/\(name)Tests")
    case "example", "rig":
      let folder = plain.firstMatch(of: #/in: "(\w+)"/#).map { String($0.1) } ?? name
      let place = kind == "rig" ? "Tests/Rig/" : "Examples/"
      return Target(name: name, dependencies: Set(dependencies), path: place + folder)
    default:
      return Target(name: name, dependencies: Set(dependencies), path: path ?? "Sources/" + name)
    }
  }
}
