import Glibc

/// A file with a user name and a password, or with a token, written by hand. Only its owner can read it.
package enum CredentialFile {
  /// The most bytes that the file may have.
  private static let limit = 512

  /// Returns `USER:PASSWORD`, the file's only line.
  ///
  /// - Throws: `FileProblem`, which never holds anything of the file's content, if it cannot be read, holds something else, belongs to
  ///   somebody else, or can be read or written by others.
  package static func read(_ path: String) throws(FileProblem) -> String {
    let words = "it must hold USER:PASSWORD on its only line"
    let text = try line(path, words)
    guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
      throw FileProblem(path, words)
    }
    return text
  }

  /// Returns a token, the file's only line: printable ASCII without spaces.
  ///
  /// - Throws: As `read`.
  package static func token(_ path: String) throws(FileProblem) -> String {
    let words = "it must hold the token on its only line"
    let text = try line(path, words)
    guard !text.isEmpty, text.utf8.allSatisfy({ (33...126).contains($0) }) else {
      throw FileProblem(path, words)
    }
    return text
  }

  /// Returns the only line of a file that nobody else can open.
  ///
  /// - Parameter words: What the file must hold.
  private static func line(_ path: String, _ words: String) throws(FileProblem) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw FileProblem(path, errno: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileProblem(path, errno: errno) }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw FileProblem(path, errno: EISDIR) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FileProblem(path, "it is not a regular file")
    }
    // Of the file that was opened: a path may be another's a moment later.
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw FileProblem(path, "it belongs to another user: take it with chown")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw FileProblem(path, "other users can open it: close it with chmod 600")
    }
    var buffer = [UInt8](repeating: 0, count: limit + 1)
    var count = 0
    while count <= limit {
      let more = buffer.withUnsafeMutableBytes { bytes in
        Glibc.read(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
      }
      if more < 0, errno == EINTR { continue }
      guard more >= 0 else { throw FileProblem(path, errno: errno) }
      if more == 0 { break }
      count += more
    }
    var line = buffer[..<count]
    if line.last == 10 { line.removeLast() }
    if line.last == 13 { line.removeLast() }
    guard count <= limit, line.allSatisfy({ $0 >= 32 && $0 != 127 }),
      let text = String(validating: line, as: UTF8.self)
    else { throw FileProblem(path, words) }
    return text
  }

  /// The command that begins to mend a file which cannot be used; `nil` for one that can.
  package static func mend(ofProblemWith path: String) -> String? {
    do throws(FileProblem) {
      _ = try read(path)
      return nil
    } catch {
      return access(path, F_OK) == 0
        ? "chmod 600 \(path)   # one line in it: USER:PASSWORD"
        : "install -m 600 /dev/null \(path)   # then write USER:PASSWORD into it"
    }
  }
}
