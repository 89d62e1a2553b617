/// How a command prints what it found.
package enum OutputFormat: String, CaseIterable, Sendable {
  case text
  /// One JSON object a line.
  case json
}
