import SensorTypes

/// A report of gpsd, read from one line of JSON (gpsd_json(5)). What is not there is `nil`.
///
/// The confidence of gpsd's error estimates depends on where they come from: see `GPSDAccuracy`.
struct GPSDReport {
  /// SKY; what one does not say stays as the one before said it.
  struct Sky {
    var hdop, vdop, pdop, xdop, ydop: Double?
    var satellitesUsed: Int?
    /// Whether the report names them; one may say the dilutions alone.
    var namesSatellites = false
  }

  var kind: GPSDReportContent
  /// The receiver it is about, by its path's fingerprint; 0 where none is named.
  var device: UInt64 = 0

  /// Reads a line, or `nil` for one that is no whole JSON object with a class. Of a list of devices only the `wanted`
  /// one is counted, where there is one.
  init?(_ line: UnsafeBufferPointer<UInt8>, wanted: UInt64? = nil) {
    var name: JSONText?
    var device: UInt64 = 0
    // All of the line is checked before any of it counts.
    var scanner = JSONScanner(line)
    scanner.object { scanner, key in
      switch key {
      case "class": name = scanner.string()
      case "device": device = scanner.string()?.fingerprint ?? 0
      default: break
      }
    }
    guard let name, scanner.isAtEnd() else { return nil }
    self.device = device
    var body = JSONScanner(line)
    switch name {
    case "TPV": kind = .position(GPSDPosition(&body))
    case "SKY": kind = .sky(Sky(&body))
    case "GST": kind = .noise(PseudorangeNoise(&body))
    case "ATT": kind = .attitude(GPSDAttitude(&body))
    case "VERSION": kind = Self.version(&body)
    case "DEVICES": kind = Self.devices(&body, wanted)
    case "DEVICE":
      let found = Self.device(&body)
      self.device = found.fingerprint
      kind = .device(path: found.path, isActive: found.isActive)
    case "WATCH":
      var isEnabled = false
      body.object { if case "enable" = $1 { isEnabled = $0.isTrue() } }
      kind = .watch(isEnabled: isEnabled)
    case "ERROR":
      var message = "?"
      body.object { if case "message" = $1 { message = $0.string()?.words() ?? message } }
      kind = .error(message)
    default: kind = .other
    }
  }

  private static func version(_ scanner: inout JSONScanner) -> GPSDReportContent {
    var release = "?"
    var (major, minor) = (0, 0)
    scanner.object { scanner, key in
      switch key {
      case "release": release = scanner.string()?.words(limit: 40) ?? release
      case "proto_major": major = scanner.integer() ?? 0
      case "proto_minor": minor = scanner.integer() ?? 0
      default: break
      }
    }
    return .version(release: release, major: major, minor: minor)
  }

  private static func devices(_ scanner: inout JSONScanner, _ wanted: UInt64?) -> GPSDReportContent
  {
    var (count, active) = (0, 0)
    scanner.object { scanner, key in
      guard case "devices" = key else { return }
      scanner.array {
        let found = device(&$0)
        guard wanted.map({ $0 == found.fingerprint }) ?? true else { return }
        count += 1
        if found.isActive { active += 1 }
      }
    }
    return .devices(count: count, active: active)
  }

  /// `activated` is a time, and 0 or absent where gpsd does not read the device.
  private static func device(
    _ scanner: inout JSONScanner
  ) -> (path: String, fingerprint: UInt64, isActive: Bool) {
    var (path, fingerprint, isActive) = ("?", UInt64(0), false)
    scanner.object { scanner, key in
      switch key {
      case "path":
        guard let text = scanner.string() else { break }
        (path, fingerprint) = (text.words(), text.fingerprint)
      case "activated": isActive = scanner.string() != nil || (scanner.number() ?? 0) > 0
      default: break
      }
    }
    return (path, fingerprint, isActive)
  }
}

/// TPV.
struct GPSDPosition {
  var time: UTCMoment?
  var mode = 0
  /// `nil` where there is none, which stands for 0 and for 1.
  var status: Int?
  /// The age of corrections in seconds, and their station.
  var dgpsAge: Double?
  var dgpsStation: Int?
  var latitude, longitude: Double?
  /// Metres above the ellipsoid, above the sea, and `alt`, which is above the sea before gpsd 3.20.
  var altHAE, altMSL, alt, geoidSeparation: Double?
  var speed, track, climb: Double?
  var eph, epx, epy, epv, eps, epd: Double?
}

/// GST: standard deviations in metres, as the receiver says them.
struct PseudorangeNoise {
  var time: UTCMoment?
  var latitude, longitude, altitude: Double?
}

/// A moment in UTC, told from every other: a leap second shares its POSIX time with the second after it.
struct UTCMoment: Hashable {
  /// Seconds since 1970-01-01, leap seconds not counted.
  var utc: Double
  var isLeapSecond: Bool
}

/// What a report is about, and what only such a report says.
enum GPSDReportContent {
  case position(GPSDPosition)
  case sky(GPSDReport.Sky)
  case noise(PseudorangeNoise)
  case attitude(GPSDAttitude)
  case version(release: String, major: Int, minor: Int)
  case devices(count: Int, active: Int)
  case device(path: String, isActive: Bool)
  case watch(isEnabled: Bool)
  case error(String)
  case other
}

extension GPSDPosition {
  init(_ scanner: inout JSONScanner) {
    var it = Self()
    scanner.object { scanner, key in
      switch key {
      case "time": it.time = scanner.string().flatMap(UTCMoment.init)
      case "mode": it.mode = scanner.integer() ?? 0
      case "status": it.status = scanner.integer()
      case "dgpsAge": it.dgpsAge = scanner.number()
      case "dgpsSta": it.dgpsStation = scanner.integer()
      case "lat": it.latitude = scanner.number()
      case "lon": it.longitude = scanner.number()
      case "altHAE": it.altHAE = scanner.number()
      case "altMSL": it.altMSL = scanner.number()
      case "alt": it.alt = scanner.number()
      case "geoidSep": it.geoidSeparation = scanner.number()
      case "speed": it.speed = scanner.number()
      case "track": it.track = scanner.number()
      case "climb": it.climb = scanner.number()
      case "eph": it.eph = scanner.number()
      case "epx": it.epx = scanner.number()
      case "epy": it.epy = scanner.number()
      case "epv": it.epv = scanner.number()
      case "eps": it.eps = scanner.number()
      case "epd": it.epd = scanner.number()
      default: break
      }
    }
    self = it
  }
}

extension GPSDReport.Sky {
  init(_ scanner: inout JSONScanner) {
    var it = Self()
    // Before 3.20 gpsd counts none: the satellites say themselves whether they are used.
    var counted: Int?
    scanner.object { scanner, key in
      switch key {
      case "hdop": it.hdop = scanner.number()
      case "vdop": it.vdop = scanner.number()
      case "pdop": it.pdop = scanner.number()
      case "xdop": it.xdop = scanner.number()
      case "ydop": it.ydop = scanner.number()
      case "uSat": it.satellitesUsed = scanner.integer()
      case "satellites":
        var used = 0
        scanner.array { $0.object { if case "used" = $1, $0.isTrue() { used += 1 } } }
        counted = used
        it.namesSatellites = true
      default: break
      }
    }
    it.satellitesUsed = it.satellitesUsed ?? counted
    self = it
  }

  /// Takes over what `newer` says.
  mutating func update(_ newer: Self) {
    if let hdop = newer.hdop { self.hdop = hdop }
    if let vdop = newer.vdop { self.vdop = vdop }
    if let pdop = newer.pdop { self.pdop = pdop }
    if let xdop = newer.xdop { self.xdop = xdop }
    if let ydop = newer.ydop { self.ydop = ydop }
    if let used = newer.satellitesUsed { satellitesUsed = used }
  }
}

extension PseudorangeNoise {
  init(_ scanner: inout JSONScanner) {
    var it = Self()
    scanner.object { scanner, key in
      switch key {
      case "time": it.time = scanner.string().flatMap(UTCMoment.init)
      case "lat": it.latitude = scanner.number()
      case "lon": it.longitude = scanner.number()
      case "alt": it.altitude = scanner.number()
      default: break
      }
    }
    self = it
  }
}

extension UTCMoment {
  /// Reads `2026-11-22T07:14:42.250Z`; the fraction may be absent.
  init?(_ text: JSONText) {
    let bytes = text.bytes
    func byte(_ index: Int) -> UInt8 { bytes[bytes.startIndex + index] }
    func number(_ range: Range<Int>) -> Int? {
      var value = 0
      for index in range {
        guard (48...57).contains(byte(index)) else { return nil }
        value = value * 10 + Int(byte(index) - 48)
      }
      return value
    }
    guard (20...30).contains(bytes.count), byte(4) == 45, byte(7) == 45, byte(10) | 32 == 116,
      byte(13) == 58, byte(16) == 58, byte(bytes.count - 1) | 32 == 122,
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      hour < 24, minute < 60, second <= 60,
      let days = daysSince1970(year: year, month: month, day: day)
    else { return nil }
    var fraction = 0.0
    if bytes.count > 20 {
      guard byte(19) == 46, let digits = number(20..<(bytes.count - 1)) else { return nil }
      var unit = 1.0
      for _ in 20..<(bytes.count - 1) { unit *= 10 }
      fraction = Double(digits) / unit
    }
    utc = Double(days * 86_400 + hour * 3_600 + minute * 60 + second) + fraction
    isLeapSecond = second == 60
  }
}

extension JSONScanner {
  /// The number here where it is a whole one of a size that is needed.
  package mutating func integer() -> Int? {
    guard let value = number(), value == value.rounded(), abs(value) < 1e9 else { return nil }
    return Int(value)
  }
}
