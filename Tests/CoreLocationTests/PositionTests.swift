import FacadeTestSupport
import LocationServices
import Lodestone
import SensorTypes
import Testing

@testable import CoreLocation

struct PositionTests {
  @Test("M17: the newest position of the board, whoever asked for it, as it was measured")
  func location() async {
    let result = await onThread {
      let bench = PositionBench()
      let other = CLLocationManager(port: bench.runtime)
      let nothing = other.location
      bench.manager.distanceFilter = 1_000_000
      bench.manager.startUpdatingLocation()
      bench.fix(50, at: 1_001)
      bench.fix(50.1, accuracy: 7, at: 1_002)
      bench.settle()
      bench.time.advance(to: 1_500)
      let (one, two) = (other.location, other.location)
      return (
        nothing, one, one === two, bench.manager.location?.coordinate.latitude, bench.latitudes,
        bench.runtime.knownPosition, bench.spy.log.wasCurrent
      )
    }
    #expect(result.0 == nil)
    #expect(result.1?.coordinate.latitude == 50.1)
    #expect(result.1?.horizontalAccuracy == 7)
    #expect(result.1?.timestamp.timeIntervalSince1970 == 1_700_001_002)
    #expect(result.2, "the same object while nothing newer is known")
    #expect(result.3 == 50.1, "newer than what the filter has let through")
    #expect(result.4 == [[50]])
    #expect(result.6.allSatisfy { $0 }, "in a delegate's method the one that it is told of")
    // No speed: 310 m/s for 498 s, on top of 7 m.
    #expect(abs((result.5?.uncertainty ?? 0) - 154_387) < 0.01)
    #expect(abs((result.5?.age ?? 0) - 498) < 1e-6)
  }

  @Test("D5 D6 M16: pause and movement reach the delegate, movement before the location")
  func pause() async {
    let result = await onThread {
      let bench = PositionBench()
      let isOn = bench.manager.pausesLocationUpdatesAutomatically
      bench.manager.activityType = .fitness
      bench.manager.startUpdatingLocation()
      for second in [0.0, 90, 180] { bench.fix(50, at: 1_001 + second) }
      turn { bench.calls.last == "paused" }
      let isResting = bench.source.waits(for: Demand(location: true, locationInterval: 30))
      bench.fix(50, at: 1_211)
      bench.fix(50.001, at: 1_241)
      turn { bench.calls.last == "locations" }
      return (isOn, bench.calls, isResting, bench.source.waits(for: Demand(location: true)))
    }
    #expect(result.0)
    #expect(result.1 == ["locations", "paused", "resumed", "locations"])
    #expect(result.2)
    #expect(result.3)
  }

  @Test("M16: updates that may not pause do not; a start ends a pause")
  func noPause() async {
    let calls = await onThread {
      let bench = PositionBench()
      bench.manager.pausesLocationUpdatesAutomatically = false
      bench.manager.startUpdatingLocation()
      for second in stride(from: 0.0, through: 3_600, by: 60) { bench.fix(50, at: 1_001 + second) }
      bench.settle()
      let before = bench.calls
      bench.manager.pausesLocationUpdatesAutomatically = true
      bench.fix(50, at: 5_001)
      turn { bench.calls.last == "paused" }
      bench.manager.startUpdatingLocation()
      turn { bench.calls.last == "locations" }
      return (Set(before), Array(bench.calls.suffix(3)))
    }
    #expect(calls.0 == ["locations"])
    #expect(calls.1 == ["paused", "resumed", "locations"])
  }

  @Test("M4 B1 B2: what is set here is what the receiver is asked for")
  func accuracy() async {
    let demands = await onThread {
      let bench = PositionBench()
      bench.manager.startUpdatingLocation()
      bench.fix(50, at: 1_001)
      for accuracy in [
        kCLLocationAccuracyBestForNavigation, kCLLocationAccuracyBest,
        kCLLocationAccuracyNearestTenMeters, kCLLocationAccuracyHundredMeters,
        kCLLocationAccuracyKilometer, kCLLocationAccuracyThreeKilometers,
        kCLLocationAccuracyReduced,
      ] {
        bench.manager.desiredAccuracy = accuracy
      }
      return bench.source.demands.map(\.locationInterval)
    }
    // Nothing, a start, and what changed: 10 m, 100 m, 1 km, 3 km.
    let expected: [Double?] = [nil, nil, 1, 100.0 / 30, 1_000.0 / 30, 60]
    #expect(demands == expected)
  }
}
