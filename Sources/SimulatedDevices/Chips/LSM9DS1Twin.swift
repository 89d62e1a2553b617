// The accelerometer and gyroscope of the ST LSM9DS1 (datasheet DocID025715 rev. 3). Its magnetometer is LIS3MDLTwin's.

import LinearAlgebra

/// The twin of the accelerometer and gyroscope of an LSM9DS1 over I2C, its interrupt pin being INT1_A/G. Interrupt
/// generators hold their configuration and do nothing; of the FIFO there is continuous mode.
///
/// What acts on it is given in the frame of the magnetometer in the same package (figure 1: Y and Z are the same arrows,
/// X points the other way, which leaves these axes left-handed). Each gyro axis counts by the right hand about its own
/// arrow.
package struct LSM9DS1Twin: ResettingTwin, QueueingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x0F
  /// What it stands on.
  package var core: TwinCore
  /// Seconds from power to the first answer: ST's example waits so long.
  package let startUpTime = 0.02

  private var registers = [UInt8](repeating: 0, count: 128)
  private var linear = AxisOutputs()
  private var angular = AxisOutputs()
  private var force = SIMD3<Int16>()
  private var rotation = SIMD3<Int16>()
  private var temperature: Int16 = 0
  /// 32 slots for both sensors (3.5).
  private var queue = ConversionQueue(capacity: 32 * 12)
  /// When the gyro is up, nanoseconds.
  private var angularFrom = Int64.max

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.core = core }

  /// Reset values: the datasheet's table 21.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x0F] = 0x68
    (registers[0x1E], registers[0x1F], registers[0x22]) = (0x38, 0x38, 0x04)
    core.schedule.stop()
    linear = AxisOutputs()
    angular = AxisOutputs()
    angularFrom = .max
    queue.empty()
    core.pin = InterruptPin()
  }

  /// The register that a sub-address names.
  package func firstRegister(_ subaddress: UInt8) -> UInt8 { subaddress & 0x7F }

  /// The register that follows in the same transfer, by CTRL_REG8 IF_ADD_INC.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    guard registers[0x22] & 0x04 != 0 else { return register }
    // With both sensors on, a burst from OUT_X_G goes on to OUT_X_XL and round again (3.2).
    switch register {
    case 0x1D where isAngularOn && subaddress & 0x7F == 0x18: return 0x28
    case 0x2D where isAngularOn && subaddress & 0x7F == 0x18: return 0x18
    default: return (register &+ 1) & 0x7F
    }
  }

  private var blockUpdate: Bool { registers[0x22] & 0x40 != 0 }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    defer { updatePin(at: core.now) }
    switch register {
    case 0x15: return UInt8(truncatingIfNeeded: temperature)
    case 0x16: return UInt8(truncatingIfNeeded: temperature >> 8)
    // STATUS_REG is there twice.
    case 0x17, 0x27: return (linear.ready != 0 ? 0x01 : 0) | (angular.ready != 0 ? 0x02 : 0)
    // FTH, OVRN, FSS5:0.
    case 0x2F:
      return (slots >= max(1, threshold) ? 0x80 : 0) | (queue.hasOverrun ? 0x40 : 0)
        | UInt8(slots)
    case 0x18...0x1D where isQueueing, 0x28...0x2D where isQueueing: return queue.next() ?? 0
    case 0x18...0x1D:
      return angular.byte(Int(register) - 0x18, blockUpdate: blockUpdate, clearsWhole: true)
    case 0x28...0x2D:
      return linear.byte(Int(register) - 0x28, blockUpdate: blockUpdate, clearsWhole: true)
    default: return registers[Int(register)]
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    defer { updatePin(at: core.now) }
    switch register {
    case 0x10, 0x20:
      let old = registers[Int(register)]
      registers[Int(register)] = register == 0x10 ? value & 0xFB : value
      if old & 0xE0 != value & 0xE0 { restart() }
    case 0x22: if value & 0x01 != 0 { reset() } else { registers[0x22] = value & 0x7E }
    // Writable registers of table 21; the rest is read-only or reserved.
    case 0x23, 0x2E:
      registers[Int(register)] = value
      // Bypass mode empties it.
      if !isQueueing { queue.empty() }
    case 0x04...0x0D, 0x11...0x13, 0x1E, 0x1F, 0x21, 0x24, 0x30...0x37:
      registers[Int(register)] = value
    default: break
    }
  }

  /// INT1_CTRL; CTRL_REG8 H_LACTIVE.
  private mutating func updatePin(at time: Int64) {
    let raised =
      registers[0x0C] & 0x01 != 0 && linear.ready != 0
      || registers[0x0C] & 0x02 != 0 && angular.ready != 0
      || registers[0x0C] & 0x08 != 0 && isQueueing && slots >= max(1, threshold)
    core.pin.set(raised != (registers[0x22] & 0x20 != 0), at: time)
  }

  private var isAngularOn: Bool { registers[0x10] & 0xE0 != 0 }
  private var isLinearOn: Bool { isAngularOn || registers[0x20] & 0xE0 != 0 }

  /// Conversions a second: ODR_G while the gyro is on (both go by it), else ODR_XL; 0 for power-down.
  private var rate: Double {
    let code = Int((isAngularOn ? registers[0x10] : registers[0x20]) >> 5)
    let rates =
      isAngularOn ? [0, 14.9, 59.5, 119, 238, 476, 952, 0] : [0, 10, 50, 119, 238, 476, 952, 0]
    return rates[code]
  }

  private mutating func restart() {
    if !isAngularOn {
      angularFrom = .max
    } else if angularFrom == .max {
      // The datasheet gives no figure; its forerunner's (L3GD20) 250 ms.
      angularFrom = core.now &+ 250_000_000
    }
    core.convert(every: 1 / rate)
  }

  /// m/s^2 a count by FS_XL.
  private var linearScale: Double {
    [0.061, 0.732, 0.122, 0.244][Int(registers[0x20] >> 3 & 3)] * 1e-3 * 9.80665
  }

  /// rad/s a count by FS_G, of which 10 is not available.
  private var angularScale: Double {
    [8.75, 17.5, 35, 70][Int(registers[0x10] >> 3 & 3)] * 1e-3 * Double.pi / 180
  }

  /// CTRL_REG10 ST_XL and ST_G. ST's example lets 70 to 1500 mg and 200 to 800 degrees a second at 2000 pass.
  private var linearDeflection: Vector3 {
    guard registers[0x24] & 0x01 != 0 else { return .zero }
    return (tampering.selfTestShare * 9.80665e-3) * Vector3(400, 450, 380)
  }

  private var angularDeflection: Vector3 {
    guard registers[0x24] & 0x04 != 0 else { return .zero }
    return (tampering.selfTestShare * Double.pi / 180) * Vector3(420, 390, 450)
  }

  /// CTRL_REG9 FIFO_EN; FMODE 110.
  var isQueueing: Bool { registers[0x23] & 0x02 != 0 && registers[0x2E] & 0xE0 == 0xC0 }

  /// FTH4:0.
  private var threshold: Int { Int(registers[0x2E] & 0x1F) }

  private var slots: Int { queue.level / 12 }

  /// Takes note of the conversions that are complete by then.
  mutating func finish(until time: Int64) {
    guard let done = core.schedule.take(until: time) else { return }
    let middle = done.last &- core.schedule.period / 2
    let isUp = done.last >= angularFrom
    if !tampering.isFrozen {
      // Not in the datasheet: as of a later relative (LSM6DS3), 90 micro-g and 7 millidegrees a second a root hertz.
      let sigma = 90e-6 * 9.80665 * (rate / 2).squareRoot()
      let mirror = Vector3(-1, 1, 1)
      let measured =
        mirror * core.force(at: middle, sigma: sigma, stream: 4, done) + linearDeflection
      let turn = 7e-3 * Double.pi / 180 * (rate / 3).squareRoot()
      let turned = mirror * core.rate(at: middle, sigma: turn, stream: 5, done) + angularDeflection
      for axis in 0..<3 {
        force[axis] = saturated(measured[axis] / linearScale)
        if isUp { rotation[axis] = saturated(turned[axis] / angularScale) }
      }
      // 16 counts a degree, 0 at 25.
      temperature = saturated((core.stimulus(at: middle).temperature - 25) * 16)
    }
    let frozen = tampering.isFrozen
    if isLinearOn {
      linear.load(force, count: done.count, blockUpdate: blockUpdate, frozen: frozen)
    }
    if isUp { angular.load(rotation, count: done.count, blockUpdate: blockUpdate, frozen: frozen) }
    if isQueueing {
      queue.push(
        InertialCounts.littleEndian(rotation) + InertialCounts.littleEndian(force), .samples)
    }
    updatePin(at: done.first)
  }

  /// What INT1_CTRL has put on the pin.
  package var nextRise: Int64 {
    if registers[0x0C] & 0x03 != 0 { return core.schedule.next }
    guard registers[0x0C] & 0x08 != 0, isQueueing else { return .max }
    return queue.missing(to: 12 * max(1, threshold), size: 12).map(rise) ?? .max
  }
}

extension TwinDescription {
  /// Zero-g 90 mg; zero rate 30 degrees a second at 2000. What temperature does is not in the datasheet: as of a
  /// later relative (LSM6DS3).
  static let lsm9ds1Inertial = TwinDescription("LSM9DS1-AG", make: LSM9DS1Twin.init) {
    random, bias in
    .inertial(
      bias: bias * 0.09, perKelvin: 0.5e-3, scale: 0.003, gyroscope: (30, 0.05, 0.005),
      clock: 0.015, &random)
  }
}
