import SensorTypes

/// When the conversions of a chip that queues them were complete, by the chip's own clock.
///
/// What comes in one burst has one moment that is known: that of the edge, or of the look. The others are whole periods
/// from it, and a chip's period may be percents from its nominal: it is measured over the conversions that came.
struct SampleClock {
  /// Seconds of conversions after which the measured period counts, and after which it is measured anew.
  private static let (shortest, longest) = (1.0, 10.0)
  /// What a chip's clock may be off; beyond it conversions were lost.
  private static let tolerance = 0.1

  /// Seconds, the measured one once there is one.
  private(set) var period: Double
  private let nominal: Double
  private var origin: Timestamp?
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
    // Without an edge it was complete at some time since the one before it would have been.
    let newest =
      edge.map { $0.advanced(bySeconds: Double(count - batch) * period) }
      ?? now.advanced(bySeconds: -period / 2)
    guard let origin else {
      self.origin = newest
      return newest
    }
    conversions += count
    let elapsed = newest.seconds(since: origin)
    guard elapsed >= Self.shortest else { return newest }
    let measured = elapsed / Double(conversions)
    if abs(measured / nominal - 1) < Self.tolerance { period = measured }
    if elapsed >= Self.longest || measured / nominal > 1 + Self.tolerance {
      self.origin = newest
      conversions = 0
    }
    return newest
  }

  /// Conversions were lost: those that were counted say nothing any more.
  mutating func forget() {
    origin = nil
    conversions = 0
  }
}
