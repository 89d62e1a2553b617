public import SensorTypes

/// From gpsd's JSON (gpsd_json(5), protocol 3) to epochs: one fix an epoch, of one receiver.
///
/// Of several receivers that gpsd reads it follows the one that is named, else one, and another only when that one has
/// had no position for five seconds. Constant memory, and no allocation a report; names and messages, which come once, are strings.
public struct GPSDDecoder: Sendable {
  /// The longest line that is read. gpsd's are 10,240 at most (`GPS_JSON_RESPONSE_MAX`).
  public static let longestLine = 16_384
  /// How long a receiver without a position keeps another from being followed, seconds.
  private static let patience = 5.0
  /// A standard deviation counts for the epochs after its own as well, this many seconds.
  private static let noiseAge = 2.0

  /// Seconds over which the reports of one epoch may come in: a slow line needs most of its second.
  private static let longestEpoch = 1.0

  private var buffer: [UInt8] = []
  private var start = 0
  private var scanned = 0
  private var isSkipping = false
  private var received = Timestamp(nanoseconds: 0)
  private let wanted: UInt64?
  private var epochs = GPSDEpochs()
  private var sky = GPSDReport.Sky()
  private var noise: PseudorangeNoise?
  private var view = SkyAssembler()
  private var followed: (device: UInt64, position: Timestamp, report: Timestamp)?
  private var tally = GPSDCounters()

  /// Makes a decoder for a new connection.
  ///
  /// - Parameter device: The receiver that is followed, by gpsd's name of it (`/dev/ttyACM0`); `nil` for any.
  public init(device: String? = nil) {
    wanted = device.map { JSONText.fingerprint($0.utf8) }
    buffer.reserveCapacity(Self.longestLine)
  }

  /// What has happened so far.
  public var counters: GPSDCounters {
    var counters = tally
    counters.repetitions = epochs.repetitions
    return counters
  }

  /// The satellites of the newest report that has named them, in its order.
  public var satellites: [GNSSSatellite] { view.satellites }

  /// How many bytes `append` takes now.
  public var room: Int { Self.longestLine - (buffer.count - start) }

  /// When `next` may have an epoch even if no bytes come.
  public var nextDue: Timestamp? { epochs.nextDue }

  /// Seconds for which fixes have come and their time has not moved; `nil` where none stands still.
  public var standstill: Double? {
    guard let standing = epochs.standing else { return nil }
    let seconds = standing.until.seconds(since: standing.since)
    return seconds > Self.longestEpoch ? seconds : nil
  }

  /// Takes bytes that arrived at `time`. Call `next` until it gives `nil` before more than `room` come.
  public mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Timestamp) {
    received = time
    if start > 0 {
      buffer.removeFirst(start)
      scanned -= start
      start = 0
    }
    if bytes.count > Self.longestLine - buffer.count { skipLine() }
    buffer.append(contentsOf: bytes.prefix(Self.longestLine - buffer.count))
  }

  /// The next thing said, or `nil` until more bytes come or `nextDue` is past.
  public mutating func next(at now: Timestamp) -> GPSDEvent? {
    while true {
      if let fix = epochs.next(at: now) { return .epoch(fix) }
      guard let line = nextLine() else { return nil }
      if let event = event(of: line) { return event }
    }
  }

  /// Ends what is under way, at the end of a recording; then call `next` until it gives `nil`.
  public mutating func finish() { epochs.close() }

  private mutating func skipLine() {
    if !isSkipping { tally.tooLong &+= 1 }
    isSkipping = true
    buffer.removeAll(keepingCapacity: true)
    (start, scanned) = (0, 0)
  }

  /// The place of the next line that is not empty.
  private mutating func nextLine() -> Range<Int>? {
    while scanned < buffer.count {
      let byte = buffer[scanned]
      scanned += 1
      guard byte == 10 || byte == 13 else { continue }
      let line = start..<(scanned - 1)
      start = scanned
      if isSkipping {
        isSkipping = false
      } else if !line.isEmpty {
        return line
      }
    }
    if buffer.count - start >= Self.longestLine { skipLine() }
    return nil
  }

  private mutating func event(of line: Range<Int>) -> GPSDEvent? {
    let report = buffer.withUnsafeBufferPointer {
      GPSDReport(UnsafeBufferPointer(rebasing: $0[line]), wanted: wanted)
    }
    guard let report else {
      tally.damaged &+= 1
      return nil
    }
    tally.reports &+= 1
    switch report.kind {
    case .version(let release, let major, let minor):
      return .version(release: release, major: major, minor: minor)
    case .devices(let count, let active): return .devices(count: count, active: active)
    case .watch(let isEnabled): return .watch(isEnabled: isEnabled)
    case .error(let message): return .error(message)
    case .other: return .message
    case .device(let path, let isActive):
      guard wanted.map({ $0 == report.device }) ?? true else { return .message }
      if !isActive, report.device == followed?.device { followed = nil }
      return .device(path: path, isActive: isActive)
    case .position(let position):
      guard follow(report.device, hasPosition: position.latitude != nil) else { return .message }
      take(position)
    case .sky(let sky):
      guard isFollowed(report.device) else { break }
      self.sky.update(sky)
      guard sky.namesSatellites else { break }
      buffer.withUnsafeBufferPointer {
        GPSDReport.satellites(UnsafeBufferPointer(rebasing: $0[line]), into: &view)
      }
      return .sky
    case .attitude(let attitude):
      if isFollowed(report.device), let heading = attitude.heading(received: received) {
        return .heading(heading)
      }
    case .noise(let noise):
      if isFollowed(report.device) { self.noise = noise }
    }
    return .message
  }

  /// Whether a report that is no position belongs to the receiver that is followed. Before the first position
  /// any may.
  private mutating func isFollowed(_ device: UInt64) -> Bool {
    let isOurs = (wanted ?? followed?.device).map { $0 == device } ?? true
    if !isOurs { tally.foreign &+= 1 }
    return isOurs
  }

  private mutating func follow(_ device: UInt64, hasPosition: Bool) -> Bool {
    if let wanted, device != wanted {
      tally.foreign &+= 1
      return false
    }
    if var known = followed, known.device == device {
      known.report = received
      if hasPosition { known.position = received }
      followed = known
      return true
    }
    if let known = followed {
      let last = hasPosition ? known.position : known.report
      guard received.seconds(since: last) > Self.patience else {
        tally.foreign &+= 1
        return false
      }
      // Another receiver's sky says nothing of this one's.
      sky = GPSDReport.Sky()
      noise = nil
      epochs.close()
    }
    followed = (device, received, received)
    return true
  }

  private mutating func take(_ position: GPSDPosition) {
    // 0: gpsd has heard nothing of it yet.
    guard let mode = UInt8(exactly: position.mode).flatMap(FixMode.init) else { return }
    var fix = GNSSFix(received: received, mode: mode)
    fix.hdop = sky.hdop
    fix.vdop = sky.vdop
    fix.pdop = sky.pdop
    fix.satellitesUsed = sky.satellitesUsed
    Self.fill(&fix, from: position)
    GPSDAccuracy.apply(position, sky, freshNoise(position.time), to: &fix)
    epochs.take(fix, at: position.time, now: received)
  }

  private func freshNoise(_ time: UTCMoment?) -> PseudorangeNoise? {
    guard let noise, let said = noise.time, let time else { return nil }
    return abs(time.utc - said.utc) <= Self.noiseAge ? noise : nil
  }

  private static func fill(_ fix: inout GNSSFix, from position: GPSDPosition) {
    let kind = FixKind(gpsd: position.status)
    // With time alone the antenna's place is known and not measured.
    if kind == .timeOnly { fix.mode = .none }
    defer {
      fix.set(
        kind: kind,
        corrections: FixCorrections(
          age: position.dgpsAge.flatMap { $0 >= 0 ? $0 : nil },
          station: position.dgpsStation.flatMap { (0...4_095).contains($0) ? $0 : nil }))
    }
    guard fix.mode > .none, let latitude = position.latitude, let longitude = position.longitude,
      abs(latitude) <= 90, abs(longitude) <= 180
    else {
      fix.mode = .none
      return
    }
    (fix.latitude, fix.longitude) = (latitude, longitude)
    // A time without a fix may be anything.
    fix.utc = position.time?.utc
    fix.timeOfDay = position.time?.timeOfDay
    fix.isValid = kind != .simulated
    if let speed = position.speed, speed >= 0 { fix.speed = speed }
    if let track = position.track, (0...360).contains(track) {
      fix.course = track == 360 ? 0 : track
    }
    guard fix.mode == .threeDimensional else { return }
    // Since 3.20 `alt` is one of the other two; before, it stands alone and is above the sea.
    fix.altitude = position.altMSL ?? (position.altHAE == nil ? position.alt : nil)
    fix.ellipsoidalAltitude = position.altHAE
    if let separation = position.geoidSeparation {
      fix.altitude = fix.altitude ?? position.altHAE.map { $0 - separation }
      fix.ellipsoidalAltitude = fix.ellipsoidalAltitude ?? fix.altitude.map { $0 + separation }
    }
    fix.verticalSpeed = position.climb
  }
}

/// Something that gpsd said.
public enum GPSDEvent: Sendable, Hashable {
  /// An epoch; one without a position has `mode == .none`.
  case epoch(GNSSFix)
  /// All satellites were said: `satellites` has them.
  case sky
  /// Which way something is turned.
  case heading(ReceiverHeading)
  /// gpsd's greeting.
  case version(release: String, major: Int, minor: Int)
  /// How many receivers gpsd has, and how many of them it reads.
  case devices(count: Int, active: Int)
  /// gpsd has begun or ceased to read a receiver.
  case device(path: String, isActive: Bool)
  /// The answer to `?WATCH`.
  case watch(isEnabled: Bool)
  /// gpsd did not understand.
  case error(String)
  /// A sound report that is none of these.
  case message
}

/// Counters; they only grow.
public struct GPSDCounters: Sendable, Hashable {
  /// Whole, sound reports.
  public var reports: UInt64 = 0
  /// Lines that are no report.
  public var damaged: UInt64 = 0
  /// Lines beyond `longestLine`, skipped.
  public var tooLong: UInt64 = 0
  /// Reports of receivers that are not followed.
  public var foreign: UInt64 = 0
  /// Fixes of a time that was given out already.
  public var repetitions: UInt64 = 0

  /// Makes counters at zero.
  public init() {}
}

extension UTCMoment {
  /// Seconds of the day; a leap second's are beyond those of any other.
  var timeOfDay: Double {
    let day = isLeapSecond ? ((utc - 1) / 86_400).rounded(.down) : (utc / 86_400).rounded(.down)
    return utc - day * 86_400
  }
}
