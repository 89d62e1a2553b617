// What each register chip's driver owes when something goes wrong. Registers and reset values are the
// datasheet's, restated; the settings are those that the hub takes unless a board file says otherwise.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// One chip with its ordinary noise, its driver, and what that has to say about every fault.
struct FaultContract: Sendable, CustomTestStringConvertible {
  /// How a chip that lost its configuration shows it.
  enum Lost: Sendable, Hashable {
    /// The check names the first register whose reset value is not the setting's.
    case named(DriverError)
    /// Its registers cannot be read: it falls silent, which the hub notices.
    case silent
    /// It keeps none: it is told everything at every conversion, and goes on by itself.
    case nothing
  }

  /// A transfer: where it begins and how many bytes are read.
  struct Read: Sendable {
    let register: UInt8
    let count: Int
  }

  /// The name in the catalogue.
  let chip: String
  let address: UInt8
  let twin: @Sendable (any StimulusSource) -> any ChipTwin
  let driver: @Sendable (SimulatedRegisterDevice, DriverChecks) -> any ContractDriver
  /// What acts on the chip in these tests.
  let world: Stimulus
  /// Whether a reading is one of a world: six sigma of the datasheet's noise from it at most.
  let isRight: @Sendable (Reading, Stimulus) -> Bool
  /// The first read of a start; a start that begins by writing writes to the same register.
  let firstOfStart: Read
  /// The first read of a poll, and the one that brings the data.
  let firstOfPoll: Read
  let data: Read
  /// A chip that is another, and what the start says to it.
  let stranger: (fault: SimulatedFault, error: DriverError)
  /// What becomes of a dip in the supply.
  let lost: Lost
  /// Readings alike, the first included, after which the output counts as stuck.
  let alike: Int
  /// Looks at the chip that one reading takes: two for a chip that is told to convert pressure and temperature
  /// one after the other.
  var looks = 1
  /// Checks that are whole rounds of any number of registers up to eight.
  var rounds = 840

  var testDescription: String { chip }
}

func isNear(_ found: Vector3, _ truth: Vector3, within limit: Vector3) -> Bool {
  (0..<3).allSatisfy { abs(found[$0] - truth[$0]) <= limit[$0] }
}

extension FaultContract {
  /// A level hand-held board in central Europe, turning slowly.
  static let world = Stimulus(
    magneticField: Vector3(1.6, 20.9, -43.9), specificForce: Vector3(0.4, -0.6, 9.7),
    angularRate: Vector3(0.1, -0.2, 0.3), pressure: 95_200, temperature: 27)

  static func isField(within limit: Vector3) -> @Sendable (Reading, Stimulus) -> Bool {
    { reading, world in
      guard case .magneticField(let field) = reading else { return false }
      return isNear(field, world.magneticField, within: limit)
    }
  }

  static func isAir(
    pascals: Double, degrees: Double
  ) -> @Sendable (Reading, Stimulus) -> Bool {
    { reading, world in
      guard case .atmosphere(let pressure, let temperature, _) = reading else { return false }
      return abs(pressure - world.pressure) <= pascals
        && abs(temperature - world.temperature) <= degrees
    }
  }

  static let all = ChipContract.all.map(\.faults)
}
