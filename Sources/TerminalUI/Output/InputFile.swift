// Files that a person names to be read.

package import Foundation
import Glibc
import StateStore

/// A file, or standard input for `-`, read piece by piece; every mistake names it.
package struct InputFile {
  /// As the person named it.
  package let path: String
  private let handle: FileHandle
  /// What was looked at ahead, and is to be read yet.
  private var ahead: [UInt8] = []

  package init(_ path: String) throws {
    self.path = path
    do {
      handle =
        path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
    } catch {
      throw CommandError(reading: path, error)
    }
  }

  /// The next bytes, as many as there are at once, at most so many; `nil` at the end.
  package mutating func read(_ most: Int) throws -> Data? {
    var data = Data(count: most)
    let count = try data.withUnsafeMutableBytes { try read(into: $0) }
    return count > 0 ? data.prefix(count) : nil
  }

  /// Its name without the folders, which are nobody's business who gets what is made of it.
  package var name: String {
    path == "-" ? "standard input" : URL(filePath: path).lastPathComponent
  }

  /// The first bytes, at most a page of them; they are read again after that.
  package mutating func beginning() throws -> [UInt8] {
    guard ahead.isEmpty else { return ahead }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = try bytes.withUnsafeMutableBytes { try read(into: $0) }
    ahead = Array(bytes[..<count])
    return ahead
  }

  /// Waits a moment for bytes, or for the end. Returns false where neither has come.
  package func isReady() -> Bool {
    guard ahead.isEmpty else { return true }
    var entry = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 50) > 0
  }

  /// Reads the next bytes into a buffer, as many as there are at once; 0 at the end.
  package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    if !ahead.isEmpty {
      let count = min(buffer.count, ahead.count)
      buffer.copyBytes(from: ahead[..<count])
      ahead.removeFirst(count)
      return count
    }
    while true {
      let count = Glibc.read(handle.fileDescriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else {
        throw CommandError(reading: FileProblem(path, errno: errno))
      }
    }
  }
}
