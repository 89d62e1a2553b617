// What a run lives through, as a YAML file says it. `Tests/Hardware/scenarios` has examples.

package import BoardFile
import SensorDrivers
import SensorTypes

/// A list of steps, each with what must come of it.
package struct Scenario: Sendable {
  /// The name, for the report.
  package var name: String
  /// The file that it was read from; empty for one that was not.
  package var file = ""
  /// The steps, in order.
  package var steps: [ScenarioStep]

  /// What a person at a desk is asked for when no scenario is named.
  package static func desk(for board: Board) -> Scenario {
    var steps: [ScenarioAction] = []
    let kinds = board.sensors.map { ChipCatalog.chip(named: $0.chip)?.kind }
    if kinds.contains(.magnetometer) {
      steps.append(.turn(degrees: 360, within: 20, seconds: 40))
      if !board.isLevel { steps.append(.tilt(degrees: 30, within: 15, seconds: 30)) }
    }
    if kinds.contains(.barometer) {
      steps.append(.lift(metres: 1, within: 0.4, seconds: 30))
    }
    steps += board.sensors.indices.map { .fault(chip: $0, .noAnswer, seconds: 5) }
    return Scenario(name: "desk", steps: steps.map { ScenarioStep(action: $0, line: 0) })
  }

  /// Reads the text of a scenario, `schema: 1`; its chips must be the board's.
  package static func parse(
    _ text: String, file: String, board: Board
  ) throws(BoardFileError) -> Scenario {
    let root = try YAMLMapping.root(of: text, file: file)
    let map = try YAMLMapping(
      root, file: file, context: "a scenario", known: ["schema", "name", "steps"])
    guard try map.integer("schema", in: 0...1_000_000) == 1 else {
      throw map.error("schema", "a scenario needs 'schema: 1'")
    }
    var steps: [ScenarioStep] = []
    for node in try map.items("steps") ?? [] {
      steps.append(try StepReader(file: file, board: board).step(node))
    }
    guard !steps.isEmpty else { throw map.error("steps", "a scenario needs 'steps'") }
    return Scenario(name: try map.requiredString("name"), file: file, steps: steps)
  }

  /// Throws for the first step that somebody objects to, with file and line: what cannot be carried out is said
  /// before anything runs.
  func check(_ objection: (ScenarioAction) -> String?) throws(BoardFileError) {
    for step in steps {
      guard let objection = objection(step.action) else { continue }
      throw BoardFileError(file: file.isEmpty ? name : file, line: step.line, message: objection)
    }
  }
}

package struct ScenarioStep: Sendable {
  package var action: ScenarioAction
  /// The line in the file, for messages.
  package var line: Int
}

/// What can be done; a chip is its place in the board file, from 0.
package enum ScenarioAction: Sendable {
  /// Everything is left alone for so long; all sensors must go on.
  case measure(seconds: Double)
  /// Something goes wrong with a chip.
  case fault(chip: Int, RigFault, seconds: Double)
  /// Sequences drawn from a seed, each of one to three faults that overlap, on different chips.
  case randomFaults(count: Int, seed: UInt64)
  /// A chip is shown something; what is read, a field calibrated where there is a record, must be that within
  /// `within`, in the unit of what is shown, and heading (degrees, magnetic) as expected within three degrees.
  case show(chip: Int, Shown, within: Double, heading: Double?)
  /// A person turns the board, clockwise, by so many degrees.
  case turn(degrees: Double, within: Double, seconds: Double)
  /// A person tilts the board to so many degrees in any direction, and heading stays within so many.
  case tilt(degrees: Double, within: Double, seconds: Double)
  /// A person lifts the board by so many metres.
  case lift(metres: Double, within: Double, seconds: Double)
}

private struct StepReader {
  private static let kinds = [
    "measure", "fault", "randomFaults", "show", "turn", "tilt", "lift",
  ]

  let file: String
  let board: Board

  func step(_ node: YAMLNode) throws(BoardFileError) -> ScenarioStep {
    let outer = try YAMLMapping(node, file: file, context: "a step", known: Self.kinds)
    let named = Self.kinds.filter(outer.has)
    guard named.count == 1, let kind = named.first, let inner = outer.node(kind) else {
      throw outer.error("", "a step is one of \(Self.kinds.joined(separator: ", "))")
    }
    func mapping(_ keys: [String]) throws(BoardFileError) -> YAMLMapping {
      try YAMLMapping(inner, file: file, context: "'\(kind)'", known: keys)
    }
    let action: ScenarioAction
    switch kind {
    case "measure":
      let map = try mapping(["seconds"])
      action = .measure(seconds: try seconds(map))
    case "fault":
      let map = try mapping(["chip", "kind", "seconds"])
      let chip = try chip(map)
      action = .fault(
        chip: chip, try fault(map, board.sensors[chip].chip), seconds: try seconds(map))
    case "randomFaults":
      let map = try mapping(["count", "seed"])
      guard let count = try map.integer("count", in: 1...10_000) else {
        throw map.error("count", "'randomFaults' needs 'count'")
      }
      action = .randomFaults(
        count: count, seed: UInt64(try map.integer("seed", in: 0...Int.max) ?? 1))
    case "show":
      action = try show(
        mapping(
          ["chip", "field", "acceleration", "rate", "pressure", "temperature", "within", "heading"])
      )
    default:
      let unit = kind == "lift" ? "metres" : "degrees"
      let map = try mapping([unit, "within", "seconds"])
      let size = try map.requiredNumber(unit, in: 0.1...3600, unit: unit)
      let within = try map.requiredNumber("within", in: 0.01...360, unit: unit)
      let time = try seconds(map)
      action =
        switch kind {
        case "turn": .turn(degrees: size, within: within, seconds: time)
        case "tilt": .tilt(degrees: size, within: within, seconds: time)
        default: .lift(metres: size, within: within, seconds: time)
        }
    }
    return ScenarioStep(action: action, line: outer.line)
  }

  private func seconds(_ map: YAMLMapping) throws(BoardFileError) -> Double {
    try map.requiredNumber("seconds", in: 0.1...3600, unit: "s")
  }

  /// The chip of that name, or of the name that reports give to one of several: `LIS3MDL at /dev/i2c-1:0x1e`.
  private func chip(_ map: YAMLMapping) throws(BoardFileError) -> Int {
    let name = try map.requiredString("chip")
    let found = board.sensors.indices.filter { index in
      let sensor = board.sensors[index]
      return name == sensor.chip || name == "\(sensor.chip) at \(sensor.attachment)"
    }
    guard let first = found.first else {
      let known = board.sensors.indices.map { ChipTarget($0, of: board).name }
      throw map.error(
        "chip",
        "there is no '\(name)' on \(board.name); it has \(known.joined(separator: ", "))")
    }
    guard found.count == 1 else {
      let names = found.map { "'\(ChipTarget($0, of: board).name)'" }
      throw map.error(
        "chip", "there are \(found.count) \(name): say \(names.joined(separator: " or "))")
    }
    return first
  }

  private func fault(_ map: YAMLMapping, _ chip: String) throws(BoardFileError) -> RigFault {
    let name = try map.requiredString("kind")
    guard let fault = RigFault(rawValue: name) else {
      let known = RigFault.allCases.map(\.rawValue).joined(separator: ", ")
      throw map.error("kind", "unknown fault '\(name)'; known are \(known)")
    }
    guard fault.suits(receiver: ChipCatalog.chip(named: chip)?.kind == .receiver) else {
      throw map.error("kind", "'\(name)' cannot befall \(chip)")
    }
    return fault
  }

  private func show(_ map: YAMLMapping) throws(BoardFileError) -> ScenarioAction {
    let chip = try chip(map)
    var shown: [Shown] = []
    if let v = try map.vector("field", unit: "microtesla") { shown.append(.field(v)) }
    if let v = try map.vector("acceleration", unit: "m/s^2") { shown.append(.acceleration(v)) }
    if let v = try map.vector("rate", unit: "rad/s") { shown.append(.rate(v)) }
    if let p = try map.number("pressure", in: 1...200_000, unit: "Pa") {
      shown.append(.pressure(p))
    }
    if let t = try map.number("temperature", in: -100...200, unit: "degrees Celsius") {
      shown.append(.temperature(t))
    }
    guard shown.count == 1, let shown = shown.first else {
      throw map.error("chip", "'show' shows one thing a step")
    }
    let name = board.sensors[chip].chip
    let known = Self.measures(ChipCatalog.chip(named: name)?.kind)
    guard known.contains(shown.quantity) else {
      throw map.error(
        shown.quantity,
        "\(name) does not measure \(shown.quantity)"
          + (known.isEmpty
            ? ": a receiver can be shown nothing"
            : "; it measures \(known.joined(separator: ", "))"))
    }
    let heading = try map.number("heading", in: 0...360, unit: "degrees")
    guard heading == nil || shown.quantity == "field" else {
      throw map.error("heading", "'heading' goes with 'field'")
    }
    return .show(
      chip: chip, shown,
      within: try map.requiredNumber("within", in: 0...10_000, unit: "the unit of what is shown"),
      heading: heading)
  }

  // As the keys of 'show' say it.
  private static func measures(_ kind: ChipKind?) -> [String] {
    switch kind {
    case .magnetometer: ["field"]
    case .accelerometer: ["acceleration"]
    case .inertial: ["acceleration", "rate"]
    case .barometer: ["pressure", "temperature"]
    case .receiver, nil: []
    }
  }
}

extension Shown {
  /// The key of what is shown, as scenarios have it.
  var quantity: String {
    switch self {
    case .field: "field"
    case .acceleration: "acceleration"
    case .rate: "rate"
    case .pressure: "pressure"
    case .temperature: "temperature"
    }
  }
}
