// PNI RM3100 magnetometer (user manual 1017252 r03): cycle counts, continuous and single measurements, data-ready.

import LinearAlgebra
import SensorTypes

/// The twin of an RM3100 over I2C.
package struct RM3100Twin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x36
  /// What it stands on.
  package var core: TwinCore

  private var mode: UInt8 = 0
  private var poll: UInt8 = 0
  /// CCX, CCY and CCZ, high byte first.
  private var cycles: [UInt8] = []
  private var rate: UInt8 = 0
  /// STE, ZOK, YOK, XOK, BW and BP.
  private var selfTest: UInt8 = 0
  private var isTesting = false
  private var outputs = [UInt8](repeating: 0, count: 9)
  private var isReady = false

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.core = core }

  /// The manual names no start-up time.
  package let startUpTime = 0.001

  /// Registers take the manual's default values.
  package mutating func reset() {
    (mode, poll, rate, selfTest, isTesting) = (0, 0, 0x96, 0, false)
    cycles = [0x00, 0xC8, 0x00, 0xC8, 0x00, 0xC8]
    core.schedule.stop()
    for index in outputs.indices { outputs[index] = 0 }
    isReady = false
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x00: return poll
    case 0x01:
      // To read the mode ends continuous measurement (5.2).
      let value = mode
      mode &= ~0x01
      core.schedule.stop()
      return value
    case 0x04...0x09: return cycles[Int(register) - 0x04]
    case 0x0B: return rate
    case 0x24...0x2C:
      clearReady()
      return outputs[Int(register) - 0x24]
    case 0x33: return selfTest
    // The low bits are indeterminate.
    case 0x34: return (isReady ? 0x80 : 0) | 0x2A
    case 0x35: return 0x1B
    case 0x36: return 0x22
    default: return 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    // HSHAKE as it is by default: any write takes DRDY down.
    clearReady()
    switch register {
    case 0x00:
      poll = value & 0x70
      guard mode & 0x01 == 0, poll != 0 else { break }
      // With STE the self-test is run in a measurement's place, each coil for as long as BW gives it (tables 5-9 and 5-10).
      isTesting = selfTest & 0x80 != 0
      let waits: [Double] = [0, 30e-6, 60e-6, 120e-6]
      core.schedule.single(
        at: core.now, duration: isTesting ? 3 * waits[Int(selfTest >> 2 & 3)] : measurement)
    case 0x01:
      mode = value & 0xFD
      restart()
    case 0x04...0x09: cycles[Int(register) - 0x04] = value
    case 0x0B:
      rate = 0x90 | value & 0x0F
      // To write it ends continuous measurement (5.2).
      mode &= ~0x01
      core.schedule.stop()
    case 0x33: selfTest = selfTest & 0x70 | value & 0x8F
    default: break
    }
  }

  /// XOK, YOK and ZOK. Without a time (BW) or periods (BP) no coil is heard.
  private mutating func judge() {
    selfTest &= 0x8F
    guard selfTest & 0x0C != 0, selfTest & 0x03 != 0 else { return }
    for axis in 0..<3 where tampering.finds(sound: axis) { selfTest |= 0x10 << UInt8(axis) }
  }

  private mutating func clearReady() {
    isReady = false
    core.pin.set(false, at: core.now)
  }

  private func cycleCount(_ axis: Int) -> Int {
    Int(cycles[2 * axis]) << 8 | Int(cycles[2 * axis + 1])
  }

  /// Seconds of the three measurements: table 3-1 for 50, 100 and 200 cycles, in proportion otherwise.
  private var measurement: Double {
    let mean = Double(cycleCount(0) + cycleCount(1) + cycleCount(2)) / 3
    switch mean {
    case 50: return 1 / 534
    case 100: return 1 / 283
    case 200: return 1 / 147
    default: return mean / 200 / 147
    }
  }

  /// Table 5-4, Hz, from 0x92 on.
  private static let rates = [
    600, 300, 150, 75, 37, 18, 9, 4.5, 2.3, 1.2, 0.6, 0.3, 0.15, 0.075,
  ]

  private mutating func restart() {
    core.schedule.stop()
    guard mode & 0x01 != 0 else { return }
    let index = max(0, min(Self.rates.count - 1, Int(rate & 0x0F) - 2))
    // Where the cycles take longer they make the rate.
    core.convert(every: max(1 / Self.rates[index], measurement))
  }

  /// Counts a microtesla: table 3-1, and the line of figure 5-1 otherwise.
  private func gain(_ axis: Int) -> Double {
    switch cycleCount(axis) {
    case 50: 20
    case 100: 38
    case 200: 75
    default: 0.3671 * Double(cycleCount(axis)) + 1.5
    }
  }

  /// Table 3-1: 30, 20 and 15 nT.
  private func noise(_ axis: Int) -> Double {
    cycleCount(axis) >= 200 ? 0.015 : cycleCount(axis) >= 100 ? 0.02 : 0.03
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    let axes = mode & 0x01 != 0 ? mode : poll
    if mode & 0x01 == 0 { poll = 0 }
    if isTesting {
      isTesting = false
      judge()
    } else if !tampering.isFrozen {
      convert(done, axes: axes)
    }
    // DRDM 00 and 11 want an alarm, which nobody has set.
    let raises = mode & 0x01 == 0 || mode & 0x0C == 0x04 || mode & 0x0C == 0x08
    guard raises else { return }
    isReady = true
    core.pin.set(true, at: done.first)
  }

  private mutating func convert(_ done: Conversions, axes: UInt8) {
    let middle = done.last &- Int64(measurement * 0.5e9)
    let field = core.field(
      at: middle, sigma: Vector3(noise(0), noise(1), noise(2)), stream: 10, done)
    for axis in 0..<3 where axes & (0x10 << UInt8(axis)) != 0 {
      let counts = saturated(field[axis] * gain(axis), bits: 24)
      for byte in 0..<3 {
        outputs[3 * axis + byte] = UInt8(truncatingIfNeeded: counts >> Int32(16 - 8 * byte))
      }
    }
  }
}

extension TwinDescription {
  /// The manual names no offset: the sensor has none to speak of. Rates: 7 %, one sigma.
  static let rm3100 = TwinDescription("RM3100", isMagnetometer: true, make: RM3100Twin.init) {
    random, _ in
    .magnetometer(bias: 1, perKelvin: 0.005, scale: 0.01, clock: 0.07, &random)
  }
}
