// swift-tools-version: 6.0
import PackageDescription

// A package of its own: who uses Lodestone builds none of this. `run.sh` gives the compiler the sanitizers: they are
// for everything that is attacked, not for these targets alone.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

func fuzzer(_ name: String) -> Target {
  .executableTarget(name: name, dependencies: ["FuzzChecks", "CFuzzer"], swiftSettings: settings)
}

let package = Package(
  name: "Fuzz",
  dependencies: [.package(name: "Lodestone", path: "..")],
  targets: [
    // libFuzzer's own main function gives way to the one that Swift makes.
    .target(name: "CFuzzer"),
    // A link to Tests/FuzzChecks: what is kept is checked by the same lines.
    .target(
      name: "FuzzChecks",
      dependencies: [
        .product(name: "GNSSProtocol", package: "Lodestone"),
        .product(name: "CalibrationCore", package: "Lodestone"),
        .product(name: "ServiceProtocol", package: "Lodestone"),
        .product(name: "OutputProtocols", package: "Lodestone"),
      ],
      swiftSettings: settings + [.define("FUZZ")]),
    fuzzer("FuzzStream"),
    fuzzer("FuzzGPSD"),
    fuzzer("FuzzCaster"),
    fuzzer("FuzzOutputs"),
    fuzzer("FuzzRecord"),
    fuzzer("FuzzDaemonEnd"),
    fuzzer("FuzzProgramEnd"),
  ]
)
