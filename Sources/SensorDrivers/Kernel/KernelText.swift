// Numbers as sysfs writes them.

/// What an attribute's text says.
package enum KernelText {
  /// The number at the beginning of a text; `nil` for anything that sysfs would not write. A unit may follow
  /// behind a blank.
  package static func number(_ text: some Collection<UInt8>) -> Double? {
    let word = text.prefix { $0 != 32 }
    guard word.count <= 32,
      word.allSatisfy({ (48...57).contains($0) || $0 == 43 || $0 == 45 || $0 == 46 }),
      let value = Double(String(decoding: word, as: UTF8.self)), value.isFinite
    else { return nil }
    return value
  }

  /// The number at the beginning of a text.
  package static func number(_ text: some StringProtocol) -> Double? { number(text.utf8) }

  /// Of the values that an `_available` lists (`10 20 40` or `[least step most]`) the next that is at least
  /// `wanted`, else the greatest, as text to be written; `nil` where it lists none.
  package static func next(_ available: String, atLeast wanted: Double) -> String? {
    let isRange = available.hasPrefix("[") && available.hasSuffix("]")
    let words = available.split(whereSeparator: { " []".contains($0) }).prefix(256)
    let values = words.compactMap { word in number(word).map { (word: String(word), value: $0) } }
    if isRange {
      guard values.count == 3, values[1].value > 0, values[0].value <= values[2].value else {
        return nil
      }
      let (least, step, most) = (values[0].value, values[1].value, values[2].value)
      let steps = ((max(wanted, least) - least) / step).rounded(.up)
      let value = min(least + steps * step, most)
      return value == value.rounded() && value.magnitude < 1e9 ? "\(Int(value))" : "\(value)"
    }
    let enough = values.filter { $0.value >= wanted }.min { $0.value < $1.value }
    return (enough ?? values.max { $0.value < $1.value })?.word
  }
}
