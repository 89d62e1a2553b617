// Numbers and markup as text.

import Foundation
import SeededDraws
import TextForms
import Testing

struct DecimalTextTests {
  /// By the C library: the same digits, rounded half to even where it is exactly half.
  private func printed(_ value: Double, _ digits: Int) -> String {
    String(format: "%.\(digits)f", value)
  }

  @Test("so many decimals, as the C library prints them")
  func steady() {
    var random = SplitMix64(state: 2026)
    for _ in 0..<2_000 {
      let digits = Int.random(in: 0...6, using: &random)
      // Off the halves, where two roundings may differ.
      let scale = pow(10, Double(digits))
      let units = Double(Int.random(in: -9_000_000...9_000_000, using: &random))
      let value = (units + Double.random(in: -0.4...0.4, using: &random)) / scale
      var expected = printed(value, digits)
      if !expected.contains(where: { ("1"..."9").contains($0) }) { expected.replace("-", with: "") }
      #expect(DecimalText.steady(value, digits) == expected, "\(value)")
    }
  }

  @Test("short is steady without noughts at the end")
  func short() {
    #expect(DecimalText.short(1.5, 3) == "1.5" && DecimalText.steady(1.5, 3) == "1.500")
    #expect(DecimalText.short(-0.0004, 3) == "0" && DecimalText.steady(-0.0004, 3) == "0.000")
    #expect(DecimalText.short(100, 2) == "100" && DecimalText.short(-2.999_6, 3) == "-3")
    #expect(DecimalText.short(0.05, 1) == "0.1" && DecimalText.short(9.99, 1) == "10")
  }

  @Test("what is no number is spelt, and crashes nobody")
  func strange() {
    #expect(DecimalText.short(.nan, 2) == "nan" && DecimalText.steady(.infinity, 1) == "inf")
    for value in [1e300, -1e300, Double.leastNonzeroMagnitude, .greatestFiniteMagnitude] {
      for digits in [0, 3, 15] {
        #expect(Double(DecimalText.short(value, digits))?.isFinite == true)
        #expect(Double(DecimalText.steady(value, digits))?.isFinite == true)
      }
    }
  }
}

struct JSONLineTests {
  /// By the rules of JSON, a character at a time.
  private func quoted(_ text: String) -> String {
    let characters = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case "\n": "\\n"
      case "\u{1}": "\\u0001"
      case "\u{7F}": "\\u007f"
      default: String(scalar)
      }
    }
    return "\"" + characters.joined() + "\""
  }

  @Test("a key and a text of any length are escaped at any place")
  func escaping() {
    for length in 0...20 {
      let plain = Array("abcdefghijklmnopqrst".unicodeScalars.prefix(length))
      for place in 0...length {
        for scalar in ["\"", "\\", "\n", "\u{1}", "\u{7F}", "~", " ", "é"] as [Unicode.Scalar] {
          var scalars = plain
          scalars.insert(scalar, at: place)
          let text = String(String.UnicodeScalarView(scalars))
          var line = JSONLine()
          line.set(text, text)
          line.set(text, 1)
          #expect(line.line == "{\(quoted(text)):\(quoted(text)),\(quoted(text)):1}")
        }
      }
    }
  }

  @Test("lines of any length follow one another in one text")
  func lengths() {
    var (text, expected) = ([UInt8](), "")
    for length in stride(from: 0, to: 3_000, by: 37) {
      let value = String(repeating: "x", count: length)
      var line = JSONLine(behind: &text)
      line.set("a", length)
      line.set("b", value)
      line.set("c", objects: [1.5, -2]) { $0.set("d", $1, digits: 3) }
      line.end(into: &text)
      expected += "{\"a\":\(length),\"b\":\"\(value)\",\"c\":[{\"d\":1.5},{\"d\":-2}]}\n"
    }
    #expect(String(decoding: text, as: UTF8.self) == expected)
  }
}

struct MarkupTests {
  @Test("nothing that is put into a page is markup, and what XML cannot hold is replaced")
  func escaping() {
    let name = "<b a='1' c=\"2\">&\u{0}\u{1B}\u{85}\u{FFFE}é"
    let page: Markup = "<p title=\"\(name)\">\(name)</p>"
    let escaped = "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}é"
    #expect(page.text == "<p title=\"\(escaped)\">\(escaped)</p>")
    #expect(XMLText.escaped("a\tb\nc") == "a\tb\nc")
  }
}
