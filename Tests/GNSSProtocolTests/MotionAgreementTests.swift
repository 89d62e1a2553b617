import Foundation
import SensorTypes
import Testing

/// One place and one motion in every message that a receiver has for them: all of them agree.
struct MotionAgreementTests {
  /// Where a receiver is and how it moves.
  struct Motion: Sendable {
    /// Degrees north and east.
    var latitude: Double
    var longitude: Double
    /// Metres above the WGS 84 ellipsoid, and of the sea's level above it.
    var height: Double
    var separation: Double
    /// m/s.
    var east: Double
    var north: Double
    var up: Double

    /// Metres above the sea.
    var altitude: Double { height - separation }

    /// Over ground, m/s.
    var speed: Double { (east * east + north * north).squareRoot() }

    /// Degrees clockwise from true north, 0 up to 360.
    var course: Double {
      let degrees = atan2(east, north) * 180 / .pi
      return degrees < 0 ? degrees + 360 : degrees
    }

    /// Place and velocity in the earth-centred, earth-fixed frame, metres and m/s. The place is
    /// that of the definition of geodetic coordinates (NIMA TR8350.2, WGS 84). The velocity is the
    /// sum of its parts along the unit vectors to the east, to the north and up at that place.
    var earthCentred: (place: SIMD3<Double>, velocity: SIMD3<Double>) {
      let (a, flattening) = (6_378_137.0, 1 / 298.257_223_563)
      let e2 = flattening * (2 - flattening)
      let (phi, lambda) = (latitude * .pi / 180, longitude * .pi / 180)
      let (sinPhi, cosPhi) = (sin(phi), cos(phi))
      let (sinLambda, cosLambda) = (sin(lambda), cos(lambda))
      let upward = SIMD3<Double>(cosPhi * cosLambda, cosPhi * sinLambda, sinPhi)
      let eastward = SIMD3<Double>(-sinLambda, cosLambda, 0)
      let northward = SIMD3<Double>(-sinPhi * cosLambda, -sinPhi * sinLambda, cosPhi)
      let normal = a / (1 - e2 * sinPhi * sinPhi).squareRoot()
      let ground = normal * SIMD3<Double>(upward.x, upward.y, (1 - e2) * sinPhi)
      let place: SIMD3<Double> = ground + height * upward
      let level: SIMD3<Double> = east * eastward + north * northward
      return (place, level + up * upward)
    }
  }

  /// The messages of one epoch, what they leave out, and the fixes that come of them.
  struct Messages: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The most by which rounding changes a speed, m/s.
    let rounding: Double
    var hasAltitude = true
    var hasClimbRate = true
    let decode: @Sendable (Motion) -> [GNSSFix]
  }

  // MARK: Messages

  private static func scaled(_ value: Double, _ unit: Double) -> Int {
    Int((value / unit).rounded())
  }

  /// Longitude, latitude, height and height above the sea: in this order and in these units in
  /// every UBX message.
  private static func place(_ motion: Motion, at offset: Int) -> [(Int, Int, Int)] {
    [
      (offset, 4, scaled(motion.longitude, 1e-7)), (offset + 4, 4, scaled(motion.latitude, 1e-7)),
      (offset + 8, 4, scaled(motion.height, 1e-3)),
      (offset + 12, 4, scaled(motion.altitude, 1e-3)),
    ]
  }

  /// Three axes in centimetres, or in centimetres a second.
  private static func axes(_ vector: SIMD3<Double>, at offset: Int) -> [(Int, Int, Int)] {
    (0..<3).map { (offset + 4 * $0, 4, scaled(vector[$0], 1e-2)) }
  }

  /// A time of week.
  private static let week: [(Int, Int, Int)] = [(0, 4, 5_000)]

  /// NAV-STATUS: a fix of three dimensions.
  private static let status = Stream.message(1, 0x03, length: 16, week + [(4, 1, 3), (5, 1, 1)])

  private static func pvt(_ motion: Motion) -> [UInt8] {
    let head: [(Int, Int, Int)] = [
      (4, 2, 2026), (6, 1, 11), (7, 1, 22), (10, 1, 5), (11, 1, 7), (20, 1, 3), (21, 1, 1),
    ]
    let velocity: [(Int, Int, Int)] = [
      (48, 4, scaled(motion.north, 1e-3)), (52, 4, scaled(motion.east, 1e-3)),
      (56, 4, scaled(-motion.up, 1e-3)), (60, 4, scaled(motion.speed, 1e-3)),
      (64, 4, scaled(motion.course, 1e-5)),
    ]
    return Stream.message(1, 0x07, length: 92, week + head + velocity + place(motion, at: 24))
  }

  private static func hnr(_ motion: Motion) -> [UInt8] {
    let head: [(Int, Int, Int)] = [
      (4, 2, 2026), (6, 1, 11), (7, 1, 22), (10, 1, 5), (11, 1, 7), (16, 1, 3), (17, 1, 1),
    ]
    let velocity: [(Int, Int, Int)] = [
      (36, 4, scaled(motion.speed, 1e-3)), (44, 4, scaled(motion.course, 1e-5)),
    ]
    return Stream.message(0x28, 0x00, length: 72, week + head + velocity + place(motion, at: 20))
  }

  private static func velned(_ motion: Motion) -> [UInt8] {
    let velocity: [(Int, Int, Int)] = [
      (4, 4, scaled(motion.north, 1e-2)), (8, 4, scaled(motion.east, 1e-2)),
      (12, 4, scaled(-motion.up, 1e-2)), (20, 4, scaled(motion.speed, 1e-2)),
      (24, 4, scaled(motion.course, 1e-5)),
    ]
    return Stream.message(1, 0x12, length: 36, week + velocity)
  }

  private static func posllh(_ motion: Motion) -> [UInt8] {
    Stream.message(1, 0x02, length: 28, week + place(motion, at: 4))
  }

  private static func hpposllh(_ motion: Motion) -> [UInt8] {
    Stream.message(1, 0x14, length: 36, [(4, 4, 5_000)] + place(motion, at: 8))
  }

  private static func sol(_ motion: Motion) -> [UInt8] {
    let (place, velocity) = motion.earthCentred
    let head: [(Int, Int, Int)] = [(10, 1, 3), (11, 1, 1), (47, 1, 9)]
    return Stream.message(
      1, 0x06, length: 52, week + head + axes(place, at: 12) + axes(velocity, at: 28))
  }

  private static func ecef(_ motion: Motion) -> [UInt8] {
    let (place, velocity) = motion.earthCentred
    return Stream.message(1, 0x01, length: 20, week + axes(place, at: 4))
      + Stream.message(1, 0x11, length: 20, week + axes(velocity, at: 4))
  }

  /// `ddmm.mmmmmm` and the hemisphere.
  private static func angle(_ degrees: Double, digits: Int, _ sides: (String, String)) -> String {
    let whole = Int(abs(degrees))
    let minutes = 60 * (abs(degrees) - Double(whole))
    let left = String(repeating: "0", count: max(0, digits - String(whole).count)) + String(whole)
    return left + String(format: "%09.6f", minutes) + "," + (degrees < 0 ? sides.1 : sides.0)
  }

  private static func position(_ motion: Motion) -> String {
    angle(motion.latitude, digits: 2, ("N", "S")) + ","
      + angle(motion.longitude, digits: 3, ("E", "W"))
  }

  private static func sentences(_ motion: Motion) -> [UInt8] {
    // A knot is 1852 m an hour.
    let way = String(format: "%.4f,%.5f", motion.speed * 3_600 / 1_852, motion.course)
    let level = String(format: "%.3f,M,%.3f,M", motion.altitude, motion.separation)
    return Stream.sentence("GPGGA,000005,\(position(motion)),1,08,0.9,\(level),,")
      + Stream.sentence("GPRMC,000005,A,\(position(motion)),\(way),221126,,")
  }

  /// Height above the ellipsoid, km/h, degrees, and m/s downwards (u-blox M8 protocol description,
  /// section 31.3.4).
  private static func pubx(_ motion: Motion) -> [UInt8] {
    let height = String(format: "%.3f", motion.height)
    let way = String(format: "%.4f,%.5f,%.4f", motion.speed * 3.6, motion.course, -motion.up)
    return Stream.sentence(
      "PUBX,00,000005.00,\(position(motion)),\(height),G3,2.1,2.0,\(way),,0.92,1.19,0.77,9,0,0")
  }

  /// TPV: `climb` is positive upwards (gpsd_json(5)).
  private static func report(_ motion: Motion) -> String {
    let keys: [(name: String, value: Double)] = [
      ("lat", motion.latitude), ("lon", motion.longitude), ("altHAE", motion.height),
      ("altMSL", motion.altitude), ("speed", motion.speed), ("track", motion.course),
      ("climb", motion.up),
    ]
    let values = keys.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",")
    let time = "\"2026-11-22T00:00:05.000Z\""
    return "{\"class\":\"TPV\",\"mode\":3,\"time\":\(time),\(values)}"
  }

  // The half of the last digit. In the earth-centred frame that is half a centimetre a second along
  // each of three axes.
  static let messages: [Messages] = [
    Messages(testDescription: "NAV-PVT", rounding: 0.000_5) { Stream.fixes(pvt($0)) },
    Messages(testDescription: "HNR-PVT", rounding: 0.000_5, hasClimbRate: false) {
      Stream.fixes(hnr($0))
    },
    Messages(testDescription: "NAV-POSLLH, NAV-VELNED, NAV-STATUS", rounding: 0.005) {
      Stream.fixes(posllh($0) + velned($0) + status)
    },
    Messages(testDescription: "NAV-HPPOSLLH, NAV-VELNED, NAV-STATUS", rounding: 0.005) {
      Stream.fixes(hpposllh($0) + velned($0) + status)
    },
    Messages(testDescription: "NAV-SOL", rounding: 0.008_7, hasAltitude: false) {
      Stream.fixes(sol($0))
    },
    Messages(
      testDescription: "NAV-POSECEF, NAV-VELECEF, NAV-STATUS", rounding: 0.008_7,
      hasAltitude: false
    ) {
      Stream.fixes(ecef($0) + status)
    },
    Messages(testDescription: "GGA, RMC", rounding: 0.000_05, hasClimbRate: false) {
      Stream.fixes(sentences($0))
    },
    Messages(testDescription: "PUBX,00", rounding: 0.000_05, hasAltitude: false) {
      Stream.fixes(pubx($0))
    },
    Messages(testDescription: "TPV of gpsd", rounding: 0) { motion in
      var listener = GPSDListener()
      listener.hear(report(motion), at: 0)
      listener.finish()
      return listener.fixes
    },
  ]

  // MARK: Motions

  /// All hemispheres, the equator and high latitudes, heights above and below sea and ellipsoid.
  static let motions: [Motion] = {
    let places: [(latitude: Double, longitude: Double, height: Double, separation: Double)] = [
      (0, 0, 10.5, 17.25), (0, -90, -12.5, -3.5), (48.1374, 11.5755, 564.75, 45.75),
      (37.7749, -122.4194, -16.25, -32.5), (-33.8688, 151.2093, 80.5, 22.75),
      (-54.8019, -68.303, 31.5, 12.25), (31.5, 35.5, -410.25, 19.5), (78.2232, 15.6267, 42.5, 30.5),
      (-77.8463, 166.6683, -45.75, -55.5),
    ]
    let velocities: [(east: Double, north: Double, up: Double)] = [
      (0, 30, 0), (30, 0, 0), (0, 0, 5), (0, 0, -5), (-12, 7, 2.5), (3, -40, -8), (-25, -25, 0.4),
    ]
    return places.flatMap { place in
      velocities.map { velocity in
        Motion(
          latitude: place.latitude, longitude: place.longitude, height: place.height,
          separation: place.separation, east: velocity.east, north: velocity.north,
          up: velocity.up)
      }
    }
  }()

  private func isNear(_ found: Double?, _ truth: Double, within limit: Double) -> Bool {
    found.map { abs($0 - truth) <= limit + 1e-9 } ?? false
  }

  @Test(
    "place, heights, speed, course and climb rate are those of the motion in every message",
    arguments: messages)
  func agreement(_ messages: Messages) throws {
    for motion in Self.motions {
      let fixes = messages.decode(motion)
      #expect(fixes.count == 1, "\(motion)")
      let fix = try #require(fixes.first)
      let note = "\(motion): \(fix)"
      #expect(fix.mode == .threeDimensional && fix.isValid)
      // 1e-7 degrees are 11 mm; what is said in centimetres along three axes is within 9.
      let metresPerDegree = 111_320.0
      let (latitude, longitude) = (try #require(fix.latitude), try #require(fix.longitude))
      let north = (latitude - motion.latitude) * metresPerDegree
      let parallel = metresPerDegree * cos(motion.latitude * .pi / 180)
      let east = (longitude - motion.longitude) * parallel
      #expect(abs(north) <= 0.01 && abs(east) <= 0.01, "\(note)")
      #expect(isNear(fix.ellipsoidalAltitude, motion.height, within: 0.01), "\(note)")
      if messages.hasAltitude {
        #expect(isNear(fix.altitude, motion.altitude, within: 0.001), "\(note)")
      } else {
        #expect(fix.altitude == nil)
      }
      #expect(isNear(fix.speed, motion.speed, within: messages.rounding), "\(note)")
      if messages.hasClimbRate {
        #expect(isNear(fix.verticalSpeed, motion.up, within: messages.rounding), "\(note)")
      } else {
        #expect(fix.verticalSpeed == nil)
      }
      // Straight up or down there is no course.
      guard motion.speed > 1 else { continue }
      let course = try #require(fix.course)
      #expect((0..<360).contains(course))
      let turn = (course - motion.course).remainder(dividingBy: 360)
      let limit = 1e-5 + messages.rounding / motion.speed * 180 / .pi
      #expect(abs(turn) <= limit, "\(note)")
    }
  }
}
