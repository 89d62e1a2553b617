// Regions that are beacons: inside is where one is heard.

import SensorTypes

/// The beacons of a region that is watched.
package struct MonitoredBeacons: Hashable, Codable, Sendable {
  package var constraint: BeaconConstraint
  /// Whether being inside is to be told when a display is switched on; it is kept, a board has none.
  package var notifiesOnDisplay: Bool

  package init(_ constraint: BeaconConstraint, notifiesOnDisplay: Bool = false) {
    (self.constraint, self.notifiesOnDisplay) = (constraint, notifiesOnDisplay)
  }
}

extension RegionMonitor {
  /// Seconds of listening without a word after which the board is outside. Beacons speak ten times a second to once in
  /// ten; a body between them and the board may hide them for a while.
  static let silence = 30.0

  /// Whether the radio is to listen, for those whose regions are heard of.
  func wantsBeacons(_ isHeard: (String?) -> Bool) -> Bool {
    watches.contains { $0.region.beacons != nil && isHeard($0.region.monitor) }
  }

  /// When a silence will have become an absence.
  var beaconDeadline: Timestamp? {
    watches.lazy.compactMap { watch in
      guard watch.judge.state != .outside else { return nil }
      return watch.silentSince?.advanced(bySeconds: Self.silence)
    }.min()
  }

  /// The radio listens: silences are counted from here on, of those regions that none was counted of.
  mutating func beginBeacons(at now: Timestamp) {
    for index in watches.indices where watches[index].region.beacons != nil {
      watches[index].silentSince = watches[index].silentSince ?? now
    }
  }

  /// The radio listens no more: silence says nothing.
  mutating func endBeacons() {
    for index in watches.indices { watches[index].silentSince = nil }
  }

  /// Takes what was heard, and tells of it those that hear of the region; without any, entering it stays to be told.
  mutating func take(
    _ sighting: BeaconSighting, isHeard: (String?) -> Bool, tell: (RegionEvent) -> Void
  ) {
    for index in watches.indices {
      guard let beacons = watches[index].region.beacons,
        beacons.constraint.includes(sighting.advertisement.identity)
      else { continue }
      watches[index].silentSince = max(watches[index].silentSince ?? sighting.time, sighting.time)
      if isHeard(watches[index].region.monitor) { settle(index, .inside, sighting.time, tell) }
    }
  }

  /// Tells the absences that are due.
  mutating func advanceBeacons(
    to now: Timestamp, isHeard: (String?) -> Bool, tell: (RegionEvent) -> Void
  ) {
    for index in watches.indices where isHeard(watches[index].region.monitor) {
      guard let since = watches[index].silentSince, now.seconds(since: since) >= Self.silence
      else { continue }
      settle(index, .outside, now, tell)
    }
  }

  private mutating func settle(
    _ index: Int, _ state: RegionState, _ time: Timestamp, _ tell: (RegionEvent) -> Void
  ) {
    let before = watches[index].judge.state
    guard before != state else { return }
    watches[index].judge = RegionStateDetector(state: state)
    let kind: RegionEventKind = before == .unknown ? .settled(state) : .crossed(to: state)
    tell(RegionEvent(region: watches[index].region, kind: kind, time: time))
  }
}
