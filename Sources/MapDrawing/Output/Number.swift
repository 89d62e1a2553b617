// Numbers as they stand in the picture.

/// Writes numbers briefly and alike on every machine.
enum Number {
  /// A length or a place, to 0.01 of a point; zero for what is no number.
  static func text(_ value: Double) -> String { text(value, digits: 2) }

  /// To a number of digits behind the point, without zeros at the end and without a sign at zero.
  static func text(_ value: Double, digits: Int) -> String {
    var power = 1
    for _ in 0..<digits { power *= 10 }
    let scaled = (value * Double(power)).rounded()
    guard abs(scaled) < 9e18 else { return "0" }
    let whole = Int(scaled)
    guard whole % power != 0 else { return String(whole / power) }
    var rest = String(abs(whole) % power)
    rest = String(repeating: "0", count: digits - rest.utf8.count) + rest
    while rest.hasSuffix("0") { rest.removeLast() }
    return "\(whole < 0 ? "-" : "")\(abs(whole) / power).\(rest)"
  }
}
