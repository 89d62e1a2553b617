import Foundation
import Geodesy
import LinearAlgebra
import SensorTypes
import Testing

@testable import LocationServices

/// An engine with a log of what it has emitted.
private struct Bench {
  var engine = LocationEngine()
  var events: [ServiceEvent] = []
  var now = Timestamp(seconds: 0)

  mutating func ask(_ action: ServiceAction, client: UInt64 = 1) {
    var new: [ServiceEvent] = []
    engine.handle(ServiceRequest(ClientID(rawValue: client), action), at: now) { new.append($0) }
    events += new
  }

  mutating func say(_ observation: Observation) {
    var new: [ServiceEvent] = []
    engine.handle(observation) { new.append($0) }
    events += new
  }

  /// What has been emitted since the last call.
  mutating func heard() -> [EventContent] {
    defer { events = [] }
    return events.map(\.content)
  }

  mutating func headings() -> [Double] {
    heard().compactMap { if case .heading(let report) = $0 { report.magneticHeading } else { nil } }
  }

  mutating func latitudes() -> [Double] {
    heard().compactMap {
      if case .location(let report) = $0 { report.position.latitude } else { nil }
    }
  }

  mutating func failures() -> [Service] {
    heard().compactMap { if case .failure(let failure) = $0 { failure.service } else { nil } }
  }

  mutating func altitudes() -> [AltitudeReport] {
    heard().compactMap { if case .altitude(let report) = $0 { report } else { nil } }
  }
}

private func fix(
  _ latitude: Double, accuracy: Double? = 5, mode: FixMode = .threeDimensional,
  at seconds: Double = 0
) -> Observation {
  var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: mode)
  fix.latitude = latitude
  fix.longitude = 13
  fix.horizontalAccuracy = accuracy
  fix.altitude = 40
  fix.verticalAccuracy = 8
  return .location(LocationEstimate(fix: fix, isSimulated: false))
}

private func heading(
  _ degrees: Double, attitude: Quaternion? = nil, accuracy: Double? = 2, true: Double? = nil,
  reason: NoData? = nil, field: Vector3? = Vector3(1, 20, -43), at seconds: Double = 0
) -> Observation {
  let radians = degrees * .pi / 180
  return .heading(
    HeadingEstimate(
      time: Timestamp(seconds: seconds), magneticHeading: radians,
      accuracy: accuracy.map { $0 * .pi / 180 }, trueHeading: `true`.map { $0 * .pi / 180 },
      reason: reason, field: field,
      attitude: attitude ?? Quaternion(rotationVector: Vector3(0, 0, -radians))))
}

private func altitude(_ metres: Double, at seconds: Double) -> Observation {
  .altitude(
    AltitudeEstimate(
      time: Timestamp(seconds: seconds), relativeAltitude: metres, relativeAccuracy: 0.1,
      pressure: 101_325))
}

struct ServiceLifecycleTests {
  @Test("M1 M2: registering starts nothing; the demand is what all clients together have started")
  func demand() {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.register, client: 2)
    #expect(bench.engine.demand == Demand())
    bench.ask(.start(.heading))
    bench.ask(.start(.heading), client: 2)
    bench.ask(.start(.location), client: 2)
    #expect(bench.engine.demand == Demand(heading: true, location: true))
    bench.ask(.stop(.heading))
    #expect(bench.engine.demand == Demand(heading: true, location: true))
    bench.ask(.configure(ClientSettings(activity: .otherNavigation)), client: 2)
    #expect(bench.engine.demand == Demand(heading: true, location: true, followsCourse: true))
    bench.ask(.release, client: 2)
    #expect(bench.engine.demand == Demand())
  }

  @Test("M2: start and stop are idempotent; only stop and start again brings an event anew")
  func idempotence() {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.location))
    bench.say(fix(50))
    #expect(bench.latitudes() == [50])
    bench.ask(.start(.location))
    #expect(bench.heard().isEmpty)
    bench.ask(.stop(.location))
    bench.ask(.stop(.location))
    bench.say(fix(50.1))
    #expect(bench.heard().isEmpty)
    bench.ask(.start(.location))
    #expect(bench.latitudes() == [50.1])
  }

  @Test("what is known answers a start only while it is fresh")
  func freshness() {
    var bench = Bench()
    bench.say(fix(50, at: 100))
    bench.say(heading(30, at: 100))
    bench.now = Timestamp(seconds: 111)
    bench.ask(.register)
    bench.ask(.start(.location))
    bench.ask(.start(.heading))
    #expect(bench.heard().isEmpty)
  }

  @Test(
    "a heading that nothing follows expires, once: after two seconds, or three periods of slow ones"
  )
  func expiry() throws {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.heading))
    func advance(to seconds: Double) -> [EventContent] {
      var events: [EventContent] = []
      bench.engine.advance(to: Timestamp(seconds: seconds)) { events.append($0.content) }
      return events
    }
    // Nothing has come, so that nothing is old.
    #expect(bench.engine.nextDeadline == nil)
    #expect(advance(to: 60).isEmpty)
    for step in 0...40 {
      bench.engine.noteHeading(at: Timestamp(seconds: 60 + Double(step) / 20))
      bench.say(heading(Double(step), at: 60 + Double(step) / 20))
    }
    _ = bench.heard()
    #expect(bench.engine.nextDeadline == Timestamp(seconds: 64))
    #expect(advance(to: 63.9).isEmpty)
    let expired = advance(to: 64)
    #expect(expired.first == .headingExpired)
    guard expired.count == 2, case .failure(let failure) = expired[1] else {
      return #expect(Bool(false), "\(expired)")
    }
    #expect(failure.service == .heading)
    #expect(failure.reason.contains("nothing was heard of the compass for 2 s"))
    #expect(bench.engine.nextDeadline == nil && advance(to: 100).isEmpty)
    // What comes back is told again; headings every four seconds stand for twelve.
    for step in 0...4 {
      bench.engine.noteHeading(at: Timestamp(seconds: 200 + 4 * Double(step)))
      bench.say(heading(90 + 5 * Double(step), at: 200 + 4 * Double(step)))
    }
    #expect(bench.headings() == [90, 95, 100, 105, 110])
    #expect(advance(to: 227.9).isEmpty)
    #expect(advance(to: 228).first == .headingExpired)
  }

  @Test(
    "a heading does not expire for a client that has stopped, nor at once for one that starts later"
  )
  func noExpiry() {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.heading))
    bench.engine.noteHeading(at: Timestamp(seconds: 1))
    bench.say(heading(30, at: 1))
    bench.ask(.stop(.heading))
    #expect(bench.engine.nextDeadline == nil)
    bench.now = Timestamp(seconds: 500)
    bench.ask(.start(.heading))
    #expect(bench.engine.nextDeadline == nil)
    _ = bench.heard()
    bench.engine.advance(to: Timestamp(seconds: 500.1)) { bench.events.append($0) }
    #expect(bench.heard().isEmpty)
  }

  @Test("a client that never registered, or has gone, is not heard and hears nothing")
  func strangers() {
    var bench = Bench()
    bench.ask(.start(.heading), client: 7)
    bench.ask(.register)
    bench.ask(.start(.heading))
    bench.ask(.release)
    bench.say(heading(30))
    #expect(bench.heard().isEmpty)
    #expect(bench.engine.demand == Demand())
  }
}

struct LocationServiceTests {
  @Test(
    "M5: the distance filter counts from the last delivered location, and better accuracy passes")
  func distanceFilter() {
    var bench = Bench()
    // A distance of a metre for each millionth of a degree, so that the filter alone is seen.
    bench.engine = LocationEngine { abs($1.latitude - $0.latitude) * 1e6 }
    bench.ask(.register)
    bench.ask(.configure(ClientSettings(distanceFilter: 10)))
    bench.ask(.start(.location))
    bench.say(fix(50.000_000))
    bench.say(fix(50.000_006))
    bench.say(fix(50.000_009))
    bench.say(fix(50.000_011))
    bench.say(fix(50.000_018))
    #expect(bench.latitudes() == [50, 50.000_011])
    bench.say(fix(50.000_012, accuracy: 3))
    bench.say(fix(50.000_012, accuracy: 3))
    bench.say(fix(50.000_012, accuracy: 20))
    #expect(bench.latitudes() == [50.000_012])
    bench.ask(.configure(ClientSettings(distanceFilter: -1)))
    bench.say(fix(50.000_012, accuracy: 20))
    bench.say(fix(50.000_012, accuracy: 20))
    #expect(bench.latitudes().count == 2)
  }

  @Test("the distance filter's metres are the geodesic's")
  func distanceFilterMetres() {
    var bench = Bench()
    let step = 0.000_1
    let metres = Geodesic.inverse(
      from: Position(latitude: 50, longitude: 13), to: Position(latitude: 50 + step, longitude: 13)
    ).distance
    for (filter, count) in [(metres - 1e-6, 2), (metres + 1e-6, 1)] {
      bench.engine = LocationEngine()
      bench.ask(.register)
      bench.ask(.configure(ClientSettings(distanceFilter: filter)))
      bench.ask(.start(.location))
      bench.say(fix(50))
      bench.say(fix(50 + step))
      #expect(bench.latitudes().count == count)
    }
  }

  @Test("D2: no fix yet is said once a loss, also to a client that starts during it")
  func locationUnknown() {
    var bench = Bench()
    let time = Timestamp(seconds: 0)
    bench.ask(.register)
    bench.ask(.start(.location))
    #expect(bench.heard().isEmpty)
    bench.say(.locationUnavailable(.noFix, at: time))
    bench.say(.locationUnavailable(.noFix, at: time))
    #expect(bench.failures() == [.location])
    bench.ask(.register, client: 2)
    bench.ask(.start(.location), client: 2)
    #expect(bench.failures() == [.location])
    bench.say(fix(50))
    #expect(bench.latitudes().count == 2)
    bench.say(.locationUnavailable(.sensorLost("unplugged"), at: time))
    #expect(bench.failures() == [.location, .location])
  }

  @Test("a position that is not one is not delivered, and what is missing stays missing")
  func validity() throws {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.location))
    bench.say(fix(.nan))
    bench.say(fix(91))
    #expect(bench.heard().isEmpty)
    bench.say(fix(50, accuracy: .infinity, mode: .twoDimensional))
    guard case .location(let report) = try #require(bench.heard().first) else {
      Issue.record("no location")
      return
    }
    #expect(report.horizontalAccuracy == nil)
    #expect(report.verticalAccuracy == nil, "a two-dimensional fix has assumed its height")
    #expect(report.speed == nil && report.course == nil)
  }
}

struct HeadingServiceTests {
  @Test(
    "D7 M6: the first heading comes, then those that turned by more than the filter, also across north"
  )
  func filter() {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.heading))
    for degrees in [359.5, 0.2, 0.4, 0.6, 359.7, 359.5] { bench.say(heading(degrees)) }
    let heard = bench.headings()
    #expect(heard.count == 3)
    for (one, two) in zip(heard, [359.5, 0.6, 359.5]) { #expect(abs(one - two) < 1e-9) }
    bench.ask(.configure(ClientSettings(headingFilter: -1)))
    for _ in 0..<3 { bench.say(heading(10)) }
    #expect(bench.headings().count == 3)
  }

  @Test("M6 M7: a heading that becomes valid or invalid, or learns true north, passes any filter")
  func validity() {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.configure(ClientSettings(headingFilter: 90)))
    bench.ask(.start(.heading))
    bench.say(heading(30))
    bench.say(heading(30, accuracy: nil, reason: .uncalibrated))
    bench.say(heading(30, accuracy: nil, reason: .uncalibrated))
    bench.say(heading(30))
    bench.say(heading(30, true: 33))
    let reports = bench.heard().compactMap {
      if case .heading(let report) = $0 { report } else { nil }
    }
    #expect(reports.map { $0.accuracy == nil } == [false, true, false, false])
    #expect(reports.map { $0.trueHeading == nil } == [true, true, true, false])
    #expect(abs((reports.last?.trueHeading ?? 0) - 33) < 1e-9)
    #expect(abs((reports.last?.accuracy ?? 0) - 2) < 1e-9)
  }

  @Test(
    "M6: the orientation chooses the edge that the heading is measured from",
    arguments: [
      (HeadingOrientation.portrait, 30.0), (.portraitUpsideDown, 210), (.landscapeLeft, 120),
      (.landscapeRight, 300),
    ])
  func orientationFlat(orientation: HeadingOrientation, expected: Double) throws {
    // Flat on a table, the top to 30 degrees: the right edge then points to 120.
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.configure(ClientSettings(headingOrientation: orientation)))
    bench.ask(.start(.heading))
    bench.say(heading(30, true: 34))
    guard case .heading(let report) = try #require(bench.heard().first) else {
      Issue.record("no heading")
      return
    }
    #expect(abs(report.magneticHeading - expected) < 1e-9)
    #expect(abs((report.trueHeading ?? -1) - (expected + 4)) < 1e-9)
    #expect(report.y == 20, "the field stays in the body frame")
  }

  @Test("a heading without a field is a heading; one whose field is no number is none")
  func missingField() throws {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.heading))
    bench.say(heading(30, field: Vector3(.nan, 0, 0)))
    #expect(bench.heard().isEmpty)
    bench.say(heading(30, field: nil))
    guard case .heading(let report) = try #require(bench.heard().first) else {
      Issue.record("no heading")
      return
    }
    #expect(abs(report.magneticHeading - 30) < 1e-9)
    #expect(report.x == nil && report.y == nil && report.z == nil)
  }

  @Test(
    "M6: held in landscape and leaning back, the right edge gives the heading that its holder faces"
  )
  func orientationTilted() {
    // The holder faces east. Turned a quarter to the left the body's x axis is on top, leaning 40 degrees
    // away from the holder: x is (cos 50, 0, sin 50) of (east, north, up), and the top edge, body y, is at
    // the holder's left: north.
    let lean = 50 * Double.pi / 180
    let x = Vector3(cos(lean), 0, sin(lean))
    let y = Vector3(0, 1, 0)
    let attitude = Quaternion(Matrix3(columns: x, y, x.cross(y)))
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.configure(ClientSettings(headingOrientation: .landscapeLeft)))
    bench.ask(.start(.heading))
    bench.say(heading(0, attitude: attitude))
    let heard = bench.headings()
    #expect(heard.count == 1)
    #expect(abs((heard.first ?? 0) - 90) < 1e-9)
  }

  @Test("an edge that points straight up has no direction, and says so")
  func verticalEdge() throws {
    let attitude = Quaternion(
      Matrix3(columns: Vector3(0, 0, 1), Vector3(0, 1, 0), Vector3(-1, 0, 0)))
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.configure(ClientSettings(headingOrientation: .landscapeLeft)))
    bench.ask(.start(.heading))
    bench.say(heading(0, attitude: attitude))
    guard case .heading(let report) = try #require(bench.heard().first) else {
      Issue.record("no heading")
      return
    }
    #expect(report.accuracy == nil)
  }

  @Test(
    "D2: interference is an error once it has lasted for five seconds; the headings say at once that they are invalid"
  )
  func interference() {
    var bench = Bench()
    let reason = NoData.magneticInterference("93 uT where 49 are expected")
    bench.ask(.register)
    bench.ask(.start(.heading))
    bench.say(heading(30))
    for tenth in 0...50 {
      bench.say(heading(30, accuracy: nil, reason: reason, at: Double(tenth) / 10))
    }
    // The heading that is valid, and the one that says it is not any more.
    #expect(bench.heard().count == 2)
    for tenth in 51...200 {
      bench.say(heading(30, accuracy: nil, reason: reason, at: Double(tenth) / 10))
    }
    #expect(
      bench.heard() == [
        .failure(ServiceFailure(service: .heading, reason: "93 uT where 49 are expected"))
      ])
    // A passing magnet is none.
    bench.say(heading(30, at: 21))
    for tenth in 0...49 {
      bench.say(heading(30, accuracy: nil, reason: reason, at: 22 + Double(tenth) / 10))
    }
    bench.say(heading(30, at: 27))
    #expect(bench.failures().isEmpty)
    for tenth in 0...60 {
      bench.say(heading(30, accuracy: nil, reason: reason, at: 28 + Double(tenth) / 10))
    }
    #expect(bench.failures() == [.heading])
  }

  @Test("D2: a client that comes while interference lasts hears of it at once")
  func lateClient() {
    var bench = Bench()
    let reason = NoData.magneticInterference("93 uT where 49 are expected")
    for tenth in 0...100 {
      bench.say(heading(30, accuracy: nil, reason: reason, at: Double(tenth) / 10))
    }
    bench.now = Timestamp(seconds: 10)
    bench.ask(.register)
    bench.ask(.start(.heading))
    #expect(bench.failures() == [.heading])
  }

  @Test("a lost magnetometer is an error; a board without one says nothing at all")
  func lost() {
    var bench = Bench()
    let time = Timestamp(seconds: 0)
    bench.ask(.register)
    bench.ask(.start(.heading))
    bench.say(.headingUnavailable(.notEquipped("magnetometer"), at: time))
    bench.say(.headingUnavailable(.notYet, at: time))
    #expect(bench.heard().isEmpty)
    bench.say(.headingUnavailable(.sensorLost("no answer at 0x1c"), at: time))
    bench.say(.headingUnavailable(.sensorLost("no answer at 0x1c"), at: time))
    #expect(bench.failures() == [.heading])
  }
}

struct AltitudeServiceTests {
  @Test(
    "A2: one event a second from 25 samples, whether or not the value changed; the first is zero")
  func rhythm() {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.altitude))
    for step in 0...250 { bench.say(altitude(step < 120 ? 7 : 9, at: 100 + Double(step) * 0.04)) }
    let reports = bench.altitudes()
    #expect(reports.count == 11)
    #expect(reports.map(\.relativeAltitude) == [0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2])
    let gaps = zip(reports.dropFirst(), reports).map { $0.time.seconds(since: $1.time) }
    #expect(gaps.allSatisfy { abs($0 - 1) < 0.041 })
  }

  @Test("A2: a barometer of one hertz that is never quite on time loses no second")
  func jitter() {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.altitude))
    for step in 0..<60 { bench.say(altitude(0, at: Double(step) + (step % 2 == 0 ? 0.04 : -0.04))) }
    #expect(bench.altitudes().count == 60)
  }

  @Test("A2: after a gap the rhythm begins anew, without a burst")
  func gap() {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.altitude))
    bench.say(altitude(0, at: 0))
    for step in 0..<26 { bench.say(altitude(3, at: 30.5 + Double(step) * 0.04)) }
    #expect(bench.altitudes().map { ($0.time.seconds * 1_000).rounded() } == [0, 30_500, 31_500])
  }

  @Test("A4 A2: each start has its own zero")
  func zero() {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.altitude))
    bench.say(altitude(5, at: 0))
    bench.say(altitude(8, at: 1))
    bench.ask(.stop(.altitude))
    bench.say(altitude(9, at: 2))
    bench.ask(.start(.altitude))
    bench.say(altitude(10, at: 3))
    bench.say(altitude(12, at: 4))
    #expect(bench.altitudes().map(\.relativeAltitude) == [0, 3, 0, 2])
  }

  @Test("A5: a suspended client hears no altitudes; afterwards they go on from the same zero")
  func suspension() {
    var bench = Bench()
    bench.ask(.register)
    bench.ask(.start(.altitude))
    bench.ask(.start(.location))
    bench.ask(.start(.heading))
    bench.say(altitude(5, at: 0))
    bench.ask(.suspend)
    bench.say(altitude(6, at: 1))
    bench.say(altitude(7, at: 2))
    bench.say(heading(30))
    bench.ask(.resume)
    bench.say(altitude(8, at: 3))
    #expect(bench.altitudes().map(\.relativeAltitude) == [0, 3])
  }

  @Test("A3: a lost barometer is one error; a board without one says nothing")
  func loss() {
    var bench = Bench()
    let time = Timestamp(seconds: 0)
    bench.ask(.register)
    bench.ask(.start(.altitude))
    bench.say(.altitudeUnavailable(.notEquipped("barometer"), at: time))
    #expect(bench.heard().isEmpty)
    bench.say(.altitudeUnavailable(.sensorLost("bus"), at: time))
    bench.say(.altitudeUnavailable(.sensorLost("bus"), at: time))
    #expect(bench.failures() == [.altitude])
    bench.say(altitude(5, at: 1))
    bench.say(.altitudeUnavailable(.sensorLost("bus"), at: time))
    #expect(bench.heard().count == 2)
  }
}
