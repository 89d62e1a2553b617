// Asks a caster for its source table: bytes and time in, bytes and the table out.

package import SensorTypes

/// Why a caster gives no source table.
package struct CasterFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package enum FailureKind: Sendable, Hashable {
    /// There is no connection, or it ended, or took too long.
    case unreachable
    /// The caster wants another user name or password.
    case refused
    /// What answers is no caster, or its table is broken.
    case foreign
  }

  package let kind: FailureKind
  /// The message, in one line.
  package let description: String

  package init(_ kind: FailureKind, _ description: String) {
    (self.kind, self.description) = (kind, description)
  }
}

/// A client that asks once, in version 2 of NTRIP and then in version 1.
package struct SourceTableClient: Sendable {
  /// Seconds until the head of the answer, and until the whole table.
  package static let responseTime = 10.0
  package static let tableTime = 30.0
  /// The most bytes that are read of a table.
  static let longestTable = 4_194_304

  package enum TableState: Sendable, Hashable {
    /// A connection is to be made: `connected` or `lost` says what came of it.
    case connect
    case underWay
    case table(SourceTable)
    case failed(CasterFailure)
  }

  package private(set) var state = TableState.connect
  private let request: NTRIPRequest
  private var version = NTRIPVersion.two
  private var reader = NTRIPResponseReader()
  private var table = SourceTable()
  private var hasAnswered = false
  private var hasContent = false
  private var bytes = 0
  private var deadline = Timestamp.distantFuture

  /// - Parameters:
  ///   - host: The caster with its port, for messages and for its `Host` header.
  ///   - program: What the program calls itself, as in `Lodestone/1.0`.
  ///   - credentials: `USER:PASSWORD`, for a caster that shows its table to users alone.
  package init(host: String, program: String, credentials: String? = nil) {
    request = NTRIPRequest(host: host, mountpoint: nil, program: program, credentials: credentials)
  }

  /// A connection stands. Returns the request that is to be sent.
  package mutating func connected(at now: Timestamp) -> [UInt8] {
    state = .underWay
    reader = NTRIPResponseReader()
    (table, bytes, hasContent, hasAnswered) = (SourceTable(), 0, false, false)
    deadline = now.advanced(bySeconds: Self.responseTime)
    return request.bytes(version)
  }

  /// Notices that it takes too long.
  package mutating func step(at now: Timestamp) {
    guard state == .underWay, now >= deadline else { return }
    fail(
      .unreachable,
      hasContent ? "its table has no end after \(Int(Self.tableTime)) s" : "it does not answer")
  }

  /// The connection has ended, or could not be made; why, in words for a person.
  package mutating func lost(_ words: String) {
    guard state == .underWay else {
      if state == .connect { fail(.unreachable, words) }
      return
    }
    if hasContent {
      // Some casters end the table with the connection.
      table.finish()
      if table.streams.isEmpty && table.casters.isEmpty {
        fail(.unreachable, "the connection was cut off: \(words)")
      } else {
        state = .table(table)
      }
    } else if version == .two, !hasAnswered {
      tryVersionOne()
    } else {
      fail(.unreachable, "it has ended the connection without an answer")
    }
  }

  /// Takes bytes of the caster.
  package mutating func received(_ bytes: [UInt8], at now: Timestamp) {
    hasAnswered = hasAnswered || !bytes.isEmpty
    for event in reader.take(bytes) where state == .underWay {
      switch event {
      case .answer(.sourceTable), .answer(.stream):
        deadline = now.advanced(bySeconds: Self.tableTime)
      case .answer(.refused(let status, _))
      where [400, 405, 501, 505].contains(status) && version == .two:
        tryVersionOne()
      case .answer(.refused(401, _)):
        fail(
          .refused,
          request.credentials == nil
            ? "it shows its table to users alone (401): --ntrip-credentials FILE"
            : "wrong user name or password (401)")
      case .answer(.refused(403, _)): fail(.refused, "this user may not see its table (403)")
      case .answer(.refused(let status, _)):
        // A caster that cannot answer now (503) may do so later.
        fail(status >= 500 ? .unreachable : .foreign, "it answers \(status)")
      case .answer(.foreign(let what)):
        // It may repeat what it was sent.
        fail(
          .foreign,
          request.credentials == nil
            ? "it is no NTRIP caster: it sends \(what)" : "it is no NTRIP caster")
      case .body(let content): take(content)
      case .end:
        table.finish()
        state = .table(table)
      case .broken: fail(.foreign, "its chunked transfer is broken")
      }
    }
  }

  private mutating func take(_ content: [UInt8]) {
    // A stream of corrections is no table, whatever was asked for.
    guard hasContent || content.first.map({ $0 >= 10 && $0 < 127 }) ?? true else {
      return fail(.foreign, "it sends something else than a source table")
    }
    hasContent = true
    bytes += content.count
    table.take(content)
    if table.isWhole {
      state = .table(table)
    } else if bytes > Self.longestTable {
      fail(.foreign, "its table has more than 4 MiB")
    }
  }

  private mutating func tryVersionOne() {
    version = .one
    state = .connect
  }

  private mutating func fail(_ kind: CasterFailure.FailureKind, _ words: String) {
    state = .failed(CasterFailure(kind, "\(request.host): \(words)"))
  }
}
