import Foundation
import Testing

/// The arrows between targets: no compiler flag sees a transitive import, so every file is read.
struct ArrowTests {
  /// Modules of the toolchain that every target may use.
  static let toolchain: Set = ["Synchronization", "Dispatch", "Swift"]
  static let targets = House.shared.rooms.keys.sorted()
  /// C targets; their files are not read.
  static let ofC: Set = [
    "CLinuxIO", "CVhostUser", "ImportNames", "CMapDrawing", "CYAML", "CSanitizedMutex", "CSaveCut",
    "CThreads",
  ]
  static let libraries: Set = [
    "ArgumentParser", "OpenCombine", "OpenCombineDispatch", "Foundation",
    "FoundationEssentials", "Glibc", "Musl",
  ]
  /// What every file of a package can import without a dependency.
  static let platform: Set = ["Foundation", "FoundationEssentials", "Glibc", "Musl"]
  /// What is linked for its effect, and by whom: nobody imports it by its name.
  static let linked = [
    "compass-storm": "CSanitizedMutex", "CompassStorm": "CSanitizedMutex",
    "CoreLocation": "ImportNames", "CoreMotion": "ImportNames",
    "MapKit": "ImportNames", "FoundationCombine": "ImportNames",
  ]
  /// Whose importers get another module as well: what the SDK's modules bring along, and the maths.
  static let exported = [
    "CLTypes.swift Foundation", "CLTypes.swift FoundationCombine", "CMLogItem.swift Foundation",
    "CMLogItem.swift FoundationCombine", "MKMapRect.swift CoreLocation", "Maths.swift Glibc",
    "Maths.swift Musl", "Schedulers.swift OpenCombine", "Schedulers.swift OpenCombineDispatch",
  ]

  @Test("every target of the tree stands in the table, and the table names nothing else")
  func everyTargetIsKnown() throws {
    var folders: [String] = []
    for place in ["Sources", "Tests/Rig"] {
      folders += try FileManager.default.contentsOfDirectory(
        atPath: House.root.appending(path: place).path)
    }
    #expect(Set(folders) == Set(Self.targets))
    #expect(House.shared.twice.isEmpty)
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
    var imported: Set<String> = []
    for file in files {
      let all = House.imports(of: try SwiftText.code(at: file))
      let foreign = all.filter { !allowed.contains($0) }
      #expect(foreign.isEmpty, "\(file.lastPathComponent) of \(target)")
      imported.formUnion(all)
    }
    guard !files.isEmpty else { return }
    // The SDK's modules bring these along.
    if imported.contains("CoreLocation") {
      imported.formUnion(["Foundation", "FoundationCombine"])
    }
    let unused = room.mayImport.subtracting(imported).subtracting([Self.linked[target] ?? ""])
    #expect(unused.isEmpty, "\(target) uses less than its row allows")
  }

  @Test("the program is made without Foundation, whose tables of all languages are larger than it")
  func essentials() throws {
    var names: Set = ["LodestoneProgram"]
    var open = Array(names)
    while let name = open.popLast() {
      let target = Manifest.shared.targets.first { $0.name == name }
      for next in target?.dependencies ?? [] where names.insert(next).inserted { open.append(next) }
    }
    #expect(names.isSuperset(of: ["LodestoneCommand", "Lodestone", "StateStore", "MapDrawing"]))
    let large: Set = [
      "Foundation", "CoreFoundation", "FoundationInternationalization", "FoundationNetworking",
      "FoundationXML",
    ]
    for target in Manifest.shared.targets where names.contains(target.name) {
      for file in House.sources(below: House.root.appending(path: target.path)) {
        let imported = House.imports(of: try SwiftText.code(at: file))
        #expect(
          large.isDisjoint(with: imported),
          "\(file.lastPathComponent) of \(target.name): FoundationEssentials has to do")
      }
    }
  }

  @Test("a module is handed on to importers in these places only")
  func handedOn() throws {
    var found: [String] = []
    for folder in ["Sources", "Tests"] {
      for file in House.sources(below: House.root.appending(path: folder)) {
        for match in try SwiftText.code(at: file).matches(of: #/@_exported[^;{}]*?import\s+(\w+)/#)
        {
          found.append("\(file.lastPathComponent) \(match.1)")
        }
      }
    }
    #expect(found.sorted() == Self.exported)
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
    guard !files.isEmpty else {
      #expect(target.dependencies.isEmpty, "nothing is known of what C includes")
      return
    }
    let ours = Set(Manifest.shared.targets.map(\.name)).union(Self.libraries)
    let imported = try House.imports(below: House.root.appending(path: target.path))
      .intersection(ours).subtracting(Self.platform).subtracting([name])
    #expect(target.dependencies.subtracting([Self.linked[name] ?? ""]) == imported)
  }

  @Test("the maths of the platform is chosen in one place")
  func maths() throws {
    for folder in ["Sources", "Tests", "Examples", "Benchmarks/Sources", "Fuzz/Sources"] {
      for file in House.sources(below: House.root.appending(path: folder)) {
        guard !file.path.hasSuffix("LinearAlgebra/Maths.swift") else { continue }
        let code = try SwiftText.code(at: file)
        #expect(
          !code.contains(#/canImport\((Glibc|Musl)\)|import +Musl|os\(Linux\)/#), "\(file.path)")
      }
    }
  }

  @Test(
    "a room that may not import the platform reads no clock, no environment and no file",
    arguments: targets)
  func platform(target: String) throws {
    let room = try #require(House.shared.rooms[target])
    guard room.mayImport.isDisjoint(with: ["Glibc", "Foundation"]) else { return }
    for file in House.sources(of: target) {
      let calls = try SwiftText.code(at: file).matches(of: Self.impure.wordBoundaryKind(.simple))
        .map { String($0.0) }
      #expect(calls.isEmpty, "\(file.lastPathComponent) of \(target)")
    }
  }

  @Test("a clock, a file, chance and output are found, by whatever name")
  func impurity() {
    let calls = """
      let a = Date(); b = Date.now; c = clock_gettime(d, e); f = Glibc.time(nil); g = time(&h)
      open(i, O_RDWR); fopen(j); stat(k, &l); let m = environ; n.shuffled(); o.randomElement()
      Int.random(in: p); print(q); ContinuousClock.now; try Data(contentsOf: r); ProcessInfo.s
      """
    #expect(calls.matches(of: Self.impure.wordBoundaryKind(.simple)).count == 16)
    let others =
      "let time = at.time(of: x); open = true; open(x); file.open(); printed(y); stat.mean"
    #expect(!others.contains(Self.impure.wordBoundaryKind(.simple)))
  }

  /// What a value has no use for: clocks, the environment, files, chance, and output.
  private static var impure: Regex<Substring> {
    #/\b(?:ContinuousClock|SuspendingClock|DispatchTime|SystemRandomNumberGenerator|clock_gettime|gettimeofday|getenv|secure_getenv|environ|setenv|usleep|nanosleep|fopen|arc4random|FileManager|FileHandle|ProcessInfo)\b|\bDate\.now\b|\bData\(contentsOf|(?:^|[^\w.]|Glibc\.)(?:print\(|readLine\(|Date\(\)|time\((?:nil|&)|clock\(\)|open\([^()]*O_|stat\([^()]*&)|\.(?:shuffled|randomElement|random)\(/#
  }

  @Test(
    "only `JSONReading` decodes JSON: Foundation's decoder may end the process", arguments: targets)
  func decoders(target: String) throws {
    // The other one names it for Combine's `decode(type:decoder:)`; the decoder is its caller's.
    guard !["JSONReading", "FoundationCombine"].contains(target) else { return }
    for file in House.sources(of: target) {
      let code = try SwiftText.code(at: file)
      #expect(
        !code.contains("JSONDecoder") && !code.contains("JSONSerialization"),
        "\(file.lastPathComponent) of \(target)")
    }
  }

  @Test("an import is found behind every spelling")
  func parsing() {
    let text = #"""
      import A
      package import B
      @_exported public import C
      internal import struct D.E
        import F; import G
      @_spi(Rig) @_spi(Internals) @testable @preconcurrency import H
      @_documentation(visibility: internal) import I.J
      let words = "import K"
      let more = """
        import L
        """
      /* import M */ import func N.o
      import `P`
      import
        Q
      @a(b(c)) import R
      """#
    let names = House.imports(of: SwiftText.code(of: text))
    #expect(names == ["A", "B", "C", "D", "F", "G", "H", "I", "N", "P", "Q", "R"])
  }

  @Test("a row of two targets is read for both")
  func row() {
    let house = House(
      table: "| target |\n|---|\n| `CA`, `A` | a job | B, Yams |\n| `B` | x | - |\n")
    #expect(house.rooms["A"]?.mayImport == ["CA", "B", "Yams"])
    #expect(house.rooms["CA"]?.mayImport == [])
    #expect(house.rooms["B"]?.mayImport.isEmpty == true)
    #expect(House(table: "| `A` | x | - |\n| `B`, `A` | y | C |\n").twice == ["A"])
  }

  @Test("every form of a target is read from the manifest")
  func manifest() {
    let manifest = Manifest(
      text: """
        let package = Package(
          targets: [
            floor("A"),
            // floor("No"),
            floor("B", ["A", .product(name: "Yams", package: "Yams", condition: .when(platforms: [.linux])), "D"], exclude: ["x"]),
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
        [], ["A", "Yams", "D"], ["A"], ["A", "B"], ["A"], [], ["E"], ["A"],
      ])
  }
}
