/// How much of the board's position a program may know.
package enum PositionAccess: Hashable, Sendable {
  case full
  /// The part of the country that the board is in.
  case reduced
  /// Nothing; the text says who decided that.
  case withheld(String)
}
