// What a daemon's board says of itself: for the status, and for the journal.

package import LocationServices
import OutputProtocols
import SensorHub
package import SensorTypes

/// Keeps the newest messages of a board, and those that the journal was not told yet.
///
/// The journal gets a message once, unless another one comes in between; 20 at once and one in two minutes after that, with the number of
/// those that were left out. What was left out stands in the status.
package struct BoardMessages: Sendable {
  /// The number of messages that a status has.
  static let most = 16
  static let atOnce = 20.0
  static let perSecond = 1.0 / 120
  /// The number of characters of a message that are kept.
  static let longest = 500

  private struct Entry: Sendable {
    let text: String
    var count: UInt64
    var time: Timestamp
  }

  /// The newest ones, the oldest first.
  private var entries: [Entry] = []
  private var told: String?
  private var untold: [String] = []
  private var limit = NoteLimit(atOnce: atOnce, perSecond: perSecond)

  package init() {}

  /// Takes a message of the board.
  package mutating func take(_ message: String, at now: Timestamp) {
    let text = message.count > Self.longest ? String(message.prefix(Self.longest)) + "..." : message
    let place = entries.firstIndex { $0.text == text }
    let count = place.map { entries.remove(at: $0).count } ?? 0
    entries.append(Entry(text: text, count: count &+ 1, time: now))
    if entries.count > Self.most { entries.removeFirst() }
    guard text != told, let line = limit.admit(text, at: now) else { return }
    told = text
    // The limit bounds what waits for somebody who does not take it, too.
    if untold.count < Int(Self.atOnce) { untold.append(line) }
  }

  /// Takes the lines for the journal.
  package mutating func takeLines() -> [String] {
    defer { untold = [] }
    return untold
  }

  /// The newest messages for a status, the oldest first.
  package func report(at now: Timestamp) -> [DaemonStatus.BoardMessage] {
    entries.map { entry in
      DaemonStatus.BoardMessage(
        text: entry.text, age: max(0, now.seconds(since: entry.time)), count: entry.count)
    }
  }
}

extension BoardOwner {
  /// How the chips of the board are doing.
  var chipReports: [DaemonStatus.ChipReport] {
    sensors.map { status in
      let problem: String? = if case .failed(let why) = status.state { why } else { nil }
      return DaemonStatus.ChipReport(
        name: "\(status.chip) at \(status.position)", state: status.state.word, problem: problem,
        samples: status.counters.samples, corrections: status.link?.corrections?.description)
    }
  }
}
