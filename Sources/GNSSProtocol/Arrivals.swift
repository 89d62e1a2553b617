import SensorTypes

/// When the bytes of a buffer have arrived: one mark for each time that some came.
///
/// Of constant size: with too many marks every second one is dropped, and the bytes behind it count with those
/// before.
struct Arrivals: Sendable {
  static let capacity = 128

  private var marks: [(place: Int, time: Timestamp)] = []
  /// The mark that the newest question was about: places are asked for in order.
  private var current = 0

  init() { marks.reserveCapacity(Self.capacity) }

  /// The bytes from `place` on, which is beyond all others, arrived at `time`.
  mutating func add(place: Int, _ time: Timestamp) {
    if let last = marks.last {
      if last.time == time { return }
      if last.place == place { marks.removeLast() }
    }
    if marks.count == Self.capacity { thin() }
    marks.append((place, time))
    current = min(current, marks.count - 1)
  }

  /// When the byte at `place` arrived.
  mutating func time(of place: Int) -> Timestamp {
    while current + 1 < marks.count, marks[current + 1].place <= place { current += 1 }
    return marks.isEmpty ? Timestamp(nanoseconds: 0) : marks[current].time
  }

  /// The first `count` bytes are gone; no earlier one is asked for again.
  mutating func removeFirst(_ count: Int) {
    guard !marks.isEmpty else { return }
    _ = time(of: count)
    marks.removeFirst(current)
    current = 0
    for index in marks.indices { marks[index].place = max(0, marks[index].place - count) }
  }

  private mutating func thin() {
    for index in 0..<Self.capacity / 2 { marks[index] = marks[2 * index] }
    marks.removeLast(Self.capacity / 2)
    current /= 2
  }
}
