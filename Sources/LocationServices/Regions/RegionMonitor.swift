// The regions of the application, and questions about regions.

import Geodesy
import SensorTypes

/// All regions that are watched, whoever has asked for it: the SDK shares them among an application's managers, and keeps
/// those of each monitor apart. The limit is one for all of them.
struct RegionMonitor: Sendable {
  /// How many regions an application may have, as in the SDK.
  static let most = 20
  /// How long a question waits for a position, seconds.
  static let patience = 10.0
  /// How many questions may wait; one more is answered at once.
  static let mostQuestions = 100
  /// The shortest and the longest time between two positions, seconds, and the speed at which the board may approach a
  /// boundary in between, m/s.
  private static let (shortest, longest, speed) = (5.0, 60.0, 30.0)

  private struct Question: Sendable {
    let client: ClientID
    let region: MonitoredRegion
    let deadline: Timestamp
  }

  var watches: [MonitoredEntry] = []
  private var questions: [Question] = []

  var regions: [MonitoredRegion] { watches.map(\.region) }

  /// Seconds that may lie between two positions for those who hear of a monitor's regions, or of the managers'; `nil` where
  /// they need none.
  func interval(of monitor: String?) -> Double? {
    // Questions are the managers'.
    if monitor == nil, !questions.isEmpty { return ClientLocation.shortestInterval }
    let circles = watches.lazy.filter { $0.region.beacons == nil && $0.region.monitor == monitor }
    guard !circles.isEmpty else { return nil }
    var interval = Self.longest
    for watch in circles {
      guard let distance = watch.distance else { return ClientLocation.shortestInterval }
      let wait = watch.judge.isUndecided ? Self.shortest : distance / Self.speed
      interval = min(interval, max(wait, Self.shortest))
    }
    return interval
  }

  /// When a question is to be answered at the latest.
  var deadline: Timestamp? { questions.lazy.map(\.deadline).min() }

  /// The state of a region that is watched.
  func state(of key: RegionKey) -> RegionState? {
    watches.first { $0.region.key == key }?.judge.state
  }

  /// Watches a region, in the place of one with the same name; returns why it cannot. The same circle keeps what is
  /// known of it.
  mutating func start(
    _ region: MonitoredRegion, state: RegionState = .unknown
  ) -> RegionProblem? {
    if let problem = region.problem { return .unfit(problem) }
    if let index = watches.firstIndex(where: { $0.region.key == region.key }) {
      if watches[index].region.hasShape(of: region) {
        watches[index].region = region
      } else {
        watches[index] = MonitoredEntry(region: region, judge: RegionStateDetector(state: state))
      }
      return nil
    }
    guard watches.count < Self.most else { return .tooMany(Self.most) }
    watches.append(MonitoredEntry(region: region, judge: RegionStateDetector(state: state)))
    return nil
  }

  mutating func stop(_ key: RegionKey) { watches.removeAll { $0.region.key == key } }

  /// Holds what is known of a region to be another state: what was found since then was told nobody.
  mutating func reset(_ key: RegionKey, to state: RegionState) {
    guard let index = watches.firstIndex(where: { $0.region.key == key }) else { return }
    watches[index].judge = RegionStateDetector(state: state)
  }

  /// Another board speaks now: what it says is not held against the other one's distances.
  mutating func forget() {
    for index in watches.indices {
      watches[index].judge = RegionStateDetector(state: watches[index].judge.state)
      watches[index].distance = nil
    }
  }

  /// Takes a position, and tells what it says of regions and in answer to questions. Regions of which nobody hears are
  /// left as they are: a crossing stays to be made.
  mutating func take(
    _ report: LocationReport, distance: LocationEngine.Distance, isHeard: (String?) -> Bool,
    tell: (RegionEvent) -> Void, answer: (ClientID, RegionEvent) -> Void
  ) {
    guard let accuracy = report.horizontalAccuracy else { return }
    for index in watches.indices
    where watches[index].region.beacons == nil && isHeard(watches[index].region.monitor) {
      let region = watches[index].region
      let metres = distance(region.center, report.position)
      watches[index].distance = abs(metres - region.radius)
      let before = watches[index].judge.state
      guard
        let state = watches[index].judge.take(
          metres, of: region.radius, accuracy: accuracy, at: report.time)
      else { continue }
      let kind: RegionEventKind = before == .unknown ? .settled(state) : .crossed(to: state)
      tell(RegionEvent(region: region, kind: kind, time: report.time, utc: report.utc))
    }
    guard !questions.isEmpty else { return }
    let waiting = questions
    questions = []
    for question in waiting {
      let state = judge(question.region, report, distance) ?? .unknown
      answer(
        question.client,
        RegionEvent(region: question.region, kind: .answered(state), time: report.time))
    }
  }

  /// Answers where the board is, at once where that is known, else with the next position.
  mutating func ask(
    _ region: MonitoredRegion, by client: ClientID, at now: Timestamp, _ known: LocationReport?,
    distance: LocationEngine.Distance, answer: (ClientID, RegionEvent) -> Void
  ) {
    func tell(_ state: RegionState) {
      answer(client, RegionEvent(region: region, kind: .answered(state), time: now))
    }
    if let state = state(of: region.key), state != .unknown { return tell(state) }
    // A position says nothing of beacons.
    if region.beacons != nil { return tell(.unknown) }
    if let known, now.seconds(since: known.time) <= LocationEngine.locationLifetime,
      let state = judge(region, known, distance)
    {
      return tell(state)
    }
    guard region.problem == nil, questions.count < Self.mostQuestions else { return tell(.unknown) }
    questions.append(
      Question(client: client, region: region, deadline: now.advanced(bySeconds: Self.patience)))
  }

  /// Answers the questions whose time is over.
  mutating func advance(to now: Timestamp, answer: (ClientID, RegionEvent) -> Void) {
    guard let deadline, now >= deadline else { return }
    let over = questions.filter { now >= $0.deadline }
    questions.removeAll { now >= $0.deadline }
    for question in over {
      answer(
        question.client, RegionEvent(region: question.region, kind: .answered(.unknown), time: now))
    }
  }

  /// Forgets a client's questions.
  mutating func release(_ client: ClientID) { questions.removeAll { $0.client == client } }

  /// By one position alone; `nil` where it does not say.
  private func judge(
    _ region: MonitoredRegion, _ report: LocationReport, _ distance: LocationEngine.Distance
  ) -> RegionState? {
    if let state = state(of: region.key), state != .unknown { return state }
    guard let accuracy = report.horizontalAccuracy, region.problem == nil else { return nil }
    let state = RegionStateDetector.side(
      distance(region.center, report.position), of: region.radius, accuracy: accuracy)
    return state == .unknown ? nil : state
  }
}

struct MonitoredEntry: Sendable {
  var region: MonitoredRegion
  var judge: RegionStateDetector
  /// Of beacons: since when none was heard, by a radio that listens.
  var silentSince: Timestamp?
  /// Metres to the boundary when it was last known.
  var distance: Double?
}
