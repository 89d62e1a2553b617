// TDK InvenSense ICM-20948 (DS-000189 rev. 1.3): four banks, dividers, filters, self-test, interrupt pin.

import LinearAlgebra
import SensorTypes

/// The twin of the inertial half of an ICM20948 over I2C. DMP, low-power modes and I2C master hold their
/// configuration and do nothing; of the FIFO there is what the chip itself measures.
package struct ICM20948Twin: ResettingTwin, QueueingTwin, PassThroughTwin {
  /// The register that tells which chip it is.
  package var identityRegister: UInt8? { bank == 0 ? 0x00 : nil }
  /// What it stands on.
  package var core: TwinCore

  /// The trim of the self-test: gyro, then accelerometer.
  private let trim: [UInt8]
  /// Four banks of 128.
  private var registers = [UInt8](repeating: 0, count: 512)
  private var bank = 0
  private var outputs = InertialCounts()
  private var flag = ReadyFlag()
  /// 512 bytes (4.15); owners have counted 4096.
  private var queue = ConversionQueue(capacity: 512)
  /// Nanoseconds; until then the chip is busy with its reset.
  private var busyUntil: Int64 = 0

  /// Makes a chip that is not powered yet: call `powerOn`. `trim` are the six codes of its self-test, of the gyro
  /// first, each 1 to 255.
  package init(_ core: TwinCore, trim: [UInt8]) {
    self.core = core
    self.trim = trim
  }

  /// A chip with a trim of the size that real ones have.
  package init(_ core: TwinCore) { self.init(core, trim: [116, 113, 120, 55, 51, 59]) }

  /// Start-up time for register read and write, typical 11 ms (table 3).
  package let startUpTime = 0.011

  /// Reset values: section 7.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    bank = 0
    (registers[0x00], registers[0x05], registers[0x06]) = (0xEA, 0x40, 0x41)
    for axis in 0..<3 {
      registers[128 + 0x02 + axis] = trim[axis]
      registers[128 + 0x0E + axis] = trim[3 + axis]
    }
    (registers[256 + 0x01], registers[256 + 0x14]) = (0x01, 0x01)
    (outputs, flag) = (InertialCounts(), ReadyFlag())
    queue.empty()
    core.pin = InterruptPin()
    core.schedule.stop()
  }

  /// BYPASS_EN, while the chip's own master is off (8.9).
  package var isBypassOpen: Bool { registers[0x0F] & 0x02 != 0 && registers[0x03] & 0x20 == 0 }

  /// The pointer stays within a bank.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    // FIFO_R_W does not move on.
    register == 0x72 ? register : (register &+ 1) & 0x7F
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    guard register < 0x7F else { return register == 0x7F ? UInt8(bank) << 4 : 0 }
    guard bank == 0 else { return registers[128 * bank + Int(register)] }
    // INT_ANYRD_2CLEAR: any read takes the interrupt down, otherwise that of the status.
    defer {
      if register == 0x1A || registers[0x0F] & 0x10 != 0 {
        flag.fall(pin, at: core.now, &core.pin)
      }
    }
    switch register {
    case 0x1A: return flag.isUp ? 0x01 : 0
    // FIFO_OVERFLOW_INT.
    case 0x1B: return queue.hasOverrun ? 0x01 : 0
    case 0x2D...0x32: return InertialCounts.bigEndian(outputs.force, Int(register) - 0x2D)
    case 0x33...0x38: return InertialCounts.bigEndian(outputs.rate, Int(register) - 0x33)
    case 0x39...0x3A: return InertialCounts.bigEndian(outputs.temperature, Int(register) - 0x39)
    case 0x70: return UInt8(queue.level >> 8)
    case 0x71: return UInt8(queue.level & 0xFF)
    case 0x72: return (isQueueing ? queue.next() : nil) ?? queue.last
    case 0x06: return registers[0x06] | (core.now < busyUntil ? 0x80 : 0)
    default: return registers[Int(register)]
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    guard core.now >= busyUntil else { return }
    switch (bank, register) {
    case (_, 0x7F): bank = Int(value >> 4 & 3)
    case (0, 0x06) where value & 0x80 != 0:
      reset()
      // How long it takes is not said; a few milliseconds.
      busyUntil = core.now &+ 5_000_000
    case (0, 0x0F):
      registers[0x0F] = value
      flag.drive(pin, at: core.now, &core.pin)
    // DMP_RST, SRAM_RST and I2C_MST_RST clear themselves.
    case (0, 0x03): registers[0x03] = value & 0xF0
    case (0, 0x05...0x07), (2, 0x00...0x01), (2, 0x10...0x11), (2, 0x14):
      registers[128 * bank + Int(register)] = value
      restart()
    case (0, 0x68):
      registers[0x68] = value
      // FIFO_RESET: held down it is empty.
      if value & 0x1F != 0 { queue.empty() }
    case (0, 0x10...0x13), (0, 0x66...0x67), (0, 0x69), (0, 0x76), (2, 0x02...0x09),
      (2, 0x12...0x15),
      (2, 0x52...0x54), (3, 0x00...0x17):
      registers[128 * bank + Int(register)] = value
    default: break
    }
  }

  /// INT1_LATCH_EN and INT1_ACTL.
  private var pin: ReadyFlag.Pin {
    ReadyFlag.Pin(
      raises: registers[0x11] & 0x01 != 0, latches: registers[0x0F] & 0x20 != 0,
      isActiveLow: registers[0x0F] & 0x80 != 0)
  }

  /// Hz: 1125 divided, or 9000 past the gyro's filter. The accelerometer is taken to go with the gyro.
  private var sampleRate: Double {
    registers[256 + 0x01] & 0x01 == 0 ? 9000 : 1125 / (Double(registers[256]) + 1)
  }

  private mutating func restart() {
    guard registers[0x06] & 0x40 == 0, registers[0x07] & 0x3F == 0 else {
      return core.schedule.stop()
    }
    // Gyro start-up time from sleep (table 1): 35 ms.
    core.convert(every: 1 / sampleRate, settling: 0.035)
  }

  /// Noise bandwidths in Hz by DLPFCFG (ACCEL_CONFIG and GYRO_CONFIG_1).
  private static let linearBands = [265, 265, 136, 68.8, 34.4, 17, 8.3, 499.0]
  private static let angularBands = [229.8, 187.6, 154.3, 73.3, 35.9, 17.8, 8.9, 376.5]

  /// FIFO_EN of USER_CTRL.
  var isQueueing: Bool { registers[0x03] & 0x40 != 0 }

  /// Takes note of the conversions that are complete by then.
  mutating func finish(until time: Int64) {
    guard let done = core.schedule.take(until: time) else { return }
    if !tampering.isFrozen { convert(done) }
    flag.rise(done, pin, &core.pin)
    guard isQueueing, registers[0x68] & 0x1F == 0 else { return }
    // FIFO_EN_2, in the order of the registers; FIFO_MODE: what is full takes nothing more.
    let chosen = registers[0x67]
    var sample = chosen & 0x10 != 0 ? InertialCounts.bigEndian(outputs.force) : []
    for axis in 0..<3 where chosen & 0x02 << UInt8(axis) != 0 {
      sample += (0..<2).map { InertialCounts.bigEndian(outputs.rate[axis], $0) }
    }
    if chosen & 0x01 != 0 {
      sample += (0..<2).map { InertialCounts.bigEndian(outputs.temperature, $0) }
    }
    queue.push(sample, registers[0x69] & 0x01 != 0 ? .itself : .bytes)
  }

  private mutating func convert(_ done: Conversions) {
    let (angular, linear) = (registers[256 + 0x01], registers[256 + 0x14])
    let angularBand = Self.angularBands[Int(angular >> 3 & 7)]
    // Tables 1 and 2: 15 millidegrees a second and 230 micro-g a root hertz.
    var force = InertialChannel.force(
      noise: 230e-6 * Self.linearBands[Int(linear >> 3 & 7)].squareRoot(),
      countsPerG: [16_384, 8192, 4096, 2048][Int(linear >> 1 & 3)])
    var rate = InertialChannel.rate(
      noise: 15e-3 * angularBand.squareRoot(),
      countsPerDegree: [131, 65.5, 32.8, 16.4][Int(angular >> 1 & 3)])
    // AX_ST_EN_REG and XGYRO_CTEN. The response: that of the MPU-9250's application note, of the same maker.
    for axis in 0..<3 {
      if registers[256 + 0x15] & 0x10 >> UInt8(axis) != 0 {
        let g = 2620 * pow(1.01, Double(trim[3 + axis]) - 1) / 16_384
        force.deflection[axis] = g * tampering.selfTestShare[axis] * ChipErrors.g
      }
      if registers[256 + 0x02] & 0x20 >> UInt8(axis) != 0 {
        let degrees = 2620 * pow(1.01, Double(trim[axis]) - 1) / 131
        rate.deflection[axis] = degrees * tampering.selfTestShare[axis] * ChipErrors.degree
      }
    }
    let moment = done.last &- Int64((0.0019 + 0.25 / angularBand) * 1e9)
    core.convert(at: moment, force: force, rate: rate, streams: 30, done, into: &outputs)
    outputs.temperature = saturated((core.stimulus(at: moment).temperature - 21) * 333.87)
  }

  /// A pin that is not told to does not rise.
  package var nextRise: Int64 { pin.raises ? core.schedule.next : .max }
}

extension TwinDescription {
  /// Tables 1 and 2: zero-g 50 mg on the board and 0.8 mg a kelvin; zero rate 5 degrees a second. The
  /// PLL "varies from part to part" (4.14).
  static let icm20948 = TwinDescription("ICM20948", carries: "AK09916", make: ICM20948Twin.init) {
    random, bias in
    .inertial(
      bias: bias * 0.05, perKelvin: bias * 0.8e-3, scale: 0.005, gyroscope: (5, 0.05, 0.01),
      clock: 0.01, &random)
  }
}
