import SensorTypes

/// Reads the sentences that say where and when (NMEA 0183, version 4.11), of any talker.
enum NMEADecoder {
  /// Metres a second in a knot.
  static let knot = 1_852.0 / 3_600

  /// The last three letters of a sentence's address, as a number.
  private static func code(_ a: Character, _ b: Character, _ c: Character) -> UInt16 {
    [a, b, c].reduce(0) { $0 << 5 | UInt16(($1.asciiValue ?? 64) & 31) }
  }

  private static let rmc = code("R", "M", "C")
  private static let gga = code("G", "G", "A")
  private static let gns = code("G", "N", "S")
  private static let gll = code("G", "L", "L")
  private static let gsa = code("G", "S", "A")
  private static let vtg = code("V", "T", "G")
  private static let gst = code("G", "S", "T")
  private static let zda = code("Z", "D", "A")

  /// Reads one sentence, without `$` and check sum. Returns false for one that says nothing here.
  static func decode(
    _ bytes: UnsafeBufferPointer<UInt8>, received: Timestamp, into assembler: inout EpochAssembler
  ) -> Bool {
    var fields = FieldReader(bytes)
    let address = fields.next()
    guard address.count == 5, address.first != UInt8(ascii: "P") else { return false }
    let code = address.suffix(3).reduce(UInt16(0)) { $0 << 5 | UInt16($1 & 31) }
    switch code {
    case rmc: position(rmc: &fields, received, &assembler)
    case gga: position(gga: &fields, received, &assembler)
    case gns: position(gns: &fields, received, &assembler)
    case gll: position(gll: &fields, received, &assembler)
    case gsa: geometry(gsa: &fields, received, &assembler)
    case vtg: motion(vtg: &fields, received, &assembler)
    case gst: accuracy(gst: &fields, received, &assembler)
    case zda: date(zda: &fields, received, &assembler)
    default: return false
    }
    return true
  }

  private static func latitude(_ fields: inout FieldReader) -> Double? {
    fields.angle(negative: UInt8(ascii: "S"), positive: UInt8(ascii: "N"), limit: 90)
  }

  private static func longitude(_ fields: inout FieldReader) -> Double? {
    fields.angle(negative: UInt8(ascii: "W"), positive: UInt8(ascii: "E"), limit: 180)
  }

  /// A position, or the word that there is none.
  private static func set(
    _ fix: inout GNSSFix, isValid: Bool, _ latitude: Double?, _ longitude: Double?
  ) {
    guard isValid, let latitude, let longitude else {
      fix.mode = .none
      (fix.latitude, fix.longitude) = (nil, nil)
      return
    }
    (fix.latitude, fix.longitude) = (latitude, longitude)
    if fix.mode == .none { fix.mode = fix.altitude == nil ? .twoDimensional : .threeDimensional }
  }

  private static func position(
    rmc fields: inout FieldReader, _ received: Timestamp, _ assembler: inout EpochAssembler
  ) {
    let time = fields.timeOfDay()
    let isValid = fields.letter() == UInt8(ascii: "A")
    let (latitude, longitude) = (Self.latitude(&fields), Self.longitude(&fields))
    let speed = fields.number().map { $0 * knot }
    let course = fields.number()
    let date = fields.number()
    if let time, let date, let day = Self.day(ddmmyy: date) {
      assembler.setDate(day: day, timeOfDay: time)
    }
    assembler.take(rmc, timeOfDay: time, received: received) { fix in
      set(&fix, isValid: isValid, latitude, longitude)
      guard isValid else { return }
      if let speed { fix.speed = speed }
      if let course, (0...360).contains(course) { fix.course = course == 360 ? 0 : course }
    }
  }

  private static func position(
    gga fields: inout FieldReader, _ received: Timestamp, _ assembler: inout EpochAssembler
  ) {
    let time = fields.timeOfDay()
    let (latitude, longitude) = (Self.latitude(&fields), Self.longitude(&fields))
    let quality = fields.integer() ?? 0
    let satellites = fields.integer()
    let hdop = fields.number()
    let altitude = fields.number()
    fields.skip(1)
    let separation = fields.number()
    assembler.take(gga, timeOfDay: time, received: received) { fix in
      if quality > 0, let altitude {
        fix.altitude = altitude
        fix.ellipsoidalAltitude = separation.map { altitude + $0 }
        if fix.mode == .twoDimensional { fix.mode = .threeDimensional }
      }
      set(&fix, isValid: quality > 0, latitude, longitude)
      fix.satellitesUsed = satellites
      if let hdop, hdop > 0 { fix.hdop = hdop }
    }
  }

  private static func position(
    gns fields: inout FieldReader, _ received: Timestamp, _ assembler: inout EpochAssembler
  ) {
    let time = fields.timeOfDay()
    let (latitude, longitude) = (Self.latitude(&fields), Self.longitude(&fields))
    // One letter a constellation; N is none.
    let isValid = fields.next().contains { $0 != UInt8(ascii: "N") }
    let satellites = fields.integer()
    let hdop = fields.number()
    let altitude = fields.number()
    let separation = fields.number()
    assembler.take(gns, timeOfDay: time, received: received) { fix in
      if isValid, let altitude {
        fix.altitude = altitude
        fix.ellipsoidalAltitude = separation.map { altitude + $0 }
        if fix.mode == .twoDimensional { fix.mode = .threeDimensional }
      }
      set(&fix, isValid: isValid, latitude, longitude)
      if let satellites { fix.satellitesUsed = satellites }
      if let hdop, hdop > 0 { fix.hdop = hdop }
    }
  }

  private static func position(
    gll fields: inout FieldReader, _ received: Timestamp, _ assembler: inout EpochAssembler
  ) {
    let (latitude, longitude) = (Self.latitude(&fields), Self.longitude(&fields))
    let time = fields.timeOfDay()
    let isValid = fields.letter() == UInt8(ascii: "A")
    assembler.take(gll, timeOfDay: time, received: received) { fix in
      // GLL has the least to say: it fills in, it does not overrule.
      if fix.latitude == nil || !isValid { set(&fix, isValid: isValid, latitude, longitude) }
    }
  }

  private static func geometry(
    gsa fields: inout FieldReader, _ received: Timestamp, _ assembler: inout EpochAssembler
  ) {
    fields.skip(1)
    let mode = fields.integer().flatMap { UInt8(exactly: $0) }.flatMap(GNSSFix.Mode.init)
    fields.skip(12)
    let (pdop, hdop, vdop) = (fields.number(), fields.number(), fields.number())
    assembler.take(gsa, timeOfDay: nil, received: received) { fix in
      // With several constellations a GSA comes for each; the best counts.
      if let mode, fix.latitude != nil, mode > .none { fix.mode = max(mode, .twoDimensional) }
      if let pdop, pdop > 0, pdop < 99 { fix.pdop = pdop }
      if let hdop, hdop > 0, hdop < 99 { fix.hdop = hdop }
      if let vdop, vdop > 0, vdop < 99 { fix.vdop = vdop }
    }
  }

  private static func motion(
    vtg fields: inout FieldReader, _ received: Timestamp, _ assembler: inout EpochAssembler
  ) {
    let course = fields.number()
    fields.skip(3)
    let knots = fields.number()
    fields.skip(1)
    let kilometresAnHour = fields.number()
    assembler.take(vtg, timeOfDay: nil, received: received) { fix in
      guard fix.latitude != nil else { return }
      if let course, (0...360).contains(course) { fix.course = course == 360 ? 0 : course }
      if let speed = knots.map({ $0 * knot }) ?? kilometresAnHour.map({ $0 / 3.6 }) {
        fix.speed = speed
      }
    }
  }

  private static func accuracy(
    gst fields: inout FieldReader, _ received: Timestamp, _ assembler: inout EpochAssembler
  ) {
    let time = fields.timeOfDay()
    fields.skip(4)
    let (north, east, up) = (fields.number(), fields.number(), fields.number())
    assembler.take(gst, timeOfDay: time, received: received) { fix in
      if let north, let east, north >= 0, east >= 0, north + east > 0 {
        // Sigmas of the two axes; the 68 % radius of the two together (for equal ones 1.51 sigma).
        fix.horizontalAccuracy = 1.51 * ((north * north + east * east) / 2).squareRoot()
        fix.accuracySource = .receiver
      }
      if let up, up > 0 { fix.verticalAccuracy = up }
    }
  }

  private static func date(
    zda fields: inout FieldReader, _ received: Timestamp, _ assembler: inout EpochAssembler
  ) {
    let time = fields.timeOfDay()
    let (day, month, year) = (fields.integer(), fields.integer(), fields.integer())
    if let time, let day, let month, let year, year >= 1980,
      let days = daysSince1970(year: year, month: month, day: day)
    {
      assembler.setDate(day: days, timeOfDay: time)
    }
    // A time by itself begins no epoch: some receivers send it ahead of the position's.
    assembler.take(zda, timeOfDay: nil, received: received) { _ in }
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
