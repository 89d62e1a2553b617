#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif
import SensorTypes

/// Reads the navigation messages of u-blox receivers (u-blox M8 protocol description, section 32.18, and
/// M9/M10 interface descriptions; the older ones from the u-blox 6 description).
enum UBXDecoder {
  static let navigation: UInt8 = 0x01

  /// Little-endian numbers at an offset of a payload whose length was checked.
  struct Payload {
    let bytes: UnsafeBufferPointer<UInt8>
    func u1(_ offset: Int) -> UInt8 { bytes[offset] }
    func u2(_ offset: Int) -> UInt16 { UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8 }
    func u4(_ offset: Int) -> UInt32 { UInt32(u2(offset)) | UInt32(u2(offset + 2)) << 16 }
    func i4(_ offset: Int) -> Int32 { Int32(bitPattern: u4(offset)) }
  }

  /// NAV-PVT (0x01 0x07), a whole epoch; `nil` for a payload that is too short.
  static func epoch(pvt bytes: UnsafeBufferPointer<UInt8>, received: Timestamp) -> GNSSFix? {
    guard bytes.count >= 84 else { return nil }
    let payload = Payload(bytes: bytes)
    var fix = GNSSFix(received: received)
    let valid = payload.u1(11)
    let second = Double(payload.u1(10)) + Double(payload.i4(16)) * 1e-9
    let timeOfDay = Double(Int(payload.u1(8)) * 3_600 + Int(payload.u1(9)) * 60) + second
    // Date and time are told apart from guesses of the receiver's own clock by these bits.
    if valid & 0x02 != 0 { fix.timeOfDay = timeOfDay }
    if valid & 0x03 == 0x03,
      let day = daysSince1970(
        year: Int(payload.u2(4)), month: Int(payload.u1(6)), day: Int(payload.u1(7)))
    {
      fix.utc = Double(day) * 86_400 + timeOfDay
    }
    fix.satellitesUsed = Int(payload.u1(23))
    fix.pdop = Double(payload.u2(76)) * 0.01
    fix.isValid = payload.u1(21) & 0x01 != 0
    fix.mode = mode(payload.u1(20))
    guard fix.mode > .none else { return fix }
    fix.longitude = Double(payload.i4(24)) * 1e-7
    fix.latitude = Double(payload.i4(28)) * 1e-7
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
    let second = Double(payload.u1(10)) + Double(payload.i4(12)) * 1e-9
    let timeOfDay = Double(Int(payload.u1(8)) * 3_600 + Int(payload.u1(9)) * 60) + second
    if valid & 0x02 != 0 { fix.timeOfDay = timeOfDay }
    if valid & 0x03 == 0x03,
      let day = daysSince1970(
        year: Int(payload.u2(4)), month: Int(payload.u1(6)), day: Int(payload.u1(7)))
    {
      fix.utc = Double(day) * 86_400 + timeOfDay
    }
    fix.isValid = payload.u1(17) & 0x01 != 0
    fix.mode = mode(payload.u1(16))
    guard fix.mode > .none else { return fix }
    fix.longitude = Double(payload.i4(20)) * 1e-7
    fix.latitude = Double(payload.i4(24)) * 1e-7
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

  /// The messages before NAV-PVT, each with a part of the epoch; returns false for one that says nothing
  /// here.
  static func decode(
    id: UInt8, _ bytes: UnsafeBufferPointer<UInt8>, received: Timestamp, state: inout UBXEpoch
  ) -> Bool {
    let payload = Payload(bytes: bytes)
    switch id {
    case 0x02 where bytes.count >= 28:  // NAV-POSLLH
      state.begin(payload.u4(0), received)
      state.fix.longitude = Double(payload.i4(4)) * 1e-7
      state.fix.latitude = Double(payload.i4(8)) * 1e-7
      state.fix.ellipsoidalAltitude = Double(payload.i4(12)) * 1e-3
      state.fix.altitude = Double(payload.i4(16)) * 1e-3
      state.fix.horizontalAccuracy = Double(payload.u4(20)) * 1e-3
      state.fix.verticalAccuracy = Double(payload.u4(24)) * 1e-3
      state.fix.accuracySource = .receiver
    case 0x03 where bytes.count >= 16:  // NAV-STATUS
      state.begin(payload.u4(0), received)
      state.mode = mode(payload.u1(4))
      state.fix.isValid = payload.u1(5) & 0x01 != 0
    case 0x06 where bytes.count >= 52:  // NAV-SOL
      state.begin(payload.u4(0), received)
      state.mode = mode(payload.u1(10))
      state.fix.isValid = payload.u1(11) & 0x01 != 0
      state.fix.satellitesUsed = Int(payload.u1(47))
      state.fix.pdop = Double(payload.u2(44)) * 0.01
      state.solution = Solution(
        position: SIMD3(
          Double(payload.i4(12)), Double(payload.i4(16)), Double(payload.i4(20))) * 0.01,
        velocity: SIMD3(
          Double(payload.i4(28)), Double(payload.i4(32)), Double(payload.i4(36))) * 0.01)
      let week = Double(payload.u2(8))
      let seconds = Double(payload.u4(0)) * 1e-3 + Double(payload.i4(4)) * 1e-9
      if payload.u1(11) & 0x0C == 0x0C { state.gpsTime = week * 604_800 + seconds }
    case 0x12 where bytes.count >= 36:  // NAV-VELNED
      state.begin(payload.u4(0), received)
      state.fix.verticalSpeed = -Double(payload.i4(12)) * 0.01
      state.fix.speed = Double(payload.u4(20)) * 0.01
      let course = Double(payload.i4(24)) * 1e-5
      state.fix.course = course < 0 ? course + 360 : course
      state.fix.speedAccuracy = Double(payload.u4(28)) * 0.01
      state.fix.courseAccuracy = Double(payload.u4(32)) * 1e-5
    case 0x20 where bytes.count >= 16:  // NAV-TIMEGPS
      state.begin(payload.u4(0), received)
      let seconds = Double(payload.u4(0)) * 1e-3 + Double(payload.i4(4)) * 1e-9
      if payload.u1(11) & 0x04 != 0 {
        state.leapSeconds = Double(Int8(bitPattern: payload.u1(10)))
      }
      if payload.u1(11) & 0x03 == 0x03 {
        state.gpsTime = Double(payload.u2(8)) * 604_800 + seconds
      }
    case 0x21 where bytes.count >= 20:  // NAV-TIMEUTC
      state.begin(payload.u4(0), received)
      let timeOfDay =
        Double(Int(payload.u1(16)) * 3_600 + Int(payload.u1(17)) * 60 + Int(payload.u1(18)))
        + Double(payload.i4(8)) * 1e-9
      if payload.u1(19) & 0x04 != 0,
        let day = daysSince1970(
          year: Int(payload.u2(12)), month: Int(payload.u1(14)), day: Int(payload.u1(15)))
      {
        state.fix.timeOfDay = timeOfDay
        state.fix.utc = Double(day) * 86_400 + timeOfDay
      }
    case 0x04 where bytes.count >= 18:  // NAV-DOP
      state.begin(payload.u4(0), received)
      state.fix.pdop = Double(payload.u2(6)) * 0.01
      state.fix.vdop = Double(payload.u2(10)) * 0.01
      state.fix.hdop = Double(payload.u2(12)) * 0.01
    default: return false
    }
    return true
  }

  /// A fix type: 1 dead reckoning, 2 and 3 by satellites, 4 both, 5 time only, with the antenna's place
  /// surveyed before.
  private static func mode(_ type: UInt8) -> GNSSFix.Mode {
    switch type {
    case 2: .twoDimensional
    case 1, 3, 4, 5: .threeDimensional
    default: .none
    }
  }

  /// Position and velocity in the earth-centred frame, as NAV-SOL gives them, metres and m/s.
  struct Solution: Sendable, Hashable {
    var position: SIMD3<Double>
    var velocity: SIMD3<Double>

    /// Geodetic degrees and metres above the ellipsoid (Bowring 1985, exact to a millimetre near earth).
    var geodetic: (latitude: Double, longitude: Double, height: Double)? {
      let (a, e2) = (6_378_137.0, 0.006_694_379_990_141_316)
      let b = a * (1 - e2).squareRoot()
      let p = (position.x * position.x + position.y * position.y).squareRoot()
      guard p > 1, p.isFinite else { return nil }
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
}

/// An epoch that comes in several UBX messages of one time of week.
struct UBXEpoch: Sendable {
  private var timeOfWeek: UInt32?
  var fix = GNSSFix(received: Timestamp(nanoseconds: 0))
  var mode: GNSSFix.Mode?
  var solution: UBXDecoder.Solution?
  /// Seconds of GPS time since 1980-01-06.
  var gpsTime: Double?
  /// GPS time minus UTC; 18 s since 2017, until a receiver says otherwise.
  var leapSeconds = 18.0
  private var finished: GNSSFix?

  mutating func begin(_ time: UInt32, _ received: Timestamp) {
    guard time != timeOfWeek else { return }
    close()
    timeOfWeek = time
    fix = GNSSFix(received: received)
  }

  mutating func next() -> GNSSFix? {
    defer { finished = nil }
    return finished
  }

  mutating func close() {
    defer {
      timeOfWeek = nil
      (mode, solution, gpsTime) = (nil, nil, nil)
    }
    guard timeOfWeek != nil else { return }
    var fix = self.fix
    if fix.utc == nil, let gpsTime {
      // 1980-01-06 is day 3657.
      let utc = 3_657 * 86_400 + gpsTime - leapSeconds
      fix.utc = utc
      fix.timeOfDay = utc - (utc / 86_400).rounded(.down) * 86_400
    }
    if fix.latitude == nil, let solution, let place = solution.geodetic {
      (fix.latitude, fix.longitude) = (place.latitude, place.longitude)
      fix.ellipsoidalAltitude = place.height
    }
    if fix.speed == nil, let solution, let latitude = fix.latitude, let longitude = fix.longitude {
      let radian = Double.pi / 180
      let (sLat, cLat) = (sin(latitude * radian), cos(latitude * radian))
      let (sLon, cLon) = (sin(longitude * radian), cos(longitude * radian))
      let v = solution.velocity
      let east = -sLon * v.x + cLon * v.y
      let north = -sLat * (cLon * v.x + sLon * v.y) + cLat * v.z
      fix.speed = (east * east + north * north).squareRoot()
      let course = atan2(east, north) / radian
      fix.course = course < 0 ? course + 360 : course
      fix.verticalSpeed = cLat * (cLon * v.x + sLon * v.y) + sLat * v.z
    }
    fix.mode = mode ?? (fix.latitude == nil ? .none : .threeDimensional)
    if fix.mode == .none { (fix.latitude, fix.longitude) = (nil, nil) }
    // Messages without position or state (DOP alone, say) make no epoch.
    if mode != nil || fix.latitude != nil { finished = fix }
  }
}

extension GNSSFix {
  /// Standing still a receiver keeps the last course and says 180 degrees of error: that is no course.
  fileprivate mutating func setCourse(_ degrees: Double, accuracy: Double) {
    guard accuracy < 180 else { return }
    course = degrees < 0 ? degrees + 360 : degrees
    courseAccuracy = accuracy
  }
}
