// Bosch BMI160 (BST-BMI160-DS000 rev. 0.8): commands, power modes, ranges, rates, interrupt pin.

import LinearAlgebra
import SensorTypes

/// The twin of a BMI160 over I2C. Motion detection and the magnetometer interface hold their configuration and do nothing.
/// Of the FIFO there is headerless mode.
package struct BMI160Twin: ResettingTwin, QueueingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x00
  /// What it stands on.
  package var core: TwinCore

  private var registers = [UInt8](repeating: 0, count: 128)
  private var outputs = InertialCounts()
  private var isReady = (force: false, rate: false)
  /// 1024 bytes (2.5.1).
  private var queue = ConversionQueue(capacity: 1024)
  /// Nanoseconds; when a sensor is in normal mode; `.max` while it is suspended.
  private var awake: (force: Int64, rate: Int64) = (.max, .max)
  /// Nanoseconds; until then a suspended chip does not take the next write.
  private var busyUntil: Int64 = 0
  /// Nanoseconds; when the gyro's self-test is over; `.max` when there was none.
  private var testEnds = Int64.max

  /// OFFSET, 0x71 to 0x77: what a compensation has left in the chip's own memory. Nothing is moved by it here.
  private let offsets: [UInt8]

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, offsets: []) }

  init(_ core: TwinCore, offsets: [UInt8]) { (self.core, self.offsets) = (core, offsets) }

  /// Start-up time 10 ms (table 1).
  package let startUpTime = 0.01

  /// Reset values: 2.11.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    for (register, value): (Int, UInt8) in [
      (0x00, 0xD1), (0x40, 0x28), (0x41, 0x03), (0x42, 0x28), (0x44, 0x0B),
      (0x45, 0x88), (0x46, 0x80), (0x47, 0x10),
    ] { registers[register] = value }
    for (index, value) in offsets.prefix(7).enumerated() { registers[0x71 + index] = value }
    outputs = InertialCounts()
    isReady = (false, false)
    queue.empty()
    awake = (.max, .max)
    testEnds = .max
    core.pin = InterruptPin()
    core.schedule.stop()
  }

  /// FIFO_DATA does not move on.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    register == 0x24 ? register : register &+ 1
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x03:
      return (core.now >= awake.force ? 0x10 : 0) | (core.now >= awake.rate ? 0x04 : 0)
    case 0x0C...0x11:
      isReady.rate = false
      return InertialCounts.littleEndian(outputs.rate, Int(register) - 0x0C)
    case 0x12...0x17:
      isReady.force = false
      return InertialCounts.littleEndian(outputs.force, Int(register) - 0x12)
    case 0x1B:
      // gyr_self_test_ok: 0 while it runs, and for one axis that fails.
      let passed = core.now >= testEnds && (0..<3).allSatisfy { tampering.finds(sound: $0) }
      return (isReady.force ? 0x80 : 0) | (isReady.rate ? 0x40 : 0) | (passed ? 0x02 : 0)
    case 0x20...0x21: return InertialCounts.bigEndian(outputs.temperature, Int(register) - 0x1F)
    case 0x22: return UInt8(queue.level & 0xFF)
    case 0x23: return UInt8(queue.level >> 8)
    // What is read beyond the end is 0x80.
    case 0x24:
      defer { updatePin(at: core.now) }
      return queue.next() ?? 0x80
    default: return register < 128 ? registers[Int(register)] : 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    let isSuspended = core.now < min(awake.force, awake.rate)
    guard !isSuspended || core.now >= busyUntil else { return }
    busyUntil = core.now &+ 450_000
    switch register {
    case 0x7E: command(value)
    case 0x40, 0x42:
      registers[Int(register)] = value
      restart()
    case 0x6D:
      // gyr_self_test_start. How long it takes is not said; Bosch's driver looks after 65 ms.
      if value & 0x10 != 0, core.now >= awake.rate { testEnds = core.now &+ 40_000_000 }
      registers[0x6D] = value & ~0x10
    case 0x41, 0x43...0x5E, 0x5F...0x6C, 0x6E...0x6F:
      registers[Int(register)] = value
      updatePin(at: core.now)
    default: break
    }
  }

  private mutating func command(_ value: UInt8) {
    switch value {
    case 0x10: awake.force = .max
    // Accelerometer 3.8 ms, gyro 80 ms from suspend (table 1, maximum).
    case 0x11: awake.force = min(awake.force, core.now &+ 3_800_000)
    case 0x14: awake.rate = .max
    case 0x15: awake.rate = min(awake.rate, core.now &+ 80_000_000)
    // fifo_flush.
    case 0xB0: queue.empty()
    case 0xB6: reset()
    default: break
    }
    updatePin(at: core.now)
    if value != 0xB0 { restart() }
  }

  /// Both sensors' rate, Hz: the gyro's; the accelerometer is taken to go with it. 0 for what is reserved.
  private var sampleRate: Double {
    let code = Int(registers[0x42] & 0x0F)
    return (6...13).contains(code) ? 100 * Double(1 << code) / 256 : 0
  }

  private mutating func restart() {
    let ready = max(awake.force, awake.rate)
    guard ready != .max, sampleRate > 0 else { return core.schedule.stop() }
    let period = core.period(1 / sampleRate)
    core.schedule.start(
      at: core.now, firstAfter: Double(max(0, ready &- core.now)) * 1e-9 + period, every: period)
  }

  private var raises: Bool {
    registers[0x51] & 0x10 != 0 && registers[0x56] & 0x80 != 0 && registers[0x53] & 0x08 != 0
  }

  /// int_fwm_en, int1_fwm and int1_output_en.
  private var raisesThreshold: Bool {
    registers[0x51] & 0x40 != 0 && registers[0x56] & 0x40 != 0 && registers[0x53] & 0x08 != 0
  }

  /// fifo_gyr_en and fifo_acc_en without fifo_header_en.
  var isQueueing: Bool { registers[0x47] & 0xD0 == 0xC0 }

  /// fifo_water_mark, in words of four bytes.
  private var threshold: Int { 4 * Int(registers[0x46]) }

  /// The threshold is no event but a state.
  private mutating func updatePin(at time: Int64) {
    guard raisesThreshold else { return }
    core.pin.set(queue.level >= max(1, threshold), at: time)
  }

  /// Takes note of the conversions that are complete by then.
  mutating func finish(until time: Int64) {
    guard let done = core.schedule.take(until: time) else { return }
    if !tampering.isFrozen { convert(done) }
    isReady = (true, true)
    if isQueueing {
      // As the data registers lie: the gyro first.
      let sample =
        InertialCounts.littleEndian(outputs.rate) + InertialCounts.littleEndian(outputs.force)
      queue.push(sample, .samples)
      updatePin(at: done.last)
    }
    // Not latched: it falls by itself before the next.
    if raises { core.pin.pulse(at: done.last) }
  }

  private mutating func convert(_ done: Conversions) {
    // Normal bandwidth passes 0.4 of the rate. Tables 2 and 3: 180 micro-g and 7 millidegrees a second a root hertz.
    let band = (0.4 * sampleRate).squareRoot()
    let counts: Double =
      switch registers[0x41] & 0x0F {
      case 0x05: 8192
      case 0x08: 4096
      case 0x0C: 2048
      default: 16_384
      }
    var force = InertialChannel.force(noise: 180e-6 * band, countsPerG: counts)
    // SELF_TEST: enabled by 01; the amplitude is high or low, the sign positive or negative. How far a mass moves is not said:
    // more than 2 g from end to end pass.
    if registers[0x6D] & 0x03 == 0x01 {
      let sign: Double = registers[0x6D] & 0x04 != 0 ? 1 : -1
      let share = (registers[0x6D] & 0x08 != 0 ? 1 : 0.25) * tampering.selfTestShare
      force.deflection = (sign * share * ChipErrors.g) * Vector3(1.4, 1.5, 1.6)
    }
    let rate = InertialChannel.rate(
      noise: 7e-3 * band,
      countsPerDegree: [16.4, 32.8, 65.6, 131.2, 262.4][min(4, Int(registers[0x43] & 7))])
    let moment = done.last &- core.schedule.period / 2
    core.convert(at: moment, force: force, rate: rate, streams: 30, done, into: &outputs)
    // 512 counts a degree, 0 at 23.
    outputs.temperature = saturated((core.stimulus(at: moment).temperature - 23) * 512)
  }

  /// A pin that is not told to does not rise.
  package var nextRise: Int64 {
    if raises { return core.schedule.next }
    guard raisesThreshold, isQueueing else { return .max }
    return queue.missing(to: max(1, threshold), size: 12).map(rise) ?? .max
  }
}

extension TwinDescription {
  /// Tables 2 and 3: zero-g 40 mg and 1 mg a kelvin; zero rate 3 degrees a second and 0.05 a kelvin.
  static let bmi160 = TwinDescription("BMI160", make: BMI160Twin.init) { random, bias in
    .inertial(
      bias: bias * 0.04, perKelvin: bias * 1e-3, scale: 0.005, gyroscope: (3, 0.05, 0.01),
      clock: 0.01, &random)
  }
}
