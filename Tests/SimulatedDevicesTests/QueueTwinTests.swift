// The queues (FIFO) of the accelerometers with gyros against their register maps.

import LinearAlgebra
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite("Queues of twins")
struct QueueTwinTests {
  /// 3, -10 and 12 degrees a second; 0.5, -1 and 1.5 g.
  private let world = turning(Vector3(3, -10, 12))

  private func bytes(_ values: [Double], high: Bool = true) -> [UInt8] {
    values.flatMap { value -> [UInt8] in
      let word = UInt16(bitPattern: Int16(value.rounded()))
      let pair = [UInt8(word >> 8), UInt8(word & 0xFF)]
      return high ? pair : pair.reversed()
    }
  }

  private func mpu(_ kind: MPUTwinVariant) -> MPUTwin {
    var chip = MPUTwin(kind, TwinCore(source: world, errors: .none)).powered()
    // Awake, 1 kHz.
    chip.write(0x6B, 0x01, now: ms(0))
    chip.write(0x1A, 0x01, now: ms(0))
    return chip
  }

  @Test("an MPU queues what FIFO_EN names, in the order of the registers, high bytes first")
  func mpuOrder() {
    var chip = mpu(.mpu6050)
    chip.write(0x23, 0xF8, now: ms(50))
    chip.write(0x6A, 0x40, now: ms(50))
    #expect(chip.read(0x72, count: 2, now: ms(53.5)) == [0, 42])
    // 25 degrees are (25 - 36.53) * 340 counts.
    let sample =
      bytes([8192, -16_384, 24_576, -3920]) + bytes([393, -1310, 1572])
    #expect(chip.read(0x74, count: 14, now: ms(53.6)) == sample)
    #expect(chip.read(0x72, count: 2, now: ms(53.7)) == [0, 28])
    // The gyro's Z alone.
    chip.write(0x6A, 0x00, now: ms(53.7))
    chip.write(0x6A, 0x04, now: ms(53.7))
    chip.write(0x23, 0x10, now: ms(53.7))
    chip.write(0x6A, 0x40, now: ms(53.7))
    #expect(chip.read(0x72, count: 2, now: ms(55.2)) == [0, 4])
    #expect(chip.read(0x74, count: 2, now: ms(55.3)) == bytes([1572]))
  }

  @Test(
    "an MPU's queue is 1024 or 512 bytes, of which the oldest give way and FIFO_OFLOW tells",
    arguments: [(MPUTwinVariant.mpu6050, 1024), (.mpu6500, 512), (.mpu9250, 512)])
  func mpuFull(_ kind: MPUTwinVariant, _ size: Int) {
    var chip = mpu(kind)
    chip.write(0x23, 0x78, now: ms(50))
    chip.write(0x6A, 0x40, now: ms(50))
    #expect(chip.read(0x3A, now: ms(50.1 + Double(size / 12))) & 0x10 == 0)
    let later = ms(52.1 + Double(size / 12))
    #expect(chip.read(0x72, count: 2, now: later) == [UInt8(size >> 8), 0])
    #expect(chip.read(0x3A, now: later) & 0x10 == 0x10)
    // 512 is 42 samples and 8 bytes, 1024 85 and 4: it begins within one.
    let sample = bytes([8192, -16_384, 24_576, 393, -1310, 1572])
    #expect(chip.read(0x74, count: 12, now: later) != sample)
    // Nothing is cleared while it is on.
    chip.write(0x6A, 0x44, now: later)
    #expect(chip.read(0x72, count: 2, now: later) != [0, 0])
    chip.write(0x6A, 0x00, now: later)
    chip.write(0x6A, 0x04, now: later)
    #expect(chip.read(0x72, count: 2, now: later) == [0, 0])
  }

  @Test("with FIFO_MODE of an MPU6500 what is full takes nothing more")
  func mpuHeld() {
    var chip = mpu(.mpu6500)
    chip.write(0x1A, 0x41, now: ms(0))
    chip.write(0x23, 0x78, now: ms(50))
    chip.write(0x6A, 0x40, now: ms(50))
    #expect(chip.read(0x72, count: 2, now: ms(200)) == [1, 0xF8])
    let sample = bytes([8192, -16_384, 24_576, 393, -1310, 1572])
    #expect(chip.read(0x74, count: 12, now: ms(200)) == sample)
  }

  @Test("an ICM20948 queues accelerometer, gyro and temperature while FIFO_RST is down")
  func icm20948() {
    var chip = ICM20948Twin(source: world, errors: .none).powered()
    chip.write(0x06, 0x01, now: ms(0))
    chip.write(0x67, 0x1F, now: ms(50))
    chip.write(0x03, 0x40, now: ms(50))
    chip.write(0x68, 0x1F, now: ms(50))
    #expect(chip.read(0x70, count: 2, now: ms(60)) == [0, 0])
    chip.write(0x68, 0x00, now: ms(60))
    // 1125 Hz: two periods are 1.78 ms.
    #expect(chip.read(0x70, count: 2, now: ms(61.8)) == [0, 28])
    let sample = bytes([8192, -16_384, 24_576, 393, -1310, 1572, 4 * 333.87])
    #expect(chip.read(0x72, count: 14, now: ms(61.8)) == sample)
    #expect(chip.read(0x1B, now: ms(90)) == 0)
    #expect(chip.read(0x1B, now: ms(200)) == 1)
    #expect(chip.read(0x70, count: 2, now: ms(200)) == [2, 0])
  }

  @Test("an ICM42688P's packets, its count either way round, its threshold once, its end")
  func icm42688p() {
    var chip = ICM42688PTwin(source: world, errors: .none).powered()
    for (register, value): (UInt8, UInt8) in [
      (0x16, 0x40), (0x5F, 0x07), (0x60, 48), (0x14, 0x03), (0x64, 0x00), (0x65, 0x04),
      (0x4E, 0x0F),
    ] { chip.write(register, value, now: ms(0)) }
    // The first conversion 31 ms after the power, 1 kHz; 2000 degrees a second, 16 g.
    #expect(chip.takeEdge(at: ms(32.5)) == nil)
    #expect(chip.nextEdge(at: ms(32.5)) == ms(33))
    #expect(chip.takeEdge(at: ms(34.5)) == ms(33))
    #expect(chip.read(0x2D, now: ms(34.6)) & 0x06 == 0x04)
    #expect(chip.read(0x2E, count: 2, now: ms(34.6)) == [0, 64])
    chip.write(0x4C, 0x10, now: ms(34.6))
    #expect(chip.read(0x2E, count: 2, now: ms(34.6)) == [64, 0])
    let packet = chip.read(0x30, count: 16, now: ms(34.6))
    #expect(packet[0] == 0x68)
    #expect(Array(packet[1..<13]) == bytes([1024, -2048, 3072, 49.2, -164, 196.8]))
    // FIFO_FLUSH; an empty queue says that it is.
    chip.write(0x4B, 0x02, now: ms(34.7))
    #expect(chip.read(0x30, now: ms(34.7)) == 0x80)
    // 128 packets fit.
    #expect(chip.read(0x2D, now: ms(34.8 + 128)) & 0x02 == 0)
    #expect(chip.read(0x2D, now: ms(34.8 + 129)) & 0x02 == 0x02)
    #expect(chip.read(0x2E, count: 2, now: ms(170)) == [0, 8])
    #expect(chip.read(0x30, now: ms(170)) == 0x68)
  }

  @Test("a BMI160's frames without headers, its threshold as long as it is reached, its end")
  func bmi160() {
    var chip = BMI160Twin(source: world, errors: .none).powered()
    chip.write(0x7E, 0x11, now: ms(-200))
    chip.write(0x7E, 0x15, now: ms(-190))
    #expect(chip.read(0x45, count: 3, now: ms(-50)) == [0x88, 0x80, 0x10])
    // 800 Hz; three frames are nine words.
    for (register, value): (UInt8, UInt8) in [
      (0x40, 0x2B), (0x42, 0x2B), (0x46, 9), (0x47, 0xC0), (0x51, 0x40), (0x56, 0x40), (0x53, 0x0A),
    ] { chip.write(register, value, now: ms(0)) }
    #expect(chip.nextEdge(at: ms(0.1)) == ms(3.75))
    #expect(chip.takeEdge(at: ms(3.7)) == nil)
    #expect(chip.takeEdge(at: ms(4)) == ms(3.75))
    #expect(chip.read(0x22, count: 2, now: ms(4)) == [36, 0])
    // 16.4 counts a degree a second at 2000, 16384 a g at 2.
    let frame = bytes([49.2, -164, 196.8, 8192, -16_384, 24_576], high: false)
    #expect(chip.interruptLevel)
    #expect(chip.read(0x24, count: 12, now: ms(4)) == frame)
    #expect(!chip.interruptLevel)
    #expect(chip.read(0x24, count: 25, now: ms(4)).last == 0x80)
    // 85 frames of 12 bytes fit, and stay whole.
    #expect(chip.read(0x22, count: 2, now: ms(300)) == [0xFC, 0x03])
    #expect(chip.read(0x24, count: 12, now: ms(300)) == frame)
    chip.write(0x7E, 0xB0, now: ms(300))
    #expect(chip.read(0x22, count: 2, now: ms(300.1)) == [0, 0])
  }

  @Test("an LSM9DS1's slots at its output registers, its threshold, OVRN, bypass")
  func lsm9ds1() {
    var chip = LSM9DS1Twin(source: world, errors: .none).powered()
    for (register, value): (UInt8, UInt8) in [
      (0x22, 0x44), (0x23, 0x02), (0x0C, 0x08), (0x20, 0xC0), (0x10, 0xC0),
    ] { chip.write(register, value, now: ms(-300)) }
    chip.write(0x2E, 0xC3, now: ms(0))
    // 952 Hz, 245 degrees a second and 2 g: 8.75 mdps and 0.061 mg; X is the other way.
    let period = 1000.0 / 952
    #expect(chip.read(0x2F, now: ms(1.9 * period)) & 0xC0 == 0)
    #expect(!chip.interruptLevel)
    #expect(
      chip.read(0x2F, now: ms(4 * period)) == 0x80 | (chip.read(0x2F, now: ms(4 * period)) & 0x3F))
    #expect(chip.interruptLevel)
    let sample = bytes(
      [-3 / 8.75e-3, -10 / 8.75e-3, 12 / 8.75e-3, -0.5 / 0.061e-3, -1 / 0.061e-3, 1.5 / 0.061e-3],
      high: false)
    #expect(chip.read(0x18, count: 24, now: ms(4 * period)) == sample + sample)
    #expect(!chip.interruptLevel)
    #expect(chip.read(0x2F, now: ms(60)) == 0xE0)
    chip.write(0x2E, 0x00, now: ms(60))
    #expect(chip.read(0x2F, now: ms(60)) & 0x7F == 0)
  }
}
