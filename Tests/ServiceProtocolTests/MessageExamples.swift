// One message of each kind, for the tests of what they become on the wire.

import Geodesy
import LinearAlgebra
import SensorTypes
import Testing

@testable import LocationServices
@testable import ServiceProtocol

enum MessageExamples {
  static let time = Timestamp(seconds: 12.5)
  static let region = MonitoredRegion(
    identifier: "harbour", monitor: "trips", center: Position(latitude: 53.5, longitude: 10),
    radius: 120)
  static let beacons = BeaconConstraint(uuid: BeaconUUID(high: 1, low: 2), major: 3)
  static let authorization = AuthorizationReport(
    status: .whenInUse, accuracy: .reduced, isInUse: true, isBeingAsked: false)
  static let failure = ServiceFailure(
    service: .heading, reason: "the field is 120 uT", cause: .needsMovement, isDenied: true)
  static let question = CalibrationQuestion(
    number: 7, prompt: CalibrationPrompt(cause: .uncalibrated, since: time))

  static let client = AuthorizationClient(
    executable: "/usr/bin/chart", user: 1000, unit: "chart.service")

  static func location() throws -> LocationReport {
    var fix = GNSSFix(received: time, mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.kind) = (53.5, 10, .autonomous)
    return try #require(LocationReport(LocationEstimate(fix: fix, isSimulated: false)))
  }

  /// A request of each kind, in the order of the kinds.
  static var requests: [ServiceAction] {
    var settings = ClientSettings(
      distanceFilter: 12, desiredAccuracy: -1, headingFilter: 0.5,
      headingOrientation: .landscapeLeft, answersQuestions: true, hearsRegions: true)
    settings.monitor = "trips"
    return [
      .register, .configure(settings), .start(.altitude), .stop(.location), .requestLocation,
      .allowDeferral(distance: .greatestFiniteMagnitude, timeout: .infinity), .disallowDeferral,
      .suspend, .resume, .answer(question: .max, display: true), .dismissPrompt,
      .startRegion(region, assuming: .inside), .stopRegion(region.key),
      .askRegion(region), .startRanging(beacons), .stopRanging(beacons),
      .requestAuthorization(.fullAccuracy(purpose: "navigate")),
      .hold(ServiceSession(.always, fullAccuracyPurpose: "navigate")),
      .regionTold(region.key), .release,
      .observe(
        BoardRequest(
          Demand(heading: true, location: true, motion: MotionDemand(attitude: true)),
          hasReadings: true)),
    ]
  }

  /// An event of each kind, in the order of the kinds.
  static func events() throws -> [EventContent] {
    let location = try location()
    let height = try #require(
      AbsoluteAltitudeReport(
        AbsoluteAltitudeEstimate(time: time, altitude: 36, accuracy: 2)))
    let visit = VisitReport(
      arrival: nil, departure: nil, position: location.position, horizontalAccuracy: 5)
    let crossing = RegionEvent(
      region: region, kind: .crossed(to: .outside), time: time, utc: 1_795_000_000.25)
    let sample = MotionSample(time: time, value: SIMD3(1, -2, 3))
    let heading = HeadingReport(
      time: time, magneticHeading: 359.5, trueHeading: 2, accuracy: 4.5, x: 1, y: 2, z: -40)
    let altitude = AltitudeReport(time: time, relativeAltitude: -1.5, pressure: 101_325)
    let lost = RangingFailure(
      constraint: beacons, failure: BeaconFailure(isUnavailable: true, reason: "no adapter"))
    return [
      .location(location), .deferredLocations([location, location]),
      .deferralEnded(.failed("no receiver")), .heading(heading), .headingExpired,
      .significantChange(location), .visit(visit), .region(crossing),
      .regionsUnreadable("not a list"),
      .beacons(BeaconReport(constraint: beacons, beacons: [])), .rangingFailed(lost),
      .altitude(altitude), .absoluteAltitude(height), .motion(.force(sample)),
      .requestedLocation(location), .requestFailed(failure), .paused, .resumed,
      .failure(failure), .question(question), .questionClosed(.max),
      .authorization(authorization), .fullAccuracyAnswered(.missingUsage(["a", "b"])),
      .observation(observations[0]),
      .reading(
        SensorReading(
          sensor: 2,
          sample: Sample(
            time: time, value: .atmosphere(pressure: 101_325, temperature: 20, humidity: 45)),
          edge: time, outputRate: 25)),
    ]
  }

  /// An observation of each kind, with every value that it can have.
  static var observations: [Observation] {
    var fix = GNSSFix(received: time, mode: .threeDimensional)
    (fix.pulseTime, fix.utc, fix.timeOfDay, fix.weeksAdded) = (time, 1_795_000_000, 3, 1_024)
    (fix.latitude, fix.longitude, fix.altitude, fix.ellipsoidalAltitude) = (53.5, 10, 12, 52)
    (fix.horizontalAccuracy, fix.verticalAccuracy, fix.accuracySource) = (2, 3, .dilution)
    (fix.speed, fix.speedAccuracy, fix.course, fix.courseAccuracy) = (1, 0.1, 270, 5)
    (fix.hdop, fix.vdop, fix.pdop, fix.satellitesUsed) = (0.8, 1.1, 1.4, 12)
    (fix.kind, fix.corrections) = (.rtkFixed, FixCorrections(age: 1.5, station: 120))
    let vector = Vector3(1, -2, 3)
    let check = FieldCheck(
      measured: FieldShape(strength: 48, dip: 1.1), expected: FieldShape(strength: 49, dip: 1.2),
      origin: .model)
    let heading = HeadingEstimate(
      time: time, magneticHeading: 1, accuracy: 0.1, trueHeading: 1.1, declination: 0.1,
      reason: .magneticInterference("field 90 uT", compared: "field 90 uT, expected 49"),
      trueReason: .modelInvalid("too old"), field: vector, attitude: .identity,
      fieldCheck: check, limit: .iron)
    let attitude = MotionAttitude(
      angularRate: vector, free: .identity, steadied: .identity, north: .identity,
      northReason: .uncalibrated, declination: 0.1, declinationReason: .dateUnknown, field: vector,
      fieldTrust: .high)
    let sample = Sample(time: time, value: vector)
    var sea = SeaState(time: time, condition: .waves, duration: 640)
    sea.significantWaveHeight = SeaQuantity(value: 1.5, accuracy: 0.1)
    let waves = WaveEstimate(
      time: time,
      heave: HeaveEstimate(time: time, heave: 0.5, accuracy: 0.1, rate: 0.2, rateAccuracy: 0.05),
      condition: .valid, sea: sea)
    var status = SensorStatus(
      index: 1, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c", state: .failed("no answer"),
      since: time)
    status.identity = SensorIdentity(name: "ROM CORE", firmware: "3.01")
    var satellite = GNSSSatellite(.galileo, 7)
    (satellite.elevation, satellite.azimuth, satellite.carrierToNoise) = (30, 200, 41)
    return [
      .heading(heading), .headingUnavailable(.sensorLost("wire"), at: time),
      .location(
        LocationEstimate(
          fix: fix, isSimulated: true,
          carried: DeadReckonedPosition(fixTime: time, isTurnMeasured: true))),
      .locationUnavailable(.noFix, at: time),
      .altitude(
        AltitudeEstimate(
          time: time, relativeAltitude: 1, relativeAccuracy: .infinity, pressure: 101_325,
          temperature: 20, humidity: 45)),
      .altitudeUnavailable(.notEquipped("barometer"), at: time),
      .absoluteAltitude(
        AbsoluteAltitudeEstimate(
          time: time, altitude: 36, accuracy: 2, seaLevelPressure: 101_700,
          seaLevelPressureAccuracy: 102)),
      .sky(GNSSSky(received: time, satellites: [satellite])),
      .motion(
        MotionEstimate(
          time: time, force: sample, angularRate: sample, field: sample, attitude: attitude)),
      .motionUnavailable(.gyro, .notYet, at: time), .waves(waves),
      .wavesUnavailable(.sensorLost("wire"), at: time), .sensor(status),
      .diagnostic("a wire", at: time),
    ]
  }

  /// A question of each kind, in the order of the kinds.
  static var questions: [ServiceQuestion] {
    let crossing = RegionEvent(
      region: region, kind: .crossed(to: .outside), time: time)
    return [
      .authorization, .capabilities, .beacons, .position(isReduced: true), .regions(of: "trips"),
      .keep(crossing), .program,
      .setAltitude(.qnh(1013, accuracy: 0.9, stationElevation: 450, age: 900)), .daemon,
      .board, .records,
      .saveRecord(RecordSave(record: "{}", samples: "x,y,z", overridesLock: true)),
    ]
  }

  /// An answer of each kind, in the order of the kinds.
  static func answers() throws -> [ServiceAnswer] {
    let known = KnownPosition(report: try location(), age: 3, uncertainty: 95)
    let record = RegionRecord(region: region, state: .inside, date: 1_795_000_000)
    return [
      .authorization(authorization),
      .capabilities(
        HardwareCapabilities(
          heading: true, location: false, relativeAltitude: true,
          motion: MotionCapabilities(accelerometer: true))),
      .beacons(problem: nil), .position(PositionAnswer(isGranted: true, known: known)),
      .regions(RegionList(records: [record], problem: "no room")), .kept(false),
      .program(
        ProgramReport(
          client: client, authorizationProblem: "nobody has answered the prompt",
          openingFailure: nil, beacons: BeaconCounters(attempts: 1, heard: 300))),
      .altitudeSet(.unfit("an elevation is -500 to 9000 m, not 12000")),
      .daemon(
        DaemonStatus(
          software: "0.2", board: "boat", process: 99, uptime: 12.5, openingFailure: "no bus",
          connections: 2, counters: ["accepted": 3], agents: 1,
          programs: [
            .init(
              client: AuthorizationClient(executable: "/usr/bin/track", user: 1000, unit: "a"),
              process: nil,
              authorization: AuthorizationReport(
                status: .always, accuracy: .reduced, isInUse: false, isBeingAsked: false),
              regions: 2, unheard: 1, waiting: 0, dropped: 4, problem: "the disk is full")
          ],
          chips: [
            .init(
              name: "u-blox at /dev/ttyAMA0", state: "failed", problem: "it is silent", samples: 7,
              corrections: "connecting to caster.example/MOUNT")
          ], messages: [.init(text: "the receiver leaps", age: 2.5, count: 3)])),
      .board(
        BoardReport(
          board: BoardDescription(
            name: "boat", isSimulated: false, isVehicle: true, chips: ["LIS3MDL", "u-blox"]),
          file: [1, 2, 255],
          sensors: [
            SensorStatus(
              index: 0, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c", state: .running, since: time)
          ], problem: nil)),
      .records(RecordFiles(files: ["a.json": "{}"], folder: "/var/lib/lodestone", problem: nil)),
      .recordSaved(.refused("it is locked", isFile: false)),
    ]
  }
}
