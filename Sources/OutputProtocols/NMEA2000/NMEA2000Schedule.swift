// Which messages are sent, and how often.

package import SensorTypes

/// The messages that a node sends by itself, and when each is due next.
package struct NMEA2000Schedule: Sendable {
  /// A parameter group and its interval in seconds.
  package struct Entry: Sendable, Hashable {
    package var pgn: UInt32
    package var interval: Double
    package var priority: UInt8
  }

  /// All that there is, with the intervals and priorities of canboat's database. Heave has no interval there: that it is sent five times a
  /// second is chosen, because waves have periods from 2 s on.
  package static let all: [Entry] = [
    Entry(pgn: NMEA2000PGN.heading, interval: 0.1, priority: 2),
    Entry(pgn: NMEA2000PGN.rateOfTurn, interval: 0.1, priority: 2),
    Entry(pgn: NMEA2000PGN.heave, interval: 0.2, priority: 3),
    Entry(pgn: NMEA2000PGN.attitude, interval: 1, priority: 3),
    Entry(pgn: NMEA2000PGN.variation, interval: 1, priority: 7),
    Entry(pgn: NMEA2000PGN.position, interval: 0.1, priority: 2),
    Entry(pgn: NMEA2000PGN.courseAndSpeed, interval: 0.25, priority: 2),
    Entry(pgn: NMEA2000PGN.gnssPosition, interval: 1, priority: 3),
    Entry(pgn: NMEA2000PGN.dilutions, interval: 1, priority: 6),
    Entry(pgn: NMEA2000PGN.satellites, interval: 1, priority: 6),
    Entry(pgn: NMEA2000PGN.systemTime, interval: 1, priority: 3),
    Entry(pgn: NMEA2000PGN.timeAndDate, interval: 1, priority: 3),
    Entry(pgn: NMEA2000PGN.environmentObsolete, interval: 0.5, priority: 5),
    Entry(pgn: NMEA2000PGN.environment, interval: 0.5, priority: 5),
    Entry(pgn: NMEA2000PGN.pressure, interval: 2, priority: 5),
    Entry(pgn: NMEA2000PGN.temperature, interval: 2, priority: 5),
  ]

  /// What is sent unless somebody chooses: all but heave, which not every board has, and what NMEA has declared obsolete.
  package static let standard = all.filter {
    ![NMEA2000PGN.heave, NMEA2000PGN.environmentObsolete, NMEA2000PGN.environment].contains($0.pgn)
  }

  /// The least interval in seconds: ten messages of one kind within the shortest interval of NMEA 2000.
  package static let shortestInterval = 0.01

  package let entries: [Entry]
  private var next: [Timestamp?]

  /// Makes a schedule in which everything is due at once. An interval that is no number, or too short, becomes the shortest.
  package init(_ entries: [Entry] = standard) {
    self.entries = entries.map {
      var entry = $0
      entry.interval =
        entry.interval >= Self.shortestInterval
        ? min(entry.interval, 3_600) : Self.shortestInterval
      return entry
    }
    next = Array(repeating: nil, count: entries.count)
  }

  /// Returns what is due, each once: what was missed is not sent later.
  package mutating func due(at now: Timestamp) -> [Entry] {
    var due: [Entry] = []
    for (index, entry) in entries.enumerated() {
      guard let time = next[index] else {
        next[index] = now.advanced(bySeconds: entry.interval)
        due.append(entry)
        continue
      }
      guard time <= now else { continue }
      let following = time.advanced(bySeconds: entry.interval)
      next[index] = following > now ? following : now.advanced(bySeconds: entry.interval)
      due.append(entry)
    }
    return due
  }

  /// When something is due next; `nil` where everything is due, or nothing ever is.
  package var deadline: Timestamp? {
    next.contains { $0 == nil } ? nil : next.compactMap { $0 }.min()
  }
}
