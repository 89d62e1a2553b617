// The grammar of the IIO ABI: `_type`, the packing of frames, `_available`, numbers.

import SensorDrivers
import Testing

@Suite struct KernelFormatTests {
  /// A number as it is stored, and what the ABI says that it is: shifted right, then masked to its bits, then
  /// signed.
  @Test(
    "a number comes out of its storage as the ABI describes",
    arguments: [
      ("le:s16/16>>0", [0x34, 0x12], 0x1234), ("be:s16/16>>0", [0x12, 0x34], 0x1234),
      ("le:s16/16", [0x00, 0x80], -32_768), ("le:u16/16>>0", [0x00, 0x80], 32_768),
      // 12 bits, left aligned: -1 and the ends; the four bits below are somebody else's.
      ("le:s12/16>>4", [0xFF, 0xFF], -1), ("le:s12/16>>4", [0x0F, 0x80], -2_048),
      ("le:s12/16>>4", [0xF5, 0x7F], 2_047), ("be:u12/16>>4", [0xFF, 0xF0], 4_095),
      // 12 bits at the lower end, with rubbish above.
      ("le:s12/16>>0", [0xFF, 0xA7], 2_047), ("le:s12/16>>0", [0x00, 0xA8], -2_048),
      ("le:s24/32>>8", [0x77, 0x00, 0x00, 0x80], -8_388_608),
      ("be:s24/32>>0", [0x55, 0x80, 0x00, 0x01], -8_388_607),
      ("le:u24/32>>0", [0x01, 0x02, 0x83, 0xFF], 0x83_0201),
      ("le:s8/8", [0xFE], -2), ("le:u8/8>>0", [0xFE], 254), ("le:u1/8>>7", [0x80], 1),
      ("le:s64/64>>0", [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], -2),
      ("le:s48/64>>2", [0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0x00], -1),
      ("le:s16/32X3>>0", [0xFF, 0xFF, 0, 0], -1),
    ] as [(String, [UInt8], Int64)])
  func value(text: String, bytes: [UInt8], value: Int64) throws {
    let type = try #require(ScanType(text))
    #expect(bytes.withUnsafeBytes { type.value($0, at: 0) } == value)
    let moved = [0xEE, 0xEE, 0xEE] + bytes
    #expect(moved.withUnsafeBytes { type.value($0, at: 3) } == value)
  }

  @Test("what the parts of a type are")
  func parts() throws {
    let type = try #require(ScanType("be:u20/32X4>>12"))
    #expect(type.isBigEndian && !type.isSigned)
    #expect([type.bits, type.storageBits, type.repeats, type.shift] == [20, 32, 4, 12])
    #expect(type.byteCount == 16)
  }

  @Test(
    "what is no type is none",
    arguments: [
      "", "le", "le:", "le:s", "le:s16", "le:s16/", "s16/16>>0", "le:f32/32>>0", "LE:s16/16",
      "le:s17/16>>0", "le:s16/16>>1", "le:s0/16", "le:s16/24", "le:s16/128", "le:s16/0",
      "le:s16/16X0", "le:s16/16X99", "le:s16/16X", "le:s16/16>>", "le:s16/16>>x",
      "le:s16/16>>0 ", "le:s-16/16", "le:s9999999999999999999/16", "me:s16/16>>0", "le:s16/16>0",
    ])
  func noType(text: String) { #expect(ScanType(text) == nil) }

  private func layout(_ elements: [(String, Int, String)]) -> ScanLayout? {
    ScanLayout(
      elements.compactMap { name, index, type in
        ScanType(type).map { .init(name: name, index: index, type: $0) }
      })
  }

  @Test(
    "elements lie in the order of their places, each aligned to itself, the frame to the largest")
  func packing() throws {
    let axes = ["x", "y", "z"].enumerated().map {
      ("in_magn_\($0.element)", $0.offset, "le:s16/16")
    }
    let three = try #require(layout(axes))
    #expect(three.frameSize == 6 && three["in_magn_z"]?.offset == 4)
    // 6 bytes, two of nothing, 8 of time: in whatever order they were listed.
    let stamped = try #require(layout([("in_timestamp", 3, "le:s64/64")] + axes.reversed()))
    #expect(stamped.frameSize == 16 && stamped["in_timestamp"]?.offset == 8)
    #expect(stamped["in_magn_x"]?.offset == 0 && stamped["in_magn_w"] == nil)
    // A byte, three of nothing, four, one, three.
    let mixed = try #require(
      layout([("a", 0, "le:u8/8"), ("b", 1, "le:s24/32"), ("c", 5, "le:u8/8")]))
    #expect(mixed["b"]?.offset == 4 && mixed["c"]?.offset == 8 && mixed.frameSize == 12)
    // Repeats are one element, aligned to all of it.
    let repeated = try #require(layout([("a", 0, "le:u8/8"), ("q", 1, "le:s16/16X4")]))
    #expect(repeated["q"]?.offset == 8 && repeated.frameSize == 16)
    #expect(layout([]) == nil)
    #expect(layout([("a", 1, "le:u8/8"), ("b", 1, "le:u8/8")]) == nil)
  }

  @Test(
    "the next value at or above the wanted one, as its text; else the greatest",
    arguments: [
      ("1 2 3 5 10 20 40 80", 30, "40"), ("1 2 3 5 10 20 40 80", 40, "40"),
      ("1 2 3 5 10 20 40 80", 200, "80"), ("12.500 26.000 52.000", 20, "26.000"),
      ("80 10 40", 11, "40"), ("0.000146 0.000292", 0.0002, "0.000292"),
      ("[1 1 200]", 30.2, "31"), ("[0 0.5 10]", 2.2, "2.5"), ("[5 10 100]", 1, "5"),
      ("[5 10 100]", 300, "100"), ("garbage 25 nan inf", 10, "25"),
    ])
  func next(available: String, wanted: Double, value: String) {
    #expect(KernelText.next(available, atLeast: wanted) == value)
  }

  @Test("a list of nothing has no value", arguments: ["", "x y", "[1 2]", "[1 0 5]", "[9 1 2]"])
  func nothing(available: String) { #expect(KernelText.next(available, atLeast: 1) == nil) }

  @Test(
    "numbers as sysfs writes them, and nothing else",
    arguments: [
      ("-12", -12), ("0.000146", 0.000146), ("101.325000000", 101.325), ("3.5 dB", 3.5), ("+1", 1),
      ("", nil), ("nan", nil), ("inf", nil), ("0x10", nil), ("1e5", nil), ("--1", nil), (".", nil),
      (" 1", nil), ("12a", nil), (String(repeating: "9", count: 400), nil),
    ] as [(String, Double?)])
  func number(text: String, value: Double?) { #expect(KernelText.number(text) == value) }
}
