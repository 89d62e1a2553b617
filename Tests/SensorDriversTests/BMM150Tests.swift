// The BMM150's driver against Bosch's arithmetic.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct BMM150Tests {
  /// x1 0, y1 0, x2 26, y2 25, z1 23686, z2 747, z3 -113, z4 9, xy1 29, xy2 -3, xyz1 6686 with its highest bit set.
  static let trim: [UInt8] = [
    0x00, 0x00, 0xAA, 0xAA, 0xAA, 0x09, 0x00, 0x1A, 0x19, 0xAA, 0xAA, 0xEB, 0x02, 0x86, 0x5C, 0x1E,
    0x9A, 0x8F, 0xFF, 0xFD, 0x1D,
  ]
  /// x1 -5, y1 7, x2 -20, y2 40, z1 20000, z2 -600, z3 250, z4 -40, xy1 200, xy2 12, xyz1 7200.
  static let other: [UInt8] = [
    0xFB, 0x07, 0x00, 0x00, 0x00, 0xD8, 0xFF, 0xEC, 0x28, 0x00, 0x00, 0xA8, 0xFD, 0x20, 0x4E, 0x20,
    0x1C, 0xFA, 0x00, 0x0C, 0xC8,
  ]

  /// The eight output bytes of these counts.
  static func bytes(_ x: Int, _ y: Int, _ z: Int, _ hall: Int) -> [UInt8] {
    [x << 3, y << 3, z << 1, hall << 2 | 1].flatMap {
      [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
    }
  }

  // What Bosch's own compensate_x, _y and _z (BMM150_SensorAPI 0dce061, floating point) give, run on these counts;
  // they have the seven digits of a float.
  typealias Vector = (
    trim: [UInt8], counts: (Int, Int, Int, Int), field: (Double, Double, Double)
  )
  static let vectors: [Vector] = [
    (trim, (100, -100, 200, 6686), (36.328125, -36.132812, 70.102997)),
    (trim, (-1234, 999, -2500, 6500), (-449.737915, 362.133423, -943.678650)),
    (trim, (4095, -4095, 16383, 7000), (1480.042236, -1472.084961, 5774.965332)),
    (trim, (1, 0, 0, 6900), (0.362001, 0.0, -3.148290)),
    (other, (100, -100, 200, 6686), (26.493595, -37.919422, 141.785309)),
    (other, (-1234, 999, -2500, 6500), (-368.494202, 426.778748, -1495.372437)),
    (other, (4095, -4095, 16383, 7000), (1142.263306, -1631.876099, 9158.731445)),
    (other, (1, 0, 0, 6900), (-2.217250, 3.5, 23.008053)),
  ]

  @Test("the compensation is Bosch's", arguments: vectors)
  func compensation(_ vector: Vector) throws {
    let (trim, counts, field) = vector
    let bytes = Self.bytes(counts.0, counts.1, counts.2, counts.3)
    let found = try BMM150Conversion.field(block(bytes), try BMM150Trim(block(trim)))
    for (axis, expected) in [field.0, field.1, field.2].enumerated() {
      #expect(near(found[axis], expected, max(1e-6, abs(expected) * 3e-7)))
    }
  }

  @Test("the lowest number of an axis, and no Hall resistance, are an overflow")
  func overflow() throws {
    let trim = try BMM150Trim(block(Self.trim))
    for bytes in [
      Self.bytes(-4096, 0, 0, 6686), Self.bytes(0, -4096, 0, 6686), Self.bytes(0, 0, -16384, 6686),
      Self.bytes(0, 0, 0, 0),
    ] {
      #expect(
        failure { () throws(DriverError) in try BMM150Conversion.field(block(bytes), trim) }
          == .overflow)
    }
  }

  @Test("a blank trim is refused", arguments: [0x0B, 0x0D, 0x0F])
  func blank(place: Int) {
    var bytes = Self.trim
    (bytes[place], bytes[place + 1]) = (0x00, 0x00)
    guard
      case .invalidTrim = failure({ () throws(DriverError) in try BMM150Trim(block(bytes)) })
    else {
      Issue.record("taken")
      return
    }
  }

  @Test("a trim of ones is refused")
  func ones() {
    let bytes = [UInt8](repeating: 0xFF, count: 21)
    guard
      case .invalidTrim = failure({ () throws(DriverError) in try BMM150Trim(block(bytes)) })
    else {
      Issue.record("taken")
      return
    }
  }

  @Test("more than the chip can measure is an overflow, however the trim comes to it")
  func beyond() throws {
    let device = ScriptedDevice([])
    var trimmed = BMM150(outputRate: 20)
    try trimmed.take(block(Self.trim), from: 0x5D)
    var chip = RegisterDriver(device, trimmed)
    // 5775 microtesla at the end of the scale: 2467 and 2538.
    device.then([
      .read(0x42, Self.bytes(0, 0, 7000, 7000)),
      .read(0x42, Self.bytes(0, 0, 7200, 7000)),
    ])
    #expect(try chip.poll() != nil)
    #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
    device.expectDone()
  }
}
