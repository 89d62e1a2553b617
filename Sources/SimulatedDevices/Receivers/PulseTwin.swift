// A receiver's time pulse. Written from u-blox's interface description of generation 9 (UBX-18010854, UBX-CFG-TP5:
// aligned to the top of the second, rising there with polarity 1, another length once the time is valid).

import SensorTypes

/// What can be wrong with a receiver's pulse, or with its wire.
package enum PulseFault: Sendable, Hashable {
  case missing
  /// A second pulse so many seconds after each, less than 0.8.
  case doubled(after: Double)
  /// Ten pulses a second.
  case tenfold
  /// The output is low in the pulse, and high else.
  case inverted
  /// One a second that is so many seconds late, less than 0.8, whether the receiver has a fix or not: its own clock's.
  case unlocked(late: Double)
}

/// The time pulse as it is usually set: one at each second of UTC while there is a fix, 100 ms long, rising on the
/// second. Before a fix it has no length; a receiver whose pulse goes on then is `PulseFault.unlocked`.
struct PulseTwin: Sendable {
  /// Seconds within the second of UTC between which the output is high.
  private typealias Shape = [ClosedRange<Double>]

  /// Seconds from power-on to the first fix.
  private static let hotStart = 2.0
  private static let length = 0.1
  /// The kernel keeps so many edges for who does not come for them.
  private static let queue = 16
  /// What an interrupt waits at the most, seconds: a pulse's rise on a board that is not busy.
  private static let interruptLatency = 20e-6

  var fault: PulseFault?
  private let world: SimulatedWorld
  private let seed: UInt64
  private let isExact: Bool
  private var poweredAt = Timestamp(nanoseconds: 0)
  /// Edges up to here were taken.
  private var taken: Timestamp

  init(world: SimulatedWorld, seed: UInt64, isExact: Bool, openedAt now: Timestamp) {
    self.world = world
    self.seed = seed
    self.isExact = isExact
    taken = now
  }

  mutating func powerOn(at time: Timestamp) { poweredAt = time }

  /// The rising edges since the last call.
  mutating func takeEdges(at now: Timestamp) -> (newest: Timestamp, count: Int)? {
    let from = max(taken, now.advanced(bySeconds: -Double(Self.queue)))
    taken = now
    var found: (newest: Timestamp, count: Int)?
    var second = beginning(of: from)
    while second <= now {
      for edge in rises(in: second) where edge > from && edge <= now {
        found = (edge, min(Self.queue, (found?.count ?? 0) + 1))
      }
      second = second.advanced(bySeconds: 1)
    }
    return found
  }

  /// Whether the output is high.
  func level(at now: Timestamp) -> Bool {
    let second = beginning(of: now)
    let place = now.seconds(since: second)
    return shape(of: second).contains { $0.contains(place) }
  }

  /// When it will rise next; `nil` where nothing raises it within two seconds.
  func nextEdge(after now: Timestamp) -> Timestamp? {
    var second = beginning(of: now)
    for _ in 0..<3 {
      if let edge = rises(in: second).first(where: { $0 > taken }) { return edge }
      second = second.advanced(bySeconds: 1)
    }
    return nil
  }

  /// The whole second of UTC that a moment lies in.
  private func beginning(of time: Timestamp) -> Timestamp {
    // The world begins at one.
    let passed = time.nanoseconds &- world.start.nanoseconds
    let place = (passed % 1_000_000_000 &+ 1_000_000_000) % 1_000_000_000
    return Timestamp(nanoseconds: time.nanoseconds &- place)
  }

  private func rises(in second: Timestamp) -> [Timestamp] {
    shape(of: second).map { pulse in
      var random = SeededGenerator(
        seed: seed, stream: 70, index: UInt64(bitPattern: second.nanoseconds))
      let late = isExact ? 0 : random.unit() * Self.interruptLatency
      return second.advanced(bySeconds: pulse.lowerBound + late)
    }
  }

  private func shape(of second: Timestamp) -> Shape {
    if case .unlocked(let late) = fault { return [late...(late + Self.length)] }
    guard second.seconds(since: poweredAt) >= Self.hotStart, world.truth(at: second).hasFix else {
      return []
    }
    switch fault {
    case nil, .unlocked: return [0...Self.length]
    case .missing: return []
    case .doubled(let after): return [0...(after / 2), after...(after + Self.length)]
    case .tenfold: return (0..<10).map { Double($0) / 10...(Double($0) / 10 + Self.length / 2) }
    case .inverted: return [Self.length...1]
    }
  }
}
