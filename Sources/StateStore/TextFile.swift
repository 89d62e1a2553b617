import Glibc

/// Text files that are written by hand or downloaded: board files, coefficients of a magnetic model.
package enum TextFile {
  /// Reads a whole file. Throws `FileProblem` if it cannot be read, is too long, or is not UTF-8 text.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - limit: The most bytes that it may have.
  ///   - isNamed: Whether the user named this file, in which case it may be a pipe too. A file that was found in a folder
  ///     must be a regular file.
  package static func read(_ path: String, limit: Int, isNamed: Bool) throws(FileProblem) -> String
  {
    let bytes = try bytes(of: path, limit: limit, isNamed: isNamed)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FileProblem(path, "it is not UTF-8 text")
    }
    return text
  }

  /// Reads the bytes of a whole file. Throws as `read`, whatever bytes they are.
  package static func bytes(
    of path: String, limit: Int, isNamed: Bool
  ) throws(FileProblem) -> [UInt8] {
    // Opening a pipe must not wait for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | (isNamed ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw FileProblem(path, errno: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileProblem(path, errno: errno) }
    guard isNamed || status.st_mode & S_IFMT == S_IFREG else {
      throw FileProblem(path, "it is not a regular file")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= limit {
      let count = systemRead(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileProblem(path, errno: errno) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
    throw FileProblem(path, "it is longer than \(limit) bytes")
  }
}

// `read` by itself is the function of the same name above.
private func systemRead(
  _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int
) -> Int {
  read(descriptor, buffer, count)
}
