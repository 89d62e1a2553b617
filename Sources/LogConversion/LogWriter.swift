package import GNSSProtocol
package import OutputProtocols
package import SensorTypes
import TerminalUI

/// Turns what a receiver said into text of one format, piece by piece: nothing is kept but what the format itself
/// has to have together.
package protocol LogWriter {
  /// Whether epochs are all that it has a place for.
  var takesEpochsAlone: Bool { get }
  /// What stands ahead of everything.
  mutating func begin(_ text: inout [UInt8])
  /// The first of a log, or of a recording.
  mutating func beginLog(named name: String, _ text: inout [UInt8])
  mutating func append(_ fix: GNSSFix, to text: inout [UInt8])
  mutating func append(_ satellites: [GNSSSatellite], to text: inout [UInt8])
  mutating func append(_ heading: ReceiverHeading, to text: inout [UInt8])
  mutating func append(_ identity: ReceiverIdentity, to text: inout [UInt8])
  /// What follows is not joined to what came before.
  mutating func interrupt(_ text: inout [UInt8])
  mutating func endLog(_ text: inout [UInt8])
  /// What stands behind everything.
  mutating func end(_ text: inout [UInt8])
}

// Most formats have places for positions alone.
extension LogWriter {
  package var takesEpochsAlone: Bool { true }
  package mutating func begin(_ text: inout [UInt8]) {}
  package mutating func beginLog(named name: String, _ text: inout [UInt8]) {}
  package mutating func append(_ satellites: [GNSSSatellite], to text: inout [UInt8]) {}
  package mutating func append(_ heading: ReceiverHeading, to text: inout [UInt8]) {}
  package mutating func append(_ identity: ReceiverIdentity, to text: inout [UInt8]) {}
  package mutating func interrupt(_ text: inout [UInt8]) {}
  package mutating func endLog(_ text: inout [UInt8]) {}
  package mutating func end(_ text: inout [UInt8]) {}
}

/// JSON lines, as `monitor` prints them.
extension ObservationLines: LogWriter {
  package var takesEpochsAlone: Bool { false }
}

/// Tells where a track is broken: no epoch may join places that the receiver has not been asked about in between.
struct TrackGaps {
  /// A pause that is none yet, seconds, whatever the rhythm.
  private static let shortest = 10.0
  /// A pause is one where it is so many times the time between the two epochs before.
  private static let factor = 3.0

  private var last: (utc: Double?, timeOfDay: Double?)?
  private var step: Double?

  /// Whether the track is broken between the epoch before and this one.
  mutating func isBroken(before fix: GNSSFix) -> Bool {
    defer { last = (fix.utc, fix.timeOfDay) }
    guard let last else { return false }
    let elapsed: Double
    if let utc = fix.utc, let before = last.utc {
      elapsed = utc - before
    } else if let time = fix.timeOfDay, let before = last.timeOfDay {
      // Midnight may lie between.
      elapsed = time < before - 43_200 ? time - before + 86_400 : time - before
    } else {
      return false
    }
    defer { step = elapsed }
    return elapsed < 0 || step.map { elapsed > max(Self.shortest, Self.factor * $0) } ?? false
  }

  /// What comes is another track.
  mutating func reset() { (last, step) = (nil, nil) }
}

extension GNSSFix {
  /// The place, where there is one that the receiver itself believes.
  var place: (latitude: Double, longitude: Double)? {
    guard mode > .none, isValid, let latitude, let longitude, abs(latitude) <= 90,
      abs(longitude) <= 180
    else { return nil }
    return (latitude, longitude)
  }
}
