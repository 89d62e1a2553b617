import BoardTestSupport
import FacadeTestSupport
import Lodestone
import SensorTypes
import SimulatedDevices
import Testing

@testable import MapKit

/// The simulated board on a map that follows it, in virtual time.
@Suite struct FollowingTests {
  private struct Minute: Sendable {
    var headings = 0
    var worstHeading = 0.0
    var worstDelivered = 0.0
    var rests = 0
    var worstCentre = 0.0
  }

  @Test(
    "K5: for a minute the map's heading is within a degree of the truth, the board within a point of the middle"
  )
  func minute() async throws {
    let minute = try await onThread { Result { try Self.follow() } }.get()
    print(
      "followWithHeading: \(minute.headings) headings, the map \(minute.worstHeading) degrees off at most, "
        + "a heading as delivered \(minute.worstDelivered); \(minute.rests) rests, "
        + "the board \(minute.worstCentre) points from the middle at most")
    #expect(minute.headings > 500 && minute.worstHeading < 1)
    #expect(minute.rests > 50 && minute.worstCentre < 1)
  }

  private static func follow() throws -> Minute {
    let board = try VirtualBoard(
      edit: { $0.replacingOccurrences(of: "fix: false", with: "fix: true") },
      demand: SensorTypes.Demand())
    let runtime = LodestoneRuntime(
      source: VirtualSource(board),
      clocks: RuntimeClocks(now: { board.clock.now() }, wallTime: { 1_795_000_000 }))
    let ticker = ManualTicker()
    let map = MKMapView(
      frame: CGRect(x: 0, y: 0, width: 640, height: 480), port: runtime, ticker: ticker)
    let spy = MapSpy()
    map.delegate = spy
    map.setUserTrackingMode(.followWithHeading, animated: false)
    var minute = Minute()
    var isCounted = false
    func off(_ heading: Double) -> Double {
      let truth = board.simulation.truth(at: board.clock.now())
      return abs((heading - truth.heading).remainder(dividingBy: 360))
    }
    spy.onRest = { map in
      guard isCounted else { return }
      minute.rests += 1
      let point = map.convert(map.userLocation.coordinate, toPointTo: map)
      minute.worstCentre = max(minute.worstCentre, hypot(point.x - 320, point.y - 240))
    }
    var last: CLHeading?
    func live(_ seconds: Double) {
      for _ in 0..<Int(seconds * 500) {
        _ = board.run(0.002)
        _ = RunLoop.current.run(mode: .default, before: Date())
        ticker.advance(0.002)
        guard isCounted else { continue }
        minute.worstHeading = max(minute.worstHeading, off(map.camera.heading))
        if let heading = map.userLocation.heading, heading !== last {
          last = heading
          minute.headings += 1
          minute.worstDelivered = max(minute.worstDelivered, off(heading.trueHeading))
        }
      }
    }
    // The filter finds its error bars, and the map its place.
    live(20)
    isCounted = true
    live(60)
    return minute
  }
}
