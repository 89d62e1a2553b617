package import SensorTypes

/// A bound on what is said of one device: ten messages at once, and one a minute after that. A device, or whoever sends its bytes, must
/// not fill a journal.
package struct NoteLimit: Sendable {
  package static let atOnce = 10.0
  package static let perSecond = 1.0 / 60

  private var limit: RateLimit
  private var unsaid: String?
  /// The number of different messages that were left out since the last one was said.
  private(set) var leftOut = 0

  package init(
    atOnce: Double = NoteLimit.atOnce, perSecond: Double = NoteLimit.perSecond
  ) {
    limit = RateLimit(burst: atOnce, perSecond: perSecond)
  }

  /// Returns a message with the number of those that were left out before it, or `nil` if it must wait.
  package mutating func admit(_ words: String, at now: Timestamp) -> String? {
    guard limit.room(at: now) >= 1 else {
      if words != unsaid { leftOut += 1 }
      unsaid = words
      return nil
    }
    limit.take(1)
    let others = leftOut - (words == unsaid ? 1 : 0)
    (leftOut, unsaid) = (0, nil)
    return others > 0 ? "\(words) (messages left out before: \(others))" : words
  }
}
