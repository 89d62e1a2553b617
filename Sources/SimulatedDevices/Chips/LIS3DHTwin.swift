// ST LIS3DH (datasheet DocID17530) and the accelerometer half of an LSM303DLHC (DocID018771): 12 bits left-aligned.

import LinearAlgebra
import SensorTypes

/// The twin of a LIS3DH, or of the accelerometer in an LSM303DLHC. FIFO, click and motion engines hold their
/// configuration and do nothing.
package struct LIS3DHTwin: ResettingTwin, FlagIncrementing {
  /// The register that tells which chip it is; an LSM303DLHC has none.
  package var identityRegister: UInt8? { model == .lis3dh ? 0x0F : nil }
  /// What it stands on.
  package var core: TwinCore

  private let model: LIS3DHTwinVariant
  private var registers = [UInt8](repeating: 0, count: 128)
  private var outputs = AxisOutputs()
  private var pending = SIMD3<Int16>()

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, .lis3dh) }

  /// Makes one of the two that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore, _ model: LIS3DHTwinVariant) {
    self.core = core
    self.model = model
  }

  /// The boot that follows power: 5 ms.
  package let startUpTime = 0.005

  /// Reset values: the datasheet's register address map.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x20] = 0x07
    if model == .lis3dh { (registers[0x0F], registers[0x1E]) = (0x33, 0x10) }
    core.schedule.stop()
    outputs = AxisOutputs()
  }

  private var blockUpdate: Bool { registers[0x23] & 0x80 != 0 }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    if let byte = outputs.byte(
      at: register, blockUpdate: blockUpdate, isBigEndian: registers[0x23] & 0x40 != 0)
    {
      updatePin(at: core.now)
      return byte
    }
    return registers[Int(register)]
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x20:
      let old = registers[0x20]
      registers[0x20] = value
      if old & 0xF8 != value & 0xF8 || core.schedule.isIdle { core.convert(every: 1 / rate) }
    // BOOT (bit 7) clears itself.
    case 0x24: registers[0x24] = value & 0x4F
    case 0x22:
      registers[0x22] = value
      updatePin(at: core.now)
    // Act_THS and Act_DUR.
    case 0x3E, 0x3F: if model == .lis3dh { registers[Int(register)] = value }
    case 0x21, 0x23, 0x25, 0x26, 0x2E, 0x30, 0x32...0x34, 0x36...0x38, 0x3A...0x3D:
      registers[Int(register)] = value
    default: break
    }
  }

  private mutating func updatePin(at time: Int64) {
    // CTRL_REG3_A I1_DRDY1 or I1_DRDY2; CTRL_REG6_A bit 1 inverts.
    let raised = registers[0x22] & 0x18 != 0 && outputs.ready & 0x08 != 0
    core.pin.set(raised != (registers[0x25] & 0x02 != 0), at: time)
  }

  private var isLowPower: Bool { registers[0x20] & 0x08 != 0 }

  /// Output data rate by ODR, Hz; 0 for power-down.
  private var rate: Double {
    switch registers[0x20] >> 4 {
    case 1: 1
    case 2: 10
    case 3: 25
    case 4: 50
    case 5: 100
    case 6: 200
    case 7: 400
    case 8: isLowPower ? 1620 : 0
    case 9: isLowPower ? 5376 : 1344
    default: 0
    }
  }

  /// Milli-g per count of 12 bits by FS (sensor characteristics).
  private var sensitivity: Double {
    switch registers[0x23] >> 4 & 3 {
    case 0: 1
    case 1: 2
    case 2: 4
    default: 12
    }
  }

  /// CTRL_REG4 ST: 01 one way, 10 the other; 68 to 1440 mg (LIS3DH, table 4).
  private var deflection: Vector3 {
    guard model == .lis3dh else { return .zero }
    let signs: [Double] = [0, 1, -1, 0]
    return (tampering.selfTestShare * signs[Int(registers[0x23] >> 1 & 3)] * 9.80665e-3)
      * Vector3(360, 330, 300)
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if !tampering.isFrozen { convert(done) }
    outputs.load(pending, count: done.count, blockUpdate: blockUpdate, frozen: tampering.isFrozen)
    updatePin(at: done.first)
  }

  private mutating func convert(_ done: Conversions) {
    // Sensor characteristics: 220 micro-g per root hertz.
    let sigma = 220e-6 * 9.80665 * (rate / 2).squareRoot()
    // The bandwidth is half the rate, so the output lags by about half a period.
    let middle = done.last &- core.schedule.period / 2
    let measured = core.force(at: middle, sigma: sigma, stream: 3, done) + deflection
    // High resolution 12 bits, normal 10, low power 8 (the LIS3DH family); always left-aligned.
    let dropped: Int32 = isLowPower ? 4 : registers[0x23] & 0x08 != 0 ? 0 : 2
    for axis in 0..<3 {
      let isOn = registers[0x20] & (1 << UInt8(axis)) != 0
      let counts = saturated(measured[axis] / 9.80665e-3 / sensitivity, bits: 12)
      pending[axis] = isOn ? Int16((counts >> dropped) << dropped) << 4 : 0
    }
  }

  /// Only where data ready is on the pin.
  package var nextRise: Int64 { registers[0x22] & 0x18 != 0 ? core.schedule.next : .max }
}

/// Which of the two.
package enum LIS3DHTwinVariant: Sendable, Hashable {
  /// With an identity and a self-test.
  case lis3dh
  case lsm303dlhc
}

extension TwinDescription {
  /// Zero-g 40 mg, 0.5 mg a kelvin.
  static let lis3dh = accelerometer("LIS3DH", .lis3dh, zeroG: 0.04)
  /// Zero-g 60 mg, 0.5 mg a kelvin.
  static let lsm303dlhcAccelerometer = accelerometer("LSM303DLHC-A", .lsm303dlhc, zeroG: 0.06)

  private static func accelerometer(
    _ name: String, _ model: LIS3DHTwinVariant, zeroG: Double
  ) -> TwinDescription {
    TwinDescription(name, make: { LIS3DHTwin($0, model) }) { random, bias in
      .inertial(
        bias: bias * zeroG, perKelvin: bias * 0.5e-3, scale: 0.003, clock: 0.02, &random)
    }
  }
}
