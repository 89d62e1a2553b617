// Bosch BMM350 magnetometer (BST-BMM350-DS001): dummy bytes, OTP words, power commands, latched data-ready.

import LinearAlgebra
package import SensorTypes

/// The OTP words of a BMM350, and the way back through the compensation that Bosch's driver (BMM350_SensorAPI) makes.
package struct BMM350Memory: Sendable, Hashable {
  /// RecordPhrases 0x0D to 0x16, and 0x18.
  package var words: [UInt16]

  /// RecordPhrases of the size that chips may carry; the datasheet prints no example.
  package static let typical = BMM350Memory(words: [
    0x0305, 0xE02B, 0x0FF1, 0x0412, 0xFD07, 0x0A03, 0xF6FE, 0x05FC, 0x0207, 0xFE04, 0x0140,
  ])

  package init(words: [UInt16]) { self.words = words }

  func word(_ address: Int) -> UInt16 {
    switch address {
    case 0x0D...0x16: words[address - 0x0D]
    case 0x18: words[10]
    default: 0
    }
  }

  private func byte(_ address: Int, high: Bool) -> Double {
    Double(Int8(truncatingIfNeeded: high ? word(address) >> 8 : word(address)))
  }

  private static let common = 0.714607238769531 / 1.5
  static let scale = Vector3(
    1e6 / 1048576 / (14.55 * 19.46 * common), 1e6 / 1048576 / (14.55 * 19.46 * common),
    1e6 / 1048576 / (9 * 31 * common))

  /// What the chip puts out for the temperature, degrees Celsius.
  func counts(temperature: Double) -> Double {
    let sensed =
      (temperature - byte(0x0D, high: false) / 5) / (1 + byte(0x0D, high: true) / 512) + 25.49
    return sensed * (0.00204 * Self.common * 1_048_576)
  }

  /// What the chip puts out in a field, microtesla, at a temperature, degrees Celsius.
  func counts(field: Vector3, temperature: Double) -> Vector3 {
    func twelve(_ value: Int) -> Double { Double(value >= 2048 ? value - 4096 : value) }
    let first = Int(word(0x0E))
    let second = Int(word(0x0F))
    let offsets = [
      twelve(first & 0xFFF), twelve((first >> 12) << 8 | second & 0xFF),
      twelve(second & 0xF00 | Int(word(0x10)) & 0xFF),
    ]
    let gains = [byte(0x10, high: true), byte(0x11, high: false), byte(0x11, high: true)]
    let kelvin = temperature - (Double(Int16(bitPattern: word(0x18))) / 512 + 23)
    // Each axis has a share of the others.
    let crossed = Vector3(
      field.x + field.y * byte(0x15, high: false) / 800,
      field.y + field.x * byte(0x15, high: true) / 800,
      field.z + field.x * byte(0x16, high: false) / 800 + field.y * byte(0x16, high: true) / 800)
    var result = Vector3.zero
    for axis in 0..<3 {
      let drift = kelvin * byte(0x12 + axis, high: false) / 32
      let slope = 1 + kelvin * byte(0x12 + axis, high: true) / 16384
      let sensed = (crossed[axis] * slope - drift - offsets[axis]) / (1 + gains[axis] / 256)
      result[axis] = sensed / Self.scale[axis]
    }
    return result
  }
}

/// The twin of a BMM350 over I2C.
package struct BMM350Twin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x00
  /// What it stands on.
  package var core: TwinCore

  private let memory: BMM350Memory
  private var registers = [UInt8](repeating: 0, count: 128)
  /// The rate and averaging that the newest "update" has taken over.
  private var rate: UInt8 = 0
  private var isReady = false
  /// Until when a power command is under way, nanoseconds.
  private var busyUntil = Int64.min

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, memory: .typical) }

  /// Makes a chip with a memory of its own, not powered yet: call `powerOn`.
  package init(_ core: TwinCore, memory: BMM350Memory) {
    self.core = core
    self.memory = memory
  }

  /// Start-up time: 3 ms.
  package let startUpTime = 0.003

  /// Registers take their reset values; the chip is in suspend.
  package mutating func reset() {
    for index in registers.indices { registers[index] = 0 }
    registers[0x00] = 0x33
    registers[0x04] = 0x14
    registers[0x05] = 0x07
    for register in 0x31...0x3C { registers[register] = 0x7F }
    busyUntil = .min
    rate = 0x14
    core.schedule.stop()
    isReady = false
    core.pin = InterruptPin()
  }

  /// Two bytes that mean nothing stand before the first register of a read; they have no addresses, and get two here
  /// that the chip does not have.
  private static let dummies: (UInt8, UInt8) = (0x80, 0x81)

  /// The first of the two.
  package func firstRegister(_ subaddress: UInt8) -> UInt8 { Self.dummies.0 }

  /// The register that follows in the same read.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    switch register {
    case Self.dummies.0: Self.dummies.1
    case Self.dummies.1: subaddress & 0x7F
    default: (register &+ 1) & 0x7F
    }
  }

  /// Writes bytes in one transaction: nothing stands before them.
  package mutating func write(
    _ subaddress: UInt8, from bytes: UnsafeRawBufferPointer, now: Timestamp
  ) {
    advance(to: now)
    for (index, byte) in bytes.enumerated() { writeByte(subaddress &+ UInt8(index), byte) }
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case Self.dummies.0, Self.dummies.1: return 0x7F
    case 0x07: return registers[0x07] | (core.now < busyUntil ? 0x01 : 0)
    case 0x30:
      // INT_STATUS, cleared by reading.
      let value: UInt8 = isReady ? 0x04 : 0
      isReady = false
      updatePin(at: core.now)
      return value
    default: return registers[Int(register & 0x7F)]
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x04: registers[0x04] = value & 0x3F
    case 0x05: registers[0x05] = value & 0x07
    case 0x06: command(value & 0x0F)
    case 0x2E:
      registers[0x2E] = value & 0x8F
      updatePin(at: core.now)
    case 0x50:
      // A direct read of a word; 1 is "done".
      guard value & 0xE0 == 0x20 else { return }
      let word = memory.word(Int(value & 0x1F))
      registers[0x52] = UInt8(word >> 8)
      registers[0x53] = UInt8(word & 0xFF)
      registers[0x55] = 0x01
    case 0x7E: if value == 0xB6 { reset() }
    default: break
    }
  }

  /// PMU_CMD; one that comes while another is under way is not taken. The times are those that Bosch's driver waits.
  private mutating func command(_ value: UInt8) {
    guard core.now >= busyUntil else { return }
    let isNormal = registers[0x07] & 0x08 != 0
    let seconds: Double
    switch value {
    case 0x00:
      core.schedule.stop()
      seconds = 0.006
    case 0x01:
      let period = core.period(1 / hertz)
      core.schedule.start(at: core.now, firstAfter: max(0.038, period), every: period)
      seconds = 0.038
    case 0x02:
      rate = registers[0x04]
      seconds = 0.001
    case 0x03:
      core.schedule.single(at: core.now, duration: 0.007 + duration)
      seconds = 0.007 + duration
    // The magnetic resets can be had in suspend alone.
    case 0x05 where !isNormal: seconds = 0.018
    case 0x07 where !isNormal: seconds = 0.014
    default: return
    }
    busyUntil = core.now &+ Int64(seconds * 1e9)
    registers[0x07] =
      value << 5 | (value == 0x01 ? 0x08 : value == 0x02 ? registers[0x07] & 0x08 : 0)
  }

  /// 400 Hz at code 2, half of it with each more.
  private var hertz: Double { 400 / Double(1 << (max(2, min(10, Int(rate & 0x0F))) - 2)) }

  /// Seconds: about 2 ms for each of the measurements that are averaged.
  private var duration: Double { 0.002 * Double(1 << (rate >> 4 & 3)) }

  /// INT_CTRL: data ready to the pin, output on, active high; pulsed is not modelled.
  private mutating func updatePin(at time: Int64) {
    let isOn = registers[0x2E] & 0x88 == 0x88
    core.pin.set(isOn && isReady == (registers[0x2E] & 0x02 != 0), at: time)
  }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    if !tampering.isFrozen { convert(done) }
    isReady = registers[0x2E] & 0x80 != 0
    updatePin(at: done.first)
  }

  private mutating func convert(_ done: Conversions) {
    let middle = done.last &- Int64(duration * 0.5e9)
    // 190 nT on X and Y and 450 on Z without averaging.
    let share = 1 / Double(1 << (rate >> 4 & 3)).squareRoot()
    let field = core.field(
      at: middle, sigma: share * Vector3(0.19, 0.19, 0.45), stream: 14, done)
    let temperature = core.stimulus(at: middle).temperature
    let sensed = memory.counts(temperature: temperature).rounded()
    let counts = memory.counts(field: field, temperature: temperature)
    for (axis, value) in [counts.x, counts.y, counts.z, sensed].enumerated() {
      let saturated = saturated(value, bits: 21)
      for byte in 0..<3 {
        registers[0x31 + 3 * axis + byte] = UInt8(truncatingIfNeeded: saturated >> Int32(8 * byte))
      }
    }
  }

  /// What INT_CTRL has put on the pin; active low it falls.
  package var nextRise: Int64 { registers[0x2E] & 0x8A == 0x8A ? core.schedule.next : .max }
}

extension TwinDescription {
  /// Zero-field offset after the trim: 25 microtesla. Sensitivity 0.5 %.
  static let bmm350 = TwinDescription("BMM350", isMagnetometer: true, make: { BMM350Twin($0) }) {
    random, _ in
    .magnetometer(bias: 25, perKelvin: 0.01, scale: 0.005, clock: 0.02, &random)
  }
}
