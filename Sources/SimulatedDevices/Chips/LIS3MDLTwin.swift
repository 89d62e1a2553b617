// ST LIS3MDL magnetometer (datasheet DocID024204 rev 6), and that of the LSM9DS1 (DocID025715 rev 3): register map,
// data-ready, ranges and rates.

import LinearAlgebra
import SensorTypes

/// The twin of a LIS3MDL over I2C, or of the magnetometer in an LSM9DS1.
package struct LIS3MDLTwin: ResettingTwin, FlagIncrementing {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x0F
  /// What it stands on.
  package var core: TwinCore
  private let model: LIS3MDLTwinVariant

  private var registers = [UInt8](repeating: 0, count: 128)
  private var outputs = AxisOutputs()
  private var temperature: Int16 = 0
  private var rangeExceeded = false

  /// Makes a LIS3MDL that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, model: .lis3mdl) }

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore, model: LIS3MDLTwinVariant) {
    self.core = core
    self.model = model
  }

  /// The datasheet gives no figure; ST's application note AN4602 lets the host wait some milliseconds.
  package let startUpTime = 0.005

  /// Reset values: the datasheet's register address map.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x0F] = 0x3D
    registers[0x20] = 0x10
    registers[0x22] = 0x03
    // An LSM9DS1 has been seen with 0xE8, too.
    registers[0x30] = model == .lis3mdl ? 0xE8 : 0x08
    core.schedule.stop()
    outputs = AxisOutputs()
    core.pin = InterruptPin()
    rangeExceeded = false
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    // CTRL_REG4 BLE: most significant byte at the lower address.
    if let byte = outputs.byte(
      at: register, blockUpdate: blockUpdate, isBigEndian: registers[0x23] & 0x02 != 0)
    {
      core.pin.set(outputs.ready & 0x08 != 0, at: core.now)
      return byte
    }
    switch register {
    case 0x2E: return UInt8(truncatingIfNeeded: temperature)
    case 0x2F: return UInt8(truncatingIfNeeded: temperature >> 8)
    case 0x31: return rangeExceeded ? 0x02 : 0x00
    default: return registers[Int(register)]
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x05...0x0A, 0x32: registers[Int(register)] = value
    case 0x20:
      registers[0x20] = value
      restart()
    case 0x21:
      if value & 0x04 != 0 {
        reset()
      } else {
        // REBOOT (bit 3) clears itself once the trim values are loaded again.
        registers[0x21] = value & 0x60
      }
    case 0x22:
      registers[0x22] = value & 0x27
      restart()
    case 0x23: registers[0x23] = value & 0x0E
    case 0x24: registers[0x24] = value & 0xC0
    case 0x30: registers[0x30] = value & 0xE7 | 0x08
    case 0x33: registers[0x33] = value & 0x7F
    default: break
    }
  }

  private var blockUpdate: Bool { registers[0x24] & 0x40 != 0 }

  /// Conversions a second at FAST_ODR by operating mode (CTRL_REG1 OM): the chip's own averaging time.
  private var fastRate: Double {
    switch registers[0x20] >> 5 & 3 {
    case 0: 1000
    case 1: 560
    case 2: 300
    default: 155
    }
  }

  /// Output data rate, Hz: CTRL_REG1 DO and FAST_ODR, CTRL_REG3 LP.
  private var rate: Double {
    if registers[0x22] & 0x20 != 0 { return 0.625 }
    if registers[0x20] & 0x02 != 0 { return fastRate }
    return 0.625 * Double(1 << (registers[0x20] >> 2 & 7))
  }

  private mutating func restart() {
    switch registers[0x22] & 0x03 {
    case 0: core.convert(every: 1 / rate)
    case 1: core.schedule.single(at: core.now, duration: 1 / fastRate)
    default: core.schedule.stop()
    }
  }

  /// Counts per gauss by full scale (sensor characteristics; the LSM9DS1's are given as milligauss a count).
  private var countsPerGauss: Double {
    let scale = Int(registers[0x21] >> 5 & 3)
    return switch model {
    case .lis3mdl: [6842, 3421, 2281, 1711][scale]
    case .lsm9ds1: 1000 / [0.14, 0.29, 0.43, 0.58][scale]
    }
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if registers[0x22] & 0x03 == 1 { registers[0x22] |= 0x03 }
    if !tampering.isFrozen { convert(done) }
    outputs.load(pending, count: done.count, blockUpdate: blockUpdate, frozen: tampering.isFrozen)
    core.pin.set(true, at: done.first)
  }

  private var pending = SIMD3<Int16>()

  private mutating func convert(_ done: Conversions) {
    // Sensor characteristics: 3.2 mgauss on x and y, 4.1 on z in ultra-high-performance mode; the shorter averaging
    // of the other modes is taken as white noise.
    let sigma = (fastRate / 155).squareRoot() * Vector3(0.32, 0.32, 0.41)
    let middle = done.last &- Int64(0.5e9 / fastRate)
    var field = core.field(at: middle, sigma: sigma, stream: 1, done)
    // Self-test: the datasheet wants a change of 1 to 3 gauss on x and y and 0.1 to 1 on z.
    if registers[0x20] & 0x01 != 0 {
      field += tampering.selfTestShare * Vector3(200, 200, 50)
    }
    let counts = field * 0.01 * countsPerGauss
    rangeExceeded = false
    for axis in 0..<3 {
      let offset = Int16(
        bitPattern: UInt16(registers[0x05 + 2 * axis]) | UInt16(registers[0x06 + 2 * axis]) << 8)
      pending[axis] = saturated(counts[axis] - Double(offset))
      if abs(counts[axis]) > 32767 { rangeExceeded = true }
    }
    if registers[0x20] & 0x80 != 0 {
      temperature = saturated((core.stimulus(at: middle).temperature - 25) * 8)
    }
  }
}

/// Which of the two it is.
package enum LIS3MDLTwinVariant: Sendable, Hashable {
  /// The chip of its own.
  case lis3mdl
  /// The half of the LSM9DS1.
  case lsm9ds1
}

extension TwinDescription {
  static let lis3mdl = lis3mdl("LIS3MDL", .lis3mdl)
  static let lsm9ds1Magnetometer = lis3mdl("LSM9DS1-M", .lsm9ds1)

  /// Zero-gauss level: 1 gauss; a tenth is left for one that is degaussed.
  private static func lis3mdl(_ name: String, _ model: LIS3MDLTwinVariant) -> TwinDescription {
    TwinDescription(
      name, isMagnetometer: true, make: { LIS3MDLTwin($0, model: model) }
    ) { random, _ in
      .magnetometer(bias: 10, perKelvin: 0.015, scale: 0.01, clock: 0.02, &random)
    }
  }
}
