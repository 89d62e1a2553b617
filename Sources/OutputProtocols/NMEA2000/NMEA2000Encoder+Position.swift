// Positions, satellites and time as messages of NMEA 2000.

import LinearAlgebra
import SensorTypes

extension NMEA2000Encoder {
  private static let secondsOfDay = 86_400.0
  /// The most satellites that fit into a fast packet: 3 bytes, and 12 for each.
  static let mostSatellites = (NMEA2000Message.largestFast - 3) / 12

  // MARK: Rapid messages

  /// The fix, if satellites contribute to it. NMEA 2000 has no value for another fix or a coarse one, so they are sent as not available.
  private func measured(_ state: PublishedState, at now: Timestamp) -> GNSSFix? {
    guard let location = state.location(at: now), location.isMeasured, !location.isCoarse,
      location.fix.isValid
    else { return nil }
    return location.fix
  }

  /// Whether a rapid message has something new to tell, or was silent for long.
  private mutating func isDue(_ pgn: UInt32, _ fix: GNSSFix?, at now: Timestamp) -> Bool {
    if let last = rapid[pgn], last.epoch == fix?.received,
      (0..<Self.repetition).contains(now.seconds(since: last.sent))
    {
      return false
    }
    rapid[pgn] = (fix?.received, now)
    return true
  }

  mutating func position(_ state: PublishedState, at now: Timestamp) -> [UInt8]? {
    let fix = measured(state, at: now)
    guard isDue(NMEA2000PGN.position, fix, at: now) else { return nil }
    var fields = NMEA2000Fields()
    let place = fix.flatMap(Self.place)
    fields.signed(place?.latitude, perUnit: 1e7, bits: 32)
    fields.signed(place?.longitude, perUnit: 1e7, bits: 32)
    return fields.bytes
  }

  mutating func courseAndSpeed(_ state: PublishedState, at now: Timestamp) -> [UInt8]? {
    let fix = measured(state, at: now)
    guard isDue(NMEA2000PGN.courseAndSpeed, fix, at: now) else { return nil }
    var fields = NMEA2000Fields()
    fields.code(fix.map { epochIdentifier.of($0.received) }, bits: 8)
    let course = fix?.course.flatMap { Self.turn($0 * .pi / 180) }
    fields.code(course.map { _ in 0 }, bits: 2)
    fields.reserved(6)
    fields.unsigned(course, perUnit: 1e4, bits: 16)
    fields.unsigned(fix?.speed, perUnit: 100, bits: 16)
    fields.reserved(16)
    return fields.bytes
  }

  /// Latitude and longitude where both are on earth.
  private static func place(_ fix: GNSSFix) -> (latitude: Double, longitude: Double)? {
    guard let latitude = fix.latitude, let longitude = fix.longitude,
      (-90...90).contains(latitude), (-180...180).contains(longitude)
    else { return nil }
    return (latitude, longitude)
  }

  // MARK: The whole fix

  mutating func gnssPosition(
    _ state: PublishedState, _ clock: ClockReading?, at now: Timestamp
  ) -> [UInt8] {
    let location = state.location(at: now)
    let fix = location?.fix
    let place = fix.flatMap(Self.place)
    var fields = NMEA2000Fields()
    fields.code(fix.map { epochIdentifier.of($0.received) }, bits: 8)
    Self.write(Self.days(of: fix?.utc, isLeapSecond: fix?.isLeapSecond ?? false), into: &fields)
    fields.signed(place?.latitude, perUnit: 1e16, bits: 64)
    fields.signed(place?.longitude, perUnit: 1e16, bits: 64)
    // In two dimensions a height is assumed and not measured.
    let isHigh = place != nil && fix?.mode == .threeDimensional
    let height = isHigh ? fix?.ellipsoidalAltitude : nil
    fields.signed(height, perUnit: 1e6, bits: 64)
    let systems = state.sky(at: now).map { sky in
      Set(sky.satellites.lazy.filter { $0.isUsed == true }.map(\.system))
    }
    let method = place == nil ? 0 : Self.method(location)
    fields.code(Self.type(method: method, systems: systems ?? []), bits: 4)
    fields.code(method, bits: 4)
    // 0: no integrity is checked; 3: the receiver itself does not vouch for it.
    fields.code(place != nil && fix?.isValid == false ? 3 : 0, bits: 2)
    fields.reserved(6)
    fields.unsigned(fix?.satellitesUsed.map(Double.init), perUnit: 1, bits: 8)
    fields.signed(fix?.hdop.flatMap(Self.positive), perUnit: 100, bits: 16)
    fields.signed(fix?.pdop.flatMap(Self.positive), perUnit: 100, bits: 16)
    let sea = isHigh ? fix?.altitude : nil
    let separation = height.flatMap { height in sea.map { height - $0 } }
    fields.signed(separation, perUnit: 100, bits: 32)
    if let corrections = fix?.corrections, !corrections.isEmpty {
      fields.append(1, bits: 8)
      fields.reserved(4)
      fields.unsigned(corrections.station.map(Double.init), perUnit: 1, bits: 12)
      fields.unsigned(corrections.age, perUnit: 100, bits: 16)
    } else {
      fields.reserved(8)
    }
    return fields.bytes
  }

  private static func positive(_ dilution: Double) -> Double? { dilution > 0 ? dilution : nil }

  /// The number in the list of methods.
  private static func method(_ location: LocationEstimate?) -> UInt8 {
    guard let location else { return 0 }
    if location.carried != nil { return 6 }
    if location.isSimulated { return 8 }
    // "Estimated (DR) mode": the nearest word for a place that is roughly known.
    if location.isCoarse, location.isMeasured { return 6 }
    switch location.fix.kind {
    case .none?, .timeOnly?: return 0
    case .simulated?: return 8
    case .manual?: return 7
    case .deadReckoning?: return 6
    case .preciseCode?: return 3
    case .differential?, .precisePoint?: return 2
    case .rtkFixed?: return 4
    case .rtkFloat?: return 5
    case .combined?, .autonomous?, nil: return 1
    }
  }

  /// The number in the list of systems: the one that names most of those that are used. Beside GPS, GLONASS, augmentation and
  /// Galileo alone no system is in the list.
  private static func type(method: UInt8, systems: Set<GNSSSystem>) -> UInt8? {
    switch method {
    case 7: return 7
    case 0, 6: return nil
    default: break
    }
    switch (
      systems.contains(.gps), systems.contains(.glonass), systems.contains(.sbas)
    ) {
    case (true, true, true): return 4
    case (true, true, false): return 2
    case (true, false, true): return 3
    case (true, false, false): return 0
    case (false, true, _): return 1
    case (false, false, _): return systems.contains(.galileo) ? 8 : nil
    }
  }

  mutating func dilutions(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    let fix = measured(state, at: now)
    var fields = NMEA2000Fields()
    fields.code(fix.map { epochIdentifier.of($0.received) }, bits: 8)
    // Which mode was asked for is not known.
    fields.reserved(3)
    switch fix?.mode {
    case .twoDimensional?: fields.append(1, bits: 3)
    case .threeDimensional?: fields.append(2, bits: 3)
    default: fields.reserved(3)
    }
    fields.reserved(2)
    fields.signed(fix?.hdop.flatMap(Self.positive), perUnit: 100, bits: 16)
    fields.signed(fix?.vdop.flatMap(Self.positive), perUnit: 100, bits: 16)
    fields.signed(nil, perUnit: 100, bits: 16)
    return fields.bytes
  }

  // MARK: Satellites

  /// The satellites by their numbers here, those first that are used, then those that are heard best.
  mutating func satellites(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    let sky = state.sky(at: now)
    let numbered = (sky?.satellites ?? []).compactMap { satellite in
      Self.number(of: satellite).map { (satellite, $0) }
    }
    let chosen = numbered.sorted { a, b in
      func rank(_ satellite: GNSSSatellite) -> Double {
        (satellite.isUsed == true ? 1_000 : 0) + (satellite.carrierToNoise ?? -1)
      }
      return rank(a.0) > rank(b.0)
    }.prefix(Self.mostSatellites)
    var fields = NMEA2000Fields()
    let fix = measured(state, at: now)
    fields.code(fix.map { epochIdentifier.of($0.received) }, bits: 8)
    fields.reserved(8)
    fields.code(sky.map { _ in UInt8(chosen.count) }, bits: 8)
    for (satellite, name) in chosen {
      fields.append(UInt64(name.number), bits: 8)
      fields.signed(satellite.elevation.map { $0 * .pi / 180 }, perUnit: 1e4, bits: 16)
      let azimuth = satellite.azimuth.flatMap { Self.turn($0 * .pi / 180) }
      fields.unsigned(azimuth, perUnit: 1e4, bits: 16)
      fields.signed(satellite.carrierToNoise, perUnit: 100, bits: 16)
      fields.signed(nil, perUnit: 1e5, bits: 32)
      fields.code(Self.status(of: satellite), bits: 4)
      fields.code(name.system, bits: 4)
    }
    return fields.bytes
  }

  /// Not tracked, tracked, used.
  private static func status(of satellite: GNSSSatellite) -> UInt8 {
    if satellite.isUsed == true { return 2 }
    return satellite.carrierToNoise == nil ? 0 : 1
  }

  /// A satellite's number as NMEA 0183 has it, and its system by the nibble that canboat has found in receivers' messages. Augmentation
  /// satellites are 33 to 64 and have none; systems without a number of their own are left out.
  private static func number(of satellite: GNSSSatellite) -> (number: UInt8, system: UInt8?)? {
    let name: (number: Int, system: UInt8?)
    switch satellite.system {
    case .gps: name = (satellite.number, 0)
    case .sbas: name = (satellite.number &- 87, nil)
    case .galileo: name = (satellite.number, 2)
    case .beidou: name = (satellite.number, 3)
    case .qzss: name = (satellite.number < 193 ? satellite.number &+ 192 : satellite.number, 4)
    case .glonass: name = (satellite.number &+ 64, 1)
    case .imes, .navic: return nil
    }
    guard (1...252).contains(name.number) else { return nil }
    return (UInt8(name.number), name.system)
  }

  // MARK: Time

  /// UTC now, of the receiver's newest epoch or of a clock that is set, and the number of its source.
  private func utc(
    _ state: PublishedState, _ clock: ClockReading?, at now: Timestamp
  ) -> (seconds: Double, source: UInt8)? {
    if let fix = measured(state, at: now), let utc = fix.utc, !fix.isLeapSecond {
      return (utc + now.seconds(since: fix.moment()), 0)
    }
    guard let clock, clock.isSet else { return nil }
    // "Local crystal clock".
    return (clock.seconds, 5)
  }

  mutating func systemTime(
    _ state: PublishedState, _ clock: ClockReading?, at now: Timestamp
  ) -> [UInt8] {
    let time = utc(state, clock, at: now)
    let isReceivers = time?.source == 0
    var fields = NMEA2000Fields()
    let fix = isReceivers ? measured(state, at: now) : nil
    fields.code(fix.map { epochIdentifier.of($0.received) }, bits: 8)
    let days = Self.days(of: time?.seconds)
    fields.code(days == nil ? nil : time?.source, bits: 4)
    fields.reserved(4)
    Self.write(days, into: &fields)
    return fields.bytes
  }

  mutating func timeAndDate(
    _ state: PublishedState, _ clock: ClockReading?, at now: Timestamp
  ) -> [UInt8] {
    var fields = NMEA2000Fields()
    Self.write(Self.days(of: utc(state, clock, at: now)?.seconds), into: &fields)
    // The local time is not known.
    fields.signed(nil, perUnit: 1, bits: 16)
    return fields.bytes
  }

  /// The days since 1970 and the ten-thousandths of a second since midnight. In a leap second `utc` is that of the second behind it.
  private static func days(
    of utc: Double?, isLeapSecond: Bool = false
  ) -> (days: UInt64, ticks: UInt64)? {
    guard let utc, utc >= secondsOfDay, utc < 65_532 * secondsOfDay else { return nil }
    let ticks = UInt64((utc * 1e4).rounded())
    let (days, rest) = ticks.quotientAndRemainder(dividingBy: 864_000_000)
    return isLeapSecond && rest < 10_000 ? (days - 1, rest + 864_000_000) : (days, rest)
  }

  private static func write(
    _ time: (days: UInt64, ticks: UInt64)?, into fields: inout NMEA2000Fields
  ) {
    fields.append(time?.days ?? .max, bits: 16)
    fields.append(time?.ticks ?? .max, bits: 32)
  }
}
