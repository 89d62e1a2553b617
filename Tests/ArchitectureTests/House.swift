// What the tests of the architecture read: the table of rooms, the manifest, the sources.

import Foundation

/// The plan in words: the table of CONTRIBUTING.md.
struct House: Sendable {
  /// A row of the table.
  struct Room: Sendable {
    var job: String
    /// The targets and libraries that it may import; `Foundation`, `FoundationEssentials` and `Glibc` among them.
    var mayImport: Set<String>
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  /// The house as it stands.
  static let shared = House(
    table: (try? String(contentsOf: root.appending(path: "CONTRIBUTING.md"), encoding: .utf8)) ?? ""
  )

  let rooms: [String: Room]
  /// Targets that have more than one row. Only the last row would count.
  let twice: [String]

  /// Reads the rows `| target | job | may import |`; a row can be of several targets.
  init(table: String) {
    var rooms: [String: Room] = [:]
    var twice: [String] = []
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
        if rooms[name] != nil { twice.append(name) }
        rooms[name] = Room(job: cells[2], mayImport: others.union(own))
      }
    }
    (self.rooms, self.twice) = (rooms, twice)
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

  /// The modules that a file's code imports, without submodules, behind whatever attributes.
  static func imports(of code: String) -> [String] {
    let kinds = "struct|class|enum|func|let|var|typealias|protocol"
    guard
      let form = try? Regex(
        #"(?m)(?:^|;)[ \t]*(?:@\w+(?:\([^\n]*\))?[ \t]*|\w+[ \t]+)*import\s+(?:(?:\#(kinds))\s+)?`?(\w+)"#
      )
    else { return [] }
    return code.matches(of: form).compactMap { $0.output[1].substring.map(String.init) }
  }

  /// The modules that are imported by any file of a folder.
  static func imports(below folder: URL) throws -> Set<String> {
    var imported: Set<String> = []
    for file in sources(below: folder) {
      imported.formUnion(imports(of: try SwiftText.code(at: file)))
    }
    return imported
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
    let plain = arguments.replacing(
      #/\.product\(\s*name: ("\w+"), package: "[^"]+"[^()]*(\([^()]*(\([^()]*\))?[^()]*\))?[^()]*\)/#
    ) { $0.1 }
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
