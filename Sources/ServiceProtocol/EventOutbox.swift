// What waits for a program that reads its events slower than they arise.

package import LocationServices
import SensorTypes

/// The frames that wait to be written to one program, in order.
///
/// Measurements are superseded: of each kind and client the oldest are dropped beyond a limit, and all together once more bytes wait than may.
/// Everything else is kept. If the kept frames alone exceed the limit, the program is to be disconnected.
package struct EventOutbox: Sendable {
  /// The frames that share a limit.
  private enum Kind: Hashable {
    case measurements(ClientID, EventSource)
    case positions(ClientID)
    case observations(ClientID, ObservedQuantity)
    case readings(ClientID)
    case calibrationProgress

    /// The number of frames that may wait. A chip that delivers from its FIFO brings a burst of samples.
    var limit: Int {
      switch self {
      case .measurements, .observations: 32
      case .readings: 1_024
      case .positions: EventLimits.locations
      case .calibrationProgress: 1
      }
    }
  }

  private struct Entry {
    var frame: [UInt8]
    var kind: Kind?
  }

  /// The number of bytes that may wait.
  package let limit: Int
  /// The entries from `first` on; `nil` where one was dropped.
  private var entries: [Entry?] = []
  private var first = 0
  /// The number of dropped entries from `first` on.
  private var holes = 0
  /// No entry before this index can be dropped.
  private var droppable = 0
  /// The indices of the entries of a kind, the oldest first.
  private var places: [Kind: [Int]] = [:]
  private var keptCount = 0
  /// The number of bytes that wait.
  package private(set) var byteCount = 0
  /// The number of events that were dropped.
  package private(set) var dropped: UInt64 = 0

  package init(limit: Int) { self.limit = limit }

  package var isEmpty: Bool { byteCount == 0 }
  /// Whether more waits than may, and nothing of it can be dropped.
  package var isFull: Bool { keptCount > limit }
  /// The number of entries in memory, dropped ones included, for a test.
  var entryCount: Int { entries.count }

  /// Appends a frame that is kept.
  package mutating func append(_ frame: [UInt8]) { append(frame, nil) }

  /// Appends the frame of a calibration's progress, which replaces the one before.
  package mutating func append(progress frame: [UInt8]) { append(frame, .calibrationProgress) }

  /// Appends the frame of an event.
  package mutating func append(_ frame: [UInt8], of event: ServiceEvent) {
    append(frame, Self.kind(of: event))
  }

  private mutating func append(_ frame: [UInt8], _ kind: Kind?) {
    if let kind {
      if let waiting = places[kind], waiting.count >= kind.limit { drop(waiting[0]) }
      places[kind, default: []].append(entries.count)
    } else {
      keptCount += frame.count
    }
    byteCount += frame.count
    entries.append(Entry(frame: frame, kind: kind))
    while byteCount > limit, droppable < entries.count {
      if entries[droppable]?.kind != nil { drop(droppable) }
      droppable += 1
    }
    // A program that never reads must not make the list longer with every event.
    if holes > 64, 2 * holes > entries.count - first { compact() }
  }

  private mutating func drop(_ place: Int) {
    guard let entry = entries[place], let kind = entry.kind else { return }
    byteCount -= entry.frame.count
    entries[place] = nil
    forget(kind)
    dropped += 1
    holes += 1
  }

  /// Forgets the oldest entry of a kind.
  private mutating func forget(_ kind: Kind) {
    places[kind]?.removeFirst()
    if places[kind]?.isEmpty == true { places[kind] = nil }
  }

  /// Moves the entries together.
  private mutating func compact() {
    entries = entries[first...].filter { $0 != nil }
    (first, holes, droppable) = (0, 0, 0)
    places.removeAll(keepingCapacity: true)
    for (place, entry) in entries.enumerated() {
      if let kind = entry?.kind { places[kind, default: []].append(place) }
    }
  }

  /// Returns the next frame and removes it.
  package mutating func next() -> [UInt8]? {
    while first < entries.count {
      let entry = entries[first]
      entries[first] = nil
      first += 1
      droppable = max(droppable, first)
      guard let entry else {
        holes -= 1
        continue
      }
      byteCount -= entry.frame.count
      if let kind = entry.kind { forget(kind) } else { keptCount -= entry.frame.count }
      if first > 256, 2 * first > entries.count { compact() }
      return entry.frame
    }
    entries.removeAll(keepingCapacity: true)
    (first, droppable) = (0, 0)
    return nil
  }

  private static func kind(of event: ServiceEvent) -> Kind? {
    switch event.content {
    case .location: .positions(event.client)
    case .observation(let observation):
      ObservedQuantity(observation).map { .observations(event.client, $0) }
    case .reading: .readings(event.client)
    case .heading, .headingExpired, .altitude, .absoluteAltitude, .motion, .beacons:
      event.content.source.map { .measurements(event.client, $0) }
    default: nil
    }
  }
}

/// The quantities whose observations a newer one supersedes.
private enum ObservedQuantity: Hashable {
  case heading, location, altitude, absoluteAltitude, sky, motion, waves

  /// `nil` for an observation that none supersedes: a loss, news of a sensor, a diagnostic.
  init?(_ observation: Observation) {
    switch observation {
    case .heading: self = .heading
    case .location: self = .location
    case .altitude: self = .altitude
    case .absoluteAltitude: self = .absoluteAltitude
    case .sky: self = .sky
    case .motion: self = .motion
    case .waves: self = .waves
    case .headingUnavailable, .locationUnavailable, .altitudeUnavailable, .motionUnavailable,
      .wavesUnavailable, .sensor, .diagnostic:
      return nil
    }
  }
}
