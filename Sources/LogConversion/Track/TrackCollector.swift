import GNSSProtocol
package import SensorTypes

/// Keeps the way of a log for a picture: places with their accuracies, a stretch for each that is without a gap.
///
/// A class, because the reader that fills it is not the one who draws it.
package final class TrackCollector: LogWriter {
  /// The most places that are kept. Beyond that every second is given up, but for the ends of a stretch; of a way in very
  /// many pieces the oldest.
  static let capacity = 1 << 17

  /// What belongs together, in order.
  private(set) var stretches: [[TrackPoint]] = []
  /// How many places there were for each that is kept.
  package private(set) var thinning = 1
  /// How many of the first places are left out.
  package private(set) var leftOut = 0
  private var gaps = TrackGaps()
  private var isOpen = false
  private var count = 0
  private var skipped = 0

  var places: [TrackPoint] { stretches.flatMap { $0 } }

  package func beginLog(named name: String, _ text: inout [UInt8]) { interrupt(&text) }

  package func append(_ fix: GNSSFix, to text: inout [UInt8]) {
    guard let place = fix.place else { return interrupt(&text) }
    if gaps.isBroken(before: fix) { close() }
    let next = TrackPoint(
      latitude: place.latitude, longitude: place.longitude, accuracy: fix.horizontalAccuracy,
      utc: fix.utc)
    if !isOpen { stretches.append([]) }
    let last = stretches.count - 1
    // The newest is always there, in the place of those that are given up.
    if isOpen, skipped + 1 < thinning, stretches[last].count > 1 {
      skipped += 1
      stretches[last][stretches[last].count - 1] = next
    } else {
      skipped = 0
      stretches[last].append(next)
      count += 1
    }
    isOpen = true
    if count > Self.capacity { thin() }
  }

  package func interrupt(_ text: inout [UInt8]) {
    close()
    gaps.reset()
  }

  private func close() { isOpen = false }

  private func thin() {
    let thinned = stretches.map { stretch in
      stretch.indices.filter { $0.isMultiple(of: 2) || $0 == stretch.count - 1 }.map { stretch[$0] }
    }
    count = thinned.reduce(0) { $0 + $1.count }
    if count <= Self.capacity * 3 / 4 {
      stretches = thinned
      thinning *= 2
      return
    }
    // Stretches of one or two places cannot be thinned: the older half goes.
    count = stretches.reduce(0) { $0 + $1.count }
    var first = 0
    while count > Self.capacity / 2, first < stretches.count - 1 {
      count -= stretches[first].count
      leftOut += stretches[first].count
      first += 1
    }
    stretches.removeFirst(first)
  }

  package init() {}
}

/// A place of the way.
struct TrackPoint {
  var latitude: Double
  var longitude: Double
  /// The radius within which it is, metres; nil where nobody said so.
  var accuracy: Double?
  /// Seconds since 1970-01-01.
  var utc: Double?
}
