// QST QMC5883L magnetometer (datasheet 1.0, February 2016): register map, data protection, ranges and rates.

import LinearAlgebra
import SensorTypes

/// The twin of a QMC5883L, at address 0x0D.
package struct QMC5883LTwin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x0D
  /// What it stands on.
  package var core: TwinCore

  private var control1: UInt8 = 0
  private var control2: UInt8 = 0
  private var setResetPeriod: UInt8 = 0
  /// DOR, OVL, DRDY.
  private var status: UInt8 = 0
  /// From the first data register read to the last no conversion gets in.
  private var isProtected = false
  private var field = SIMD3<Int16>()
  private var temperature: Int16 = 0

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.core = core }

  /// Table 7: 350 microseconds.
  package let startUpTime = 0.000_35

  /// Registers take their reset values.
  package mutating func reset() {
    (control1, control2, setResetPeriod, status) = (0, 0, 0, 0)
    (field, isProtected) = (SIMD3(), false)
    core.schedule.stop()
    core.pin = InterruptPin()
  }

  /// With ROL_PNT the pointer goes from 06 to 00 (8.2.5).
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    register == 0x06 && control2 & 0x40 != 0 ? 0x00 : register &+ 1
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x00...0x05:
      let value = UInt16(bitPattern: field[Int(register) / 2])
      isProtected = register != 0x05
      status &= ~0x05
      core.pin.set(false, at: core.now)
      return UInt8(truncatingIfNeeded: register % 2 == 0 ? value : value >> 8)
    case 0x06: return status
    case 0x07: return UInt8(truncatingIfNeeded: temperature)
    case 0x08: return UInt8(truncatingIfNeeded: temperature >> 8)
    case 0x09: return control1
    case 0x0A: return control2
    case 0x0B: return setResetPeriod
    case 0x0D: return 0xFF
    default: return 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x09:
      control1 = value
      restart()
    case 0x0A:
      if value & 0x80 != 0 { reset() } else { control2 = value & 0x41 }
    case 0x0B: setResetPeriod = value
    default: break
    }
  }

  private mutating func restart() {
    guard control1 & 0x03 == 1 else { return core.schedule.stop() }
    // ODR, table 18.
    let rates: [Double] = [10, 50, 100, 200]
    core.convert(every: 1 / rates[Int(control1 >> 2 & 3)])
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    // Skipped data, or data that could not get in (6.2.1.3, 6.2.1.4).
    if status & 0x01 != 0 || isProtected || done.count > 1 { status |= 0x04 }
    guard !isProtected else { return }
    if !tampering.isFrozen { convert(done) }
    status |= 0x01
    if control2 & 0x01 == 0 { core.pin.set(true, at: done.first) }
  }

  private mutating func convert(_ done: Conversions) {
    let middle = done.last &- 2_500_000
    // Field resolution, table 2: 2 mgauss at 2 gauss and, it is assumed, 512 samples.
    let samples = Double(512 >> Int(control1 >> 6))
    let sigma = 0.2 * (512 / samples).squareRoot()
    let measured = core.field(at: middle, sigma: Vector3(repeating: sigma), stream: 3, done)
    // RNG, table 2.
    let counts = measured * 0.01 * (control1 & 0x10 == 0 ? 12_000 : 3_000)
    status &= ~0x02
    for axis in 0..<3 {
      field[axis] = saturated(counts[axis])
      if abs(counts[axis]) > 32767 { status |= 0x02 }
    }
    // 100 counts a degree, from nowhere in particular (9.2.3).
    temperature = saturated(core.stimulus(at: middle).temperature * 100)
  }

  /// A pin that is switched off does not rise.
  package var nextRise: Int64 { control2 & 0x01 == 0 ? core.schedule.next : .max }
}

extension TwinDescription {
  /// Table 2: offset 10 mgauss, sensitivity 0.05 %/K.
  static let qmc5883l = TwinDescription("QMC5883L", isMagnetometer: true, make: QMC5883LTwin.init) {
    random, _ in
    .magnetometer(bias: 10, perKelvin: 0.015, scale: 0.02, clock: 0.05, &random)
  }
}
