// A u-blox receiver on I2C: DDC, u-blox's way of putting a byte stream behind three registers.

package import SensorTypes

/// The twin of a receiver at 0x42: 0xFD and 0xFE tell how many bytes wait, 0xFF gives them
/// (UBX-13003221, "DDC port").
package struct DDCReceiverTwin: ChipTwin {
  package let identityRegister: UInt8? = nil
  /// Faults that act inside the chip.
  package var tampering = Tampering()
  private var receiver: ReceiverTwin
  private var now = Timestamp(nanoseconds: 0)
  private var answersFrom: Int64 = 0
  /// The count as it was when its high byte was read, so that both bytes belong together.
  private var announced = 0
  private var noise: UInt64 = 0

  /// Seconds after which a message that nobody fetches is lost ("DDC port": about 1.5).
  private static let patience = 1.5

  /// Puts a receiver behind DDC.
  package init(_ receiver: ReceiverTwin) { self.receiver = receiver }

  /// Applies power: registers take their reset values and the start-up time begins.
  package mutating func powerOn(at time: Timestamp) {
    receiver.powerOn(at: time)
    answersFrom = time.nanoseconds &+ 200_000_000
  }

  /// Whether the chip acknowledges its address: not while it starts up.
  package func answers(at now: Timestamp) -> Bool { now.nanoseconds >= answersFrom }

  /// Finishes every conversion that is complete by that time.
  package mutating func advance(to now: Timestamp) {
    self.now = now
    receiver.advance(to: now)
    receiver.dropWaiting(since: now.advanced(bySeconds: -Self.patience))
    if tampering.isSilent { receiver.dropOutput() }
  }

  /// The register that follows in the same transfer.
  ///
  /// The stream's register stays where it is.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    register == 0xFF ? 0xFF : register + 1
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0xFD:
      announced = min(0xFFFF, receiver.available(at: now))
      return UInt8(truncatingIfNeeded: announced >> 8)
    case 0xFE: return UInt8(truncatingIfNeeded: announced)
    // With nothing to send the receiver leaves the line high.
    case 0xFF:
      guard let byte = receiver.takeByte(at: now) else { return 0xFF }
      guard tampering.isGarbage else { return byte }
      noise &+= 1
      var random = SeededGenerator(seed: UInt64(byte), index: noise)
      return UInt8(truncatingIfNeeded: random.next())
    default: return 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {}

  /// Writes bytes in one transaction.
  ///
  /// Two bytes or more are no register but a message: the sub-address is its first byte.
  package mutating func write(
    _ subaddress: UInt8, from bytes: UnsafeRawBufferPointer, now: Timestamp
  ) {
    advance(to: now)
    guard bytes.count > 0 else { return }
    receiver.receive(subaddress, at: now)
    for byte in bytes { receiver.receive(byte, at: now) }
  }

  /// When the next conversion will be complete, or `nil` while the chip is idle.
  package func nextDataReady(after now: Timestamp) -> Timestamp? {
    receiver.nextArrival(after: now)
  }

  /// The newest rising edge of the interrupt pin since the last call.
  package mutating func takeEdge(at now: Timestamp) -> Timestamp? { nil }

  /// When the interrupt pin will rise next, or `nil` if nothing can raise it.
  package mutating func nextEdge(at now: Timestamp) -> Timestamp? { nil }
}
