// The driver of BMP581 and BMP585: worked numbers.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct BMP58xTests {
  @Test("poll waits for the flag; 1013.25 hPa are 6484800 counts, -12.5 degrees -819200")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, BMP58x(chip: .bmp581, outputRate: 25))
    device.then([
      .read(0x27, [0x10]), .read(0x27, [0x01]),
      .read(0x1D, [0x00, 0x80, 0xF3, 0x40, 0xF3, 0x62]),
      // What the registers hold after a reset.
      .read(0x27, [0x01]), .read(0x1D, [UInt8](repeating: 0x7F, count: 6)),
    ])
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == .atmosphere(pressure: 101_325, temperature: -12.5))
    #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
    device.expectDone()
  }
}
