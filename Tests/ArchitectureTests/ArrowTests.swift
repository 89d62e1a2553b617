import Foundation
import Testing

/// The arrows between targets: no compiler flag sees a transitive import, so every file is read.
struct ArrowTests {
  /// Modules of the toolchain that every target may use.
  static let toolchain: Set = ["Glibc", "Synchronization", "Dispatch", "Swift"]
  static let targets = House.shared.rooms.keys.sorted()
  /// Targets of C, whose files nothing is read of.
  static let ofC: Set = [
    "CLinuxIO", "CVhostUser", "ImportNames", "CMapDrawing", "CSanitizedMutex", "CSaveCut",
  ]
  static let libraries: Set = [
    "ArgumentParser", "Yams", "OpenCombine", "OpenCombineDispatch", "Foundation",
    "FoundationEssentials", "Musl",
  ]

  @Test("every target of the tree stands in the table, and the table names nothing else")
  func everyTargetIsKnown() throws {
    var folders: [String] = []
    for place in ["Sources", "Tests/Rig"] {
      folders += try FileManager.default.contentsOfDirectory(
        atPath: House.root.appending(path: place).path)
    }
    #expect(Set(folders) == Set(Self.targets))
    // A program of the rigs may use what tests share.
    let known = Self.libraries.union(Manifest.shared.targets.map(\.name))
    for (name, room) in House.shared.rooms {
      let unknown = room.mayImport.subtracting(known)
      #expect(unknown.isEmpty, "the row of \(name)")
    }
  }

  @Test("a target imports only what stands in its row", arguments: targets)
  func arrows(target: String) throws {
    let room = try #require(House.shared.rooms[target])
    var allowed = room.mayImport.union(Self.toolchain)
    if room.mayImport.contains("Foundation") { allowed.insert("CoreFoundation") }
    let files = House.sources(of: target)
    #expect(Self.ofC.contains(target) == files.isEmpty)
    for file in files {
      let text = try String(contentsOf: file, encoding: .utf8)
      let foreign = House.imports(of: text).filter { !allowed.contains($0) }
      #expect(foreign.isEmpty, "\(file.lastPathComponent) of \(target)")
    }
  }

  @Test("no arrow of the table closes a circle")
  func circles() {
    var open = House.shared.rooms.mapValues { $0.mayImport.intersection(Self.targets) }
    while let name = open.first(where: { $0.value.isEmpty })?.key {
      open[name] = nil
      for other in open.keys { open[other]?.remove(name) }
    }
    #expect(open.isEmpty)
  }

  @Test(
    "a target depends on what it imports, and on nothing else",
    arguments: Manifest.shared.targets.map(\.name))
  func declared(name: String) throws {
    let target = try #require(Manifest.shared.targets.first { $0.name == name })
    let files = House.sources(below: House.root.appending(path: target.path))
    guard !files.isEmpty else { return }
    var imported: Set<String> = []
    for file in files {
      imported.formUnion(House.imports(of: try String(contentsOf: file, encoding: .utf8)))
    }
    let ours = Set(Manifest.shared.targets.map(\.name)).union(Self.libraries)
    imported.formIntersection(ours)
    imported.subtract(["Foundation", "FoundationEssentials", "Musl", name])
    // What is linked for its effect is not imported by its name.
    let declared = target.dependencies.subtracting(["ImportNames", "CSanitizedMutex"])
    #expect(declared == imported)
  }

  @Test("the maths of the platform is chosen in one place")
  func maths() throws {
    for folder in ["Sources", "Tests"] {
      for file in House.sources(below: House.root.appending(path: folder)) {
        guard !file.path.hasSuffix("LinearAlgebra/Maths.swift"),
          !file.path.hasSuffix("ArrowTests.swift")
        else { continue }
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("canImport(Glibc)") && !text.contains("import Musl"), "\(file.path)")
      }
    }
  }

  @Test(
    "only `JSONReading` decodes JSON: Foundation's decoder may end the process", arguments: targets)
  func decoders(target: String) throws {
    // The other one names it for Combine's `decode(type:decoder:)`; the decoder is its caller's.
    guard !["JSONReading", "FoundationCombine"].contains(target) else { return }
    for file in House.sources(of: target) {
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(
        !text.contains("JSONDecoder") && !text.contains("JSONSerialization"),
        "\(file.lastPathComponent) of \(target)")
    }
  }

  @Test("an import is found behind every spelling")
  func parsing() {
    let text = """
      import A
      package import B
      @_exported public import C
      internal import struct D.E
        import F
      let words = "import G"
      """
    #expect(House.imports(of: text) == ["A", "B", "C", "D", "F"])
  }

  @Test("a row of two targets is read for both")
  func row() {
    let house = House(
      table: "| target |\n|---|\n| `CA`, `A` | a job | B, Yams |\n| `B` | x | - |\n")
    #expect(house.rooms["A"]?.mayImport == ["CA", "B", "Yams"])
    #expect(house.rooms["CA"]?.mayImport == [])
    #expect(house.rooms["B"]?.mayImport.isEmpty == true)
  }

  @Test("every form of a target is read from the manifest")
  func manifest() {
    let manifest = Manifest(
      text: """
        let package = Package(
          targets: [
            floor("A"),
            // floor("No"),
            floor("B", ["A", .product(name: "Yams", package: "Yams")], exclude: ["x"]),
            .target(name: "C", dependencies: ["A"], path: "Tests/C", resources: page.map { .embedInCode($0) }),
            tests("B", ["A", "B"], exclude: ["y"]),
            example("d", in: "D", ["A"]),
            rig(ofC: "E"),
            rig("F", ["E"]),
            rig(program: "g", in: "G", ["A"]),
          ])
        """)
    #expect(manifest.targets.map(\.name) == ["A", "B", "C", "BTests", "d", "E", "F", "g"])
    #expect(
      manifest.targets.map(\.path) == [
        "Sources/A", "Sources/B", "Tests/C", "Tests/BTests", "Examples/D", "Tests/Rig/E",
        "Tests/Rig/F", "Tests/Rig/G",
      ])
    #expect(
      manifest.targets.map(\.dependencies) == [
        [], ["A", "Yams"], ["A"], ["A", "B"], ["A"], [], ["E"], ["A"],
      ])
  }
}
