// A base station: what it is told, and what it reports of its survey.

import SensorTypes
import Testing

@testable import GNSSProtocol

@Suite struct BaseStationTests {
  private func payload(_ message: [UInt8]) -> [UInt8] { Array(message[10..<(message.count - 2)]) }

  private func keyed(_ key: UInt32, _ value: [UInt8]) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: key >> (8 * UInt32($0))) } + value
  }

  // UBX-21022436, CFG-TMODE: survey-in is mode 1; 300 s, 2 m are 20000 tenths of a millimeter.
  @Test("u-blox: a survey is its mode, its time and its accuracy, in RAM")
  func survey() {
    let message = UBXMessages.base(.survey(seconds: 300, accuracy: 2))
    #expect(Array(message[2..<10]) == [0x06, 0x8A, 25, 0, 0, 1, 0, 0])
    #expect(
      payload(message)
        == keyed(0x2003_0001, [1]) + keyed(0x4003_0010, [0x2C, 0x01, 0, 0])
        + keyed(0x4003_0011, [0x20, 0x4E, 0, 0]))
    #expect(payload(UBXMessages.surveyReports(on: .uart1, every: 5)) == keyed(0x2091_0089, [5]))
    #expect(payload(UBXMessages.surveyReports(on: .ddc, every: 5)) == keyed(0x2091_0088, [5]))
  }

  @Test("u-blox: a place is split into two numbers each, both of its sign")
  func known() {
    let message = UBXMessages.base(
      .known(latitude: -33.000000001, longitude: 11.123456789, height: 565.4321, accuracy: 0.05))
    func word(_ value: Int32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * Int32($0))) }
    }
    #expect(
      payload(message)
        == keyed(0x2003_0001, [2]) + keyed(0x2003_0002, [1])
        + keyed(0x4003_0009, word(-330_000_000)) + keyed(0x2003_000C, [0xFF])
        + keyed(0x4003_000A, word(111_234_567)) + keyed(0x2003_000D, [89])
        + keyed(0x4003_000B, word(56_543)) + keyed(0x2003_000E, [21])
        + keyed(0x4003_000F, word(500)))
    let plain = UBXMessages.base(
      .known(latitude: 90, longitude: -180, height: -1, accuracy: nil))
    #expect(
      payload(plain).suffix(10)
        == (keyed(0x4003_000B, word(-100)) + keyed(0x2003_000E, [0]))[...].suffix(10))
    // Numbers that are none end in a bound and not in a trap.
    for number in [Double.nan, .infinity, -.infinity, 1e300] {
      _ = UBXMessages.base(.survey(seconds: number, accuracy: number))
      _ = UBXMessages.base(
        .known(latitude: number, longitude: number, height: number, accuracy: number))
    }
  }

  // The earth-centred coordinates of 48.1374 N, 11.5755 E, 564.7 m were computed apart from this code.
  @Test("NAV-SVIN: time, accuracy and mean of a survey that goes on, and of one that is over")
  func report() throws {
    func message(valid: Int, active: Int, version: Int = 0) -> [UInt8] {
      Stream.message(
        1, 0x3B, length: 40,
        [
          (0, 1, version), (4, 4, 116_060_000), (8, 4, 120), (12, 4, 417_798_912),
          (16, 4, 85_575_635), (20, 4, 472_750_606), (24, 1, 49), (25, 1, 56), (26, 1, 50),
          (28, 4, 18_500), (32, 4, 121), (36, 1, valid), (37, 1, active),
        ])
    }
    func heard(_ bytes: [UInt8]) -> BaseSurvey? {
      var decoder = GNSSDecoder()
      bytes.withUnsafeBytes { decoder.append($0, at: Timestamp(nanoseconds: 7)) }
      while decoder.next() != nil {}
      return decoder.condition.survey
    }
    let survey = try #require(heard(message(valid: 0, active: 1)))
    #expect(survey.isActive && !survey.isValid && survey.seconds == 120)
    #expect(abs(survey.accuracy - 1.85) < 1e-9)
    #expect(abs(try #require(survey.latitude) - 48.1374) < 1e-8)
    #expect(abs(try #require(survey.longitude) - 11.5755) < 1e-8)
    #expect(abs(try #require(survey.height) - 564.7) < 1e-3)
    let over = try #require(heard(message(valid: 1, active: 0)))
    #expect(!over.isActive && over.isValid)
    #expect(heard(message(valid: 0, active: 0)) == nil)
    #expect(heard(message(valid: 1, active: 0, version: 1)) == nil)
    // Before the first position the mean is the center of the earth, which is no place.
    let empty = heard(Stream.message(1, 0x3B, length: 40, [(37, 1, 1)]))
    #expect(empty?.isActive == true && empty?.latitude == nil && empty?.height == nil)
    #expect(heard(Stream.message(1, 0x3B, length: 39, [(37, 1, 1)])) == nil)
    // A survey that ended because base mode was left is no longer told.
    #expect(heard(message(valid: 0, active: 1) + message(valid: 0, active: 0)) == nil)
  }

  // Unicore Reference Commands Manual For N4 High Precision Products, MODE BASE.
  @Test("Unicore: a survey of up to an hour, and a place in the earth-centred frame")
  func unicore() {
    #expect(
      ReceiverSentences.unicoreBase(.survey(seconds: 300, accuracy: 2)) == "MODE BASE TIME 300 0")
    #expect(
      ReceiverSentences.unicoreBase(.survey(seconds: 3_600, accuracy: 2)) == "MODE BASE TIME 3600 0"
    )
    #expect(ReceiverSentences.unicoreBase(.survey(seconds: 3_601, accuracy: 2)) == nil)
    func place(_ latitude: Double, _ longitude: Double, _ height: Double) -> String? {
      ReceiverSentences.unicoreBase(
        .known(latitude: latitude, longitude: longitude, height: height, accuracy: nil))
    }
    #expect(place(48.1374, 11.5755, 564.7) == "MODE BASE 4177989.1249 855756.3556 4727506.0650")
    #expect(place(-33.85, -70.65, 564.7) == "MODE BASE 1757089.1927 -5003457.4502 -3532955.2948")
    // What the command would take for degrees or a height: beside the equator, the prime meridian and 90 degrees.
    for (latitude, longitude) in [(0.1, 11.5), (48, 0.001), (48, 90), (0, 0), (90, 0)] {
      #expect(place(latitude, longitude, 0) == nil, "\(latitude) \(longitude)")
    }
    #expect(place(.nan, 0, 0) == nil && place(48, 11, 1e9) == nil)
  }
}
