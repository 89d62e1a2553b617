import Testing
import TextForms

struct TextEndsTests {
  @Test(
    "blanks are left out at both ends, and nowhere else",
    arguments: [
      ("", ""), (" \t ", ""), ("a", "a"), (" a\tb ", "a\tb"), ("\u{A0}\u{2003}a\u{3000}", "a"),
      ("\n a\r\n", "\n a\r\n"), (" \u{301}a", "\u{301}a"),
    ])
  func blanks(text: String, expected: String) {
    // Compared scalar by scalar.
    #expect(Array(text.trimmingBlanks().unicodeScalars) == Array(expected.unicodeScalars))
    #expect(Array(text[...].trimmingBlanks().unicodeScalars) == Array(expected.unicodeScalars))
  }

  @Test(
    "white space is left out with line breaks",
    arguments: [
      ("", ""), ("\r\n", ""), (" a\r\n", "a"), ("\n\ta b\u{85}\u{2028}", "a b"),
      ("\u{B}\u{C}a", "a"), ("a\u{0}", "a\u{0}"),
    ])
  func whitespace(text: String, expected: String) {
    #expect(Array(text.trimmingWhitespace().unicodeScalars) == Array(expected.unicodeScalars))
  }

  @Test("a text is filled or cut to a width")
  func width() {
    #expect("ab".padded(to: 4) == "ab  ")
    #expect("abcd"[...].padded(to: 4) == "abcd")
    #expect("abcdef".padded(to: 4) == "abcd")
    #expect("".padded(to: 0) == "" && "µT".padded(to: 3) == "µT ")
  }
}
