import TextForms

extension CompassSwing {
  /// A word of a list that is no heading.
  package struct InvalidHeading: Error, Equatable, CustomStringConvertible {
    let text: String
    /// The message, in one line.
    package var description: String { "'\(text)' is no heading from 0 to 360" }
  }

  /// Reads headings in degrees, separated by commas. 360 is north, as 0 is.
  package static func headings(_ text: String) -> Result<[Double], InvalidHeading> {
    var headings: [Double] = []
    for word in text.split(separator: ",") {
      guard let value = Double(word.trimmingBlanks()),
        (0...360).contains(value)
      else { return .failure(InvalidHeading(text: String(word))) }
      headings.append(value == 360 ? 0 : value)
    }
    return .success(headings)
  }
}
