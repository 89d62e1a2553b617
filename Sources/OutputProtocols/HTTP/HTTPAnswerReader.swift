// A whole answer in HTTP/1.1, for requests whose answers are small.

/// What a server has answered.
package struct HTTPAnswer: Sendable, Hashable {
  package var head: HTTPHead
  package var body: [UInt8]
}

/// Reads one answer of a server that closes the connection behind it, or says how long the answer is.
package struct HTTPAnswerReader: Sendable {
  /// What has come so far.
  package enum HTTPProgress: Sendable, Hashable {
    case unfinished
    case answer(HTTPAnswer)
    /// It is no answer that can be read: why, in words.
    case foreign(String)
  }

  private enum Phase: Sendable, Hashable {
    case head
    /// The body has this number of bytes left, or lasts until the connection ends if it is `nil`.
    case body(left: Int?)
    case chunkSize
    case chunk(left: Int)
    /// The line end behind a chunk.
    case chunkEnd
    /// The fields behind the last chunk, up to an empty line.
    case trailer
  }

  /// The greatest number of bytes of a line that is not of the head, and of all such lines together.
  private static let lineLimits = (one: 256, all: 4_096)

  private let limit: Int
  private var phase = Phase.head
  private var reader = HTTPHeadReader()
  private var head: HTTPHead?
  private var interim = 0
  private var body: [UInt8] = []
  private var line: [UInt8] = []
  private var lineBytes = 0

  /// Makes a reader.
  ///
  /// - Parameter limit: The greatest number of bytes of a body.
  package init(limit: Int = 16_384) { self.limit = limit }

  /// Takes bytes. What comes behind the answer is left out.
  package mutating func take(_ bytes: [UInt8]) -> HTTPProgress {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch phase {
      case .head:
        switch reader.take(&rest) {
        case .unfinished: return .unfinished
        case .foreign(let words): return .foreign(words)
        case .head(let head): if let end = begin(head) { return end }
        }
      case .body(let left):
        let piece = rest.prefix(left ?? rest.count)
        rest = rest.dropFirst(piece.count)
        if let end = add(piece) { return end }
        guard let left else { continue }
        if left == piece.count { return finish() }
        phase = .body(left: left - piece.count)
      case .chunk(let left):
        let piece = rest.prefix(left)
        rest = rest.dropFirst(piece.count)
        if let end = add(piece) { return end }
        phase = left == piece.count ? .chunkEnd : .chunk(left: left - piece.count)
      case .chunkSize, .chunkEnd, .trailer: if let end = takeLine(&rest) { return end }
      }
    }
    return .unfinished
  }

  /// Takes that the connection has ended.
  package func ended() -> HTTPProgress {
    guard phase == .body(left: nil) else { return .foreign("an answer that breaks off") }
    return finish()
  }

  private func finish() -> HTTPProgress {
    guard let head else { return .foreign("an answer without a head") }
    return .answer(HTTPAnswer(head: head, body: body))
  }

  private mutating func begin(_ head: HTTPHead) -> HTTPProgress? {
    // What comes before the answer itself (RFC 9110, section 15.2).
    if head.status < 200 {
      interim += 1
      guard interim <= HTTPHeadReader.mostInterim else {
        return .foreign("\(interim) answers before an answer (status \(head.status))")
      }
      return head.status == 101 ? .foreign("a change of protocol that nobody asked for") : nil
    }
    self.head = head
    if head.status == 204 || head.status == 304 { return finish() }
    if head.values("transfer-encoding").isEmpty {
      let lengths = Set(head.values("content-length"))
      guard let text = lengths.first else {
        phase = .body(left: nil)
        return nil
      }
      guard lengths.count == 1, text.utf8.allSatisfy({ (48...57).contains($0) }),
        let length = Int(text)
      else { return .foreign("an answer of no certain length") }
      guard length <= limit else { return tooLong }
      phase = .body(left: length)
      return length == 0 ? finish() : nil
    }
    guard head.lists("chunked", in: "transfer-encoding") else {
      return .foreign("an answer in an unknown coding")
    }
    phase = .chunkSize
    return nil
  }

  private var tooLong: HTTPProgress { .foreign("an answer of more than \(limit) bytes") }

  private mutating func add(_ piece: ArraySlice<UInt8>) -> HTTPProgress? {
    guard body.count + piece.count <= limit else { return tooLong }
    body += piece
    return nil
  }

  private mutating func takeLine(_ rest: inout ArraySlice<UInt8>) -> HTTPProgress? {
    while let byte = rest.popFirst() {
      guard byte == 10 else {
        line.append(byte)
        lineBytes += 1
        guard line.count <= Self.lineLimits.one, lineBytes <= Self.lineLimits.all else {
          return .foreign("an answer in broken pieces")
        }
        continue
      }
      if line.last == 13 { line.removeLast() }
      let text = String(decoding: line, as: UTF8.self)
      line.removeAll(keepingCapacity: true)
      switch phase {
      case .trailer: return text.isEmpty ? finish() : nil
      case .chunkEnd:
        phase = .chunkSize
        return text.isEmpty ? nil : .foreign("an answer in broken pieces")
      default:
        lineBytes = 0
        let digits = text.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        guard (1...6).contains(digits.utf8.count), digits.utf8.allSatisfy(Self.isHexadecimal),
          let size = Int(digits, radix: 16)
        else { return .foreign("an answer in broken pieces") }
        phase = size == 0 ? .trailer : .chunk(left: size)
        return nil
      }
    }
    return nil
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }
}
