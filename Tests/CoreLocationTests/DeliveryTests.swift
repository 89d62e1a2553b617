import FacadeTestSupport
import Foundation
import SensorTypes
import Testing

@testable import CoreLocation
@testable import Lodestone

/// What a delegate hears, on its own run loop, from a board that a test speaks for.
struct DeliveryTests {
  private final class Listener: NSObject, CLLocationManagerDelegate {
    var headings: [CLHeading] = []
    var locations: [CLLocation] = []
    var threads: Set<Thread> = []

    func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
      headings.append(newHeading)
      threads.insert(.current)
    }

    func locationManager(
      _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
    ) {
      self.locations += locations
      threads.insert(.current)
    }
  }

  struct Heard: Sendable {
    var headings: [Double] = []
    var accuracies: [Double] = []
    var trueHeadings: [Double] = []
    var latitudes: [Double] = []
    var isSimulated = false
    var isOwnThread = false
  }

  @Test(
    "D1 D7 D17: heading and location arrive on the run loop of the thread that made the manager")
  func delivery() async {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let heard = await onThread {
      let listener = Listener()
      let manager = CLLocationManager(runtime: runtime)
      manager.delegate = listener
      manager.startUpdatingHeading()
      manager.startUpdatingLocation()
      Thread.detachNewThread {
        source.publish(.heading(degrees: 90))
        source.publish(.location(52.5, 13.4, isSimulated: true))
      }
      turn { !listener.headings.isEmpty && !listener.locations.isEmpty }
      return Heard(
        headings: listener.headings.map(\.magneticHeading),
        accuracies: listener.headings.map(\.headingAccuracy),
        trueHeadings: listener.headings.map(\.trueHeading),
        latitudes: listener.locations.map(\.coordinate.latitude),
        isSimulated: listener.locations.first?.sourceInformation?.isSimulatedBySoftware == true,
        isOwnThread: listener.threads == [Thread.current])
    }
    #expect(heard.headings.count == 1 && abs((heard.headings.first ?? 0) - 90) < 1e-9)
    #expect(heard.accuracies.allSatisfy { abs($0 - 2) < 1e-9 })
    // M7: no declination yet, so no true heading.
    #expect(heard.trueHeadings.allSatisfy { $0 < 0 })
    #expect(heard.latitudes == [52.5])
    #expect(heard.isSimulated && heard.isOwnThread)
  }

  @Test("M6: headings within the filter of the last delivered one are not delivered")
  func headingFilter() async {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let heard = await onThread {
      let listener = Listener()
      let manager = CLLocationManager(runtime: runtime)
      manager.delegate = listener
      manager.headingFilter = 5
      manager.startUpdatingHeading()
      for degrees in [10.0, 12, 14, 16, 358, 2, 4] {
        source.publish(.heading(degrees: degrees))
        // Each on its own, so that the newest does not stand for all.
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
      }
      return listener.headings.map(\.magneticHeading)
    }
    #expect(heard.map { $0.rounded() } == [10, 16, 358, 4])
  }

  @Test(
    "M2: what nobody asks for any more is put to sleep, and a manager let go of counts as stopped")
  func demand() async {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    await onThread {
      var manager: CLLocationManager? = CLLocationManager(runtime: runtime)
      manager?.startUpdatingHeading()
      manager?.startUpdatingHeading()
      manager?.startUpdatingLocation()
      manager?.stopUpdatingHeading()
      manager = nil
    }
    #expect(source.demands.contains(Demand(heading: true, location: true)))
    #expect(source.demands.last == Demand())
  }
}
