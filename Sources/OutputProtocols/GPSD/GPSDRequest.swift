// Requests of a gpsd client, read from untrusted bytes (gpsd_json(5), "Core socket protocol").

import GNSSProtocol

/// A request of a client, or what was wrong with one.
enum GPSDRequest: Hashable, Sendable {
  case version
  case devices
  case poll
  /// A question for the policy, or with an argument an order to change it.
  case watch(GPSDWatch?)
  /// A question for the devices; with a path for one of them.
  case device(path: String?, isOrder: Bool)
  /// An argument that is not a JSON object, or one of another class.
  case invalidWatch(String)
  case invalidDevice(String)
  /// Something else that begins with a question mark; printable ASCII.
  case unknown(String)
}

/// The argument of `?WATCH`; `nil` for what it does not say.
struct GPSDWatch: Hashable, Sendable {
  var isEnabled, json, nmea, scaled, split24, timing, pps: Bool?
  var raw: Int?
  var device: String?
}

/// Cuts requests out of a stream of bytes.
///
/// gpsd takes each packet as it comes, and so clients end a request with a newline, with a semicolon, or not at all. Here a
/// request ends where its JSON object does, with its semicolon, or with its line. A line that does not begin with a question
/// mark is passed over without an answer, as by gpsd: a web browser that is led here learns nothing.
struct GPSDRequestReader: Sendable {
  /// The longest request. The manual says 80 characters; gpsd takes more, and clients that spell out a whole policy send more.
  static let longestRequest = 1_024
  /// The most bytes that wait.
  static let capacity = 4 * longestRequest
  private static let longestName = 16
  private static let quoted = 80

  private var buffer: [UInt8] = []
  private var start = 0
  private var isSkipping = false
  /// Lines that began with no question mark.
  private(set) var ignoredLines: UInt64 = 0
  /// Requests beyond `longestRequest`.
  private(set) var tooLong: UInt64 = 0

  /// How many bytes `append` takes now.
  var room: Int { Self.capacity - (buffer.count - start) }
  /// Whether bytes wait that `next` has not looked at, or that are not a whole request yet.
  var isEmpty: Bool { start == buffer.count }

  /// Takes bytes, at most `room` of them.
  mutating func append(_ bytes: some Collection<UInt8>) {
    if start > 0 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: bytes.prefix(room))
  }

  /// The next request, or `nil` until more bytes come.
  mutating func next() -> GPSDRequest? {
    while skipToRequest() {
      let rest = buffer[start...]
      // However many bytes come at once.
      if let (request, end) = Self.cut(rest.prefix(Self.longestRequest)) {
        start = end
        return request
      }
      guard rest.count > Self.longestRequest else { return nil }
      tooLong &+= 1
      isSkipping = true
      return .unknown(Self.words(rest))
    }
    return nil
  }

  /// Goes to the next question mark at the beginning of a line, or behind a request.
  private mutating func skipToRequest() -> Bool {
    while start < buffer.count {
      let byte = buffer[start]
      if isSkipping {
        isSkipping = !Self.isLineEnd(byte)
        start += 1
      } else if byte == UInt8(ascii: "?") {
        return true
      } else if Self.isSpace(byte) || byte == UInt8(ascii: ";") {
        start += 1
      } else {
        ignoredLines &+= 1
        isSkipping = true
      }
    }
    return false
  }

  /// The request at the beginning, and where it ends; `nil` where it is not whole yet.
  private static func cut(_ text: ArraySlice<UInt8>) -> (GPSDRequest, end: Int)? {
    var position = text.startIndex + 1
    while position < text.endIndex, isLetter(text[position]),
      position - text.startIndex <= longestName
    {
      position += 1
    }
    guard position < text.endIndex else { return nil }
    let name = text[(text.startIndex + 1)..<position]
    switch text[position] {
    case UInt8(ascii: ";"):
      return (plain(name) ?? .unknown(words(text[...position])), position + 1)
    case UInt8(ascii: "=") where isName(name, "WATCH") || isName(name, "DEVICE"):
      guard let end = argumentEnd(text[(position + 1)...]) else { return nil }
      let argument = text[(position + 1)..<end]
      return (isName(name, "WATCH") ? watch(argument) : device(argument), end)
    default:
      guard let end = text[position...].firstIndex(where: isLineEnd) else { return nil }
      return (.unknown(words(text[..<end])), end)
    }
  }

  private static func plain(_ name: ArraySlice<UInt8>) -> GPSDRequest? {
    if isName(name, "VERSION") { return .version }
    if isName(name, "DEVICES") { return .devices }
    if isName(name, "POLL") { return .poll }
    if isName(name, "WATCH") { return .watch(nil) }
    return isName(name, "DEVICE") ? .device(path: nil, isOrder: false) : nil
  }

  /// The end of a JSON object, or of the line if it has no object; `nil` until either is complete.
  private static func argumentEnd(_ text: ArraySlice<UInt8>) -> Int? {
    var (depth, isInString, isEscaped) = (0, false, false)
    for index in text.indices {
      let byte = text[index]
      if isLineEnd(byte) { return index }
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "}"):
        depth -= 1
        if depth <= 0 { return index + 1 }
      case UInt8(ascii: ";") where depth == 0: return index + 1
      default: break
      }
    }
    return nil
  }
}

extension GPSDRequestReader {
  private static let damaged = "error while parsing"
  private static let otherClass = "check attribute not matched"

  private static func watch(_ argument: ArraySlice<UInt8>) -> GPSDRequest {
    var (watch, isSound, isClass) = (GPSDWatch(), false, true)
    argument.withUnsafeBufferPointer { bytes in
      var scanner = JSONScanner(bytes)
      guard bytes.contains(UInt8(ascii: "{")) else { return }
      scanner.object { scanner, key in
        switch key {
        case "class": isClass = scanner.string().map { "WATCH" ~= $0 } ?? false
        case "enable": watch.isEnabled = flag(&scanner)
        case "json": watch.json = flag(&scanner)
        case "nmea": watch.nmea = flag(&scanner)
        case "scaled": watch.scaled = flag(&scanner)
        case "split24": watch.split24 = flag(&scanner)
        case "timing": watch.timing = flag(&scanner)
        case "pps": watch.pps = flag(&scanner)
        case "raw": watch.raw = scanner.isTrue() ? 1 : (scanner.integer() ?? 0)
        case "device": watch.device = scanner.string()?.words(limit: GPSDText.longestPath)
        default: break
        }
      }
      isSound = scanner.isAtEnd()
    }
    guard isSound else { return .invalidWatch(damaged) }
    return isClass ? .watch(watch) : .invalidWatch(otherClass)
  }

  private static func device(_ argument: ArraySlice<UInt8>) -> GPSDRequest {
    var (path, isSound, isClass) = (nil as String?, false, true)
    argument.withUnsafeBufferPointer { bytes in
      var scanner = JSONScanner(bytes)
      guard bytes.contains(UInt8(ascii: "{")) else { return }
      scanner.object { scanner, key in
        switch key {
        case "class": isClass = scanner.string().map { "DEVICE" ~= $0 } ?? false
        case "path": path = scanner.string()?.words(limit: GPSDText.longestPath)
        default: break
        }
      }
      isSound = scanner.isAtEnd()
    }
    guard isSound else { return .invalidDevice(damaged) }
    return isClass ? .device(path: path, isOrder: true) : .invalidDevice(otherClass)
  }

  /// `true`, or a number that is not zero.
  private static func flag(_ scanner: inout JSONScanner) -> Bool {
    scanner.isTrue() || (scanner.number() ?? 0) != 0
  }

  private static func words(_ text: ArraySlice<UInt8>) -> String {
    GPSDText.ascii(text.prefix(while: { !isLineEnd($0) }), limit: quoted)
  }

  private static func isName(_ name: ArraySlice<UInt8>, _ wanted: StaticString) -> Bool {
    name.elementsEqual(
      UnsafeBufferPointer(start: wanted.utf8Start, count: wanted.utf8CodeUnitCount))
  }

  private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 10 || byte == 13 }
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
  private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) }
}

/// Text in gpsd's objects.
enum GPSDText {
  /// The longest path of a device: gpsd's `GPS_PATH_MAX` is 128 with the zero at its end.
  static let longestPath = 127

  /// Printable ASCII, at most `limit` characters; anything else is `?`.
  static func ascii(_ bytes: some Sequence<UInt8>, limit: Int) -> String {
    String(
      decoding: bytes.prefix(limit).map { (32...126).contains($0) ? $0 : UInt8(ascii: "?") },
      as: UTF8.self)
  }
}
