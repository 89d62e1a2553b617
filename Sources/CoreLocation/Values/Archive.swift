// What the values write into archives, and read out of them. An archive comes from outside: what is of another type, or
// is missing, is `nil`, never a trap and never a zero.

import Foundation

extension NSCoder {
  /// Writes a number as an object, so that reading can tell one that is missing.
  func encode(number: Double, forKey key: String) {
    encode(NSNumber(value: number), forKey: key)
  }

  func number(forKey key: String) -> Double? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: NSNumber.self, forKey: key)?.doubleValue
  }

  /// A whole number of those that `range` holds.
  func integer(forKey key: String, in range: ClosedRange<Int>) -> Int? {
    guard let number = number(forKey: key), let integer = Int(exactly: number),
      range.contains(integer)
    else { return nil }
    return integer
  }

  func flag(forKey key: String) -> Bool? { integer(forKey: key, in: 0...1).map { $0 == 1 } }

  func text(forKey key: String) -> String? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: NSString.self, forKey: key).map { String(describing: $0) }
  }

  func encode(numbers: [Double]) {
    for (index, number) in numbers.enumerated() { encode(number: number, forKey: "value\(index)") }
  }

  /// Whether an archive comes from a subclass that replaced `encode(with:)` and stored its values under other keys. The
  /// SDK decodes such an archive, and the inherited properties then have their initial values.
  func isWritten(bySubclass type: AnyClass, of base: AnyClass, insteadOf key: String) -> Bool {
    type != base && !containsValue(forKey: key)
  }

  /// So many numbers that `encode(numbers:)` wrote; `nil` where one of them is missing.
  func numbers(_ count: Int) -> [Double]? {
    let numbers = (0..<count).compactMap { number(forKey: "value\($0)") }
    return numbers.count == count ? numbers : nil
  }
}
