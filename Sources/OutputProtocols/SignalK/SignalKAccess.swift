// How a board gets a token of a Signal K server, and keeps it.

import GNSSProtocol
package import SensorTypes
import TextForms

/// Asks a server for access, as a value: what to send and when, and what an answer means.
///
/// A person at the server approves or denies. After a denial nothing is asked until `reset()`.
package struct SignalKAccess: Sendable {
  /// How far it has come.
  package enum AccessState: Sendable, Hashable {
    /// There is no token yet.
    case none
    /// The server has the request; its path says how it stands.
    case pending(path: String)
    /// There is a token.
    case approved
    /// A person has denied it.
    case denied
    /// The server has no access requests: it needs none, or a user's name.
    case unsupported
    /// The server does not accept the request; its words for a person.
    case refused(String)
  }

  /// A request over HTTP.
  package enum Request: Sendable, Hashable {
    /// `POST` of a JSON text.
    case post(path: String, body: String)
    /// `GET`.
    case get(path: String)
  }

  /// What is counted.
  package struct Counters: Sendable, Hashable {
    package var requests = 0
    package var polls = 0
    /// Answers that were none, and connections that failed.
    package var failures = 0
  }

  /// Seconds from a poll to the next, and the longest time after failures.
  private static let interval = 5.0
  static let longestPause = 300.0
  /// The number of polls that a server cannot answer before the request counts as forgotten.
  private static let failuresOfPoll = 2
  /// The greatest number of bytes of an answer, of a token, and of a path.
  private static let limits = (answer: 16_384, token: 4_096, path: 200)

  private let clientID: String
  private let description: String
  package private(set) var state = AccessState.none
  /// The token for `Authorization: Bearer`, while there is one.
  package private(set) var token: String?
  /// When it ends, in seconds since 1970; `nil` where the server does not say.
  package private(set) var expires: Double?
  package private(set) var counters = Counters()
  private var failures = 0
  /// The number of tokens that were refused or had ended since one has worked.
  private(set) var rejections = 0
  /// The moment of the next request; `nil` where none is to be made.
  package private(set) var next: Timestamp?

  /// Makes an access to a server.
  ///
  /// - Parameters:
  ///   - clientID: A UUID of version 4, always the same for this board.
  ///   - token: The token that was kept from before, if any.
  ///   - expires: When that token ends, in seconds since 1970, if the server has said so.
  ///   - path: The path of a request that the server had before, if there is one and no token.
  ///   - now: From when on requests are made.
  /// - Returns: `nil` for an identifier that is no UUID of version 4.
  package init?(
    clientID: String, description: String = "Lodestone", token: String? = nil,
    expires: Double? = nil, pending path: String? = nil, at now: Timestamp
  ) {
    guard Self.isUUID(clientID) else { return nil }
    (self.clientID, self.description) = (clientID, description)
    if let token, Self.isToken(token) {
      (self.token, self.expires, state) = (token, expires, .approved)
    } else {
      if let path, Self.isPath(path) { state = .pending(path: path) }
      next = now
    }
  }

  /// Whether a text is a UUID of version 4 (RFC 9562, section 5.4).
  package static func isUUID(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return false }
    for (index, byte) in bytes.enumerated() {
      switch index {
      case 8, 13, 18, 23: if byte != UInt8(ascii: "-") { return false }
      case 14: if byte != UInt8(ascii: "4") { return false }
      case 19: if !"89abAB".utf8.contains(byte) { return false }
      default:
        guard (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
        else { return false }
      }
    }
    return true
  }

  /// Whether a text can stand in `Authorization: Bearer` (RFC 6750, section 2.1).
  package static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= limits.token
      && text.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
          || "-._~+/=".utf8.contains($0)
      }
  }

  /// Begins again, because a person wants it.
  package mutating func reset(at now: Timestamp) {
    (state, token, expires, next, failures) = (.none, nil, nil, now, 0)
  }

  /// Takes that the server does not accept the token any more (403 or 401): a new request is made.
  package mutating func tokenWasRefused(at now: Timestamp) {
    guard state == .approved else { return }
    reset(at: now)
    // A server that refuses what it has just approved is not asked in a loop.
    let pause = min(Self.interval * Double(1 << rejections), Self.longestPause)
    next = now.advanced(bySeconds: pause)
    rejections = min(rejections + 1, 10)
  }

  /// Takes that the server has accepted the token for as long as the longest pause.
  mutating func tokenHasWorked() { rejections = 0 }

  /// Requests a new token if the present one expires within a minute. Returns whether it does.
  @discardableResult
  package mutating func check(utc: Double, at now: Timestamp) -> Bool {
    guard let expires, state == .approved, utc > expires - 60 else { return false }
    tokenWasRefused(at: now)
    return true
  }

  /// Returns the request that is due; the answer is given to `take`, or `failed(at:)` is called.
  package mutating func request(at now: Timestamp) -> Request? {
    guard let next, now >= next else { return nil }
    // Until there is an answer, which may never come.
    self.next = now.advanced(bySeconds: 30)
    switch state {
    case .none, .refused:
      counters.requests += 1
      var body = JSONLine()
      body.set("clientId", clientID)
      body.set("description", description)
      return .post(path: "/signalk/v1/access/requests", body: body.line)
    case .pending(let path):
      counters.polls += 1
      return .get(path: path)
    case .approved, .denied, .unsupported:
      self.next = nil
      return nil
    }
  }

  /// Takes that there was no answer.
  package mutating func failed(at now: Timestamp) {
    counters.failures += 1
    pause(at: now)
  }

  private mutating func pause(at now: Timestamp) {
    failures = min(failures + 1, 10)
    let pause = min(Self.interval * Double(1 << failures), Self.longestPause)
    next = now.advanced(bySeconds: pause)
  }

  /// Takes an answer.
  package mutating func take(status: Int, body: [UInt8], at now: Timestamp) {
    if status == 501 || status == 404, state == .none {
      (state, next) = (.unsupported, nil)
      return
    }
    if case .pending = state, status == 404 || status >= 500 && failures >= Self.failuresOfPoll {
      // The server has forgotten the request, for instance because it was started anew: signalk-server then answers with 500.
      state = .none
      return failed(at: now)
    }
    guard body.count <= Self.limits.answer,
      let answer = body.withUnsafeBufferPointer({ SignalKAnswer($0) })
    else { return failed(at: now) }
    switch (answer.state, answer.permission) {
    case ("PENDING", _):
      if state == .none || state.isRefused {
        guard let path = answer.href, Self.isPath(path) else { return failed(at: now) }
        state = .pending(path: path)
      }
      failures = 0
      next = now.advanced(bySeconds: Self.interval)
    case ("COMPLETED", "APPROVED"?):
      guard let token = answer.token, Self.isToken(token) else { return failed(at: now) }
      (state, self.token, expires, next) = (.approved, token, answer.expires, nil)
      failures = 0
    case ("COMPLETED", "DENIED"?):
      (state, next) = (.denied, nil)
    case ("COMPLETED", _) where answer.code ?? status >= 400, ("FAILED", _):
      // The server says why, for instance that this board has asked already.
      state = .refused(answer.message ?? "status \(answer.code ?? status)")
      failed(at: now)
    default:
      failed(at: now)
    }
  }

  /// Whether a path is one of the server's own, without anything that would lead elsewhere.
  private static func isPath(_ path: String) -> Bool {
    path.hasPrefix("/signalk/") && path.utf8.count <= limits.path && !path.contains("..")
      && path.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
          || "-._~/".utf8.contains($0)
      }
  }
}

extension SignalKAccess.AccessState {
  fileprivate var isRefused: Bool { if case .refused = self { true } else { false } }

  /// What a person has to know or to do, or `nil`.
  ///
  /// - Parameters:
  ///   - name: What a person at the server reads of who asks for access.
  ///   - secrets: What a server may have put into its words, and nobody is to read.
  func problem(of name: String, hiding secrets: [String?]) -> String? {
    switch self {
    case .none: "the server's answer to the access request cannot be used"
    case .pending:
      "access is asked for: approve '\(name)' in the server's list of access requests"
    case .denied:
      "the access request was denied: restart lodestone serve to ask again, and approve it there"
    case .refused(let words):
      "the server does not take the access request: \(words.hiding(secrets))"
    case .approved, .unsupported: nil
    }
  }
}

/// What a server answers to an access request, or to a login over a WebSocket.
package struct SignalKAnswer: Sendable, Hashable {
  package private(set) var requestID: String?
  /// `PENDING`, `COMPLETED`, `FAILED`, or what a server has else.
  package private(set) var state = ""
  /// As in HTTP.
  package private(set) var code: Int?
  package private(set) var href: String?
  package private(set) var permission: String?
  package private(set) var token: String?
  /// Seconds since 1970.
  package private(set) var expires: Double?
  /// Seconds for which the token is good.
  package private(set) var timeToLive: Double?
  /// For a person, printable and at most 100 characters long.
  package private(set) var message: String?

  /// Reads an answer; `nil` for bytes that are no JSON object.
  package init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    var scanner = JSONScanner(bytes)
    var answer = SignalKAnswer()
    var isObject = false
    scanner.object { scanner, key in
      isObject = true
      switch key {
      case "requestId": answer.requestID = scanner.string()?.words()
      case "state": answer.state = scanner.string()?.words(limit: 20) ?? ""
      case "statusCode", "result": answer.code = scanner.integer()
      case "href": answer.href = scanner.string()?.words(limit: 201)
      case "message": answer.message = scanner.string()?.words()
      case "accessRequest", "login", "validate": answer.read(&scanner)
      // The answer to a login over HTTP has them by themselves.
      case "token", "timeToLive", "expiry": answer.read(key, &scanner)
      default: break
      }
    }
    guard scanner.isAtEnd(), isObject else { return nil }
    self = answer
  }

  private init() {}

  private mutating func read(_ scanner: inout JSONScanner) {
    scanner.object { scanner, key in read(key, &scanner) }
  }

  private mutating func read(_ key: JSONText, _ scanner: inout JSONScanner) {
    switch key {
    case "permission": permission = scanner.string()?.words(limit: 20)
    case "token": token = scanner.string()?.words(limit: 4_097)
    case "expirationTime":
      expires = (scanner.string()?.words(limit: 40)).flatMap { Self.seconds($0) }
    case "timeToLive", "expiry":
      timeToLive = scanner.number().flatMap { $0 > 0 && $0 < 1e10 ? $0 : nil }
    default: break
    }
  }

  /// Seconds since 1970 of a moment in UTC (RFC 3339), to the second; `nil` for anything else.
  static func seconds(_ text: String) -> Double? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z") else { return nil }
    func number(_ start: Int, _ count: Int, _ range: ClosedRange<Int>) -> Int? {
      var value = 0
      for byte in bytes[start..<(start + count)] {
        guard (48...57).contains(byte) else { return nil }
        value = value * 10 + Int(byte - 48)
      }
      return range.contains(value) ? value : nil
    }
    let marks: [(Int, UInt8)] = [(4, 45), (7, 45), (10, 84), (13, 58), (16, 58)]
    guard marks.allSatisfy({ bytes[$0.0] == $0.1 }),
      let year = number(0, 4, 1970...9_999), let month = number(5, 2, 1...12),
      let day = number(8, 2, 1...31), let hour = number(11, 2, 0...23),
      let minute = number(14, 2, 0...59), let second = number(17, 2, 0...60)
    else { return nil }
    // From the first of March on, a leap day ends its year.
    let shifted = month > 2 ? year : year - 1
    let ofYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + ofYear - 719_468
    return Double(((days * 24 + hour) * 60 + minute) * 60 + second)
  }
}

/// Messages with which a program that is no browser tells a server who it is.
package enum SignalKLogin {
  /// The login with a user's name. `requestID` has to be a UUID of version 4.
  package static func login(requestID: String, user: String, password: String) -> String {
    message(requestID, "login") {
      $0.set("username", user)
      $0.set("password", password)
    }
  }

  /// The login with a token.
  package static func login(requestID: String, token: String) -> String {
    message(requestID, "login") { $0.set("token", token) }
  }

  /// The renewal of a token.
  package static func validate(requestID: String, token: String) -> String {
    message(requestID, "validate") { $0.set("token", token) }
  }

  /// The end of a token.
  package static func logout(requestID: String, token: String) -> String {
    message(requestID, "logout") { $0.set("token", token) }
  }

  private static func message(
    _ requestID: String, _ name: String, _ fill: (inout JSONLine) -> Void
  ) -> String {
    var (line, object) = (JSONLine(), JSONLine())
    line.set("requestId", requestID)
    fill(&object)
    line.set(name, object)
    return line.line
  }
}
