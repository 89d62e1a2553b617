import SensorTypes

/// The rest of a board that is listened to: when it begins, how far it is, and when it is over.
struct RestProgress {
  /// What is to be done.
  enum RestStep: Hashable {
    /// Goes on listening and shows nothing new.
    case listening
    /// Goes on listening, and shows how many whole seconds are over.
    case held(seconds: Int)
    /// The chip says nothing.
    case silent
    /// Was heard for as long as was asked.
    case done
  }

  /// How long to wait for the first sample, in seconds.
  private static let patience = 6.0
  /// How much longer than asked to listen, in seconds: the last window has to be whole.
  private static let excess = 0.3

  private let start: Timestamp
  private let seconds: Double
  private var first: Timestamp?
  private var shown = 0

  /// - Parameters:
  ///   - seconds: How long to listen from the first sample on, in seconds.
  ///   - start: When the waiting begins, by the board's clock.
  init(seconds: Double, from start: Timestamp) { (self.seconds, self.start) = (seconds, start) }

  /// The chip was heard: its rest begins with its first sample.
  mutating func heard(at time: Timestamp) { first = first ?? time }

  /// Goes on to a moment.
  mutating func step(to now: Timestamp) -> RestStep {
    guard let first else {
      return now.seconds(since: start) > Self.patience ? .silent : .listening
    }
    let done = now.seconds(since: first)
    guard done < seconds + Self.excess else { return .done }
    guard Int(done) > shown, done < seconds else { return .listening }
    shown = Int(done)
    return .held(seconds: shown)
  }
}
