// The queue of the LSM6 family: what is written.

import SensorBus
import SensorDrivers
import Testing

@Suite struct LSM6QueueTests {
  @Test("up to 208 Hz every sample is fetched by itself; above, ten milliseconds of them gather")
  func batches() {
    for (wanted, batch) in [(12.5, 1), (208.0, 1), (416, 4), (833, 8), (1667, 16), (6667, 16)] {
      #expect(LSM6(.lsm6dsox, outputRate: wanted).batch == batch)
      #expect(LSM6(.lsm6dsox, outputRate: wanted, gathers: false).batch == 1)
    }
    #expect(LSM6(.lsm6ds3, outputRate: 1667).batch == 16)
  }

  @Test("threshold, rates and continuous mode are written, and INT1 has the threshold")
  func image() {
    // AN5272, table of FIFO_CTRL3: 833 Hz is 0111. Eight samples are 16 words of 7 bytes.
    let tagged = LSM6(.lsm6dso, outputRate: 833).registerImage
    for (register, value): (UInt8, UInt8) in [
      (0x07, 16), (0x08, 0), (0x09, 0x77), (0x0A, 0x06), (0x0D, 0x08),
    ] { #expect(tagged.contains(RegisterSetting(register, value))) }
    // AN5040: 0111 in bits 6:3, and 48 words of 2 bytes.
    let plain = LSM6(.lsm6dsl, outputRate: 833).registerImage
    for (register, value): (UInt8, UInt8) in [
      (0x06, 48), (0x07, 0), (0x08, 0x09), (0x0A, 0x3E), (0x0D, 0x08),
    ] { #expect(plain.contains(RegisterSetting(register, value))) }
  }
}
