package import SensorTypes

/// Leaves out observations, so that a log of weeks stays small: one of each kind in each interval, the newest.
///
/// An event is never left out and never waits: a loss and its end, another reason, a change between a receiver's positions and
/// those that are carried on, what a sensor's state changes to, an error. The observation before a loss comes out with it.
package struct LineThinning {
  /// An observation that comes out.
  package struct ThinnedObservation: Equatable {
    package var observation: Observation
    /// The number of observations of its kind that were left out since the last one.
    package var skipped: Int
  }

  /// What a kind of observation says besides its numbers. A change of it is an event.
  private enum Condition: Hashable {
    case given(isSure: Bool, isCarried: Bool, cause: Int?, trueCause: Int? = nil)
    case missing(Int)
  }

  private struct Waiting {
    var observation: Observation
    var skipped: Int
    /// Its place among all that have come.
    var order: Int
  }

  /// Seconds between two lines of a kind.
  package let interval: Double
  private var waiting: [LineKind: Waiting] = [:]
  private var conditions: [LineKind: Condition] = [:]
  private var due: Timestamp
  private var count = 0

  /// - Parameters:
  ///   - interval: Seconds between two lines of a kind, above zero.
  ///   - start: The time from which the intervals are counted.
  package init(every interval: Double, from start: Timestamp) {
    self.interval = interval
    due = start.advanced(bySeconds: interval)
  }

  /// Returns the seconds until the end of the interval; none or less where it is over.
  package func left(at now: Timestamp) -> Double { due.seconds(since: now) }

  /// Takes an observation. Returns what comes out at once, in order.
  package mutating func take(_ observation: Observation) -> [ThinnedObservation] {
    guard let condition = Self.condition(observation) else {
      return [ThinnedObservation(observation: observation, skipped: 0)]
    }
    let kind = LineKind(observation)
    count += 1
    guard conditions.updateValue(condition, forKey: kind) == condition else {
      let last = waiting.removeValue(forKey: kind).map(Self.thinned)
      return [last, ThinnedObservation(observation: observation, skipped: 0)].compactMap { $0 }
    }
    let skipped = waiting[kind].map { $0.skipped + 1 } ?? 0
    waiting[kind] = Waiting(observation: observation, skipped: skipped, order: count)
    return []
  }

  /// Returns the newest observation of each kind where the interval is over, in order.
  package mutating func drain(at now: Timestamp) -> [ThinnedObservation] {
    let late = -left(at: now)
    guard late >= 0 else { return [] }
    // The next end of an interval that is still to come.
    due = due.advanced(bySeconds: (late / interval).rounded(.down) * interval + interval)
    return drainAll()
  }

  /// Returns the newest observation of each kind, in order.
  package mutating func drainAll() -> [ThinnedObservation] {
    defer { waiting.removeAll(keepingCapacity: true) }
    return waiting.values.sorted { $0.order < $1.order }.map(Self.thinned)
  }

  private static func thinned(_ waiting: Waiting) -> ThinnedObservation {
    ThinnedObservation(observation: waiting.observation, skipped: waiting.skipped)
  }

  /// What a change is seen by; `nil` for an observation that is an event in itself.
  private static func condition(_ observation: Observation) -> Condition? {
    switch observation {
    case .heading(let heading):
      .given(
        isSure: heading.accuracy != nil, isCarried: false, cause: heading.reason?.cause,
        trueCause: heading.trueReason?.cause)
    case .location(let location):
      .given(
        isSure: location.fix.isValid, isCarried: location.carried != nil, cause: nil)
    case .altitude, .absoluteAltitude, .sky, .motion:
      .given(isSure: true, isCarried: false, cause: nil)
    case .waves(let waves):
      .given(isSure: waves.heave != nil, isCarried: false, cause: nil)
    case .headingUnavailable(let reason, _), .locationUnavailable(let reason, _),
      .altitudeUnavailable(let reason, _), .wavesUnavailable(let reason, _):
      .missing(reason.cause)
    // One kind of line has several sensors here.
    case .motionUnavailable, .sensor, .diagnostic: nil
    }
  }
}

extension NoData {
  /// A number for each case. The texts of a reason have figures in them, which change all the time.
  fileprivate var cause: Int {
    switch self {
    case .notEquipped: 0
    case .noBoard: 1
    case .notYet: 2
    case .sensorLost: 3
    case .uncalibrated: 4
    case .magneticInterference: 5
    case .tiltUnknown: 6
    case .vehicleUndeclared: 7
    case .positionUnknown: 8
    case .dateUnknown: 9
    case .modelInvalid: 10
    case .noFix: 11
    case .notAuthorized: 12
    }
  }
}
