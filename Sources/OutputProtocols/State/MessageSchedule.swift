// Which messages are sent, and how often.

package import SensorTypes

/// A message that is sent again and again.
package protocol ScheduledMessage: Sendable, Hashable {
  /// The time between two of them in seconds.
  var interval: Double { get set }
}

/// The messages that somebody is sent, and when each is due next.
package struct MessageSchedule<Message: ScheduledMessage>: Sendable {
  /// The shortest and the longest interval in seconds.
  package static var intervals: ClosedRange<Double> { 0.01...3_600 }

  package let messages: [Message]
  private var next: [Timestamp?]

  /// Makes a schedule in which everything is due at once. An interval that is no number, or too short, becomes the shortest.
  package init(_ messages: [Message]) {
    self.messages = messages.map {
      var message = $0
      let limits = Self.intervals
      message.interval =
        message.interval >= limits.lowerBound
        ? min(message.interval, limits.upperBound) : limits.lowerBound
      return message
    }
    next = Array(repeating: nil, count: messages.count)
  }

  /// Returns what is due, each once: what was missed is not sent later.
  package mutating func due(at now: Timestamp) -> [Message] {
    var due: [Message] = []
    for (index, message) in messages.enumerated() {
      guard let time = next[index] else {
        next[index] = now.advanced(bySeconds: message.interval)
        due.append(message)
        continue
      }
      guard time <= now else { continue }
      let following = time.advanced(bySeconds: message.interval)
      next[index] = following > now ? following : now.advanced(bySeconds: message.interval)
      due.append(message)
    }
    return due
  }

  /// When something is due next; `nil` where everything is due, or nothing ever is.
  package var deadline: Timestamp? {
    next.contains { $0 == nil } ? nil : next.compactMap { $0 }.min()
  }
}
