// The head of an HTTP/1.1 request (RFC 9112).

/// The head of an HTTP request.
package struct WebRequest: Sendable, Equatable {
  /// The method as it was sent: methods are case-sensitive.
  var method: String
  /// The path of the target, with its percent-encoding.
  var path: String
  /// The query of the target without its question mark, with its percent-encoding; empty if the target has no query.
  var query = ""
  /// Header fields by their name in lower case. The values of a repeated field are joined by commas.
  var headers: [String: String] = [:]
  /// Whether the request is HTTP/1.0, whose connections are closed after the response.
  var isHTTP10 = false

  /// Returns the value of a parameter of the query, not decoded; `nil` if the query does not have it.
  func parameter(_ name: String) -> String? {
    for item in query.split(separator: "&") {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2, parts[0] == name { return String(parts[1]) }
    }
    return nil
  }

  /// Returns the value of a parameter of the query, decoded; `nil` if the query does not have it, or if it is not percent-encoded UTF-8.
  func decodedParameter(_ name: String) -> String? {
    guard let value = parameter(name) else { return nil }
    var bytes: [UInt8] = []
    var rest = value.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      guard digits.count == 2 else { return nil }
      bytes.append(UInt8(16 * digits[0] + digits[1]))
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Whether a header field that holds a list (`Connection`, `Upgrade`) has a certain element, in any case.
  func lists(_ element: String, in name: String) -> Bool {
    (headers[name] ?? "").split(separator: ",").contains { part in
      part.trimmed.lowercased() == element
    }
  }

  /// Whether bytes follow the head that belong to this request.
  var hasBody: Bool {
    if headers["transfer-encoding"] != nil { return true }
    guard let length = headers["content-length"] else { return false }
    return length != "0"
  }

  /// Whether the connection has to be closed after the answer.
  var isLast: Bool {
    if lists("close", in: "connection") { return true }
    return isHTTP10 || hasBody
  }
}

extension Substring {
  /// The text without the spaces and tabs around it.
  fileprivate var trimmed: Substring {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
