import Foundation
import Testing

@testable import GNSSProtocol

struct JSONScannerTests {
  /// The number under the key "x", and whether the whole text is sound.
  private func x(_ text: String) -> (value: Double?, isSound: Bool) {
    Array(text.utf8).withUnsafeBufferPointer { bytes in
      var value: Double?
      var scanner = JSONScanner(bytes)
      scanner.object { if case "x" = $1 { value = $0.number() } }
      return (value, scanner.isAtEnd())
    }
  }

  @Test(
    "numbers are the nearest double, as the C library reads them",
    arguments: [
      "0", "-0", "-121.314308614", "44.068810007", "1e3", "1.5E-3", "2.2250738585072011e-308",
      "9007199254740993", "1.7976931348623157e308", "0.1234567890123456789012345678901234567890",
      "123456789012345678901234567890", "5e-324", "1e23", "8.5e22", "0.3", "1e-400", "1e-22",
      "9007199254740991e22", "184467440737095516150.1", "-0.000000000000000000000000000001",
    ])
  func numbers(text: String) {
    let (value, isSound) = x("{\"x\":\(text)}")
    #expect(isSound && value?.bitPattern == strtod(text, nil).bitPattern)
  }

  @Test(
    "what is no JSON is refused",
    arguments: [
      "{", "}", "[]", "{\"x\"}", "{\"x\":}", "{\"x\":1,}", "{x:1}", "{\"x\":01}", "{\"x\":1.}",
      "{\"x\":.5}", "{\"x\":+1}", "{\"x\":1e}", "{\"x\":-}", "{\"x\":nan}", "{\"x\":tru}",
      "{\"y\":[1 2],\"x\":1}", "{\"y\":[1,2},\"x\":1]", "{\"y\":\"a\nb\",\"x\":1}", "{\"y\":\"\\",
      "{\"y\":\"\\x\",\"x\":1}", "{\"y\":\"\\u12g4\",\"x\":1}", "{\"x\":1} 2", "{\"x\":1}}",
      "{\"x\":1 \"y\":2}", "{\"y\":\"", "{\"x\":1", "{\"y\":\"\\u12",
    ])
  func broken(text: String) { #expect(!x(text).isSound) }

  @Test(
    "what is not asked for is passed over, whatever it is",
    arguments: [
      "{\"y\":\"\\\"x\\\":7,\\\\\",\"x\":1}", "{\"y\":{\"x\":7,\"z\":[{\"x\":8}]},\"x\":1}",
      "{ \"y\" : [ ] , \"z\" : { } ,\r\n\t\"x\" : 1 }",
      "{\"y\":[[[[\"]\"]]],null,true,-2.5e1],\"x\":1}",
      "{\"\\u0078\":7,\"x\":1}", "{\"y\":\"\\u00e4\\n\\/\",\"x\":1}", "{\"xx\":7,\"\":8,\"x\":1}",
    ])
  func skipped(text: String) {
    let (value, isSound) = x(text)
    #expect(isSound && value == 1)
  }

  @Test("a value that is no number is none")
  func otherKinds() {
    for value in ["\"1\"", "null", "true", "[1]", "{\"x\":1}", "1e999"] {
      let found = x("{\"x\":\(value)}")
      #expect(found.value == nil && found.isSound, "\(value)")
    }
  }

  @Test("nesting is followed to a depth and refused beyond, without a trap")
  func depth() {
    func nested(_ count: Int) -> String {
      "{\"y\":" + String(repeating: "[", count: count) + String(repeating: "]", count: count)
        + ",\"x\":1}"
    }
    #expect(x(nested(60)).value == 1)
    #expect(!x(nested(65)).isSound)
    #expect(!x(nested(100_000)).isSound)
    #expect(!x(String(repeating: "{\"y\":", count: 50_000)).isSound)
  }

  @Test("what is shown to a person holds nothing that a terminal would obey")
  func words() {
    Array("\"a\\n\u{1F600}\\\"/\u{7F}\"".utf8).withUnsafeBufferPointer { bytes in
      var scanner = JSONScanner(bytes)
      #expect(scanner.string()?.words() == "a?????\"/?")
    }
  }
}
