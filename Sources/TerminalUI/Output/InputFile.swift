// Files that a person names to be read.

package import FoundationEssentials
import Glibc
import StateStore

/// A file, or standard input for `-`, read piece by piece; every mistake names it. A file that gzip or zstd has compressed is
/// decompressed on the way.
package struct InputFile {
  /// The bytes that a compressed file may have that is read as a whole.
  package static let wholeLimit = 1 << 30

  /// As the person named it.
  package let path: String
  private let source: Source
  /// `nil` for a file that is not compressed.
  private let decompression: Decompression?
  /// What was looked at ahead, and is to be read yet.
  private var ahead: [UInt8] = []

  package init(_ path: String) throws {
    self.path = path
    let file = try Source(path)
    let content = try Decompression.start(path, reading: file.descriptor)
    decompression = content?.decompression
    source = content.map { Source($0.output) } ?? file
  }

  /// A descriptor that is closed with its last reference, unless it is standard input.
  private final class Source: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    init(_ path: String) throws {
      descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw CommandError(reading: FileProblem(path, errno: errno)) }
    }

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }
  }

  /// Whether the file is compressed.
  package var isCompressed: Bool { decompression != nil }

  /// Reads all that is left. Throws where a compressed file holds more than `limit` bytes. One that was cut off says so, on
  /// standard error, and is good up to there.
  package mutating func readAll(limit: Int = InputFile.wholeLimit) throws -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      while let data = try read(1 << 16) {
        bytes += data
        guard !isCompressed || bytes.count <= limit else {
          throw CommandError(
            "\(path) holds more than \(limit) bytes, too many to be read as a whole: decompress it first",
            kind: .data)
        }
      }
    } catch let error as CommandError where !bytes.isEmpty && decompression?.isOver == true {
      Terminal.warn("lodestone: \(error)")
    }
    return bytes
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
    if let format = Decompression.CompressionFormat(beginning: ahead), !isCompressed {
      // A pipe cannot be looked into before it is read.
      throw CommandError(
        "\(name) is compressed: decompress it with \(format.words.joined(separator: " ")) first",
        kind: .data)
    }
    return ahead
  }

  /// Waits a moment for bytes, or for the end. Returns false where neither has come.
  package func isReady() -> Bool {
    guard ahead.isEmpty else { return true }
    var entry = pollfd(fd: source.descriptor, events: Int16(POLLIN), revents: 0)
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
      let count = Glibc.read(source.descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 {
        try decompression?.note(count)
        return count
      }
      guard errno == EINTR else {
        throw CommandError(reading: FileProblem(path, errno: errno))
      }
    }
  }
}
