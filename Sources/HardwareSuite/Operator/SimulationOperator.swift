import SensorHub
import SensorTypes
import SimulatedDevices

/// The simulated board as its own rig: faults are injected into its twins.
final class SimulationOperator: Operator {
  let name = "the simulated board"
  let isPerson = false
  private let simulation: SimulatedBusProvider
  private let board: Board

  init(_ simulation: SimulatedBusProvider, board: Board) {
    self.simulation = simulation
    self.board = board
  }

  func inject(_ fault: RigFault, chip: String, seconds: Double) throws {
    guard let index = board.sensors.firstIndex(where: { $0.chip == chip }) else {
      throw OperatorError("the board has no \(chip)")
    }
    let now = simulation.now()
    simulation.inject(
      try Self.fault(fault, chip: chip), chip: index, from: now,
      until: now.advanced(bySeconds: seconds))
  }

  func show(_ shown: Shown, chip: String) throws {
    throw OperatorError("the simulated board walks its own way")
  }

  func endShow(chip: String) throws {}

  func ask(_ instruction: String) throws {
    throw OperatorError("a simulated board has no hands: \(instruction)")
  }

  private static func fault(_ fault: RigFault, chip: String) throws -> Fault {
    switch fault {
    case .noAnswer: return .noAnswer
    case .timeout: return .timeout
    case .shortRead: return .shortRead(bytes: 1)
    case .wrongIdentity: return .wrongIdentity(0xEE)
    case .brownOut: return .brownOut
    case .stuckData: return .stuckData
    case .overflow: return .overflow
    case .receiverSilent: return .receiverSilent
    case .receiverGarbage: return .receiverGarbage
    case .bitFlip:
      guard let place = RigLine.configurationRegisters[chip],
        let register = UInt8(place.register.dropFirst(2), radix: 16),
        let mask = UInt8(place.mask.dropFirst(2), radix: 16)
      else { throw OperatorError("no configuration register of \(chip) is known") }
      return .bitFlip(register: register, mask: mask)
    case .stuckLow, .slow: throw OperatorError("the simulated board cannot do \(fault.rawValue) yet")
    }
  }
}
