// What a u-blox receiver reports of its antenna and its surroundings (u-blox 6 receiver description GPS.G6-SW-10018, MON-HW; u-blox M8
// protocol description UBX-13003221, NAV-STATUS and NAV-TIMELS; u-blox M9 interface description UBX-19035940, MON-RF).

import LinearAlgebra

/// The numbers of the interface descriptions.
package struct SimulatedCondition: Sendable, Hashable {
  /// 0 starting, 1 not known, 2 connected, 3 shorted, 4 open.
  package var antenna: UInt8 = 2
  /// 0 not known, 1 none that matters, 2 with a position, 3 without one.
  package var jamming: UInt8 = 1
  /// 0 not known, 1 none, 2 one sign, 3 several.
  package var spoofing: UInt8 = 1
  /// The next leap second.
  package var leapSecond: SimulatedLeapSecond?

  package struct SimulatedLeapSecond: Sendable, Hashable {
    /// 1 for one that is inserted, -1 for one that is left out.
    package var change: Int
    /// The midnight behind it, seconds of UTC since 1970-01-01.
    package var midnight: Double

    package init(change: Int, midnight: Double) {
      (self.change, self.midnight) = (change, midnight)
    }
  }

  package init() {}
}

extension MessageBuilder {
  /// MON-HW: 68 bytes of a u-blox 6, 60 of later ones, which have fewer pins.
  mutating func writeHardware(_ condition: SimulatedCondition, length: Int) {
    beginUBX(0x0A, 0x09)
    append(0, bytes: 16)
    append(95, bytes: 2)
    append(4_000, bytes: 2)
    append(Int64(condition.antenna), bytes: 1)
    // The supply is on, unless the antenna is shorted.
    append(condition.antenna == 3 ? 0 : 1, bytes: 1)
    append(Int64(condition.jamming) << 2 | 1, bytes: 1)
    for _ in 23..<length { append(0, bytes: 1) }
    endUBX()
  }

  /// MON-RF of one band, and of a second that hears nothing wrong.
  mutating func writeRadio(_ condition: SimulatedCondition) {
    beginUBX(0x0A, 0x38)
    append(0, bytes: 1)
    append(2, bytes: 1)
    append(0, bytes: 2)
    for band in 0..<2 {
      append(Int64(band), bytes: 1)
      append(band == 0 ? Int64(condition.jamming) : min(1, Int64(condition.jamming)), bytes: 1)
      append(Int64(condition.antenna), bytes: 1)
      append(condition.antenna == 3 ? 0 : 1, bytes: 1)
      append(0, bytes: 8)
      append(95, bytes: 2)
      append(4_000, bytes: 2)
      append(0, bytes: 8)
    }
    endUBX()
  }

  /// The rest of NAV-STATUS, 16 bytes.
  mutating func writeStatus(_ s: ReceiverSolution, _ condition: SimulatedCondition) {
    append(s.hasFix ? 3 : 0, bytes: 1)
    append((s.hasFix ? 0x01 : 0) | (s.knowsTime ? 0x0C : 0), bytes: 1)
    append(0, bytes: 1)
    append(Int64(condition.spoofing) << 3, bytes: 1)
    append(28_000, bytes: 4)
    append(600_000, bytes: 4)
  }

  /// The rest of NAV-TIMELS, 24 bytes: GPS tells of a leap second, or of none.
  mutating func writeLeapSecond(_ s: ReceiverSolution, _ condition: SimulatedCondition) {
    append(0, bytes: 4)
    append(2, bytes: 1)
    append(18, bytes: 1)
    append(condition.leapSecond == nil ? 0 : 2, bytes: 1)
    append(Int64(condition.leapSecond?.change ?? 0), bytes: 1)
    // The last day before it: weeks of 7 days since 1980-01-06, which is day 3657; days of a week from 1.
    let last = condition.leapSecond.map { Int(($0.midnight / 86_400).rounded()) - 1 - 3_657 } ?? 0
    let seconds =
      Double(last + 1) * 86_400 - Double(s.time.week) * 604_800 - Double(s.time.timeOfWeek) / 1000
    append(condition.leapSecond == nil ? 0 : Int64((seconds + 18).rounded()), bytes: 4)
    append(condition.leapSecond == nil ? 0 : Int64(last / 7), bytes: 2)
    append(condition.leapSecond == nil ? 0 : Int64(last % 7 + 1), bytes: 2)
    append(0, bytes: 3)
    append(s.knowsTime ? 0x03 : 0, bytes: 1)
  }
}
