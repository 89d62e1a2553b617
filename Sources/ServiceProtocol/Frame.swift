// The frames of a connection: a length and that many bytes.

/// The format of a frame: the number of its bytes as four bytes, the lowest first, and the bytes, one CBOR data item.
package enum Frame {
  /// The number of bytes of the length.
  static let headerCount = 4

  /// Appends a message as a frame.
  ///
  /// - Throws: What the message throws when it is encoded, and `FrameProblem.tooLong`. The bytes are unchanged then.
  package static func append(_ message: some Encodable, to bytes: inout [UInt8], limit: Int) throws
  {
    let begin = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: headerCount))
    do {
      try CBOREncoder.append(message, to: &bytes)
      let count = bytes.count - begin - headerCount
      guard count <= limit else { throw FrameProblem.tooLong(count) }
      for index in 0..<headerCount {
        bytes[begin + index] = UInt8(truncatingIfNeeded: count >> (8 * index))
      }
    } catch {
      bytes.removeLast(bytes.count - begin)
      throw error
    }
  }
}

/// The reason why a connection's bytes cannot be read on.
package enum FrameProblem: Error, Hashable, Sendable {
  /// A frame says that it has more bytes than the limit, or is to be sent with more.
  case tooLong(Int)
}

/// Cuts a connection's bytes into frames. It keeps one incomplete frame at most, and so never more than the limit and what one call
/// brings.
package struct FrameReader: Sendable {
  /// The most bytes that a frame may have.
  package let limit: Int
  private var bytes: [UInt8] = []
  /// Where the next frame begins in `bytes`.
  private var start = 0

  package init(limit: Int) { self.limit = limit }

  /// The number of bytes of a frame that is incomplete.
  package var pendingCount: Int { bytes.count - start }

  /// Takes bytes as they have arrived.
  package mutating func append(_ new: some Sequence<UInt8>) {
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: new)
  }

  /// Returns the next complete frame without its length, or `nil` until more bytes arrive.
  package mutating func next() throws(FrameProblem) -> [UInt8]? {
    guard pendingCount >= Frame.headerCount else { return nil }
    var count = 0
    for index in (0..<Frame.headerCount).reversed() {
      count = count << 8 | Int(bytes[start + index])
    }
    guard count <= limit else { throw .tooLong(count) }
    let begin = start + Frame.headerCount
    guard bytes.count - begin >= count else { return nil }
    start = begin + count
    return Array(bytes[begin..<start])
  }
}
