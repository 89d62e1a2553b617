import Lodestone
import Testing

@testable import MapKit

/// How a map gets from one view to another.
@Suite struct AnimationTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }

  @Test("K9: an animated change is announced, goes by steps, and arrives")
  func animated() {
    map.region = region(berlin, 0.2)
    bench.spy.calls = []
    bench.spy.steps = 0
    var latitudes: [Double] = []
    bench.spy.onStep = { latitudes.append($0.centerCoordinate.latitude) }
    let target = map.regionThatFits(region(place(52.6, 13.5), 0.1))
    map.setRegion(target, animated: true)
    #expect(bench.spy.calls == ["will true"] && bench.ticker.isRunning)
    #expect(abs(map.centerCoordinate.latitude - berlin.latitude) < 1e-9)
    bench.ticker.run(0.15)
    #expect(bench.spy.calls == ["will true"])
    #expect(abs(map.centerCoordinate.latitude - (52.6 + berlin.latitude) / 2) < 1e-3)
    bench.ticker.run(0.2)
    #expect(bench.spy.calls == ["will true", "did true"] && !bench.ticker.isRunning)
    #expect(abs(map.region.center.latitude - 52.6) < 1e-12)
    #expect(abs(map.region.span.latitudeDelta - target.span.latitudeDelta) < 1e-9)
    #expect(latitudes.count >= 18 && latitudes == latitudes.sorted())
  }

  @Test("K9: without animation both are told at once")
  func atOnce() {
    map.setRegion(region(berlin, 0.2), animated: false)
    #expect(bench.spy.calls == ["will false", "did false"] && !bench.ticker.isRunning)
  }

  @Test("K9: a change on the way to another starts where the map is")
  func retargeted() {
    map.region = region(berlin, 0.2)
    bench.spy.calls = []
    map.setCenter(place(53, 13), animated: true)
    bench.ticker.run(0.1)
    let here = map.centerCoordinate
    map.setCenter(berlin, animated: true)
    #expect(map.centerCoordinate.latitude == here.latitude)
    bench.ticker.run(0.5)
    #expect(bench.spy.calls == ["will true", "did true"])
    #expect(abs(map.centerCoordinate.latitude - berlin.latitude) < 1e-12)
    // One that is not animated ends the way.
    map.setCenter(place(53, 13), animated: true)
    bench.ticker.run(0.1)
    bench.spy.calls = []
    map.centerCoordinate = place(10, 10)
    #expect(bench.spy.calls == ["did true", "will false", "did false"])
    bench.ticker.run(0.5)
    #expect(abs(map.centerCoordinate.latitude - 10) < 1e-12)
  }

  @Test("K4: a camera that turns goes the shorter way, also over north")
  func turns() {
    map.camera = MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 0, heading: 350)
    var headings: [Double] = []
    bench.spy.onStep = { headings.append($0.camera.heading) }
    map.setCamera(
      MKMapCamera(lookingAtCenter: berlin, fromDistance: 3000, pitch: 30, heading: 20),
      animated: true)
    bench.ticker.run(0.5)
    #expect(headings.allSatisfy { $0 >= 349.9 || $0 <= 20.1 })
    #expect(abs(map.camera.heading - 20) < 1e-9 && abs(map.camera.pitch - 30) < 1e-9)
  }

  @Test("K2: a way across 180 degrees is the shorter one")
  func across() {
    map.region = region(place(0, 179), 1)
    var longitudes: [Double] = []
    bench.spy.onStep = { longitudes.append($0.centerCoordinate.longitude) }
    map.setCenter(place(0, -179), animated: true)
    bench.ticker.run(0.5)
    #expect(longitudes.allSatisfy { abs($0) >= 178.99 })
    #expect(abs(map.centerCoordinate.longitude + 179) < 1e-9)
  }

  @Test("K9: a delegate that moves the map while it moves is heard")
  func reentrant() {
    map.region = region(berlin, 0.2)
    var isFirst = true
    bench.spy.onStep = { map in
      guard isFirst else { return }
      isFirst = false
      map.setCenter(place(20, 20), animated: false)
    }
    map.setCenter(place(53, 13), animated: true)
    bench.ticker.run(1)
    #expect(abs(map.centerCoordinate.latitude - 20) < 1e-9 && !bench.ticker.isRunning)
  }

  @Test("a map that goes takes its frames along")
  func gone() {
    let ticker = ManualTicker()
    var map: MKMapView? = MKMapView(
      frame: CGRect(x: 0, y: 0, width: 100, height: 100), port: processPort, ticker: ticker)
    weak var seen: MKMapView?
    seen = map
    map?.setCenter(berlin, animated: true)
    #expect(ticker.isRunning)
    map = nil
    #expect(seen == nil && !ticker.isRunning)
  }
}
