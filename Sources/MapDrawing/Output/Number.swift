// Numbers as they stand in the picture.

import TextForms

/// Writes numbers briefly and alike on every machine.
enum Number {
  /// A length or a place, to 0.01 of a point; zero for what is no number.
  static func text(_ value: Double) -> String { text(value, digits: 2) }

  /// To a number of digits behind the point, without zeros at the end and without a sign at zero.
  static func text(_ value: Double, digits: Int) -> String {
    value.magnitude < 1e9 ? DecimalText.short(value, digits) : "0"
  }
}
