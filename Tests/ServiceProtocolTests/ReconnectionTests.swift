// What a daemon that has started again is told, and what a program hears of it.

import Geodesy
import SensorTypes
import Testing

@testable import LocationServices
@testable import ServiceProtocol

struct ReconnectionTests {
  @Test("a daemon that has started again is told all that the program's clients want")
  func replay() throws {
    var talk = Conversation()
    talk.connect()
    var settings = ClientSettings()
    settings.headingFilter = 3
    for action: ServiceAction in [
      .register, .configure(ClientSettings()), .configure(settings), .start(.heading),
      .start(.location), .stop(.location),
      .start(.altitude), .startRanging(beacons),
    ] {
      talk.send(action)
    }
    for action: ServiceAction in [
      .register, .hold(ServiceSession(.whenInUse)), .requestLocation,
      .allowDeferral(distance: 1, timeout: 2),
      .allowDeferral(distance: 2, timeout: 2), .startRegion(region), .askRegion(region),
    ] {
      talk.send(action, 6)
    }
    talk.program.set(.background)
    let question = try talk.ask(.position(isReduced: false))
    talk.exchange()
    talk.heard = []

    // What runs fails once, and what was asked is unanswered.
    talk.heard = talk.program.disconnected("the daemon is away")
    #expect(talk.heard.first == .unanswered(number: question))
    #expect(talk.failures == [.heading, .altitude])
    let deferralEnd = EventContent.deferralEnded(.failed("the daemon is away"))
    #expect(talk.events.filter { $0 == deferralEnd }.count == 2)
    #expect(talk.events.count == 5)
    #expect(talk.program.disconnected("again") == [])
    // What is asked meanwhile.
    #expect(talk.program.ask(.authorization) == nil)
    talk.heard = []
    talk.send(.stop(.altitude))
    talk.send(.start(.visits))
    talk.send(.stopRegion(region.key), 6)
    #expect(talk.failures == [.visits] && talk.events.count == 1)

    talk.daemon = Conversation.daemon(run: 2)
    talk.asked = []
    talk.connect()
    // The modes stand around all else: what runs in the background was started in the foreground.
    #expect(
      talk.asked[1] == .application(.foreground) && talk.asked.last == .application(.background))
    #expect(
      talk.actions == [
        .register, .configure(settings), .register, .hold(ServiceSession(.whenInUse)),
        .stopRegion(region.key),
        .start(.heading), .start(.visits), .startRanging(beacons), .requestLocation,
        .askRegion(region),
      ])
    talk.heard = []
    talk.tell(heading)
    talk.exchange()
    #expect(talk.events == [heading])
  }

  @Test(
    "the end that a daemon announces is told like one that it does not", arguments: [true, false])
  func announced(isFarewell: Bool) {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    talk.send(.start(.heading))
    talk.exchange()
    if isFarewell { talk.daemon.close(.ending) }
    talk.exchange()
    if isFarewell { #expect(talk.heard.last == .farewell(.ending)) }
    talk.heard = talk.program.disconnected("the daemon was stopped")
    #expect(talk.failures == [.heading])
  }

  @Test(
    "a request that has one answer is answered with an error once no daemon could be reached for ten seconds"
  )
  func despair() {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    talk.send(.requestLocation)
    talk.send(.requestAuthorization(.fullAccuracy(purpose: "navigate")))
    talk.exchange()
    // A daemon that is restarted is asked again.
    talk.restart(run: 2)
    #expect(talk.actions.contains(.requestLocation))
    talk.heard = talk.program.disconnected("away")
    for _ in 0..<40 { talk.heard += talk.program.disconnected("nobody listens") }
    #expect(
      talk.events.filter { $0.kind == .answer } == [
        .requestFailed(ServiceFailure(service: .location, reason: "nobody listens"))
      ])
    #expect(talk.events.contains(.fullAccuracyAnswered(.unanswered)))
    // The next request is another one.
    talk.heard = []
    talk.send(.requestLocation)
    talk.heard += talk.program.disconnected("nobody listens")
    #expect(talk.events.count { $0.kind == .answer } == 1)
    talk.restart(run: 3)
    #expect(!talk.actions.contains(.requestLocation))
  }

  @Test(
    "who makes a statement while no daemon is there waits for nothing, and the next daemon hears it"
  )
  func statement() throws {
    var talk = Conversation()
    talk.connect()
    let number = try talk.ask(.keep(regionEvent(.crossed(to: .inside))))
    talk.heard = talk.program.disconnected("away")
    #expect(talk.heard == [.unanswered(number: number)])
    let later = ServiceQuestion.keep(regionEvent(.crossed(to: .outside)))
    #expect(talk.program.ask(later) == nil)
    talk.heard = talk.program.disconnected("away")
    #expect(talk.heard.isEmpty)
    talk.restart(run: 2)
    let asked = talk.asked.compactMap {
      if case .question(_, let question) = $0 { question } else { nil }
    }
    #expect(asked == [.keep(regionEvent(.crossed(to: .inside))), later])
  }

  @Test("a region is sent again until a daemon has stored it, its client being there or not")
  func unstoredRegion() {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    talk.send(.stopRegion(region.key))
    talk.send(.startRegion(region))
    talk.send(.regionTold(region.key))
    // The daemon ends before it reads.
    _ = talk.program.takeOutput()
    talk.send(.release)
    _ = talk.program.takeOutput()
    talk.restart(run: 2)
    // The last word counts.
    #expect(
      talk.actions == [
        .register, .startRegion(region), .release, .register, .regionTold(region.key), .release,
      ])
    // This one has said that it has stored it.
    talk.restart(run: 3)
    #expect(talk.actions == [])
  }

  @Test("what a daemon cannot store is told the next one, with the state that the program knows")
  func unstoring() {
    var talk = Conversation()
    talk.stores = false
    talk.connect()
    talk.send(.register)
    talk.send(.startRegion(region))
    talk.exchange()
    talk.tell(.region(regionEvent(.settled(.inside))))
    talk.exchange()
    for run: UInt64 in 2...3 {
      talk.restart(run: run)
      #expect(talk.actions == [.register, .startRegion(region, assuming: .inside)])
    }
    talk.stores = true
    talk.restart(run: 4)
    #expect(talk.actions.count == 2)
    talk.restart(run: 5)
    #expect(talk.actions == [.register])
  }

  @Test(
    "of what no daemon stores the newest 256 are remembered, and what runs before what has ended")
  func bound() {
    var talk = Conversation()
    talk.stores = false
    talk.connect()
    talk.send(.register)
    talk.send(.startRegion(region))
    for number in 0..<300 { talk.send(.stopRegion(RegionKey("\(number)", monitor: nil))) }
    talk.exchange()
    talk.restart(run: 2)
    #expect(talk.actions.count == 257)
    #expect(talk.actions.contains(.startRegion(region)))
    #expect(talk.actions.last == .stopRegion(RegionKey("299", monitor: nil)))
  }

  @Test(
    "a crossing that the program was told is not told again by the next daemon, and stored there")
  func crossing() throws {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    let crossing = regionEvent(.crossed(to: .outside))
    talk.tell(.region(crossing))
    talk.exchange()
    let number = try talk.ask(.keep(crossing))
    talk.exchange()
    // The program has waited long enough, and tells its delegate. The daemon dies before it has stored that.
    talk.program.forget(number)
    talk.restart(run: 2)
    #expect(talk.asked.dropFirst(2).first == .question(number: number, .keep(crossing)))
    talk.heard = []
    talk.daemon.answer(number, .kept(true))
    talk.tell(.region(crossing))
    talk.exchange()
    #expect(talk.heard == [])
    // Another crossing is another.
    for state in [RegionState.inside, .outside] {
      talk.tell(.region(regionEvent(.crossed(to: state))))
      talk.exchange()
    }
    #expect(talk.events.count == 2)
  }

  @Test(
    "a region that begins anew is told anew, whichever client has begun it, and so is another of its name"
  )
  func regionAnew() throws {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    talk.send(.register, 6)
    let inside = regionEvent(.crossed(to: .inside))
    talk.tell(.region(inside))
    talk.exchange()
    talk.send(.startRegion(inside.region), 6)
    talk.exchange()
    talk.tell(.region(inside))
    talk.exchange()
    #expect(talk.events.count == 2)
    var other = inside.region
    other.radius += 1
    talk.tell(.region(RegionEvent(region: other, kind: .crossed(to: .inside), time: inside.time)))
    talk.exchange()
    #expect(talk.events.count == 3)
  }

  @Test("what was refused is not asked for again")
  func refused() {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    talk.send(.start(.location))
    talk.send(.start(.gyro))
    talk.send(.requestAuthorization(.whenInUse))
    talk.exchange()
    talk.tell(
      .failure(ServiceFailure(service: .location, reason: "", cause: .notInUse, isDenied: true)))
    talk.tell(.failure(ServiceFailure(service: .gyro, reason: "", cause: .notEquipped)))
    talk.tell(.authorization(report(isBeingAsked: true)))
    talk.exchange()
    talk.restart(run: 2)
    #expect(talk.actions == [.register, .requestAuthorization(.whenInUse)])
    talk.tell(.authorization(report()))
    talk.exchange()
    talk.restart(run: 3)
    #expect(talk.actions == [.register])
  }

  @Test("clients that are gone leave nothing behind")
  func ghosts() {
    var talk = Conversation()
    talk.connect()
    for client in UInt64(1)...1_000 {
      talk.send(.register, client)
      talk.send(.start(.heading), client)
      talk.send(.release, client)
      talk.send(.answer(question: 1, display: true), client)
      talk.exchange()
    }
    #expect(talk.daemon.isOpen)
    talk.restart(run: 2)
    #expect(talk.actions == [])
  }

  @Test("a program asks no more at once than the daemon lets it, the rest as answers come")
  func manyQuestions() throws {
    var talk = Conversation()
    talk.connect()
    let numbers = try (0..<40).map { _ in try talk.ask(.authorization) }
    talk.exchange()
    func asked() -> [UInt64] {
      talk.asked.compactMap { if case .question(let number, _) = $0 { number } else { nil } }
    }
    #expect(asked() == Array(numbers[..<32]) && talk.daemon.isOpen)
    talk.program.forget(numbers[32])
    for number in numbers[..<32] { talk.daemon.answer(number, .authorization(report())) }
    talk.exchange()
    #expect(asked() == Array(numbers[..<32]) + numbers[33...])
    // The next daemon is told what was to be told, however much it is.
    let statements = try (0..<40).map { _ in
      try talk.ask(.keep(regionEvent(.crossed(to: .inside))))
    }
    talk.exchange()
    talk.restart(run: 2)
    #expect(asked() == Array(statements[..<32]) && talk.daemon.isOpen)
    for number in statements[..<32] { talk.daemon.answer(number, .kept(true)) }
    talk.exchange()
    #expect(asked() == statements)
  }

  @Test("a program with too many clients hears of it, and keeps its connection")
  func manyClients() {
    var talk = Conversation()
    talk.connect()
    for client in UInt64(1)...300 { talk.send(.register, client) }
    talk.exchange()
    #expect(talk.requests.count == 255 && talk.failures.count == 45 && talk.daemon.isOpen)
  }
}
