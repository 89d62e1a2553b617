import OutputProtocols
import TerminalUI
import TextForms

/// What one page is still to be sent. It never grows beyond its limit: a newer state takes the place of an older one of
/// the same kind, and a page that is too slow even for the rest begins anew with a snapshot.
struct Outbox {
  /// How many messages may wait.
  static let limit = 256

  private var waiting: [LiveMessage] = []
  /// Whether the page is to get everything there is, because it is new or because something was dropped.
  private(set) var needsSnapshot = true
  /// Messages that the page never got and that no newer one has made needless, since it was told last.
  private(set) var dropped = 0

  mutating func post(_ message: LiveMessage) {
    // The snapshot will have it.
    guard !needsSnapshot else {
      if dropped > 0 { dropped += 1 }
      return
    }
    if let key = message.key, let place = waiting.firstIndex(where: { $0.key == key }) {
      waiting.remove(at: place)
    }
    if waiting.count == Self.limit {
      dropped = waiting.count + 1
      waiting = []
      needsSnapshot = true
    } else {
      waiting.append(message)
    }
  }

  /// Takes in the snapshot that was needed.
  mutating func begin(with snapshot: [LiveMessage]) {
    waiting = snapshot
    if dropped > 0 {
      var line = JSONLine()
      line.set("v", ObservationLines.version)
      line.set("kind", "dropped")
      line.set("count", dropped)
      waiting.append(LiveMessage(text: line.line))
    }
    dropped = 0
    needsSnapshot = false
  }

  mutating func take() -> String? { waiting.isEmpty ? nil : waiting.removeFirst().text }
}
