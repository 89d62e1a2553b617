// The head of a server's answer in HTTP/1.1 (RFC 9112), read within limits.

/// The status line and the header fields of an answer.
package struct HTTPHead: Sendable, Hashable {
  private struct Field: Sendable, Hashable {
    var name: String
    var value: String
  }

  /// From 100 to 599.
  package let status: Int
  /// The server's words for the status: printable ASCII, at most 60 characters.
  package let words: String
  private let fields: [Field]

  /// Reads the lines of a head. Returns `nil` for lines that are none of HTTP/1.
  init?(_ lines: [String]) {
    guard let first = lines.first, first.hasPrefix("HTTP/1.") else { return nil }
    let parts = first.split(separator: " ", maxSplits: 2)
    guard parts.count > 1, parts[1].utf8.count == 3, let status = Int(parts[1]),
      (100...599).contains(status)
    else { return nil }
    self.status = status
    words = parts.count > 2 ? Self.printable(parts[2], limit: 60) : ""
    var fields: [Field] = []
    for line in lines.dropFirst() {
      // A name ends with its colon, and no line is the rest of another one (RFC 9112, sections 5.1 and 5.2).
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
      let name = line[..<colon]
      guard name.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
      let value = line[line.index(after: colon)...]
      fields.append(Field(name: name.lowercased(), value: Self.trimmed(value)))
    }
    self.fields = fields
  }

  /// Returns the values of a field, whose name is written in small letters.
  package func values(_ name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// Whether a field lists a word, in whatever case.
  package func lists(_ word: String, in name: String) -> Bool {
    values(name).contains { value in
      value.split(separator: ",").contains { Self.trimmed($0).lowercased() == word }
    }
  }

  /// Returns a stranger's text for a person: printable ASCII, cut at a number of characters.
  static func printable(_ text: some StringProtocol, limit: Int) -> String {
    let scalars = text.unicodeScalars.filter { $0.value >= 32 && $0.value < 127 }.prefix(limit)
    return String(String.UnicodeScalarView(scalars))
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    var bytes = Array(text.utf8)[...]
    while let first = bytes.first, first == 32 || first == 9 { bytes.removeFirst() }
    while let last = bytes.last, last == 32 || last == 9 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Reads the head of an answer.
struct HTTPHeadReader: Sendable {
  /// What has come so far.
  enum HTTPHeadProgress: Sendable, Hashable {
    case unfinished
    case head(HTTPHead)
    /// It is no head of HTTP: what it is, in words.
    case foreign(String)
  }

  /// The greatest number of bytes of a head, and of a first line that may yet turn out to be none.
  static let limits = (head: 8_192, line: 512)
  /// The greatest number of answers before the answer itself (status 1xx, RFC 9110, section 15.2). Servers send one or two.
  static let mostInterim = 8

  private var line: [UInt8] = []
  private var lines: [String] = []
  private var count = 0

  /// Takes bytes up to the end of the head; the rest stays.
  mutating func take(_ rest: inout ArraySlice<UInt8>) -> HTTPHeadProgress {
    while let byte = rest.popFirst() {
      count += 1
      let isText = byte >= 32 && byte != 127 || byte == 9 || byte == 10 || byte == 13
      guard isText else { return .foreign("bytes that are no text") }
      guard count <= Self.limits.head, line.count <= Self.limits.line || !lines.isEmpty else {
        return .foreign("a head without an end")
      }
      guard byte == 10 else {
        line.append(byte)
        continue
      }
      if line.last == 13 { line.removeLast() }
      let text = String(decoding: line, as: UTF8.self)
      line.removeAll(keepingCapacity: true)
      guard text.isEmpty else {
        lines.append(text)
        continue
      }
      guard let head = HTTPHead(lines) else {
        return .foreign("'\(HTTPHead.printable(lines.first ?? "", limit: 60))'")
      }
      self = HTTPHeadReader()
      return .head(head)
    }
    return .unfinished
  }
}

/// A request to a server.
package enum HTTPRequest {
  /// Returns the bytes of a request.
  ///
  /// - Parameters:
  ///   - host: The server as its user names it: `HOST`, or `HOST:PORT`.
  ///   - fields: Further header fields. What could begin another line is left out of their values.
  package static func bytes(
    _ method: String, _ path: String, host: String, fields: [(name: String, value: String)] = [],
    body: [UInt8]? = nil
  ) -> [UInt8] {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: \(host)"]
    lines += fields.map { "\($0.name): \($0.value)" }
    if let body { lines.append("Content-Length: \(body.count)") }
    let head = lines.flatMap { line in line.utf8.filter { $0 >= 32 && $0 != 127 } + [13, 10] }
    return head + [13, 10] + (body ?? [])
  }
}
