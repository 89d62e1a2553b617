import LinearAlgebra
import SensorTypes

/// A report of a Trimble receiver, read and found plausible: nothing else tells a packet of TSIP from chance (Trimble Copernicus and
/// Lassen SK8 manuals, appendix A; ThunderBolt E user guide, appendix A).
enum TSIPReport: Equatable {
  /// 0x41: seconds of GPS time since 1980-01-06, and GPS time minus UTC.
  case time(gpsTime: Double, leapSeconds: Double)
  /// 0x4A or 0x84: degrees, at seconds of the week by GPS or by UTC. The height is left out: it is of the ellipsoid or of the sea by
  /// the receiver's setting.
  case place(latitude: Double, longitude: Double, timeOfFix: Double)
  /// 0x56: m/s to the east, to the north and up.
  case velocity(SIMD3<Double>, timeOfFix: Double)
  /// 0x46: whether positions are being computed.
  case health(hasFix: Bool)
  /// 0x4B: what machine it is. Nothing of it is used.
  case machine
  /// 0x6D: how many dimensions the position has, dilutions, and how many satellites are used.
  case satellites(mode: FixMode, pdop: Double?, hdop: Double?, vdop: Double?, count: Int)
  /// 0x82, the last packet of a fix: whether corrections are applied.
  case corrections(Bool)
  /// 0x8F-20: a whole epoch.
  case epoch(GNSSFix)
  /// 0x8F-AB: UTC of the 0x8F-AC that follows, seconds since 1970-01-01; `nil` where the receiver does not know it.
  case timing(utc: Double?)
  /// 0x8F-AC: the place of a timing receiver's antenna, or the word that there is none.
  case timingPlace(GNSSFix)

  /// Big-endian numbers of a content whose length was checked, at offsets behind the identifier.
  private struct Body {
    let bytes: UnsafeBufferPointer<UInt8>
    func u1(_ offset: Int) -> UInt8 { bytes[offset + 1] }
    func u2(_ offset: Int) -> UInt16 { UInt16(u1(offset)) << 8 | UInt16(u1(offset + 1)) }
    func u4(_ offset: Int) -> UInt32 { UInt32(u2(offset)) << 16 | UInt32(u2(offset + 2)) }
    func i2(_ offset: Int) -> Int { Int(Int16(bitPattern: u2(offset))) }
    func i4(_ offset: Int) -> Double { Double(Int32(bitPattern: u4(offset))) }
    func single(_ offset: Int) -> Double { Double(Float(bitPattern: u4(offset))) }
    func double(_ offset: Int) -> Double {
      Double(bitPattern: UInt64(u4(offset)) << 32 | UInt64(u4(offset + 4)))
    }
  }

  /// Whether packets with an identifier are read.
  static func isKnown(_ identifier: UInt8) -> Bool {
    switch identifier {
    case 0x41, 0x46, 0x4A, 0x4B, 0x56, 0x6D, 0x82, 0x84, 0x8F: true
    default: false
    }
  }

  /// Reads identifier and data of a packet; `nil` for a packet of another kind, or whose values cannot be.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let identifier = bytes.first, !Self.isGarmin(bytes) else { return nil }
    let body = Body(bytes: bytes)
    let report: TSIPReport? =
      switch (identifier, bytes.count - 1) {
      case (0x41, 10): Self.time(body)
      case (0x4A, 20):
        Self.place(body.single(0), body.single(4), body.single(8), body.single(12), body.single(16))
      case (0x84, 36):
        Self.place(
          body.double(0), body.double(8), body.double(16), body.double(24), body.single(32))
      case (0x56, 20): Self.velocity(body)
      case (0x46, 2): body.u1(0) <= 0x20 ? .health(hasFix: body.u1(0) == 0) : nil
      case (0x4B, 3): .machine
      case (0x6D, 17...32): Self.satellites(body, count: bytes.count - 18)
      case (0x82, 1): body.u1(0) <= 3 ? .corrections(body.u1(0) & 1 != 0) : nil
      case (0x8F, 56) where body.u1(0) == 0x20: Self.lastFix(body)
      case (0x8F, 17) where body.u1(0) == 0xAB: Self.timing(body)
      case (0x8F, 68) where body.u1(0) == 0xAC: Self.timingPlace(body)
      default: nil
      }
    guard let report else { return nil }
    self = report
  }

  /// Whether a packet is one of Garmin's, whose frame is the same: its size comes first, and all of it with its last byte is zero.
  private static func isGarmin(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    bytes.count >= 3 && Int(bytes[1]) == bytes.count - 3 && bytes.reduce(0, &+) == 0
  }

  private static let week = 604_800.0
  /// No receiver of Trimble's is older than the first, and none newer than the second.
  private static let weeks = 0...5_000
  private static let radian = Double.pi / 180
  private static let noTime = Timestamp(nanoseconds: 0)

  private static func isHeight(_ meters: Double) -> Bool { (-2_000...100_000).contains(meters) }

  private static func time(_ body: Body) -> TSIPReport? {
    let (time, number, offset) = (body.single(0), body.i2(4), body.single(6))
    guard (0..<week).contains(time), weeks.contains(number), (0...60).contains(offset),
      offset == offset.rounded()
    else { return nil }
    return .time(gpsTime: Double(number) * week + time, leapSeconds: offset)
  }

  /// Latitude and longitude in radians. At its start a receiver tells a place of before, with a negative time.
  private static func place(
    _ latitude: Double, _ longitude: Double, _ height: Double, _ bias: Double, _ time: Double
  ) -> TSIPReport? {
    guard abs(latitude) <= .pi / 2, abs(longitude) <= .pi, isHeight(height), bias.isFinite,
      (0..<week).contains(time)
    else { return nil }
    return .place(latitude: latitude / radian, longitude: longitude / radian, timeOfFix: time)
  }

  private static func velocity(_ body: Body) -> TSIPReport? {
    let velocity = SIMD3(body.single(0), body.single(4), body.single(8))
    let time = body.single(16)
    guard abs(velocity.x) <= 2_000, abs(velocity.y) <= 2_000, abs(velocity.z) <= 2_000,
      body.single(12).isFinite, (0..<week).contains(time)
    else { return nil }
    return .velocity(velocity, timeOfFix: time)
  }

  private static func satellites(_ body: Body, count: Int) -> TSIPReport? {
    let dilutions = SIMD4(body.single(1), body.single(5), body.single(9), body.single(13))
    guard Int(body.u1(0) >> 4) == count, dilutions.min() >= 0, dilutions.max() <= 1_000 else {
      return nil
    }
    let mode: FixMode =
      switch body.u1(0) & 7 {
      case 3: .twoDimensional
      case 4: .threeDimensional
      default: .none
      }
    func known(_ value: Double) -> Double? { value > 0 && value < 99 ? value : nil }
    return .satellites(
      mode: mode, pdop: known(dilutions.x), hdop: known(dilutions.y), vdop: known(dilutions.z),
      count: count)
  }

  private static func lastFix(_ body: Body) -> TSIPReport? {
    let flags = body.u1(27)
    let (time, number, offset) = (body.u4(8), Int(body.u2(30)), Double(body.u1(29)))
    // A semicircle is 2 to the 31.
    let (latitude, east) = (body.i4(12) * 180 / 0x1p31, Double(body.u4(16)) * 180 / 0x1p31)
    let height = body.i4(20) * 1e-3
    guard body.u1(24) <= 1, flags & 0xE0 == 0, body.u1(28) <= 32, offset <= 60,
      time < 604_800_000, weeks.contains(number), abs(latitude) <= 90, isHeight(height)
    else { return nil }
    var fix = GNSSFix(received: noTime)
    fix.satellitesUsed = Int(body.u1(28))
    guard flags & 0x01 == 0 else {
      fix.kind = FixKind.none
      return .epoch(fix)
    }
    fix.mode = flags & 0x04 == 0 ? .threeDimensional : .twoDimensional
    fix.setPlace(latitude, east > 180 ? east - 360 : east)
    fix.ellipsoidalAltitude = height
    let utc = LeapSeconds.utc(
      gpsTime: Double(number) * week + Double(time) * 1e-3, leapSeconds: offset)
    (fix.utc, fix.timeOfDay) = (utc, utc - (utc / 86_400).rounded(.down) * 86_400)
    let scale = body.u1(24) == 0 ? 0.005 : 0.02
    func speed(_ offset: Int) -> Double? {
      body.i2(offset) == Int(Int16.min) ? nil : Double(body.i2(offset)) * scale
    }
    if let east = speed(2), let north = speed(4) { fix.setVelocity(east: east, north: north) }
    fix.verticalSpeed = speed(6)
    // Receivers of later years say nothing of corrections there.
    if flags & 0x02 != 0 { fix.set(kind: .differential) }
    return .epoch(fix)
  }

  private static func timing(_ body: Body) -> TSIPReport? {
    let flags = body.u1(9)
    let (hour, minute, second) = (Int(body.u1(12)), Int(body.u1(11)), Int(body.u1(10)))
    guard flags & 0xE0 == 0, hour < 24, minute < 60, second <= 60, body.u4(1) < 604_800,
      (0...60).contains(body.i2(7)),
      let day = daysSince1970(
        year: Int(body.u2(15)), month: Int(body.u1(14)), day: Int(body.u1(13)))
    else { return nil }
    // Bit 0: UTC, else GPS time; 2: not set; 3: the offset is not known.
    guard flags & 0x04 == 0, flags & 0x09 != 0x08 else { return .timing(utc: nil) }
    let offset = flags & 0x01 == 0 ? Double(body.i2(7)) : 0
    return .timing(utc: Double(day * 86_400 + hour * 3_600 + minute * 60 + second) - offset)
  }

  private static func timingPlace(_ body: Body) -> TSIPReport? {
    let (receiverMode, status) = (body.u1(1), body.u1(12))
    let (latitude, longitude) = (body.double(36), body.double(44))
    guard receiverMode <= 8, status <= 0x20, abs(latitude) <= .pi / 2, abs(longitude) <= .pi,
      isHeight(body.double(52)), body.single(16).isFinite, body.single(32).isFinite
    else { return nil }
    var fix = GNSSFix(received: noTime)
    // 0: by two or three dimensions, 3: two, 4: three. The others have the place of the antenna, and solve for time.
    let isTimeOnly = receiverMode != 0 && receiverMode != 3 && receiverMode != 4
    if status == 0, !isTimeOnly {
      fix.mode = receiverMode == 3 ? .twoDimensional : .threeDimensional
      fix.setPlace(latitude / radian, longitude / radian)
    }
    if status == 0, isTimeOnly { fix.set(kind: .timeOnly) }
    if status != 0 { fix.kind = FixKind.none }
    return .timingPlace(fix)
  }
}

extension GNSSFix {
  /// Speed and course of a velocity, m/s. Of one that is nearly none there is no course.
  mutating func setVelocity(east: Double, north: Double) {
    let speed = (east * east + north * north).squareRoot()
    self.speed = speed
    if speed > 0.1 { setCourse(atan2(east, north) * 180 / .pi) }
  }
}
