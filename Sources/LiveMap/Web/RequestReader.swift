/// Collects the head of a request from the bytes of a connection, within limits.
///
/// The cost is linear in the number of bytes, because each byte is examined once. No more bytes are held than a head may have.
struct RequestReader {
  /// The maximum length of a line without its end, in bytes.
  static let lineLimit = 8_192
  /// The maximum length of all lines of a head together, in bytes.
  static let headLimit = 32_768
  /// The maximum number of header lines.
  static let lineCountLimit = 100

  private var bytes: [UInt8] = []
  // The first byte that has not been examined, and the first byte of its line.
  private var place = 0
  private var lineStart = 0
  private var lineCount = 0
  private var request: WebRequest?

  /// Whether no bytes are held.
  var isEmpty: Bool { bytes.isEmpty }

  /// The number of bytes that can still be taken.
  var room: Int { Self.headLimit - bytes.count }

  /// Takes as many bytes as there is room for.
  mutating func append(_ new: UnsafeRawBufferPointer) { bytes += new.prefix(room) }

  /// Returns the next request; `nil` if its head is not complete yet. After an error the reader must not be used.
  mutating func take() throws(RequestProblem) -> WebRequest? {
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == UInt8(ascii: "\n") {
        if let request = try endLine() { return request }
      } else {
        try check(byte)
      }
    }
    guard room > 0 else { throw .tooLarge }
    return nil
  }

  // Parsers disagree about bare carriage returns, bare line feeds and null bytes, so they are refused.
  private func check(_ byte: UInt8) throws(RequestProblem) {
    guard place - lineStart <= Self.lineLimit || byte == UInt8(ascii: "\r") else {
      throw .tooLarge
    }
    guard place < 2 || bytes[place - 2] != UInt8(ascii: "\r") || place - 1 == lineStart else {
      throw .malformed
    }
    switch byte {
    case UInt8(ascii: "\r"), UInt8(ascii: "\t"): return
    case 0..<0x20, 0x7F: throw .malformed
    default: return
    }
  }

  private mutating func endLine() throws(RequestProblem) -> WebRequest? {
    let end = place - 2
    guard end >= lineStart, bytes[end] == UInt8(ascii: "\r") else { throw .malformed }
    let line = bytes[lineStart..<end]
    lineStart = place
    guard request != nil else {
      request = try Self.requestLine(line)
      return nil
    }
    guard line.isEmpty else {
      lineCount += 1
      guard lineCount <= Self.lineCountLimit else { throw .tooLarge }
      try addHeader(line)
      return nil
    }
    defer { self = Self(rest: bytes[place...]) }
    return request
  }

  init() {}

  /// Removes and returns the bytes after a request that switches to another protocol.
  mutating func takeRest() -> [UInt8] {
    defer { self = Self() }
    return bytes
  }

  // Bytes of the next request that have come already.
  private init(rest: ArraySlice<UInt8>) { bytes = Array(rest) }

  private static func requestLine(_ line: ArraySlice<UInt8>) throws(RequestProblem) -> WebRequest {
    let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 3, isToken(parts[0]), parts[1].first == UInt8(ascii: "/"),
      parts[1].allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw .malformed }
    let target = parts[1].split(
      separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    var request = WebRequest(
      method: text(parts[0]), path: text(target[0]), query: target.count > 1 ? text(target[1]) : "")
    switch text(parts[2]) {
    case "HTTP/1.1": break
    case "HTTP/1.0": request.isHTTP10 = true
    case let other: throw other.hasPrefix("HTTP/") ? .version : .malformed
    }
    return request
  }

  private mutating func addHeader(_ line: ArraySlice<UInt8>) throws(RequestProblem) {
    // A line that begins with a space would continue the previous one, which is obsolete.
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), Self.isToken(line[..<colon]) else {
      throw .malformed
    }
    let name = Self.text(line[..<colon]).lowercased()
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var value = line[(colon + 1)...].drop(while: isSpace)
    while let last = value.last, isSpace(last) { value.removeLast() }
    if let former = request?.headers[name] {
      // With two hosts it is not clear which one access is decided by.
      guard name != "host" else { throw .malformed }
      request?.headers[name] = former + ", " + Self.text(value)
    } else {
      request?.headers[name] = Self.text(value)
    }
  }

  private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}

/// Why bytes are not a request.
enum RequestProblem: Error, Equatable {
  /// They are not HTTP, or are ambiguous.
  case malformed
  /// A limit is exceeded.
  case tooLarge
  /// A version of HTTP other than 1.0 and 1.1.
  case version
}
