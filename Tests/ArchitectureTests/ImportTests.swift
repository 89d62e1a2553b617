import Foundation
import Testing

/// The arrows between targets: no compiler flag sees a transitive import, so every file is read.
struct ImportTests {
  /// What a target may import, besides the standard library's own modules. The table of floors in
  /// CONTRIBUTING.md says the same in words.
  static let floors: [String: Set<String>] = {
    let core: Set = ["LinearAlgebra", "SensorTypes", "Geomagnetism"]
    let hub = core.union([
      "Geodesy", "FusionCore", "CalibrationCore", "GNSSProtocol", "JSONReading", "SensorBus",
      "SensorDrivers", "Yams",
    ])
    return [
      "LinearAlgebra": [],
      "Geodesy": ["LinearAlgebra"],
      "SensorTypes": ["LinearAlgebra"],
      "Geomagnetism": ["LinearAlgebra"],
      "FusionCore": core.union(["Geodesy"]),
      "JSONReading": [],
      "CalibrationCore": core.union(["JSONReading"]),
      "GNSSProtocol": ["SensorTypes"],
      "LocationServices": ["LinearAlgebra", "SensorTypes", "Geodesy"],
      "MapDrawing": ["Geodesy", "JSONReading", "CMapDrawing"],
      "SensorBus": ["SensorTypes"],
      "LinuxIO": ["SensorBus", "SensorTypes", "CLinuxIO"],
      "SensorDrivers": ["LinearAlgebra", "SensorTypes", "SensorBus", "GNSSProtocol"],
      "SimulatedDevices": core.union(["SensorBus", "Geodesy"]),
      "SensorHub": hub,
      "Lodestone": hub.subtracting(["Yams"]).union([
        "SensorHub", "LinuxIO", "SimulatedDevices", "LocationServices",
      ]),
      "FoundationCombine": ["OpenCombine", "OpenCombineDispatch"],
      "CoreLocation": [
        "Lodestone", "LocationServices", "SensorTypes", "Geodesy", "FoundationCombine",
      ],
      "CoreMotion": ["Lodestone", "LocationServices", "SensorTypes", "FoundationCombine"],
      "MapKit": ["CoreLocation", "Lodestone", "MapDrawing", "Geodesy", "FoundationCombine"],
      "LodestoneCommand": hub.subtracting(["Yams"]).union([
        "SensorHub", "Lodestone", "LinuxIO", "SimulatedDevices", "HardwareSuite", "ArgumentParser",
        "CoreLocation", "MapKit", "MapDrawing",
      ]),
      "LodestoneProgram": ["LodestoneCommand"],
      "HardwareSuite": [
        "Lodestone", "SensorHub", "SensorTypes", "SensorBus", "SensorDrivers", "SimulatedDevices",
        "LinuxIO", "LinearAlgebra", "Geomagnetism", "Yams",
      ],
      "TwinServing": [
        "LinearAlgebra", "SensorTypes", "SensorBus", "SimulatedDevices", "CVhostUser",
      ],
      "TwinServer": [
        "TwinServing", "SimulatedDevices", "SensorHub", "Lodestone", "ArgumentParser",
      ],
    ]
  }()

  /// Modules of the toolchain that every target may use.
  static let toolchain: Set = ["Glibc", "Musl", "Synchronization", "Dispatch", "Swift"]

  /// Targets that may use all of Foundation: the hub and what stands on it.
  static let foundation: Set = [
    "SensorHub", "Lodestone", "FoundationCombine", "CoreLocation", "CoreMotion", "MapKit",
    "LodestoneCommand", "TwinServer", "HardwareSuite", "MapDrawing",
  ]

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func sources(of target: String) -> [URL] {
    let folder = root.appending(path: "Sources").appending(path: target)
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (all?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
  }

  static func imports(of text: String) -> [String] {
    text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ").map(String.init)
      guard let index = words.firstIndex(of: "import"), index <= 3, index + 1 < words.count,
        words[..<index].allSatisfy({
          [
            "public", "internal", "private", "fileprivate", "package", "@_exported", "@testable",
            "@preconcurrency",
          ]
          .contains($0)
        })
      else { return nil }
      let kinds = ["struct", "class", "enum", "func", "let", "var", "typealias", "protocol"]
      let name =
        kinds.contains(words[index + 1]) && index + 2 < words.count
        ? words[index + 2] : words[index + 1]
      return String(name.split(separator: ".")[0])
    }
  }

  @Test("every target of the tree stands in the table")
  func everyTargetIsKnown() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Self.root.appending(path: "Sources").path)
    let ofC = ["CLinuxIO", "CVhostUser", "Combine", "CLNames", "CMNames", "CMapDrawing"]
    #expect(Set(folders) == Set(Self.floors.keys).union(ofC))
  }

  @Test("a driver's file and a chip's twin have at most 300 lines")
  func lines() throws {
    let twins = Self.sources(of: "SimulatedDevices").filter { $0.pathComponents.contains("Chips") }
    for file in Self.sources(of: "SensorDrivers") + twins {
      let text = try String(contentsOf: file, encoding: .utf8)
      let count = text.utf8.count { $0 == UInt8(ascii: "\n") }
      #expect(count <= 300, "\(file.lastPathComponent) has \(count)")
    }
  }

  @Test("a target imports only what stands in its row", arguments: floors.keys.sorted())
  func arrows(target: String) throws {
    var allowed = (Self.floors[target] ?? []).union(Self.toolchain)
    if Self.foundation.contains(target) { allowed.formUnion(["Foundation", "CoreFoundation"]) }
    let files = Self.sources(of: target)
    #expect(!files.isEmpty)
    for file in files {
      for module in Self.imports(of: try String(contentsOf: file, encoding: .utf8)) {
        // JSON and dates in a record: the small Foundation, allowed where the table says so.
        if module == "FoundationEssentials", ["CalibrationCore", "JSONReading"].contains(target) {
          continue
        }
        #expect(
          allowed.contains(module), "\(file.lastPathComponent) of \(target) imports \(module)")
      }
    }
  }

  @Test(
    "a file that stands on either C library names neither in its code",
    arguments: floors.keys.sorted())
  func eitherLibrary(target: String) throws {
    for file in Self.sources(of: target) {
      let text = try String(contentsOf: file, encoding: .utf8)
      guard Set(Self.imports(of: text)).isSuperset(of: ["Glibc", "Musl"]) else { continue }
      #expect(
        !text.contains("Glibc.") && !text.contains("Musl."),
        "\(file.lastPathComponent) of \(target) calls one of them by name")
    }
  }

  @Test(
    "only `JSONReading` decodes JSON: Foundation's decoder may end the process",
    arguments: floors.keys.sorted())
  func decoders(target: String) throws {
    // The other one names it for Combine's `decode(type:decoder:)`; the decoder is its caller's.
    guard !["JSONReading", "FoundationCombine"].contains(target) else { return }
    for file in Self.sources(of: target) {
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
      public import B
      @_exported public import C
      internal import struct D.E
        import F
      let words = "import G"
      """
    #expect(Self.imports(of: text) == ["A", "B", "C", "D", "F"])
  }
}
