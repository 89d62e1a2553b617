// What waits to be sent to one client of gpsd, with a bound.

/// What a report is about: a newer one takes the place of an older one of the same kind and device that has not been sent.
package enum GPSDReportKind: Hashable, Sendable {
  case position
  case sky
  case attitude
  /// Several an epoch: a newer one takes no other's place.
  case inertial
  case timeOffset
  case pulse
  case device

  var isNewestEnough: Bool { self != .inertial }
}

/// A report as the line that is sent, with its end.
package struct GPSDServerReport: Hashable, Sendable {
  package var kind: GPSDReportKind
  /// The path of the device that it is of.
  package var device: String
  package var bytes: [UInt8]

  package init(kind: GPSDReportKind, device: String, bytes: [UInt8]) {
    (self.kind, self.device, self.bytes) = (kind, device, bytes)
  }
}

/// How much was left out because a client reads too slowly; the counters only grow.
package struct GPSDLeftOut: Hashable, Sendable {
  /// Reports in whose place a newer one was sent.
  package var reports: UInt64 = 0
  /// Pieces of NMEA and of raw data.
  package var pieces: UInt64 = 0

  package init() {}
}

/// The bytes for one client: answers, all of them and in order, and reports, the newest of each kind.
struct GPSDOutbox: Sendable {
  private enum Content: Hashable {
    case answer
    case report(GPSDReportKind, device: String)
    /// A piece of NMEA or raw data.
    case piece
  }

  private struct Entry {
    var content: Content
    var bytes: [UInt8]

    var isReport: Bool { if case .report = content { true } else { false } }
  }

  /// Bytes of answers beyond which no request is looked at.
  static let answerLimit = 32_768
  /// Reports that wait, whatever they are of.
  static let reportLimit = 64
  /// Pieces of NMEA and raw data that wait, and their bytes: more than the fastest serial line brings in half a second.
  static let pieceLimit = (count: 256, bytes: 65_536)

  private var entries: [Entry] = []
  /// How much of the first entry is written.
  private var written = 0
  private var answerBytes = 0
  private var reportCount = 0
  private var pieces = (count: 0, bytes: 0)
  private(set) var leftOut = GPSDLeftOut()

  /// Whether the client has to read before another request of its is looked at.
  var isFull: Bool { answerBytes >= Self.answerLimit }
  var isEmpty: Bool { entries.isEmpty }
  /// What is written next; empty where nothing waits.
  var head: ArraySlice<UInt8> { entries.first.map { $0.bytes[written...] } ?? [] }

  /// Takes note that the first `count` bytes of `head` are written.
  mutating func didWrite(_ count: Int) {
    guard let first = entries.first, count > 0 else { return }
    written += count
    guard written >= first.bytes.count else { return }
    remove(at: 0)
    written = 0
  }

  mutating func append(answer bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    insert(Entry(content: .answer, bytes: bytes))
  }

  mutating func append(_ report: GPSDServerReport) {
    guard !report.bytes.isEmpty else { return }
    let content = Content.report(report.kind, device: report.device)
    var superseded: Int?
    if report.kind.isNewestEnough {
      superseded = waiting.last { entries[$0].content == content }
    }
    if superseded == nil, reportCount >= Self.reportLimit {
      superseded = waiting.first { entries[$0].isReport }
    }
    if let superseded {
      remove(at: superseded)
      leftOut.reports &+= 1
    }
    insert(Entry(content: content, bytes: report.bytes))
  }

  /// Takes a whole piece. The oldest ones make room for it; one beyond `pieceLimit` is left out itself.
  mutating func append(piece bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    guard bytes.count <= Self.pieceLimit.bytes else {
      leftOut.pieces &+= 1
      return
    }
    while pieces.count >= Self.pieceLimit.count
      || pieces.bytes + bytes.count > Self.pieceLimit.bytes,
      let oldest = waiting.first(where: { entries[$0].content == .piece })
    {
      remove(at: oldest)
      leftOut.pieces &+= 1
    }
    insert(Entry(content: .piece, bytes: bytes))
  }

  /// Leaves out all that is no answer and has not been begun: the client has ended its watch.
  mutating func removeReports() {
    for index in waiting.reversed() where entries[index].content != .answer { remove(at: index) }
  }

  /// Leaves out the pieces of NMEA and raw data that have not been begun.
  mutating func removePieces() {
    for index in waiting.reversed() where entries[index].content == .piece { remove(at: index) }
  }

  /// The indices of the entries that have not been begun.
  private var waiting: Range<Int> {
    let begun = written > 0 ? 1 : 0
    return begun..<max(begun, entries.count)
  }

  private mutating func insert(_ entry: Entry) {
    entries.append(entry)
    count(entry, 1)
  }

  private mutating func remove(at index: Int) { count(entries.remove(at: index), -1) }

  private mutating func count(_ entry: Entry, _ sign: Int) {
    switch entry.content {
    case .answer: answerBytes += sign * entry.bytes.count
    case .report: reportCount += sign
    case .piece:
      pieces.count += sign
      pieces.bytes += sign * entry.bytes.count
    }
  }
}
