// The register-level model that every simulated chip is, and the transfer loop they share.

package import LinearAlgebra
package import SensorTypes

/// A chip as its datasheet's register map describes it.
///
/// A twin is a value with no clock of its own: every call says what time it is, and the twin first lives
/// up to that moment (`advance`). Time never runs backwards for one twin.
package protocol ChipTwin: Sendable {
  /// The register that tells which chip it is, or `nil` for a chip that has none.
  var identityRegister: UInt8? { get }

  /// Faults that act inside the chip.
  var tampering: Tampering { get set }

  /// Applies power at `time`: registers take their reset values, the start-up time begins.
  mutating func powerOn(at time: Timestamp)

  /// Whether the chip acknowledges its address: not while it starts up.
  func answers(at now: Timestamp) -> Bool

  /// Finishes every conversion that is complete by `now`.
  mutating func advance(to now: Timestamp)

  /// The register that a sub-address names: some chips keep flags in it.
  func firstRegister(_ subaddress: UInt8) -> UInt8

  /// The register that follows `register` in a transfer that began with `subaddress`.
  func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8

  /// Reads one register, with the side effects of reading it.
  mutating func readByte(_ register: UInt8) -> UInt8

  /// Writes one register, with the side effects of writing it.
  mutating func writeByte(_ register: UInt8, _ value: UInt8)

  /// Writes `bytes` in one transaction that began with `subaddress`.
  mutating func write(_ subaddress: UInt8, from bytes: UnsafeRawBufferPointer, now: Timestamp)

  /// When the next conversion will be complete after `now`, or `nil` while the chip is idle.
  func nextDataReady(after now: Timestamp) -> Timestamp?

  /// Whether the chip drives its interrupt pin high.
  var interruptLevel: Bool { get }

  /// The newest rising edge of the chip's interrupt pin since the last call.
  mutating func takeEdge(at now: Timestamp) -> Timestamp?

  /// When the interrupt pin will rise next: `now` if an edge is waiting, `nil` if no conversion can
  /// raise it (it is off, or still high because nobody read the data).
  mutating func nextEdge(at now: Timestamp) -> Timestamp?
}

extension ChipTwin {
  /// The sub-address is the register.
  package func firstRegister(_ subaddress: UInt8) -> UInt8 { subaddress }

  /// A transfer moves on from register to register.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 { register &+ 1 }

  /// A chip without an interrupt pin, or one that only pulses it, leaves the line low.
  package var interruptLevel: Bool { false }

  /// Reads `buffer.count` bytes in one transaction that began with `subaddress`.
  package mutating func read(
    _ subaddress: UInt8, into buffer: UnsafeMutableRawBufferPointer, now: Timestamp
  ) {
    advance(to: now)
    var register = firstRegister(subaddress)
    for index in 0..<buffer.count {
      buffer[index] = tampering.applied(
        to: readByte(register), of: register, identity: identityRegister)
      register = nextRegister(after: register, subaddress: subaddress)
    }
  }

  /// Writes bytes in one transaction.
  package mutating func write(
    _ subaddress: UInt8, from bytes: UnsafeRawBufferPointer, now: Timestamp
  ) {
    advance(to: now)
    var register = firstRegister(subaddress)
    for byte in bytes {
      writeByte(register, byte)
      register = nextRegister(after: register, subaddress: subaddress)
    }
  }

  /// Reads one register: for tests and tools; a driver goes through a `RegisterDevice`.
  package mutating func read(_ register: UInt8, now: Timestamp) -> UInt8 {
    var byte: UInt8 = 0
    withUnsafeMutableBytes(of: &byte) { read(register, into: $0, now: now) }
    return byte
  }

  /// Reads `count` bytes in one transaction: for tests and tools.
  package mutating func read(_ register: UInt8, count: Int, now: Timestamp) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.withUnsafeMutableBytes { read(register, into: $0, now: now) }
    return bytes
  }

  /// Writes one register: for tests and tools.
  package mutating func write(_ register: UInt8, _ value: UInt8, now: Timestamp) {
    withUnsafeBytes(of: value) { write(register, from: $0, now: now) }
  }
}

/// Faults that act inside a chip, as its transfers and conversions see them.
package struct Tampering: Sendable, Hashable {
  /// The output registers keep their value; conversions and data-ready go on.
  package var isFrozen = false
  /// The data line is held low: every bit that is read is zero, nothing that is written arrives.
  package var isHeldLow = false
  /// The measured quantity is far beyond every range of the chip.
  package var isOverloaded = false
  /// How much of its ordinary deflection a self-test brings about on each axis: 1 in a sound chip.
  package var selfTestShare = Vector3(repeating: 1)
  /// What the identity register reads as, in place of the truth.
  package var identity: UInt8?
  /// The register in which bits are flipped on their way to the host.
  package var flippedRegister: UInt8 = 0
  /// Which bits are flipped; 0 for none.
  package var flippedBits: UInt8 = 0

  /// A receiver sends nothing.
  package var isSilent = false
  /// A receiver's bytes are noise.
  package var isGarbage = false

  /// Makes tampering that does nothing.
  package init() {}

  func applied(to value: UInt8, of register: UInt8, identity identityRegister: UInt8?) -> UInt8 {
    if isHeldLow { return 0 }
    var value = value
    if let identity, register == identityRegister { value = identity }
    if register == flippedRegister { value ^= flippedBits }
    return value
  }

  /// Whether a chip that judges by itself finds an axis sound: what moves, or oscillates, does half of what it should.
  func finds(sound axis: Int) -> Bool { !isFrozen && selfTestShare[axis] >= 0.5 }

  /// The stimulus with the overload laid on top.
  func applied(to stimulus: Stimulus) -> Stimulus {
    guard isOverloaded else { return stimulus }
    var beyond = stimulus
    beyond.magneticField += 5000
    beyond.specificForce += 500
    beyond.angularRate += 100
    beyond.pressure = 200_000
    return beyond
  }
}
