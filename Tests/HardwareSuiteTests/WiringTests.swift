import BoardFile
@testable import Diagnosis
import Foundation
import SensorTypes
import SimulatedDevices
import Testing

@testable import HardwareSuite

/// What the suite does before the hub has the buses.
struct WiringTests {
  @Test("a chip behind a bypass tests itself: the chip that has the bypass is started first")
  func behindBypass() throws {
    var simulated = SimulatedBoard(
      chips: [
        .init(.registers("HMC5883L"), at: .bus("/dev/i2c-1", address: 0x1E)),
        .init(.registers("MPU6050"), at: .bus("/dev/i2c-1", address: 0x68)),
      ], trajectory: Trajectory(segments: [.init(duration: 600)]))
    simulated.chips[0].host = 1
    let clock = VirtualClock()
    let provider = SimulatedBusProvider(simulated, clock: clock)
    let board = try BoardFile.parse(
      """
      schema: 1
      name: GY-87
      sensors:
        - {chip: HMC5883L, bus: /dev/i2c-1, address: 0x1e, behind: MPU6050}
        - {chip: MPU6050, bus: /dev/i2c-1, address: 0x68}
      """, file: "gy-87.yaml")
    let wiring = Wiring(
      board: board, provider: provider,
      doctor: Doctor(
        provider: provider, state: { _ in URL(filePath: "/nowhere") }, modelFolders: []),
      wait: { clock.advance(bySeconds: $0) }, check: {})
    let checks = try wiring.selfTests()
    #expect(checks.map(\.name) == ["HMC5883L tests itself", "MPU6050 tests itself"])
    for check in checks { #expect(check.outcome == .passed, "\(check.name): \(check.detail)") }
  }
}
