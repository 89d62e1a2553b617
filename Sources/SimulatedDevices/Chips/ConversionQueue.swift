// The queue (FIFO) of a chip: bytes of whole samples, of which the oldest give way.

/// What waits in a chip to be read.
struct ConversionQueue: Sendable {
  /// What gives way to a sample for which there is no room.
  enum QueueOverflowPolicy: Sendable {
    /// So many bytes as it takes: a queue that ran over begins anywhere.
    case bytes
    case samples
    case itself
  }

  private var bytes: ByteQueue
  private let capacity: Int
  /// The byte that was read last: that of an empty queue.
  private(set) var last: UInt8 = 0
  /// Something was lost since it was emptied.
  private(set) var hasOverrun = false

  init(capacity: Int) {
    self.capacity = capacity
    bytes = ByteQueue(capacity: capacity)
  }

  /// Bytes that were not read.
  var level: Int { bytes.count }

  mutating func empty() { self = ConversionQueue(capacity: capacity) }

  mutating func push(_ sample: [UInt8], _ way: QueueOverflowPolicy) {
    if bytes.free < sample.count { hasOverrun = true }
    switch way {
    case .bytes: while bytes.free < sample.count { _ = bytes.takeFirst() }
    case .samples: while bytes.free < sample.count { for _ in sample { _ = bytes.takeFirst() } }
    case .itself: break
    }
    bytes.append(sample)
  }

  /// The oldest byte, or `nil` of an empty queue.
  mutating func next() -> UInt8? {
    let byte = bytes.takeFirst()
    last = byte ?? last
    return byte
  }

  /// How many more samples of `size` bytes make `threshold` bytes; `nil` where they are there.
  func missing(to threshold: Int, size: Int) -> Int64? {
    let missing = threshold - level
    return missing > 0 ? Int64((missing + size - 1) / size) : nil
  }
}

/// A chip that can queue every conversion.
protocol QueueingTwin: ConvertingTwin {
  var isQueueing: Bool { get }

  /// Takes note of the conversions that are complete by a time.
  mutating func finish(until time: Int64)
}

extension QueueingTwin {
  /// One after the other for the queue; otherwise the newest is all that can be read.
  package mutating func finish() {
    if isQueueing { while nextConversion < core.now { finish(until: nextConversion) } }
    finish(until: core.now)
  }

  /// When the pin rises for the last of so many conversions.
  func rise(after count: Int64) -> Int64 {
    core.schedule.isIdle ? .max : core.schedule.next &+ (count - 1) &* core.schedule.period
  }
}

extension InertialCounts {
  /// Six bytes of three numbers, high bytes first.
  static func bigEndian(_ values: SIMD3<Int16>) -> [UInt8] {
    (0..<6).map { bigEndian(values, $0) }
  }

  /// Six bytes of three numbers, low bytes first.
  static func littleEndian(_ values: SIMD3<Int16>) -> [UInt8] {
    (0..<6).map { littleEndian(values, $0) }
  }
}
