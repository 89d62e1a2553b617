import CoreLocation
import FacadeTestSupport
import LocationServices
import Lodestone
import SensorTypes
import Testing

// The inventory of Core Location, sequences, monitors and sessions: their values, and what each says first.

private protocol OldUpdate {
  var isStationary: Bool { get }
}
extension CLLocationUpdate: OldUpdate {}

struct InventoryLiveTests {
  @Test("M18: inventory: live updates")
  func updates() async throws {
    let configurations: [CLLocationUpdate.LiveConfiguration] = [
      .default, .automotiveNavigation, .otherNavigation, .fitness, .airborne, .maritime,
    ]
    #expect(configurations.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
    #expect(CLLocationUpdate.LiveConfiguration(rawValue: 6) == nil)
    let flags: [KeyPath<CLLocationUpdate, Bool>] = [
      \.stationary, \.locationUnavailable, \.authorizationDenied, \.authorizationDeniedGlobally,
      \.authorizationRestricted, \.authorizationRequestInProgress, \.accuracyLimited,
      \.insufficientlyInUse, \.serviceSessionRequired,
    ]
    let source = ScriptedSource()
    let updates = CLLocationUpdate.liveUpdates(
      .maritime, on: LodestoneRuntime(source: source))
    var iterator: CLLocationUpdate.Updates.Iterator = updates.makeAsyncIterator()
    let first = Task(priority: .high) {
      _ = await source.hears(Demand(location: true, followsCourse: true))
      source.publish(.location(50, 13, at: 1))
    }
    let next = try await iterator.next()
    let update: CLLocationUpdate.Updates.Element = try #require(next)
    await first.value
    #expect(update.location?.coordinate.latitude == 50)
    #expect(flags.allSatisfy { !update[keyPath: $0] } && !(update as any OldUpdate).isStationary)
  }

  @Test("M18: inventory: a monitor, its conditions, records and events")
  func monitor() async throws {
    let uuid = UUID()
    let circle = CLMonitor.CircularGeographicCondition(
      center: CLLocationCoordinate2DMake(50, 13), radius: 100)
    #expect(circle.center.longitude == 13 && circle.radius == 100)
    let beacons = [
      CLMonitor.BeaconIdentityCondition(uuid: uuid),
      CLMonitor.BeaconIdentityCondition(uuid: uuid, major: 1),
      CLMonitor.BeaconIdentityCondition(uuid: uuid, major: 1, minor: 2),
    ]
    #expect(beacons.map(\.minor) == [nil, nil, 2] && beacons.map(\.major) == [nil, 1, 1])
    #expect(beacons[0].uuid == uuid)
    let conditions: [any CLCondition] = [circle, beacons[2]]
    let monitor = await CLMonitor("inventory", on: LodestoneRuntime(source: ScriptedSource()))
    await monitor.add(conditions[0], identifier: "circle")
    await monitor.add(conditions[1], identifier: "beacon", assuming: .satisfied)
    #expect(monitor.name == "inventory")
    #expect(await monitor.identifiers == ["circle", "beacon"])
    let record: CLMonitor.Record = try #require(await monitor.record(for: "beacon"))
    #expect(record.condition as? CLMonitor.BeaconIdentityCondition == beacons[2])
    let event: CLMonitor.Event = record.lastEvent
    #expect(event.identifier == "beacon" && event.state == .satisfied && event.refinement == nil)
    let flags: [KeyPath<CLMonitor.Event, Bool>] = [
      \.accuracyLimited, \.authorizationDenied, \.authorizationDeniedGlobally,
      \.authorizationRequestInProgress, \.authorizationRestricted, \.conditionLimitExceeded,
      \.conditionUnsupported, \.insufficientlyInUse, \.persistenceUnavailable,
      \.serviceSessionRequired,
    ]
    #expect(flags.filter { event[keyPath: $0] }.isEmpty)
    await monitor.remove("beacon")
    #expect(await monitor.record(for: "beacon") == nil)
    let states: [CLMonitor.Event.State] = [.unknown, .satisfied, .unsatisfied, .unmonitored]
    #expect(states.map(\.rawValue) == [0, 1, 2, 3] && CLMonitor.Event.State(rawValue: 4) == nil)
    let events: CLMonitor.Events = await monitor.events
    let iterator: CLMonitor.Events.Iterator = events.makeAsyncIterator()
    let cancelled = Task(priority: .high) {
      var iterator = iterator
      return try await iterator.next()
    }
    cancelled.cancel()
    #expect(try await cancelled.value == nil)
  }

  @Test("M10: inventory: sessions and what they say")
  func sessions() async throws {
    let requirements: [CLServiceSession.AuthorizationRequirement] = [.none, .whenInUse, .always]
    #expect(requirements.map(\.rawValue) == [0, 1, 2])
    #expect(CLServiceSession.AuthorizationRequirement(rawValue: 3) == nil)
    let bench = AuthorizationBench("authorization: whenInUse, accuracy: reduced")
    let session = CLServiceSession(.whenInUse, nil, bench.runtime)
    let diagnostics: CLServiceSession.Diagnostics = session.diagnostics
    var iterator: CLServiceSession.Diagnostics.Iterator = diagnostics.makeAsyncIterator()
    let first = try await iterator.next()
    let diagnostic: CLServiceSession.Diagnostics.Element = try #require(first)
    let flags: [KeyPath<CLServiceSession.Diagnostic, Bool>] = [
      \.authorizationDenied, \.authorizationDeniedGlobally, \.authorizationRestricted,
      \.authorizationRequestInProgress, \.alwaysAuthorizationDenied, \.fullAccuracyDenied,
      \.insufficientlyInUse, \.serviceSessionRequired,
    ]
    // No more than a cell is permitted; and no more was asked for.
    #expect(diagnostic.accuracyLimited && flags.allSatisfy { !diagnostic[keyPath: $0] })
    session.invalidate()
  }

  @Test("S: inventory: a background session keeps the application in use, and says when it is not")
  func background() async throws {
    let bench = AuthorizationBench("authorization: whenInUse")
    bench.runtime.applicationState = .background
    let session = CLBackgroundActivitySession(on: bench.runtime)
    let diagnostics: CLBackgroundActivitySession.Diagnostics = session.diagnostics
    let flags: [KeyPath<CLBackgroundActivitySession.Diagnostic, Bool>] = [
      \.authorizationDenied, \.authorizationDeniedGlobally, \.authorizationRestricted,
      \.authorizationRequestInProgress, \.insufficientlyInUse, \.serviceSessionRequired,
    ]
    var iterator: CLBackgroundActivitySession.Diagnostics.Iterator =
      diagnostics.makeAsyncIterator()
    let first = try await iterator.next()
    let kept: CLBackgroundActivitySession.Diagnostics.Element = try #require(first)
    #expect(flags.allSatisfy { !kept[keyPath: $0] })
    session.invalidate()
    let second = try await iterator.next()
    let ended: CLBackgroundActivitySession.Diagnostic = try #require(second)
    #expect(ended.insufficientlyInUse && !ended.authorizationDenied)
  }
}
