// Deltas of Signal K, read with Foundation's JSON.

import Foundation
import SensorTypes
import Testing

@testable import OutputProtocols

@Suite("deltas of Signal K") struct SignalKDeltaTests {
  static let always = SignalKRule(.instant, period: 1, minimum: 0.05)

  static func snapshot(
    _ state: PublishedState, at now: Timestamp = NMEA0183Board.now,
    clock: ClockReading = NMEA0183Board.clock, outside: Bool = false
  ) -> SignalKSnapshot {
    SignalKSnapshot(state, at: now, clock: clock, measuresOutsideAir: outside)
  }

  struct Told {
    var values: [String: Any] = [:]
    var sources: [String: String] = [:]
    var times: [String: String] = [:]
    var meta: [String: [String: Any]] = [:]
  }

  static func read(_ messages: [String]) throws -> Told {
    var told = Told()
    for message in messages {
      #expect(message.utf8.count <= 1_400 && !message.contains("\n"))
      let delta = try #require(
        try JSONSerialization.jsonObject(with: Data(message.utf8)) as? [String: Any])
      #expect(delta["context"] as? String == "vessels.self")
      for update in try #require(delta["updates"] as? [[String: Any]]) {
        for value in update["values"] as? [[String: Any]] ?? [] {
          let path = try #require(value["path"] as? String)
          told.values[path] = value["value"]
          told.sources[path] = update["$source"] as? String
          told.times[path] = update["timestamp"] as? String
        }
        for meta in update["meta"] as? [[String: Any]] ?? [] {
          let path = try #require(meta["path"] as? String)
          told.meta[path] = meta["value"] as? [String: Any]
        }
      }
    }
    return told
  }

  @Test("what a board knows is in the paths and units of the specification") func values() throws {
    var writer = SignalKDeltaWriter(SignalKOptions())
    let told = try Self.read(
      writer.deltas(Self.snapshot(NMEA0183Board.full, outside: true)) { _ in Self.always })
    // Degrees, knots, hPa and degrees Celsius of the board in radians, m/s, Pa and K.
    let numbers: [String: Double] = [
      "navigation.headingMagnetic": 2.239_257, "navigation.headingTrue": 2.293_363,
      "navigation.headingAccuracy": 0.017_104, "navigation.magneticVariation": 0.054_105,
      "navigation.magneticVariationAgeOfService": 1_795_316_640,
      "navigation.rateOfTurn": -0.034_907, "navigation.attitudeAccuracy": 0.010_680,
      "navigation.positionAccuracy": 4.897, "navigation.altitudeAccuracy": 8.82,
      "navigation.speedOverGround": 1.5, "navigation.courseOverGroundTrue": 4.738_569,
      "navigation.courseOverGroundMagnetic": 4.684_464, "navigation.gnss.satellites": 9,
      "navigation.gnss.antennaAltitude": 100.25, "navigation.gnss.horizontalDilution": 0.9,
      "navigation.gnss.positionDilution": 1.5, "navigation.gnss.geoidalSeparation": -19.75,
      "navigation.gnss.differentialAge": 1.5, "navigation.gnss.differentialReference": 120,
      "environment.outside.pressure": 99_720, "environment.outside.temperature": 290.35,
      "environment.outside.relativeHumidity": 0.474,
    ]
    for (path, number) in numbers {
      let found = (told.values[path] as? Double) ?? .nan
      #expect(abs(found - number) < 0.000_6, "\(path): \(found)")
    }
    let place = try #require(told.values["navigation.position"] as? [String: Double])
    #expect(
      place == ["latitude": -33.123_456_79, "longitude": -0.000_012_35, "altitude": 80.5])
    let attitude = try #require(told.values["navigation.attitude"] as? [String: Double])
    #expect(abs((attitude["roll"] ?? 0) + 0.218_17) < 1e-5)
    #expect(abs((attitude["pitch"] ?? 0) - 0.087_27) < 1e-5)
    #expect(abs((attitude["yaw"] ?? 0) - 2.239_26) < 1e-5)
    #expect(told.values["navigation.datetime"] as? String == "2026-11-22T03:04:05.250Z")
    #expect(told.values["navigation.gnss.methodQuality"] as? String == "RTK fixed integer")
    #expect(told.values["navigation.gnss.type"] as? String == "Combined GPS/GLONASS")
    #expect(told.sources["navigation.headingMagnetic"] == "lodestone.compass")
    #expect(told.sources["navigation.position"] == "lodestone.gnss")
    #expect(told.sources["environment.outside.pressure"] == "lodestone.barometer")
    #expect(told.times["navigation.headingMagnetic"] == "2026-11-22T03:04:05.250Z")
    #expect(told.values.count == numbers.count + 6)
    // Not the air's, where nobody has said so.
    var indoors = SignalKDeltaWriter(SignalKOptions())
    let inside = try Self.read(
      indoors.deltas(Self.snapshot(NMEA0183Board.full)) { _ in Self.always })
    #expect(inside.values["environment.outside.temperature"] == nil)
  }

  @Test("meta data come once, before the first value, and again when they change")
  func meta() throws {
    var writer = SignalKDeltaWriter(SignalKOptions())
    let first = try Self.read(
      writer.deltas(Self.snapshot(NMEA0183Board.full)) { _ in Self.always })
    #expect(Set(first.meta.keys) == Set(first.values.keys))
    #expect(first.meta["navigation.headingMagnetic"]?["units"] as? String == "rad")
    let zones = first.meta["navigation.headingAccuracy"]?["zones"] as? [[String: Any]]
    #expect(zones?.compactMap { $0["state"] as? String } == ["alert", "warn"])
    var later = NMEA0183Board.full
    let now = NMEA0183Board.now.advanced(bySeconds: 0.1)
    later.take(.heading(NMEA0183Board.heading(129, time: now)))
    let second = try Self.read(
      writer.deltas(Self.snapshot(later, at: now)) { _ in Self.always })
    #expect(
      second.meta.isEmpty && second.values["navigation.headingMagnetic"] as? Double == 2.251_47)
    // What has not changed is not told.
    #expect(second.values["navigation.position"] == nil)
    writer.options.meta.displayNames[.headingMagnetic] = "Mast compass"
    later.take(.heading(NMEA0183Board.heading(130, time: now)))
    let third = try Self.read(
      writer.deltas(Self.snapshot(later, at: now.advanced(bySeconds: 0.1))) { _ in Self.always })
    #expect(
      third.meta["navigation.headingMagnetic"]?["displayName"] as? String == "Mast compass")
  }

  @Test("a value that is lost is null, once") func lost() throws {
    var writer = SignalKDeltaWriter(SignalKOptions())
    _ = writer.deltas(Self.snapshot(NMEA0183Board.full)) { _ in Self.always }
    let later = NMEA0183Board.now.advanced(bySeconds: 30)
    let told = try Self.read(
      writer.deltas(Self.snapshot(NMEA0183Board.full, at: later)) { _ in Self.always })
    for path in [
      "navigation.headingMagnetic", "navigation.headingTrue", "navigation.headingAccuracy",
      "navigation.rateOfTurn", "navigation.attitude", "navigation.position",
      "navigation.positionAccuracy", "navigation.speedOverGround", "environment.outside.pressure",
    ] { #expect(told.values[path] is NSNull, "\(path)") }
    #expect(told.values["navigation.gnss.methodQuality"] as? String == "no GPS")
    let again = writer.deltas(
      Self.snapshot(NMEA0183Board.full, at: later.advanced(bySeconds: 5))
    ) { _ in
      SignalKRule(.ideal)
    }
    #expect(try Self.read(again).values.keys.sorted() == ["navigation.gnss.methodQuality"])
    // Over a way that loses messages it is repeated.
    var lossy = SignalKProvider(SignalKOptions(), isLossy: true)
    for second in 0..<3 {
      let now = NMEA0183Board.now.advanced(bySeconds: 30 + Double(second))
      let values = try Self.read(
        lossy.messages(Self.snapshot(NMEA0183Board.full, at: now))
      ).values
      #expect(values["navigation.headingMagnetic"] is NSNull)
    }
  }

  @Test("a heading that is not to be trusted is null, and a person is told why, once")
  func warnings() throws {
    var writer = SignalKDeltaWriter(SignalKOptions())
    func told(_ observation: Observation, after seconds: Double) throws -> Told {
      let now = NMEA0183Board.now.advanced(bySeconds: seconds)
      let state = NMEA0183Board.state([observation])
      return try Self.read(writer.deltas(Self.snapshot(state, at: now)) { _ in Self.always })
    }
    let path = "notifications.navigation.headingMagnetic"
    let now = NMEA0183Board.now
    let uncalibrated = try told(.headingUnavailable(.uncalibrated, at: now), after: 0)
    #expect(uncalibrated.values["navigation.headingMagnetic"] is NSNull)
    let first = try #require(uncalibrated.values[path] as? [String: Any])
    #expect(first["message"] as? String == "Calibrate the compass.")
    #expect(first["state"] as? String == "alert" && first["method"] as? [String] == ["visual"])
    #expect(try told(.headingUnavailable(.uncalibrated, at: now), after: 1).values.isEmpty)
    let iron = try told(
      .heading(
        NMEA0183Board.heading(
          accuracy: nil, reason: .magneticInterference("90 uT measured"),
          time: now.advanced(bySeconds: 2))), after: 2)
    let second = try #require(iron.values[path] as? [String: Any])
    #expect(
      second["message"] as? String
        == "Iron nearby: the heading is not to be trusted. 90 uT measured")
    #expect(second["state"] as? String == "warn")
    #expect(second["method"] as? [String] == ["visual", "sound"])
    // Another figure is no other warning.
    let same = try told(
      .heading(
        NMEA0183Board.heading(
          accuracy: nil, reason: .magneticInterference("91 uT measured"),
          time: now.advanced(bySeconds: 3))), after: 3)
    #expect(same.values[path] == nil)
    let good = try told(
      .heading(NMEA0183Board.heading(time: now.advanced(bySeconds: 4))), after: 4)
    #expect(good.values[path] is NSNull)
    #expect(good.values["navigation.headingMagnetic"] as? Double == 2.239_26)
  }

  @Test("a sensor that fails is a warning of its own, until it runs again") func sensors() throws {
    var writer = SignalKDeltaWriter(SignalKOptions())
    var status = SensorStatus(
      index: 2, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c", state: .failed("no \"answer\""),
      since: NMEA0183Board.now)
    func told() throws -> Told {
      let state = NMEA0183Board.state([.sensor(status)])
      return try Self.read(writer.deltas(Self.snapshot(state)) { _ in Self.always })
    }
    let path = "notifications.sensors.lodestone.LIS3MDL-2"
    let failed = try #require(try told().values[path] as? [String: Any])
    #expect(
      failed["message"] as? String
        == "LIS3MDL at /dev/i2c-1:0x1c has failed. no \"answer\"")
    #expect(try told().values[path] == nil)
    status.state = .running
    #expect(try told().values[path] is NSNull)
    #expect(try told().values[path] == nil)
  }

  @Test("a dead-reckoned position says so, a board without a receiver says nothing")
  func position() throws {
    var writer = SignalKDeltaWriter(SignalKOptions())
    let carried = DeadReckonedPosition(fixTime: Timestamp(seconds: 80), isTurnMeasured: true)
    let state = NMEA0183Board.state([
      .location(LocationEstimate(fix: NMEA0183Board.fix, isSimulated: false, carried: carried))
    ])
    let told = try Self.read(writer.deltas(Self.snapshot(state)) { _ in Self.always })
    #expect(told.values["navigation.gnss.methodQuality"] as? String == "Estimated (DR) mode")
    #expect(told.values["navigation.gnss.type"] as? String == "Integrated navigation system")
    let warning = told.values["notifications.navigation.position"] as? [String: Any]
    #expect(warning?["message"] as? String == "No fix: the position is dead-reckoned.")
    var other = SignalKDeltaWriter(SignalKOptions())
    let none = NMEA0183Board.state([
      .locationUnavailable(.notEquipped("receiver"), at: NMEA0183Board.now),
      .headingUnavailable(.notEquipped("magnetometer"), at: NMEA0183Board.now),
    ])
    #expect(other.deltas(Self.snapshot(none)) { _ in Self.always } == [])
  }

  @Test("values that cannot be are not told, and no time is invented") func hostileValues() throws {
    var fix = NMEA0183Board.fix
    (fix.latitude, fix.altitude, fix.hdop, fix.utc) = (.nan, .infinity, .nan, nil)
    var heading = NMEA0183Board.heading(.nan)
    heading.declination = .infinity
    let state = NMEA0183Board.state([
      .heading(heading), .location(LocationEstimate(fix: fix, isSimulated: false)),
    ])
    var writer = SignalKDeltaWriter(SignalKOptions(label: "näh \"x\""))
    let told = try Self.read(
      writer.deltas(Self.snapshot(state, clock: NMEA0183Board.unset)) { _ in Self.always })
    #expect(told.values["navigation.position"] is NSNull)
    #expect(told.values["navigation.headingMagnetic"] is NSNull)
    #expect(told.values["navigation.magneticVariation"] == nil && told.times.isEmpty)
    #expect(told.sources["navigation.position"] == "nhx.gnss")
    #expect(SignalKValue.bearing(2 * .pi - 1e-6) == .number(0))
  }
}
