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
