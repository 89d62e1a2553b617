// Which messages of NMEA 2000 are sent, and how often.

/// When the messages of a node are due.
package typealias NMEA2000Schedule = MessageSchedule<NMEA2000Entry>

/// A parameter group that a node sends by itself.
package struct NMEA2000Entry: ScheduledMessage {
  package var pgn: UInt32
  /// The time between two messages in seconds.
  package var interval: Double
  /// 0 to 7; 0 goes first.
  package var priority: UInt8

  package init(pgn: UInt32, interval: Double, priority: UInt8) {
    (self.pgn, self.interval, self.priority) = (pgn, interval, priority)
  }

  /// All that there is, with the intervals and priorities of canboat's database. Heave has no interval there: that it is sent five times a
  /// second is chosen, because waves have periods from 2 s on.
  package static let all: [NMEA2000Entry] = [
    NMEA2000Entry(pgn: NMEA2000PGN.heading, interval: 0.1, priority: 2),
    NMEA2000Entry(pgn: NMEA2000PGN.rateOfTurn, interval: 0.1, priority: 2),
    NMEA2000Entry(pgn: NMEA2000PGN.heave, interval: 0.2, priority: 3),
    NMEA2000Entry(pgn: NMEA2000PGN.attitude, interval: 1, priority: 3),
    NMEA2000Entry(pgn: NMEA2000PGN.variation, interval: 1, priority: 7),
    NMEA2000Entry(pgn: NMEA2000PGN.position, interval: 0.1, priority: 2),
    NMEA2000Entry(pgn: NMEA2000PGN.courseAndSpeed, interval: 0.25, priority: 2),
    NMEA2000Entry(pgn: NMEA2000PGN.gnssPosition, interval: 1, priority: 3),
    NMEA2000Entry(pgn: NMEA2000PGN.dilutions, interval: 1, priority: 6),
    NMEA2000Entry(pgn: NMEA2000PGN.satellites, interval: 1, priority: 6),
    NMEA2000Entry(pgn: NMEA2000PGN.systemTime, interval: 1, priority: 3),
    NMEA2000Entry(pgn: NMEA2000PGN.timeAndDate, interval: 1, priority: 3),
    NMEA2000Entry(pgn: NMEA2000PGN.environmentObsolete, interval: 0.5, priority: 5),
    NMEA2000Entry(pgn: NMEA2000PGN.environment, interval: 0.5, priority: 5),
    NMEA2000Entry(pgn: NMEA2000PGN.pressure, interval: 2, priority: 5),
    NMEA2000Entry(pgn: NMEA2000PGN.temperature, interval: 2, priority: 5),
  ]

  /// What is sent unless somebody chooses: all but heave, which not every board has, and what NMEA wants no more (130310 and 130311).
  package static let standard = all.filter {
    ![NMEA2000PGN.heave, NMEA2000PGN.environmentObsolete, NMEA2000PGN.environment].contains($0.pgn)
  }
}
