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

// The rigs are no product, but use what is `package` in this one; so they are targets of it, in a folder of their own.
func rig(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Tests/Rig/" + name, swiftSettings: settings)
}

func rig(ofC name: String) -> Target {
  .target(name: name, path: "Tests/Rig/" + name)
}

func rig(
  program name: String, in folder: String, _ dependencies: [Target.Dependency]
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Tests/Rig/" + folder, swiftSettings: settings)
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
        "Lodestone", "CoreLocation", "CoreMotion", "MapKit", "ImportNames",
        "FoundationCombine", "LocationServices", "SensorTypes",
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
    // What programs and the daemon say to each other: what Fuzz/ attacks.
    .library(name: "ServiceProtocol", targets: ["ServiceProtocol", "LocationServices"]),
    // What other programs and outputs say to each other: what Fuzz/ attacks.
    .library(name: "OutputProtocols", targets: ["OutputProtocols"]),
    .executable(name: "lodestone", targets: ["LodestoneProgram"]),
    .executable(name: "twin-server", targets: ["TwinServer"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    // Pure core: value types, no Foundation, no clock, no I/O.
    floor("LinearAlgebra"),
    floor("Geodesy", ["LinearAlgebra"]),
    floor("SensorTypes", ["LinearAlgebra"]),
    floor("Geomagnetism", ["LinearAlgebra"]),
    floor("JSONReading"),
    floor("TextForms"),
    floor("FusionCore", ["LinearAlgebra", "SensorTypes", "Geodesy"]),
    floor(
      "CalibrationCore",
      ["LinearAlgebra", "SensorTypes", "Geomagnetism", "JSONReading", "TextForms"]),
    floor("MagnetometerLogs", ["LinearAlgebra", "SensorTypes"]),
    floor("GNSSProtocol", ["LinearAlgebra", "SensorTypes"]),
    floor("Inboxes"),
    .target(name: "CThreads"),
    floor("Threads", ["CThreads"]),
    floor("LocationServices", ["Inboxes", "LinearAlgebra", "SensorTypes", "Geodesy"]),
    floor("ServiceProtocol", ["LocationServices", "SensorTypes"]),
    floor("OutputProtocols", ["GNSSProtocol", "LinearAlgebra", "SensorTypes", "TextForms"]),

    // What a map looks like: a picture of the projected earth, with tiles below it where there are some.
    // SQLite's library, which MBTiles are read with, is loaded when it is needed.
    .target(name: "CMapDrawing"),
    floor("MapDrawing", ["Geodesy", "JSONReading", "CMapDrawing", "LinearAlgebra", "TextForms"]),

    // Buses and chips.
    floor("SensorBus", ["SensorTypes"]),
    .target(
      name: "CLinuxIO",
      linkerSettings: [.linkedLibrary("gpiod"), .linkedLibrary("i2c")]),
    floor("LinuxIO", ["Inboxes", "SensorBus", "SensorTypes", "Threads", "CLinuxIO"]),
    floor("LinuxBluetooth", ["SensorBus", "SensorTypes", "CLinuxIO", "LinuxIO"]),
    floor(
      "SensorDrivers", ["LinearAlgebra", "SensorTypes", "SensorBus", "GNSSProtocol"],
      exclude: ["README.md"]),
    floor(
      "SimulatedDevices",
      ["LinearAlgebra", "SensorTypes", "Geodesy", "SensorBus", "TextForms"]),

    // What is kept on disk, a board in words, the hub and the composition root.
    floor("Recording", ["SensorBus", "SensorTypes"]),
    floor("StateStore", ["CalibrationCore", "JSONReading", "SensorTypes", "TextForms"]),
    .target(name: "CYAML", linkerSettings: [.linkedLibrary("yaml")]),
    floor("BoardFile", ["SensorBus", "SensorDrivers", "SensorTypes", "CYAML"]),
    floor(
      "SensorHub",
      [
        "LinearAlgebra", "Geodesy", "SensorTypes", "Geomagnetism", "FusionCore", "CalibrationCore",
        "GNSSProtocol", "SensorBus", "SensorDrivers", "BoardFile", "StateStore", "Recording",
        "Threads",
      ]),
    .target(
      name: "Lodestone",
      dependencies: [
        "SensorHub", "LinuxIO", "LinuxBluetooth", "SimulatedDevices", "SensorTypes", "SensorBus",
        "SensorDrivers", "LinearAlgebra", "Geomagnetism", "CalibrationCore",
        "JSONReading",
        "LocationServices", "ServiceProtocol", "BoardFile", "StateStore", "Recording", "Inboxes",
        "Threads",
      ],
      // `simulated` is a board wherever the library goes.
      resources: [.embedInCode("simulated.yaml")], swiftSettings: settings),

    // The daemon that owns a board for other programs.
    .target(
      name: "LocationDaemon",
      dependencies: [
        "Lodestone", "LocationServices", "ServiceProtocol", "SensorHub", "SensorTypes", "SensorBus",
        "StateStore", "BoardFile", "LinuxIO", "CLinuxIO", "JSONReading", "OutputProtocols",
        "Recording", "TextForms", "Threads",
      ],
      swiftSettings: settings),

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
        "FoundationCombine", "Inboxes",
      ]),
    floor(
      "CoreMotion",
      [
        "Lodestone", "LocationServices", "SensorTypes", "ImportNames", "FoundationCombine",
        "Inboxes",
      ]),
    floor(
      "MapKit",
      ["CoreLocation", "MapDrawing", "Geodesy", "ImportNames", "LocationServices"]),

    // What is wrong with wiring and system, and what the machine's state is.
    floor(
      "Diagnosis",
      [
        "BoardFile", "CalibrationCore", "GNSSProtocol", "Geomagnetism", "LinuxIO", "Lodestone",
        "SensorBus", "SensorDrivers", "SensorHub", "SensorTypes", "StateStore", "TextForms",
        "Threads",
      ]),

    // Hardware-in-the-loop tests as a library: a board has no toolchain.
    floor(
      "HardwareSuite",
      [
        "Lodestone", "SensorHub", "SensorTypes", "SensorBus", "SensorDrivers", "SimulatedDevices",
        "LinuxIO", "LinearAlgebra", "Geomagnetism", "BoardFile", "StateStore", "Diagnosis",
        "TextForms", "Threads",
      ]),

    // The parts of the command that are worth a test without a process.
    floor(
      "TerminalUI",
      [
        "LinearAlgebra", "Lodestone", "OutputProtocols", "SensorDrivers", "SensorTypes",
        "SimulatedDevices", "StateStore", "Inboxes", "TextForms", "Threads",
      ]),
    floor(
      "Reports",
      [
        "BoardFile", "CalibrationCore", "FusionCore", "Geomagnetism", "LinearAlgebra", "Lodestone",
        "MagnetometerLogs", "OutputProtocols", "SensorHub", "SensorTypes", "StateStore",
        "TerminalUI", "TextForms",
      ]),
    .target(
      name: "LiveMap",
      dependencies: [
        "Lodestone", "MapDrawing", "OutputProtocols", "SensorDrivers", "SensorTypes", "StateStore",
        "TerminalUI", "TextForms", "Threads",
      ],
      // The page is part of the program.
      resources: page.map { .embedInCode("Page/" + $0) }, swiftSettings: settings),
    floor(
      "CalibrationUI",
      [
        "BoardFile", "CalibrationCore", "Geomagnetism", "LinearAlgebra", "Lodestone",
        "MagnetometerLogs", "OutputProtocols", "Reports", "SensorDrivers", "SensorHub",
        "SensorTypes", "StateStore", "TerminalUI", "TextForms",
      ]),
    floor(
      "LogConversion",
      [
        "BoardFile", "FusionCore", "Geodesy", "GNSSProtocol", "JSONReading", "MapDrawing",
        "OutputProtocols", "Recording", "SensorHub", "SensorTypes", "StateStore", "TerminalUI",
        "TextForms",
      ]),

    floor(
      "DaemonUI",
      [
        "BoardFile", "Diagnosis", "LinuxIO", "LiveMap", "LocationDaemon", "LocationServices",
        "Lodestone", "MapDrawing", "SensorTypes", "StateStore", "TerminalUI", "TextForms",
      ]),
    .target(
      name: "LodestoneCommand",
      dependencies: [
        "HardwareSuite", "LocationDaemon", "DaemonUI", "Lodestone", "SensorHub", "SensorTypes",
        "SensorBus", "SensorDrivers",
        "CalibrationCore", "Geomagnetism", "LinuxIO", "LogConversion",
        "MagnetometerLogs", "BoardFile", "StateStore", "Diagnosis", "OutputProtocols", "TerminalUI",
        "Reports", "CalibrationUI", "LiveMap", "TextForms", "Threads",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "LodestoneProgram", dependencies: ["LodestoneCommand"], swiftSettings: settings),

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
      name: "FuzzChecks",
      dependencies: [
        "GNSSProtocol", "CalibrationCore", "SensorTypes", "LocationServices", "ServiceProtocol",
        "OutputProtocols", "LinearAlgebra",
      ],
      path: "Tests/FuzzChecks", swiftSettings: settings),
    // A board that says what a test lets it say.
    .target(
      name: "FacadeTestSupport",
      dependencies: [
        "Lodestone", "LocationDaemon", "LocationServices", "ServiceProtocol", "StateStore",
        "LinuxIO", "SensorTypes", "SensorBus", "LinearAlgebra", "BoardFile", "BoardTestSupport",
      ],
      path: "Tests/FacadeTestSupport", swiftSettings: settings),

    // What the tests of several parts of the command print.
    .target(
      name: "CommandTestSupport",
      dependencies: ["CalibrationCore", "LinearAlgebra", "SensorTypes"],
      path: "Tests/CommandTestSupport",
      swiftSettings: settings),

    // Chance that comes again with the same seed.
    .target(
      name: "SeededDraws", dependencies: ["LinearAlgebra"], path: "Tests/SeededDraws",
      swiftSettings: settings),

    // The figures of runs as they were when somebody wrote them down.
    .target(name: "RecordedFigures", path: "Tests/RecordedFigures", swiftSettings: settings),

    // The recordings and tables beside the repository, without which CI fails.
    .target(name: "SharedData", path: "Tests/SharedData", swiftSettings: settings),

    // The simulated board on a clock that a test moves.
    .target(
      name: "BoardTestSupport",
      dependencies: [
        "Lodestone", "SensorHub", "SimulatedDevices", "SensorTypes", "SensorBus", "Geomagnetism",
        "BoardFile", "StateStore", "Recording",
      ],
      path: "Tests/BoardTestSupport", swiftSettings: settings),

    // The programs of the rigs and what only they need. Other tests run some of them as processes and depend on none: Swift
    // 6.0.3 would link their entry points into the tests', and no test shall have another's system calls.
    //
    // The twins behind a real kernel's buses, for tests in a virtual machine.
    rig(ofC: "CVhostUser"),
    rig("TwinServing", ["SimulatedDevices", "SensorBus", "SensorTypes", "CVhostUser"]),
    rig(
      program: "TwinServer", in: "TwinServer",
      [
        "TwinServing", "Lodestone", "SimulatedDevices", "BoardFile", "StateStore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    // A program that uses nothing but the facade.
    rig(program: "facade-program", in: "FacadeProgram", ["CoreLocation"]),
    // Compasses that are started and stopped from many threads, for the sanitizers: Tests/storm.sh.
    rig(ofC: "CSanitizedMutex"),
    rig(
      program: "compass-storm", in: "CompassStorm",
      ["CoreLocation", "CoreMotion", "CSanitizedMutex"]),
    // Regions in a process that is killed.
    rig(
      program: "region-kill", in: "RegionKill", ["CoreLocation", "Lodestone", "FacadeTestSupport"]),
    // One of many programs that share a daemon: Tests/crowd.py.
    rig(program: "crowd-program", in: "CrowdProgram", ["CoreLocation"]),
    // How late a delegate hears of an edge, and beacons as a delegate hears them: for Tests/Hardware/uml.
    rig(program: "edge-latency", in: "EdgeLatency", ["CoreLocation"]),
    rig(program: "beacon-listener", in: "BeaconListener", ["CoreLocation"]),
    // Stored records in a process that loses its power, on a simulated file system.
    rig(ofC: "CSaveCut"),
    rig(
      program: "save-cut", in: "SaveCut",
      ["CSaveCut", "SensorTypes", "CalibrationCore", "LinearAlgebra", "StateStore"]),

    // One test target a target; `Architecture` holds the imports against the floors above.
    tests("LinearAlgebra", ["LinearAlgebra"]),
    tests("Geodesy", ["Geodesy", "LinearAlgebra", "CTestSupport"], exclude: ["geodesics.txt"]),
    tests("SensorTypes", ["SensorTypes", "LinearAlgebra"]),
    tests("JSONReading", ["JSONReading"]),
    tests("Geomagnetism", ["Geomagnetism", "SharedData"]),
    tests(
      "FusionCore",
      [
        "FusionCore", "SensorTypes", "LinearAlgebra", "Geodesy", "SharedData", "RecordedFigures",
        "CTestSupport",
      ]),
    tests(
      "CalibrationCore",
      [
        "CalibrationCore", "SensorTypes", "LinearAlgebra", "Geomagnetism", "SeededDraws",
        "SharedData", "RecordedFigures",
      ]),
    tests(
      "MagnetometerLogs",
      [
        "MagnetometerLogs", "CalibrationUI", "CalibrationCore", "SensorTypes", "LinearAlgebra",
        "SeededDraws", "SharedData",
      ], exclude: ["Replay"]),
    tests(
      "GNSSProtocol", ["GNSSProtocol", "SensorTypes", "CTestSupport", "SharedData"],
      exclude: ["GPSD"]),
    tests(
      "LocationServices",
      [
        "LocationServices", "SensorTypes", "LinearAlgebra", "Geodesy", "CTestSupport", "SharedData",
      ]),
    tests(
      "ServiceProtocol",
      [
        "ServiceProtocol", "LocationServices", "SensorTypes", "LinearAlgebra", "Geodesy",
        "SeededDraws",
      ]),
    tests(
      "OutputProtocols", ["OutputProtocols", "SensorTypes", "LinearAlgebra"],
      exclude: ["SignalKSamples.txt"]),
    tests(
      "CoreLocation",
      [
        "CoreLocation", "Lodestone", "LocationServices", "SensorTypes", "SensorBus",
        "SimulatedDevices", "FacadeTestSupport", "BoardTestSupport", "Inboxes",
      ], exclude: ["Beacons"]),
    tests(
      "CoreMotion",
      [
        "CoreMotion", "Lodestone", "LocationServices", "SensorTypes", "SensorHub", "LinearAlgebra",
        "SimulatedDevices", "CalibrationCore", "FacadeTestSupport", "BoardTestSupport", "BoardFile",
        "StateStore", "Recording",
      ]),
    tests("MapDrawing", ["MapDrawing", "Geodesy"]),
    tests(
      "MapKit",
      [
        "MapKit", "Lodestone", "MapDrawing", "Geodesy", "SimulatedDevices",
        "SensorTypes", "FacadeTestSupport", "BoardTestSupport", "RecordedFigures",
      ]),
    tests("Recording", ["Recording", "SensorBus", "SensorHub", "SensorTypes"]),
    tests("SensorBus", ["SensorBus"]),
    tests("Inboxes", ["Inboxes"]),
    tests("Threads", ["Threads"]),
    tests("TextForms", ["TextForms", "SeededDraws"]),
    tests("LinuxIO", ["LinuxIO", "SensorBus", "SensorTypes", "CLinuxIO", "CTestSupport"]),
    tests(
      "LinuxBluetooth", ["LinuxBluetooth", "LinuxIO", "SensorBus", "CLinuxIO", "CTestSupport"]),
    tests(
      "SensorDrivers",
      [
        "SensorDrivers", "SimulatedDevices", "SensorBus", "GNSSProtocol", "SensorTypes",
        "LinearAlgebra",
      ]),
    tests(
      "SimulatedDevices",
      [
        "SimulatedDevices", "SensorBus", "SensorTypes", "LinearAlgebra", "Geodesy",
      ]),
    tests("StateStore", ["CalibrationCore", "LinearAlgebra", "SensorTypes", "StateStore"]),
    tests(
      "BoardFile", ["BoardFile", "SensorBus", "SensorDrivers", "SensorTypes", "SimulatedDevices"]),
    tests(
      "SensorHub",
      [
        "SensorHub", "SimulatedDevices", "SensorDrivers", "SensorBus", "SensorTypes",
        "LinearAlgebra", "BoardFile", "StateStore", "Recording", "FusionCore", "CalibrationCore",
        "Geomagnetism",
      ]),
    tests(
      "Lodestone",
      [
        "Lodestone", "SensorHub", "SimulatedDevices", "SensorTypes", "SensorBus", "LinearAlgebra",
        "Geomagnetism", "CalibrationCore", "GNSSProtocol", "LocationServices", "SensorDrivers",
        "BoardTestSupport", "CTestSupport", "BoardFile", "StateStore", "Recording", "Diagnosis",
        "RecordedFigures", "FacadeTestSupport",
      ]),
    tests(
      "LocationDaemon",
      [
        "LocationDaemon", "Lodestone", "LocationServices", "ServiceProtocol", "SensorHub",
        "SensorTypes", "SensorBus", "StateStore", "LinuxIO", "Geodesy", "LinearAlgebra",
        "BoardFile", "CalibrationCore", "OutputProtocols", "FacadeTestSupport",
        "BoardTestSupport", "SimulatedDevices",
      ]),
    tests(
      "DaemonUI",
      [
        "DaemonUI", "LocationDaemon", "LocationServices", "Lodestone", "LiveMap", "MapDrawing",
        "TerminalUI", "LinuxIO", "BoardFile", "SensorTypes", "FacadeTestSupport",
      ]),
    tests(
      "TwinServing",
      [
        "TwinServing", "SimulatedDevices", "SensorBus", "SensorTypes", "LinearAlgebra",
      ]),
    tests(
      "Diagnosis",
      [
        "BoardFile", "BoardTestSupport", "Diagnosis", "GNSSProtocol", "LinuxIO", "Lodestone",
        "SensorBus", "SensorDrivers", "SensorTypes", "SimulatedDevices",
      ]),
    tests(
      "HardwareSuite",
      [
        "HardwareSuite", "BoardTestSupport", "SensorDrivers", "SensorHub", "SensorTypes",
        "SimulatedDevices", "LinearAlgebra", "BoardFile", "StateStore", "Diagnosis", "TextForms",
      ]),
    tests(
      "TerminalUI",
      [
        "CalibrationCore", "LinearAlgebra", "OutputProtocols", "SensorTypes", "StateStore",
        "TerminalUI", "CommandTestSupport", "CalibrationUI", "SensorHub", "SimulatedDevices",
        "TextForms",
      ]),
    tests(
      "Reports",
      [
        "BoardFile", "CalibrationCore", "Geomagnetism", "LinearAlgebra", "MagnetometerLogs",
        "Reports", "SensorHub", "SensorTypes", "StateStore", "TerminalUI", "CommandTestSupport",
        "TextForms", "RecordedFigures",
      ]),
    tests(
      "LogConversion",
      [
        "BoardTestSupport", "CommandTestSupport", "Geodesy", "GNSSProtocol", "LogConversion",
        "MapDrawing", "OutputProtocols", "SensorHub", "SensorTypes", "TerminalUI", "TextForms",
        "RecordedFigures",
      ]),
    tests(
      "LiveMap",
      [
        "BoardFile", "LinearAlgebra", "LiveMap", "MapDrawing", "SensorTypes", "StateStore",
        "TerminalUI", "RecordedFigures",
      ]),
    tests(
      "CalibrationUI",
      [
        "BoardFile", "CalibrationCore", "CalibrationUI", "CommandTestSupport", "LinearAlgebra",
        "MagnetometerLogs", "SensorTypes", "StateStore", "TerminalUI", "RecordedFigures",
        "Lodestone",
      ]),
    tests(
      "LodestoneCommand",
      [
        "LodestoneCommand", "HardwareSuite", "LocationDaemon", "LocationServices", "Lodestone",
        "SensorTypes", "SensorBus", "BoardFile", "StateStore", "TerminalUI", "Reports",
        "CalibrationUI", "TextForms", "LinearAlgebra", "BoardTestSupport", "RecordedFigures",
        "CTestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    tests("FuzzCorpus", ["FuzzChecks"]),
    tests("Architecture", []),
  ]
)
