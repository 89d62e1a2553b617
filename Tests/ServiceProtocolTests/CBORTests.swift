// CBOR against the examples of RFC 8949, and against bytes that nobody should send.

import SeededDraws
import Testing

@testable import ServiceProtocol

private func bytes(_ hex: String) -> [UInt8] {
  stride(from: 0, to: hex.utf8.count, by: 2).map { index in
    let start = hex.index(hex.startIndex, offsetBy: index)
    return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16) ?? 0
  }
}

private func encoded(_ value: some Encodable) throws -> [UInt8] {
  var bytes: [UInt8] = []
  try CBOREncoder.append(value, to: &bytes)
  return bytes
}

struct CBORTests {
  // RFC 8949, appendix A.
  @Test(
    "unsigned numbers are those of the RFC's examples",
    arguments: [
      (0, "00"), (1, "01"), (10, "0a"), (23, "17"), (24, "1818"), (25, "1819"), (100, "1864"),
      (1000, "1903e8"),
      (1_000_000, "1a000f4240"), (1_000_000_000_000, "1b000000e8d4a51000"),
      (UInt64.max, "1bffffffffffffffff"),
    ])
  func unsigned(value: UInt64, hex: String) throws {
    #expect(try encoded(value) == bytes(hex))
    #expect(try CBORDecoder.decode(UInt64.self, from: bytes(hex)) == value)
  }

  @Test(
    "negative numbers are those of the RFC's examples",
    arguments: [
      (-1, "20"), (-10, "29"), (-100, "3863"), (-1000, "3903e7"), (Int64.min, "3b7fffffffffffffff"),
    ])
  func negative(value: Int64, hex: String) throws {
    #expect(try encoded(value) == bytes(hex))
    #expect(try CBORDecoder.decode(Int64.self, from: bytes(hex)) == value)
  }

  @Test(
    "numbers with a fraction are those of the RFC's examples",
    arguments: [
      (1.1, "fb3ff199999999999a"), (1.0e+300, "fb7e37e43c8800759c"), (-4.1, "fbc010666666666666"),
      (.infinity, "fb7ff0000000000000"), (-.infinity, "fbfff0000000000000"),
    ])
  func double(value: Double, hex: String) throws {
    #expect(try encoded(value) == bytes(hex))
    #expect(try CBORDecoder.decode(Double.self, from: bytes(hex)) == value)
    #expect(try CBORDecoder.decode(Double.self, from: bytes("fa47c35000")) == 100_000)
    #expect(try CBORDecoder.decode(Double.self, from: bytes("fb7ff8000000000000")).isNaN)
  }

  @Test(
    "texts are those of the RFC's examples",
    arguments: [
      ("", "60"), ("a", "6161"), ("IETF", "6449455446"), ("\"\\", "62225c"), ("\u{fc}", "62c3bc"),
      ("\u{6c34}", "63e6b0b4"),
    ])
  func text(value: String, hex: String) throws {
    #expect(try encoded(value) == bytes(hex))
    #expect(try CBORDecoder.decode(String.self, from: bytes(hex)) == value)
  }

  @Test("arrays and maps are read with a count and with a stop, and written with a stop")
  func containers() throws {
    #expect(try encoded([1, 2, 3]) == bytes("9f010203ff"))
    #expect(try encoded(["a": [true, false]]) == bytes("bf61619ff5f4ffff"))
    #expect(try encoded([nil, 1]) == bytes("9ff601ff"))
    for hex in ["83010203", "9f010203ff"] {
      #expect(try CBORDecoder.decode([Int].self, from: bytes(hex)) == [1, 2, 3])
    }
    for hex in ["80", "9fff"] {
      #expect(try CBORDecoder.decode([Int].self, from: bytes(hex)) == [])
    }
    for hex in ["a0", "bfff"] {
      #expect(try CBORDecoder.decode([String: Int].self, from: bytes(hex)) == [:])
    }
    // {"a": 1, "b": [2, 3]} and the same in parts.
    struct Example: Decodable, Equatable {
      var a: Int
      var b: [Int]
      var c: String?
    }
    for hex in ["a26161016162820203", "bf61610161629f0203ffff", "bf6162820203616101ff"] {
      #expect(try CBORDecoder.decode(Example.self, from: bytes(hex)) == Example(a: 1, b: [2, 3]))
    }
    // A key that the type does not know, with all kinds of item in it.
    let other =
      "a4" + "6178" + "83a0f6fb3ff199999999999a" + "616101" + "6162820203" + "6163" + "6449455446"
    #expect(
      try CBORDecoder.decode(Example.self, from: bytes(other))
        == Example(a: 1, b: [2, 3], c: "IETF"))
    #expect(throws: DecodingError.self) {
      try CBORDecoder.decode(Example.self, from: bytes("a1616101"))
    }
  }

  @Test(
    "what is no item of a message is refused",
    arguments: [
      ("", CBORProblem.truncated), ("18", .truncated), ("1b00000000000000", .truncated),
      ("61", .truncated),
      ("7b7fffffffffffffff61", .truncated), ("7bffffffffffffffff61", .truncated),
      ("9f01", .truncated), ("82", .truncated),
      ("9bffffffffffffffff01", .truncated), ("bbffffffffffffffff", .truncated),
      ("bf6161", .truncated), ("0000", .trailingBytes),
      ("40", .unsupported(0x40)), ("c0", .unsupported(0xC0)), ("f93c00", .unsupported(0xF9)),
      ("f7", .unsupported(0xF7)),
      ("ff", .unsupported(0xFF)), ("1c", .unsupported(0x1C)), ("7f6161ff", .unsupported(0x7F)),
      ("1f", .unsupported(0x1F)),
      ("a10102", .keyIsNoText), ("bf01f6ff", .keyIsNoText), ("bf6161ff", .unsupported(0xFF)),
      (String(repeating: "81", count: 25) + "00", .tooDeep),
      (String(repeating: "9f", count: 1000), .tooDeep),
    ])
  func refused(hex: String, problem: CBORProblem) {
    #expect(throws: problem) { try CBORReader(bytes(hex)) }
  }

  @Test("values that do not fit are errors, and no others")
  func mismatches() {
    func fails<Value: Decodable>(_ type: Value.Type, _ hex: String) {
      #expect(throws: DecodingError.self) { try CBORDecoder.decode(type, from: bytes(hex)) }
    }
    fails(UInt8.self, "190100")
    fails(UInt64.self, "20")
    fails(Int64.self, "1bffffffffffffffff")
    fails(Int64.self, "3bffffffffffffffff")
    fails(Int.self, "fb3ff199999999999a")
    fails(Double.self, "01")
    fails(Bool.self, "f6")
    fails(String.self, "62c328")
    fails([Int].self, "a0")
    fails([String: Int].self, "80")
    fails([Int].self, "8161ff")
  }

  @Test("an unfinished type is refused, and leaves no bytes")
  func disorder() throws {
    /// Goes on with a container after the one around it.
    struct Backwards: Encodable {
      func encode(to encoder: any Encoder) throws {
        var outer = encoder.unkeyedContainer()
        var inner = outer.nestedUnkeyedContainer()
        try outer.encode(1)
        try inner.encode(2)
      }
    }
    /// Throws when half of it is written.
    struct Half: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(1)
        throw CBORProblem.truncated
      }
    }
    var bytes: [UInt8] = [7]
    #expect(throws: EncodingError.self) { try CBOREncoder.append(Backwards(), to: &bytes) }
    #expect(throws: CBORProblem.truncated) { try CBOREncoder.append(Half(), to: &bytes) }
    #expect(bytes == [7])
    /// Writes nothing at all.
    struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }
    #expect(try encoded([Nothing(), Nothing()]) == [0x9F, 0xBF, 0xFF, 0xBF, 0xFF, 0xFF])
  }

  /// All that a value can be made of.
  struct Whole: Codable, Equatable {
    enum Kind: Codable, Equatable { case plain, with(Int, label: String?), nested([Whole]) }
    var number = 1.5
    var small: Float = 0.25
    var name = "x"
    var list: [Int8] = [-128, 127]
    var table = ["a": UInt16.max]
    var missing: Int?
    var kind = Kind.plain
    var vector = SIMD3<Double>(1, .infinity, -0.0)
  }

  @Test("what the Swift compiler makes of structures, cases and vectors comes back")
  func whole() throws {
    var value = Whole()
    for kind in [
      Whole.Kind.plain, .with(-3, label: nil), .with(.min, label: "y"), .nested([value, value]),
    ] {
      value.kind = kind
      #expect(try CBORDecoder.decode(Whole.self, from: encoded(value)) == value)
    }
  }

  @Test("damaged bytes are an error or another value, and nothing else")
  func damage() throws {
    var value = Whole()
    value.kind = .nested([Whole(), Whole()])
    let good = try encoded(value)
    for count in 0..<good.count {
      #expect(throws: CBORProblem.truncated) { try CBORReader(Array(good.prefix(count))) }
    }
    var random = SplitMix64(state: 36)
    var (read, refused) = (0, 0)
    for _ in 0..<50_000 {
      var bad = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bad[Int.random(in: bad.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      do {
        _ = try CBORDecoder.decode(Whole.self, from: bad)
        read += 1
      } catch {
        refused += 1
      }
    }
    #expect(read > 1_000 && refused > 1_000)
  }
}
