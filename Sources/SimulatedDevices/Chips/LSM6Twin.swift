// ST's LSM6 accelerometers with gyroscopes: LSM6DSOX (datasheet DS12814, application note AN5272) and its relatives.

import LinearAlgebra
package import SensorTypes

/// The twin of an LSM6DSOX or of one of its family over I2C, its interrupt pin being INT1. Of the queue (FIFO) there is continuous
/// mode at the sensors' own rate; embedded functions and the sensor hub hold their configuration and do nothing.
package struct LSM6Twin: ConvertingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x0F
  /// What it stands on.
  package var core: TwinCore

  private let variant: Variant
  private var registers = [UInt8](repeating: 0, count: 128)
  private var linear = ConversionSchedule()
  private var angular = ConversionSchedule()
  private var linearOutputs = AxisOutputs()
  private var angularOutputs = AxisOutputs()
  private var linearPending = SIMD3<Int16>()
  private var angularPending = SIMD3<Int16>()
  private var temperature: Int16 = 0
  private var temperatureReady = false
  private var origin: Int64 = 0
  private var queue: LSM6Queue

  /// Makes an LSM6DSOX that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, .third) }

  /// Makes one of the family that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore, _ variant: Variant) {
    self.core = core
    self.variant = variant
    queue = LSM6Queue(variant)
  }

  /// Applies power: registers take their reset values and the start-up time begins.
  package mutating func powerOn(at time: Timestamp) {
    core.power(at: time, answersAfter: variant.bootTime)
    origin = core.now
    reset()
  }

  /// Reset values: the datasheet's register address map.
  private mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x0F] = variant.identity
    registers[0x12] = 0x04
    switch variant {
    case .first: (registers[0x18], registers[0x19]) = (0x38, 0x38)
    case .second: registers[0x18] = 0xE0
    case .third, .industrial: (registers[0x02], registers[0x18]) = (0x3F, 0xE0)
    }
    linear.stop()
    angular.stop()
    linearOutputs = AxisOutputs()
    angularOutputs = AxisOutputs()
    temperatureReady = false
    queue.empty()
    core.pin = InterruptPin()
  }

  /// The register that a sub-address names.
  package func firstRegister(_ subaddress: UInt8) -> UInt8 { subaddress & 0x7F }

  /// The register that follows in the same transfer.
  ///
  /// CTRL3_C IF_INC.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    guard registers[0x12] & 0x04 != 0 else { return register }
    return queue.nextRegister(after: register) ?? (register &+ 1) & 0x7F
  }

  private var blockUpdate: Bool { registers[0x12] & 0x40 != 0 }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    // The registers of embedded functions and of the sensor hub are not modelled: nothing is there.
    if registers[0x01] & 0xC0 != 0, register != 0x01 { return 0 }
    switch register {
    case 0x1E:
      return (linearOutputs.ready != 0 ? 0x01 : 0) | (angularOutputs.ready != 0 ? 0x02 : 0)
        | (temperatureReady ? 0x04 : 0)
    case 0x20: return UInt8(truncatingIfNeeded: temperature)
    case 0x21:
      temperatureReady = false
      return UInt8(truncatingIfNeeded: temperature >> 8)
    case 0x22...0x27:
      let byte = angularOutputs.byte(
        Int(register) - 0x22, blockUpdate: blockUpdate, clearsWhole: true)
      updatePin(at: core.now)
      return byte
    case 0x28...0x2D:
      let byte = linearOutputs.byte(
        Int(register) - 0x28, blockUpdate: blockUpdate, clearsWhole: true)
      updatePin(at: core.now)
      return byte
    case 0x3A...0x3B: return queue.status(Int(register) - 0x3A, registers)
    default:
      guard let index = queue.index(register) else { return registers[Int(register)] }
      defer { updatePin(at: core.now) }
      return queue.byte(index)
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    if registers[0x01] & 0xC0 != 0, register != 0x01 { return }
    switch register {
    case 0x10:
      let old = registers[0x10]
      registers[0x10] = value & 0xFE
      if old & 0xF0 != value & 0xF0 { restartLinear() }
    case 0x11:
      let old = registers[0x11]
      // Bit 0 is FS_4000 of an ISM330DHCX (DS13012, CTRL2_G), and none of the others'.
      registers[0x11] = variant == .industrial ? value : value & 0xFE
      if old & 0xF0 != value & 0xF0 { restartAngular() }
    case 0x12:
      if value & 0x01 != 0 {
        reset()
      } else {
        // BOOT (bit 7) clears itself.
        registers[0x12] = value & 0x7C
        updatePin(at: core.now)
      }
    case 0x0D:
      registers[0x0D] = value
      updatePin(at: core.now)
    case 0x0A:
      registers[0x0A] = value
      if !LSM6Queue.isOn(registers) { queue.empty() }
      updatePin(at: core.now)
    // Writable registers of the register address map; the rest is read-only or reserved.
    case 0x01, 0x02, 0x04, 0x06...0x09, 0x0B, 0x0C, 0x0E, 0x13...0x19, 0x56...0x5F, 0x62, 0x63,
      0x6F...0x75:
      registers[Int(register)] = value
    default: break
    }
  }

  private mutating func updatePin(at time: Int64) {
    let raised =
      registers[0x0D] & 0x01 != 0 && linearOutputs.ready != 0
      || registers[0x0D] & 0x02 != 0 && angularOutputs.ready != 0 || queue.raises(registers)
    // CTRL3_C H_LACTIVE; in pulsed mode (COUNTER_BDR_REG1 bit 7) there is no level.
    let level = raised && !isPulsed
    core.pin.set(level != (registers[0x12] & 0x20 != 0), at: time)
  }

  private var isPulsed: Bool { registers[0x0B] & 0x80 != 0 }

  private var linearRate: Double {
    let code = registers[0x10] >> 4
    // 1.6 Hz exists in low-power mode (CTRL6_C XL_HM_MODE) only; otherwise the code means 12.5 Hz.
    return code == 11 ? (registers[0x15] & 0x10 != 0 ? 1.6 : 12.5) : Self.rate(code)
  }

  private var angularRate: Double {
    let code = registers[0x11] >> 4
    return variant == .first && code > 8 ? 0 : Self.rate(code)
  }

  // Both sensors sample on one oscillator: equal rates give their data together.
  private mutating func restartLinear() {
    guard linearRate > 0 else { return linear.stop() }
    let period = core.period(1 / linearRate)
    linear.start(at: core.now, onRasterOf: origin, notBefore: period / 2, every: period)
  }

  private mutating func restartAngular() {
    guard angularRate > 0 else { return angular.stop() }
    let period = core.period(1 / angularRate)
    // Turn-on time from power-down to high performance (AN5272): 70 ms.
    let settle = angular.isIdle ? 0.07 : 0
    angular.start(
      at: core.now, onRasterOf: origin, notBefore: max(settle, period / 2), every: period)
  }

  /// m/s^2 per count by FS_XL (with XL_FS_MODE 0).
  private var linearScale: Double {
    switch registers[0x10] >> 2 & 3 {
    case 0: 0.061e-3 * 9.80665
    case 1: 0.488e-3 * 9.80665
    case 2: 0.122e-3 * 9.80665
    default: 0.244e-3 * 9.80665
    }
  }

  /// rad/s per count by FS_G, FS_125 and FS_4000.
  private var angularScale: Double {
    let milliDegrees: Double =
      if registers[0x11] & 0x01 != 0 {
        140
      } else if registers[0x11] & 0x02 != 0 {
        4.375
      } else {
        switch registers[0x11] >> 2 & 3 {
        case 0: 8.75
        case 1: 17.5
        case 2: 35
        default: 70
        }
      }
    return milliDegrees * 1e-3 * Double.pi / 180
  }

  /// What the accelerometer's self-test adds, m/s^2. Mechanical characteristics: 50 to 1700 mg, whatever
  /// the full scale. Within that, about what the owner of a relative (LSM6DS33) measured.
  private var linearDeflection: Vector3 {
    (tampering.selfTestShare * Self.selfTestSign(registers[0x14], negative: 2) * 9.80665e-3)
      * Vector3(460, 560, 350)
  }

  /// What the gyro's self-test adds, rad/s. Mechanical characteristics: 150 to 700 degrees a second at
  /// 2000, 20 to 80 at 250; taken as proportional to the full scale, which is within both.
  private var angularDeflection: Vector3 {
    let share = angularScale / (70e-3 * Double.pi / 180)
    return
      (tampering.selfTestShare * Self.selfTestSign(registers[0x14] >> 2, negative: 3) * share
      * Double.pi / 180)
      * Vector3(310, 290, 340)
  }

  /// Takes note of every conversion that is complete: the queue of each, the outputs of the newest.
  package mutating func finish() {
    if LSM6Queue.isOn(registers) {
      while nextConversion <= core.now { finish(until: nextConversion) }
    } else {
      finish(until: core.now)
    }
  }

  private mutating func finish(until time: Int64) {
    let linearDone = linear.take(until: time)
    let angularDone = angular.take(until: time)
    if let done = linearDone {
      if !tampering.isFrozen { convertLinear(done) }
      linearOutputs.load(
        linearPending, count: done.count, blockUpdate: blockUpdate, frozen: tampering.isFrozen)
    }
    if let done = angularDone {
      if !tampering.isFrozen { convertAngular(done) }
      angularOutputs.load(
        angularPending, count: done.count, blockUpdate: blockUpdate, frozen: tampering.isFrozen)
    }
    if LSM6Queue.isOn(registers) {
      queue.push(
        rate: angularDone == nil ? nil : angularPending,
        force: linearDone == nil ? nil : linearPending)
      updatePin(at: time)
    }
    if isPulsed {
      if let done = linearDone, registers[0x0D] & 0x01 != 0 { core.pin.pulse(at: done.last) }
      if let done = angularDone, registers[0x0D] & 0x02 != 0 { core.pin.pulse(at: done.last) }
    } else {
      var first = Int64.max
      if let done = linearDone, registers[0x0D] & 0x01 != 0 { first = done.first }
      if let done = angularDone, registers[0x0D] & 0x02 != 0 { first = min(first, done.first) }
      if first != .max { updatePin(at: first) }
    }
  }

  private mutating func convertLinear(_ done: Conversions) {
    let middle = done.last &- linear.period / 2
    // Over half the rate.
    let sigma = variant.noise.linear * 1e-6 * 9.80665 * (linearRate / 2).squareRoot()
    let measured = core.force(at: middle, sigma: sigma, stream: 4, done)
    let output = measured + linearDeflection
    for axis in 0..<3 { linearPending[axis] = saturated(output[axis] / linearScale) }
    // Temperature: 0 at 25 degrees; refreshed with the faster of the two here.
    temperature = saturated(
      (core.stimulus(at: middle).temperature - 25) * variant.temperatureScale)
    temperatureReady = true
  }

  private mutating func convertAngular(_ done: Conversions) {
    let middle = done.last &- angular.period / 2
    // The filter passes about a third of the rate.
    let sigma = variant.noise.angular * 1e-3 * Double.pi / 180 * (angularRate / 3).squareRoot()
    let measured = core.rate(at: middle, sigma: sigma, stream: 5, done)
    let output = measured + angularDeflection
    for axis in 0..<3 { angularPending[axis] = saturated(output[axis] / angularScale) }
  }

  /// When the next conversion of either will be complete.
  package var nextConversion: Int64 { min(linear.next, angular.next) }

  /// What INT1_CTRL has put on the pin.
  package var nextRise: Int64 {
    if let count = queue.conversionsToThreshold(registers), angular.next != .max {
      return angular.next + (count - 1) * angular.period
    }
    return min(
      registers[0x0D] & 0x01 != 0 ? linear.next : .max,
      registers[0x0D] & 0x02 != 0 ? angular.next : .max)
  }
}
