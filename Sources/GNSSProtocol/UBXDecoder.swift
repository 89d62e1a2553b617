import SensorTypes

/// Reads the navigation messages of u-blox receivers (u-blox M8 protocol description, section 32.18, and
/// M9/M10 interface descriptions; the older ones from the u-blox 6 description).
///
/// Here what is a whole epoch by itself; `UBXDecoder+Parts` has what is a part of one, `UBXDecoder+Heading` headings,
/// `UBXDecoder+Sky` satellites and names.
enum UBXDecoder {
  static let navigation: UInt8 = 0x01

  /// Little-endian numbers at an offset of a payload whose length was checked.
  struct Payload {
    let bytes: UnsafeBufferPointer<UInt8>
    func u1(_ offset: Int) -> UInt8 { bytes[offset] }
    func u2(_ offset: Int) -> UInt16 { UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8 }
    func u4(_ offset: Int) -> UInt32 { UInt32(u2(offset)) | UInt32(u2(offset + 2)) << 16 }
    func i1(_ offset: Int) -> Int8 { Int8(bitPattern: u1(offset)) }
    func i2(_ offset: Int) -> Int16 { Int16(bitPattern: u2(offset)) }
    func i4(_ offset: Int) -> Int32 { Int32(bitPattern: u4(offset)) }
    func r4(_ offset: Int) -> Double { Double(Float(bitPattern: u4(offset))) }
    /// Three axes in centimetres (or a second), as metres.
    func metres(_ offset: Int) -> SIMD3<Double> {
      SIMD3(Double(i4(offset)), Double(i4(offset + 4)), Double(i4(offset + 8))) * 0.01
    }
    /// Hour, minute and second at an offset, as seconds of the day; `nil` for what is no time. The fraction may be
    /// negative, and reach into the day before.
    func time(_ offset: Int, nanoseconds: Int32) -> Double? {
      let (hour, minute, second) = (Int(u1(offset)), Int(u1(offset + 1)), Int(u1(offset + 2)))
      guard hour < 24, minute < 60, second <= 60, nanoseconds.magnitude < 1_000_000_000 else {
        return nil
      }
      let time = Double(hour * 3_600 + minute * 60 + second) + Double(nanoseconds) * 1e-9
      // A fraction does not lead out of a leap second.
      return second == 60 ? max(time, Double(hour * 3_600 + minute * 60 + second)) : time
    }
    /// Year, month and day at an offset, as days since 1970-01-01.
    func day(_ offset: Int) -> Int? {
      daysSince1970(
        year: Int(u2(offset)), month: Int(u1(offset + 2)), day: Int(u1(offset + 3)))
    }
    /// Text that ends with a zero or with its field.
    func text(_ offset: Int, _ length: Int) -> String {
      let field = bytes[offset..<min(bytes.count, offset + length)].prefix { $0 != 0 }
      return String(decoding: field.filter { (32..<127).contains($0) }, as: UTF8.self)
    }
  }

  /// NAV-PVT (0x01 0x07), a whole epoch; `nil` for a payload that is too short.
  static func epoch(pvt bytes: UnsafeBufferPointer<UInt8>, received: Timestamp) -> GNSSFix? {
    guard bytes.count >= 84 else { return nil }
    let payload = Payload(bytes: bytes)
    var fix = GNSSFix(received: received)
    let valid = payload.u1(11)
    let time = payload.time(8, nanoseconds: payload.i4(16))
    // Date and time are told apart from guesses of the receiver's own clock by these bits.
    if valid & 0x02 != 0, let time {
      fix.set(time: time, day: valid & 1 != 0 ? payload.day(4) : nil)
    }
    // Bit 7 is a flag of some u-blox 8 receivers.
    fix.satellitesUsed = Int(payload.u1(23) & 0x7F)
    fix.pdop = Double(payload.u2(76)) * 0.01
    let flags = payload.u1(21)
    fix.isValid = flags & 0x01 != 0
    fix.mode = mode(payload.u1(20))
    // invalidLlh: longitude, latitude and heights are not to be used. In the 84 bytes of a u-blox 7 it is reserved.
    let flags3 = bytes.count >= 92 ? payload.u2(78) : 0
    if flags3 & 0x01 != 0 { fix.mode = .none }
    fix.set(
      kind: FixKind(ubx: payload.u1(20), isDifferential: flags & 0x02 != 0, carrier: flags >> 6),
      corrections: FixCorrections(age: correctionAge(class: Int(flags3 >> 1 & 0x0F))))
    guard fix.mode > .none else { return fix }
    guard fix.setPlace(Double(payload.i4(28)) * 1e-7, Double(payload.i4(24)) * 1e-7) else {
      return fix
    }
    fix.ellipsoidalAltitude = Double(payload.i4(32)) * 1e-3
    fix.altitude = Double(payload.i4(36)) * 1e-3
    fix.horizontalAccuracy = Double(payload.u4(40)) * 1e-3
    fix.verticalAccuracy = Double(payload.u4(44)) * 1e-3
    fix.accuracySource = .receiver
    fix.verticalSpeed = -Double(payload.i4(56)) * 1e-3
    fix.speed = Double(payload.i4(60)) * 1e-3
    fix.speedAccuracy = Double(payload.u4(68)) * 1e-3
    let course = Double(payload.i4(64)) * 1e-5
    let courseAccuracy = Double(payload.u4(72)) * 1e-5
    fix.setCourse(course, accuracy: courseAccuracy)
    return fix
  }

  /// HNR-PVT (0x28 0x00), the solution between two epochs of a receiver with its own inertial sensors
  /// (u-blox M8 protocol description, section 32.13.3).
  static func epoch(hnr bytes: UnsafeBufferPointer<UInt8>, received: Timestamp) -> GNSSFix? {
    guard bytes.count >= 72 else { return nil }
    let payload = Payload(bytes: bytes)
    var fix = GNSSFix(received: received)
    let valid = payload.u1(11)
    let time = payload.time(8, nanoseconds: payload.i4(12))
    if valid & 0x02 != 0, let time {
      fix.set(time: time, day: valid & 1 != 0 ? payload.day(4) : nil)
    }
    fix.isValid = payload.u1(17) & 0x01 != 0
    fix.mode = mode(payload.u1(16))
    fix.set(
      kind: FixKind(ubx: payload.u1(16), isDifferential: payload.u1(17) & 0x02 != 0, carrier: 0))
    guard fix.mode > .none else { return fix }
    guard fix.setPlace(Double(payload.i4(24)) * 1e-7, Double(payload.i4(20)) * 1e-7) else {
      return fix
    }
    fix.ellipsoidalAltitude = Double(payload.i4(28)) * 1e-3
    fix.altitude = Double(payload.i4(32)) * 1e-3
    fix.speed = Double(payload.i4(36)) * 1e-3
    fix.horizontalAccuracy = Double(payload.u4(52)) * 1e-3
    fix.verticalAccuracy = Double(payload.u4(56)) * 1e-3
    fix.speedAccuracy = Double(payload.u4(60)) * 1e-3
    fix.accuracySource = .receiver
    fix.setCourse(
      Double(payload.i4(44)) * 1e-5, accuracy: Double(payload.u4(64)) * 1e-5)
    return fix
  }

  /// The upper end of a class of ages, seconds (u-blox F9 interface description, NAV-PVT, lastCorrectionAge); `nil` for none.
  private static func correctionAge(class number: Int) -> Double? {
    number == 0 ? nil : correctionAges[min(number, correctionAges.count) - 1]
  }

  private static let correctionAges: [Double] = [1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120]

  /// A fix type: 1 dead reckoning, 2 and 3 by satellites, 4 both. With 5, time only, the antenna's place is known and not
  /// measured.
  static func mode(_ type: UInt8) -> FixMode {
    switch type {
    case 2: .twoDimensional
    case 1, 3, 4: .threeDimensional
    default: .none
    }
  }
}

extension GNSSFix {
  /// How the position came about, after its mode is set. One of a receiver that solves for time alone is withdrawn.
  mutating func set(kind: FixKind?, corrections: FixCorrections = FixCorrections()) {
    if kind == .timeOnly { withdrawPosition() }
    self.kind = mode == .none && kind != .timeOnly ? FixKind.none : kind
    // Some receivers write zeros where they have no corrections.
    var known = corrections
    if known.age ?? 0 == 0, known.station ?? 0 == 0 { known = FixCorrections() }
    let isCorrected = self.kind.map { $0 >= .differential || $0 == .combined } ?? false
    self.corrections = isCorrected && !known.isEmpty ? known : nil
  }

  /// Takes away the position and all that belongs to it.
  mutating func withdrawPosition() {
    mode = .none
    (latitude, longitude, altitude, ellipsoidalAltitude) = (nil, nil, nil, nil)
    (horizontalAccuracy, verticalAccuracy, accuracySource) = (nil, nil, .worstCase)
    (speed, speedAccuracy, course, courseAccuracy, verticalSpeed) = (nil, nil, nil, nil, nil)
  }

  /// A course with its accuracy. Standing still a receiver keeps the last course and says 180 degrees of error: whether that
  /// is worth anything is judged by whoever uses it.
  mutating func setCourse(_ degrees: Double, accuracy: Double) {
    if setCourse(degrees) { courseAccuracy = accuracy }
  }

  /// A course that some say from -180 to 180; returns false, and changes nothing, for what is none.
  @discardableResult
  mutating func setCourse(_ degrees: Double) -> Bool {
    // Half of the unit in which it is said: a scaled 360 may be a hair more.
    guard abs(degrees) < 360 + 5e-6 else { return false }
    let turned = degrees < 0 ? degrees + 360 : degrees
    course = (0..<360).contains(turned) ? turned : 0
    return true
  }

  /// A position in degrees; there is none, and it returns false, where that lies on no earth: a check sum vouches for
  /// bytes, not for sense.
  @discardableResult
  mutating func setPlace(_ latitude: Double, _ longitude: Double) -> Bool {
    guard abs(latitude) <= 90, abs(longitude) <= 180 else {
      (self.latitude, self.longitude, mode) = (nil, nil, .none)
      return false
    }
    (self.latitude, self.longitude) = (latitude, longitude)
    return true
  }

  /// A time of day, and the day that it is of.
  mutating func set(time: Double, day: Int?) {
    timeOfDay = time < 0 ? time + 86_400 : time
    utc = day.map { Double($0) * 86_400 + time }
  }
}
