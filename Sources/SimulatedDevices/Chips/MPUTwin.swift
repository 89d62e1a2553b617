// InvenSense MPU-6050 (RM-MPU-6000A-00 rev. 4.2, PS-MPU-6000A-00 rev. 3.4), MPU-6500 (RM-MPU-6500A-00 rev. 2.1) and
// MPU-9250 (RM-MPU-9250A-00 rev. 1.6, PS-MPU-9250A-01 rev. 1.0): register map, filters, self-test, interrupt pin.

import LinearAlgebra
import SensorTypes

/// The twin of an MPU6050, MPU6500 or of the inertial half of an MPU9250 over I2C. Motion detection and I2C master hold
/// their configuration and do nothing; of the FIFO there is what the chip itself measures.
package struct MPUTwin: ResettingTwin, QueueingTwin, PassThroughTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x75
  /// What it stands on.
  package var core: TwinCore

  private let chip: MPUTwinVariant
  /// The trim of the self-test: gyro, then accelerometer.
  private let trim: [UInt8]
  private var registers = [UInt8](repeating: 0, count: 128)
  private var outputs = InertialCounts()
  private var flag = ReadyFlag()
  /// 1024 bytes (PS-MPU-6000A-00, 7.17), 512 of the others.
  private var queue: ConversionQueue
  /// FIFO_OFLOW_INT.
  private var hasOverflowed = false
  /// Nanoseconds; until then the chip is busy with its reset.
  private var busyUntil: Int64 = 0

  /// Makes a chip that is not powered yet: call `powerOn`. `trim` are the six codes of its self-test, of the gyro
  /// first: 1 to 31 in an MPU6050, 1 to 255 in the others.
  package init(_ chip: MPUTwinVariant, _ core: TwinCore, trim: [UInt8]? = nil) {
    self.chip = chip
    self.core = core
    queue = ConversionQueue(capacity: chip == .mpu6050 ? 1024 : 512)
    self.trim =
      trim ?? (chip == .mpu6050 ? [14, 17, 15, 16, 18, 21] : [112, 118, 115, 54, 58, 50])
  }

  /// An MPU6050.
  package init(_ core: TwinCore) { self.init(.mpu6050, core) }

  /// Start-up time for register read and write, typical 11 ms (PS-MPU-9250A-01 table 3).
  package let startUpTime = 0.011

  /// Reset values: the register maps' notes. PWR_MGMT_1 is 0x40 in an MPU6050 and 0x01 in an MPU9250: awake.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x6B] = chip == .mpu6050 ? 0x40 : 0x01
    if chip == .mpu6050 {
      // XA_TEST4:2 and XG_TEST4:0, ...; XA_TEST1:0, YA_TEST1:0, ZA_TEST1:0 (registers 13 to 16).
      for axis in 0..<3 {
        registers[0x0D + axis] = (trim[3 + axis] & 0x1C) << 3 | trim[axis]
        registers[0x10] |= (trim[3 + axis] & 0x03) << UInt8(4 - 2 * axis)
      }
    } else {
      for axis in 0..<3 {
        registers[axis] = trim[axis]
        registers[0x0D + axis] = trim[3 + axis]
      }
    }
    (outputs, flag) = (InertialCounts(), ReadyFlag())
    clearQueue()
    core.pin = InterruptPin()
    restart()
  }

  /// BYPASS_EN, while the chip's own master is off (register 55).
  package var isBypassOpen: Bool { registers[0x37] & 0x02 != 0 && registers[0x6A] & 0x20 == 0 }

  /// The pointer stays within seven bits.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    // FIFO_R_W does not move on.
    register == 0x74 ? register : (register &+ 1) & 0x7F
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    // INT_ANYRD_2CLEAR: any read takes the interrupt down, otherwise that of the status.
    defer {
      if register == 0x3A || registers[0x37] & 0x10 != 0 {
        flag.fall(pin, at: core.now, &core.pin)
      }
    }
    switch register {
    case 0x3A:
      defer { hasOverflowed = false }
      return (flag.isUp ? 0x01 : 0) | (hasOverflowed ? 0x10 : 0)
    case 0x3B...0x40: return InertialCounts.bigEndian(outputs.force, Int(register) - 0x3B)
    case 0x41...0x42: return InertialCounts.bigEndian(outputs.temperature, Int(register) - 0x41)
    case 0x43...0x48: return InertialCounts.bigEndian(outputs.rate, Int(register) - 0x43)
    case 0x6B: return registers[0x6B] | (core.now < busyUntil ? 0x80 : 0)
    case 0x72: return UInt8(queue.level >> 8)
    case 0x73: return UInt8(queue.level & 0xFF)
    // An empty one gives the last byte again (register 116 of an MPU6050). It is not read while it is switched off.
    case 0x74: return (isQueueing ? queue.next() : nil) ?? queue.last
    case 0x75:
      switch chip {
      case .mpu6050: return 0x68
      case .mpu6500: return 0x70
      case .mpu9250: return 0x71
      }
    default: return register < 128 ? registers[Int(register)] : 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    guard core.now >= busyUntil else { return }
    switch register {
    case 0x6B:
      if value & 0x80 != 0 {
        reset()
        // How long it takes is not said; a few milliseconds.
        busyUntil = core.now &+ 5_000_000
      } else {
        registers[0x6B] = value
        restart()
      }
    case 0x19, 0x1A, 0x1B:
      registers[Int(register)] = value
      restart()
    case 0x1D where chip == .mpu6050: break
    case 0x37:
      registers[0x37] = value
      flag.drive(pin, at: core.now, &core.pin)
    // FIFO_RESET, I2C_MST_RESET and SIG_COND_RESET clear themselves.
    case 0x6A:
      registers[0x6A] = value & 0xF0
      // FIFO_RESET works while FIFO_EN is 0.
      if value & 0x44 == 0x04 { clearQueue() }
    case 0x13...0x1F, 0x23...0x35, 0x38, 0x63...0x69, 0x6C, 0x77...0x7E:
      registers[Int(register)] = value
    default: break
    }
  }

  /// LATCH_INT_EN and ACTL.
  private var pin: ReadyFlag.Pin {
    ReadyFlag.Pin(
      raises: registers[0x38] & 0x01 != 0, latches: registers[0x37] & 0x20 != 0,
      isActiveLow: registers[0x37] & 0x80 != 0)
  }

  private var filter: Int { Int(registers[0x1A] & 0x07) }

  /// Sample rate: 1 kHz, divided, while the filter is one of 1 to 6 and is not passed by; else the gyro's 8 kHz (which an
  /// MPU6050 divides too) or 32 kHz.
  private var sampleRate: Double {
    let isFiltered = (1...6).contains(filter)
    let divisor = Double(registers[0x19]) + 1
    if chip == .mpu6050 { return (isFiltered ? 1000 : 8000) / divisor }
    if registers[0x1B] & 0x03 != 0 { return 32_000 }
    return isFiltered ? 1000 / divisor : 8000
  }

  private mutating func restart() {
    guard registers[0x6B] & 0x40 == 0 else { return core.schedule.stop() }
    // From sleep the gyro takes 35 ms (PS-MPU-9250A-01 table 1), 30 of an MPU6050.
    core.convert(every: 1 / sampleRate, settling: 0.035)
  }

  /// Bandwidth (Hz) and delay (s) of the accelerometer and of the gyro: register 26, and 29.
  private var responses: (force: (band: Double, delay: Double), rate: (band: Double, delay: Double))
  {
    if chip == .mpu6050 {
      let force: [(Double, Double)] = [
        (260, 0), (184, 2.0), (94, 3.0), (44, 4.9), (21, 8.5), (10, 13.8), (5, 19.0), (260, 0),
      ]
      let rate: [(Double, Double)] = [
        (256, 0.98), (188, 1.9), (98, 2.8), (42, 4.8), (20, 8.3), (10, 13.4), (5, 18.6),
        (256, 0.98),
      ]
      return (force[filter], rate[filter])
    }
    let force: [(Double, Double)] = [
      (218.1, 1.88), (218.1, 1.88), (99, 2.88), (44.8, 4.88), (21.2, 8.87), (10.2, 16.83),
      (5.05, 32.48), (420, 1.38),
    ]
    let rate: [(Double, Double)] = [
      (250, 0.97), (184, 2.9), (92, 3.9), (41, 5.9), (20, 9.9), (10, 17.85), (5, 33.48),
      (3600, 0.17),
    ]
    let code = Int(registers[0x1D] & 0x07)
    return (
      registers[0x1D] & 0x08 != 0 ? (1046, 0.503) : force[code],
      registers[0x1B] & 0x03 != 0 ? (8800, 0.064) : rate[filter]
    )
  }

  /// What a self-test of a sound chip adds, in g and in degrees a second: what its trim says (MPU6050: 4.1; others:
  /// AN-MPU-9250A-03), each axis for itself.
  private func response(_ axis: Int) -> (force: Double, rate: Double) {
    let (angular, linear) = (Double(trim[axis]), Double(trim[3 + axis]))
    if chip == .mpu6050 {
      let sign: Double = axis == 1 ? -1 : 1
      return (
        0.34 * pow(0.92 / 0.34, (linear - 1) / 30), sign * 25 * pow(1.046, angular - 1)
      )
    }
    return (2620 * pow(1.01, linear - 1) / 16_384, 2620 * pow(1.01, angular - 1) / 131)
  }

  /// FIFO_EN of USER_CTRL: its registers keep what is there when it is off.
  var isQueueing: Bool { registers[0x6A] & 0x40 != 0 }

  private mutating func clearQueue() {
    queue.empty()
    hasOverflowed = false
  }

  /// Takes note of the conversions that are complete by then.
  mutating func finish(until time: Int64) {
    guard let done = core.schedule.take(until: time) else { return }
    if !tampering.isFrozen { convert(done) }
    flag.rise(done, pin, &core.pin)
    if isQueueing, registers[0x23] & 0xF8 != 0 { push() }
  }

  /// In the order of the registers, what FIFO_EN names: accelerometer, temperature, the gyro's axes.
  private mutating func push() {
    let chosen = registers[0x23]
    var sample = chosen & 0x08 != 0 ? InertialCounts.bigEndian(outputs.force) : []
    if chosen & 0x80 != 0 {
      sample += (0..<2).map { InertialCounts.bigEndian(outputs.temperature, $0) }
    }
    for axis in 0..<3 where chosen & 0x40 >> UInt8(axis) != 0 {
      sample += (0..<2).map { InertialCounts.bigEndian(outputs.rate[axis], $0) }
    }
    // FIFO_MODE of CONFIG, which an MPU6050 has not: what is full takes nothing more.
    let isHeld = chip != .mpu6050 && registers[0x1A] & 0x40 != 0
    queue.push(sample, isHeld ? .itself : .bytes)
    hasOverflowed = hasOverflowed || queue.hasOverrun
  }

  private mutating func convert(_ done: Conversions) {
    let responses = responses
    // Noise a root hertz: 400 micro-g and 5 millidegrees a second, 300 and 10 of the others.
    let noise = chip == .mpu6050 ? (force: 400e-6, rate: 5e-3) : (force: 300e-6, rate: 10e-3)
    var force = InertialChannel.force(
      noise: noise.force * responses.force.band.squareRoot(),
      countsPerG: [16_384, 8192, 4096, 2048][Int(registers[0x1C] >> 3 & 3)])
    var rate = InertialChannel.rate(
      noise: noise.rate * responses.rate.band.squareRoot(),
      countsPerDegree: [131, 65.5, 32.8, 16.4][Int(registers[0x1B] >> 3 & 3)])
    for axis in 0..<3 {
      let response = response(axis)
      let bit = UInt8(0x80) >> UInt8(axis)
      if registers[0x1C] & bit != 0 {
        force.deflection[axis] = response.force * tampering.selfTestShare[axis] * ChipErrors.g
      }
      if registers[0x1B] & bit != 0 {
        rate.deflection[axis] = response.rate * tampering.selfTestShare[axis] * ChipErrors.degree
      }
    }
    let moment = done.last &- Int64(responses.rate.delay * 1e6)
    core.convert(at: moment, force: force, rate: rate, streams: 30, done, into: &outputs)
    let temperature = core.stimulus(at: moment).temperature
    outputs.temperature = saturated(
      chip == .mpu6050 ? (temperature - 36.53) * 340 : (temperature - 21) * 333.87)
  }

  /// A pin that is not told to does not rise.
  package var nextRise: Int64 { pin.raises ? core.schedule.next : .max }
}

/// Which chip it is.
package enum MPUTwinVariant: Sendable, Hashable {
  /// One filter for both sensors; asleep after power-on.
  case mpu6050
  /// A filter for each.
  case mpu6500
  /// The same with another identity.
  case mpu9250
}

extension TwinDescription {
  /// PS-MPU-6000A-00: zero-g 50 mg (80 of Z), zero rate 20 degrees a second.
  static let mpu6050 = mpu("MPU6050", .mpu6050, zeroG: 0.05, zeroRate: 20, perKelvin: 0.8e-3)
  static let mpu6500 = mpu("MPU6500", .mpu6500, zeroG: 0.06, zeroRate: 5, perKelvin: 0.64e-3)
  /// PS-MPU-9250A-01: zero-g 60 mg (80 of Z), zero rate 5 degrees a second.
  static let mpu9250 = mpu(
    "MPU9250", .mpu9250, zeroG: 0.06, zeroRate: 5, perKelvin: 1.5e-3, carries: "AK8963")

  private static func mpu(
    _ name: String, _ chip: MPUTwinVariant, zeroG: Double, zeroRate: Double, perKelvin: Double,
    carries: String? = nil
  ) -> TwinDescription {
    TwinDescription(name, carries: carries, make: { MPUTwin(chip, $0) }) { random, bias in
      .inertial(
        bias: bias * zeroG, perKelvin: bias * perKelvin, scale: 0.01,
        gyroscope: (zeroRate, 0.02, 0.01),
        clock: 0.01, &random)
    }
  }
}
