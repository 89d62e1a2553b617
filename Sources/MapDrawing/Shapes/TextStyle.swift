package struct TextStyle: Hashable, Sendable {
  /// Which part of the words lies at their place.
  package enum Anchor: String, Hashable, Sendable {
    case start
    case middle
    case end
  }

  /// The letters' size, points.
  package var size: Double
  package var colour: Colour
  /// What surrounds the letters, so that they can be read on a map; nil for nothing.
  package var halo: Colour?
  /// Which part of the words lies at their place.
  package var anchor: Anchor
  /// Whether the letters are bold.
  package var isBold: Bool
  /// How far the words are turned about their place, radians clockwise.
  package var rotation: Double

  /// Makes a style; the words begin at their place unless something else is said.
  package init(
    size: Double, colour: Colour, halo: Colour? = nil, anchor: Anchor = .start,
    isBold: Bool = false, rotation: Double = 0
  ) {
    self.size = size
    self.colour = colour
    self.halo = halo
    self.anchor = anchor
    self.isBold = isBold
    self.rotation = rotation
  }

  /// About how wide words are, points. No font is asked: what they are drawn with is known to the viewer only, and a
  /// common sans-serif is narrower.
  func width(of text: String) -> Double { Double(text.count) * size * (isBold ? 0.64 : 0.58) }
}
