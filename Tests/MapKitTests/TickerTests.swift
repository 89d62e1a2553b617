import FacadeTestSupport
import Lodestone
import Testing

@testable import MapKit

/// Animation on a thread's own clock, as a program has it.
@Suite struct TickerTests {
  @Test("K9: a map of a thread with a run loop moves on it, in about 0.3 s")
  func runLoop() async {
    let (calls, steps, seconds, latitude) = await onThread {
      let map = MKMapView(frame: CGRect(x: 0, y: 0, width: 640, height: 480))
      let spy = MapSpy()
      map.delegate = spy
      map.region = region(berlin, 0.2)
      spy.calls = []
      spy.steps = 0
      let clock = ContinuousClock()
      let start = clock.now
      map.setCenter(place(53, 13), animated: true)
      turn { spy.calls.count == 2 }
      return (spy.calls, spy.steps, clock.now - start, map.centerCoordinate.latitude)
    }
    #expect(calls == ["will true", "did true"] && steps > 2)
    // A machine with other things to do is late, and never early.
    #expect(seconds >= .seconds(0.29))
    #expect(abs(latitude - 53) < 1e-9)
  }

  @Test("K9: a map of the main thread moves by the main queue, also where no loop runs") @MainActor
  func mainQueue() async {
    let map = MKMapView(frame: CGRect(x: 0, y: 0, width: 640, height: 480))
    let spy = MapSpy()
    map.delegate = spy
    map.region = region(berlin, 0.2)
    spy.calls = []
    await withCheckedContinuation { continuation in
      spy.onRest = { _ in continuation.resume() }
      map.setCenter(place(53, 13), animated: true)
    }
    #expect(spy.calls == ["will true", "did true"])
    #expect(abs(map.centerCoordinate.latitude - 53) < 1e-9)
  }
}
