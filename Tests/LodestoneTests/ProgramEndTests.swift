import BoardTestSupport
import SensorBus
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// What a program leaves behind on the buses.
struct ProgramEndTests {
  @Test("a hub that stops leaves every chip asleep, those behind a bypass too")
  func sleeps() throws {
    let board = try VirtualBoard(
      "gy-91",
      edit: {
        $0
          + "simulation:\n  start: {latitude: 52.5163, longitude: 13.3777, altitude: 36}\n  seed: 3\n"
      })
    _ = board.run(3)
    // PWR_MGMT_1 SLEEP, CNTL1 MODE, ctrl_meas mode.
    let chips: [(address: UInt8, register: UInt8, mask: UInt8, asleep: UInt8)] = [
      (0x68, 0x6B, 0x40, 0x40), (0x0C, 0x0A, 0x0F, 0x00), (0x76, 0xF4, 0x03, 0x00),
    ]
    func sleeping() throws -> [Bool] {
      try chips.map { chip in
        let device = try board.simulation.registerDevice(bus: "/dev/i2c-1", address: chip.address)
        return try device.byte(chip.register) & chip.mask == chip.asleep
      }
    }
    #expect(try sleeping() == [false, false, false])
    board.hub.stop()
    board.runner.run(until: board.clock.now().advanced(bySeconds: 0.01))
    #expect(try sleeping() == [true, true, true])
  }
}
