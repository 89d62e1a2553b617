import BoardTestSupport
import FacadeTestSupport
import Foundation
import Lodestone
import SensorBus
import SensorTypes
import SimulatedDevices
import Synchronization
import Testing

@testable import CoreLocation

/// What a program of before 2013 asks.
private protocol OldAvailability: AnyObject {
  static func regionMonitoringAvailable() -> Bool
  static func regionMonitoringEnabled() -> Bool
  var headingAvailable: Bool { get }
  var locationServicesEnabled: Bool { get }
}
extension CLLocationManager: OldAvailability {}

struct RuntimeTests {
  private struct NoBoard: Error, CustomStringConvertible {
    let description = "nothing on any bus"
  }

  @Test("M8 M15: availability is what the board of the process answers, for each of its services")
  func availability() async {
    // The one test that touches the runtime of the process.
    let runtime = LodestoneRuntime.shared
    runtime.install(
      ScriptedSource(
        capabilities: HardwareCapabilities(heading: true, location: false, relativeAltitude: false))
    )
    #expect(CLLocationManager.headingAvailable())
    #expect(!CLLocationManager.locationServicesEnabled())
    let old: any OldAvailability.Type = CLLocationManager.self
    #expect(!old.regionMonitoringAvailable() && !old.regionMonitoringEnabled())
    let source = ScriptedSource(
      capabilities: HardwareCapabilities(heading: false, location: true, relativeAltitude: false))
    runtime.install(source)
    #expect(!CLLocationManager.headingAvailable())
    #expect(CLLocationManager.locationServicesEnabled())
    #expect(CLLocationManager.significantLocationChangeMonitoringAvailable())
    #expect(old.regionMonitoringAvailable() && old.regionMonitoringEnabled())
    #expect(!CLLocationManager.isMonitoringAvailable(for: CLLocation.self))
    runtime.install(beacons: ScriptedBeacons(problem: .poweredOff("hci0")))
    #expect(!CLLocationManager.isRangingAvailable())
    #expect(!CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self))
    #expect(runtime.beaconProblem?.contains("hci0 is off") == true)
    runtime.install(beacons: ScriptedBeacons())
    #expect(CLLocationManager.isRangingAvailable())
    #expect(CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self))
    #expect(CLLocationManager.deferredLocationUpdatesAvailable())

    let latitude = await onThread {
      let manager = CLLocationManager()
      manager.startUpdatingLocation()
      source.publish(.location(50, 13))
      turn { manager.location != nil }
      let old: any OldAvailability = manager
      #expect(old.locationServicesEnabled && !old.headingAvailable)
      return manager.location?.coordinate.latitude
    }
    #expect(latitude == 50)
  }

  @Test(
    "a gyro and a receiver are a heading once any manager has declared a vehicle, started or not")
  func vehicleAvailability() async {
    let result = await onThread {
      let source = ScriptedSource(
        capabilities: HardwareCapabilities(
          heading: false, location: true, relativeAltitude: false, vehicleHeading: true))
      let runtime = LodestoneRuntime(source: source)
      let manager = CLLocationManager(port: runtime)
      var answers = [runtime.capabilities.heading]
      let activities: [CLActivityType] = [
        .automotiveNavigation, .otherNavigation, .fitness, .maritime, .airborne, .other,
      ]
      for activity in activities {
        manager.activityType = activity
        answers.append(runtime.capabilities.heading)
      }
      return answers
    }
    #expect(result == [false, true, true, false, true, false, false])
  }

  @Test("that a vehicle would have to be declared reaches the delegate, once")
  func undeclaredVehicle() async {
    final class Listener: NSObject, CLLocationManagerDelegate {
      var messages: [String] = []
      func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        messages.append("\(error)")
      }
    }
    let messages = await onThread {
      let source = ScriptedSource()
      let listener = Listener()
      let manager = CLLocationManager(port: LodestoneRuntime(source: source))
      manager.delegate = listener
      manager.startUpdatingHeading()
      source.publish(.headingUnavailable(.vehicleUndeclared, at: Timestamp(seconds: 1)))
      source.publish(.headingUnavailable(.vehicleUndeclared, at: Timestamp(seconds: 2)))
      turn { !listener.messages.isEmpty }
      return listener.messages
    }
    #expect(messages.count == 1)
    #expect(messages.first?.contains("vehicle: true") == true)
  }

  @Test("a board without a receiver says so, once, to who asks where it is, early or late")
  func noReceiver() async throws {
    let (reasons, headings, said) = try await onThread {
      Result {
        let board = try VirtualBoard("simulated-hand", demand: Demand())
        let runtime = LodestoneRuntime(
          source: VirtualSource(board),
          clocks: RuntimeClocks(now: { board.clock.now() }, wallTime: { 1_795_000_000 }))
        let spies = [Spy(), Spy(), Spy()]
        var said = 0
        let managers = spies.map { spy in
          let manager = CLLocationManager(port: runtime)
          manager.delegate = spy
          return manager
        }
        for (manager, second) in zip(managers, [3, 13, 1]) {
          // The last one asks once, and is answered at once.
          if second == 1 { manager.requestLocation() } else { manager.startUpdatingLocation() }
          manager.startUpdatingHeading()
          for _ in 0..<second {
            said += board.run(1).count { if case .locationUnavailable = $0 { true } else { false } }
            _ = RunLoop.current.run(mode: .default, before: Date())
          }
        }
        turn { spies.allSatisfy { !$0.log.errors.isEmpty && !$0.log.headings.isEmpty } }
        return (spies.map(\.log.reasons), spies.map { !$0.log.headings.isEmpty }, said)
      }
    }.get()
    #expect(reasons == Array(repeating: ["this board has no receiver"], count: 3))
    #expect(headings == [true, true, true])
    #expect(said == 1)
  }

  @Test("another board takes the place of the first: clients stay, and ask it for the same")
  func replacement() async {
    let result = await onThread {
      let (first, second) = (ScriptedSource(), ScriptedSource())
      let runtime = LodestoneRuntime(source: first)
      let manager = CLLocationManager(port: runtime)
      manager.startUpdatingLocation()
      runtime.install(second)
      first.publish(.location(50, 13))
      second.publish(.location(51, 13))
      turn { manager.location != nil }
      return (
        first.listeners, second.demands.last, manager.location?.coordinate.latitude
      )
    }
    #expect(result.0 == 0)
    #expect(result.1 == Demand(location: true))
    #expect(result.2 == 51)
  }

  @Test("without a board a client hears that its location is unknown, and why")
  func withoutBoard() async {
    let log = await onThread {
      let runtime = LodestoneRuntime(open: { throw NoBoard() })
      let manager = CLLocationManager(port: runtime)
      let spy = Spy()
      manager.delegate = spy
      manager.startUpdatingHeading()
      manager.startUpdatingLocation()
      turn { !spy.log.errors.isEmpty }
      let capabilities = runtime.capabilities
      let hasNothing =
        !capabilities.heading && !capabilities.location && !capabilities.relativeAltitude
      return (spy.log, hasNothing, runtime.openingFailure)
    }
    #expect(log.0.errors == [.locationUnknown])
    #expect(log.0.reasons.allSatisfy { $0.contains("nothing on any bus") })
    #expect(log.1)
    #expect(log.2 == "nothing on any bus")
  }

  @Test(
    "the board is opened by the first request, on no client's thread, and tried again after 2 s")
  func opening() async {
    let seconds = Atomic<Int>(0)
    let attempts = Atomic<Int>(0)
    let source = ScriptedSource()
    let clocks = RuntimeClocks(
      now: { Timestamp(seconds: Double(seconds.load(ordering: .relaxed))) }, wallTime: { 0 })
    let runtime = LodestoneRuntime(
      open: {
        guard attempts.add(1, ordering: .relaxed).newValue > 1 else { throw NoBoard() }
        return source
      }, clocks: clocks)
    let early = await onThread {
      let manager = CLLocationManager(port: runtime)
      let before = attempts.load(ordering: .relaxed)
      let spy = Spy()
      manager.delegate = spy
      manager.startUpdatingLocation()
      turn { spy.log.errors.count == 1 }
      seconds.store(1, ordering: .relaxed)
      _ = runtime.capabilities
      return (before, attempts.load(ordering: .relaxed))
    }
    #expect(early == (0, 1))
    seconds.store(3, ordering: .relaxed)
    #expect(runtime.capabilities.location)
    #expect(attempts.load(ordering: .relaxed) == 2)
    #expect(runtime.openingFailure == nil)
  }

  @Test(
    "a thread that is put aside between two looks at the clocks does not move a heading's time",
    arguments: [0, 1, 2])
  func wallTime(late: Int) {
    // Nanoseconds; every look takes one microsecond, one of them ten milliseconds.
    let time = Atomic<Int64>(0)
    let looks = Atomic<Int>(0)
    let look: @Sendable () -> Int64 = {
      let cost: Int64 = looks.add(1, ordering: .relaxed).oldValue == late ? 10_000_000 : 1_000
      return time.add(cost, ordering: .relaxed).newValue
    }
    let clocks = RuntimeClocks(
      now: { Timestamp(nanoseconds: look()) }, wallTime: { 1e9 + Double(look()) * 1e-9 })
    let runtime = LodestoneRuntime(open: { throw NoBoard() }, clocks: clocks)
    #expect(abs(runtime.wallTime(of: Timestamp(seconds: 5)) - 1_000_000_005) < 2e-6)
  }

  @Test("a runtime that goes lets go of its board")
  func end() {
    let source = ScriptedSource()
    do {
      let runtime = LodestoneRuntime(source: source)
      #expect(source.listeners == 1)
      withExtendedLifetime(runtime) {}
    }
    #expect(source.waitsUntilUnheard())
  }
}
