// QST QMC5883P (document 13-52-19 rev. A) and QMC6310 (rev. A) magnetometers: register map, data-ready, ranges, rates.

import LinearAlgebra
import SensorTypes

/// The twin of a QMC5883P, at address 0x2C, or of a QMC6310, which differs by its address.
package struct QMC5883PTwin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x00
  /// What it stands on.
  package var core: TwinCore

  private var control1: UInt8 = 0
  private var control2: UInt8 = 0
  private var axisSigns: UInt8 = 0
  /// OVFL, DRDY: raised by a conversion, gone when they are read.
  private var flags: UInt8 = 0
  private var field = SIMD3<Int16>()

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.core = core }

  /// Table 7: 250 microseconds.
  package let startUpTime = 0.000_25

  /// Registers take their reset values.
  package mutating func reset() {
    (control1, control2, axisSigns, flags) = (0, 0, 0, 0)
    field = SIMD3()
    core.schedule.stop()
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x00: return 0x80
    case 0x01...0x06:
      let word = UInt16(bitPattern: field[Int(register - 1) / 2])
      return UInt8(truncatingIfNeeded: register % 2 == 1 ? word : word >> 8)
    case 0x09:
      defer { flags = 0 }
      return flags
    case 0x0A: return control1
    case 0x0B: return control2
    case 0x29: return axisSigns
    default: return 0
    }
  }

  /// Writes one register, with the side effects of writing it; the data registers take nothing.
  ///
  /// That SOFT_RST clears itself, as SELF_TEST does, is not said (QMC6310: table 16): here it stays, and the chip in its
  /// reset, until it is cleared. Of what may be, the harder for a driver.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    if register != 0x0B, control2 & 0x80 != 0 { return }
    switch register {
    case 0x0A:
      control1 = value
      restart()
    case 0x0B where value & 0x80 != 0:
      reset()
      control2 = 0x80
    // The self-test needs continuous mode; what it adds is nowhere said, so it adds nothing.
    case 0x0B: control2 = value & 0x0F
    case 0x29: axisSigns = value
    default: break
    }
  }

  /// OSR1, table 17: samples a conversion.
  private var samples: Int { 8 >> Int(control1 >> 4 & 3) }

  private mutating func restart() {
    // Continuous mode has no pauses: 1500 conversions a second at the most.
    let fastest = Double(samples) / 1500
    switch control1 & 3 {
    case 1:
      let rates: [Double] = [10, 50, 100, 200]
      core.convert(every: 1 / rates[Int(control1 >> 2 & 3)])
    case 2: core.schedule.single(at: core.now, duration: core.period(fastest))
    case 3: core.convert(every: fastest)
    default: core.schedule.stop()
    }
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if control1 & 3 == 2 { control1 &= ~3 }
    flags |= 0x01
    guard !tampering.isFrozen else { return }
    let middle = done.last &- 2_500_000
    // Field resolution, table 2: 2 mgauss on x and y, 3 on z; the shorter averages are taken as white noise.
    let sigma = (8 / Double(samples)).squareRoot() * Vector3(0.2, 0.2, 0.3)
    let countsPerGauss: [Double] = [1_000, 2_500, 3_750, 15_000]
    let scale = 0.01 * countsPerGauss[Int(control2 >> 2 & 3)]
    let counts = scale * core.field(at: middle, sigma: sigma, stream: 4, done)
    for axis in 0..<3 {
      field[axis] = saturated(counts[axis])
      if abs(counts[axis]) > 30_000 { flags |= 0x02 }
    }
  }

  /// There is no pin.
  package var nextRise: Int64 { .max }
}

extension TwinDescription {
  static let qmc5883p = qmc5883p("QMC5883P")
  static let qmc6310 = qmc5883p("QMC6310")

  /// Table 2: offset 10 mgauss, sensitivity 0.05 %/K.
  private static func qmc5883p(_ name: String) -> TwinDescription {
    TwinDescription(name, isMagnetometer: true, make: QMC5883PTwin.init) { random, _ in
      .magnetometer(bias: 10, perKelvin: 0.015, scale: 0.02, clock: 0.05, &random)
    }
  }
}
