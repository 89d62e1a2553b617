package import FoundationEssentials
import Glibc
import TextForms

/// A file with the token of a server. Only its owner can read it.
package struct TokenFile: Sendable {
  /// A file that can be read and holds no token.
  package struct Malformed: Error, Hashable, CustomStringConvertible {
    /// The message, in one line.
    package let description: String
  }

  /// The allowed lengths of a token, in characters.
  private static let lengths = 16...128

  /// The path of the file.
  package let path: String
  private let createsFolder: Bool

  /// Creates a value that names a file in a folder that exists; nothing is read.
  package init(path: String) { (self.path, createsFolder) = (path, false) }

  /// Creates a value that names the file in a state directory, which is created with it.
  package init(in folder: URL) {
    (path, createsFolder) = (folder.appending(path: "map-token").path, true)
  }

  /// Returns the token. If the file does not exist, it is created with a new token.
  ///
  /// - Throws: `Malformed` if the file holds no token, `FileProblem` if it cannot be read or created,
  ///   or if other users can open it.
  package func open() throws -> String { try keep { try read() ?? write() } }

  /// Replaces the token and returns the new one.
  package func renew() throws -> String { try keep { try write() } }

  // The lock keeps two processes that start at once from creating two tokens.
  private func keep(_ body: () throws -> String) throws -> String {
    let folder = URL(filePath: path).deletingLastPathComponent()
    if createsFolder {
      try StateFile.makeFolder(folder.path)
    } else if access(folder.path, F_OK) != 0 {
      // A slip of the pen makes no folders.
      throw FileProblem(folder.path, errno: errno)
    }
    let lock = try FolderLock(folder)
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }

  private func read() throws -> String? {
    switch StateFile.read(path) {
    case .missing: return nil
    case .unreadable(let reason): throw FileProblem(path, reason)
    case .bytes(let bytes):
      let token = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
      guard Self.lengths.contains(token.utf8.count), token.utf8.allSatisfy(Self.isAllowed) else {
        throw Malformed(
          description: "\(path): it holds no token: 16 to 128 letters, digits, - and _")
      }
      try checkPermissions()
      return token
    }
  }

  private func write() throws -> String {
    var status = stat()
    // A device, a pipe or a link would be replaced by a file.
    guard lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw FileProblem(path, "it is no regular file")
    }
    let token = Self.random()
    try StateFile.write(Array((token + "\n").utf8), to: URL(filePath: path))
    return token
  }

  // The group may read the file, because service managers pass credentials in this way.
  private func checkPermissions() throws {
    var status = stat()
    guard stat(path, &status) == 0 else { throw FileProblem(path, errno: errno) }
    guard status.st_mode & 0o027 == 0 else {
      throw FileProblem(path, "other users can open it: close it with chmod 600")
    }
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Returns 128 random bits in hexadecimal.
  static func random() -> String {
    var source = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(source.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
