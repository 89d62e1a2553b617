// ST LSM303DLHC, magnetometer half (datasheet DocID018771): X, Z, Y order, big-endian, own address pointer.

import LinearAlgebra
public import SensorTypes

/// The twin of the magnetometer in an LSM303DLHC, at address 0x1E.
///
/// The datasheet is short on data-ready; the die is a relative of Honeywell's HMC5883L, whose datasheet
/// says what is modelled here: RDY goes low only for the 250 microseconds in which new data is written,
/// so it is *not* cleared by reading.
public struct LSM303DLHCMagnetometerTwin: ConvertingTwin {
  /// The register that tells which chip it is.
  ///
  /// IRA_REG_M; IRB and IRC follow.
  public let identityRegister: UInt8? = 0x0A
  /// What it stands on.
  public var core: TwinCore

  private var configurationA: UInt8 = 0x10
  private var configurationB: UInt8 = 0x20
  private var mode: UInt8 = 0x03
  private var schedule = ConversionSchedule()
  private var field = SIMD3<Int16>()
  private var temperature: Int16 = 0
  /// Output bytes that were read since the data was last complete, one bit each.
  private var readMask: UInt8 = 0
  private var hasData = false

  /// Makes a chip that is not powered yet: call `powerOn`.
  public init(_ core: TwinCore) { self.core = core }

  /// Applies power: registers take their reset values and the start-up time begins.
  ///
  /// Reset values: register descriptions of the datasheet, "Magnetic field sensing register".
  public mutating func powerOn(at time: Timestamp) {
    (configurationA, configurationB, mode) = (0x10, 0x20, 0x03)
    schedule.stop()
    field = SIMD3()
    readMask = 0
    hasData = false
    // Turn-on time of the interface: 5 ms.
    core.power(at: time, answersAfter: 0.005)
  }

  /// The register that follows in the same transfer.
  ///
  /// Section 5.1.3: 08 rolls back to 03, 12 and above to 00.
  public func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    if register == 0x08 { return 0x03 }
    return register >= 0x0C ? 0x00 : register + 1
  }

  private var isLocked: Bool { readMask != 0 }

  /// Whether the output registers are being written at this moment.
  private var isWriting: Bool {
    !schedule.isIdle && schedule.period > 0 && schedule.next - core.now <= 250_000
  }

  /// Reads one register, with the side effects of reading it.
  public mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x00: return configurationA
    case 0x01: return configurationB
    case 0x02: return mode
    case 0x03...0x08:
      let offset = Int(register) - 0x03
      readMask |= 1 << UInt8(offset)
      if readMask == 0x3F { readMask = 0 }
      // X, Z, Y.
      let axis = offset / 2 == 0 ? 0 : 3 - offset / 2
      let value = UInt16(bitPattern: field[axis])
      return UInt8(truncatingIfNeeded: offset % 2 == 0 ? value >> 8 : value)
    case 0x09: return (isLocked ? 0x02 : 0) | (hasData && !isWriting ? 0x01 : 0)
    case 0x0A: return 0x48
    case 0x0B: return 0x34
    case 0x0C: return 0x33
    case 0x31: return UInt8(truncatingIfNeeded: temperature >> 8)
    case 0x32: return UInt8(truncatingIfNeeded: temperature)
    default: return 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  public mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x00:
      configurationA = value & 0x9C
      readMask = 0
      restart()
    case 0x01: configurationB = value & 0xE0
    case 0x02:
      mode = value & 0x03
      readMask = 0
      restart()
    default: break
    }
  }

  /// Output data rate by DO (CRA_REG_M), Hz.
  private var rate: Double {
    switch configurationA >> 2 & 7 {
    case 0: 0.75
    case 1: 1.5
    case 2: 3
    case 3: 7.5
    case 4: 15
    case 5: 30
    case 6: 75
    default: 220
    }
  }

  /// Counts per gauss by GN (CRB_REG_M): x and y, then z. GN 0 is not defined there.
  private var countsPerGauss: Vector3 {
    switch configurationB >> 5 {
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
    let period = core.period(1 / rate)
    switch mode {
    case 0: schedule.start(at: core.now, firstAfter: period, every: period)
    case 1: schedule.single(at: core.now, duration: 0.006)
    default:
      schedule.stop()
      hasData = false
    }
  }

  /// Takes note of every conversion that is complete.
  public mutating func finish() {
    guard let done = schedule.take(until: core.now) else { return }
    if mode == 1 { mode = 0x03 }
    hasData = true
    core.pin.pulse(at: done.last)
    guard !tampering.isFrozen, !isLocked else { return }
    // One measurement takes 6 ms; the chip averages nothing more.
    let middle = done.last &- 3_000_000
    // Sensor characteristics: magnetic resolution 2 mgauss.
    let measured = core.field(at: middle, sigma: Vector3(repeating: 0.2), stream: 2, done)
    for axis in 0..<3 {
      let counts = (measured[axis] * 0.01 * countsPerGauss[axis]).rounded()
      // 12 bits; beyond them the register holds -4096.
      field[axis] = counts < -2048 || counts > 2047 ? -4096 : Int16(counts)
    }
    if configurationA & 0x80 != 0 {
      // 12 bits, 8 counts a degree, left-aligned.
      temperature = Int16(saturated(core.stimulus(at: middle).temperature * 8, bits: 12)) << 4
    }
  }

  /// When the next conversion will be complete.
  public var nextConversion: Int64 { schedule.next }
}

extension TwinDescription {
  /// The datasheet names no offset; that of the LIS3MDL is taken.
  static let lsm303dlhcMagnetometer = TwinDescription(
    "LSM303DLHC-M", isMagnetometer: true, make: LSM303DLHCMagnetometerTwin.init
  ) { random, _ in
    .magnetometer(bias: 10, perKelvin: 0.015, scale: 0.01, clock: 0.02, &random)
  }
}
