// TDK InvenSense ICM-42688-P (DS-000347): bank 0, rates, filters, self-test, interrupt pin.

import LinearAlgebra
import SensorTypes

/// The twin of an ICM42688P over I2C. Of the other banks only the trim is there; APEX and the anti-alias filter hold their
/// configuration and do nothing. Of the FIFO there are packets of 16 bytes, counted in bytes.
package struct ICM42688PTwin: ResettingTwin, QueueingTwin {
  /// The register that tells which chip it is.
  package var identityRegister: UInt8? { registers[0x76] == 0 ? 0x75 : nil }
  /// What it stands on.
  package var core: TwinCore

  /// The trim of the self-test: gyro, then accelerometer.
  private let trim: [UInt8]
  private var registers = [UInt8](repeating: 0, count: 128)
  private var outputs = InertialCounts()
  private var flag = ReadyFlag()
  /// 2048 bytes (6.1).
  private var queue = ConversionQueue(capacity: 2048)
  /// RESET_DONE_INT, FIFO_THS_INT and FIFO_FULL_INT, until they are read.
  private var flags: UInt8 = 0

  /// Makes a chip that is not powered yet: call `powerOn`.
  ///
  /// `trim` are the six codes of its self-test, of the gyro first, each 1 to 255.
  package init(_ core: TwinCore, trim: [UInt8]) {
    self.core = core
    self.trim = trim
  }

  /// A chip with a trim of the size that real ones have.
  package init(_ core: TwinCore) { self.init(core, trim: [114, 110, 118, 52, 57, 49]) }

  /// From supply to register access 1 ms (table 3).
  package let startUpTime = 0.001

  /// What no conversion has filled is invalid.
  private static let invalid = InertialCounts(
    force: SIMD3(repeating: -32768), rate: SIMD3(repeating: -32768), temperature: -32768)

  /// Reset values: the register map.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    for (register, value): (Int, UInt8) in [
      (0x13, 0x05), (0x4C, 0x30), (0x4D, 0x91), (0x4F, 0x06), (0x50, 0x06), (0x51, 0x16),
      (0x52, 0x11), (0x53, 0x0D), (0x64, 0x10), (0x65, 0x10), (0x75, 0x47),
    ] { registers[register] = value }
    outputs = Self.invalid
    flag = ReadyFlag()
    queue.empty()
    // INT_STATUS 0x10: after power-on too.
    flags = 0x10
    core.pin = InterruptPin()
    core.schedule.stop()
  }

  /// FIFO_DATA does not move on.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    register == 0x30 ? register : register &+ 1
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch (registers[0x76] & 7, register) {
    case (0, _), (_, 0x76): break
    case (1, 0x5F...0x61): return trim[Int(register) - 0x5F]
    case (2, 0x3B...0x3D): return trim[Int(register) - 0x3B + 3]
    default: return 0
    }
    // SENSOR_DATA_ENDIAN.
    let turn = registers[0x4C] & 0x10 != 0 ? 0 : 1
    switch register {
    case 0x1D...0x1E:
      return InertialCounts.bigEndian(outputs.temperature, Int(register) - 0x1D + turn)
    case 0x1F...0x24: return InertialCounts.bigEndian(outputs.force, (Int(register) - 0x1F) ^ turn)
    case 0x25...0x2A: return InertialCounts.bigEndian(outputs.rate, (Int(register) - 0x25) ^ turn)
    case 0x2D:
      // UI_DRDY_INT_CLEAR 0: on reading the status.
      defer {
        flag.fall(pin, at: core.now, &core.pin)
        flags = 0
      }
      return (flag.isUp ? 0x08 : 0) | flags
    // FIFO_COUNT_ENDIAN.
    case 0x2E...0x2F:
      let isHigh = (register == 0x2E) == (registers[0x4C] & 0x20 != 0)
      return UInt8(isHigh ? queue.level >> 8 : queue.level & 0xFF)
    // HEADER_MSG says that there is nothing.
    case 0x30: return queue.next() ?? 0x80
    default: return register < 128 ? registers[Int(register)] : 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    guard registers[0x76] & 7 == 0 || register == 0x76 else { return }
    switch register {
    // SOFT_RESET_CONFIG clears itself.
    case 0x11: if value & 0x01 != 0 { reset() } else { registers[0x11] = value }
    // FIFO_FLUSH clears itself.
    case 0x4B: if value & 0x02 != 0 { queue.empty() }
    case 0x14:
      registers[0x14] = value
      flag.drive(pin, at: core.now, &core.pin)
    case 0x4E...0x50:
      let before = (registers[0x4E], sampleRate)
      registers[Int(register)] = value
      if before != (registers[0x4E], sampleRate) { restart(from: before.0) }
    case 0x13, 0x16, 0x4C...0x4D, 0x51...0x57, 0x5F...0x66, 0x68...0x69, 0x70, 0x76:
      registers[Int(register)] = value
    default: break
    }
  }

  /// UI_DRDY_INT1_EN and INT_ASYNC_RESET; INT1_MODE and INT1_POLARITY.
  private var pin: ReadyFlag.Pin {
    ReadyFlag.Pin(
      raises: registers[0x65] & 0x08 != 0 && registers[0x64] & 0x10 == 0,
      latches: registers[0x14] & 0x04 != 0, isActiveLow: registers[0x14] & 0x01 == 0)
  }

  /// GYRO_MODE: low noise.
  private var isAngularOn: Bool { registers[0x4E] & 0x0C == 0x0C }
  /// ACCEL_MODE: low power or low noise.
  private var isLinearOn: Bool { registers[0x4E] & 0x02 != 0 }

  /// Of the gyro by GYRO_ODR, Hz, with which the accelerometer is taken to go, or of the accelerometer alone by ACCEL_ODR.
  /// 0 for a code that is reserved.
  private var sampleRate: Double {
    switch registers[isAngularOn ? 0x4F : 0x50] & 0x0F {
    case 0x01: 32_000
    case 0x02: 16_000
    case 0x03: 8000
    case 0x04: 4000
    case 0x05: 2000
    case 0x06: 1000
    case 0x07: 200
    case 0x08: 100
    case 0x09: 50
    case 0x0A: 25
    case 0x0B: 12.5
    case 0x0F: 500
    default: 0
    }
  }

  /// - Parameter power: What PWR_MGMT0 was.
  private mutating func restart(from power: UInt8) {
    guard isAngularOn || isLinearOn, sampleRate > 0 else { return core.schedule.stop() }
    // Start-up times (tables 1 and 2): 30 ms of the gyro, for which the accelerometer is taken to wait, and its own 10.
    let settle =
      isAngularOn && (power & 0x0C != 0x0C || core.schedule.isIdle)
      ? 0.03 : core.schedule.isIdle ? 0.01 : 0
    let period = core.period(1 / sampleRate)
    core.schedule.start(at: core.now, firstAfter: settle + period, every: period)
  }

  /// Of a sensor's filter, Hz: GYRO_UI_FILT_BW or ACCEL_UI_FILT_BW.
  private func band(_ code: UInt8) -> Double {
    guard code > 0 else { return sampleRate / 2 }
    let share: [Double] = [4, 4, 5, 8, 10, 16, 20, 40]
    return max(400, sampleRate) / share[Int(code & 7)]
  }

  /// FIFO_MODE, with both sensors in it (FIFO_CONFIG1).
  var isQueueing: Bool { registers[0x16] & 0xC0 != 0 && registers[0x5F] & 0x03 == 0x03 }

  /// FIFO_WM, bytes.
  private var threshold: Int { Int(registers[0x60]) | Int(registers[0x61] & 0x0F) << 8 }

  /// FIFO_THS_INT1_EN, in pulsed mode.
  private var raisesThreshold: Bool {
    registers[0x65] & 0x04 != 0 && registers[0x64] & 0x10 == 0 && registers[0x14] & 0x04 == 0
  }

  /// Takes note of the conversions that are complete by then.
  mutating func finish(until time: Int64) {
    guard let done = core.schedule.take(until: time) else { return }
    if !tampering.isFrozen { convert(done) }
    flag.rise(done, pin, &core.pin)
    guard isQueueing else { return }
    let before = queue.level
    queue.push(packet(at: done.last), registers[0x16] & 0x80 != 0 ? .itself : .samples)
    if queue.hasOverrun { flags |= 0x02 }
    // It fires once, when it is reached (FIFO_CONFIG2), unless FIFO_WM_GT_TH wants each.
    guard queue.level >= threshold, before < threshold || registers[0x5F] & 0x20 != 0 else {
      return
    }
    flags |= 0x04
    if raisesThreshold { core.pin.pulse(at: done.last) }
  }

  /// Packet 3: header (accelerometer, gyro, a time of its own rate), both, the temperature in a byte, the time in
  /// microseconds.
  private func packet(at time: Int64) -> [UInt8] {
    let isBig = registers[0x4C] & 0x10 != 0
    func bytes(_ values: SIMD3<Int16>) -> [UInt8] {
      isBig ? InertialCounts.bigEndian(values) : InertialCounts.littleEndian(values)
    }
    let coarse = Int8(truncatingIfNeeded: Int(outputs.temperature) / 64)
    let clock = UInt16(truncatingIfNeeded: time / 1000)
    let stamp = [UInt8(clock >> 8), UInt8(clock & 0xFF)]
    return [0x68] + bytes(outputs.force) + bytes(outputs.rate) + [UInt8(bitPattern: coarse)]
      + (isBig ? stamp : stamp.reversed())
  }

  private mutating func convert(_ done: Conversions) {
    let (linear, angular) = (registers[0x50] >> 5, registers[0x4F] >> 5)
    // Tables 1 and 2: 70 micro-g (X and Y 65) and 2.8 millidegrees a second a root hertz.
    var force = InertialChannel.force(
      noise: 70e-6 * band(registers[0x52] >> 4).squareRoot(),
      countsPerG: [2048, 4096, 8192, 16_384][Int(linear & 3)])
    var rate = InertialChannel.rate(
      noise: 2.8e-3 * band(registers[0x52] & 0x0F).squareRoot(),
      countsPerDegree: [16.4, 32.8, 65.5, 131, 262, 524.3, 1048.6, 2097.2][Int(angular)])
    // SELF_TEST_CONFIG, the accelerometer's with ACCEL_ST_POWER only. The response: that of the maker's driver.
    for axis in 0..<3 {
      if registers[0x70] & 0x40 != 0, registers[0x70] & 0x08 << UInt8(axis) != 0 {
        let g = 2620 * pow(1.01, Double(trim[3 + axis]) - 1) / 16_384
        force.deflection[axis] = g * tampering.selfTestShare[axis] * ChipErrors.g
      }
      if registers[0x70] & 0x01 << UInt8(axis) != 0 {
        let degrees = 2620 * pow(1.01, Double(trim[axis]) - 1) / 131
        rate.deflection[axis] = degrees * tampering.selfTestShare[axis] * ChipErrors.degree
      }
    }
    let moment = done.last &- core.schedule.period / 2
    core.convert(at: moment, force: force, rate: rate, streams: 30, done, into: &outputs)
    if !isLinearOn { outputs.force = Self.invalid.force }
    if !isAngularOn { outputs.rate = Self.invalid.rate }
    outputs.temperature = saturated((core.stimulus(at: moment).temperature - 25) * 132.48)
  }

  /// A pin that is not told to does not rise.
  package var nextRise: Int64 {
    if pin.raises { return core.schedule.next }
    guard raisesThreshold, isQueueing else { return .max }
    return queue.missing(to: threshold, size: 16).map(rise) ?? .max
  }
}

extension TwinDescription {
  /// Tables 1 and 2: zero-g 20 mg and 0.15 mg a kelvin; zero rate 0.5 degrees a second and 5 millidegrees a kelvin.
  static let icm42688p = TwinDescription("ICM42688P", make: ICM42688PTwin.init) { random, bias in
    .inertial(
      bias: bias * 0.02, perKelvin: bias * 0.15e-3, scale: 0.005,
      gyroscope: (0.5, 0.005, 0.005), clock: 0.01, &random)
  }
}
