// Numbers and dates as a reader sees them.

import LinearAlgebra
import TerminalUI
import TextForms

/// How a report spells what it knows.
enum Figures {
  /// A number with exactly `digits` decimals and a true minus sign; a dash for one that is not finite.
  static func number(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "–" }
    var text = DecimalText.short(value, digits)
    if digits > 0 {
      if !text.contains(".") { text += "." }
      let decimals = text.reversed().prefix { $0 != "." }.count
      text += String(repeating: "0", count: max(0, digits - decimals))
    }
    return text.replacing("-", with: "\u{2212}")
  }

  /// The same with its sign, for something that goes both ways.
  static func signed(_ value: Double, _ digits: Int) -> String {
    let text = number(value, digits)
    return value > 0 && value.isFinite ? "+" + text : text
  }

  /// Three numbers in brackets.
  static func vector(_ v: Vector3, _ digits: Int) -> String {
    "(\(number(v.x, digits)), \(number(v.y, digits)), \(number(v.z, digits)))"
  }

  /// An angle in degrees with as many decimals as mean something.
  static func degrees(_ value: Double) -> String {
    number(value, abs(value) < 9.95 ? 2 : (abs(value) < 99.5 ? 1 : 0)) + "\u{B0}"
  }

  static func percent(_ share: Double) -> String { number(100 * share, 0) + "\u{A0}%" }

  /// What stands for a value that nobody knows.
  static let unknown = "–"

  /// `2026-11-21T17:29:00Z` as `2026-11-21 17:29 UTC`; anything else as it is. The first moment of 1970 is no date: a
  /// simulated board's record has it.
  static func date(_ iso: String) -> String {
    guard iso != "1970-01-01T00:00:00Z" else { return unknown }
    let pattern = "0000-00-00T00:00:00Z"
    guard iso.count == pattern.count,
      zip(iso, pattern).allSatisfy({ $1 == "0" ? $0.isASCII && $0.isNumber : $0 == $1 })
    else { return iso.isEmpty ? unknown : iso }
    return "\(iso.prefix(10)) \(iso.dropFirst(11).prefix(5)) UTC"
  }

  /// `1 sample`, `2 samples`.
  static func count(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
