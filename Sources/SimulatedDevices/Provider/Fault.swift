// What can go wrong with a simulated chip, and when.

import SensorTypes

/// Something that goes wrong with a chip or a receiver for a while.
package enum SimulatedFault: Sendable, Hashable {
  /// The wire is off: no address is acknowledged, a serial port is gone. When it ends the chip comes
  /// back with power-on reset values.
  case noAnswer
  /// Transfers time out, as when a chip holds the clock line low. A serial port falls silent.
  case timeout
  /// Every transfer takes this long, as when a chip stretches the clock. One that takes longer than the
  /// bus allows times out. A serial port has no transfers and does not notice.
  case slow(seconds: Double)
  /// Every so-many-th attempt at a transfer, 1 at least, is lost to noise or another master (`EAGAIN`), as by a cable that
  /// is too long or pull-ups that are too weak. The bus repeats it at once. A serial port does not notice.
  case disturbed(every: Int)
  /// Reads end after this many bytes with an error.
  case shortRead(bytes: Int)
  /// The identity register reads as this.
  case wrongIdentity(UInt8)
  /// At the beginning the chip loses its registers to a dip in its supply, and goes on answering.
  case brownOut
  /// The output registers keep their value while conversions go on.
  case stuckData
  /// The chip holds the data line low: what is read is zeros, what is written is lost, and both seem to be
  /// acknowledged.
  case stuckLow
  /// Reads of this register come with the bits of `mask` inverted.
  case bitFlip(register: UInt8, mask: UInt8)
  /// The chip's self-test moves its sensors by this share of what it should: 0 for a broken actuator. Of one axis alone (0
  /// for X), or of all.
  case selfTestDeflection(share: Double, axis: Int? = nil)
  /// What is measured lies beyond every range of the chip.
  case overflow
  /// Something is wrong with what the kernel offers of a chip that it owns.
  case kernel(KernelFault)
  /// Something is wrong with a receiver's pulse per second.
  case pulse(PulseFault)
  /// A receiver sends nothing.
  case receiverSilent
  /// A receiver's bytes arrive as noise, as at a wrong rate.
  case receiverGarbage
}

/// The faults of one chip over time.
struct FaultSchedule: Sendable {
  private struct Entry: Sendable {
    var fault: SimulatedFault
    var from: Timestamp
    var until: Timestamp
    /// Whether the loss of power that this fault brings has been dealt with.
    var isSpent = false
  }

  /// What is wrong at one moment.
  struct Active: Sendable {
    var isUnplugged = false
    var timesOut = false
    /// Seconds that a transfer takes.
    var delay = 0.0
    /// Which attempts at a transfer are disturbed: every so-many-th.
    var disturbance: Int?
    var readLimit: Int?
    var tampering = Tampering()
    var kernel: [KernelFault] = []
    var pulse: PulseFault?
    /// Power was lost since the last look and is back since then.
    var poweredOn: Timestamp?
  }

  private var entries: [Entry] = []

  /// Adds a fault, and forgets those that are over.
  mutating func add(_ fault: SimulatedFault, from: Timestamp, until: Timestamp, now: Timestamp) {
    entries.removeAll { entry in
      switch entry.fault {
      case .brownOut: entry.isSpent
      case .noAnswer: entry.isSpent
      default: entry.until <= now
      }
    }
    entries.append(Entry(fault: fault, from: from, until: until))
  }

  /// Ends every fault at `now`; what was unplugged comes back with reset values.
  mutating func end(at now: Timestamp) {
    entries.removeAll { $0.from > now || $0.isSpent }
    for index in entries.indices { entries[index].until = min(entries[index].until, now) }
  }

  mutating func evaluate(at now: Timestamp) -> Active {
    var active = Active()
    for index in entries.indices where now >= entries[index].from {
      let entry = entries[index]
      let isOver = now >= entry.until
      switch entry.fault {
      case .noAnswer:
        if !isOver {
          active.isUnplugged = true
        } else if !entry.isSpent {
          entries[index].isSpent = true
          active.poweredOn = max(active.poweredOn ?? entry.until, entry.until)
        }
      case .brownOut:
        if !entry.isSpent {
          entries[index].isSpent = true
          active.poweredOn = max(active.poweredOn ?? entry.from, entry.from)
        }
      case _ where isOver: break
      case .timeout: active.timesOut = true
      case .slow(let seconds): active.delay = max(active.delay, seconds)
      case .disturbed(let every): active.disturbance = max(1, every)
      case .shortRead(let bytes): active.readLimit = max(0, bytes)
      case .wrongIdentity(let identity): active.tampering.identity = identity
      case .stuckData: active.tampering.isFrozen = true
      case .stuckLow: active.tampering.isHeldLow = true
      case .bitFlip(let register, let mask):
        active.tampering.flippedRegister = register
        active.tampering.flippedBits = mask
      case .selfTestDeflection(let share, let axis):
        for index in 0..<3 where axis == nil || axis == index {
          active.tampering.selfTestShare[index] = share
        }
      case .overflow: active.tampering.isOverloaded = true
      case .kernel(let fault): active.kernel.append(fault)
      case .pulse(let fault): active.pulse = fault
      case .receiverSilent: active.tampering.isSilent = true
      case .receiverGarbage: active.tampering.isGarbage = true
      }
    }
    return active
  }
}
