// The packets of the ICM42688P's queue.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct ICM42688PTests {
  @Test("of a packet of 16 bytes only one with both sensors is a sample")
  func packets() throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, ICM42688P(outputRate: 1000))
    // Header (6.1): accelerometer bit 6, gyro bit 5, time bits 3:2. Of a message that there is nothing, and of a packet of
    // the accelerometer alone, nothing comes.
    let body: [UInt8] = [0, 0, 0, 0, 0x20, 0, 0x0C, 0xD0, 0, 0, 0, 0, 0x19, 0x12, 0x34]
    let packets: [[UInt8]] = [[0x68], body, [0x80], body, [0x48], body]
    device.then([.read(0x2E, [0x00, 48]), .read(0x30, Array(packets.joined()))])
    expectMotion(try chip.poll())
    #expect(chip.backlog == 0)
    device.expectDone()
  }
}
