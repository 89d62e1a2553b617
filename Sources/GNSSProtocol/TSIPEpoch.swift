import SensorTypes

/// An epoch that comes in several reports of a Trimble receiver, or in one.
///
/// Position and velocity have one time of fix; satellites, dimensions and corrections belong to the position before them. The report of
/// corrections is the last of a fix; without it the next position, or the word that there is none, ends it.
struct TSIPEpoch: Sendable {
  /// So far a report of the time may be from the fix, in seconds: both come every second or every five.
  private static let nearby = 8.0
  private static let week = 604_800.0

  private var fix: GNSSFix?
  private var timeOfFix = 0.0
  /// The newest time that was reported: seconds of GPS time, and GPS time minus UTC.
  private var time: (gps: Double, leapSeconds: Double)?
  /// What was said last of dimensions and of corrections.
  private var mode: FixMode?
  private var isCorrected: Bool?
  /// UTC of the timing report that a place follows.
  private var timing: Double?
  /// Whether epochs come whole.
  private var hasWhole = false
  private var finished: (GNSSFix?, GNSSFix?)

  mutating func take(_ report: TSIPReport, received: Timestamp) {
    switch report {
    case .time(let gpsTime, let leapSeconds): time = (gpsTime, leapSeconds)
    case .place(let latitude, let longitude, let time):
      guard !hasWhole else { return }
      if time != timeOfFix { close() }
      var fix = self.fix ?? GNSSFix(received: received)
      fix.setPlace(latitude, longitude)
      (self.fix, timeOfFix) = (fix, time)
    case .velocity(let velocity, let time):
      guard time == timeOfFix else { return }
      fix?.setVelocity(east: velocity.x, north: velocity.y)
      fix?.verticalSpeed = velocity.z
    case .satellites(let mode, let pdop, let hdop, let vdop, let count):
      self.mode = mode
      guard var fix else { return }
      fix.satellitesUsed = count
      (fix.pdop, fix.hdop, fix.vdop) = (pdop, hdop, vdop)
      self.fix = fix
    case .corrections(let isCorrected):
      self.isCorrected = isCorrected
      close()
    case .health(let hasFix):
      guard !hasFix, !hasWhole, timing == nil else { return }
      close()
      var none = GNSSFix(received: received)
      none.kind = FixKind.none
      give(none)
    case .machine: break
    case .epoch(var fix):
      (hasWhole, fix.received) = (true, received)
      if fix.kind == nil { fix.set(kind: kind) }
      give(fix)
    case .timing(let utc): timing = utc
    case .timingPlace(var fix):
      fix.received = received
      fix.utc = timing
      fix.timeOfDay = timing.map { $0 - ($0 / 86_400).rounded(.down) * 86_400 }
      give(fix)
    }
  }

  private var kind: FixKind? { isCorrected.map { $0 ? .differential : .autonomous } }

  /// Ends the epoch under way.
  mutating func close() {
    guard var fix else { return }
    self.fix = nil
    fix.mode = max(mode ?? .twoDimensional, .twoDimensional)
    fix.set(kind: kind)
    if let utc {
      (fix.utc, fix.timeOfDay) = (utc, utc - (utc / 86_400).rounded(.down) * 86_400)
    }
    give(fix)
  }

  mutating func next() -> GNSSFix? {
    defer { finished = (finished.1, nil) }
    return finished.0
  }

  private mutating func give(_ fix: GNSSFix) {
    if finished.0 == nil { finished.0 = fix } else { finished.1 = fix }
  }

  /// UTC of the fix. Its time is by GPS or by UTC, as the receiver is set: it is near to the reported time in one of them.
  private var utc: Double? {
    guard let time else { return nil }
    func ahead(_ seconds: Double) -> Double {
      let difference = (timeOfFix - seconds).truncatingRemainder(dividingBy: Self.week)
      return difference > Self.week / 2
        ? difference - Self.week : difference < -Self.week / 2 ? difference + Self.week : difference
    }
    let (byGPS, byUTC) = (ahead(time.gps), ahead(time.gps - time.leapSeconds))
    guard abs(byGPS) <= Self.nearby || abs(byUTC) <= Self.nearby else { return nil }
    let difference = abs(byGPS) <= abs(byUTC) ? byGPS : byUTC
    return LeapSeconds.utc(gpsTime: time.gps + difference, leapSeconds: time.leapSeconds)
  }
}
