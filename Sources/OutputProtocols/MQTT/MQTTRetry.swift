// When a broker is tried again.

package import SensorTypes

/// The pauses between attempts to reach a broker.
///
/// A pause doubles from 1 s to 60 s, and is a second again once a connection has stood for a minute. After a refusal it is 10 s at
/// least. Each differs by up to a fifth from board to board, so that a whole fleet does not come back to a broker at once.
package struct MQTTRetry: Sendable {
  package static let firstPause = 1.0
  package static let longestPause = 60.0
  package static let refusalPause = 10.0
  package static let goodTime = 60.0
  private static let spread = 0.2

  private var pause = firstPause
  private var random: UInt64
  /// When the next attempt is due; `nil` for at once.
  package private(set) var due: Timestamp?
  /// The number of attempts that have failed since a connection stood.
  package private(set) var failures: UInt64 = 0

  /// - Parameter name: The board's name, which the differences follow from.
  package init(name: String) {
    // FNV-1a (Fowler, Noll, Vo).
    random = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  /// Notes that an attempt has failed, or that a connection has ended.
  ///
  /// - Parameters:
  ///   - stood: For how many seconds the connection had stood.
  ///   - isRefusal: Whether the broker itself has refused.
  package mutating func fail(at now: Timestamp, stood: Double = 0, isRefusal: Bool = false) {
    if stood >= Self.goodTime { (pause, failures) = (Self.firstPause, 0) }
    failures &+= 1
    // Knuth's multiplier (MMIX).
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let share = Double(random >> 40) / Double(1 << 24)
    let length = max(pause, isRefusal ? Self.refusalPause : 0)
    due = now.advanced(bySeconds: length * (1 + Self.spread * (2 * share - 1)))
    pause = min(Self.longestPause, length * 2)
  }

  /// Whether an attempt is due.
  package func isDue(at now: Timestamp) -> Bool { due.map { now >= $0 } ?? true }
}
