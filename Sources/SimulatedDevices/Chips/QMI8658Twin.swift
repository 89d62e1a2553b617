// QST QMI8658A and QMI8658C (datasheets rev. A and 0.6): control registers, ranges, rates, reset, interrupt pin.

import LinearAlgebra
import SensorTypes

/// The twin of a QMI8658 over I2C. FIFO, motion detection and the host's commands (CTRL9) hold their configuration and do
/// nothing.
package struct QMI8658Twin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x00
  /// What it stands on.
  package var core: TwinCore

  private var registers = [UInt8](repeating: 0, count: 128)
  private var outputs = InertialCounts()
  private var isReady = (force: false, rate: false)
  /// Nanoseconds; when a self-test is over that was begun; `.max` while none is.
  private var testEnds = Int64.max
  /// Nanoseconds; until then the chip is busy with its reset.
  private var busyUntil: Int64 = 0

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.core = core }

  /// System turn-on time 15 ms at most; what it is typically is not said.
  package let startUpTime = 0.01

  /// Reset values: the register overview.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    (registers[0x00], registers[0x01], registers[0x02]) = (0x05, 0x7C, 0x20)
    outputs = InertialCounts()
    isReady = (false, false)
    testEnds = .max
    core.pin = InterruptPin()
    core.schedule.stop()
  }

  /// ADDR_AI: without it the pointer stays.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    registers[0x02] & 0x40 == 0 ? register : (register &+ 1) & 0x7F
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    // BE, as the datasheets have it.
    let turn = registers[0x02] & 0x20 != 0 ? 1 : 0
    switch register {
    // STATUSINT bit 0 is INT2, which a self-test raises when it is over (15.1, 15.2).
    case 0x2D: return core.now >= testEnds ? 0x01 : 0
    case 0x2E: return (isReady.force ? 0x01 : 0) | (isReady.rate ? 0x02 : 0)
    case 0x33...0x34:
      return InertialCounts.bigEndian(outputs.temperature, Int(register) - 0x32 + turn)
    case 0x35...0x3A:
      isReady.force = false
      return InertialCounts.littleEndian(outputs.force, (Int(register) - 0x35) ^ turn)
    case 0x3B...0x40:
      isReady.rate = false
      return InertialCounts.littleEndian(outputs.rate, (Int(register) - 0x3B) ^ turn)
    case 0x4D: return core.now >= busyUntil ? registers[0x4D] : 0
    default: return register < 128 ? registers[Int(register)] : 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    guard core.now >= busyUntil else { return }
    switch register {
    case 0x60 where value == 0xB0:
      reset()
      registers[0x4D] = 0x80
      busyUntil = core.now &+ 15_000_000
    case 0x03, 0x04, 0x08:
      if register != 0x08, value & 0x80 != registers[Int(register)] & 0x80 {
        test(register, begins: value & 0x80 != 0, code: value & 0x0F)
      }
      registers[Int(register)] = value
      restart()
    case 0x02, 0x05...0x07, 0x09...0x14: registers[Int(register)] = value
    default: break
    }
  }

  /// aST or gST, with the sensors off: 25 periods of the accelerometer, which has 1000 Hz for code 3 and half for each next
  /// while the gyro is off (table 22); 400 ms of the gyro. Cleared, it leaves dVX to dVZ: in 1/2048 g, in 1/16 of a degree a
  /// second. What moves the masses is not said: more than 200 mg and 300 degrees a second pass.
  private mutating func test(_ register: UInt8, begins: Bool, code: UInt8) {
    guard registers[0x08] & 0x03 == 0 else { return }
    guard !begins else {
      let length =
        register == 0x04 ? 0.4 : 25 * core.period(Double(1 << max(0, Int(code) - 3)) / 1000)
      testEnds = core.now &+ Int64(length * 1e9)
      return
    }
    let isOver = core.now >= testEnds
    testEnds = .max
    let share = tampering.isFrozen || !isOver ? .zero : tampering.selfTestShare
    let counts =
      register == 0x04
      ? Vector3(500, 450, 550) * (16 * share) : Vector3(0.45, 0.5, 0.6) * (2048 * share)
    for axis in 0..<3 {
      let word = UInt16(bitPattern: saturated(counts[axis]))
      registers[0x51 + 2 * axis] = UInt8(word & 0xFF)
      registers[0x52 + 2 * axis] = UInt8(word >> 8)
    }
  }

  /// Both sensors' rate, Hz, by gODR: with the gyro on, the accelerometer goes with its clock.
  private var sampleRate: Double {
    let code = Int(registers[0x04] & 0x0F)
    return code <= 8 ? 7174.4 / Double(1 << code) : 0
  }

  private mutating func restart() {
    guard registers[0x08] & 0x03 == 0x03 else { return core.schedule.stop() }
    // Gyro turn-on time: 60 ms and 3 periods.
    core.convert(every: 1 / sampleRate, settling: 0.06 + 3 * core.period(1 / sampleRate))
  }

  /// INT2 has data ready (CTRL7 bit 5 would switch it off).
  private var raises: Bool { registers[0x02] & 0x10 != 0 && registers[0x08] & 0x20 == 0 }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if !tampering.isFrozen { convert(done) }
    isReady = (true, true)
    if raises { core.pin.pulse(at: done.last) }
  }

  private mutating func convert(_ done: Conversions) {
    // 200 micro-g and 15 millidegrees a second a root hertz (QMI8658C; 150 and 13 of a QMI8658A) over half the rate.
    let band = (sampleRate / 2).squareRoot()
    let (linear, angular) = (registers[0x03] >> 4 & 7, registers[0x04] >> 4 & 7)
    let force = InertialChannel.force(
      noise: 200e-6 * band, countsPerG: Double(16_384 >> Int(min(3, linear))))
    let rate = InertialChannel.rate(
      noise: 15e-3 * band, countsPerDegree: Double(2048 >> Int(angular)))
    let moment = done.last &- core.schedule.period / 2
    core.convert(at: moment, force: force, rate: rate, streams: 30, done, into: &outputs)
    outputs.temperature = saturated(core.stimulus(at: moment).temperature * 256)
  }

  /// A pin that is not told to does not rise.
  package var nextRise: Int64 { raises ? core.schedule.next : .max }
}

extension TwinDescription {
  /// Zero-g 100 mg, zero rate 10 degrees a second at board level.
  static let qmi8658 = TwinDescription("QMI8658", make: QMI8658Twin.init) { random, bias in
    .inertial(
      bias: bias * 0.1, perKelvin: bias * 1e-3, scale: 0.01, gyroscope: (10, 0.05, 0.01),
      clock: 0.015, &random)
  }
}
