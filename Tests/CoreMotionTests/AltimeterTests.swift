import FacadeTestSupport
import Foundation
import SensorTypes
import Synchronization
import Testing

@testable import CoreMotion
@testable import Lodestone

struct AltimeterTests {
  @Test("A2 A3: one event a second on the queue, the first of them zero, pressure in kilopascals")
  func events() {
    let source = ScriptedSource()
    let altimeter = CMAltimeter(runtime: LodestoneRuntime(source: source))
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let heard = Kept()
    altimeter.startRelativeAltitudeUpdates(to: queue) { data, error in
      heard.add(data?.relativeAltitude.doubleValue, data?.pressure.doubleValue, error != nil)
    }
    for step in 0...50 {
      source.publish(.altitude(3 + Double(step) * 0.1, at: 100 + Double(step) * 0.1))
    }
    queue.waitUntilAllOperationsAreFinished()
    let events = heard.all
    #expect((5...6).contains(events.count))
    #expect(events.first?.altitude == 0)
    #expect(abs((events.last?.altitude ?? 0) - Double(events.count - 1)) < 0.15)
    #expect(events.allSatisfy { $0.pressure == 101.325 && !$0.failed })
    altimeter.stopRelativeAltitudeUpdates()
    source.publish(.altitude(9, at: 200))
    queue.waitUntilAllOperationsAreFinished()
    #expect(heard.all.count == events.count)
    #expect(source.demands.last == Demand())
  }

  private final class Kept: Sendable {
    struct Event: Sendable {
      var altitude: Double?
      var pressure: Double?
      var failed: Bool
    }

    private let events = Mutex<[Event]>([])

    func add(_ altitude: Double?, _ pressure: Double?, _ failed: Bool) {
      events.withLock { $0.append(Event(altitude: altitude, pressure: pressure, failed: failed)) }
    }

    var all: [Event] { events.withLock { $0 } }
  }
}
