import Testing

@testable import GNSSProtocol

struct FieldReaderTests {
  /// What a field is as a number, by the reader, and whether the field behind it is read next.
  private func read(_ field: String) -> (value: Double?, isNext: Bool) {
    let text = Array((field + ",7").utf8)
    return text.withUnsafeBufferPointer { bytes in
      var reader = FieldReader(bytes)
      let value = reader.number()
      return (value, reader.integer() == 7)
    }
  }

  @Test(
    "a number is digits with one point at most, a sign and blanks around it, and the next field follows",
    arguments: [
      ("0", 0), ("12", 12), ("007", 7), ("4807.038", 4_807.038), ("0.5", 0.5), (".5", 0.5),
      ("5.", 5), ("-1.5", -1.5), ("+2", 2), (" 3.25 ", 3.25),
      ("123456789012345", 123_456_789_012_345),
      ("1.23456789012345", 1.234_567_890_123_45), ("1.234567890123456789", 1.234_567_890_123_45),
      ("0.00000000000001", 1e-14),
      ("", nil), (".", nil), ("-", nil), (" ", nil), ("1.2.3", nil), ("12a", nil), ("a", nil),
      ("1-2", nil), ("1 2", nil), ("1234567890123456", nil), ("99999999999999999999999", nil),
    ] as [(String, Double?)])
  func numbers(field: String, value: Double?) {
    let found = read(field)
    #expect(found.value == value && found.isNext)
    // The last field has no comma behind it.
    let last = Array(field.utf8).withUnsafeBufferPointer { bytes in
      var reader = FieldReader(bytes)
      return reader.number()
    }
    #expect(last == value)
  }
}
