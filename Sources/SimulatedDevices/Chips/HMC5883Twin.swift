// Honeywell HMC5883L (form 900405 rev. E), and the magnetometer half of the ST LSM303DLHC (DocID018771), which is
// a relative of it: X, Z, Y order, big-endian, own address pointer.

import LinearAlgebra
package import SensorTypes

/// The twin of an HMC5883L or of the magnetometer in an LSM303DLHC, at address 0x1E.
///
/// ST's datasheet is short on data-ready; Honeywell's says what is modelled for both: RDY goes low only for the
/// 250 microseconds in which new data is written, so it is *not* cleared by reading.
package struct HMC5883Twin: ConvertingTwin {
  /// The register that tells which chip it is.
  ///
  /// IRA; IRB and IRC follow.
  package let identityRegister: UInt8? = 0x0A
  /// What it stands on.
  package var core: TwinCore
  private let model: HMC5883TwinVariant

  private var configurationA: UInt8 = 0x10
  private var configurationB: UInt8 = 0x20
  private var mode: UInt8 = 0x03
  /// GN as the next conversion has it: an HMC5883L makes one more with the old gain after a change.
  private var gain: UInt8 = 1
  private var field = SIMD3<Int16>()
  private var temperature: Int16 = 0
  /// Output bytes that were read since the data was last complete, one bit each.
  private var readMask: UInt8 = 0
  /// Reading the mode register locks the outputs of an HMC5883L.
  private var isModeRead = false
  private var hasData = false

  /// Makes an HMC5883L that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, model: .hmc5883l) }

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore, model: HMC5883TwinVariant) {
    self.core = core
    self.model = model
  }

  /// Applies power: registers take their reset values and the start-up time begins.
  ///
  /// Reset values: the register descriptions of the datasheets. An HMC5883L answers after 200 microseconds and
  /// makes one measurement by itself, which is there after 56 ms (specifications, "Turn-on Time"; "Operational
  /// Examples").
  package mutating func powerOn(at time: Timestamp) {
    (configurationA, configurationB, gain) = (0x10, 0x20, 1)
    core.schedule.stop()
    field = SIMD3()
    unlock()
    hasData = false
    switch model {
    case .hmc5883l:
      mode = 0x01
      core.power(at: time, answersAfter: 0.0002)
      core.schedule.single(at: core.now, duration: 0.056)
    case .lsm303dlhc:
      mode = 0x03
      // Turn-on time of the interface: 5 ms.
      core.power(at: time, answersAfter: 0.005)
    }
  }

  private mutating func unlock() {
    readMask = 0
    isModeRead = false
  }

  /// The register that follows in the same transfer.
  ///
  /// ST's section 5.1.3, and Honeywell's "Register Access": 08 rolls back to 03, 12 and above to 00.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    if register == 0x08 { return 0x03 }
    return register >= 0x0C ? 0x00 : register + 1
  }

  private var isLocked: Bool { readMask != 0 || isModeRead }

  /// Whether the output registers are being written at this moment.
  private var isWriting: Bool {
    !isLocked && !core.schedule.isIdle && core.schedule.period > 0
      && core.schedule.next - core.now <= 250_000
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x00: return configurationA
    case 0x01: return configurationB
    case 0x02:
      isModeRead = model == .hmc5883l
      return mode
    case 0x03...0x08:
      let offset = Int(register) - 0x03
      readMask |= 1 << UInt8(offset)
      if readMask == 0x3F { unlock() }
      // X, Z, Y.
      let axis = offset / 2 == 0 ? 0 : 3 - offset / 2
      let value = UInt16(bitPattern: field[axis])
      return UInt8(truncatingIfNeeded: offset % 2 == 0 ? value >> 8 : value)
    case 0x09: return (isLocked ? 0x02 : 0) | (hasData && !isWriting ? 0x01 : 0)
    case 0x0A: return 0x48
    case 0x0B: return 0x34
    case 0x0C: return 0x33
    case 0x31 where model == .lsm303dlhc: return UInt8(truncatingIfNeeded: temperature >> 8)
    case 0x32 where model == .lsm303dlhc: return UInt8(truncatingIfNeeded: temperature)
    default: return 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x00:
      configurationA = value & (model == .hmc5883l ? 0x7F : 0x9C)
      unlock()
      restart()
    case 0x01: configurationB = value & 0xE0
    case 0x02:
      mode = value & 0x03
      unlock()
      restart()
    default: break
    }
  }

  /// Output data rate by DO, Hz; 7 is reserved in an HMC5883L.
  private var rate: Double {
    switch configurationA >> 2 & 7 {
    case 0: 0.75
    case 1: 1.5
    case 2: 3
    case 3: 7.5
    case 4: 15
    case 5: 30
    case 7 where model == .lsm303dlhc: 220
    default: 75
    }
  }

  /// Counts per gauss by GN: Honeywell's table 9; ST's table 75, where Z has its own and GN 0 is not defined.
  private var countsPerGauss: Vector3 {
    if model == .hmc5883l {
      let counts: [Double] = [1370, 1090, 820, 660, 440, 390, 330, 230]
      return Vector3(repeating: counts[Int(gain)])
    }
    return switch gain {
    case 2: Vector3(855, 855, 760)
    case 3: Vector3(670, 670, 600)
    case 4: Vector3(450, 450, 400)
    case 5: Vector3(400, 400, 355)
    case 6: Vector3(330, 330, 295)
    case 7: Vector3(230, 230, 205)
    default: Vector3(1100, 1100, 980)
    }
  }

  private mutating func restart() {
    switch mode {
    case 0: core.convert(every: 1 / rate)
    case 1: core.schedule.single(at: core.now, duration: 0.006)
    default:
      core.schedule.stop()
      if model == .lsm303dlhc { hasData = false }
    }
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if mode == 1 { mode = 0x03 }
    hasData = true
    core.pin.pulse(at: done.last)
    // The first conversion after a change of the gain has the old one (Honeywell, "Configuration Register B").
    if model == .lsm303dlhc || done.count > 1 { gain = configurationB >> 5 }
    if !tampering.isFrozen && !isLocked { convert(done) }
    gain = configurationB >> 5
  }

  private mutating func convert(_ done: Conversions) {
    // One measurement takes 6 ms; the mean of several takes as many times that.
    let averaged = model == .hmc5883l ? 1 << Int(configurationA >> 5 & 3) : 1
    let middle = done.last &- 3_000_000 &* Int64(averaged)
    // Field resolution, ST's magnetic resolution: 2 mgauss.
    let sigma = 0.2 / Double(averaged).squareRoot()
    let measured = core.field(at: middle, sigma: Vector3(repeating: sigma), stream: 2, done)
    var counts = measured * 0.01 * countsPerGauss
    if let bias {
      // The field alone is measured first and taken away; either measurement may be too much.
      let biased = counts + bias * countsPerGauss
      let difference = biased - counts
      for axis in 0..<3 {
        let isBeyond = max(abs(counts[axis]), abs(biased[axis])) > 2047
        counts[axis] = isBeyond ? 4096 : difference[axis]
      }
    }
    for axis in 0..<3 {
      let rounded = counts[axis].rounded()
      // 12 bits; beyond them the register holds -4096.
      field[axis] = rounded < -2048 || rounded > 2047 ? -4096 : Int16(rounded)
    }
    if configurationA & 0x80 != 0 {
      // 12 bits, 8 counts a degree, left-aligned.
      temperature = Int16(saturated(core.stimulus(at: middle).temperature * 8, bits: 12)) << 4
    }
  }

  /// What the offset straps add, gauss, by MS ("Self Test Operation": 1.16 on X and Y, 1.08 on Z).
  private var bias: Vector3? {
    let nominal = tampering.selfTestShare * Vector3(1.16, 1.16, 1.08)
    guard model == .hmc5883l else { return nil }
    return switch configurationA & 0x03 {
    case 1: nominal
    case 2: -1 * nominal
    default: nil
    }
  }
}

/// Which of the two it is.
package enum HMC5883TwinVariant: Sendable, Hashable {
  case hmc5883l
  /// The half of ST's.
  case lsm303dlhc
}

extension TwinDescription {
  static let hmc5883l = hmc5883("HMC5883L", .hmc5883l)
  static let lsm303dlhcMagnetometer = hmc5883("LSM303DLHC-M", .lsm303dlhc)

  /// The datasheets name no offset; that of the LIS3MDL is taken.
  private static func hmc5883(_ name: String, _ model: HMC5883TwinVariant) -> TwinDescription {
    TwinDescription(
      name, isMagnetometer: true, make: { HMC5883Twin($0, model: model) }
    ) { random, _ in
      .magnetometer(bias: 10, perKelvin: 0.015, scale: 0.01, clock: 0.02, &random)
    }
  }
}
