// Where, when, how fast and how well: RMC, GGA, GNS, GLL, VTG, GST, ZDA, and PUBX,00, PGRMZ and PGRME.

import SensorTypes

extension NMEADecoder {
  private static func latitude(_ fields: inout FieldReader) -> Double? {
    fields.angle(negative: UInt8(ascii: "S"), positive: UInt8(ascii: "N"), limit: 90)
  }

  private static func longitude(_ fields: inout FieldReader) -> Double? {
    fields.angle(negative: UInt8(ascii: "W"), positive: UInt8(ascii: "E"), limit: 180)
  }

  /// A course that some say from -180 to 180, or somewhat beyond a full turn.
  private static func course(_ value: Double?) -> Double? {
    guard let value, (-360...720).contains(value) else { return nil }
    let turned = value.truncatingRemainder(dividingBy: 360)
    return turned < 0 ? turned + 360 : turned
  }

  /// A speed over ground has no sign.
  private static func speed(_ value: Double?) -> Double? { value.flatMap { $0 >= 0 ? $0 : nil } }

  /// Whether a sentence that begins with a time says midnight as the end of the day that it dates.
  private static func isDaysEnd(_ fields: FieldReader) -> Bool {
    var fields = fields
    return fields.next().starts(with: "24".utf8)
  }

  /// A kind of sentence that has a time, by who says it.
  private func message(_ sentence: NMEASentence) -> EpochAssembler.Message {
    let number: UInt64 =
      switch sentence {
      case .rmc: 0
      case .gga: 1
      case .gns: 2
      case .gll: 3
      default: 4
      }
    return .init(kind: sentence.rawValue, number: number, talker)
  }

  mutating func position(rmc fields: inout FieldReader, _ received: Timestamp) {
    let isDaysEnd = Self.isDaysEnd(fields)
    guard let moment = fields.moment() else { return }
    let isValid = Self.isData(fields.letter())
    let (latitude, longitude) = (Self.latitude(&fields), Self.longitude(&fields))
    let speed = Self.speed(fields.number()).map { $0 * Self.knot }
    let course = Self.course(fields.number())
    let day = fields.number().flatMap(Self.day(ddmmyy:)).map { isDaysEnd ? $0 + 1 : $0 }
    fields.skip(2)
    let kind = fields.letter().flatMap(FixKind.init(mode:))
    let isMeasured = kind != .manual && kind != .simulated
    // Without a fix it may be the day that a clock begins with.
    epochs.take(
      message(.rmc), moment, day: day, isVouched: isValid && isMeasured, received: received
    ) { [talker] part in
      part.kinds.take(kind)
      guard isValid else { return part.word.warn(talker) }
      part.word.vouch(talker)
      part.place(latitude, longitude, by: talker)
      if let speed { part.fix.speed = speed }
      if let course { part.fix.course = course }
      part.hasSpeed = part.hasSpeed || speed != nil
      part.hasCourse = part.hasCourse || course != nil
    }
  }

  /// A for data, V for a warning; and D, of some, for data corrected by a reference station.
  private static func isData(_ status: UInt8?) -> Bool {
    status == UInt8(ascii: "A") || status == UInt8(ascii: "D")
  }

  mutating func position(gga fields: inout FieldReader, _ received: Timestamp) {
    guard let moment = fields.moment() else { return }
    let (latitude, longitude) = (Self.latitude(&fields), Self.longitude(&fields))
    let quality = fields.integer()
    let satellites = fields.integer()
    let hdop = fields.number()
    let altitude = fields.number()
    fields.skip(1)
    let separation = fields.number()
    fields.skip(1)
    let corrections = Self.corrections(&fields)
    epochs.take(message(.gga), moment, received: received) { [talker] part in
      if quality == nil { part.unvouchedAltitude = altitude }
      part.kinds.take(quality.flatMap(FixKind.init(quality:)))
      part.correct(corrections)
      part.place(
        isFix: quality ?? 0 > 0, latitude, longitude, altitude: altitude, separation: separation,
        satellites: satellites, hdop: hdop, by: talker)
    }
  }

  mutating func position(gns fields: inout FieldReader, _ received: Timestamp) {
    guard let moment = fields.moment() else { return }
    let (latitude, longitude) = (Self.latitude(&fields), Self.longitude(&fields))
    // One letter a constellation; N is none. Without any it speaks of what one constellation has added to the fix that
    // another GNS tells.
    let modes = fields.next()
    guard !modes.isEmpty else { return }
    let isFix = modes.contains { $0 != UInt8(ascii: "N") }
    // Each constellation has its own, and the position is as fine as the finest.
    let kind = modes.lazy.compactMap(FixKind.init(mode:)).max()
    let satellites = fields.integer()
    let hdop = fields.number()
    let altitude = fields.number()
    let separation = fields.number()
    let corrections = Self.corrections(&fields)
    epochs.take(message(.gns), moment, received: received) { [talker] part in
      part.kinds.take(kind)
      part.correct(corrections)
      part.place(
        isFix: isFix, latitude, longitude, altitude: altitude, separation: separation,
        satellites: satellites, hdop: hdop, by: talker)
    }
  }

  mutating func position(gll fields: inout FieldReader, _ received: Timestamp) {
    let (latitude, longitude) = (Self.latitude(&fields), Self.longitude(&fields))
    // Before NMEA 2.0 it had no time, nor a word whether it is valid.
    guard fields.remaining > 0, let moment = fields.moment() else { return }
    let status = fields.letter()
    let kind = fields.letter().flatMap(FixKind.init(mode:))
    epochs.take(message(.gll), moment, received: received) { [talker] part in
      part.kinds.take(kind)
      // Without a status it says nothing of that.
      guard status == nil || Self.isData(status) else { return part.word.warn(talker) }
      if status != nil { part.word.vouch(talker) }
      // It has the least to say: it fills in, it does not overrule.
      if part.fix.latitude == nil { part.place(latitude, longitude, by: talker) }
    }
  }

  mutating func motion(vtg fields: inout FieldReader, _ received: Timestamp) {
    let course = Self.course(fields.number())
    fields.skip(3)
    let knots = fields.number()
    fields.skip(1)
    let kilometresAnHour = fields.number()
    fields.skip(1)
    let kind = fields.letter().flatMap(FixKind.init(mode:))
    var motion = TimelessMotion(kind: kind)
    if kind != FixKind.none {
      motion.course = course
      motion.speed = Self.speed(knots.map { $0 * Self.knot } ?? kilometresAnHour.map { $0 / 3.6 })
    }
    epochs.take(motion, received: received)
  }

  mutating func accuracy(gst fields: inout FieldReader, _ received: Timestamp) {
    guard let moment = fields.moment() else { return }
    fields.skip(4)
    let (north, east, up) = (fields.number(), fields.number(), fields.number())
    epochs.take(message(.gst), moment == .unknown ? .none : moment, received: received) {
      part in
      if let north, let east, north >= 0, east >= 0, north + east > 0 {
        part.fix.setHorizontal(variances: north * north, east * east)
      }
      if let up, up > 0 { part.fix.verticalAccuracy = up }
    }
  }

  mutating func date(zda fields: inout FieldReader, _ received: Timestamp) {
    let isDaysEnd = Self.isDaysEnd(fields)
    let time = fields.moment()?.timeOfDay
    let (day, month, year) = (fields.integer(), fields.integer(), fields.integer())
    if let time, let day, let month, let year, year >= 1980,
      let days = daysSince1970(year: year, month: month, day: day)
    {
      epochs.take(date: isDaysEnd ? days + 1 : days, timeOfDay: time)
    }
    epochs.take(.init(.zda), .none, received: received) { _ in }
  }

  /// `PGRMZ`: a height in feet, for receivers whose GGA has none. Measured by satellites where its dimension is 3
  /// (Garmin GPS interface specification, section 5).
  mutating func height(rmz fields: inout FieldReader, _ received: Timestamp) {
    let feet = fields.number()
    let isFeet = fields.letter() == UInt8(ascii: "f")
    let dimension = fields.integer()
    epochs.take(.init(.rmz), .none, received: received) { part in
      guard let feet, isFeet, dimension == 3, part.fix.latitude != nil, part.fix.altitude == nil
      else { return }
      part.fix.altitude = feet * 0.3048
      part.fix.mode = .threeDimensional
    }
  }

  /// `PGRME`: what a Garmin expects of its errors, horizontal and vertical, as far as no GST says so. Its specification
  /// does not say how many are smaller; half of them, as gpsd takes it (driver_nmea0183.c). Of two equal axes 68 % are within
  /// 1.28 times that, of a height one sigma is 1.48 times it.
  mutating func accuracy(rme fields: inout FieldReader, _ received: Timestamp) {
    let (horizontal, isMetric) = (fields.number(), fields.letter() == UInt8(ascii: "M"))
    let (vertical, isMetricToo) = (fields.number(), fields.letter() == UInt8(ascii: "M"))
    epochs.take(.init(.rme), .none, received: received) { part in
      if let horizontal, isMetric, horizontal > 0, part.fix.horizontalAccuracy == nil {
        part.fix.horizontalAccuracy = 1.28 * horizontal
        part.fix.accuracySource = .receiver
      }
      if let vertical, isMetricToo, vertical > 0, part.fix.verticalAccuracy == nil {
        part.fix.verticalAccuracy = 1.48 * vertical
      }
    }
  }

  /// `PUBX,00`: an epoch with u-blox's own accuracies (u-blox M8 protocol description, section 31.3.4).
  mutating func position(ubx fields: inout FieldReader, _ received: Timestamp) {
    guard fields.integer() == 0, let moment = fields.moment() else { return }
    let (latitude, longitude) = (Self.latitude(&fields), Self.longitude(&fields))
    let height = fields.number()
    let status = fields.next()
    let (horizontal, vertical) = (fields.number(), fields.number())
    let speed = Self.speed(fields.number()).map { $0 / 3.6 }
    let (course, down) = (Self.course(fields.number()), fields.number())
    fields.skip(1)
    let (hdop, vdop) = (fields.number(), fields.number())
    let kind = FixKind(pubx: status)
    let isFix = kind != FixKind.none && kind != .timeOnly
    // G2 and D2 are of two dimensions, G3 and D3 of three.
    let isSpatial = status.last == UInt8(ascii: "3")
    epochs.take(.init(kind: 0, number: 5, talker), moment, received: received) { [talker] part in
      part.kinds.take(kind)
      guard isFix, latitude != nil, longitude != nil else { return }
      part.place(latitude, longitude, by: talker)
      if isSpatial, part.bestMode == .none { part.fix.mode = .threeDimensional }
      part.fix.ellipsoidalAltitude = height ?? part.fix.ellipsoidalAltitude
      if let horizontal, horizontal > 0 {
        part.fix.horizontalAccuracy = horizontal
        part.fix.accuracySource = .receiver
      }
      if let vertical, vertical > 0 { part.fix.verticalAccuracy = vertical }
      part.fix.verticalSpeed = down.map { -$0 }
      if let hdop, hdop > 0, hdop < 99 { part.fix.hdop = hdop }
      if let vdop, vdop > 0, vdop < 99 { part.fix.vdop = vdop }
      if !part.hasSpeed, let speed { part.fix.speed = speed }
      if !part.hasCourse, let course { part.fix.course = course }
    }
  }

  /// The age of corrections in seconds, and the station that they are from.
  private static func corrections(_ fields: inout FieldReader) -> FixCorrections {
    let (age, station) = (fields.number(), fields.integer())
    return FixCorrections(
      age: age.flatMap { $0 >= 0 ? $0 : nil },
      station: station.flatMap { (0...4_095).contains($0) ? $0 : nil })
  }

  /// A date of two-digit years: 80 to 99 are the last century's.
  private static func day(ddmmyy: Double) -> Int? {
    guard ddmmyy >= 0, ddmmyy < 320_000 else { return nil }
    let value = Int(ddmmyy)
    let year = value % 100
    return daysSince1970(
      year: year >= 80 ? 1900 + year : 2000 + year, month: value / 100 % 100, day: value / 10_000)
  }
}

extension PartialEpoch {
  /// Takes the corrections of a sentence, as far as it reports any.
  mutating func correct(_ corrections: FixCorrections) {
    self.corrections.age = corrections.age ?? self.corrections.age
    self.corrections.station = corrections.station ?? self.corrections.station
  }

  /// A position; nothing where one half of it is missing.
  mutating func place(_ latitude: Double?, _ longitude: Double?, by talker: NMEADecoder.Talker) {
    guard let latitude, let longitude else { return }
    word.place(talker)
    (fix.latitude, fix.longitude) = (latitude, longitude)
    guard fix.mode == .none else { return }
    fix.mode =
      bestMode > .none ? bestMode : fix.altitude == nil ? .twoDimensional : .threeDimensional
  }

  /// A position with its height, or the word that there is none.
  mutating func place(
    isFix: Bool, _ latitude: Double?, _ longitude: Double?, altitude: Double?, separation: Double?,
    satellites: Int?, hdop: Double?, by talker: NMEADecoder.Talker
  ) {
    if let satellites, satellites >= 0 { fix.satellitesUsed = satellites }
    if let hdop, hdop > 0, hdop < 99 { fix.hdop = hdop }
    // That this sentence has none takes nothing from one that has: they are not always of one mind.
    guard isFix, latitude != nil, longitude != nil else { return }
    if let altitude {
      fix.altitude = altitude
      fix.ellipsoidalAltitude = separation.map { altitude + $0 }
      if fix.mode == .twoDimensional, bestMode == .none { fix.mode = .threeDimensional }
    }
    place(latitude, longitude, by: talker)
  }
}

extension GNSSFix {
  /// The 68 % radius of two axes' variances, square metres, by the receiver's word.
  mutating func setHorizontal(variances a: Double, _ b: Double) {
    // For equal ones 1.51 sigma.
    horizontalAccuracy = 1.51 * ((a + b) / 2).squareRoot()
    accuracySource = .receiver
  }
}
