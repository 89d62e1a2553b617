import FacadeTestSupport
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import MapKit

/// The board on the map, on a board that says what the test lets it say.
///
/// The location services speak on the run loop of the thread that made the map: all of it takes place on one thread.
private final class UserBench {
  let source: ScriptedSource
  let runtime: LodestoneRuntime
  let ticker = ManualTicker()
  let map: MKMapView
  let spy = MapSpy()
  private let seconds = Mutex(1000.0)

  init(_ source: ScriptedSource = ScriptedSource()) {
    self.source = source
    runtime = LodestoneRuntime(source: source)
    map = MKMapView(
      frame: CGRect(x: 0, y: 0, width: 640, height: 480), port: runtime, ticker: ticker)
    map.delegate = spy
    spy.calls = []
  }

  var updates: Int { spy.calls.count { $0 == "user" } }

  /// A fix, and the turn of the run loop that brings it.
  func fix(_ latitude: Double, _ longitude: Double, accuracy: Double = 5, after pause: Double = 1) {
    ticker.advance(pause)
    let now = seconds.withLock { seconds in
      seconds += pause
      return seconds
    }
    let before = updates
    source.publish(.location(latitude, longitude, accuracy: accuracy, at: now))
    turn { updates > before }
  }

  func point(_ degrees: Double, after pause: Double = 0.1) {
    ticker.advance(pause)
    let now = seconds.withLock { seconds in
      seconds += pause
      return seconds
    }
    let before = updates
    source.publish(.heading(degrees: degrees, at: now, declination: 5))
    turn { updates > before }
  }
}

@Suite struct UserTests {
  @Test("K5: the services run while the board is shown, and rest otherwise")
  func services() async {
    let (before, during, after, calls) = await onThread {
      let bench = UserBench()
      let before = bench.source.demands.last
      bench.map.showsUserLocation = true
      turn { bench.source.demands.last?.location == true }
      let during = bench.source.demands.last
      bench.fix(52, 13)
      bench.map.showsUserLocation = false
      turn { bench.source.demands.last?.location == false }
      return (before, during, bench.source.demands.last, bench.spy.calls)
    }
    #expect(before?.location != true && during?.location == true && after?.location == false)
    #expect(calls.first == "will locate" && calls.last == "stopped locating")
    #expect(calls.contains("user"))
  }

  @Test("K5 K6: the board is an annotation as soon as it has a place")
  func annotation() async {
    await onThread {
      let bench = UserBench()
      let map = bench.map
      map.showsUserLocation = true
      let before = (map.annotations.count, map.userLocation.isUpdating, map.isUserLocationVisible)
      bench.fix(52, 13)
      let view = map.view(for: map.userLocation)
      let found = map.annotations(in: MKMapRect(region(place(52, 13), 1)))
      map.removeAnnotation(map.userLocation)
      return (
        before, map.annotations.count, map.userLocation.isUpdating, map.isUserLocationVisible,
        view is MKUserLocationView, found.count, map.userLocation.coordinate.latitude
      )
    } |> { result in
      #expect(result.0 == (0, true, false))
      #expect(result.1 == 1 && !result.2 && result.3 && result.4 && result.5 == 1)
      #expect(result.6 == 52)
    }
  }

  @Test("K5: the board is visible when the square of its accuracy touches what is visible")
  func visible() async {
    let seen = await onThread {
      let bench = UserBench()
      let map = bench.map
      map.camera = MKMapCamera(
        lookingAtCenter: place(52, 13), fromDistance: 1000, pitch: 0, heading: 0)
      map.showsUserLocation = true
      // From 1000 m 268 m to the north and 357 m to the east are visible.
      var seen: [Bool] = []
      for (metres, accuracy) in [(0.0, 5.0), (300, 5), (300, 40), (-300, 40), (300, 30)] {
        bench.fix(52 + metres / 111_260, 13, accuracy: accuracy)
        seen.append(map.isUserLocationVisible)
      }
      // A corner of the square is enough.
      bench.fix(52 + 300 / 111_260, 13 + 380 / 68_680, accuracy: 45)
      seen.append(map.isUserLocationVisible)
      map.showsUserLocation = false
      seen.append(map.isUserLocationVisible)
      return seen
    }
    #expect(seen == [true, false, true, true, false, true, false])
  }

  @Test("K5: following centres the board and zooms in only where the map is zoomed out")
  func follow() async {
    let result = await onThread {
      let bench = UserBench()
      let map = bench.map
      map.camera = MKMapCamera(
        lookingAtCenter: place(52, 13), fromDistance: 3000, pitch: 0, heading: 0)
      map.showsUserLocation = true
      bench.fix(52.01, 13.01)
      let width = map.visibleMapRect.width
      map.setUserTrackingMode(.follow, animated: false)
      let first = map.convert(map.userLocation.coordinate, toPointTo: map)
      let kept = map.visibleMapRect.width / width
      bench.fix(52.012, 13.01)
      let moving = map.convert(map.userLocation.coordinate, toPointTo: map)
      bench.ticker.run(0.4)
      let second = map.convert(map.userLocation.coordinate, toPointTo: map)

      let wide = UserBench()
      wide.map.setUserTrackingMode(.follow, animated: true)
      wide.fix(52, 13)
      wide.ticker.run(0.4)
      let height = MKMapPoint(x: wide.map.visibleMapRect.midX, y: wide.map.visibleMapRect.minY)
        .distance(
          to: MKMapPoint(x: wide.map.visibleMapRect.midX, y: wide.map.visibleMapRect.maxY))
      return (first, kept, moving, second, height, wide.map.showsUserLocation)
    }
    #expect(hypot(result.0.x - 320, result.0.y - 240) < 1e-6 && abs(result.1 - 1) < 1e-9)
    #expect(result.2.y < 235, "a location always animates")
    #expect(hypot(result.3.x - 320, result.3.y - 240) < 1e-6)
    #expect(abs(result.4 - 1000) < 10 && result.5)
  }

  @Test("K5: locations that come while the map zooms in do not keep it from that")
  func zoomsOn() async {
    let height = await onThread {
      let bench = UserBench()
      let map = bench.map
      map.setUserTrackingMode(.follow, animated: true)
      for step in 0..<10 {
        bench.fix(52 + Double(step) * 1e-5, 13, after: 0.1)
        bench.ticker.run(0.05)
      }
      bench.ticker.run(0.4)
      let rect = map.visibleMapRect
      return MKMapPoint(x: rect.midX, y: rect.minY).distance(
        to: MKMapPoint(x: rect.midX, y: rect.maxY))
    }
    #expect(abs(height - 1000) < 10)
  }

  @Test("K5: only the change of the mode obeys `animated`")
  func animated() async {
    let calls = await onThread { () -> [[String]] in
      let bench = UserBench()
      let map = bench.map
      map.region = region(place(10, 10), 0.01)
      map.showsUserLocation = true
      bench.fix(52, 13)
      var calls: [[String]] = []
      bench.spy.calls = []
      map.setUserTrackingMode(.follow, animated: false)
      calls.append(bench.spy.calls)
      map.centerCoordinate = place(10, 10)
      bench.spy.calls = []
      map.setUserTrackingMode(.follow, animated: true)
      calls.append(bench.spy.calls)
      bench.ticker.run(0.4)
      bench.spy.calls = []
      bench.fix(52.001, 13)
      calls.append(bench.spy.calls)
      return calls
    }
    #expect(calls[0].first == "mode follow false" && calls[0].contains("will false"))
    #expect(calls[1].first == "mode follow true" && calls[1].contains("will true"))
    #expect(calls[2].contains("will true") && !calls[2].contains("will false"))
  }

  @Test("K5: with heading the map turns, and what is ahead is up; invalid headings turn nothing")
  func heading() async {
    let result = await onThread {
      let bench = UserBench()
      let map = bench.map
      map.setUserTrackingMode(.followWithHeading, animated: false)
      turn { bench.source.demands.last?.heading == true }
      bench.fix(52, 13)
      bench.point(350)
      bench.ticker.run(0.4)
      let first = map.camera.heading
      bench.point(20)
      bench.ticker.run(0.2)
      let second = map.camera.heading
      let true1 = map.userLocation.heading?.trueHeading ?? -1
      // Following alone puts north up again.
      map.setUserTrackingMode(.follow, animated: true)
      bench.ticker.run(0.4)
      turn { bench.source.demands.last?.heading == false }
      return (
        first, second, true1, map.camera.heading, map.userLocation.heading == nil,
        bench.source.demands.last?.heading == false
      )
    }
    #expect(result.2 >= 0, "the scripted board has a true heading")
    #expect(abs((result.1 - result.2).remainder(dividingBy: 360)) < 1e-6)
    #expect(abs((result.1 - result.0).remainder(dividingBy: 360) - 30) < 1e-6)
    #expect(result.3 == 0 && result.4 && result.5)
  }

  @Test("K5 K9: a program that moves the map ends the following, and the delegate hears it")
  func leaves() async {
    let (mode, calls, shown) = await onThread {
      let bench = UserBench()
      bench.map.setUserTrackingMode(.follow, animated: false)
      bench.fix(52, 13)
      bench.spy.calls = []
      bench.map.centerCoordinate = place(10, 10)
      return (bench.map.userTrackingMode, bench.spy.calls, bench.map.showsUserLocation)
    }
    #expect(mode == .none && calls.first == "mode none false" && shown)
  }

  @Test("K9: a board that is lost is said, with the reason")
  func lost() async {
    let errors = await onThread {
      let bench = UserBench()
      bench.map.showsUserLocation = true
      turn { bench.source.demands.last?.location == true }
      bench.source.publish(
        .locationUnavailable(.notEquipped("receiver"), at: Timestamp(seconds: 1000)))
      turn { !bench.spy.errors.isEmpty }
      return bench.spy.errors.map { ($0 as? CLError)?.code }
    }
    #expect(errors.first == .locationUnknown)
  }
}

infix operator |> : AdditionPrecedence
private func |> <Value>(value: Value, check: (Value) -> Void) { check(value) }
