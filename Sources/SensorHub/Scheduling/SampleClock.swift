import SensorTypes

/// When the conversions of a chip that queues them were complete, by the chip's own clock.
///
/// What comes in one burst has one moment that is known: that of the edge, or of the look. The others are whole periods
/// from it, and a chip's period may be percents from its nominal: it is measured over the conversions that came. A look
/// says of the newest only that it was complete within the period before; but a chip goes by its own clock, past that of
/// the looks, and what several looks allow together is little.
struct SampleClock {
  /// Seconds of conversions after which the measured period counts, and after which it is measured anew.
  private static let (shortest, longest) = (1.0, 10.0)
  /// What a chip's clock may be off; beyond it conversions were lost.
  private static let tolerance = 0.1
  /// What a measured period is good for at the best, as a share: a chip warms up.
  private static let leastDoubt = 1e-5

  /// Seconds, the measured one once there is one.
  private(set) var period: Double
  /// What the measured period may be off, as a share; `nil` until there is one.
  private var doubt: Double?
  private let nominal: Double
  /// Between which moments the newest conversion was complete.
  private var bounds: (earliest: Timestamp, latest: Timestamp)?
  /// Where measuring has begun, and the seconds that this may be off.
  private var origin: (time: Timestamp, doubt: Double)?
  private var conversions = 0

  init(rate: Double) {
    nominal = 1 / rate
    period = nominal
  }

  /// When the newest of `count` conversions was complete, which one look at `now` has brought. The pin has risen (`edge`)
  /// when `batch` of them were there.
  mutating func newest(
    of count: Int, batch: Int, edge: Timestamp?, now: Timestamp
  ) -> Timestamp {
    var bounds = (earliest: now.advanced(bySeconds: -period), latest: now)
    if let edge {
      let moment = edge.advanced(bySeconds: Double(count - batch) * period)
      bounds = (moment, moment)
    } else if let counted = counted(on: count) {
      let earliest = max(bounds.earliest, counted.earliest)
      let latest = min(bounds.latest, counted.latest)
      // Where nothing is allowed by both, the chip's clock has gone its way since it was measured.
      if earliest <= latest { bounds = (earliest, latest) }
    }
    self.bounds = bounds
    let half = bounds.latest.seconds(since: bounds.earliest) / 2
    let newest = bounds.earliest.advanced(bySeconds: half)
    measure(count, until: newest, within: half)
    return newest
  }

  /// Between which moments the last of `count` conversions after those before was complete.
  private func counted(on count: Int) -> (earliest: Timestamp, latest: Timestamp)? {
    guard let bounds, let doubt else { return nil }
    let passed = Double(count) * period
    return (
      bounds.earliest.advanced(bySeconds: passed * (1 - doubt)),
      bounds.latest.advanced(bySeconds: passed * (1 + doubt))
    )
  }

  private mutating func measure(_ count: Int, until newest: Timestamp, within half: Double) {
    guard let origin else {
      self.origin = (newest, half)
      return
    }
    conversions += count
    let elapsed = newest.seconds(since: origin.time)
    guard elapsed >= Self.shortest else { return }
    let measured = elapsed / Double(conversions)
    let doubt = max(Self.leastDoubt, (half + origin.doubt) / elapsed)
    let isBetter = elapsed >= Self.longest || doubt <= self.doubt ?? .infinity
    if abs(measured / nominal - 1) < Self.tolerance, isBetter {
      (period, self.doubt) = (measured, doubt)
    }
    if elapsed >= Self.longest || measured / nominal > 1 + Self.tolerance {
      self.origin = (newest, half)
      conversions = 0
    }
  }

  /// Conversions were lost: those that were counted say nothing any more. What the period was it is still.
  mutating func forget() {
    (origin, bounds, doubt) = (nil, nil, nil)
    conversions = 0
  }
}
