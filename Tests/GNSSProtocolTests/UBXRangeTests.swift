import GNSSProtocol
import SensorTypes
import Testing

/// A check sum that fits says that bytes came over, not that they make sense.
struct UBXRangeTests {
  /// NAV-PVT of 2026-11-22 at a time and a place, bytes 8 and on by the u-blox M8 protocol description, 32.18.14.
  private func pvt(
    hour: Int = 3, minute: Int = 4, nanoseconds: Int = 0, longitude: Int = 130_000_000,
    latitude: Int = 520_000_000, course: Int = 9_000_000
  ) -> [UInt8] {
    Stream.message(
      1, 7, length: 92,
      [
        (4, 2, 2026), (6, 1, 11), (7, 1, 22), (8, 1, hour), (9, 1, minute), (11, 1, 7),
        (16, 4, nanoseconds), (20, 1, 3), (21, 1, 1), (24, 4, longitude), (28, 4, latitude),
        (36, 4, 36_000), (40, 4, 1_500), (60, 4, 1_400), (64, 4, course), (72, 4, 250_000),
      ])
  }

  @Test(arguments: [(1_800_000_001, 0), (-1_931_767_766, 0), (0, 900_000_001), (0, -2_000_000_000)])
  func aPlaceOnNoEarthIsNone(longitude: Int, latitude: Int) throws {
    let fix = try #require(Stream.fixes(pvt(longitude: longitude, latitude: latitude)).first)
    #expect(fix.mode == .none && fix.latitude == nil && fix.longitude == nil)
    #expect(fix.altitude == nil && fix.horizontalAccuracy == nil)
    // NAV-POSLLH with NAV-STATUS of the same moment.
    let parts =
      Stream.message(1, 2, length: 28, [(0, 4, 5), (4, 4, longitude), (8, 4, latitude)])
      + Stream.message(1, 3, length: 16, [(0, 4, 5), (4, 1, 3), (5, 1, 1)])
    #expect(Stream.fixes(parts).allSatisfy { $0.latitude == nil && $0.longitude == nil })
    // HNR-PVT.
    let between = Stream.message(
      0x28, 0, length: 72,
      [(16, 1, 3), (17, 1, 1), (20, 4, longitude), (24, 4, latitude), (32, 4, 36_000)])
    #expect(Stream.fixes(between).map(\.mode) == [.none])
    #expect(Stream.fixes(between).map(\.altitude) == [nil])
  }

  // NAV-SOL says it in centimetres from the centre; 638 km from the axis in the equator's plane is deep inside.
  @Test func aPlaceInTheDepthOfTheEarthIsNone() throws {
    func solution(_ x: Int, _ z: Int) -> GNSSFix? {
      Stream.fixes(
        Stream.message(
          1, 6, length: 52, [(0, 4, 5), (10, 1, 3), (11, 1, 1), (12, 4, x), (20, 4, z)])
      ).first
    }
    #expect(solution(637_813_700, 0)?.latitude == 0)
    // A pole, b = 6,356,752.314 m.
    #expect(abs((solution(100, 635_675_231)?.latitude ?? 0) - 90) < 1e-4)
    #expect(solution(63_813_700, 0)?.latitude == nil && solution(1_000, -1)?.latitude == nil)
    #expect(solution(63_813_700, 0)?.longitude == nil)
  }

  @Test func theEndsOfTheEarthAreOnIt() throws {
    let fix = try #require(
      Stream.fixes(pvt(longitude: -1_800_000_000, latitude: 900_000_000)).first)
    #expect(fix.latitude == 90 && fix.longitude == -180 && fix.mode == .threeDimensional)
  }

  @Test func aTimeThatIsNoneIsNone() throws {
    for message in [pvt(hour: 24), pvt(minute: 60), pvt(nanoseconds: 1_000_000_000)] {
      let fix = try #require(Stream.fixes(message).first)
      #expect(fix.timeOfDay == nil && fix.utc == nil && fix.latitude == 52)
    }
  }

  // A receiver rounds to the hundredth and says what is left in nanoseconds of either sign.
  @Test func aMomentBeforeMidnightIsOfTheDayBefore() throws {
    let fix = try #require(Stream.fixes(pvt(hour: 0, minute: 0, nanoseconds: -250_000_000)).first)
    #expect(fix.timeOfDay == 86_399.75)
    // 2026-11-22T00:00:00Z is 1,795,305,600.
    #expect(fix.utc == 1_795_305_599.75)
  }

  @Test(arguments: [
    (-9_000_000, 270.0), (36_000_000, 0), (36_000_001, nil), (2_000_000_000, nil),
  ]) func aCourseIsOfACircle(course: Int, degrees: Double?) throws {
    let fix = try #require(Stream.fixes(pvt(course: course)).first)
    #expect(fix.course == degrees && (fix.courseAccuracy == nil) == (degrees == nil))
  }

  @Test func aHairBelowNorthIsNorth() {
    let headings = Stream.headings(Stream.sentence("HCHDG,0,.00000000000001,W,0,E"))
    #expect(headings.map(\.magneticHeading) == [0] && headings.map(\.trueHeading) == [0])
  }
}
