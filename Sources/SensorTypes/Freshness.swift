/// How old the newest of a sequence of values is, and whether it still stands for now.
///
/// A value stands for two seconds, or for three of the periods at which such values arrive where that is longer; the first one,
/// whose period is not known yet, for ten seconds. Time is an argument.
package struct Freshness: Hashable, Sendable {
  /// How long a value stands at least, seconds.
  package static let shortest = 2.0
  /// How long the first value stands, seconds.
  package static let unknown = 10.0
  /// How many periods a value stands.
  package static let periods = 3.0

  /// When the newest value arrived; `nil` before the first.
  package private(set) var newest: Timestamp?
  private var period: Double?

  /// Makes one that has seen no value.
  package init() {}

  /// How long a value stands, seconds.
  package var lifetime: Double {
    period.map { max(Self.shortest, Self.periods * $0) } ?? Self.unknown
  }

  /// When the newest value expires; `nil` if there is no value.
  package var deadline: Timestamp? { newest?.advanced(bySeconds: lifetime) }

  /// Notes that a value arrived. A pause in which the value before fell out of date is no period.
  package mutating func note(_ time: Timestamp) {
    defer { newest = time }
    guard let newest else { return }
    let gap = time.seconds(since: newest)
    guard gap > 0, gap <= lifetime else { return }
    period = period.map { $0 + 0.2 * (gap - $0) } ?? gap
  }

  /// The age of the newest value in seconds; `nil` if there is no value.
  package func age(at now: Timestamp) -> Double? { newest.map { now.seconds(since: $0) } }

  /// Whether the newest value no longer stands for now.
  package func isStale(at now: Timestamp) -> Bool { (age(at: now) ?? 0) > lifetime }
}
