// What judging a board at rest needs of mathematics and of words.

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

enum StillMath {
  static func arcSine(_ x: Double) -> Double { asin(max(-1, min(1, x))) }

  /// A number with `digits` decimals, for words.
  static func fixed(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e9 else { return "\(value)" }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let units = Int((abs(value) * scale).rounded())
    let sign = value < 0 && units > 0 ? "-" : ""
    guard digits > 0 else { return sign + "\(units)" }
    let fraction = String(units % Int(scale))
    let zeros = String(repeating: "0", count: digits - fraction.count)
    return sign + "\(units / Int(scale)).\(zeros)\(fraction)"
  }
}

/// Standard gravity, m/s^2 (CGPM 1901): what a force is held against where the place's own is not known.
let standardGravity = 9.80665
