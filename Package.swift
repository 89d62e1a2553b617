// swift-tools-version: 6.0
import PackageDescription

// The arrows between targets are the table in CONTRIBUTING.md: a target may import only what stands in
// its row. `Tests/ArchitectureTests` reads every file's imports and holds them against
// this list, because no compiler flag sees a transitive import.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

func floor(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(
    name: name + "Tests", dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

func example(_ name: String, in folder: String, _ facades: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: facades, path: "Examples/" + folder, swiftSettings: settings)
}

// The files of the page that `lodestone map` serves.
let page = [
  "page.html", "page.css", "icon.svg", "main.js", "connection.js", "store.js", "figures.js",
  "surface.js", "mercator.js", "map.js", "marker.js", "gestures.js", "tiles.js", "graticule.js",
  "compass.js", "altitude.js", "position.js", "sensors.js",
]

let package = Package(
  name: "Lodestone",
  products: [
    .library(
      name: "Lodestone",
      targets: [
        "Lodestone", "CoreLocation", "CoreMotion", "MapKit", "ImportNames", "SensorHub",
        "SensorTypes",
      ]),
    // The filter alone, with the types it speaks: what Benchmarks/ measures.
    .library(
      name: "FusionCore",
      targets: ["FusionCore", "LinearAlgebra", "SensorTypes", "Geomagnetism", "Geodesy"]),
    // Without Foundation and without the rest.
    .library(name: "Geodesy", targets: ["Geodesy", "LinearAlgebra"]),
    // What receivers say: what Benchmarks/ measures and Fuzz/ attacks.
    .library(name: "GNSSProtocol", targets: ["GNSSProtocol", "SensorTypes"]),
    .library(
      name: "CalibrationCore", targets: ["CalibrationCore", "LinearAlgebra", "SensorTypes"]),
    .executable(name: "lodestone", targets: ["LodestoneProgram"]),
    .executable(name: "twin-server", targets: ["TwinServer"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    // Pure core: value types, no Foundation, no clock, no I/O.
    floor("LinearAlgebra"),
    floor("Geodesy", ["LinearAlgebra"]),
    floor("SensorTypes", ["LinearAlgebra"]),
    floor("Geomagnetism"),
    floor("JSONReading"),
    floor("FusionCore", ["LinearAlgebra", "SensorTypes", "Geodesy"]),
    floor("CalibrationCore", ["LinearAlgebra", "SensorTypes", "Geomagnetism", "JSONReading"]),
    floor("GNSSProtocol", ["SensorTypes"]),
    floor("LocationServices", ["LinearAlgebra", "SensorTypes", "Geodesy"]),

    // What a map looks like: a picture of the projected earth, with tiles below it where there are some.
    // SQLite's library, which MBTiles are read with, is loaded when it is needed.
    .target(name: "CMapDrawing"),
    floor("MapDrawing", ["Geodesy", "JSONReading", "CMapDrawing"]),

    // Buses and chips.
    floor("SensorBus", ["SensorTypes"]),
    .target(
      name: "CLinuxIO",
      linkerSettings: [.linkedLibrary("gpiod"), .linkedLibrary("i2c")]),
    floor("LinuxIO", ["SensorBus", "SensorTypes", "CLinuxIO"]),
    floor(
      "SensorDrivers", ["LinearAlgebra", "SensorTypes", "SensorBus", "GNSSProtocol"],
      exclude: ["README.md"]),
    floor(
      "SimulatedDevices",
      ["LinearAlgebra", "SensorTypes", "Geodesy", "SensorBus"]),

    // The hub and the composition root.
    floor(
      "SensorHub",
      [
        "LinearAlgebra", "Geodesy", "SensorTypes", "Geomagnetism", "FusionCore", "CalibrationCore",
        "JSONReading", "SensorBus", "SensorDrivers",
        .product(name: "Yams", package: "Yams"),
      ]),
    .target(
      name: "Lodestone",
      dependencies: [
        "SensorHub", "LinuxIO", "SimulatedDevices", "SensorTypes", "SensorBus", "SensorDrivers",
        "LinearAlgebra", "Geomagnetism", "CalibrationCore", "JSONReading", "LocationServices",
      ],
      // `simulated` is a board wherever the library goes.
      resources: [.embedInCode("simulated.yaml")], swiftSettings: settings),

    // The facades: exactly the SDK's names. Code written for them has Combine as soon as it has Foundation.
    .target(name: "ImportNames"),
    floor(
      "FoundationCombine",
      [
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "OpenCombineDispatch", package: "OpenCombine"),
      ]),
    floor(
      "CoreLocation",
      [
        "Lodestone", "LocationServices", "SensorTypes", "Geodesy", "ImportNames",
        "FoundationCombine",
      ]),
    floor(
      "CoreMotion",
      ["Lodestone", "LocationServices", "SensorTypes", "ImportNames", "FoundationCombine"]),
    floor(
      "MapKit",
      ["CoreLocation", "Lodestone", "MapDrawing", "Geodesy", "ImportNames"]),

    // Hardware-in-the-loop tests as a library: a board has no toolchain.
    floor(
      "HardwareSuite",
      [
        "Lodestone", "SensorHub", "SensorTypes", "SensorBus", "SensorDrivers", "SimulatedDevices",
        "LinuxIO", "LinearAlgebra", "Geomagnetism", .product(name: "Yams", package: "Yams"),
      ]),

    .target(
      name: "LodestoneCommand",
      dependencies: [
        "HardwareSuite", "Lodestone", "SensorHub", "SensorTypes", "SensorBus",
        "SensorDrivers", "GNSSProtocol", "FusionCore", "CalibrationCore", "Geomagnetism", "LinuxIO",
        "SimulatedDevices", "LinearAlgebra", "MapKit", "MapDrawing",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      // The page of `lodestone map` is part of the program.
      resources: page.map { .embedInCode("Map/Page/" + $0) }, swiftSettings: settings),
    .executableTarget(
      name: "LodestoneProgram", dependencies: ["LodestoneCommand"], swiftSettings: settings),

    // The twins behind a real kernel's buses, for tests in a virtual machine.
    .target(name: "CVhostUser"),
    floor(
      "TwinServing",
      ["SimulatedDevices", "SensorBus", "SensorTypes", "CVhostUser"]),
    .executableTarget(
      name: "TwinServer",
      dependencies: [
        "TwinServing", "Lodestone", "SensorHub", "SimulatedDevices",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),

    // Programs as they would be written for a phone.
    example("compass", in: "Compass", ["CoreLocation"]),
    example("hiking-logger", in: "HikingLogger", ["CoreLocation"]),
    example("geofence", in: "Geofence", ["CoreLocation"]),
    example("altimeter", in: "Altimeter", ["CoreMotion"]),
    example("route-map", in: "RouteMap", ["MapKit"]),
    // What the article on porting shows, step by step.
    example("trip-recorder", in: "TripRecorder", ["CoreLocation", "Lodestone"]),

    // What tests need from C: pseudo terminals, a count of allocations.
    .target(name: "CTestSupport", path: "Tests/CTestSupport"),
    // What holds of whatever bytes come in: the fuzzers of Fuzz/ ask it, and a test of what they have kept.
    .target(
      name: "FuzzChecks", dependencies: ["GNSSProtocol", "CalibrationCore", "SensorTypes"],
      path: "Tests/FuzzChecks", swiftSettings: settings),
    // A board that says what a test lets it say.
    .target(
      name: "FacadeTestSupport",
      dependencies: ["Lodestone", "SensorTypes", "SensorBus", "LinearAlgebra"],
      path: "Tests/FacadeTestSupport", swiftSettings: settings),

    // The recordings and tables beside the repository, without which CI fails.
    .target(name: "SharedData", path: "Tests/SharedData", swiftSettings: settings),

    // The simulated board on a clock that a test moves.
    .target(
      name: "BoardTestSupport",
      dependencies: [
        "Lodestone", "SensorHub", "SimulatedDevices", "SensorTypes", "SensorBus", "Geomagnetism",
      ],
      path: "Tests/BoardTestSupport", swiftSettings: settings),

    // A program that uses nothing but the facade. The tests run it, as they run `region-kill`, and do not
    // depend on it: Swift 6.0.3 would link its entry point into theirs.
    .executableTarget(
      name: "facade-program", dependencies: ["CoreLocation"], path: "Tests/FacadeProgram",
      swiftSettings: settings),

    // Compasses that are started and stopped from many threads, for the sanitizers: Tests/storm.sh.
    .target(name: "CSanitizedMutex", path: "Tests/CSanitizedMutex"),
    .executableTarget(
      name: "compass-storm", dependencies: ["CoreLocation", "CoreMotion", "CSanitizedMutex"],
      path: "Tests/CompassStorm", swiftSettings: settings),

    // Regions in a process that is killed.
    .executableTarget(
      name: "region-kill", dependencies: ["CoreLocation", "Lodestone", "FacadeTestSupport"],
      path: "Tests/RegionKill", swiftSettings: settings),

    // How late a delegate hears of an edge: for the rig below Tests/Hardware/uml.
    .executableTarget(
      name: "edge-latency", dependencies: ["CoreLocation"], path: "Tests/Hardware/EdgeLatency",
      swiftSettings: settings),

    // Beacons as a delegate hears them: for the same rig.
    .executableTarget(
      name: "beacon-listener", dependencies: ["CoreLocation"],
      path: "Tests/Hardware/BeaconListener", swiftSettings: settings),

    // Stored records in a process that loses its power, on a file system of its own. No test depends on
    // it, so that no test has its system calls.
    .target(name: "CSaveCut", path: "Tests/CSaveCut"),
    .executableTarget(
      name: "save-cut",
      dependencies: ["CSaveCut", "SensorHub", "SensorTypes", "CalibrationCore", "LinearAlgebra"],
      path: "Tests/SaveCut", swiftSettings: settings),

    // One test target a target; `Architecture` holds the imports against the floors above.
    tests("LinearAlgebra", ["LinearAlgebra"]),
    tests("Geodesy", ["Geodesy", "LinearAlgebra", "CTestSupport"], exclude: ["geodesics.txt"]),
    tests("SensorTypes", ["SensorTypes", "LinearAlgebra"]),
    tests("JSONReading", ["JSONReading"]),
    tests("Geomagnetism", ["Geomagnetism", "SharedData"]),
    tests(
      "FusionCore",
      ["FusionCore", "SensorTypes", "LinearAlgebra", "Geodesy", "SharedData"]),
    tests(
      "CalibrationCore",
      ["CalibrationCore", "SensorTypes", "LinearAlgebra", "Geomagnetism", "SharedData"],
      exclude: ["Replay"]),
    tests(
      "GNSSProtocol", ["GNSSProtocol", "SensorTypes", "CTestSupport", "SharedData"],
      exclude: ["GPSD"]),
    tests(
      "LocationServices",
      [
        "LocationServices", "SensorTypes", "LinearAlgebra", "Geodesy", "CTestSupport", "SharedData",
      ]),
    tests(
      "CoreLocation",
      [
        "CoreLocation", "Lodestone", "LocationServices", "SensorTypes", "SensorBus",
        "SimulatedDevices", "FacadeTestSupport", "BoardTestSupport",
      ], exclude: ["Beacons"]),
    tests(
      "CoreMotion",
      [
        "CoreMotion", "Lodestone", "LocationServices", "SensorTypes", "SensorHub", "LinearAlgebra",
        "SimulatedDevices", "CalibrationCore", "FacadeTestSupport", "BoardTestSupport",
      ]),
    tests("MapDrawing", ["MapDrawing", "Geodesy"]),
    tests(
      "MapKit",
      [
        "MapKit", "Lodestone", "MapDrawing", "Geodesy", "SimulatedDevices",
        "SensorTypes", "FacadeTestSupport", "BoardTestSupport",
      ]),
    tests("SensorBus", ["SensorBus"]),
    tests("LinuxIO", ["LinuxIO", "SensorBus", "SensorTypes", "CLinuxIO", "CTestSupport"]),
    tests(
      "SensorDrivers",
      ["SensorDrivers", "SimulatedDevices", "SensorBus", "SensorTypes", "LinearAlgebra"]),
    tests(
      "SimulatedDevices",
      [
        "SimulatedDevices", "SensorBus", "SensorTypes", "LinearAlgebra", "Geodesy",
      ]),
    tests(
      "SensorHub",
      [
        "SensorHub", "SimulatedDevices", "SensorDrivers", "SensorBus", "SensorTypes",
        "LinearAlgebra", "CalibrationCore",
      ]),
    tests(
      "Lodestone",
      [
        "Lodestone", "SensorHub", "SimulatedDevices", "SensorTypes", "SensorBus", "LinearAlgebra",
        "Geomagnetism", "CalibrationCore", "GNSSProtocol", "LocationServices", "SensorDrivers",
        "BoardTestSupport", "CTestSupport",
      ]),
    tests(
      "TwinServing",
      [
        "TwinServing", "SimulatedDevices", "SensorBus", "SensorTypes", "LinearAlgebra",
      ]),
    tests(
      "HardwareSuite",
      [
        "HardwareSuite", "Lodestone", "BoardTestSupport", "SensorDrivers", "SensorHub",
        "SensorTypes",
        "SimulatedDevices", "LinearAlgebra",
      ]),
    tests(
      "LodestoneCommand",
      [
        "LodestoneCommand", "HardwareSuite", "Lodestone", "SensorHub", "CalibrationCore",
        "GNSSProtocol", "SensorTypes", "SensorBus", "SimulatedDevices", "LinearAlgebra", "MapKit",
        "MapDrawing", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    tests("FuzzCorpus", ["FuzzChecks"]),
    tests("Architecture", []),
  ]
)
