// From the MS5611's and MS5607's PROM and conversions to pascals and degrees Celsius.

/// The eight words of one chip's PROM: the factory's, C1 to C6, and the check sum.
package struct MS5611Trim: Sendable, Hashable {
  /// The words, 0 to 7.
  package var words: SIMD8<UInt16>

  /// Makes a PROM of its words.
  package init(_ words: SIMD8<UInt16>) { self.words = words }

  /// C1 to C6: sensitivity, offset, their temperature coefficients, reference temperature and its coefficient.
  func c(_ index: Int) -> Double { Double(words[index]) }

  /// The check sum of four bits over all words, the lower byte of the last one taken as zero (application note
  /// AN520). Worked number: 0x3132, 0x3334, 0x3536, 0x3738, 0x3940, 0x4142, 0x4344, 0x4500 give 0xB.
  package var checkSum: UInt16 {
    var remainder: UInt16 = 0
    for index in 0..<8 {
      let word = index == 7 ? words[7] & 0xFF00 : words[index]
      for byte in [word >> 8, word & 0xFF] {
        remainder ^= byte
        for _ in 0..<8 {
          remainder = remainder & 0x8000 != 0 ? remainder << 1 ^ 0x3000 : remainder << 1
        }
      }
    }
    return remainder >> 12
  }

  /// Whether it is the PROM of the next generation (MS5637, MS5837, MS8607), which answers to the same commands: it has
  /// seven words with the check sum of them, the eighth taken as zero, in the upper bits of the first. What is read for
  /// the eighth is nothing.
  ///
  /// An MS5611 whose last word is zero has such a PROM too, whatever else it holds: four bits moved by 112 bits leave the
  /// same remainder, so that both sums are right or none is. A first word of zeros is an MS5611's all the same: one from
  /// a shelf has 0x0000 there and its check sum alone in the last (PX4/PX4-Autopilot, pull request 18790); that of the
  /// next generation has the factory's twelve bits besides the sum.
  var isOfSevenWords: Bool {
    guard words[7] == 0 || words[7] == 0xFFFF, words[0] != 0 else { return false }
    var seven = self
    seven.words[0] &= 0x0FFF
    seven.words[7] = 0
    return seven.checkSum == words[0] >> 12
  }

  /// Who has seven words, for a person.
  static let sevenWords = "MS5637, MS5837 or MS8607"

  /// Whether the check sum is right and no coefficient is all zeros or all ones, as in chips of other makers that
  /// answer to the same commands: one in sixteen of them has the right sum. A sum of 0 is as good as another.
  package var isValid: Bool {
    checkSum == words[7] & 0x000F
      && (1...6).allSatisfy { words[$0] != 0 && words[$0] != 0xFFFF }
  }
}

/// Conversions of the MS5611 and MS5607; pure functions of what was read.
package enum MS5611Conversion {
  /// Pascals and degrees Celsius from the raw 24-bit pressure D1 and temperature D2, with the second order below 20
  /// and below -15 degrees (MS5611-01BA03 figures 2 and 3; MS5607-02BA03 the same). Not rounded to whole numbers,
  /// as the flow charts do. Valid from 1000 to 120000 Pa and -40 to 85 degrees.
  ///
  /// Worked numbers: D1 = 9085466 and D2 = 8569150 with C = 40127, 36924, 23317, 23282, 33464, 28312 give an
  /// MS5611 100009 Pa at 20.07 degrees; 6465444 and 8077636 with 46372, 43981, 29059, 27842, 31553, 28165 an
  /// MS5607 110002 Pa at 20.00 degrees.
  package static func air(
    pressure d1: UInt32, temperature d2: UInt32, _ trim: MS5611Trim, chip: MS5611Variant
  ) -> (pressure: Double, temperature: Double) {
    let difference = Double(d2) - trim.c(5) * 256
    // Hundredths of a degree.
    var temperature = 2000 + difference * trim.c(6) * 0x1p-23
    // Offset and sensitivity of the MS5607 have one bit more.
    let scale = chip == .ms5611 ? 1.0 : 2
    var offset = scale * (trim.c(2) * 0x1p16 + trim.c(4) * difference * 0x1p-7)
    var sensitivity = scale * (trim.c(1) * 0x1p15 + trim.c(3) * difference * 0x1p-8)
    if temperature < 2000 {
      let second = chip.secondOrder
      let cold = (temperature - 2000) * (temperature - 2000)
      let colder = temperature < -1500 ? (temperature + 1500) * (temperature + 1500) : 0
      temperature -= difference * difference * 0x1p-31
      offset -= second.offset * cold + second.coldOffset * colder
      sensitivity -= second.sensitivity * cold + second.coldSensitivity * colder
    }
    let pressure = (Double(d1) * sensitivity * 0x1p-21 - offset) * 0x1p-15
    return (pressure, temperature / 100)
  }
}
