// Every message of the facades and the services survives coding.

import Geodesy
import SensorTypes
import Testing

@testable import LocationServices
@testable import ServiceProtocol

struct MessageCodingTests {
  /// The same after encoder and decoder.
  private func coded<Value: Codable>(_ value: Value) throws -> Value {
    var bytes: [UInt8] = []
    try CBOREncoder.append(value, to: &bytes)
    return try CBORDecoder.decode(Value.self, from: bytes)
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
    case .observe: 20
    }
  }

  @Test("every request survives coding")
  func requests() throws {
    let examples = MessageExamples.requests
    #expect(examples.map(number) == Array(0..<21))
    for action in examples {
      let request = ServiceRequest(ClientID(rawValue: .max), action)
      #expect(try coded(request) == request)
    }
    // Not a number is itself, but not equal to itself.
    var settings = ClientSettings()
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
    case .observation: 23
    case .reading: 24
    }
  }

  @Test("every event survives coding, and has a kind under which it waits")
  func events() throws {
    let examples = try MessageExamples.events()
    #expect(examples.map(number) == Array(0..<25))
    for content in examples {
      let event = ServiceEvent(client: ClientID(rawValue: 3), content: content)
      #expect(try coded(event) == event)
    }
    let kinds = examples.map(\.kind)
    // Headings, answers, pauses, beacons and questions share theirs.
    #expect(Set(kinds).count == 25 - 5)
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
    case .program: 6
    case .setAltitude: 7
    case .daemon: 8
    case .board: 9
    case .records: 10
    case .saveRecord: 11
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
    case .program: 6
    case .altitudeSet: 7
    case .daemon: 8
    case .board: 9
    case .records: 10
    case .recordSaved: 11
    }
  }

  @Test("every observation survives coding")
  func observations() throws {
    let examples = MessageExamples.observations
    #expect(Set(examples.map { String(describing: $0).prefix { $0 != "(" } }).count == 14)
    for observation in examples { #expect(try coded(observation) == observation) }
  }

  @Test(
    "a demand of a program that does not know of waves is read, and one without them is as it was")
  func oldDemand() throws {
    /// What a demand was before.
    struct OldDemand: Codable, Equatable {
      var (heading, location, altitude) = (true, false, false)
      var (followsCourse, carriesPosition, satellites) = (false, false, false)
      var motion = MotionDemand()
    }
    var bytes: [UInt8] = []
    try CBOREncoder.append(OldDemand(), to: &bytes)
    #expect(try CBORDecoder.decode(Demand.self, from: bytes) == Demand(heading: true))
    bytes = []
    try CBOREncoder.append(Demand(heading: true), to: &bytes)
    #expect(try CBORDecoder.decode(OldDemand.self, from: bytes) == OldDemand())
    #expect(try coded(Demand(waves: true)).waves)
  }

  @Test("every question and every answer survives coding")
  func questions() throws {
    let questions = MessageExamples.questions
    #expect(questions.map(number) == Array(0..<12))
    for question in questions { #expect(try coded(question) == question) }
    #expect(try coded(ServiceQuestion.regions(of: nil)) == .regions(of: nil))
    let answers = try MessageExamples.answers()
    #expect(answers.map(number) == Array(0..<12))
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
    let event = RegionEvent(
      region: MessageExamples.region, kind: .settled(.inside), time: MessageExamples.time)
    #expect(port.ask(.keep(event)))
  }
}
