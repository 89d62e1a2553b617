/// How words look.
public struct TextStyle: Hashable, Sendable {
  /// Which part of the words lies at their place.
  public enum Anchor: String, Hashable, Sendable {
    /// Their beginning.
    case start
    /// Their middle.
    case middle
    /// Their end.
    case end
  }

  /// The letters' size, points.
  public var size: Double
  /// The letters' colour.
  public var colour: Colour
  /// What surrounds the letters, so that they can be read on a map; nil for nothing.
  public var halo: Colour?
  /// Which part of the words lies at their place.
  public var anchor: Anchor
  /// Whether the letters are bold.
  public var isBold: Bool
  /// How far the words are turned about their place, radians clockwise.
  public var rotation: Double

  /// Makes a style; the words begin at their place unless something else is said.
  public init(
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
