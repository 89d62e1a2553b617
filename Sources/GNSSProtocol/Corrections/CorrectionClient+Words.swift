// The messages that explain missing corrections.

import SensorTypes

extension CorrectionClient {
  /// The most mountpoints that a message names.
  private static let namedMountpoints = 8

  func refusal(_ status: Int, _ words: String) -> String {
    switch status {
    case 401 where source.credentials == nil:
      "the caster wants a user name and a password (401): 'credentials' in the board file"
    case 401: "wrong user name or password (401)"
    case 403: "this user may not use \(source.mountpoint) (403)"
    case 404: missingMountpoint([])
    case 503: "the caster is overloaded (503)"
    default: "the caster answers \(status)" + (words.isEmpty ? "" : " '\(words)'")
    }
  }

  static func cause(ofStatus status: Int) -> CorrectionFailureCause {
    switch status {
    case 401, 403: .login
    case 404: .mountpoint
    default: .caster
    }
  }

  /// What a caster says that sends its table in place of a stream.
  func missingMountpoint(_ known: [String]) -> String {
    let text = "there is no mountpoint '\(source.mountpoint)'"
    guard !known.isEmpty else { return text }
    guard !known.contains(source.mountpoint) else {
      return "mountpoint '\(source.mountpoint)' is in the caster's table and gives nothing now"
    }
    // Those that differ in capitals, or begin alike, first: a slip of the pen is the usual reason.
    let wanted = source.mountpoint.lowercased()
    func distance(_ name: String) -> Int {
      let name = name.lowercased()
      if name == wanted { return 0 }
      return 1_000 - zip(name, wanted).prefix { $0 == $1 }.count
    }
    let ordered = known.enumerated().sorted {
      (distance($0.element), $0.offset) < (distance($1.element), $1.offset)
    }
    let named = ordered.prefix(Self.namedMountpoints).map(\.element).joined(separator: ", ")
    let rest = known.count - min(known.count, Self.namedMountpoints)
    return "\(text); there are \(named)" + (rest > 0 ? " and \(rest) more" : "")
  }

  var statusPhase: CorrectionStatus.CorrectionPhase {
    switch phase {
    case .idle: .idle
    case .awaitingPosition: .awaitingPosition
    case .connecting: .connecting
    case .requesting, .readingTable: .requesting
    case .receiving: .receiving
    case .pausing: .pausing
    }
  }
}

/// Why there are no corrections, as far as it decides what mends it.
package enum CorrectionFailureCause: Sendable, Hashable, CaseIterable {
  /// There is no connection, or no answer.
  case unreachable
  /// What answers is no caster.
  case foreign
  /// The caster wants a user name and a password, or others.
  case login
  /// There is no such mountpoint, or it gives nothing.
  case mountpoint
  /// The caster fails, or sends what is of no use.
  case caster
}

/// The frames, and the bytes of none, of the last seconds.
struct RecentFrames: Sendable {
  private static let seconds = Int64(CorrectionStatus.window)
  private var slots = [(second: Int64, frames: Int, bytes: Int, rejected: Int)](
    repeating: (.min, 0, 0, 0), count: CorrectionStatus.window)

  mutating func add(bytes: Int, at now: Timestamp) {
    let place = place(of: now)
    slots[place].frames += 1
    slots[place].bytes += bytes
  }

  mutating func add(rejected: Int, at now: Timestamp) { slots[place(of: now)].rejected += rejected }

  private mutating func place(of now: Timestamp) -> Int {
    let second = now.nanoseconds / 1_000_000_000
    let place = Int((second % Self.seconds + Self.seconds) % Self.seconds)
    if slots[place].second != second { slots[place] = (second, 0, 0, 0) }
    return place
  }

  func sum(at now: Timestamp) -> (frames: Int, bytes: Int, rejected: Int) {
    let second = now.nanoseconds / 1_000_000_000
    return slots.reduce((0, 0, 0)) { sum, slot in
      slot.second > second - Self.seconds && slot.second <= second
        ? (sum.0 + slot.frames, sum.1 + slot.bytes, sum.2 + slot.rejected) : sum
    }
  }
}
