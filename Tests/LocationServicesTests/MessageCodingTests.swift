// What the facades and the services say to each other survives coding, so that the services can live in another process.

import Foundation
import Geodesy
import SensorTypes
import Testing

@testable import LocationServices

struct MessageCodingTests {
  private static let time = Timestamp(seconds: 12.5)
  private static let region = MonitoredRegion(
    identifier: "harbour", monitor: "trips", center: Position(latitude: 53.5, longitude: 10),
    radius: 120)
  private static let beacons = BeaconConstraint(uuid: BeaconUUID(high: 1, low: 2), major: 3)
  private static let authorization = AuthorizationReport(
    status: .whenInUse, accuracy: .reduced, isInUse: true, isBeingAsked: false)
  private static let failure = ServiceFailure(
    service: .heading, reason: "the field is 120 uT", cause: .needsMovement, isDenied: true)
  private static let question = CalibrationQuestion(
    number: 7, prompt: CalibrationPrompt(cause: .uncalibrated, since: time))

  private static func location() throws -> LocationReport {
    var fix = GNSSFix(received: time, mode: .threeDimensional)
    (fix.latitude, fix.longitude) = (53.5, 10)
    return try #require(LocationReport(LocationEstimate(fix: fix, isSimulated: false)))
  }

  /// The same after encoder and decoder. What is not finite is spelt out: JSON has no word for it.
  private func coded<Value: Codable>(_ value: Value) throws -> Value {
    let encoder = JSONEncoder()
    let decoder = JSONDecoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try decoder.decode(Value.self, from: encoder.encode(value))
  }

  /// The number of a request's kind: one that has no example below does not compile, or is missed.
  private func number(_ action: ServiceAction) -> Int {
    switch action {
    case .register: 0
    case .configure: 1
    case .start: 2
    case .stop: 3
    case .requestLocation: 4
    case .allowDeferral: 5
    case .disallowDeferral: 6
    case .suspend: 7
    case .resume: 8
    case .answer: 9
    case .dismissPrompt: 10
    case .startRegion: 11
    case .stopRegion: 12
    case .askRegion: 13
    case .startRanging: 14
    case .stopRanging: 15
    case .requestAuthorization: 16
    case .hold: 17
    case .regionTold: 18
    case .release: 19
    }
  }

  @Test("every request survives coding")
  func requests() throws {
    var settings = ClientSettings(
      distanceFilter: 12, desiredAccuracy: -1, headingFilter: 0.5,
      headingOrientation: .landscapeLeft, answersQuestions: true, hearsRegions: true)
    settings.monitor = "trips"
    let examples: [ServiceAction] = [
      .register, .configure(settings), .start(.altitude), .stop(.location), .requestLocation,
      .allowDeferral(distance: .greatestFiniteMagnitude, timeout: .infinity), .disallowDeferral,
      .suspend, .resume, .answer(question: .max, display: true), .dismissPrompt,
      .startRegion(Self.region, assuming: .inside), .stopRegion(Self.region.key),
      .askRegion(Self.region), .startRanging(Self.beacons), .stopRanging(Self.beacons),
      .requestAuthorization(.fullAccuracy(purpose: "navigate")),
      .hold(ServiceSession(.always, fullAccuracyPurpose: "navigate")),
      .regionTold(Self.region.key), .release,
    ]
    #expect(examples.map(number) == Array(0..<20))
    for action in examples {
      let request = ServiceRequest(ClientID(rawValue: .max), action)
      #expect(try coded(request) == request)
    }
    // Not a number is itself, but not equal to itself.
    settings.distanceFilter = .nan
    guard case .configure(let read) = try coded(ServiceAction.configure(settings)) else {
      Issue.record("another request")
      return
    }
    #expect(read.distanceFilter.isNaN)
  }

  private func number(_ content: EventContent) -> Int {
    switch content {
    case .location: 0
    case .deferredLocations: 1
    case .deferralEnded: 2
    case .heading: 3
    case .headingExpired: 4
    case .significantChange: 5
    case .visit: 6
    case .region: 7
    case .regionsUnreadable: 8
    case .beacons: 9
    case .rangingFailed: 10
    case .altitude: 11
    case .absoluteAltitude: 12
    case .motion: 13
    case .requestedLocation: 14
    case .requestFailed: 15
    case .paused: 16
    case .resumed: 17
    case .failure: 18
    case .question: 19
    case .questionClosed: 20
    case .authorization: 21
    case .fullAccuracyAnswered: 22
    }
  }

  @Test("every event survives coding, and has a kind under which it waits")
  func events() throws {
    let location = try Self.location()
    let height = try #require(
      AbsoluteAltitudeReport(
        AbsoluteAltitudeEstimate(time: Self.time, altitude: 36, accuracy: 2)))
    let visit = VisitReport(
      arrival: nil, departure: nil, position: location.position, horizontalAccuracy: 5)
    let crossing = RegionEvent(
      region: Self.region, kind: .crossed(to: .outside), time: Self.time, utc: 1_795_000_000.25)
    let sample = MotionSample(time: Self.time, value: SIMD3(1, -2, 3))
    let heading = HeadingReport(
      time: Self.time, magneticHeading: 359.5, trueHeading: 2, accuracy: 4.5, x: 1, y: 2, z: -40)
    let altitude = AltitudeReport(time: Self.time, relativeAltitude: -1.5, pressure: 101_325)
    let lost = RangingFailure(
      constraint: Self.beacons, failure: BeaconFailure(isUnavailable: true, reason: "no adapter"))
    let examples: [EventContent] = [
      .location(location), .deferredLocations([location, location]),
      .deferralEnded(.failed("no receiver")), .heading(heading), .headingExpired,
      .significantChange(location), .visit(visit), .region(crossing),
      .regionsUnreadable("not a list"),
      .beacons(BeaconReport(constraint: Self.beacons, beacons: [])), .rangingFailed(lost),
      .altitude(altitude), .absoluteAltitude(height), .motion(.force(sample)),
      .requestedLocation(location), .requestFailed(Self.failure), .paused, .resumed,
      .failure(Self.failure), .question(Self.question), .questionClosed(.max),
      .authorization(Self.authorization), .fullAccuracyAnswered(.missingUsage(["a", "b"])),
    ]
    #expect(examples.map(number) == Array(0..<23))
    for content in examples {
      let event = ServiceEvent(client: ClientID(rawValue: 3), content: content)
      #expect(try coded(event) == event)
    }
    let kinds = examples.map(\.kind)
    // Headings, answers, pauses, beacons and questions share theirs.
    #expect(Set(kinds).count == 23 - 5)
    #expect(kinds.filter { $0 == .answer }.count == 2 && kinds.filter { $0 == .pause }.count == 2)
  }

  private func number(_ question: ServiceQuestion) -> Int {
    switch question {
    case .authorization: 0
    case .capabilities: 1
    case .beacons: 2
    case .position: 3
    case .regions: 4
    case .keep: 5
    }
  }

  private func number(_ answer: ServiceAnswer) -> Int {
    switch answer {
    case .authorization: 0
    case .capabilities: 1
    case .beacons: 2
    case .position: 3
    case .regions: 4
    case .kept: 5
    }
  }

  @Test("every question and every answer survives coding")
  func questions() throws {
    let crossing = RegionEvent(
      region: Self.region, kind: .crossed(to: .outside), time: Self.time)
    let questions: [ServiceQuestion] = [
      .authorization, .capabilities, .beacons, .position(isReduced: true), .regions(of: "trips"),
      .keep(crossing),
    ]
    #expect(questions.map(number) == Array(0..<6))
    for question in questions { #expect(try coded(question) == question) }
    #expect(try coded(ServiceQuestion.regions(of: nil)) == .regions(of: nil))
    let known = KnownPosition(report: try Self.location(), age: 3, uncertainty: 95)
    let record = RegionRecord(region: Self.region, state: .inside, date: 1_795_000_000)
    let answers: [ServiceAnswer] = [
      .authorization(Self.authorization),
      .capabilities(
        HardwareCapabilities(
          heading: true, location: false, relativeAltitude: true,
          motion: MotionCapabilities(accelerometer: true))),
      .beacons(problem: nil), .position(PositionAnswer(isGranted: true, known: known)),
      .regions(RegionList(records: [record], problem: "no room")), .kept(false),
    ]
    #expect(answers.map(number) == Array(0..<6))
    for answer in answers { #expect(try coded(answer) == answer) }
    #expect(try coded(ServiceAnswer.beacons(problem: "off")) == .beacons(problem: "off"))
  }

  @Test("a port that answers nothing allows nothing and knows nothing")
  func silence() {
    final class Silent: ServicePort {
      func connect(_ client: any ServiceClient) -> ClientID { ClientID(rawValue: 1) }
      func send(_ request: ServiceRequest) {}
      func answer(_ question: ServiceQuestion) -> ServiceAnswer? { nil }
      func wallTime(of time: Timestamp) -> Double { 0 }
      func note(_ line: String) {}
    }
    let port = Silent()
    #expect(port.ask(.authorization).status == .notDetermined)
    let capabilities = port.ask(.capabilities)
    #expect(!capabilities.heading && !capabilities.location && !capabilities.relativeAltitude)
    #expect(port.ask(.beacons) != nil)
    #expect(port.ask(.position(isReduced: false)) == PositionAnswer(isGranted: false, known: nil))
    let regions = port.ask(.regions(of: nil))
    #expect(regions.records.isEmpty && regions.problem != nil)
    // Told twice is better than never.
    let event = RegionEvent(region: Self.region, kind: .settled(.inside), time: Self.time)
    #expect(port.ask(.keep(event)))
  }
}
