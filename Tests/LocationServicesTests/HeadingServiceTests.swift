import LinearAlgebra
import SensorTypes
import Testing

@testable import LocationServices

struct HeadingServiceTests {
  @Test(
    "D7 M6: the first heading comes, then those that turned by more than the filter, also across north"
  )
  func filter() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.heading))
    for degrees in [359.5, 0.2, 0.4, 0.6, 359.7, 359.5] { bench.say(.heading(degrees)) }
    let heard = bench.headings()
    #expect(heard.count == 3)
    for (one, two) in zip(heard, [359.5, 0.6, 359.5]) { #expect(abs(one - two) < 1e-9) }
    bench.ask(.configure(ClientSettings(headingFilter: -1)))
    for _ in 0..<3 { bench.say(.heading(10)) }
    #expect(bench.headings().count == 3)
  }

  @Test("M6 M7: a heading that becomes valid or invalid, or learns true north, passes any filter")
  func validity() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.configure(ClientSettings(headingFilter: 90)))
    bench.ask(.start(.heading))
    bench.say(.heading(30))
    bench.say(.heading(30, accuracy: nil, reason: .uncalibrated))
    bench.say(.heading(30, accuracy: nil, reason: .uncalibrated))
    bench.say(.heading(30))
    bench.say(.heading(30, true: 33))
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
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.configure(ClientSettings(headingOrientation: orientation)))
    bench.ask(.start(.heading))
    bench.say(.heading(30, true: 34))
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
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.heading))
    bench.say(.heading(30, field: Vector3(.nan, 0, 0)))
    #expect(bench.heard().isEmpty)
    bench.say(.heading(30, field: nil))
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
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.configure(ClientSettings(headingOrientation: .landscapeLeft)))
    bench.ask(.start(.heading))
    bench.say(.heading(0, attitude: attitude))
    let heard = bench.headings()
    #expect(heard.count == 1)
    #expect(abs((heard.first ?? 0) - 90) < 1e-9)
  }

  @Test("an edge that points straight up has no direction, and says so")
  func verticalEdge() throws {
    let attitude = Quaternion(
      Matrix3(columns: Vector3(0, 0, 1), Vector3(0, 1, 0), Vector3(-1, 0, 0)))
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.configure(ClientSettings(headingOrientation: .landscapeLeft)))
    bench.ask(.start(.heading))
    bench.say(.heading(0, attitude: attitude))
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
    var bench = EngineBench()
    let reason = NoData.magneticInterference("93 uT where 49 are expected")
    bench.ask(.register)
    bench.ask(.start(.heading))
    bench.say(.heading(30))
    for tenth in 0...50 {
      bench.say(.heading(30, accuracy: nil, reason: reason, at: Double(tenth) / 10))
    }
    // The heading that is valid, and the one that says it is not any more.
    #expect(bench.heard().count == 2)
    for tenth in 51...200 {
      bench.say(.heading(30, accuracy: nil, reason: reason, at: Double(tenth) / 10))
    }
    #expect(
      bench.heard() == [
        .failure(ServiceFailure(service: .heading, reason: "93 uT where 49 are expected"))
      ])
    // A passing magnet is none.
    bench.say(.heading(30, at: 21))
    for tenth in 0...49 {
      bench.say(.heading(30, accuracy: nil, reason: reason, at: 22 + Double(tenth) / 10))
    }
    bench.say(.heading(30, at: 27))
    #expect(bench.failures().isEmpty)
    for tenth in 0...60 {
      bench.say(.heading(30, accuracy: nil, reason: reason, at: 28 + Double(tenth) / 10))
    }
    #expect(bench.failures() == [.heading])
  }

  @Test("D2: a client that comes while interference lasts hears of it at once")
  func lateClient() {
    var bench = EngineBench()
    let reason = NoData.magneticInterference("93 uT where 49 are expected")
    for tenth in 0...100 {
      bench.say(.heading(30, accuracy: nil, reason: reason, at: Double(tenth) / 10))
    }
    bench.now = Timestamp(seconds: 10)
    bench.ask(.register)
    bench.ask(.start(.heading))
    #expect(bench.failures() == [.heading])
  }

  @Test("a lost magnetometer is an error; a board without one says nothing at all")
  func lost() {
    var bench = EngineBench()
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
