import ArgumentParser

/// How a command prints what it found.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  /// For people.
  case text
  /// One JSON object a line.
  case json
}
