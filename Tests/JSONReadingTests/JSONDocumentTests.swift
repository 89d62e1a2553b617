import JSONReading
import Testing

struct JSONDocumentTests {
  private struct Content: Codable, Equatable {
    var a: String?
    var b: Double?
    var d: [String: Double]?
  }

  private func read(_ bytes: [UInt8]) throws -> Content {
    try JSONDocument.decode(Content.self, from: bytes)
  }

  @Test(
    "a string that is none of JSON is an error, as a value, a key, or where nobody asks for it",
    arguments: [
      // Control characters; RFC 8259, section 7.
      "\u{1}", "\u{1A}", "\n", "\t", "\u{1F}", "\0",
      // Escapes that JSON does not have, and those that are cut off.
      "\\q", "\\x41", "\\'", "\\u", "\\u12", "\\u12g4", "\\u+123", "\\U0041",
      // Halves of surrogate pairs.
      "\\ud800", "\\udc00", "\\ud800\\ud800", "\\ud800x", "\\ud83d\\u0041", "\\ud800\\",
    ])
  func unsound(text: String) {
    for json in [
      #"{"a":"\#(text)"}"#, #"{"a\#(text)":1}"#, #"{"d":{"x\#(text)":1}}"#,
      #"{"other":"\#(text)","b":1}"#, #"{"other":{"\#(text)":[]},"b":1}"#,
    ] {
      #expect(throws: DecodingError.self) { try read(Array(json.utf8)) }
    }
  }

  private static func utf16(_ text: String) -> [UInt8] {
    text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
  }

  // Not in the attribute: Swift 6.0.3 dies of sums and closures there.
  private static let foreign: [[UInt8]] = [
    Array(#"{""#.utf8) + [0xFF] + Array(#"":1}"#.utf8),
    Array(#"{"a":""#.utf8) + [0xC3] + Array(#""}"#.utf8),
    Array(#"{"a":""#.utf8) + [0xED, 0xA0, 0x80] + Array(#""}"#.utf8),
    utf16(#"{"a":"x"}"#), [0] + utf16(#"{"a":"x"}"#).dropLast(), [0xFF, 0xFE] + utf16("{}"),
  ]

  @Test("bytes that are no UTF-8 are an error; so is every other encoding", arguments: foreign)
  func encodings(bytes: [UInt8]) {
    #expect(throws: DecodingError.self) { try read(bytes) }
  }

  @Test(
    "what is cut off or no JSON between its strings is an error",
    arguments: [
      "", "{", #"{"a"#, #"{"a":"x"#, #"{"a":"x\"#, #"{"b":-}"#, #"{"b":01}"#, #"{"b":1.}"#,
      #"{"a":12 34}"#, #"{"a":"x"}}"#, "null x",
    ])
  func broken(text: String) {
    #expect(throws: DecodingError.self) { try read(Array(text.utf8)) }
  }

  @Test("a sound text is read, whatever its strings hold")
  func sound() throws {
    let text =
      #"{"a":"\"\\\/\b\f\n\r\t\u00e4\ud83D\uDE00ä😀\u007f","b":-1.5e3,"d":{"\u00e4":1,"":2},"#
      + #""other":["[\"{",{"}":null}]}"#
    let content = try read(Array(text.utf8))
    #expect(content.a == "\"\\/\u{8}\u{C}\n\r\t\u{E4}\u{1F600}\u{E4}\u{1F600}\u{7F}")
    #expect(content.b == -1_500 && content.d == ["\u{E4}": 1, "": 2])
  }

  @Test("every byte of a document, replaced by every other one, is read or is an error")
  func damage() {
    let sound = Array(#"{"a":"\u00e4\\","b":1.5,"d":{"k\n":2},"e":[true]}"#.utf8)
    var read = 0
    for place in sound.indices {
      for byte in UInt8.min...UInt8.max {
        var bytes = sound
        bytes[place] = byte
        do {
          _ = try self.read(bytes)
          read += 1
        } catch {
          #expect(error is DecodingError, "\(place), \(byte)")
        }
      }
    }
    // As many as Python's json module reads as an object of these kinds of values; the first of two equal keys counts.
    #expect(read == 845)
  }
}
