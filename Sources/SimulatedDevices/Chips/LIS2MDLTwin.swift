// ST LIS2MDL magnetometer (datasheet DS12144): register map, data-ready, rates.

import LinearAlgebra
import SensorTypes

/// The twin of a LIS2MDL over I2C, at address 0x1E; an LSM303AGR's magnetometer and an IIS2MDC are the same.
package struct LIS2MDLTwin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x4F
  /// What it stands on.
  package var core: TwinCore

  /// 0x40 to 0x6F.
  private var registers = [UInt8](repeating: 0, count: 0x30)
  private var outputs = AxisOutputs()
  private var temperature: Int16 = 0
  private var pending = SIMD3<Int16>()

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.core = core }

  /// Booting takes 20 ms; when in it the interface answers is not said, and half of it is assumed.
  package let startUpTime = 0.01

  /// Reset values: the register address map.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    self[0x4F] = 0x40
    self[0x60] = 0x03
    self[0x63] = 0xE0
    core.schedule.stop()
    outputs = AxisOutputs()
    core.pin = InterruptPin()
  }

  private subscript(register: UInt8) -> UInt8 {
    get { registers[Int(register) - 0x40] }
    set { registers[Int(register) - 0x40] = newValue }
  }

  /// The most significant bit of a sub-address has no meaning; transfers always move on (6.1.1).
  package func firstRegister(_ subaddress: UInt8) -> UInt8 { subaddress & 0x7F }

  /// The register that follows in the same transfer.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    (register &+ 1) & 0x7F
  }

  private var blockUpdate: Bool { self[0x62] & 0x10 != 0 }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x67: return outputs.status
    case 0x68...0x6D:
      // BLE: most significant byte at the lower address.
      let offset = Int(register) - 0x68 ^ (self[0x62] & 0x08 == 0 ? 0 : 1)
      let byte = outputs.byte(offset, blockUpdate: blockUpdate, clearsWhole: false)
      core.pin.set(drivesPin && outputs.ready & 0x08 != 0, at: core.now)
      return byte
    case 0x6E: return UInt8(truncatingIfNeeded: temperature)
    case 0x6F: return UInt8(truncatingIfNeeded: temperature >> 8)
    case 0x40...0x66: return self[register]
    default: return 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x60 where value & 0x20 != 0: reset()
    case 0x60:
      // REBOOT clears itself.
      self[0x60] = value & 0x9F
      restart()
    case 0x61: self[0x61] = value & 0x1F
    case 0x62: self[0x62] = value & 0x7F
    case 0x63: self[0x63] = value & 0xE7
    case 0x45...0x4A, 0x65, 0x66: self[register] = value
    default: break
    }
  }

  private mutating func restart() {
    let rates: [Double] = [10, 20, 50, 100]
    switch self[0x60] & 3 {
    case 0: core.convert(every: 1 / rates[Int(self[0x60] >> 2 & 3)])
    case 1: core.schedule.single(at: core.now, duration: conversion)
    default: core.schedule.stop()
    }
  }

  /// Turn-on time, seconds: 9.4 ms in high resolution, 6.4 in low power.
  private var conversion: Double { self[0x60] & 0x10 == 0 ? 0.0094 : 0.0064 }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if self[0x60] & 3 == 1 { self[0x60] |= 0x03 }
    if !tampering.isFrozen { convert(done) }
    outputs.load(pending, count: done.count, blockUpdate: blockUpdate, frozen: tampering.isFrozen)
    core.pin.set(drivesPin, at: done.first)
  }

  private mutating func convert(_ done: Conversions) {
    let middle = done.last &- Int64(0.5e9 * conversion)
    // Magnetic characteristics: 3 mgauss with offset cancellation or the filter; 4.5 without, by noise twice as
    // wide.
    let sigma = self[0x61] & 0x03 == 0 ? 0.45 : 0.3
    var field = core.field(at: middle, sigma: Vector3(repeating: sigma), stream: 5, done)
    // Left-handed: Z points the other way.
    field.z = -field.z
    // Self-test: 15 to 500 mgauss.
    if self[0x62] & 0x02 != 0 { field += tampering.selfTestShare * Vector3(6, 6, 6) }
    for axis in 0..<3 {
      let low = self[UInt8(0x45 + 2 * axis)]
      let high = self[UInt8(0x46 + 2 * axis)]
      let offset = Int16(bitPattern: UInt16(low) | UInt16(high) << 8)
      pending[axis] = saturated(field[axis] / 0.15 - Double(offset))
    }
    // 8 counts a degree, 0 at 25.
    temperature = saturated((core.stimulus(at: middle).temperature - 25) * 8)
  }

  private var drivesPin: Bool { self[0x62] & 0x01 != 0 }

  /// Data-ready reaches the pin with DRDY_on_PIN only.
  package var nextRise: Int64 { drivesPin ? core.schedule.next : .max }
}

extension TwinDescription {
  /// Offset 60 mgauss, sensitivity 7 %, 0.3 mgauss a kelvin (magnetic characteristics).
  static let lis2mdl = TwinDescription("LIS2MDL", isMagnetometer: true, make: LIS2MDLTwin.init) {
    random, _ in
    .magnetometer(bias: 6, perKelvin: 0.03, scale: 0.07, clock: 0.02, &random)
  }
}
