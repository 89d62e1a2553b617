// The BMM350's driver against Bosch's arithmetic, and what tells the chip.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct BMM350Tests {
  static let words: [UInt16] = [
    0x0305, 0xE02B, 0x0FF1, 0x0412, 0xFD07, 0x0A03, 0xF6FE, 0x05FC, 0x0207, 0xFE04, 0x0140,
  ]
  static let other: [UInt16] = [
    0xFBF6, 0x1FD8, 0x0E30, 0xF8C4, 0x11F3, 0xEC14, 0x0CEA, 0x08F0, 0xF50B, 0x09F7, 0xFE20,
  ]

  static func bytes(_ counts: [Int]) -> [UInt8] {
    counts.flatMap { count in (0..<3).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } }
  }

  typealias Vector = (words: [UInt16], counts: [Int], field: [Double])
  static let vectors: [Vector] = [
    (words, [1000, -2000, 3000, 53500], [52.975300, -286.737427, -217.976044]),
    (words, [-150000, 220000, -99999, 61000], [-1037.183228, 1338.511475, -936.596863]),
    (words, [0, 0, 0, 40000], [44.758713, -269.120880, -238.435394]),
    (other, [1000, -2000, 3000, 53500], [-35.533493, 287.679291, -297.637939]),
    (other, [-150000, 220000, -99999, 61000], [-1098.200317, 1745.598511, -1112.851074]),
    (other, [0, 0, 0, 40000], [-50.239178, 312.880402, -316.458984]),
  ]

  // What Bosch's own driver (BMM350_SensorAPI 3daf377, floating point), given these words and counts, has put out; it
  // has the seven digits of a float.
  @Test("the compensation is Bosch's", arguments: vectors)
  func compensation(_ vector: Vector) throws {
    let trim = try BMM350Trim(vector.words)
    let found = try BMM350Conversion.field(block(Self.bytes(vector.counts)), trim)
    for axis in 0..<3 {
      #expect(near(found[axis], vector.field[axis], abs(vector.field[axis]) * 1e-6))
    }
  }

  @Test("the field does not jump where the thermometer's output passes zero, at -25.5 degrees")
  func cold() throws {
    let trim = try BMM350Trim(Self.words)
    let fields = try [-20, 20].map { temperature in
      try BMM350Conversion.field(block(Self.bytes([1000, -2000, 3000, temperature])), trim)
    }
    // 40 counts are 0.04 degrees, of which the offsets of this trim make 0.02 microtesla at most; 51 degrees would be 25.
    #expect((fields[0] - fields[1]).length < 0.03)
  }

  @Test("beyond 2000 microtesla is an overflow")
  func overflow() throws {
    let trim = try BMM350Trim(Self.words)
    for axis in 0..<3 {
      var counts = [0, 0, 0, 53500]
      counts[axis] = 400_000
      #expect(
        failure { () throws(DriverError) in
          try BMM350Conversion.field(block(Self.bytes(counts)), trim)
        } == .overflow)
    }
  }

  @Test("a blank memory is refused", arguments: [UInt16(0), 0xFFFF])
  func blank(word: UInt16) {
    guard
      case .invalidTrim = failure({ () throws(DriverError) in
        try BMM350Trim([UInt16](repeating: word, count: 11))
      })
    else {
      Issue.record("taken")
      return
    }
  }

  @Test("it is told by its third byte")
  func told() throws {
    let chip = try #require(ChipCatalog.chip(named: "BMM350"))
    func confidence(_ third: UInt8, again: UInt8? = nil) throws -> ChipIdentification.Confidence? {
      let reads = [third, again ?? third].map { Transfer.read(0x00, [0x7F, 0x33, $0]) }
      // What a read from 0x02 on begins with: of this chip a byte that means nothing.
      return try chip.identify(ScriptedDevice(reads + [.read(0x02, [0x7F])]))?.confidence
    }
    #expect(try confidence(0x33) == .certain)
    #expect(try confidence(0x00) == nil)
    // A counter.
    #expect(try confidence(0x33, again: 0x36) == nil)
    // Registers, of which the third holds that.
    let plain = ScriptedDevice(
      [Transfer](repeating: .read(0x00, [0, 0, 0x33]), count: 2) + [.read(0x02, [0x33])])
    #expect(try chip.identify(plain)?.confidence == .possible)
  }
}
