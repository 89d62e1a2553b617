// Self-tests of the chips of a simulated board, by bus and address.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite("Self-tests on a simulated board") struct BoardSelfTestTests {
  private let clock = VirtualClock()
  private let bus = "/dev/i2c-1"

  private func provider(seed: UInt64) -> SimulatedBusProvider {
    SimulatedBusProvider(.standard(seed: seed, trajectory: .still), clock: clock)
  }

  private func run(
    _ chip: String, _ address: UInt8, _ provider: any BusProvider, bus: String = "/dev/i2c-1"
  ) throws(DriverError) -> SelfTestOutcome {
    try ChipCatalog.selfTest(chip: chip, bus: bus, address: address, with: provider) {
      clock.advance(bySeconds: $0)
    }
  }

  @Test("chips with their ordinary errors, near iron, pass", arguments: 1...20)
  func board(seed: UInt64) throws {
    let provider = provider(seed: seed)
    for (chip, address) in [("LIS3MDL", UInt8(0x1C)), ("LSM6DSOX", 0x6A)] {
      let begin = clock.now()
      guard case .tested(let report) = try run(chip, address, provider) else {
        Issue.record("\(chip) has a self-test")
        continue
      }
      #expect(report.passed, "\(report)")
      #expect(clock.now().seconds(since: begin) < 3)
    }
    #expect(try run("BMP280", 0x76, provider) == .noSelfTest)
  }

  @Test("a broken chip is told from its sound neighbour")
  func broken() throws {
    let provider = provider(seed: 1)
    provider.inject(.stuckData, chip: 1, from: clock.now())
    guard case .tested(let magnetometer) = try run("LIS3MDL", 0x1C, provider),
      case .tested(let inertial) = try run("LSM6DSOX", 0x6A, provider)
    else {
      Issue.record("both have a self-test")
      return
    }
    #expect(!magnetometer.passed)
    #expect(inertial.passed)
  }

  @Test("errors name the bus and the address")
  func errors() throws {
    let provider = provider(seed: 1)
    #expect(
      failure { () throws(DriverError) in try run("LIS3MDL", 0x1E, provider) }
        == .bus(BusError(.noAnswer, bus: bus, address: 0x1E, register: 0x0F, errno: 121)))
    guard
      case .bus(let missing) = failure({ () throws(DriverError) in
        try run("LIS3MDL", 0x1C, provider, bus: "/dev/i2c-9")
      })
    else {
      Issue.record("there is no such bus")
      return
    }
    #expect(missing.reason == .notFound)
    #expect(missing.bus == "/dev/i2c-9")
    #expect(
      failure { () throws(DriverError) in try run("LIS9", 0x1C, provider) }
        == .bus(BusError(.unsupported("a chip called LIS9"), bus: bus, address: 0x1C)))
  }
}
