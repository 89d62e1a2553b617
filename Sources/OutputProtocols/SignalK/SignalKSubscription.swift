// What a client of Signal K asks for.

import GNSSProtocol
import SensorTypes

/// How often a value is told.
package struct SignalKRule: Sendable, Hashable {
  /// Signal K's policies.
  package enum Policy: String, Sendable, Hashable {
    /// Changes, no faster than `minimum`.
    case instant
    /// Changes, and the last value again after each `period`.
    case ideal
    /// The last value after each `period`.
    case fixed
  }

  package var policy: Policy
  /// Seconds after which a value is repeated.
  package var period: Double
  /// The least number of seconds between two values.
  package var minimum: Double

  /// What a period can be, in seconds.
  static let periods = 0.05...86_400.0
  /// Timers and values come at a moment that is not exact.
  private static let tolerance = 0.005

  /// Makes a rule; times out of range are brought into it.
  package init(_ policy: Policy = .ideal, period: Double = 1, minimum: Double = 0.2) {
    self.policy = policy
    self.period = Self.bounded(period)
    self.minimum = Self.bounded(minimum)
  }

  private static func bounded(_ seconds: Double) -> Double {
    seconds.isFinite ? max(periods.lowerBound, min(seconds, periods.upperBound)) : 1
  }

  /// Seconds after which something may be due again.
  var interval: Double { policy == .fixed ? period : min(period, minimum) }

  func isDue(since last: Timestamp?, at now: Timestamp, isNews: Bool, isUrgent: Bool) -> Bool {
    guard let last else { return true }
    let age = now.seconds(since: last) + Self.tolerance
    if age < 0 { return true }
    switch policy {
    case .fixed: return age >= period
    case .instant: return isNews && (isUrgent || age >= minimum)
    case .ideal: return isNews ? isUrgent || age >= minimum : age >= period
    }
  }

  /// The more frequent of two rules, both of which somebody has asked for.
  func merged(with other: SignalKRule) -> SignalKRule {
    let policy = self.policy == other.policy ? self.policy : .ideal
    return SignalKRule(
      policy, period: min(period, other.period), minimum: min(minimum, other.minimum))
  }
}

/// A path with wild cards, and how often what it stands for is told.
package struct SignalKSubscription: Sendable, Hashable {
  /// The greatest number of bytes of a path.
  static let pathLimit = 128

  /// The parts of all paths.
  private static let known = SignalKPath.allCases.map { path in
    (path: path, parts: path.rawValue.split(separator: ".").map(String.init))
  }

  /// Parts between points, of which `*` is any one, and the last one any number.
  private let parts: [String]
  /// The paths that it stands for.
  let paths: Set<SignalKPath>
  package let rule: SignalKRule

  /// Makes a subscription; `nil` for a path that is none.
  package init?(_ path: String, _ rule: SignalKRule = SignalKRule()) {
    guard !path.isEmpty, path.utf8.count <= Self.pathLimit else { return nil }
    // The specification writes paths with points and with slashes.
    let parts = path.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "/" }
      .map(String.init)
    guard !parts.contains("") else { return nil }
    (self.parts, self.rule) = (parts, rule)
    paths = Set(Self.known.filter { Self.isMatch(parts, $0.parts) }.map(\.path))
  }

  /// Whether a path is one of them. A path without a wild card also stands for what is below it.
  package func matches(_ path: SignalKPath) -> Bool { paths.contains(path) }

  private static func isMatch(_ parts: [String], _ own: [String]) -> Bool {
    for (index, part) in parts.enumerated() {
      guard index < own.count else { return false }
      if part == "*" { continue }
      guard part == own[index] else { return false }
    }
    return true
  }

  func isSamePath(as other: SignalKSubscription) -> Bool { parts == other.parts }
}

/// A request of a client: subscriptions to add and to end.
struct SignalKSubscribing {
  /// The greatest number of subscriptions of one request.
  static let limit = 64

  /// Whose values are asked for.
  var context = ""
  var subscribe: [SignalKSubscription] = []
  var unsubscribe: [SignalKSubscription] = []
  /// Whether there was a list of either kind.
  var isRequest = false
  /// The number of paths that were none, or too many.
  var refused = 0

  /// Reads a request; `nil` for bytes that are no JSON object.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    var scanner = JSONScanner(bytes)
    var request = SignalKSubscribing()
    var isObject = false
    scanner.object { scanner, key in
      isObject = true
      switch key {
      case "context": request.context = scanner.string()?.words(limit: 200) ?? ""
      case "subscribe":
        request.isRequest = true
        request.read(&scanner) { $0.subscribe.append($1) }
      case "unsubscribe":
        request.isRequest = true
        request.read(&scanner) { $0.unsubscribe.append($1) }
      default: break
      }
    }
    guard scanner.isAtEnd(), isObject else { return nil }
    self = request
  }

  private init() {}

  private mutating func read(
    _ scanner: inout JSONScanner, _ add: (inout SignalKSubscribing, SignalKSubscription) -> Void
  ) {
    scanner.array { scanner in
      var (path, policy) = ("", SignalKRule.Policy.ideal)
      var period: Double?
      var minimum: Double?
      scanner.object { scanner, key in
        switch key {
        case "path": path = scanner.string()?.words(limit: SignalKSubscription.pathLimit + 1) ?? ""
        case "policy":
          policy =
            (scanner.string()?.words()).flatMap { SignalKRule.Policy(rawValue: $0) } ?? .ideal
        case "period": period = scanner.number()
        case "minPeriod": minimum = scanner.number()
        default: break
        }
      }
      let rule = SignalKRule(
        policy, period: period.map { $0 / 1_000 } ?? 1, minimum: minimum.map { $0 / 1_000 } ?? 0.2)
      guard let subscription = SignalKSubscription(path, rule),
        subscribe.count + unsubscribe.count < Self.limit
      else {
        refused += 1
        return
      }
      add(&self, subscription)
    }
  }
}
