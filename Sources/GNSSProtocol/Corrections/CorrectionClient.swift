// The connection to a caster as a state machine: bytes and time in, bytes and frames out.

package import SensorTypes

/// A client of an NTRIP caster, without a socket and a clock.
///
/// It asks for a stream in version 2, and in version 1 if the caster speaks that alone. A connection that is refused, slow, broken
/// or ended is tried again after a pause that doubles from 1 s to 60 s, and is a second again once data have come for a minute.
package struct CorrectionClient: Sendable {
  /// Seconds that name and connection may take, then the answer, then each frame.
  package static let connectionTime = 10.0
  package static let responseTime = 10.0
  package static let dataTime = 30.0
  /// Seconds between two positions that the caster is sent.
  package static let positionInterval = 10.0
  /// Seconds for which a position is sent after the receiver has lost it.
  package static let longestPositionAge = 60.0
  /// The first and the longest pause between attempts; the least after a caster's own refusal, which casters ask for; and for how
  /// long data must have come until a pause is short again. Seconds.
  package static let firstPause = 1.0
  package static let longestPause = 60.0
  package static let refusalPause = 10.0
  package static let goodTime = 60.0
  /// The most that is read of a source table which comes in place of a stream, and for how long. Bytes and seconds.
  static let longestTable = 65_536
  static let tableTime = 5.0

  /// What is to be done with the connection.
  package enum ClientCommand: Sendable, Hashable {
    /// Connect to the caster; `connected` or `failed` says what came of it.
    case connect
    /// Close the connection, if one is open or being made.
    case disconnect
  }

  enum ClientPhase: Sendable, Hashable {
    case idle
    case awaitingPosition
    case connecting(since: Timestamp)
    case requesting(since: Timestamp)
    /// A source table comes in place of the stream.
    case readingTable(since: Timestamp)
    case receiving(since: Timestamp)
    case pausing(until: Timestamp)
  }

  let source: CorrectionSource
  private let program: String
  private(set) var phase = ClientPhase.idle
  private var isWanted = false
  private var mustDisconnect = false
  private var position: GNSSFix?
  private var version = NTRIPVersion.two
  /// Whether the other version was tried since data came last.
  private var hasTriedOther = false
  private var reader = NTRIPResponseReader()
  private var framer = RTCMFramer()
  private var table = SourceTable()
  private var tableBytes = 0
  private var output: [UInt8] = []
  private var nextPosition = Timestamp(nanoseconds: .min)
  private var lastFrame = Timestamp(nanoseconds: 0)
  private var hasAnswered = false
  /// The first content of this connection, until it tells corrections from a table; `nil` from then on.
  private var opening: [UInt8]? = []
  /// The frames, and the bytes of none, before this connection.
  private var framesBefore: UInt64 = 0
  private var rejectedBefore: UInt64 = 0
  /// Pieces of what may stand in no message, as long as the connection may bring words.
  private var secrets: Set<[UInt8]> = []
  /// The bytes of a piece: what is cut off a caster's words may have been the rest of it.
  private static let pieceLength = 6
  private var pause = firstPause
  private var failure: String?
  /// Why the last connection failed; `nil` where none has.
  package private(set) var failureCause: CorrectionFailureCause?
  private var rate = RecentFrames()
  private var counts = (connections: UInt64(0), frames: UInt64(0), bytes: UInt64(0))

  package init(_ source: CorrectionSource, program: String) {
    (self.source, self.program) = (source, program)
  }

  /// Says whether corrections are of use now. The connection ends where they are not.
  package mutating func setWanted(_ wanted: Bool) { isWanted = wanted }

  /// Takes the receiver's newest fix; one that is no measured position is not kept.
  package mutating func setPosition(_ fix: GNSSFix) {
    if source.sendsPosition, PositionSentence.text(fix) != nil { position = fix }
  }

  /// What is to be done now, if anything; call it until it returns `nil`.
  package mutating func step(at now: Timestamp) -> ClientCommand? {
    if mustDisconnect {
      mustDisconnect = false
      return .disconnect
    }
    guard isWanted else {
      let wasOpen = isOpen
      phase = .idle
      (failure, failureCause, pause) = (nil, nil, Self.firstPause)
      closed()
      return wasOpen ? .disconnect : nil
    }
    switch phase {
    case .idle, .awaitingPosition: return begin(now)
    case .pausing(let until): return now >= until ? begin(now) : nil
    case .connecting(let since):
      // The connection has its own deadline. This one is a second later and applies if that one fails.
      guard now.seconds(since: since) > Self.connectionTime + 1 else { return nil }
      fail("no connection within \(Int(Self.connectionTime)) s", .unreachable, at: now)
    case .requesting(let since):
      guard now.seconds(since: since) >= Self.responseTime else { return nil }
      fail(
        "the caster has not answered within \(Int(Self.responseTime)) s", .unreachable, at: now)
    case .readingTable(let since):
      guard now.seconds(since: since) >= Self.tableTime else { return nil }
      failForTable(now)
    case .receiving(let since):
      if now.seconds(since: lastFrame) >= Self.dataTime {
        fail(silence, at: now)
      } else {
        if now.seconds(since: since) >= Self.goodTime { pause = Self.firstPause }
        sendPosition(now)
        return nil
      }
    }
    return step(at: now)
  }

  /// When `step` wants to be called again at the latest.
  package var due: Timestamp {
    switch phase {
    case .idle, .awaitingPosition: .distantFuture
    case .pausing(let until): until
    case .connecting(let since): since.advanced(bySeconds: Self.connectionTime + 1.1)
    case .requesting(let since): since.advanced(bySeconds: Self.responseTime)
    case .readingTable(let since): since.advanced(bySeconds: Self.tableTime)
    case .receiving:
      min(
        lastFrame.advanced(bySeconds: Self.dataTime),
        source.sendsPosition ? nextPosition : .distantFuture)
    }
  }

  /// The connection stands: the stream is asked for.
  ///
  /// - Parameter credentials: `USER:PASSWORD`, if the source has any.
  package mutating func connected(credentials: String?, at now: Timestamp) {
    guard case .connecting = phase else { return }
    counts.connections &+= 1
    hasAnswered = false
    phase = .requesting(since: now)
    reader = NTRIPResponseReader()
    framer.restart()
    opening = []
    (framesBefore, rejectedBefore) = (counts.frames, framer.rejected)
    (table, tableBytes) = (SourceTable(), 0)
    var request = NTRIPRequest(
      host: source.caster, mountpoint: source.mountpoint, program: program)
    request.credentials = credentials
    if let credentials {
      let password = credentials.drop { $0 != ":" }.dropFirst()
      secrets = Self.pieces(of: [Base64.encoded(Array(credentials.utf8)), String(password)])
    }
    output = request.bytes(version, position: sentence(now))
  }

  /// Takes what is to be sent to the caster.
  package mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  /// The connection could not be made.
  ///
  /// - Parameters:
  ///   - words: The reason, as text for a message.
  ///   - isRefusal: Whether it will be so until a person changes something.
  package mutating func failed(_ words: String, isRefusal: Bool = false, at now: Timestamp) {
    var cause = CorrectionFailureCause.caster
    if case .connecting = phase { cause = .unreachable }
    fail(words, cause, isRefusal: isRefusal, at: now)
  }

  /// Takes the end of the connection, with the reason as text for a message.
  package mutating func lost(_ words: String, at now: Timestamp) {
    switch phase {
    case .requesting where !hasAnswered && version == .two && !hasTriedOther: tryVersionOne(now)
    case .requesting:
      fail("the caster has ended the connection without an answer", .unreachable, at: now)
    case .readingTable: failForTable(now)
    case .receiving: fail("the connection was cut off: \(words)", at: now)
    default: fail(words, .unreachable, at: now)
    }
    mustDisconnect = true
  }

  /// Takes bytes of the caster and calls `body` with each whole frame.
  package mutating func received(
    _ bytes: [UInt8], at now: Timestamp, _ body: (RTCMFrame) -> Void
  ) {
    hasAnswered = hasAnswered || !bytes.isEmpty
    for event in reader.take(bytes) {
      switch event {
      case .answer(let answer): take(answer, now)
      case .body(let content): take(content, now, body)
      case .end:
        if case .readingTable = phase {
          failForTable(now)
        } else if isOpen {
          fail("the caster has ended the stream", at: now)
        }
      case .broken: fail("the caster's chunked transfer is broken", at: now)
      }
      guard isOpen else { return }
    }
  }

  /// How the corrections are doing.
  package func status(at now: Timestamp) -> CorrectionStatus {
    var status = CorrectionStatus(source: source.description)
    status.phase = statusPhase
    status.failure = failure
    if case .pausing(let until) = phase {
      status.retry = Int(max(0, until.seconds(since: now)).rounded(.up))
    }
    let recent = rate.sum(at: now)
    (status.recentFrames, status.recentBytes) = (recent.frames, recent.bytes)
    status.recentRejected = recent.rejected > 0 ? recent.rejected : nil
    (status.connections, status.frames, status.bytes) = counts
    status.rejected = framer.rejected
    return status
  }

  private var isOpen: Bool {
    switch phase {
    case .connecting, .requesting, .readingTable, .receiving: true
    case .idle, .awaitingPosition, .pausing: false
    }
  }

  private mutating func begin(_ now: Timestamp) -> ClientCommand? {
    guard !source.sendsPosition || sentence(now) != nil else {
      phase = .awaitingPosition
      return nil
    }
    phase = .connecting(since: now)
    return .connect
  }

  private mutating func take(_ answer: NTRIPAnswer, _ now: Timestamp) {
    guard case .requesting = phase else { return }
    switch answer {
    case .stream:
      phase = .receiving(since: now)
      lastFrame = now
      nextPosition = now
      sendPosition(now)
    case .sourceTable: phase = .readingTable(since: now)
    case .refused(let status, _)
    where [400, 405, 501, 505].contains(status) && version == .two && !hasTriedOther:
      tryVersionOne(now)
      mustDisconnect = true
    case .refused(let status, let words):
      fail(refusal(status, words), Self.cause(ofStatus: status), isRefusal: true, at: now)
    case .foreign(let what):
      fail(
        "\(source.caster) is no NTRIP caster: it sends \(what)", .foreign, isRefusal: true, at: now)
    }
  }

  private mutating func take(_ content: [UInt8], _ now: Timestamp, _ body: (RTCMFrame) -> Void) {
    var content = content
    if case .receiving = phase, let opening {
      content = opening + content
      let mark = Self.tableMarks.first { zip(content, $0.utf8).allSatisfy { $0 == $1 } }
      guard mark.map({ content.count >= $0.utf8.count }) ?? true else {
        self.opening = content
        return
      }
      self.opening = nil
      if mark != nil { phase = .readingTable(since: now) }
    }
    switch phase {
    case .receiving:
      let rejected = framer.rejected
      defer { rate.add(rejected: Int(clamping: framer.rejected &- rejected), at: now) }
      framer.take(content) { frame in
        // One without content holds no corrections, and is no sign of life.
        guard frame.number != nil else { return }
        lastFrame = now
        counts.frames &+= 1
        counts.bytes &+= UInt64(frame.bytes.count)
        rate.add(bytes: frame.bytes.count, at: now)
        // Whatever was wrong is over.
        (failure, failureCause, hasTriedOther) = (nil, nil, false)
        body(frame)
      }
    case .readingTable:
      table.take(content.prefix(Self.longestTable - tableBytes))
      tableBytes += content.count
      if table.isWhole || tableBytes >= Self.longestTable { failForTable(now) }
    default: break
    }
  }

  /// Some casters call a table's content plain text.
  private static let tableMarks = ["STR;", "CAS;", "NET;", "ENDSOURCETABLE"]

  private mutating func tryVersionOne(_ now: Timestamp) {
    (version, hasTriedOther) = (.one, true)
    closed()
    phase = .pausing(until: now)
  }

  private mutating func fail(
    _ words: String, _ cause: CorrectionFailureCause = .caster, isRefusal: Bool = false,
    at now: Timestamp
  ) {
    (failure, failureCause) = (withoutSecrets(words), cause)
    if isOpen { mustDisconnect = true }
    // Version 2 has another chance, unless version 1 was the one that worked.
    if hasTriedOther { (version, hasTriedOther) = (.two, false) }
    let wait = isRefusal ? max(pause, Self.refusalPause) : pause
    phase = .pausing(until: now.advanced(bySeconds: wait))
    pause = min(2 * wait, Self.longestPause)
    closed()
  }

  private mutating func failForTable(_ now: Timestamp) {
    table.finish()
    fail(
      missingMountpoint(table.streams.map(\.mountpoint)), .mountpoint, isRefusal: true, at: now)
  }

  private mutating func closed() {
    secrets = []
    output = []
  }

  private mutating func sendPosition(_ now: Timestamp) {
    guard source.sendsPosition, now >= nextPosition else { return }
    nextPosition = now.advanced(bySeconds: Self.positionInterval)
    if let sentence = sentence(now) { output += Array("\(sentence)\r\n".utf8) }
  }

  private func sentence(_ now: Timestamp) -> String? {
    guard source.sendsPosition, let position,
      now.seconds(since: position.received) <= Self.longestPositionAge
    else { return nil }
    return PositionSentence.text(position)
  }

  private func withoutSecrets(_ words: String) -> String {
    let bytes = Array(words.lowercased().utf8)
    let holds = secrets.contains { piece in
      bytes.indices.contains { bytes[$0...].starts(with: piece) }
    }
    return holds ? "the caster sends words that hold the password" : words
  }

  /// The pieces of secrets, in small letters; a short one is a piece as it is.
  private static func pieces(of secrets: [String]) -> Set<[UInt8]> {
    var pieces: Set<[UInt8]> = []
    for secret in secrets where secret.utf8.count > 1 {
      let bytes = Array(secret.lowercased().utf8)
      let length = min(pieceLength, bytes.count)
      for start in 0...(bytes.count - length) {
        pieces.insert(Array(bytes[start..<start + length]))
      }
    }
    return pieces
  }

  private var silence: String {
    let seconds = Int(Self.dataTime)
    let rejected = framer.rejected &- rejectedBefore
    return rejected > 0 && counts.frames == framesBefore
      ? "no RTCM 3 within \(seconds) s, but \(rejected) bytes that are none"
      : "no data within \(seconds) s"
  }
}
