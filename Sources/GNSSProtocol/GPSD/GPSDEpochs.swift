import SensorTypes

/// Makes one fix an epoch of the reports that gpsd sends about it.
///
/// gpsd says a fix anew with every sentence that adds to it: up to twenty reports of one `time`, the last the
/// fullest. An epoch is given out
///
/// - with the report that ended each of the two epochs before it, counted from the first: at once;
/// - or when nothing more has come for 0.15 s, if it has what the epoch before it had (position, height,
///   speed);
/// - or 0.5 s after its first report, or with the first of another time.
///
/// What comes later of the same time is a repetition and gives nothing: a receiver that has stopped is not
/// made to live on. So is what comes late of an older one, as of a receiver that extrapolates between its
/// epochs.
struct GPSDEpochs: Sendable {
  /// Seconds without a further report after which a fix that lacks nothing is taken for whole.
  static let quietTime = 0.15
  /// Seconds after which any fix is.
  static let longestWait = 0.5

  /// A time before the newest is late by less than this, seconds; one further back, or later, is a new beginning.
  static let lateness = 1.5

  private var current: GNSSFix?
  private var moment: UTCMoment?
  /// The newest time so far, and when it was first said.
  private var newest: (moment: UTCMoment, received: Timestamp)?
  private var isOut = false
  private var count = 0
  private var lastHeard = Timestamp(nanoseconds: 0)
  private var finished: GNSSFix?
  /// How many reports an epoch has, when two in a row had as many.
  private var learned: Int?
  private var candidate: Int?
  /// What the newest epoch given out had.
  private var usual = (mode: FixMode.none, hasSpeed: false)

  /// Reports of a time that was given out already.
  private(set) var repetitions: UInt64 = 0

  /// When the newest time was said for the first and for the last time; `nil` before there was one.
  var standing: (since: Timestamp, until: Timestamp)? {
    guard isOut, moment != nil, let current else { return nil }
    return (current.received, lastHeard)
  }

  /// Takes a report of the time `moment`, which a report of no fix may lack.
  mutating func take(_ fix: GNSSFix, at moment: UTCMoment?, now: Timestamp) {
    if isLate(moment, now) {
      repetitions &+= 1
      return
    }
    if let moment, moment != newest?.moment { newest = (moment, now) }
    if current == nil || moment != self.moment || (moment == nil && isOut) {
      close()
      self.moment = moment
      current = fix
    } else {
      let received = current?.received ?? fix.received
      current = fix
      current?.received = received
    }
    lastHeard = now
    count += 1
    if isOut {
      repetitions &+= 1
      // It came after what was taken for the end: learn anew.
      learned = nil
    } else if count == learned, finished == nil {
      give()
    }
  }

  private func isLate(_ moment: UTCMoment?, _ now: Timestamp) -> Bool {
    // A leap second and the one after it have the same number.
    guard let moment, let newest, !moment.isLeapSecond, !newest.moment.isLeapSecond else {
      return false
    }
    let lag = newest.moment.utc - moment.utc
    return lag > 0 && max(lag, now.seconds(since: newest.received)) < Self.lateness
  }

  /// The next epoch that is whole by `now`.
  mutating func next(at now: Timestamp) -> GNSSFix? {
    if finished == nil, let due = nextDue, now >= due { give() }
    defer { finished = nil }
    return finished
  }

  /// When `next` has an epoch even if nothing more is heard; `nil` while none is under way.
  var nextDue: Timestamp? {
    guard let current, !isOut else { return nil }
    let latest = current.received.advanced(bySeconds: Self.longestWait)
    let lacksNothing =
      current.mode >= usual.mode && (current.speed != nil || !usual.hasSpeed)
    return lacksNothing ? min(latest, lastHeard.advanced(bySeconds: Self.quietTime)) : latest
  }

  /// Ends the epoch under way: nothing more will come of it.
  mutating func close() {
    guard current != nil else { return }
    if !isOut { give() }
    // Two epochs in a row that were as long make the rule.
    if candidate == count { learned = count }
    candidate = count
    current = nil
    moment = nil
    isOut = false
    count = 0
  }

  private mutating func give() {
    guard let current else { return }
    isOut = true
    finished = current
    usual = (current.mode, current.speed != nil)
  }
}
