import Testing

@testable import SimulatedDevices

/// What the twin of an F9 makes of corrections (u-blox F9 HPG interface description UBX-21022436).
struct CorrectionInputTests {
  /// Frames with check sums of pyrtcm 1.2.1: messages 1005 and 1077.
  private static let station: [UInt8] = [
    0xD3, 0x00, 0x13, 0x3E, 0xD7, 0xD3, 0x02, 0x02, 0x98, 0x0E, 0xDE, 0xEF, 0x34, 0xB4, 0xBD, 0x62,
    0xAC, 0x09, 0x41, 0x98, 0x6F, 0x33, 0x36, 0x0B, 0x98,
  ]
  private static let gps: [UInt8] = [
    0xD3, 0x00, 0x28, 0x43, 0x50, 0x19, 0x70, 0xAE, 0xB0, 0xE4, 0x70, 0xB8, 0xD2, 0xFA, 0x6B, 0xC2,
    0xF4, 0xC7, 0x2D, 0xB8, 0xA9, 0xAC, 0x8E, 0xEF, 0x91, 0x4A, 0x1D, 0x8A, 0x27, 0x3D, 0xB6, 0x16,
    0xB5, 0x0E, 0x67, 0x75, 0x82, 0xC0, 0xEF, 0x09, 0x96, 0xA9, 0xB8, 0xA6, 0x33, 0x83,
  ]

  private func hear(_ bytes: [UInt8], _ input: inout CorrectionInput, at seconds: Int) {
    for byte in bytes { input.take(byte, at: Int64(seconds) * 1_000_000_000) }
  }

  private func carrier(_ input: CorrectionInput, at seconds: Int) -> Int {
    input.use(at: Int64(seconds) * 1_000_000_000).carrier
  }

  @Test(
    "a place and three rounds make a float solution, ten seconds more a fixed one; without more it goes back"
  )
  func states() {
    var input = CorrectionInput()
    hear(Self.station, &input, at: 0)
    for second in 0..<20 { hear([0xD3, 0xFF] + Self.gps, &input, at: second) }
    var fresh = CorrectionInput()
    hear(Self.station, &fresh, at: 0)
    for second in 0..<3 { hear(Self.gps, &fresh, at: second) }
    #expect(carrier(fresh, at: 2) == 1)
    #expect(carrier(input, at: 19) == 2)
    #expect(carrier(input, at: 38) == 2 && carrier(input, at: 39) == 1)
    #expect(carrier(input, at: 78) == 1 && carrier(input, at: 79) == 0)
    // A round after that begins anew.
    hear(Self.gps, &input, at: 90)
    #expect(carrier(input, at: 90) == 0)
  }

  @Test("damaged frames, observations without a place, and other messages count for nothing")
  func refuses() {
    var input = CorrectionInput()
    for second in 0..<20 { hear(Self.gps, &input, at: second) }
    #expect(carrier(input, at: 19) == 0)
    hear(Self.station, &input, at: 19)
    #expect(carrier(input, at: 19) == 2)
    var damaged = CorrectionInput()
    hear(Self.station, &damaged, at: 0)
    for second in 0..<20 {
      var frame = Self.gps
      frame[20] ^= 4
      hear(frame, &damaged, at: second)
    }
    #expect(carrier(damaged, at: 19) == 0)
  }

  @Test("the age has the classes of NAV-PVT")
  func ages() {
    for (age, number) in [
      (0.5, 1), (1, 2), (2, 3), (9.9, 4), (12, 5), (19, 6), (29, 7), (44, 8), (59, 9), (89, 10),
      (119, 11), (120, 12),
    ] {
      #expect(CorrectionUse(carrier: 1, age: age).ageClass == number)
    }
    #expect(CorrectionUse().ageClass == 0)
  }
}
