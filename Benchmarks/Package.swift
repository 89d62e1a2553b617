// swift-tools-version: 6.0
import PackageDescription

// A package of its own: who uses Lodestone builds none of this.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// Every program names it: SwiftPM compiles a target again only if what it names has changed, and the size of the filter's
// parameters stands in each of them.
let core = Target.Dependency.product(name: "FusionCore", package: "Lodestone")

let package = Package(
  name: "Benchmarks",
  products: [
    .executable(name: "broad", targets: ["Broad"]),
    .executable(name: "fusion-groups", targets: ["FusionGroups"]),
    .executable(name: "fusion-speed", targets: ["FusionSpeed"]),
    .executable(name: "decode-speed", targets: ["DecodeSpeed"]),
  ],
  dependencies: [
    .package(name: "Lodestone", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    // Recordings, what is done to them, the error's definition, the report.
    .target(
      name: "FusionBenchmark", dependencies: [core],
      swiftSettings: settings),
    .executableTarget(
      name: "Broad",
      dependencies: [
        "FusionBenchmark", core, .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "FusionGroups",
      dependencies: [
        "FusionBenchmark", core, .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    // A link to Tests/CTestSupport, for its count of allocations.
    .target(name: "CAllocationCount"),
    .executableTarget(
      name: "FusionSpeed",
      dependencies: [
        "FusionBenchmark", "CAllocationCount", core,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "DecodeSpeed",
      dependencies: [
        .product(name: "GNSSProtocol", package: "Lodestone"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    // Runs `broad`, which every build of the tests makes as well.
    .testTarget(
      name: "FusionBenchmarkTests",
      dependencies: [
        "FusionBenchmark", core,
      ],
      swiftSettings: settings),
  ]
)
