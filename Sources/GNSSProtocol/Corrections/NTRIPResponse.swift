// What an NTRIP caster answers.

/// What the head of a caster's answer means.
package enum NTRIPAnswer: Sendable, Hashable {
  /// Corrections follow.
  case stream(NTRIPVersion)
  /// The source table follows: to a request for a stream that means that there is no such stream.
  case sourceTable(NTRIPVersion)
  /// The caster refuses: the number of an HTTP status, and the caster's own words, which may be empty.
  case refused(status: Int, words: String)
  /// It is no caster: what it is, in words.
  case foreign(String)
}

/// Reads a caster's answer: its head, then the content of its body. Bounded, whatever comes.
package struct NTRIPResponseReader: Sendable {
  package enum Event: Sendable, Hashable {
    case answer(NTRIPAnswer)
    /// The next bytes of the body, without the framing of a chunked transfer.
    case body([UInt8])
    /// The body is whole.
    case end
    /// A chunked transfer whose framing is broken; nothing is read any more.
    case broken
  }

  /// The most bytes that a head may have, and the first of its lines.
  package static let longestHead = 8_192
  package static let longestLine = 512

  private enum Phase: Sendable, Hashable {
    case head
    /// Behind `ICY 200 OK`: some casters send an empty line, some send headers before it, some neither.
    case tail(bytes: Int)
    /// The body has this number of bytes left, or lasts until the connection ends if it is `nil`.
    case body(left: Int?)
    case chunkSize
    case chunk(left: Int)
    /// The line end behind a chunk.
    case chunkEnd
    case over
  }

  private var phase = Phase.head
  private var line: [UInt8] = []
  private var lines: [String] = []
  private var headBytes = 0

  package init() {}

  /// Takes bytes and returns what they say.
  package mutating func take(_ bytes: [UInt8]) -> [Event] {
    var events: [Event] = []
    var rest = bytes[...]
    while !rest.isEmpty, phase != .over {
      switch phase {
      case .head: takeHead(&rest, &events)
      case .tail(let count): takeTail(&rest, count)
      case .body(let left):
        let piece = rest.prefix(left ?? rest.count)
        rest = rest.dropFirst(piece.count)
        events.append(.body(Array(piece)))
        guard let left else { continue }
        phase = left == piece.count ? .over : .body(left: left - piece.count)
        if phase == .over { events.append(.end) }
      case .chunk(let left):
        let piece = rest.prefix(left)
        rest = rest.dropFirst(piece.count)
        events.append(.body(Array(piece)))
        phase = left == piece.count ? .chunkEnd : .chunk(left: left - piece.count)
      case .chunkSize, .chunkEnd: takeChunkLine(&rest, &events)
      case .over: break
      }
    }
    return events
  }

  private mutating func takeHead(_ rest: inout ArraySlice<UInt8>, _ events: inout [Event]) {
    while let byte = rest.popFirst() {
      headBytes += 1
      // The first bytes show what is no text; nobody waits for the end of its line.
      let isText = byte >= 32 && byte != 127 || byte == 9 || byte == 10 || byte == 13
      guard isText, headBytes <= Self.longestHead, line.count <= Self.longestLine || !lines.isEmpty
      else {
        return finish(
          .foreign(isText ? "a head without an end" : "bytes that are no text"), &events)
      }
      guard byte == 10 else {
        line.append(byte)
        continue
      }
      if line.last == 13 { line.removeLast() }
      let text = String(decoding: line, as: UTF8.self)
      line.removeAll(keepingCapacity: true)
      if lines.isEmpty {
        if text.isEmpty { continue }
        if text.hasPrefix("ICY 200") {
          phase = .tail(bytes: 0)
          return events.append(.answer(.stream(.one)))
        }
        // Version 1's errors are one line.
        if text.hasPrefix("ERROR") {
          return finish(
            .refused(status: Self.status(ofError: text), words: Self.words(text)), &events)
        }
        guard text.hasPrefix("HTTP/1.") || text.hasPrefix("SOURCETABLE 200") else {
          return finish(.foreign("'\(Self.words(text))'"), &events)
        }
      }
      guard text.isEmpty else {
        lines.append(text)
        continue
      }
      return readHead(&events)
    }
  }

  private mutating func readHead(_ events: inout [Event]) {
    let first = lines[0]
    func header(_ name: String) -> String? {
      for line in lines.dropFirst() {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name else {
          continue
        }
        return line[line.index(after: colon)...].lowercased().filter { $0 != " " }
      }
      return nil
    }
    if first.hasPrefix("SOURCETABLE") {
      phase = .body(left: header("content-length").flatMap(Self.length))
      return events.append(.answer(.sourceTable(.one)))
    }
    let parts = first.split(separator: " ", maxSplits: 2)
    guard parts.count > 1, let status = Int(parts[1]), (100...599).contains(status) else {
      return finish(.foreign("'\(Self.words(first))'"), &events)
    }
    guard status == 200 else {
      let words = parts.count > 2 ? Self.words(String(parts[2])) : ""
      return finish(.refused(status: status, words: words), &events)
    }
    let type = header("content-type") ?? ""
    guard !type.hasPrefix("text/html") else { return finish(.foreign("a web page"), &events) }
    if header("transfer-encoding")?.contains("chunked") == true {
      phase = .chunkSize
    } else {
      phase = .body(left: header("content-length").flatMap(Self.length))
    }
    events.append(.answer(type.hasPrefix("gnss/sourcetable") ? .sourceTable(.two) : .stream(.two)))
    if phase == .body(left: 0) {
      phase = .over
      events.append(.end)
    }
  }

  private mutating func takeTail(_ rest: inout ArraySlice<UInt8>, _ before: Int) {
    var count = before
    while let byte = rest.first {
      let isText = byte >= 32 && byte < 127 || byte == 9 || byte == 10 || byte == 13
      guard isText, count < Self.longestHead else {
        phase = .body(left: nil)
        return
      }
      rest.removeFirst()
      count += 1
      if byte == 10 {
        let isEmpty = line.isEmpty
        line.removeAll(keepingCapacity: true)
        if isEmpty {
          phase = .body(left: nil)
          return
        }
      } else if byte != 13, line.isEmpty {
        line.append(byte)
      }
    }
    phase = .tail(bytes: count)
  }

  private mutating func takeChunkLine(
    _ rest: inout ArraySlice<UInt8>, _ events: inout [Event]
  ) {
    while let byte = rest.popFirst() {
      guard byte == 10 else {
        line.append(byte)
        if line.count > Self.longestLine { return breakOff(&events) }
        continue
      }
      if line.last == 13 { line.removeLast() }
      let text = String(decoding: line, as: UTF8.self)
      line.removeAll(keepingCapacity: true)
      if phase == .chunkEnd {
        guard text.isEmpty else { return breakOff(&events) }
        phase = .chunkSize
        return
      }
      let digits = text.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
      guard (1...7).contains(digits.count), let size = Int(digits, radix: 16), size >= 0 else {
        return breakOff(&events)
      }
      phase = size == 0 ? .over : .chunk(left: size)
      if size == 0 { events.append(.end) }
      return
    }
  }

  private mutating func finish(_ answer: NTRIPAnswer, _ events: inout [Event]) {
    phase = .over
    events.append(.answer(answer))
  }

  private mutating func breakOff(_ events: inout [Event]) {
    phase = .over
    events.append(.broken)
  }

  private static func length(_ text: String) -> Int? {
    Int(text).flatMap { (0...(1 << 40)).contains($0) ? $0 : nil }
  }

  /// The HTTP status that means the same as an error of version 1.
  private static func status(ofError text: String) -> Int {
    let text = text.lowercased()
    if text.contains("password") || text.contains("auth") { return 401 }
    return text.contains("mount") ? 404 : 400
  }

  /// A stranger's words for a person: printable ASCII, and not too much of it.
  static func words(_ text: String) -> String {
    String(
      text.unicodeScalars.filter { $0.value >= 32 && $0.value < 127 }.prefix(60).map(Character.init)
    )
  }
}
