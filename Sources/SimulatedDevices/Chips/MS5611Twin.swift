// TE MS5611-01BA03 and MS5607-02BA03 (datasheets of 2012 and 2015): PROM, commands, conversions of either quantity.

package import SensorTypes

/// The PROM of an MS5611 or MS5607 and the flow charts that use it.
package struct MS5611Prom: Sendable, Hashable {
  /// C1 to C6.
  package var c: [Double]
  /// Whether it is that of an MS5607, whose offset and sensitivity are twice as large.
  package var isMS5607: Bool
  /// The first word, which is the factory's; and the upper twelve bits of the last, which stand before the check sum.
  package var factory: UInt16, serial: UInt16

  /// The example of the MS5611's datasheet, figure 2.
  package static let ms5611 = MS5611Prom(
    c: [40127, 36924, 23317, 23282, 33464, 28312], isMS5607: false)
  /// The example of the MS5607's.
  package static let ms5607 = MS5611Prom(
    c: [46372, 43981, 29059, 27842, 31553, 28165], isMS5607: true)

  /// Makes a PROM of C1 to C6, and of what no formula uses.
  package init(c: [Double], isMS5607: Bool, factory: UInt16 = 0, serial: UInt16 = 0) {
    self.c = c
    self.isMS5607 = isMS5607
    (self.factory, self.serial) = (factory, serial)
  }

  /// Figures 2 and 3: degrees Celsius of D2, and what D1 is multiplied by and what is taken away.
  func flow(_ d2: Double) -> (celsius: Double, sensitivity: Double, offset: Double) {
    let dT = d2 - c[4] * 256
    var temp = 2000 + dT * c[5] / 8_388_608
    var off = c[1] * 65536 + c[3] * dT / 128
    var sens = c[0] * 32768 + c[2] * dT / 256
    if isMS5607 {
      off *= 2
      sens *= 2
    }
    guard temp < 2000 else { return (temp / 100, sens, off) }
    let t2 = dT * dT / 2_147_483_648
    var off2 = (temp - 2000) * (temp - 2000)
    var sens2 = off2
    off2 *= isMS5607 ? 61.0 / 16 : 5.0 / 2
    sens2 *= isMS5607 ? 2 : 5.0 / 4
    if temp < -1500 {
      let more = (temp + 1500) * (temp + 1500)
      off2 += (isMS5607 ? 15 : 7) * more
      sens2 += (isMS5607 ? 8 : 11.0 / 2) * more
    }
    temp -= t2
    return (temp / 100, sens - sens2, off - off2)
  }

  func rawTemperature(_ celsius: Double) -> Double {
    bisection(from: 0, to: 0xFF_FFFF) { flow($0).celsius < celsius }
  }

  /// D1 of a pressure where D2 is what it is.
  func rawPressure(_ pascals: Double, temperature d2: Double) -> Double {
    let now = flow(d2)
    return (pascals * 32768 + now.offset) * 2_097_152 / now.sensitivity
  }

  /// The eight words, the last with the check sum in its lowest bits (AN520).
  var words: [UInt16] {
    var words = [factory] + c.map { UInt16($0) } + [serial << 4]
    // A division by the polynomial x^4 + x + 1, bit by bit, of all bytes; the last is taken as zero.
    var remainder = 0
    for word in words.dropLast() + [words[7] & 0xFF00] {
      for byte in [Int(word >> 8), Int(word & 0xFF)] {
        remainder ^= byte
        for _ in 0..<8 {
          remainder <<= 1
          if remainder & 0x1_0000 != 0 { remainder ^= 0x1_3000 }
        }
      }
    }
    words[7] |= UInt16(remainder >> 12 & 15)
    return words
  }
}

/// The twin of an MS5611 or MS5607 over I2C. What a driver calls registers are commands.
package struct MS5611Twin: ConvertingTwin {
  package let identityRegister: UInt8? = nil
  /// What it stands on.
  package var core: TwinCore

  private let prom: MS5611Prom
  private let words: [UInt16]
  /// The command of the conversion that runs, and the result that waits to be read.
  private var converting: UInt8 = 0
  private var result: [UInt8] = [0, 0, 0]
  private var shown: [UInt8] = [0, 0, 0]
  /// What stands in the output registers when the chip is frozen, by quantity.
  private var last: [Int64] = [0, 0]
  private var rawTemperature = 0.0
  private var isLoaded = false

  /// Makes an MS5611 that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.init(core, .ms5611) }

  /// Makes a chip with a PROM of its own, not powered yet: call `powerOn`.
  package init(_ core: TwinCore, _ prom: MS5611Prom) {
    self.core = core
    self.prom = prom
    words = prom.words
  }

  package mutating func powerOn(at time: Timestamp) {
    // The datasheet gives no figure; the reset that loads the PROM takes 2.8 ms.
    core.power(at: time, answersAfter: 0.002_8)
    stop()
    isLoaded = true
  }

  private mutating func stop() {
    core.schedule.stop()
    result = [0, 0, 0]
    rawTemperature = prom.rawTemperature(25).rounded()
  }

  /// A read answers the command that began the transfer: 0x00 the result, of which the three bytes are counted
  /// here as 0x00 to 0x02, an even one from 0xA0 on its PROM word, every other with nothing.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    switch register {
    case 0x00, 0x01: register + 1
    case 0xA0...0xAF where register % 2 == 0: register + 1
    default: 0xFF
    }
  }

  /// Reads one byte of an answer.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x00:
      // "Without a conversion, or when repeated, it answers 0"; one that runs is spoilt.
      shown = result
      result = [0, 0, 0]
      core.schedule.stop()
      return shown[0]
    case 0x01, 0x02: return shown[Int(register)]
    case 0xA0...0xAF where core.now >= core.answersFrom:
      let word = words[Int(register - 0xA0) / 2]
      return UInt8(truncatingIfNeeded: register % 2 == 0 ? word >> 8 : word)
    default: return 0
    }
  }

  /// Takes a command; it has no value, and what follows is not acknowledged.
  package mutating func write(
    _ subaddress: UInt8, from bytes: UnsafeRawBufferPointer, now: Timestamp
  ) {
    advance(to: now)
    switch subaddress {
    case 0x1E:
      stop()
      core.answersFrom = core.now &+ 2_800_000
    case 0x40...0x48 where subaddress % 2 == 0, 0x50...0x58 where subaddress % 2 == 0:
      converting = subaddress
      result = [0, 0, 0]
      core.schedule.single(at: core.now, duration: core.period(conversionTime))
    default: break
    }
  }

  /// There is no register to write.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {}

  /// Seconds by the oversampling of the command (256 to 4096), typical.
  private var conversionTime: Double {
    [0.54e-3, 1.06e-3, 2.08e-3, 4.13e-3, 8.22e-3][min(Int(converting & 0x0F) / 2, 4)]
  }

  /// Takes note of the conversion when it is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    let isPressure = converting < 0x50
    if !tampering.isFrozen { convert(done, isPressure: isPressure) }
    storeBigEndian(last[isPressure ? 0 : 1], bytes: 3, at: 0, in: &result)
  }

  private mutating func convert(_ done: Conversions, isPressure: Bool) {
    // "Resolution RMS" by oversampling.
    let code = min(Int(converting & 0x0F) / 2, 4)
    let pascals = [6.5, 4.2, 2.7, 1.8, 1.2][code] * (prom.isMS5607 ? 2 : 1)
    let degrees = [0.012, 0.008, 0.005, 0.003, 0.002][code]
    let air = core.air(
      at: done.last &- Int64(conversionTime * 0.5e9), pressureNoise: pascals,
      temperatureNoise: degrees, stream: isPressure ? 22 : 23, done)
    if !isPressure { rawTemperature = prom.rawTemperature(air.temperature).rounded() }
    let raw =
      isPressure ? prom.rawPressure(air.pressure, temperature: rawTemperature) : rawTemperature
    last[isPressure ? 0 : 1] = Int64(max(0, min(0xFF_FFFF, raw.rounded())))
  }

  /// There is no interrupt pin.
  package var nextRise: Int64 { .max }
}

extension TwinDescription {
  static let ms5611 = ms56xx("MS5611", .ms5611, absolute: 150)
  static let ms5607 = ms56xx("MS5607", .ms5607, absolute: 200)

  /// Absolute at 25 degrees; the error band over 0 to 50 degrees leaves about 2 Pa a kelvin, of which a third is
  /// taken (the board stays cool).
  private static func ms56xx(
    _ name: String, _ prom: MS5611Prom, absolute: Double
  ) -> TwinDescription {
    TwinDescription(name, make: { MS5611Twin($0, prom) }) { random, _ in
      .barometer(bias: absolute, perKelvin: 0.7, temperature: 0.8, clock: 0.02, &random)
    }
  }
}
