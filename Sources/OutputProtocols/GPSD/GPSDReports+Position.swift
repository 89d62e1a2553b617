// TPV and SKY.

import LinearAlgebra
import SensorTypes
import TextForms

/// Factors from the accuracies of `SensorTypes` to 95 %, for normally distributed errors.
enum GPSDConfidence {
  /// From one standard deviation to half the width of the interval.
  static let ofSigma = 1.959_963_985
  /// From the 68 % radius to the 95 % radius, for equal errors north and east: sqrt(ln 0.05 / ln 0.32).
  static let ofRadius = 1.621_462_309
}

extension GPSDReports {
  /// Bytes of a report are 10,240 at most in a client (`GPS_JSON_RESPONSE_MAX`), and its satellites 140
  /// (`MAXCHANNELS` of gpsd 3.22).
  static let mostSatellites = 100

  func write(position line: inout JSONLine, _ state: PublishedState, at now: Timestamp) {
    line.set("class", "TPV")
    line.set("device", receiver)
    // What the receiver does not vouch for is no fix.
    guard let location = state.location(at: now), location.fix.isValid,
      location.fix.mode >= .twoDimensional
    else {
      let isSimulated = state.location(at: now).map { $0.isSimulated || $0.fix.kind == .simulated }
      if isSimulated == true { line.set("status", 8) }
      line.set("mode", Int(FixMode.none.rawValue))
      line.set("leapseconds", leapSeconds)
      return
    }
    let fix = location.fix
    line.set("status", location.gpsdStatus)
    line.set("mode", Int(fix.mode.rawValue))
    line.set("time", time: fix.utc ?? utc(of: fix.moment()), isLeapSecond: fix.isLeapSecond)
    line.set("leapseconds", leapSeconds)
    line.set("lat", fix.latitude, digits: 9)
    line.set("lon", fix.longitude, digits: 9)
    let is3D = fix.mode == .threeDimensional
    if is3D {
      line.set("altHAE", fix.ellipsoidalAltitude, digits: 4)
      line.set("altMSL", fix.altitude, digits: 4)
      // Deprecated, and read as above the sea: so it never is the other one.
      line.set("alt", fix.altitude, digits: 4)
    }
    let horizontal = fix.horizontalAccuracy.flatMap(Self.positive).map {
      $0 * GPSDConfidence.ofRadius
    }
    let hasHeight = is3D && (fix.altitude != nil || fix.ellipsoidalAltitude != nil)
    let vertical = (hasHeight ? fix.verticalAccuracy : nil).flatMap(Self.bar)
    // Along one axis an error is never larger than the distance: the bar of the distance holds it as well.
    line.set("epx", horizontal, digits: 3)
    line.set("epy", horizontal, digits: 3)
    line.set("epv", vertical, digits: 3)
    write(motion: &line, fix, declination: state.declination(at: now))
    if is3D, let above = fix.ellipsoidalAltitude, let altitude = fix.altitude {
      line.set("geoidSep", above - altitude, digits: 3)
    }
    line.set("eph", horizontal, digits: 3)
    if let horizontal, let vertical {
      // Not less than the 95 % radius in three dimensions, whatever the ratio of the two.
      line.set("sep", (horizontal * horizontal + vertical * vertical).squareRoot(), digits: 3)
    }
    line.set("datum", "WGS84")
    line.set("dgpsAge", fix.corrections?.age, digits: 1)
    line.set("dgpsSta", fix.corrections?.station)
  }

  private func write(motion line: inout JSONLine, _ fix: GNSSFix, declination: Double?) {
    line.set("track", fix.course.map { Self.direction($0, digits: 4) }, digits: 4)
    if let declination {
      let degrees = declination * 180 / .pi
      line.set("magtrack", fix.course.map { Self.direction($0 - degrees, digits: 4) }, digits: 4)
      // East is positive, as in all that gpsd sends (driver_nmea0183.c, geoid.c); its manual says west.
      line.set("magvar", degrees, digits: 2)
    }
    line.set("speed", fix.speed, digits: 3)
    if fix.mode == .threeDimensional { line.set("climb", fix.verticalSpeed, digits: 3) }
    if fix.course != nil {
      line.set("epd", fix.courseAccuracy.flatMap(Self.bar).map { min($0, 180) }, digits: 4)
    }
    if fix.speed != nil { line.set("eps", fix.speedAccuracy.flatMap(Self.bar), digits: 3) }
  }

  func write(sky line: inout JSONLine, _ state: PublishedState, at now: Timestamp) {
    line.set("class", "SKY")
    line.set("device", receiver)
    let sky = state.sky(at: now)
    line.set("time", time: sky.flatMap { utc(of: $0.received) })
    // The dilutions of a receiver's own epoch; a position that is carried on has none.
    let location = state.location(at: now)
    let fix = location?.carried == nil ? location?.fix : nil
    line.set("vdop", fix?.vdop.flatMap(Self.positive), digits: 2)
    line.set("hdop", fix?.hdop.flatMap(Self.positive), digits: 2)
    line.set("pdop", fix?.pdop.flatMap(Self.positive), digits: 2)
    // Without the key some clients keep the satellites that were (python3-gps 3.22).
    let numbered = sky?.satellites.filter { $0.gpsdNumber != nil } ?? []
    let satellites = Self.foremost(numbered)
    if sky != nil { line.set("nSat", satellites.count) }
    let isUseKnown = sky != nil && (satellites.isEmpty || satellites.contains { $0.isUsed != nil })
    let used = isUseKnown ? satellites.count(where: { $0.isUsed == true }) : nil
    line.set("uSat", used ?? fix?.satellitesUsed)
    line.set("satellites", objects: satellites) { line, satellite in
      line.set("PRN", satellite.gpsdNumber)
      line.set("gnssid", Int(satellite.system.rawValue))
      line.set("svid", satellite.number)
      line.set("az", satellite.azimuth.map { Self.direction($0, digits: 1) }, digits: 1)
      line.set("el", satellite.elevation.flatMap { abs($0) <= 90 ? $0 : nil }, digits: 1)
      line.set("ss", satellite.carrierToNoise, digits: 1)
      // Always there: gpsd has no word for a receiver that does not say which ones it uses, and python3-gps fails without.
      line.set("used", satellite.isUsed == true)
    }
  }

  /// As many as a client takes: those in use before others, the louder ones before others, in the order of the receiver.
  private static func foremost(_ satellites: [GNSSSatellite]) -> [GNSSSatellite] {
    guard satellites.count > mostSatellites else { return satellites }
    func weight(_ satellite: GNSSSatellite) -> Double {
      (satellite.isUsed == true ? 1_000 : 0) + max(0, min(satellite.carrierToNoise ?? 0, 100))
    }
    let order = satellites.indices.sorted { weight(satellites[$0]) > weight(satellites[$1]) }
    return order.prefix(mostSatellites).sorted().map { satellites[$0] }
  }

  /// Half the width of the 95 % interval of a standard deviation.
  private static func bar(_ sigma: Double) -> Double? {
    positive(sigma).map { $0 * GPSDConfidence.ofSigma }
  }

  private static func positive(_ value: Double) -> Double? {
    value > 0 && value.isFinite ? value : nil
  }

  /// A direction, 0 up to 360 degrees, which the digits do not round up to a full turn.
  static func direction(_ degrees: Double, digits: Int) -> Double {
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    let turned = rest < 0 ? rest + 360 : rest
    let half = 0.5 * pow(10, -Double(digits))
    return turned >= 360 - half ? 0 : turned
  }
}

extension LocationEstimate {
  /// The `status` of a TPV (gps.h, `STATUS_`); `nil` for what gpsd leaves out: an autonomous fix, or one of a kind that is not known.
  fileprivate var gpsdStatus: Int? {
    if isSimulated { return 8 }
    if carried != nil { return 5 }
    switch fix.kind {
    case nil, .some(.none), .autonomous: return nil
    // Corrections by a service are no reference station's, and gpsd has no finer word for them.
    case .differential, .precisePoint: return 2
    case .rtkFixed: return 3
    case .rtkFloat: return 4
    case .deadReckoning: return 5
    case .combined: return 6
    // "Time (surveyed) fix": gpsd's drivers say so of a place that was entered by hand as well.
    case .timeOnly, .manual: return 7
    case .simulated: return 8
    case .preciseCode: return 9
    }
  }
}

extension GNSSSatellite {
  /// gpsd's `PRN`: NMEA's extended numbers (driver_ubx.c, `ubx2_to_prn`; driver_nmea0183.c for NavIC); `nil` where it has none.
  var gpsdNumber: Int? {
    switch system {
    case .gps: (1...32).contains(number) ? number : nil
    case .sbas:
      (120...151).contains(number) ? number - 87 : (152...158).contains(number) ? number : nil
    case .galileo: (1...36).contains(number) ? number + 300 : nil
    case .beidou: (1...63).contains(number) ? number + 400 : nil
    case .imes: (1...10).contains(number) ? number + 172 : nil
    case .qzss: (1...10).contains(number) ? number + 192 : nil
    case .glonass: (1...32).contains(number) ? number + 64 : nil
    case .navic: (1...18).contains(number) ? number + 499 : nil
    }
  }
}

extension PublishedState {
  /// Declination in radians east, whether or not the heading that it goes with is to be trusted; `nil` where it is not known.
  func declination(at now: Timestamp) -> Double? {
    heading(at: now)?.declination ?? attitude(at: now)?.declination
  }
}
