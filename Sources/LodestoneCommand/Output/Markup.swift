// HTML, SVG and XML as text in which nothing that came from outside can be markup.

import MapDrawing

/// A piece of a page. What stands in the source is markup; a string that is put in is escaped, a piece that
/// is put in stays as it is.
struct Markup: ExpressibleByStringInterpolation, Sendable, Hashable {
  private(set) var text: String

  init(stringLiteral value: String) { text = value }

  init(stringInterpolation parts: StringInterpolation) { text = parts.text }

  /// Pieces one after the other.
  init(_ pieces: [Markup]) { text = pieces.map(\.text).joined() }

  static func += (a: inout Markup, b: Markup) { a.text += b.text }

  /// What a reader shall see, as text and in an attribute alike.
  static func escaped(_ text: String) -> String { XMLText.escaped(text) }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ value: String) { text += Markup.escaped(value) }
    mutating func appendInterpolation(_ value: Markup) { text += value.text }
    /// What may be missing; there is none of these for strings, so that a literal in a closure is markup.
    mutating func appendInterpolation(_ value: Markup?) { text += value?.text ?? "" }
    mutating func appendInterpolation(_ value: [Markup]) { text += Markup(value).text }
    mutating func appendInterpolation(_ value: Int) { text += String(value) }
    /// A coordinate of a drawing.
    mutating func appendInterpolation(_ value: Double) {
      text += JSONLine.fixed(value.isFinite ? value : 0, digits: 1)
    }
  }
}
