// Events that were on their way when nobody wanted them any more.

import Geodesy
import SensorTypes
import Testing

@testable import LocationServices
@testable import ServiceProtocol

struct StaleEventTests {
  @Test("who asks again before the answer has arrived is answered once")
  func requestsForLocations() throws {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    for _ in 0..<3 { talk.send(.requestLocation) }
    // The daemon has answered before it reads what follows.
    talk.exchange()
    #expect(talk.actions.filter { $0 == .requestLocation }.count == 1)
    talk.tell(.requestedLocation(try MessageExamples.location()))
    talk.send(.requestLocation)
    talk.exchange()
    #expect(talk.actions.filter { $0 == .requestLocation }.count == 1)
    talk.send(.requestLocation)
    talk.exchange()
    #expect(talk.actions.filter { $0 == .requestLocation }.count == 2)
    // An older daemon knows no such request: the next one is another.
    talk.tell(.requestFailed(MessageExamples.failure))
    talk.exchange()
    talk.send(.requestLocation)
    talk.exchange()
    #expect(talk.actions.filter { $0 == .requestLocation }.count == 3)
  }

  @Test("an event that was on its way when its service was stopped is not told")
  func stopped() {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    talk.send(.start(.heading))
    talk.exchange()
    talk.tell(heading)
    // The program stops, and starts again, before it reads.
    talk.send(.stop(.heading))
    talk.send(.start(.heading))
    talk.exchange()
    #expect(talk.events == [])
    talk.tell(heading)
    talk.exchange()
    #expect(talk.events == [heading])
    // What the service has nothing to do with is told.
    talk.tell(.region(regionEvent(.started)))
    talk.send(.stop(.heading))
    talk.exchange()
    #expect(talk.events.count == 2)
    // Nor does a client hear anything after its release.
    talk.tell(.region(regionEvent(.started)))
    talk.send(.release)
    talk.exchange()
    #expect(talk.events.count == 2)
  }

  @Test("samples of a former start, in a former frame or of a former orientation are not told")
  func restarted() {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    talk.send(.start(.accelerometer))
    talk.exchange()
    talk.tell(force)
    talk.send(.start(.accelerometer))
    talk.exchange()
    #expect(talk.events == [])
    talk.tell(heading)
    var settings = ClientSettings()
    settings.headingOrientation = .landscapeLeft
    talk.send(.configure(settings))
    talk.exchange()
    #expect(talk.events == [])
    talk.tell(heading)
    talk.tell(force)
    settings.headingFilter = 5
    talk.send(.configure(settings))
    talk.exchange()
    #expect(talk.events == [heading, force])
    talk.send(.startRanging(beacons))
    talk.exchange()
    talk.tell(.beacons(BeaconReport(constraint: beacons, beacons: [])))
    talk.send(.stopRanging(beacons))
    talk.exchange()
    #expect(talk.events.count == 2)
  }

  @Test("a request for one location that a start has cancelled has no answer")
  func cancelledAnswer() {
    var talk = Conversation()
    talk.connect()
    talk.send(.register)
    talk.send(.requestLocation)
    talk.exchange()
    talk.tell(late)
    talk.send(.start(.location))
    talk.exchange()
    #expect(talk.events == [])
    talk.send(.stop(.location))
    talk.send(.requestLocation)
    talk.exchange()
    talk.tell(late)
    talk.exchange()
    #expect(talk.events == [late])
  }
}
