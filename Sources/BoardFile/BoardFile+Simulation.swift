// The `simulation:` of a board file.

import SensorDrivers
import SensorTypes

extension BoardFile {
  /// What a simulated board does, and what goes wrong with it.
  static func plan(
    _ node: YAMLNode, file: String, _ sensors: [Board.Sensor]
  ) throws(BoardFileError) -> SimulationPlan {
    let map = try YAMLMapping(
      node, file: file, context: "the simulation",
      known: [
        "seed", "start", "heading", "hardIron", "softIron", "sea", "legs", "faults", "control",
      ])
    guard let start = map.node("start") else {
      throw map.error("start", "the simulation needs 'start'")
    }
    var legs: [RouteLeg] = []
    for node in try map.items("legs") ?? [] {
      let leg = try YAMLMapping(
        node, file: file, context: "a leg",
        known: ["seconds", "turn", "pitch", "roll", "climb", "speed", "fix"])
      legs.append(
        RouteLeg(
          seconds: try leg.requiredNumber("seconds", in: 0.1...86_400, unit: "s"),
          turn: try leg.number("turn", in: -3_600...3_600, unit: "degrees") ?? 0,
          pitch: try leg.number("pitch", in: -85...85, unit: "degrees"),
          roll: try leg.number("roll", in: -180...180, unit: "degrees"),
          climb: try leg.number("climb", in: -1_000...1_000, unit: "m") ?? 0,
          speed: try leg.number("speed", in: 0...300, unit: "m/s"),
          fix: try leg.boolean("fix")))
    }
    var faults: [PlannedFault] = []
    for node in try map.items("faults") ?? [] {
      faults.append(try fault(node, file: file, sensors))
    }
    var sea: PlannedSea?
    if let waves = try map.mapping(
      "sea", context: "the sea", known: ["height", "period", "direction"])
    {
      sea = PlannedSea(
        height: try waves.requiredNumber("height", in: 0...20, unit: "m"),
        period: try waves.requiredNumber("period", in: 2...25, unit: "s"),
        direction: try waves.number("direction", in: 0...360, unit: "degrees") ?? 60)
    }
    return SimulationPlan(
      seed: UInt64(try map.integer("seed", in: 0...Int.max) ?? 1),
      start: try position(start, file: file),
      heading: try map.number("heading", in: 0...360, unit: "degrees") ?? 0,
      hardIron: try map.vector("hardIron", unit: "microtesla") ?? .zero,
      softIron: try map.rows("softIron")
        ?? [SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)],
      legs: legs, faults: faults, control: try map.string("control"),
      sea: sea)
  }

  private static func fault(
    _ node: YAMLNode, file: String, _ sensors: [Board.Sensor]
  ) throws(BoardFileError) -> PlannedFault {
    let map = try YAMLMapping(
      node, file: file, context: "a fault", known: ["chip", "fault", "from", "seconds"])
    let chip = try map.requiredString("chip")
    guard let sensor = sensors.firstIndex(where: { $0.chip == chip }) else {
      throw map.error("chip", "there is no '\(chip)' among the sensors")
    }
    let name = try map.requiredString("fault")
    guard let kind = PlannedFaultKind(rawValue: name) else {
      let known = PlannedFaultKind.allCases.map(\.rawValue).joined(separator: ", ")
      throw map.error("fault", "unknown fault '\(name)'; known are \(known)")
    }
    let onlyReceiver = [.silent, .garbage, .noPulse].contains(kind)
    let isReceiver = ChipCatalog.chip(named: chip)?.kind == .receiver
    guard isReceiver || !onlyReceiver else {
      throw map.error("fault", "'\(name)' goes with a receiver")
    }
    guard kind != .noPulse || sensors[sensor].pulse != nil else {
      throw map.error("fault", "'\(name)' goes with a receiver whose entry has 'pps'")
    }
    return PlannedFault(
      sensor: sensor, kind: kind,
      from: try map.requiredNumber("from", in: 0...86_400, unit: "s"),
      seconds: try map.requiredNumber("seconds", in: 0.001...86_400, unit: "s"))
  }
}
