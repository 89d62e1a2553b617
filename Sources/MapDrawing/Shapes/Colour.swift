/// A colour of the picture, in sRGB.
package struct Colour: Hashable, Sendable {
  /// Red, 0 to 1.
  package var red: Double
  /// Green, 0 to 1.
  package var green: Double
  /// Blue, 0 to 1.
  package var blue: Double
  /// How much of what lies below is covered, 0 to 1.
  package var alpha: Double

  /// Makes a colour of its parts; a covering one unless something else is said.
  package init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }

  /// Makes a colour as style sheets write it, 0xRRGGBB.
  package init(hex: UInt32, alpha: Double = 1) {
    func part(_ shift: UInt32) -> Double { Double(hex >> shift & 0xFF) / 255 }
    self.init(red: part(16), green: part(8), blue: part(0), alpha: alpha)
  }

  package static let clear = Colour(red: 0, green: 0, blue: 0, alpha: 0)
  package static let white = Colour(red: 1, green: 1, blue: 1)
  package static let black = Colour(red: 0, green: 0, blue: 0)

  /// The same colour, covering as much as is said.
  package func withAlpha(_ alpha: Double) -> Colour {
    var colour = self
    colour.alpha = alpha
    return colour
  }

  /// Whether nothing of it is seen. So is a colour whose alpha is no number.
  var isInvisible: Bool { !(alpha > 0) }

  /// The colour without its alpha, `#rrggbb`.
  var text: String {
    var digits = "#"
    for part in [red, green, blue] {
      let value = UInt8(((part.isFinite ? min(max(part, 0), 1) : 0) * 255).rounded())
      digits += (value < 16 ? "0" : "") + String(value, radix: 16)
    }
    return digits
  }

  /// The alpha, within its range.
  var opacity: Double { isInvisible ? 0 : min(alpha, 1) }
}
