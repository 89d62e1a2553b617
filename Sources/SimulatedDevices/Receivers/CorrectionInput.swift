// RTCM 3 into a receiver that computes RTK (RTCM 10403.3, section 4; u-blox F9 HPG interface description UBX-21022436).

/// How a receiver uses corrections at an epoch.
struct CorrectionUse: Sendable, Hashable {
  /// The state of the carrier phases as NAV-PVT gives it: 0 none, 1 float, 2 fixed ambiguities.
  var carrier = 0
  /// Seconds since the newest observations of the station; `nil` for a position without corrections.
  var age: Double?

  /// NAV-PVT's class of the age: 0 where there is none, 12 for 120 s and more.
  var ageClass: Int {
    guard let age else { return 0 }
    let bounds = [1.0, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120]
    return 1 + (bounds.firstIndex { age < $0 } ?? bounds.count)
  }

  /// The share of the errors of an autonomous position that is left.
  var errorShare: Double { [1, 0.2, 0.01][carrier] }
}

/// What a receiver has made of the corrections so far.
///
/// With a station's place and three rounds of observations it has a float solution, and fixed ambiguities 10 s later. Without
/// observations it falls back to float after 20 s and to none after 60 s.
struct CorrectionInput: Sendable {
  private static let neededRounds = 3
  private static let fixTime: Int64 = 10_000_000_000
  private static let floatAge: Int64 = 20_000_000_000
  private static let longestAge: Int64 = 60_000_000_000

  private var frame: [UInt8] = []
  private var hasStation = false
  private var rounds = 0
  private var newest: Int64?
  /// Since when it could resolve the ambiguities.
  private var since: Int64 = 0

  /// Hears a byte, in whatever protocol, at a time in nanoseconds.
  mutating func take(_ byte: UInt8, at time: Int64) {
    frame.append(byte)
    while let first = frame.first {
      guard first == 0xD3, frame.count < 2 || frame[1] >> 2 == 0 else {
        frame.removeFirst()
        continue
      }
      guard frame.count >= 3 else { return }
      let length = Int(frame[1]) * 256 + Int(frame[2])
      guard frame.count >= length + 6 else { return }
      guard Self.remainder(frame) == 0 else {
        frame.removeFirst()
        continue
      }
      if length >= 2 { take(message: Int(frame[3]) * 16 + Int(frame[4] >> 4), at: time) }
      frame.removeAll(keepingCapacity: true)
    }
  }

  private mutating func take(message: Int, at time: Int64) {
    switch message {
    case 1_005, 1_006: hasStation = true
    case 1_071...1_137 where (1...7).contains(message % 10):
      let gap = newest.map { time &- $0 } ?? .max
      if gap >= Self.longestAge { rounds = 0 }
      // Frames of one epoch are one round.
      if gap >= 500_000_000 { rounds += 1 }
      if gap >= Self.floatAge || rounds <= Self.neededRounds { since = time }
      newest = time
    default: break
    }
  }

  /// How an epoch at a time in nanoseconds uses them.
  func use(at time: Int64) -> CorrectionUse {
    guard hasStation, rounds >= Self.neededRounds, let newest, time &- newest < Self.longestAge
    else {
      return CorrectionUse()
    }
    let age = max(0, time &- newest)
    let isFixed = age < Self.floatAge && time &- since >= Self.fixTime
    return CorrectionUse(carrier: isFixed ? 2 : 1, age: Double(age) / 1e9)
  }

  /// The remainder of a frame with its check sum, divided by CRC-24Q's polynomial bit by bit: 0 for a whole frame.
  private static func remainder(_ frame: [UInt8]) -> UInt32 {
    var register: UInt32 = 0
    for byte in frame {
      for bit in stride(from: 7, through: 0, by: -1) {
        register = register << 1 | UInt32(byte >> UInt8(bit) & 1)
        if register >> 24 & 1 == 1 { register ^= 0x186_4CFB }
      }
    }
    return register
  }
}
