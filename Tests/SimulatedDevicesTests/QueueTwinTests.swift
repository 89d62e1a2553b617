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

  private func mpu(_ kind: MPUTwin.Chip) -> MPUTwin {
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
    arguments: [(MPUTwin.Chip.mpu6050, 1024), (.mpu6500, 512), (.mpu9250, 512)])
  func mpuFull(_ kind: MPUTwin.Chip, _ size: Int) {
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
}
