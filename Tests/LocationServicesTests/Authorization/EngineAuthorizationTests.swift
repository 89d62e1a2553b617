import Foundation
import Geodesy
import LinearAlgebra
import SensorTypes
import Testing

@testable import LocationServices

struct EngineAuthorizationTests {
  @Test(
    "M10: while nothing is decided nothing is asked of the board and told; then it goes on by itself"
  )
  func waiting() {
    var bench = EngineAuthorizationBench(AuthorizationDecision(.notDetermined))
    bench.ask(.start(.location))
    #expect(bench.told() == ["notDetermined"])
    #expect(bench.engine.demand == Demand())
    bench.fix(50)
    bench.say(.locationUnavailable(.noFix, at: Timestamp(seconds: 31)))
    #expect(bench.told() == [])
    #expect(bench.engine.knownPosition(at: Timestamp(seconds: 32)) == nil)
    bench.ask(.requestAuthorization(.whenInUse))
    #expect(bench.told() == ["notDetermined"])
    bench.happen(.answer(prompt: 1, .allowWhileUsing))
    #expect(bench.told() == ["whenInUse", "failure"])
    #expect(bench.engine.demand.location)
    bench.fix(50)
    #expect(bench.told() == ["location"])
  }

  @Test("D2 M10: denied: a start is told so, a service that runs too, and a request is answered")
  func denied() {
    var bench = EngineAuthorizationBench(AuthorizationDecision(.denied))
    bench.ask(.start(.location))
    bench.ask(.start(.location))
    #expect(bench.told() == ["denied", "denied", "denied", "denied"])
    bench.ask(.stop(.location))
    bench.ask(.requestLocation)
    bench.ask(.start(.visits))
    #expect(bench.told() == ["answer denied", "denied", "denied"])
    #expect(bench.engine.demand == Demand())

    var running = EngineAuthorizationBench(AuthorizationDecision(.notDetermined), clients: 1...3)
    running.ask(.start(.location))
    running.ask(.requestLocation, client: 2)
    running.ask(.requestAuthorization(.whenInUse), client: 3)
    _ = running.told()
    running.happen(.answer(prompt: 1, .dontAllow))
    #expect(running.told() == ["denied", "denied", "denied", "denied", "answer denied"])
  }

  @Test(
    "M10 M15: locations that wait are told nobody once they may not be known, and the deferral ends"
  )
  func deferred() {
    var bench = EngineAuthorizationBench(AuthorizationDecision(.whenInUse))
    bench.ask(.start(.location))
    bench.fix(50)
    bench.ask(.allowDeferral(distance: 1e9, timeout: 1e9))
    for _ in 0..<3 { bench.fix(50) }
    _ = bench.told()
    var waiting = 0
    bench.engine.authorize(.decided(AuthorizationDecision(.denied), EngineAuthorizationBench.usage))
    { event in
      if case .deferredLocations = event.content { waiting += 1 }
      if case .deferralEnded(.failed) = event.content { waiting += 10 }
    }
    #expect(waiting == 10)
  }

  @Test(
    "S: in the background updates do not start without a session, whatever is allowed; visits do")
  func backgroundStart() {
    for grant in [AuthorizationDecision.Grant.always, .whenInUse] {
      var bench = EngineAuthorizationBench(AuthorizationDecision(grant))
      bench.go(foreground: false)
      _ = bench.told()
      bench.ask(.start(.location))
      bench.ask(.requestLocation)
      #expect(bench.told() == ["denied", "answer denied"])
      #expect(!bench.engine.demand.location)
      bench.ask(.register, client: 9)
      bench.ask(.hold(ServiceSession(keepsInUse: true)), client: 9)
      _ = bench.told()
      bench.ask(.start(.location))
      #expect(bench.told().allSatisfy { $0 == "whenInUse" })
      bench.fix(50)
      #expect(bench.told() == ["location"])
    }
    var bench = EngineAuthorizationBench(AuthorizationDecision(.always))
    bench.go(foreground: false)
    bench.ask(.start(.visits))
    #expect(bench.engine.demand.location)
  }

  @Test(
    "S M10: when in use: nothing comes in the background, unless a session or updates that may go on keep it in use"
  )
  func inUse() {
    var bench = EngineAuthorizationBench(AuthorizationDecision(.whenInUse))
    bench.ask(.start(.location))
    bench.go(foreground: false)
    _ = bench.told()
    bench.fix(50)
    #expect(bench.told() == [] && bench.engine.demand == Demand())
    bench.go(foreground: true)
    bench.ask(.configure(ClientSettings(hearsRegions: true, allowsBackground: true)))
    bench.go(foreground: false)
    _ = bench.told()
    bench.fix(51)
    #expect(bench.told() == ["location"])
    // What keeps it in use is that they run.
    bench.ask(.stop(.location))
    bench.ask(.start(.location))
    #expect(bench.told().last == "denied")
  }

  @Test("M10: always: the background changes nothing for what runs")
  func always() {
    var bench = EngineAuthorizationBench(.unasked)
    bench.ask(.start(.location))
    bench.go(foreground: false)
    _ = bench.told()
    bench.fix(50)
    #expect(bench.told() == ["location"])
  }

  @Test("M10 S: allowed once: over as soon as the application is no longer in use")
  func once() {
    var bench = EngineAuthorizationBench(AuthorizationDecision(.notDetermined))
    bench.ask(.start(.location))
    bench.ask(.requestAuthorization(.whenInUse))
    bench.happen(.answer(prompt: 1, .allowOnce))
    bench.fix(50)
    #expect(bench.told().suffix(2) == ["whenInUse", "location"])
    bench.go(foreground: false)
    #expect(bench.told() == ["notDetermined"])
    bench.go(foreground: true)
    bench.fix(51)
    #expect(bench.told() == ["notDetermined"])
  }

  @Test(
    "M10: provisional: what is due in the background waits, the second prompt stands in the foreground, and a crossing is told after it"
  )
  func provisional() {
    var bench = EngineAuthorizationBench(
      AuthorizationDecision(.provisional, hasAskedForAlways: true))
    bench.ask(
      .startRegion(
        MonitoredRegion(
          identifier: "home", center: Position(latitude: 50, longitude: 13), radius: 500)))
    bench.fix(50)
    #expect(bench.told() == ["started", "settled"])
    bench.go(foreground: false)
    _ = bench.told()
    bench.fix(50.0001)
    #expect(bench.outcomes() == [], "nothing to tell, nothing to ask")
    bench.fix(51)
    bench.fix(51)
    #expect(bench.told() == [])
    #expect(bench.engine.demand == Demand(), "the prompt is owed: nothing more is needed")
    bench.go(foreground: true)
    guard case .ask(let prompt) = bench.outcomes().last else {
      Issue.record("the second prompt stands")
      return
    }
    #expect(prompt.kind == .always)
    bench.happen(.answer(prompt: prompt.number, .changeToAlways))
    _ = bench.told()
    bench.fix(51)
    bench.fix(51)
    #expect(bench.told() == ["crossed"])
  }

  @Test("M10: provisional: an update, a significant change and a visit are due too")
  func provisionalServices() {
    for service in [Service.location, .significantChanges] {
      var bench = EngineAuthorizationBench(AuthorizationDecision(.provisional))
      bench.ask(.start(service))
      bench.go(foreground: false)
      bench.fix(50)
      bench.go(foreground: true)
      #expect(bench.outcomes().count { if case .ask = $0 { true } else { false } } == 1)
    }
    var bench = EngineAuthorizationBench(AuthorizationDecision(.provisional))
    bench.ask(.start(.visits))
    bench.go(foreground: false)
    for _ in 0..<12 { bench.fix(50) }
    bench.go(foreground: true)
    #expect(bench.outcomes().count { if case .ask = $0 { true } else { false } } == 1)
  }

  @Test(
    "M10: reduced: locations, answers, changes and visits are cells, regions and beacons are not told, headings as before"
  )
  func reduced() {
    var bench = EngineAuthorizationBench(AuthorizationDecision(.always, accuracy: .reduced))
    for service in [Service.location, .significantChanges, .visits] { bench.ask(.start(service)) }
    _ = bench.told()
    for _ in 0..<12 { bench.fix(50) }
    let heard = Set(bench.told())
    #expect(heard == ["cell", "cell visit"])
    #expect(bench.engine.demand.locationInterval == 60)
    bench.ask(.stop(.location))
    bench.fix(51)
    #expect(bench.told() == ["cell change", "cell visit"])
    bench.ask(
      .startRegion(
        MonitoredRegion(
          identifier: "home", center: Position(latitude: 50, longitude: 13), radius: 500)))
    #expect(bench.told() == ["started", "region denied"])
    bench.fix(50)
    bench.fix(50)
    #expect(!bench.told().contains("settled"))
    bench.ask(.startRanging(BeaconConstraint(uuid: BeaconUUID(high: 1, low: 2))))
    #expect(bench.told() == ["ranging failed"])
    #expect(!bench.engine.wantsBeacons)
    bench.ask(
      .askRegion(
        MonitoredRegion(
          identifier: "asked", center: Position(latitude: 50, longitude: 13), radius: 500)))
    #expect(bench.told() == ["unknown"])
    let known = bench.engine.knownPosition(at: Timestamp(seconds: bench.now))?.report
    #expect(known?.speed == nil && known?.horizontalAccuracy ?? 0 >= 4_000)
  }

  @Test("M4: a client that wants reduced accuracy gets cells beside one that gets locations")
  func wantsReduced() {
    var bench = EngineAuthorizationBench(.unasked, clients: 1...2)
    bench.ask(.configure(ClientSettings(desiredAccuracy: 6_380_000)), client: 1)
    bench.ask(.start(.location), client: 1)
    bench.ask(.start(.location), client: 2)
    bench.fix(50)
    #expect(bench.told() == ["cell", "location"])
    bench.ask(.stop(.location), client: 1)
    bench.ask(.requestLocation, client: 1)
    #expect(bench.told() == ["cell answer"])
    #expect(bench.engine.knownPosition(at: Timestamp(seconds: 31))?.report.speed == 3)
    let reduced = bench.engine.knownPosition(at: Timestamp(seconds: 31), isReduced: true)
    #expect(reduced?.report.speed == nil)
  }

  @Test("M10: exact for once: cells become locations, and cells again when the application leaves")
  func exactForOnce() {
    var bench = EngineAuthorizationBench(AuthorizationDecision(.whenInUse, accuracy: .reduced))
    bench.ask(.start(.location))
    _ = bench.told()
    bench.fix(50)
    bench.ask(.requestAuthorization(.fullAccuracy(purpose: "route")))
    bench.happen(.answer(prompt: 1, .allowOnce))
    bench.fix(50)
    #expect(bench.told() == ["cell", "whenInUse", "exact", "whenInUse", "location"])
    bench.go(foreground: false)
    bench.go(foreground: true)
    _ = bench.told()
    bench.fix(50)
    #expect(bench.told() == ["cell"])
  }

  @Test("M7 M10: without a permitted position there is no true heading; magnetic heading comes")
  func heading() {
    var bench = EngineAuthorizationBench(AuthorizationDecision(.denied))
    bench.ask(.start(.heading))
    #expect(bench.told() == [])
    var heard: [HeadingReport] = []
    let estimate = HeadingEstimate(
      time: Timestamp(seconds: 1), magneticHeading: 1, accuracy: 0.1, trueHeading: 1.1,
      field: Vector3(1, 20, -43), attitude: .identity)
    bench.engine.handle(.heading(estimate)) {
      if case .heading(let report) = $0.content { heard.append(report) }
    }
    #expect(heard.count == 1)
    #expect(heard.first?.trueHeading == nil)
  }

  @Test(
    "M10: a session asks for what it needs, again when the application comes to the foreground, and no longer once it is gone"
  )
  func sessions() {
    func asks(_ outcomes: [AuthorizationOutcome]) -> [AuthorizationPromptKind] {
      outcomes.compactMap { if case .ask(let prompt) = $0 { prompt.kind } else { nil } }
    }
    var bench = EngineAuthorizationBench(AuthorizationDecision(.notDetermined, accuracy: .reduced))
    bench.go(foreground: false)
    bench.ask(.hold(ServiceSession(.always, fullAccuracyPurpose: "route")))
    #expect(asks(bench.outcomes()) == [])
    bench.go(foreground: true)
    #expect(asks(bench.outcomes()) == [.position])
    bench.happen(.unanswered(prompt: 1))
    #expect(asks(bench.outcomes()) == [])
    bench.go(foreground: false)
    bench.go(foreground: true)
    #expect(asks(bench.outcomes()) == [.position])
    bench.happen(.answer(prompt: 2, .allowWhileUsing, accuracy: .reduced))
    #expect(asks(bench.outcomes()) == [.fullAccuracy])
    bench.happen(.answer(prompt: 3, .allowOnce))
    #expect(bench.engine.authorizationReport.accuracy == .full)
    bench.ask(.release)
    bench.go(foreground: false)
    bench.go(foreground: true)
    #expect(asks(bench.outcomes()) == [])
  }

  @Test("M16: background updates without a declared mode are a diagnostic, said once")
  func undeclared() {
    var bench = EngineAuthorizationBench(.unasked)
    bench.happen(.decided(.unasked, UsageDescriptions()))
    bench.ask(.configure(ClientSettings(allowsBackground: true)))
    bench.ask(.configure(ClientSettings(distanceFilter: 3, allowsBackground: true)))
    #expect(bench.outcomes() == [.problem(.undeclaredBackground)])
  }

  @Test("M10: requests and events survive their encoding")
  func encoding() throws {
    let client = ClientID(rawValue: 7)
    let requests = [
      ServiceRequest(client, .hold(ServiceSession(.always, fullAccuracyPurpose: "a"))),
      ServiceRequest(client, .requestAuthorization(.fullAccuracy(purpose: "a"))),
    ]
    let data = try JSONEncoder().encode(requests)
    #expect(try JSONDecoder().decode([ServiceRequest].self, from: data) == requests)
    let report = AuthorizationReport(
      status: .whenInUse, accuracy: .reduced, isInUse: true, isBeingAsked: false)
    let event = ServiceEvent(client: client, content: .authorization(report))
    let again = try JSONDecoder().decode(ServiceEvent.self, from: try JSONEncoder().encode(event))
    #expect(again == event)
  }
}
