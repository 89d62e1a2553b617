// What a server says, without what only the server and this machine are to know.

extension String {
  /// Returns the text with each occurrence of a secret replaced by an ellipsis: a server may repeat what it was sent, and its words go
  /// to the journal.
  ///
  /// Secrets of less than four characters are left, because they occur in other words.
  package func hiding(_ secrets: [String?]) -> String {
    var text = self
    for case let secret? in secrets where secret.utf8.count >= 4 {
      text = text.replacing(secret, with: "\u{2026}")
    }
    return text
  }
}
