import SensorBus

/// A receiver's I2C port that corrections are written to as well: what `CorrectedStream` is for a line.
///
/// I2C has no buffer between, and a bus has other chips: a transfer holds it for as long as its bytes take, 23 ms for 255 of them at
/// 100 kHz. So each look at the port, which begins with the count of waiting bytes, is followed by `bytesPerLook` at most, in transfers
/// that may each be a part of a frame. At ten looks a second that is 2.5 kB/s, more than most stations send.
///
/// A transfer that the receiver does not acknowledge, because it is busy or gone, is counted and made again at the next look,
/// `attempts` times in all; then the frame is dropped, and why is kept for whoever says it. It is no failure of the receiver: one
/// that is gone is noticed by the next read.
final class CorrectedDevice: RegisterDevice {
  /// The most bytes that follow a look at the port.
  static let bytesPerLook = 255
  /// Attempts at one transfer, the first among them.
  static let attempts = 3
  /// Bytes of one transfer: what `RegisterDevice` takes, with the one in the place of a register.
  private static let longest = 255
  /// The high byte of the number of waiting bytes (u-blox M8 protocol description, section "DDC Port").
  private static let countRegister: UInt8 = 0xFD

  private let base: any RegisterDevice
  private let feed: CorrectionFeed
  /// What is left of a frame.
  private var rest: ArraySlice<UInt8> = []
  /// Whether some of it has left.
  private var hasBegun = false
  private var failures = 0

  init(_ base: any RegisterDevice, feed: CorrectionFeed) { (self.base, self.feed) = (base, feed) }

  var retries: UInt64 { base.retries }

  func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try base.listen(into: buffer)
  }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try base.read(register, into: buffer)
    if register == Self.countRegister { pass(atMost: Self.bytesPerLook) }
  }

  /// Sends a command. It waits for the end of a frame that has begun, for it would be taken for a part of it; a frame has 1029
  /// bytes at most. Where the port does not take that end, `attempts` times, the frame is dropped and the command fails.
  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    while hasBegun {
      if let failure = sendPiece(atMost: Self.longest), !hasBegun { throw failure }
    }
    try base.write(register, from: bytes)
  }

  private func pass(atMost limit: Int) {
    var left = limit
    // A transfer has two bytes at least.
    while left >= 2 {
      if rest.isEmpty {
        guard let frame = feed.take() else { return }
        guard frame.count >= 2 else { continue }
        (rest, failures) = (frame[...], 0)
      }
      let before = rest.count
      guard sendPiece(atMost: left) == nil else { return }
      left -= before - rest.count
    }
  }

  /// Sends the next piece of the frame; returns why the receiver did not take it.
  private func sendPiece(atMost limit: Int) -> BusError? {
    let length = Self.pieceLength(of: rest.count, atMost: limit)
    let piece = Array(rest.prefix(length))
    guard let first = piece.first else { return nil }
    let failure: BusError? = piece.withUnsafeBytes { bytes in
      do throws(BusError) {
        try base.write(first, from: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        return nil
      } catch { return error }
    }
    if let failure {
      failures += 1
      feed.refused()
      if failures >= Self.attempts { drop(because: failure) }
      return failure
    }
    failures = 0
    rest = rest.dropFirst(length)
    hasBegun = !rest.isEmpty
    if rest.isEmpty { feed.passed() }
    return nil
  }

  private func drop(because failure: BusError) {
    (rest, hasBegun, failures) = ([], false, 0)
    feed.lost(because: failure.description)
  }

  /// How many bytes of a frame go in one transfer: two at least, and not all but one, which would be a register.
  static func pieceLength(of count: Int, atMost limit: Int) -> Int {
    let length = min(count, limit, longest)
    guard count - length == 1 else { return length }
    return length > 2 ? length - 1 : length + 1
  }
}
