// iSentek IST8310 magnetometer (datasheet version 1.2): register map, single measurements, averages. CNTL3 and the
// 16 bits are not described there; they are as PX4's driver has them.

import LinearAlgebra
import SensorTypes

/// The twin of an IST8310, at address 0x0E.
package struct IST8310Twin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x00
  /// What it stands on.
  package var core: TwinCore

  private var control1: UInt8 = 0
  private var control2: UInt8 = 0
  private var control3: UInt8 = 0
  private var selfTest: UInt8 = 0
  private var average: UInt8 = 0
  private var pulse: UInt8 = 0
  /// DOR and DRDY.
  private var status: UInt8 = 0
  private var field = SIMD3<Int16>()

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.core = core }

  /// Power-on reset: at most 50 ms; ArduPilot's driver looks again after 10, and so long is assumed.
  package let startUpTime = 0.01

  /// Reset values: the register map; averaging is off, DRDY is high when it is active.
  package mutating func reset() {
    (control1, control2, control3, selfTest) = (0, 0x0C, 0, 0)
    (average, pulse, status) = (0, 0, 0)
    field = SIMD3()
    core.schedule.stop()
    core.pin = InterruptPin()
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x00: return 0x10
    case 0x02: return status
    case 0x03...0x08:
      let place = Int(register) - 3
      status = 0
      core.pin.set(false, at: core.now)
      let bits = UInt16(bitPattern: field[place / 2])
      return UInt8(truncatingIfNeeded: bits >> UInt16(8 * (place % 2)))
    case 0x0A: return control1
    case 0x0B: return control2
    case 0x0C: return selfTest
    case 0x0D: return control3
    case 0x41: return average
    case 0x42: return pulse
    default: return 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x0A:
      control1 = value & 0x0F
      if control1 == 1 {
        core.schedule.single(at: core.now, duration: core.period(duration))
      } else {
        core.schedule.stop()
      }
    case 0x0B where value & 0x01 != 0: reset()
    case 0x0B: control2 = value & 0x0C
    // What the self-test brings about is not said, so nothing comes of it.
    case 0x0C: selfTest = value & 0x40
    case 0x0D: control3 = value & 0x70
    case 0x41: average = value & 0x3F
    case 0x42: pulse = value & 0xC0
    default: break
    }
  }

  /// Samples a measurement along Y, and along X and Z (AVGCNTL).
  private var samples: (y: Int, xz: Int) {
    (1 << min(4, Int(average >> 3 & 7)), 1 << min(4, Int(average & 7)))
  }

  /// Seconds that a measurement takes: 6 ms with 16 samples a sensor, 5 ms without averaging (200 Hz).
  private var duration: Double { 0.005 + 0.001 * Double(max(samples.y, samples.xz) - 1) / 15 }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    let length = duration
    guard let done = core.schedule.take(until: core.now) else { return }
    control1 = 0
    status = status & 0x01 == 0 ? 0x01 : 0x03
    if control2 & 0x08 != 0 { core.pin.set(true, at: done.first) }
    guard !tampering.isFrozen else { return }
    let middle = done.last &- Int64(0.5e9 * length)
    // The datasheet gives the step (0.3 microtesla) and no noise; that step with 16 samples is assumed.
    let (y, xz) = (Double(16 / samples.y), Double(16 / samples.xz))
    let sigma = 0.3 * Vector3(xz.squareRoot(), y.squareRoot(), xz.squareRoot())
    var measured = core.field(at: middle, sigma: sigma, stream: 6, done)
    // Left-handed: Z points the other way.
    measured.z = -measured.z
    for axis in 0..<3 {
      let scale = control3 & (0x10 << UInt8(axis)) == 0 ? 3.3 : 13.2
      field[axis] = saturated(measured[axis] * scale)
    }
  }

  /// Without DREN the pin is still.
  package var nextRise: Int64 { control2 & 0x08 == 0 ? .max : core.schedule.next }
}

extension TwinDescription {
  /// All of it assumed: the datasheet at hand names no such figures.
  static let ist8310 = TwinDescription("IST8310", isMagnetometer: true, make: IST8310Twin.init) {
    random, _ in
    .magnetometer(bias: 3, perKelvin: 0.03, scale: 0.03, clock: 0.02, &random)
  }
}
