// Asahi Kasei AK8963 (MS1356-E-02), AK09916 (015007392-E-02) and AK09918 (016014242-E-00): modes, held outputs, fuse ROM.

import LinearAlgebra
import SensorTypes

/// The twin of an AK8963, AK09916 or AK09918 over I2C.
package struct AKMTwin: ResettingTwin {
  /// The register that tells which chip it is.
  package var identityRegister: UInt8? { chip == .ak8963 ? 0x00 : 0x01 }
  /// What it stands on.
  package var core: TwinCore

  private let chip: AKMTwinVariant
  private let adjustment: [UInt8]
  private var mode: UInt8 = 0
  private var selfTest: UInt8 = 0
  /// From the first output byte to ST2.
  private var outputs: [UInt8]
  private var isReady = false
  private var hasOverrun = false
  /// From the first output byte read until ST2 is.
  private var isHeld = false

  /// Makes a chip that is not powered yet: call `powerOn`. `adjustment` is what an AK8963's fuse ROM holds: each
  /// of these bytes is of the size that real chips carry.
  package init(_ chip: AKMTwinVariant, _ core: TwinCore, adjustment: [UInt8] = [176, 178, 166]) {
    self.chip = chip
    self.core = core
    self.adjustment = adjustment
    outputs = [UInt8](repeating: 0, count: chip == .ak8963 ? 7 : 8)
  }

  /// An AK09916.
  package init(_ core: TwinCore) { self.init(.ak09916, core) }

  /// PSUP and PORT: the registers have their reset values within 100 microseconds of the supply's rise.
  package let startUpTime = 0.000_1

  /// Registers take their reset values.
  package mutating func reset() {
    mode = 0
    selfTest = 0
    core.schedule.stop()
    for index in outputs.indices { outputs[index] = 0 }
    (isReady, hasOverrun, isHeld) = (false, false, false)
    core.pin = InterruptPin()
  }

  private var firstOutput: UInt8 { chip == .ak8963 ? 0x03 : 0x11 }
  private var firstControl: UInt8 { chip == .ak8963 ? 0x0A : 0x31 }

  /// The register that follows in the same transfer: the pointer runs in circles (AK8963 7.2.2, others 10.1).
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    switch (chip, register) {
    case (.ak8963, 0x0C), (.ak09916, 0x18), (.ak09918, 0x18): 0x00
    case (.ak8963, 0x12): 0x10
    case (.ak09916, 0x03), (.ak09918, 0x03): 0x10
    case (.ak09916, 0x32), (.ak09918, 0x32): 0x30
    default: register &+ 1
    }
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    let offset = Int(register) - Int(firstOutput)
    if outputs.indices.contains(offset) {
      // To read any of them takes DRDY and DOR down, and only ST2 lets go of them.
      (isReady, hasOverrun) = (false, false)
      isHeld = offset < outputs.count - 1
      core.pin.set(false, at: core.now)
      return outputs[offset]
    }
    if register == firstOutput - 1 { return (hasOverrun ? 0x02 : 0) | (isReady ? 0x01 : 0) }
    switch (chip, register) {
    case (_, 0x00): return 0x48
    case (.ak8963, 0x01): return 0x9A
    case (.ak09916, 0x01): return 0x09
    case (.ak09918, 0x01): return 0x0C
    case (.ak8963, 0x0A), (.ak09916, 0x31), (.ak09918, 0x31): return mode
    case (.ak8963, 0x0C): return selfTest
    // Outside of fuse ROM access mode nothing is specified.
    case (.ak8963, 0x10...0x12): return mode & 0x0F == 0x0F ? adjustment[Int(register) - 0x10] : 0
    default: return 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    if register == firstControl {
      mode = value & 0x1F
      restart()
    } else if register == firstControl + 1 {
      // SRST clears itself.
      if value & 0x01 != 0 { reset() }
    } else if chip == .ak8963, register == 0x0C {
      selfTest = value & 0x40
    }
  }

  /// The code of the mode alone.
  private var code: UInt8 { chip == .ak8963 ? mode & 0x0F : mode }

  /// Rate of a continuous mode, Hz; `nil` for any other.
  private var rate: Double? {
    switch (chip, code) {
    case (.ak8963, 0x02): 8
    case (.ak8963, 0x06): 100
    case (.ak8963, _): nil
    case (_, 0x02): 10
    case (_, 0x04): 20
    case (_, 0x06): 50
    case (_, 0x08): 100
    default: nil
    }
  }

  private var isSelfTesting: Bool { chip == .ak8963 ? code == 0x08 : code == 0x10 }

  /// TSM: 7.2 ms.
  private static let measurement = 0.0072

  private mutating func restart() {
    core.schedule.stop()
    if let rate {
      core.schedule.start(
        at: core.now, firstAfter: core.period(1 / rate), every: core.period(1 / rate))
    } else if code == 0x01 || isSelfTesting {
      core.schedule.single(at: core.now, duration: Self.measurement)
    }
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    // While the outputs are held what comes is lost.
    if isReady || isHeld || done.count > 1 { hasOverrun = true }
    if !isHeld {
      if !tampering.isFrozen { convert(done) }
      isReady = true
      core.pin.set(hasPin, at: done.first)
    }
    // A single measurement and a self-test end in power-down.
    if rate == nil { mode &= 0x10 }
  }

  private mutating func convert(_ done: Conversions) {
    let middle = done.last &- Int64(Self.measurement * 0.5e9)
    // No datasheet of the three names the noise; two counts are assumed.
    var field = core.field(at: middle, sigma: Vector3(repeating: 0.3), stream: 9, done)
    let isBeyond = abs(field.x) + abs(field.y) + abs(field.z) >= 4912
    if isSelfTesting { field = source }
    // 14 bits of 0.6 microtesla, or 16 of 0.15; the AK8963's are not adjusted yet.
    let isCoarse = chip == .ak8963 && mode & 0x10 == 0
    let limit: Int16 = chip == .ak8963 ? (isCoarse ? 8190 : 32760) : 32752
    for axis in 0..<3 {
      let share = chip == .ak8963 ? (Double(adjustment[axis]) - 128) * 0.5 / 128 + 1 : 1
      let counts = saturated(field[axis] / (isCoarse ? 0.6 : 0.15) / share)
      let value = UInt16(bitPattern: max(-limit, min(limit, counts)))
      outputs[2 * axis] = UInt8(value & 0xFF)
      outputs[2 * axis + 1] = UInt8(value >> 8)
    }
    outputs[outputs.count - 1] =
      (isBeyond ? 0x08 : 0) | (chip == .ak8963 ? mode & 0x10 : 0)
  }

  /// What the self-test's source brings about, microtesla: it acts along Z, and an AK8963's has a switch of its own (ASTC). Counts that
  /// pass: -3200 to -800 (AK8963), -1000 to -200 (AK09916), -1000 to -150. They are narrower than the field around us and the
  /// chip's own offset, so both are taken to be kept out of it, of which no datasheet says anything.
  private var source: Vector3 {
    guard chip != .ak8963 || selfTest & 0x40 != 0 else { return .zero }
    return tampering.selfTestShare * Vector3(0, 0, chip == .ak8963 ? -240 : -80)
  }

  private var hasPin: Bool { chip == .ak8963 }

  /// The next conversion's, where there is a pin.
  package var nextRise: Int64 { hasPin ? core.schedule.next : .max }
}

/// Which of the three it is.
package enum AKMTwinVariant: Sendable, Hashable {
  /// In an MPU9250.
  case ak8963
  /// In an ICM20948.
  case ak09916
  /// On a breakout of its own.
  case ak09918
}

extension TwinDescription {
  static let ak8963 = akm("AK8963", .ak8963)
  static let ak09916 = akm("AK09916", .ak09916)
  static let ak09918 = akm("AK09918", .ak09918)

  /// Initial offset up to 300 microtesla, of which a tenth is taken: chips sold are far better. Sensitivity 5 %.
  private static func akm(_ name: String, _ chip: AKMTwinVariant) -> TwinDescription {
    TwinDescription(name, isMagnetometer: true, make: { AKMTwin(chip, $0) }) { random, _ in
      .magnetometer(bias: 30, perKelvin: 0.02, scale: 0.03, clock: 0.02, &random)
    }
  }
}
