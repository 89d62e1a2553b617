// The receiver's output buffer and its input parser, both of fixed size.

/// A ring of bytes that never grows.
struct ByteQueue: Sendable {
  private var storage: [UInt8]
  private var head = 0
  /// How many bytes wait.
  private(set) var count = 0

  init(capacity: Int) {
    storage = [UInt8](repeating: 0, count: max(1, capacity))
  }

  var free: Int { storage.count - count }

  /// Appends all of `bytes`, or none if they do not fit.
  mutating func append(_ bytes: [UInt8]) {
    guard bytes.count <= free else { return }
    for byte in bytes {
      storage[(head + count) % storage.count] = byte
      count += 1
    }
  }

  mutating func takeFirst() -> UInt8? {
    guard count > 0 else { return nil }
    defer {
      head = (head + 1) % storage.count
      count -= 1
    }
    return storage[head]
  }

  mutating func removeAll() {
    head = 0
    count = 0
  }
}

/// Finds frames of UBX, or of a protocol that has them with another beginning, of up to 512 bytes of payload in what the host sends; the
/// rest is ignored.
struct FrameParser: Sendable {
  private enum Step: Sendable {
    case sync1, sync2, messageClass, identity, length1, length2, payload, checksum1, checksum2
  }

  /// The two bytes that a frame begins with.
  private let sync: FrameSync

  private(set) var messageClass: UInt8 = 0
  private(set) var identity: UInt8 = 0
  /// Bytes of payload.
  private(set) var length = 0
  private var payload = [UInt8](repeating: 0, count: 512)
  private var step = Step.sync1
  private var filled = 0
  private var sumA: UInt8 = 0
  private var sumB: UInt8 = 0
  private var isSound = true

  init(sync: FrameSync = .ubx) { self.sync = sync }

  /// A byte of the payload; 0 beyond it.
  subscript(index: Int) -> UInt8 { index < length && index < payload.count ? payload[index] : 0 }

  /// An unsigned number of up to 8 bytes, least significant first.
  func number(at offset: Int, bytes: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<bytes { value |= UInt64(self[offset + index]) << UInt64(8 * index) }
    return value
  }

  /// Takes one byte; `true` when it completes a sound frame.
  mutating func take(_ byte: UInt8) -> Bool {
    if step != .sync1, step != .sync2, step != .checksum1, step != .checksum2 {
      sumA &+= byte
      sumB &+= sumA
    }
    switch step {
    case .sync1: if byte == sync.first { step = .sync2 }
    case .sync2:
      step =
        byte == sync.second ? .messageClass : byte == sync.first ? .sync2 : .sync1
      (sumA, sumB) = (0, 0)
    case .messageClass:
      messageClass = byte
      step = .identity
    case .identity:
      identity = byte
      step = .length1
    case .length1:
      length = Int(byte)
      step = .length2
    case .length2:
      length |= Int(byte) << 8
      filled = 0
      // A longer message than any that this receiver knows cannot be one.
      step = length > payload.count ? .sync1 : length == 0 ? .checksum1 : .payload
    case .payload:
      payload[filled] = byte
      filled += 1
      if filled == length { step = .checksum1 }
    case .checksum1:
      isSound = byte == sumA
      step = .checksum2
    case .checksum2:
      step = .sync1
      return isSound && byte == sumB
    }
    return false
  }
}

/// The two bytes that a frame begins with.
struct FrameSync: Sendable {
  let first: UInt8
  let second: UInt8

  static let ubx = FrameSync(first: 0xB5, second: 0x62)
  static let allystar = FrameSync(first: 0xF1, second: 0xD9)
}
