// The numbers of UBX messages that an epoch takes, each in its unit: by u-blox's interface description (M8: UBX-13003221,
// sections 32.13 and 32.17; M10: UBX-21035062).

import SensorTypes
import Testing

@testable import GNSSProtocol

struct UBXFieldTests {
  /// A field of a message, and what its number is in a fix.
  private struct Field {
    var name: String
    var offset: Int
    var size: Int
    var number: Int
    var unit: Double
    var value: (GNSSFix) -> Double?

    init(
      _ name: String, _ offset: Int, _ size: Int, _ number: Int, unit: Double,
      _ value: @escaping (GNSSFix) -> Double?
    ) {
      (self.name, self.offset, self.size, self.number) = (name, offset, size, number)
      (self.unit, self.value) = (unit, value)
    }
  }

  private typealias Part = (Int, Int, Int)

  /// Sends a message with all its fields beside others, and compares each with what is read.
  private func check(
    _ message: (class: UInt8, id: UInt8), length: Int, _ plain: [Part], _ fields: [Field],
    beside others: [UInt8] = []
  ) throws {
    let parts = fields.map { ($0.offset, $0.size, $0.number) }
    let bytes = Stream.message(message.class, message.id, length: length, plain + parts) + others
    let fixes = Stream.fixes(bytes)
    let fix = try #require(fixes.first)
    #expect(fixes.count == 1)
    for field in fields {
      let value = try #require(field.value(fix), "\(field.name)")
      let expected = Double(field.number) * field.unit
      #expect(abs(value - expected) <= 1e-10 * max(1, abs(expected)), "\(field.name): \(value)")
    }
  }

  private static let week: Part = (0, 4, 5_000)
  private static let status = Stream.message(
    1, 3, length: 16, [week, (4, 1, 3), (5, 1, 1)])
  private static let place = Stream.message(
    1, 2, length: 28, [week, (4, 4, 130_000_000), (8, 4, 520_000_000)])

  /// 2026-11-22, 9:37:05, all of it valid; and what that is: the days are those since 1970.
  private static let clock: [Part] = [
    (4, 2, 2026), (6, 1, 11), (7, 1, 22), (8, 1, 9), (9, 1, 37), (10, 1, 5), (11, 1, 7),
  ]
  private static var moment: [Field] {
    let timeOfDay: Double = 9 * 3_600 + 37 * 60 + 5
    let utc: Double = 20_779 * 86_400 + timeOfDay
    return [
      Field("hour, min, sec", 8, 1, 9, unit: timeOfDay / 9) { $0.timeOfDay },
      Field("year, month, day", 7, 1, 22, unit: utc / 22) { $0.utc },
    ]
  }

  private static func position(_ offset: Int) -> [Field] {
    [
      Field("lon", offset, 4, -131_234_567, unit: 1e-7) { $0.longitude },
      Field("lat", offset + 4, 4, 521_234_567, unit: 1e-7) { $0.latitude },
      Field("height", offset + 8, 4, 81_234, unit: 1e-3) { $0.ellipsoidalAltitude },
      Field("hMSL", offset + 12, 4, -3_217, unit: 1e-3) { $0.altitude },
    ]
  }

  @Test("NAV-PVT")
  func pvt() throws {
    let plain = [Self.week] + Self.clock + [(20, 1, 3), (21, 1, 1)]
    try check(
      (1, 7), length: 92, plain,
      Self.position(24) + Self.moment + [
        Field("numSV", 23, 1, 17, unit: 1) { $0.satellitesUsed.map(Double.init) },
        Field("hAcc", 40, 4, 1_507, unit: 1e-3) { $0.horizontalAccuracy },
        Field("vAcc", 44, 4, 2_513, unit: 1e-3) { $0.verticalAccuracy },
        Field("velD", 56, 4, -1_733, unit: -1e-3) { $0.verticalSpeed },
        Field("gSpeed", 60, 4, 14_321, unit: 1e-3) { $0.speed },
        Field("headMot", 64, 4, 27_654_321, unit: 1e-5) { $0.course },
        Field("sAcc", 68, 4, 123, unit: 1e-3) { $0.speedAccuracy },
        Field("headAcc", 72, 4, 254_321, unit: 1e-5) { $0.courseAccuracy },
        Field("pDOP", 76, 2, 153, unit: 1e-2) { $0.pdop },
      ])
  }

  @Test("HNR-PVT")
  func hnr() throws {
    let plain = [Self.week] + Self.clock + [(16, 1, 3), (17, 1, 1)]
    try check(
      (0x28, 0), length: 72, plain,
      Self.position(20) + Self.moment + [
        Field("gSpeed", 36, 4, 14_321, unit: 1e-3) { $0.speed },
        Field("headMot", 44, 4, 27_654_321, unit: 1e-5) { $0.course },
        Field("hAcc", 52, 4, 1_507, unit: 1e-3) { $0.horizontalAccuracy },
        Field("vAcc", 56, 4, 2_513, unit: 1e-3) { $0.verticalAccuracy },
        Field("sAcc", 60, 4, 123, unit: 1e-3) { $0.speedAccuracy },
        Field("headAcc", 64, 4, 254_321, unit: 1e-5) { $0.courseAccuracy },
      ])
  }

  @Test("NAV-POSLLH beside NAV-STATUS")
  func posllh() throws {
    try check(
      (1, 2), length: 28, [Self.week],
      Self.position(4) + [
        Field("hAcc", 20, 4, 1_507, unit: 1e-3) { $0.horizontalAccuracy },
        Field("vAcc", 24, 4, 2_513, unit: 1e-3) { $0.verticalAccuracy },
      ], beside: Self.status)
  }

  @Test("NAV-VELNED beside NAV-POSLLH and NAV-STATUS")
  func velned() throws {
    try check(
      (1, 0x12), length: 36, [Self.week],
      [
        Field("velD", 12, 4, -173, unit: -1e-2) { $0.verticalSpeed },
        Field("gSpeed", 20, 4, 1_432, unit: 1e-2) { $0.speed },
        Field("heading", 24, 4, 27_654_321, unit: 1e-5) { $0.course },
        Field("sAcc", 28, 4, 12, unit: 1e-2) { $0.speedAccuracy },
        Field("cAcc", 32, 4, 254_321, unit: 1e-5) { $0.courseAccuracy },
      ], beside: Self.place + Self.status)
  }

  @Test("NAV-DOP beside NAV-POSLLH and NAV-STATUS")
  func dop() throws {
    try check(
      (1, 4), length: 18, [Self.week],
      [
        Field("pDOP", 6, 2, 153, unit: 1e-2) { $0.pdop },
        Field("vDOP", 10, 2, 127, unit: 1e-2) { $0.vdop },
        Field("hDOP", 12, 2, 86, unit: 1e-2) { $0.hdop },
      ], beside: Self.place + Self.status)
  }

  @Test("NAV-HPPOSLLH beside NAV-STATUS: hundredths of the coarse unit, tenths of millimetres")
  func highPrecision() throws {
    try check(
      (1, 0x14), length: 36, [(4, 4, 5_000), (24, 1, -37), (25, 1, 41), (26, 1, 7), (27, 1, -4)],
      [
        Field("hAcc", 28, 4, 15_071, unit: 1e-4) { $0.horizontalAccuracy },
        Field("vAcc", 32, 4, 25_133, unit: 1e-4) { $0.verticalAccuracy },
        Field("lon", 8, 4, -131_234_567, unit: 1e-7) { $0.longitude.map { $0 + 0.37e-7 } },
        Field("lat", 12, 4, 521_234_567, unit: 1e-7) { $0.latitude.map { $0 - 0.41e-7 } },
        Field("height", 16, 4, 81_234, unit: 1e-3) { $0.ellipsoidalAltitude.map { $0 - 0.7e-3 } },
        Field("hMSL", 20, 4, -3_217, unit: 1e-3) { $0.altitude.map { $0 + 0.4e-3 } },
      ], beside: Self.status)
  }
}
