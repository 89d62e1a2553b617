// HTML, SVG and XML as text in which nothing that came from outside can be markup.

/// A piece of a page. What stands in the source is markup; a string that is put in is escaped, a piece that
/// is put in stays as it is.
package struct Markup: ExpressibleByStringInterpolation, Sendable, Hashable {
  package private(set) var text: String

  package init(stringLiteral value: String) { text = value }

  package init(stringInterpolation parts: StringInterpolation) { text = parts.text }

  /// Pieces one after the other.
  package init(_ pieces: [Markup]) { text = pieces.map(\.text).joined() }

  package static func += (a: inout Markup, b: Markup) { a.text += b.text }

  /// What a reader shall see, as text and in an attribute alike.
  package static func escaped(_ text: String) -> String { XMLText.escaped(text) }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity)
    }

    package mutating func appendLiteral(_ literal: String) { text += literal }
    package mutating func appendInterpolation(_ value: String) { text += Markup.escaped(value) }
    package mutating func appendInterpolation(_ value: Markup) { text += value.text }
    /// What may be missing; there is none of these for strings, so that a literal in a closure is markup.
    package mutating func appendInterpolation(_ value: Markup?) { text += value?.text ?? "" }
    package mutating func appendInterpolation(_ value: [Markup]) { text += Markup(value).text }
    package mutating func appendInterpolation(_ value: Int) { text += String(value) }
    /// A coordinate of a drawing.
    package mutating func appendInterpolation(_ value: Double) {
      text += DecimalText.short(value.isFinite ? value : 0, 1)
    }
  }
}
