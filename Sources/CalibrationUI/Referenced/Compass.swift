/// The compass in parts.
package enum Compass {
  package static let sectors = 36

  /// The part of the compass that a heading (radians) lies in.
  package static func sector(_ heading: Double, of count: Int = sectors) -> Int {
    let turn = heading / (2 * .pi)
    return max(0, min(count - 1, Int((turn - turn.rounded(.down)) * Double(count))))
  }

  /// The name of a heading in degrees where it has one: N, NE, …
  package static func name(_ degrees: Double) -> String {
    let names = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
    let eighth = degrees / 45
    guard eighth == eighth.rounded(), (0..<8).contains(eighth) else { return "" }
    return names[Int(eighth)]
  }
}
