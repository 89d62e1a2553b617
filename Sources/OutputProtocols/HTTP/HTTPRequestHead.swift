// The head of an HTTP request, and answers to it: as much of RFC 9110 and 9112 as a page and a WebSocket take.

/// The head of a request. A body is not read.
package struct HTTPRequestHead: Hashable, Sendable {
  /// The most bytes that a head may have.
  package static let longest = 8_192
  /// The time in seconds within which it must be there.
  package static let patience = 10.0

  /// How far a head has come.
  package enum HTTPRequestProgress: Hashable, Sendable {
    case incomplete
    case complete(HTTPRequestHead)
    /// It is to be refused, with this status.
    case wrong(HTTPStatus)
  }

  package var method: String
  /// Without the query.
  package var path: String
  /// The fields by their names in small letters. A field that comes twice has its values separated by commas.
  package var fields: [String: String]

  package init(method: String, path: String, fields: [String: String]) {
    (self.method, self.path, self.fields) = (method, path, fields)
  }

  /// Reads what has been received so far.
  package static func read(_ bytes: [UInt8]) -> HTTPRequestProgress {
    guard let end = end(of: bytes) else {
      // A head of just so many bytes has its empty line behind them.
      return bytes.count < longest + 4 ? .incomplete : .wrong(.tooLarge)
    }
    guard end <= longest, let text = String(validating: bytes[..<end], as: UTF8.self) else {
      return .wrong(.badRequest)
    }
    var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
    let words = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false) ?? []
    guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0",
      !words[0].isEmpty, words[1].first == "/"
    else { return .wrong(.badRequest) }
    var fields: [String: String] = [:]
    for line in lines {
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
        line.first != " ", line.first != "\t"
      else { return .wrong(.badRequest) }
      let name = line[..<colon].lowercased()
      let value = trimmed(line[line.index(after: colon)...])
      fields[name] = fields[name].map { "\($0), \(value)" } ?? value
    }
    let path = words[1].prefix { $0 != "?" }
    return .complete(
      HTTPRequestHead(method: String(words[0]), path: String(path), fields: fields))
  }

  /// Whether a field that is a list has a word, in whatever letters.
  package func has(_ word: String, in field: String) -> Bool {
    (fields[field] ?? "").split(separator: ",").contains { Self.trimmed($0).lowercased() == word }
  }

  /// The Host field in small letters, without the port and the final dot; `nil` if the request has no Host field.
  private var host: String? {
    guard var host = fields["host"]?[...] else { return nil }
    if let colon = host.lastIndex(of: ":"), UInt16(host[host.index(after: colon)...]) != nil {
      host = host[..<colon]
    }
    if host.hasSuffix(".") { host = host.dropLast() }
    return host.isEmpty ? nil : host.lowercased()
  }

  /// Whether the Host field names this machine. A page in a browser may have a name that was made to lead here.
  package var isForThisMachine: Bool {
    host.map { $0 == "localhost" || $0 == "[::1]" || Self.numbers($0)?.first == "127" } ?? false
  }

  /// Whether the Host field is one by which a machine is asked on purpose: a numeric address, `localhost`, or one of some names.
  ///
  /// Every page in a browser may have a name that was made to lead here (DNS rebinding), and none can have a numeric address that does.
  ///
  /// - Parameters:
  ///   - machine: The host name of the machine, which may have a domain. It counts with its domain, without, and with `.local`.
  ///   - names: Further names.
  package func isFor(machine: String, names: [String]) -> Bool {
    guard let host else { return false }
    if host == "localhost" || Self.numbers(host) != nil { return true }
    // Nothing else than an address can be in brackets.
    if host.hasPrefix("["), host.hasSuffix("]") { return true }
    let machine = machine.lowercased()
    let short = String(machine.prefix { $0 != "." })
    return !short.isEmpty && [machine, short, "\(short).local"].contains(host)
      || names.contains { $0.lowercased() == host }
  }

  /// The four numbers of an IPv4 address, or `nil`.
  private static func numbers(_ host: String) -> [Substring]? {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    let isAddress =
      parts.count == 4
      && parts.allSatisfy { part in
        part.utf8.allSatisfy { (48...57).contains($0) } && UInt8(part) != nil
      }
    return isAddress ? parts : nil
  }

  private static func trimmed(_ text: Substring) -> String {
    let text = text.drop { $0 == " " || $0 == "\t" }
    let end = text.lastIndex { $0 != " " && $0 != "\t" }
    return end.map { String(text[...$0]) } ?? ""
  }

  /// The number of bytes of a head with the empty line behind it; `nil` if it is not complete.
  package static func length(of bytes: [UInt8]) -> Int? { end(of: bytes).map { $0 + 4 } }

  /// The place of the empty line behind the fields.
  private static func end(of bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (0...min(bytes.count - 4, longest)).first {
      bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
    }
  }
}

/// The status of an answer.
package enum HTTPStatus: Int, Hashable, Sendable {
  case ok = 200
  case badRequest = 400
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case requestTimeout = 408
  case upgradeRequired = 426
  case tooLarge = 431

  var reason: String {
    switch self {
    case .ok: "OK"
    case .badRequest: "Bad Request"
    case .forbidden: "Forbidden"
    case .notFound: "Not Found"
    case .methodNotAllowed: "Method Not Allowed"
    case .requestTimeout: "Request Timeout"
    case .upgradeRequired: "Upgrade Required"
    case .tooLarge: "Request Header Fields Too Large"
    }
  }

  /// Returns an answer that is the last one of its connection.
  ///
  /// - Parameters:
  ///   - body: What the answer holds, or would hold if it were not asked for its head only.
  ///   - fields: Further fields.
  package func answer(
    _ body: [UInt8], type: String = "text/plain; charset=utf-8", isHead: Bool = false,
    fields: [(String, String)] = []
  ) -> [UInt8] {
    var text = "HTTP/1.1 \(rawValue) \(reason)\r\nContent-Type: \(type)\r\n"
    text += "Content-Length: \(body.count)\r\nCache-Control: no-store\r\n"
    text += "X-Content-Type-Options: nosniff\r\nConnection: close\r\n"
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    return Array((text + "\r\n").utf8) + (isHead ? [] : body)
  }

  /// Returns an answer with a sentence.
  package func answer(_ sentence: String, fields: [(String, String)] = []) -> [UInt8] {
    answer(Array((sentence + "\n").utf8), fields: fields)
  }
}
