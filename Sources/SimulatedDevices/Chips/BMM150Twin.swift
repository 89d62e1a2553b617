// Bosch BMM150 magnetometer (BST-BMM150-DS001-01): power modes, repetitions, rates, trim, data-ready.

import LinearAlgebra
package import SensorTypes

/// The trim of a BMM150, and the way back through its compensation (Bosch's BMM150_SensorAPI, as the datasheet wants
/// it to be used).
package struct BMM150TwinTrim: Sendable, Hashable {
  /// Offset and gain of X and Y, 8 bits signed.
  package var x1 = 0, y1 = 0, x2 = 26, y2 = 25
  /// Of Z: 16 bits, the first unsigned.
  package var z1 = 23686, z2 = 747, z3 = -113, z4 = 9
  /// Of X and Y with temperature: 8 bits, the first unsigned.
  package var xy1 = 29, xy2 = -3
  /// The Hall resistance of the trim, 15 bits unsigned.
  package var xyz1 = 6686
  /// The bit above those, which Bosch's API leaves out and the kernel's bmc150_magn takes for one of them.
  package var hasTopBit = false

  /// Values of the size that real chips carry.
  package init() {}

  func store(into registers: inout [UInt8]) {
    func put(_ value: Int, at register: Int, bytes: Int = 1) {
      for byte in 0..<bytes {
        registers[register + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte))
      }
    }
    put(x1, at: 0x5D)
    put(y1, at: 0x5E)
    put(z4, at: 0x62, bytes: 2)
    put(x2, at: 0x64)
    put(y2, at: 0x65)
    put(z2, at: 0x68, bytes: 2)
    put(z1, at: 0x6A, bytes: 2)
    put(xyz1 | (hasTopBit ? 0x8000 : 0), at: 0x6C, bytes: 2)
    put(z3, at: 0x6E, bytes: 2)
    put(xy2, at: 0x70)
    put(xy1, at: 0x71)
  }

  /// What X and Y (0 and 1) and Z (2) put out in a field of so many microtesla.
  func counts(_ field: Double, axis: Int, resistance: Int) -> Double {
    let r = Double(resistance)
    if axis == 2 {
      let slope = (Double(z2) + Double(z1) * r / 32768) * 64
      return (field * slope + Double(z3) * (r - Double(xyz1))) / 131_072 + Double(z4)
    }
    let c = Double(xyz1) * 16384 / r - 16384
    let gain = Double(xy2) * c * c / 268_435_456 + c * Double(xy1) / 16384 + 256
    let (offset, scale) = axis == 0 ? (x1, x2) : (y1, y2)
    return (field * 16 - Double(offset) * 8) * 8192 / (gain * (Double(scale) + 160))
  }
}

/// The twin of a BMM150 over I2C.
package struct BMM150Twin: ConvertingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x40
  /// What it stands on.
  package var core: TwinCore

  private let trim: BMM150TwinTrim
  private var registers = [UInt8](repeating: 0, count: 128)
  private var isReady = false
  /// From when on the registers other than 0x4B can be read, nanoseconds; `.max` in suspend.
  private var awakeFrom = Int64.max
  /// Nanoseconds; when the self-test under way is over; `.max` without one.
  private var testEnds = Int64.max

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, trim: BMM150TwinTrim()) }

  /// Makes a chip with a trim of its own, not powered yet: call `powerOn`.
  package init(_ core: TwinCore, trim: BMM150TwinTrim) {
    self.core = core
    self.trim = trim
  }

  /// Applies power: the chip is in suspend (4.2.2).
  package mutating func powerOn(at time: Timestamp) {
    reset()
    awakeFrom = .max
    // Start-up time: 1 ms.
    core.power(at: time, answersAfter: 0.001)
  }

  /// Default values: 5.2.
  private mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x40] = 0x32
    registers[0x4C] = 0x06
    registers[0x4D] = 0x3F
    registers[0x4E] = 0x07
    // The flags of the self-test: 1 by default (tables 6, 8 and 10).
    for register in [0x42, 0x44, 0x46] { registers[register] = 0x01 }
    testEnds = .max
    trim.store(into: &registers)
    core.schedule.stop()
    isReady = false
    core.pin = InterruptPin()
  }

  private var isAwake: Bool { core.now >= awakeFrom }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    if register == 0x4B { return awakeFrom == .max ? 0x00 : 0x01 }
    guard isAwake, register < 0x80 else { return 0 }
    endTest()
    let value = registers[Int(register)]
    guard (0x42...0x49).contains(register) else { return value }
    let flagged = register == 0x48 ? value | (isReady ? 0x01 : 0) : value
    // To read any of the outputs ends data ready; the flag goes with the last of a burst.
    if register == 0x49 {
      isReady = false
      updatePin(at: core.now)
    }
    return flagged
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x4B:
      // Both bits make a soft reset (5.6).
      if value & 0x82 == 0x82, awakeFrom != .max { reset() }
      if value & 0x01 == 0 {
        reset()
        awakeFrom = .max
      } else if awakeFrom == .max {
        // Suspend to sleep: 3 ms.
        awakeFrom = core.now &+ 3_000_000
      }
    case 0x4C where isAwake:
      registers[0x4C] = value
      // From sleep alone (4.4.1). How long it takes is not said; Bosch's driver looks after 2 ms.
      testEnds = value & 0x07 == 0x07 ? core.now &+ 1_000_000 : .max
      restart()
    case 0x4D...0x52 where isAwake:
      registers[Int(register)] = value
      updatePin(at: core.now)
    default: break
    }
  }

  /// The bit goes down when it is over, and each axis has its flag (4.4.1).
  private mutating func endTest() {
    guard core.now >= testEnds else { return }
    testEnds = .max
    registers[0x4C] &= ~0x01
    for axis in 0..<3 {
      let flag = 0x42 + 2 * axis
      registers[flag] = registers[flag] & ~0x01 | (tampering.finds(sound: axis) ? 0x01 : 0)
    }
  }

  /// Data ready to its pin: bit 7 of 0x4E; active high with bit 2.
  private mutating func updatePin(at time: Int64) {
    let isOn = registers[0x4E] & 0x80 != 0
    core.pin.set(isOn && isReady == (registers[0x4E] & 0x04 != 0), at: time)
  }

  /// Seconds of one measurement (4.2.4).
  private var measurement: Double {
    let xy = Double(registers[0x51]) * 2 + 1
    let z = Double(registers[0x52]) + 1
    return 145e-6 * xy + 500e-6 * z + 980e-6
  }

  private mutating func restart() {
    core.schedule.stop()
    switch registers[0x4C] >> 1 & 3 {
    case 0:
      let rate = [10.0, 2, 6, 8, 15, 20, 25, 30][Int(registers[0x4C] >> 3 & 7)]
      core.convert(every: max(1 / rate, measurement))
    case 1: core.schedule.single(at: core.now, duration: measurement)
    default: break
    }
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    // A forced measurement ends in sleep.
    if registers[0x4C] & 0x06 == 0x02 { registers[0x4C] |= 0x06 }
    if !tampering.isFrozen { convert(done) }
    isReady = true
    updatePin(at: done.first)
  }

  private mutating func convert(_ done: Conversions) {
    let middle = done.last &- Int64(measurement * 0.5e9)
    // Table 3: 0.3 microtesla with 47 and 83 repetitions, 0.5 with 15 and 27.
    let sigma = registers[0x51] >= 0x17 ? 0.3 : 0.5
    let field = core.field(at: middle, sigma: Vector3(repeating: sigma), stream: 12, done)
    // How the resistance goes with temperature is not specified; some counts a kelvin.
    let kelvin = core.stimulus(at: middle).temperature - 25
    let resistance = max(1, min(0x3FFF, trim.xyz1 + Int((4 * kelvin).rounded())))
    for axis in 0..<3 {
      let bits = axis == 2 ? 15 : 13
      let counts = trim.counts(field[axis], axis: axis, resistance: resistance).rounded()
      // Beyond its end an axis puts out its lowest number (4.6.6).
      let end = Double(1 << (bits - 1))
      let value = counts > -end && counts < end ? Int(counts) : -Int(end)
      put(value << (16 - bits), at: 0x42 + 2 * axis)
    }
    put(resistance << 2, at: 0x48)
  }

  private mutating func put(_ value: Int, at register: Int) {
    // The lowest bit is a flag, and no part of it.
    registers[register] = UInt8(truncatingIfNeeded: value) & ~0x01 | registers[register] & 0x01
    registers[register + 1] = UInt8(truncatingIfNeeded: value >> 8)
  }

  /// What 0x4E has put on the pin; active low it falls.
  package var nextRise: Int64 { registers[0x4E] & 0x84 == 0x84 ? core.schedule.next : .max }
}

extension TwinDescription {
  /// Zero-field offset: 40 microtesla, of which half is taken. Sensitivity 1 %.
  static let bmm150 = TwinDescription("BMM150", isMagnetometer: true, make: { BMM150Twin($0) }) {
    random, _ in
    .magnetometer(bias: 20, perKelvin: 0.02, scale: 0.01, clock: 0.02, &random)
  }
}
