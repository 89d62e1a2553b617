// Memsic MMC5603NJ magnetometer (datasheet rev. B): write-only control registers, SET and RESET, continuous measurement.

import LinearAlgebra
import SensorTypes

/// The twin of an MMC5603NJ over I2C. It has no interrupt pin.
package struct MMC5603Twin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x39
  /// What it stands on.
  package var core: TwinCore

  /// ODR and Internal Control 0 to 2, none of which can be read.
  private var controls: [UInt8] = [0, 0, 0, 0]
  /// What Cmm_freq_en has worked out, seconds; 0 before.
  private var period = 0.0
  /// 1 after a SET, -1 after a RESET.
  private var polarity = 1.0
  private var outputs = [UInt8](repeating: 0, count: 9)
  private var isDone = false

  /// The offset of the bridges, microtesla: within "Null Field Output", 1 gauss. It has the same sign after a SET as after
  /// a RESET, so that half of the difference of the two does not contain it.
  static let bridge = Vector3(35, -48, 22)

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.core = core }

  /// "The power on time is 20 ms"; nothing says that the interface is dead meanwhile.
  package let startUpTime = 0.001

  /// Registers take their reset values.
  package mutating func reset() {
    controls = [0, 0, 0, 0]
    period = 0
    polarity = 1
    core.schedule.stop()
    for index in outputs.indices { outputs[index] = 0 }
    isDone = false
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x00...0x08:
      // "This bit is reset only when any of the magnetic data registers is read."
      isDone = false
      return outputs[Int(register)]
    case 0x09: return UInt8(max(0, min(255, (core.stimulus(at: core.now).temperature + 75) / 0.8)))
    // Meas_m_done and OTP_read_done.
    case 0x18: return (isDone ? 0x40 : 0) | 0x10
    case 0x39: return 0x10
    default: return 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    guard (0x1A...0x1D).contains(register) else { return }
    controls[Int(register) - 0x1A] = value
    switch register {
    case 0x1B:
      if value & 0x08 != 0 { polarity = 1 }
      if value & 0x10 != 0 { polarity = -1 }
      if value & 0x80 != 0, controls[0] > 0 { period = max(1 / Double(controls[0]), duration) }
      if value & 0x01 != 0, !isContinuous {
        core.schedule.single(at: core.now, duration: duration)
      }
    case 0x1C: if value & 0x80 != 0 { reset() }
    case 0x1D:
      core.schedule.stop()
      // The period must have been worked out before.
      guard isContinuous, period > 0 else { return }
      core.convert(every: period)
    default: break
    }
  }

  private var isContinuous: Bool { controls[3] & 0x10 != 0 }

  private var setsAndResets: Bool { controls[1] & 0x20 != 0 }

  /// Seconds of an output: BW, and twice that with Auto_SR_en (of which the highest rates follow: 75 or 150 Hz,
  /// 150 or 255 Hz).
  private var duration: Double {
    let single = [0.0066, 0.0035, 0.002, 0.0012][Int(controls[2] & 0x03)]
    return setsAndResets ? 2 * single : single
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    isDone = true
    guard !tampering.isFrozen else { return }
    // "Total RMS Noise", typical, by BW.
    let sigma = [0.15, 0.2, 0.3, 0.4][Int(controls[2] & 0x03)]
    var measured = core.field(
      at: done.last &- Int64(duration * 0.5e9), sigma: Vector3(repeating: sigma), stream: 11, done)
    // After a SET "Output1 = +H + Offset", after a RESET "Output2 = -H + Offset"; Auto_SR_en gives half of Output1 - Output2.
    if !setsAndResets { measured = polarity * measured + Self.bridge }
    for axis in 0..<3 {
      let counts = saturated(measured[axis] / 100 * 16384, bits: 20) + 524_288
      outputs[2 * axis] = UInt8(truncatingIfNeeded: counts >> 12)
      outputs[2 * axis + 1] = UInt8(truncatingIfNeeded: counts >> 4)
      outputs[6 + axis] = UInt8(truncatingIfNeeded: counts << 4)
    }
  }

  /// There is no pin.
  package var nextRise: Int64 { .max }
}

extension TwinDescription {
  /// With SET and RESET little is left of the offset: 5 mG is assumed, and "Null Field Output Change Over Temperature" is
  /// 0.2 mG/C. Sensitivity 5 %, of which a fifth is taken.
  static let mmc5603 = TwinDescription("MMC5603", isMagnetometer: true, make: MMC5603Twin.init) {
    random, _ in
    .magnetometer(bias: 0.5, perKelvin: 0.02, scale: 0.01, clock: 0.03, &random)
  }
}
