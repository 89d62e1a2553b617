import LinearAlgebra
import SensorTypes

/// An epoch that comes in several UBX messages of one time of week.
struct UBXEpoch: Sendable {
  private(set) var timeOfWeek: UInt32?
  var fix = GNSSFix(received: Timestamp(nanoseconds: 0))
  var mode: FixMode?
  private var kinds = FixKindReport()
  /// The first epoch, if no message with a fix type has come yet: whether such messages come, the next epoch tells.
  private var held: GNSSFix?
  private var isFirst = true
  /// What the newest epoch said whose message of the fix type came. It holds for some that have lost this message.
  private var status: (mode: FixMode, kind: FixKind?, isValid: Bool)?
  private var epochsWithoutStatus = 0
  var solution = ECEFSolution()
  /// Seconds of GPS time since 1980-01-06.
  var gpsTime: Double?
  /// GPS time minus UTC, as the receiver has said it.
  var leapSeconds: Double?
  /// What puts right a date that is the receiver's, and no message's.
  var rollover: WeekRollover?
  /// A NAV-PVT has said all of it.
  private(set) var hasPVT = false
  /// The messages that have come of it, a bit each by their identity.
  private var parts: UInt64 = 0
  /// The last message of the epoch under way, the one that was last in the epoch before, and in how many epochs in a row that one was
  /// last.
  private var end: (current: UInt8, last: UInt8, repetitions: Int) = (0, 0, 0)
  /// A NAV-HPPOSLLH has come: finer digits, behind the NAV-PVT.
  var hasHighPrecision = false
  private var expectsHighPrecision = false
  private var wasEmitted = false
  /// An epoch, and whether it came whole: in a NAV-PVT, or in all messages that together say the same.
  private typealias Ended = (fix: GNSSFix, isPVT: Bool)
  /// One message may end two epochs: the one before, and its own. The first one may have been held.
  private var finished: (Ended?, Ended?, Ended?)

  /// The number of epochs without a message of the fix type after which the receiver is taken not to send it any more.
  private static let patience = 5

  /// The number of epochs in a row with the same last message after which this message ends an epoch.
  private static let steadyEpochs = 3

  /// NAV-POSLLH, NAV-SOL, NAV-VELNED and NAV-TIMEUTC, which say what a NAV-PVT says.
  private static let wholeEpoch: UInt64 = 1 << 0x02 | 1 << 0x06 | 1 << 0x12 | 1 << 0x21

  /// Whether an epoch ends with the message that has ended those before it.
  private let endsByRule: Bool

  init(rollover: WeekRollover?, endsByRule: Bool) {
    (self.rollover, self.endsByRule) = (rollover, endsByRule)
  }

  mutating func begin(_ time: UInt32, _ received: Timestamp) {
    guard time != timeOfWeek else { return }
    close()
    timeOfWeek = time
    fix = GNSSFix(received: received)
  }

  /// Ends the epoch under way, and gives out what was held: nothing more will come.
  mutating func endAll() {
    close()
    guard let fix = held else { return }
    held = nil
    finished = ((fix, false), finished.0, finished.1)
  }

  /// Takes the fix type of a message that has a part of the epoch, and whether the receiver vouches for it. A NAV-PVT has said both.
  mutating func take(type: UInt8, isDifferential: Bool, carrier: UInt8, isValid: Bool) {
    guard !hasPVT else { return }
    mode = UBXDecoder.mode(type)
    kinds.take(FixKind(ubx: type, isDifferential: isDifferential, carrier: carrier))
    fix.isValid = isValid
  }

  /// A whole epoch, in one message. It waits for finer digits where the epoch before had some.
  mutating func take(pvt fix: GNSSFix, timeOfWeek: UInt32) {
    begin(timeOfWeek, fix.received)
    let before = self.fix
    self.fix = fix
    (self.fix.hdop, self.fix.vdop) = (before.hdop, before.vdop)
    if hasHighPrecision, fix.mode > .none {
      (self.fix.latitude, self.fix.longitude) = (before.latitude, before.longitude)
      (self.fix.altitude, self.fix.ellipsoidalAltitude) = (
        before.altitude, before.ellipsoidalAltitude
      )
    }
    (mode, hasPVT) = (fix.mode, true)
    settle()
  }

  /// Notes that a message with a part of the epoch has come. It ends the epoch where it has ended those before.
  mutating func took(part id: UInt8) {
    guard id < 64 else { return }
    parts |= 1 << UInt64(id)
    end.current = id
    if endsByRule, !hasPVT, isWhole, id == end.last, end.repetitions >= Self.steadyEpochs {
      finish()
    }
  }

  private var isWhole: Bool { hasPVT || parts & Self.wholeEpoch == Self.wholeEpoch }

  /// Gives the epoch out as soon as all that it waits for is there.
  mutating func settle() {
    if hasPVT, hasHighPrecision || !expectsHighPrecision { finish() }
  }

  /// Gives an epoch out that is of a time before `timeOfDay`, by another protocol's word: what it lacks comes too late.
  mutating func finish(before timeOfDay: Double) {
    let time =
      fix.timeOfDay
      ?? gpsTime.map { ($0 - leapSeconds(at: $0)).truncatingRemainder(dividingBy: 86_400) }
    if let time, secondsOfDay(from: time, to: timeOfDay) > 1e-3 { finish() }
  }

  private func leapSeconds(at gpsTime: Double) -> Double {
    leapSeconds ?? LeapSeconds.before(gpsTime: gpsTime)
  }

  /// Whether `next` has an epoch: an answer that costs less than an epoch's place.
  var hasEnded: Bool { if case .some = finished.0 { true } else { false } }

  mutating func next() -> (fix: GNSSFix, isPVT: Bool)? {
    guard let ended = finished.0 else { return nil }
    finished = (finished.1, finished.2, nil)
    return ended
  }

  mutating func close() {
    finish()
    if parts != 0 { end = (0, end.current, end.current == end.last ? end.repetitions + 1 : 0) }
    parts = 0
    expectsHighPrecision = hasHighPrecision
    timeOfWeek = nil
    (mode, kinds, solution, gpsTime) = (nil, FixKindReport(), ECEFSolution(), nil)
    (hasPVT, hasHighPrecision, wasEmitted) = (false, false, false)
  }

  private mutating func finish() {
    guard timeOfWeek != nil, !wasEmitted else { return }
    wasEmitted = true
    var fix = self.fix
    // NAV-POSECEF comes without a fix too, and only another message says whether there is one.
    if fix.latitude == nil, mode != nil, let place = solution.geodetic {
      (fix.latitude, fix.longitude) = (place.latitude, place.longitude)
      fix.ellipsoidalAltitude = place.height
    }
    if fix.speed == nil, let v = solution.velocity, let latitude = fix.latitude,
      let longitude = fix.longitude
    {
      let radian = Double.pi / 180
      let (sLat, cLat) = (sin(latitude * radian), cos(latitude * radian))
      let (sLon, cLon) = (sin(longitude * radian), cos(longitude * radian))
      let east = -sLon * v.x + cLon * v.y
      let north = -sLat * (cLon * v.x + sLon * v.y) + cLat * v.z
      fix.speed = (east * east + north * north).squareRoot()
      let course = atan2(east, north) / radian
      fix.course = course < 0 ? course + 360 : course
      fix.verticalSpeed = cLat * (cLon * v.x + sLon * v.y) + sLat * v.z
      fix.speedAccuracy = solution.speedAccuracy
    }
    if let mode {
      status = (mode, hasPVT ? fix.kind : kinds.kind, fix.isValid)
      epochsWithoutStatus = 0
    } else {
      epochsWithoutStatus += 1
      if epochsWithoutStatus > Self.patience { status = nil }
      fix.isValid = status?.isValid ?? fix.isValid
    }
    fix.mode = mode ?? (fix.latitude == nil ? .none : status?.mode ?? .threeDimensional)
    if !hasPVT { fix.set(kind: status?.kind) }
    if fix.latitude != nil, let accuracy = solution.accuracy {
      // It is that of all three dimensions, and so a bound for each.
      if fix.horizontalAccuracy == nil {
        fix.horizontalAccuracy = accuracy
        fix.accuracySource = .receiver
      }
      fix.verticalAccuracy = fix.verticalAccuracy ?? accuracy
    }
    if fix.mode == .none {
      (fix.latitude, fix.longitude) = (nil, nil)
      (fix.altitude, fix.ellipsoidalAltitude) = (nil, nil)
      (fix.horizontalAccuracy, fix.verticalAccuracy) = (nil, nil)
    }
    if fix.utc == nil, let gpsTime { date(&fix, gpsTime) }
    // Messages without a position make no epoch (DOP alone, or a state), but the word that there is none.
    guard fix.latitude != nil || hasPVT || mode == FixMode.none else { return }
    defer { isFirst = false }
    if isFirst, mode == nil {
      held = fix
      return
    }
    // Where the next one has no position the held one had none either.
    if let held, fix.mode > .none { give(held, isPVT: false) }
    held = nil
    give(fix, isPVT: isWhole)
  }

  private mutating func give(_ fix: GNSSFix, isPVT: Bool) {
    let ended = (fix, isPVT)
    if finished.0 == nil {
      finished.0 = ended
    } else if finished.1 == nil {
      finished.1 = ended
    } else {
      finished.2 = ended
    }
  }

  /// UTC by GPS time, whose leap seconds are those of the true day.
  private func date(_ fix: inout GNSSFix, _ gpsTime: Double) {
    func utc(_ gpsTime: Double) -> Double {
      // 1980-01-06 is day 3657.
      3_657 * 86_400 + gpsTime - leapSeconds(at: gpsTime)
    }
    fix.utc = utc(gpsTime)
    if fix.canBeDated, let weeks = rollover?.weeks(lostBy: utc(gpsTime)), weeks > 0 {
      fix.weeksAdded = weeks
      fix.utc = utc(gpsTime + seconds(weeks: weeks))
    }
    fix.timeOfDay = fix.utc.map { $0 - ($0 / 86_400).rounded(.down) * 86_400 }
  }
}

/// Position and velocity in the earth-centred frame, as NAV-SOL, or NAV-POSECEF and NAV-VELECEF, give them, metres
/// and m/s.
struct ECEFSolution: Sendable, Hashable {
  var position: SIMD3<Double>?
  var velocity: SIMD3<Double>?
  /// What NAV-SOL says of the errors of both, metres and m/s.
  var accuracy, speedAccuracy: Double?

  /// Metres from the centre of the earth: 350 km below its poles.
  private static let innermost = 6_000_000.0

  /// Geodetic degrees and metres above the ellipsoid (Bowring 1985, exact to a millimetre near earth).
  var geodetic: (latitude: Double, longitude: Double, height: Double)? {
    guard let position else { return nil }
    let (a, e2) = (6_378_137.0, 0.006_694_379_990_141_316)
    let b = a * (1 - e2).squareRoot()
    let p = (position.x * position.x + position.y * position.y).squareRoot()
    // Deep in the earth a place is none, and the formula leaves the meridian.
    guard (p * p + position.z * position.z).squareRoot() > Self.innermost else { return nil }
    let u = atan2(position.z * a, p * b)
    let latitude = atan2(
      position.z + e2 / (1 - e2) * b * pow(sin(u), 3), p - e2 * a * pow(cos(u), 3))
    let normal = a / (1 - e2 * sin(latitude) * sin(latitude)).squareRoot()
    let degrees = 180 / Double.pi
    return (
      latitude * degrees, atan2(position.y, position.x) * degrees,
      p * cos(latitude) + position.z * sin(latitude) - a * a / normal
    )
  }
}

extension ECEFSolution {
  /// Makes the position of a place: degrees (WGS 84), and metres above the ellipsoid.
  init(latitude: Double, longitude: Double, height: Double) {
    let (a, e2) = (6_378_137.0, 0.006_694_379_990_141_316)
    let radian = Double.pi / 180
    let (sLat, cLat) = (sin(latitude * radian), cos(latitude * radian))
    let normal = a / (1 - e2 * sLat * sLat).squareRoot()
    position = SIMD3(
      (normal + height) * cLat * cos(longitude * radian),
      (normal + height) * cLat * sin(longitude * radian), (normal * (1 - e2) + height) * sLat)
  }
}
