import SensorTypes
import Testing

@testable import LocationServices

struct ServiceLifecycleTests {
  @Test("M1 M2: registering starts nothing; the demand is what all clients together have started")
  func demand() {
    var bench = EngineBench()
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
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.location))
    bench.say(.fix(50))
    #expect(bench.latitudes() == [50])
    bench.ask(.start(.location))
    #expect(bench.heard().isEmpty)
    bench.ask(.stop(.location))
    bench.ask(.stop(.location))
    bench.say(.fix(50.1))
    #expect(bench.heard().isEmpty)
    bench.ask(.start(.location))
    #expect(bench.latitudes() == [50.1])
  }

  @Test("what is known answers a start only while it is fresh")
  func freshness() {
    var bench = EngineBench()
    bench.say(.fix(50, at: 100))
    bench.say(.heading(30, at: 100))
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
    var bench = EngineBench()
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
      bench.say(.heading(Double(step), at: 60 + Double(step) / 20))
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
      bench.say(.heading(90 + 5 * Double(step), at: 200 + 4 * Double(step)))
    }
    #expect(bench.headings() == [90, 95, 100, 105, 110])
    #expect(advance(to: 227.9).isEmpty)
    #expect(advance(to: 228).first == .headingExpired)
  }

  @Test(
    "a heading does not expire for a client that has stopped, nor at once for one that starts later"
  )
  func noExpiry() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.heading))
    bench.engine.noteHeading(at: Timestamp(seconds: 1))
    bench.say(.heading(30, at: 1))
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
    var bench = EngineBench()
    bench.ask(.start(.heading), client: 7)
    bench.ask(.register)
    bench.ask(.start(.heading))
    bench.ask(.release)
    bench.say(.heading(30))
    #expect(bench.heard().isEmpty)
    #expect(bench.engine.demand == Demand())
  }
}
