// What the pages are sent, with time as an argument.

import BoardFile
import Foundation
import LinearAlgebra
@testable import LiveMap
import SensorTypes
import Testing

@Suite struct LiveStateTests {
  static func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 1_000 + seconds) }

  static func state(_ chips: [String] = ["LIS3MDL", "BMP280"]) -> LiveState {
    let statuses = chips.enumerated().map { index, chip in
      SensorStatus(
        index: index, chip: chip, position: "/dev/i2c-1:0x\(10 + index)", state: .starting,
        since: at(0))
    }
    return LiveState(
      board: BoardDescription(
        name: "a \"boat\" <b>", isSimulated: false, isVehicle: false, chips: chips),
      tiles: nil, sensors: statuses, start: at(0)
    ) { ClockReading(seconds: 1_795_219_200 + $0.seconds(since: at(0)), isSet: true) }
  }

  static func heading(_ seconds: Double) -> Observation {
    .heading(
      HeadingEstimate(
        time: at(seconds), magneticHeading: seconds / 100, accuracy: 0.05, trueHeading: 1,
        field: nil, attitude: .identity))
  }

  static func altitude(_ seconds: Double) -> Observation {
    .altitude(
      AltitudeEstimate(
        time: at(seconds), relativeAltitude: seconds, relativeAccuracy: 0.2, pressure: 101_325))
  }

  static func location(_ seconds: Double, latitude: Double) -> Observation {
    var fix = GNSSFix(received: at(seconds), mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.horizontalAccuracy) = (latitude, 13, 2)
    return .location(LocationEstimate(fix: fix, isSimulated: false))
  }

  static func objects(_ messages: [LiveMessage]) throws -> [[String: Any]] {
    try messages.map {
      try #require(JSONSerialization.jsonObject(with: Data($0.text.utf8)) as? [String: Any])
    }
  }

  static func kinds(_ messages: [LiveMessage]) throws -> [String] {
    try objects(messages).compactMap { $0["kind"] as? String }
  }

  @Test func headingsComeTwentyTimesASecondAtMost() throws {
    var state = Self.state()
    let sent = (0..<1_000).flatMap { state.take(Self.heading(Double($0) / 200)) }
    #expect((99...101).contains(sent.count))
    // The last one was held back, and comes when its time has come.
    #expect(try Self.kinds(state.due(at: Self.at(4.996))) == ["clock"])
    let rest = try Self.objects(state.due(at: Self.at(5.1)))
    #expect(rest.first?["magneticHeading"] as? Double == 2.862)
    #expect(state.due(at: Self.at(5.2)).isEmpty)
  }

  @Test func whatWasMeasuredBeforeARestIsNoNewsAfterIt() throws {
    var state = Self.state(["LIS3MDL", "ublox-m10"])
    for observation in [Self.heading(1), Self.heading(1.01), Self.location(1, latitude: 52)] {
      _ = state.take(observation)
    }
    state.rest(at: Self.at(2))
    #expect(try Self.kinds(state.due(at: Self.at(3))) == ["clock"])
    let page = try Self.objects(state.snapshot(at: Self.at(4)))
    let heading = try #require(page.first { $0["kind"] as? String == "heading" })
    #expect(heading["magneticHeading"] == nil && heading["reason"] != nil)
    let altitude = try #require(page.first { $0["kind"] as? String == "altitude" })
    #expect((altitude["reason"] as? String)?.contains("no barometer") == true)
    let location = try #require(page.first { $0["kind"] as? String == "location" })
    #expect(location["latitude"] == nil)
    // The way before stays, and is joined to nothing after it.
    _ = state.take(Self.location(60, latitude: 53))
    let track = try #require(
      Self.objects(state.snapshot(at: Self.at(61))).first { $0["kind"] as? String == "track" })
    let points = try #require(track["points"] as? [[Double]])
    #expect(points.map(\.[3]) == [1, 1] && points.map(\.[0]) == [52, 53])
  }

  @Test func whatToldThePlaceIsForgotten() throws {
    var state = Self.state(["LIS3MDL", "BMP280", "u-blox"])
    let sea = Observation.absoluteAltitude(
      AbsoluteAltitudeEstimate(time: Self.at(1), altitude: 36.5, accuracy: 2))
    for observation in [
      Self.heading(1), sea, Self.altitude(1.5), Self.location(1, latitude: 52.5163),
      .diagnostic("the last position", at: Self.at(1)),
    ] {
      _ = state.take(observation)
    }
    func text() -> String {
      state.snapshot(at: Self.at(2)).map(\.text).joined(separator: "\n")
    }
    #expect(text().contains("52.5163") && text().contains("36.5"))
    state.forgetPlaces(at: Self.at(2))
    for word in ["52.5163", "36.5", "last position", "trueHeading\":57"] {
      #expect(!text().contains(word), "\(word)")
    }
    // The relative altitude stays.
    #expect(text().contains("\"relativeAltitude\":[1.5"))
  }

  @Test func aLossIsSaidAtOnceAndNothingOldBehindIt() throws {
    var state = Self.state()
    _ = state.take(Self.heading(1))
    #expect(state.take(Self.heading(1.01)).isEmpty)
    let lost = try Self.objects(state.take(.headingUnavailable(.uncalibrated, at: Self.at(1.02))))
    #expect(lost.last?["reason"] as? String == "the magnetometer is not calibrated")
    #expect(lost.last?["headingAccuracy"] as? Double == -1)
    #expect(try Self.kinds(state.due(at: Self.at(2))) == ["clock"])
  }

  @Test func aCompassWithoutCalibrationAsksForOneUntilItHasIt() throws {
    var state = Self.state()
    #expect(try Self.kinds(state.take(Self.heading(1))) == ["heading"])
    let lost = try Self.objects(state.take(.headingUnavailable(.uncalibrated, at: Self.at(2))))
    #expect(lost.compactMap { $0["kind"] as? String } == ["prompt", "heading"])
    let words = try #require(lost.first?["message"] as? String)
    #expect(words.hasPrefix("lodestone calibrate magnetometer"))
    let again = state.take(.headingUnavailable(.uncalibrated, at: Self.at(3)))
    #expect(try Self.kinds(again) == ["heading"])
    #expect(try Self.kinds(state.snapshot(at: Self.at(4))).contains("prompt"))
    let calibrated = try Self.objects(state.take(Self.heading(5)))
    #expect(calibrated.compactMap { $0["kind"] as? String } == ["prompt", "heading"])
    #expect(calibrated.first.map { $0["message"] == nil } == true)
    #expect(try !Self.kinds(state.snapshot(at: Self.at(6))).contains("prompt"))
  }

  @Test func altitudesComeTenTimesASecondAtMost() throws {
    var state = Self.state()
    let sent = try Self.kinds((0..<200).flatMap { state.take(Self.altitude(Double($0) / 50)) })
    #expect((39...41).contains(sent.count { $0 == "altitude" }))
    #expect(sent.count { $0 == "altitudeHistory" } == 4)
  }

  @Test func theClockIsToldOnceASecond() throws {
    var state = Self.state()
    let told = (0..<100).flatMap { state.due(at: Self.at(Double($0) / 20)) }
    #expect(try Self.kinds(told) == Array(repeating: "clock", count: 5))
  }

  @Test func aSnapshotHasEverythingAndBeginsWithTheBoard() throws {
    var state = Self.state(["LIS3MDL", "BMP280", "u-blox"])
    _ = state.take(Self.heading(1))
    for second in 0..<5 {
      _ = state.take(Self.location(Double(second), latitude: 52 + Double(second) * 1e-4))
      _ = state.take(Self.altitude(Double(second)))
    }
    _ = state.take(.diagnostic("<script>alert(1)</script>", at: Self.at(2)))
    let snapshot = try Self.objects(state.snapshot(at: Self.at(6)))
    #expect(
      snapshot.compactMap { $0["kind"] as? String } == [
        "board", "clock", "track", "altitudeHistory", "altitude", "heading", "location", "sensor",
        "sensor", "sensor", "error",
      ])
    #expect(snapshot[0]["name"] as? String == "a \"boat\" <b>")
    #expect(snapshot[0]["isSimulated"] as? Bool == false && snapshot[0]["tiles"] == nil)
    #expect(snapshot[1]["monotonic"] as? Double == 6)
    let points = try #require(snapshot[2]["points"] as? [[Double]])
    #expect(points.count == 5 && points.map { $0[3] } == [1, 0, 0, 0, 0])
    #expect(points.last?.prefix(3) == [52.0004, 13, 4])
    #expect(snapshot[3]["relativeAltitude"] as? [Double] == [0, 1, 2, 3, 4])
    #expect(snapshot[3]["altitude"] == nil)
    #expect(snapshot.last?["message"] as? String == "<script>alert(1)</script>")
  }

  @Test func whatABoardLacksIsSaidBeforeAnythingIsMeasured() throws {
    var state = Self.state(["BMP280"])
    let reasons = try Self.objects(state.snapshot(at: Self.at(0))).reduce(into: [String: String]())
    {
      guard let kind = $1["kind"] as? String else { return }
      $0[kind] = $1["reason"] as? String
    }
    #expect(reasons["heading"] == "this board has no magnetometer")
    #expect(reasons["location"] == "this board has no receiver")
    #expect(reasons["altitude"] == "nothing measured yet")
  }

  @Test func aPositionIsTrackedAndALossBreaksTheTrack() throws {
    var state = Self.state()
    let first = state.take(Self.location(0, latitude: 52))
    #expect(try Self.kinds(first) == ["location", "track"])
    #expect(try Self.kinds(state.take(Self.location(0.2, latitude: 52.1))) == ["location"])
    _ = state.take(.locationUnavailable(.noFix, at: Self.at(1)))
    let again = try Self.objects(state.take(Self.location(1.2, latitude: 52)))
    #expect((again.last?["points"] as? [[Double]])?.first?.last == 1)
    #expect(state.track.points.count == 2)
  }

  @Test func heightAboveTheSeaEndsWithTheBarometer() throws {
    var state = Self.state()
    _ = state.take(
      .absoluteAltitude(AbsoluteAltitudeEstimate(time: Self.at(0), altitude: 34, accuracy: 5)))
    _ = state.take(Self.altitude(1))
    let lost = state.take(.altitudeUnavailable(.sensorLost("loose"), at: Self.at(2)))
    #expect(try Self.kinds(lost) == ["altitudeHistory", "altitude"])
    #expect(state.history.rows.map(\.aboveSea) == [34, nil])
    #expect(try !Self.kinds(state.snapshot(at: Self.at(3))).contains("absoluteAltitude"))
  }

  @Test func diagnosticsHaveABound() throws {
    var state = Self.state()
    for number in 0..<1_000 {
      _ = state.take(.diagnostic("\(number)", at: Self.at(Double(number))))
    }
    let kept = try Self.objects(state.snapshot(at: Self.at(0))).compactMap {
      $0["message"] as? String
    }
    #expect(kept == (980..<1_000).map(String.init))
  }
}
