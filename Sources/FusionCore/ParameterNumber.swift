// A number among an estimator's parameters: its name, its range, and how it is read and changed.

/// One number of the parameters `Root`.
@_spi(Tuning) public struct ParameterNumber<Root: Sendable>: Sendable {
  private enum Place: Sendable {
    case real(any WritableKeyPath<Root, Double> & Sendable)
    case count(any WritableKeyPath<Root, Int> & Sendable)
  }

  /// The name in `Documentation/filter.md`, with the group's name before it.
  public let name: String
  /// The values that are used; the default stands in for any other.
  public let range: ClosedRange<Double>
  private let place: Place

  /// A number with a fraction.
  static func real(
    _ name: String, _ path: any WritableKeyPath<Root, Double> & Sendable,
    _ range: ClosedRange<Double> = ParameterRange.notNegative
  ) -> ParameterNumber {
    ParameterNumber(name: name, range: range, place: .real(path))
  }

  /// A whole number.
  static func count(
    _ name: String, _ path: any WritableKeyPath<Root, Int> & Sendable, _ range: ClosedRange<Double>
  ) -> ParameterNumber {
    ParameterNumber(name: name, range: range, place: .count(path))
  }

  /// Whether only whole numbers can be set.
  public var isWhole: Bool {
    if case .count = place { true } else { false }
  }

  /// Reads the number.
  public func value(in root: Root) -> Double {
    switch place {
    case .real(let path): root[keyPath: path]
    case .count(let path): Double(root[keyPath: path])
    }
  }

  /// Changes the number, to a whole one if `isWhole`. A value that no such number can have changes nothing.
  public func set(_ value: Double, in root: inout Root) {
    switch place {
    case .real(let path): root[keyPath: path] = value
    case .count(let path):
      if let whole = Int(exactly: value) { root[keyPath: path] = whole }
    }
  }

  /// Replaces every value outside its range, or not a number, by the value in `usual`.
  static func mend(_ root: inout Root, _ numbers: [ParameterNumber], usual: Root) {
    for number in numbers where !number.range.contains(number.value(in: root)) {
      number.set(number.value(in: usual), in: &root)
    }
  }
}

/// Ranges that many parameters share.
enum ParameterRange {
  /// Thresholds, deviations and durations.
  static let notNegative = 0...Double.greatestFiniteMagnitude
  /// Divisors, and time constants that are divided by.
  static let positive = 1e-9...Double.greatestFiniteMagnitude
  /// Temperatures, heights, logarithms and components of a field.
  static let anyNumber = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
}
