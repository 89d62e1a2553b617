import Geodesy
import LinearAlgebra
import SensorTypes
import Testing

@testable import LocationServices

/// What a program without full access gets of what the board publishes.
struct ObservationFilterTests {
  private static let why = NoData.notAuthorized("the owner says so")
  private let none = ObservationFilter(.withheld("the owner says so"))

  private func location(_ latitude: Double = 50.0123, at seconds: Double = 1) -> Observation {
    var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: .threeDimensional)
    (fix.utc, fix.latitude, fix.longitude) = (1_795_000_000, latitude, 13.0456)
    (fix.altitude, fix.ellipsoidalAltitude, fix.verticalAccuracy) = (40, 80, 3)
    (fix.horizontalAccuracy, fix.accuracySource) = (5, .receiver)
    (fix.speed, fix.speedAccuracy, fix.course, fix.courseAccuracy) = (4, 0.1, 90, 1)
    (fix.verticalSpeed, fix.hdop, fix.vdop, fix.pdop, fix.satellitesUsed) = (0.5, 1, 2, 3, 9)
    return .location(LocationEstimate(fix: fix, isSimulated: false))
  }

  private func heading(declination: Double? = 0.0712345) -> HeadingEstimate {
    HeadingEstimate(
      time: Timestamp(seconds: 1), magneticHeading: 6.25, accuracy: 0.05,
      trueHeading: declination.map { (6.25 + $0).truncatingRemainder(dividingBy: 2 * .pi) },
      declination: declination, trueReason: declination == nil ? .positionUnknown : nil,
      field: Vector3(20, 0, -44), attitude: .identity,
      fieldCheck: FieldCheck(
        measured: FieldShape(strength: 48, dip: 1.1), expected: FieldShape(strength: 49, dip: 1.2),
        origin: .model))
  }

  private let motion = MotionEstimate(
    time: Timestamp(seconds: 1),
    attitude: MotionAttitude(
      angularRate: .zero, free: .identity, steadied: .identity, north: .identity,
      declination: 0.0712345))

  private func height(fix: Double?) -> AbsoluteAltitudeEstimate {
    AbsoluteAltitudeEstimate(
      time: Timestamp(seconds: 9), altitude: 34, accuracy: 2, ellipsoidalAltitude: 74,
      fixTime: fix.map { Timestamp(seconds: $0) }, knownTime: Timestamp(seconds: 1))
  }

  /// What says nothing of the place.
  private let harmless: [Observation] = [
    .headingUnavailable(.uncalibrated, at: Timestamp(seconds: 1)),
    .altitude(
      AltitudeEstimate(
        time: Timestamp(seconds: 1), relativeAltitude: 3, relativeAccuracy: 0.2, pressure: 101_325)
    ),
    .altitudeUnavailable(.notYet, at: Timestamp(seconds: 1)),
    .motionUnavailable(.gyro, .notYet, at: Timestamp(seconds: 1)),
    .sensor(
      SensorStatus(
        index: 0, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c", state: .running,
        since: Timestamp(seconds: 1))),
    .waves(
      WaveEstimate(
        time: Timestamp(seconds: 1),
        heave: HeaveEstimate(
          time: Timestamp(seconds: 1), heave: 0.5, accuracy: 0.05, rate: -0.2, rateAccuracy: 0.02),
        condition: .valid)),
    .wavesUnavailable(.notYet, at: Timestamp(seconds: 1)),
    .diagnostic("a line", at: Timestamp(seconds: 1)),
  ]
  private let sky = Observation.sky(GNSSSky(received: Timestamp(seconds: 1), satellites: []))

  @Test("with full access nothing changes")
  func full() {
    var filter = ObservationFilter(.full)
    for observation in harmless + [
      location(), .heading(heading()), .motion(motion), .absoluteAltitude(height(fix: 3)), sky,
    ] {
      #expect(filter.pass(observation) == observation)
    }
  }

  @Test(
    "without access a position is one loss that says why, and no satellites and heights of a receiver come"
  )
  func positions() {
    var filter = none
    #expect(
      filter.pass(location(at: 7)) == .locationUnavailable(Self.why, at: Timestamp(seconds: 7)))
    #expect(filter.pass(location(at: 8)) == nil)
    #expect(filter.pass(.locationUnavailable(.noFix, at: Timestamp(seconds: 9))) == nil)
    var other = none
    #expect(
      other.pass(.locationUnavailable(.noFix, at: Timestamp(seconds: 2)))
        == .locationUnavailable(Self.why, at: Timestamp(seconds: 2)))
    #expect(filter.pass(sky) == nil)
    #expect(filter.pass(.absoluteAltitude(height(fix: 3))) == nil)
    // A height that a person has said, without what a geoid has to do with it.
    var told = height(fix: nil)
    told.ellipsoidalAltitude = nil
    #expect(filter.pass(.absoluteAltitude(height(fix: nil))) == .absoluteAltitude(told))
    for observation in harmless { #expect(filter.pass(observation) == observation) }
  }

  @Test(
    "without access a heading is magnetic, and neither declination nor the model's field goes with it"
  )
  func headings() throws {
    var filter = none
    guard case .heading(let told) = filter.pass(.heading(heading())) else {
      Issue.record("no heading")
      return
    }
    #expect(told.magneticHeading == 6.25 && told.accuracy == 0.05)
    #expect(told.trueHeading == nil && told.declination == nil && told.trueReason == Self.why)
    #expect(told.fieldCheck?.expected == nil && told.fieldCheck?.origin == nil)
    #expect(told.fieldCheck?.measured == FieldShape(strength: 48, dip: 1.1))
    // What a calibration expects says nothing of the place.
    var own = heading()
    own.fieldCheck?.origin = .calibration
    guard case .heading(let kept) = filter.pass(.heading(own)) else { return }
    #expect(kept.fieldCheck == own.fieldCheck)
    guard case .motion(let moved) = filter.pass(.motion(motion)) else {
      Issue.record("no motion")
      return
    }
    #expect(moved.attitude?.declination == nil && moved.attitude?.declinationReason == Self.why)
    #expect(moved.attitude?.north == .identity)
  }

  @Test(
    "with reduced access a position is the middle of its cell, and nothing finer than that comes")
  func reduced() throws {
    var filter = ObservationFilter(.reduced)
    guard case .location(let told) = filter.pass(location()),
      case .location(let true_) = location()
    else {
      Issue.record("no position")
      return
    }
    var reducer = ReducedAccuracy()
    let report = reducer.reduce(try #require(LocationReport(true_)))
    // No more than this of a fix: what is added to it has to be thought of here.
    var fix = GNSSFix(received: Timestamp(seconds: 1), mode: .twoDimensional)
    (fix.utc, fix.accuracySource) = (1_795_000_000, .receiver)
    (fix.latitude, fix.longitude) = (report.position.latitude, report.position.longitude)
    fix.horizontalAccuracy = report.horizontalAccuracy
    #expect(told == LocationEstimate(fix: fix, isSimulated: false))
    #expect(abs(report.position.latitude - 50.0123) > 0.001)
    guard case .location(let again) = filter.pass(location(50.0321)) else { return }
    #expect(again.fix.latitude == told.fix.latitude)
    // 0.0712345 rad are 4.0814 degrees.
    guard case .heading(let north) = filter.pass(.heading(heading())) else { return }
    let tenths = 4.1 * Double.pi / 180
    #expect(abs(try #require(north.declination) - tenths) < 1e-12)
    #expect(abs(try #require(north.trueHeading) - (6.25 + tenths - 2 * .pi)) < 1e-12)
    #expect(north.fieldCheck?.expected == nil)
    guard case .heading(let unknown) = filter.pass(.heading(heading(declination: nil))) else {
      return
    }
    #expect(unknown.trueHeading == nil && unknown.trueReason == .positionUnknown)
    guard case .motion(let moved) = filter.pass(.motion(motion)) else { return }
    #expect(abs(try #require(moved.attitude?.declination) - tenths) < 1e-12)
    #expect(filter.pass(sky) == nil && filter.pass(.absoluteAltitude(height(fix: 3))) == nil)
    let loss = Observation.locationUnavailable(.noFix, at: Timestamp(seconds: 9))
    for observation in harmless + [loss] { #expect(filter.pass(observation) == observation) }
  }
}
