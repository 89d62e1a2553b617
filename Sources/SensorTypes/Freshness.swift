/// How old the newest of a sequence of values is, and whether it still stands for now.
///
/// A value stands for two seconds, or for three of the periods at which such values arrive where that is longer. Time is an
/// argument.
package struct Freshness: Hashable, Sendable {
  /// How long a value stands at least, seconds.
  package static let shortest = 2.0
  /// How many periods a value stands.
  package static let periods = 3.0

  /// When the newest value arrived; `nil` before the first.
  package private(set) var newest: Timestamp?
  private var period: Double?

  /// Makes one that has seen no value.
  package init() {}

  /// How long a value stands, seconds.
  package var lifetime: Double { max(Self.shortest, Self.periods * (period ?? 0)) }

  /// Until when the newest value stands; `nil` where there is none.
  package var deadline: Timestamp? { newest?.advanced(bySeconds: lifetime) }

  /// Notes that a value arrived. A pause in which the value before fell out of date is no period.
  package mutating func note(_ time: Timestamp) {
    defer { newest = time }
    guard let newest else { return }
    let gap = time.seconds(since: newest)
    // The first period may be longer than two seconds; nothing else tells it from a pause.
    guard gap > 0, period == nil || gap <= lifetime else { return }
    period = period.map { $0 + 0.2 * (gap - $0) } ?? gap
  }

  /// Seconds since the newest value arrived; `nil` where there is none.
  package func age(at now: Timestamp) -> Double? { newest.map { now.seconds(since: $0) } }

  /// Whether the newest value no longer stands for now.
  package func isStale(at now: Timestamp) -> Bool { (age(at: now) ?? 0) > lifetime }
}
