import FacadeTestSupport
import Lodestone
import Testing

@testable import CoreLocation

@Suite(.timeLimit(.minutes(10)))
struct ReducedAccuracyTests {
  @Test(
    "M10: reduced: what is delivered, and what location says, is a cell without altitude, course and speed"
  )
  func reduced() async {
    let result = await AuthorizationBench.run("authorization: always, accuracy: reduced") {
      bench, spy, manager in
      manager.startUpdatingLocation()
      bench.fix(50.001)
      bench.fix(50.021)
      turn { !spy.log.locations.isEmpty }
      return (spy.log.locations.flatMap { $0 }, manager.location)
    }
    let places = Set(result.0.map { [$0.coordinate.latitude, $0.coordinate.longitude] })
    #expect(result.0.count == 2 && places.count == 1)
    #expect(result.1?.coordinate.latitude == result.0.last?.coordinate.latitude)
    for location in result.0 {
      #expect(location.horizontalAccuracy >= 4_000)
      #expect(location.verticalAccuracy < 0 && location.speed < 0 && location.course < 0)
    }
  }

  @Test(
    "M4 M10: kCLLocationAccuracyReduced gives one manager a cell, delivered and asked for, and no other"
  )
  func wantsReduced() async {
    let result = await onThread {
      let source = ScriptedSource()
      let runtime = LodestoneRuntime(source: source)
      let (coarse, exact) = (
        CLLocationManager(port: runtime), CLLocationManager(port: runtime)
      )
      coarse.desiredAccuracy = kCLLocationAccuracyReduced
      exact.startUpdatingLocation()
      source.publish(.location(50.001, 13))
      return (coarse.location?.horizontalAccuracy, exact.location?.horizontalAccuracy)
    }
    #expect(result.0 ?? 0 >= 4_000)
    #expect(result.1 == 5)
  }
}
