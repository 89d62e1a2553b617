// Who asks for authorization.

/// The identity of a program that asks for authorization.
///
/// The same executable that another user runs, or another unit, is another client.
public struct AuthorizationClient: Hashable, Codable, Sendable {
  /// The path of its executable.
  public var executable: String
  /// The user ID that it runs as.
  public var user: UInt32
  /// The systemd unit that it runs in, or `nil` if it does not run in one.
  public var unit: String?

  /// Makes the identity of a program.
  public init(executable: String, user: UInt32, unit: String? = nil) {
    self.executable = executable
    self.user = user
    self.unit = unit
  }

  /// The name of the executable, without its folder.
  public var name: String { executable.split(separator: "/").last.map(String.init) ?? executable }

  /// The path of the executable for a terminal: what is no printable character is a question mark.
  package var shownPath: String { executable.shown }
}

extension String {
  /// The text in one line: control characters, separators of lines and what changes the direction of writing are question marks.
  package var shown: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            "?"
          default: scalar
          }
        }))
  }
}
