import LinearAlgebra
import SensorHub
import SensorTypes
import SimulatedDevices

/// The simulated board as its own rig: faults are injected into its twins.
final class SimulationOperator: Operator {
  static let title = "the simulated board"
  let name = title
  let isPerson = false
  private let simulation: SimulatedBusProvider

  init(_ simulation: SimulatedBusProvider) { self.simulation = simulation }

  func objection(to action: ScenarioAction) -> String? { Self.objection(to: action) }

  /// The same before there is a simulation.
  static func objection(to action: ScenarioAction) -> String? {
    action.needsHands ? "a simulated board has no hands: its way is in its board file" : nil
  }

  func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws {
    let now = simulation.now()
    simulation.inject(
      try Self.fault(fault, chip: chip.chip), chip: chip.index, from: now,
      until: now.advanced(bySeconds: seconds))
  }

  func show(_ shown: Shown, on chip: ChipTarget) throws {
    var quantities = simulation.shown(chip: chip.index)
    func vector(_ v: SIMD3<Double>) -> Vector3 { Vector3(v.x, v.y, v.z) }
    switch shown {
    case .field(let value): quantities.magneticField = vector(value)
    case .acceleration(let value): quantities.specificForce = vector(value)
    case .rate(let value): quantities.angularRate = vector(value)
    case .pressure(let value): quantities.pressure = value
    case .temperature(let value): quantities.temperature = value
    }
    simulation.show(quantities, chip: chip.index)
  }

  func endShow(on chip: ChipTarget) throws {
    simulation.show(ShownStimulus.Quantities(), chip: chip.index)
  }

  func ask(_ instruction: String) throws {
    throw OperatorError("a simulated board has no hands: \(instruction)")
  }

  private static func fault(_ fault: RigFault, chip: String) throws -> SimulatedFault {
    switch fault {
    case .noAnswer: return .noAnswer
    case .timeout: return .timeout
    case .shortRead: return .shortRead(bytes: 1)
    case .brownOut: return .brownOut
    case .stuckData: return .stuckData
    case .overflow: return .overflow
    case .receiverSilent: return .receiverSilent
    case .receiverGarbage: return .receiverGarbage
    case .bitFlip:
      let place = try RigLine.configurationBit(of: chip)
      return .bitFlip(register: place.register, mask: place.mask)
    case .stuckLow: return .stuckLow
    case .slow: return .slow(seconds: 0.02)
    }
  }
}
