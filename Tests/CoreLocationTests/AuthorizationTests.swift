import FacadeTestSupport
import LocationServices
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import CoreLocation

@Suite(.timeLimit(.minutes(10)))
struct AuthorizationTests {
  @Test("M10 D16: nobody to ask: always and exact, told once, requests do nothing")
  func unasked() async {
    let result = await onThread {
      let runtime = LodestoneRuntime(source: ScriptedSource())
      let spy = Spy()
      let manager = CLLocationManager(port: runtime)
      manager.delegate = spy
      turn { !spy.log.authorizations.isEmpty }
      manager.requestWhenInUseAuthorization()
      manager.requestAlwaysAuthorization()
      let wasAnswered = Mutex(false)
      manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "x") { error in
        wasAnswered.withLock { $0 = error == nil }
      }
      turn { wasAnswered.withLock { $0 } }
      return (
        spy.log.authorizations, manager.authorizationStatus, manager.accuracyAuthorization,
        manager.isAuthorizedForWidgetUpdates, runtime.authorizationProblem
      )
    }
    #expect(result.0 == [.authorizedAlways])
    #expect(result.1 == .authorizedAlways && result.2 == .fullAccuracy && !result.3)
    #expect(result.4 == nil)
  }

  @Test(
    "M10 D16: asked and allowed while using: the delegate is told each change once, and locations come"
  )
  func whenInUse() async {
    let result = await AuthorizationBench.run { bench, spy, manager in
      manager.startUpdatingLocation()
      bench.fix(50)
      let before = manager.location
      bench.ask(manager.requestWhenInUseAuthorization, spy, .allowWhileUsing)
      // A determined status: nothing is asked.
      manager.requestWhenInUseAuthorization()
      bench.fix(51)
      turn { !spy.log.locations.isEmpty }
      return (before, spy.log, bench.agent.asked, manager.location?.coordinate.latitude)
    }
    #expect(result.0 == nil)
    #expect(result.1.authorizations == [.notDetermined, .authorizedWhenInUse])
    #expect(result.1.locations.map { $0.map(\.coordinate.latitude) } == [[51]])
    #expect(result.1.errors == [])
    #expect(result.2 == [.position])
    #expect(result.3 == 51)
  }

  @Test("D2 M10: denied: whoever runs and whoever starts is told so, and no location is to be had")
  func denied() async {
    let (log, hasNone) = await AuthorizationBench.run { bench, spy, manager in
      manager.startUpdatingLocation()
      manager.requestAlwaysAuthorization()
      bench.waits(forPrompts: 1)
      bench.agent.answer(.dontAllow)
      turn { spy.log.errors.count == 1 }
      manager.stopUpdatingLocation()
      manager.startUpdatingLocation()
      turn { spy.log.errors.count == 2 }
      bench.fix(50)
      manager.stopUpdatingLocation()
      manager.requestLocation()
      turn { spy.log.errors.count == 3 }
      return (spy.log, manager.location == nil)
    }
    #expect(hasNone)
    #expect(log.calls == ["authorization", "authorization", "error", "error", "error"])
    #expect(log.errors == [.denied, .denied, .denied])
    #expect(log.authorizations.last == .denied)
  }

  @Test(
    "M10 D16 S: Always in two steps: provisional is authorizedAlways, the second prompt comes after an event in the background, and keeping less is told"
  )
  func twoSteps() async {
    let result = await AuthorizationBench.run { bench, spy, manager in
      manager.startUpdatingLocation()
      bench.ask(manager.requestAlwaysAuthorization, spy, .allowWhileUsing)
      bench.runtime.applicationState = .background
      bench.fix(50)
      let background = bench.agent.asked
      bench.runtime.applicationState = .foreground
      bench.waits(forPrompts: 2)
      bench.agent.answer(.keepOnlyWhileUsing)
      turn { spy.log.authorizations.count == 3 }
      manager.requestAlwaysAuthorization()
      bench.fix(51)
      turn { !spy.log.locations.isEmpty }
      return (spy.log, background, bench.agent.asked)
    }
    #expect(
      result.0.authorizations == [.notDetermined, .authorizedAlways, .authorizedWhenInUse])
    #expect(result.0.locations.map { $0.map(\.coordinate.latitude) } == [[51]])
    #expect(result.1 == [.position])
    #expect(result.2 == [.position, .always])
  }

  @Test(
    "M10 D16: changed to Always at the second prompt: nothing is told, and the background is served"
  )
  func permanent() async {
    let result = await AuthorizationBench.run { bench, spy, manager in
      manager.startUpdatingLocation()
      bench.ask(manager.requestAlwaysAuthorization, spy, .allowWhileUsing)
      bench.runtime.applicationState = .background
      bench.fix(50)
      bench.runtime.applicationState = .foreground
      bench.waits(forPrompts: 2)
      bench.agent.answer(.changeToAlways)
      turnWithoutEvents { !bench.runtime.authorization.isBeingAsked }
      bench.runtime.applicationState = .background
      bench.fix(51)
      turn { !spy.log.locations.isEmpty }
      return spy.log
    }
    #expect(result.authorizations == [.notDetermined, .authorizedAlways])
    #expect(result.locations.map { $0.map(\.coordinate.latitude) } == [[51]])
  }

  @Test("M10 D16: allowed once: over when the application is no longer in use, which is told")
  func once() async {
    let statuses = await AuthorizationBench.run { bench, spy, manager in
      bench.ask(manager.requestWhenInUseAuthorization, spy, .allowOnce)
      manager.requestAlwaysAuthorization()
      bench.runtime.applicationState = .background
      turn { spy.log.authorizations.count == 3 }
      return (spy.log.authorizations, bench.agent.asked.count)
    }
    #expect(statuses.0 == [.notDetermined, .authorizedWhenInUse, .notDetermined])
    #expect(statuses.1 == 1)
  }

  @Test("M10: a decision holds in the next run, and nobody is asked again")
  func persistence() async {
    let result = await AuthorizationBench.run { bench, spy, manager in
      bench.ask(manager.requestWhenInUseAuthorization, spy, .allowWhileUsing, .reduced)
      bench.runtime.settleAuthorization()
      let next = AuthorizationBench(in: bench.folder)
      let nextSpy = Spy()
      let nextManager = next.manager(nextSpy)
      nextManager.requestWhenInUseAuthorization()
      return (
        nextSpy.log.authorizations, nextManager.accuracyAuthorization, next.agent.asked.count
      )
    }
    #expect(result.0 == [.authorizedWhenInUse])
    #expect(result.1 == .reducedAccuracy)
    #expect(result.2 == 0)
  }

  @Test("M10: without a usage description nobody is asked, and the runtime says which is missing")
  func missingUsage() async {
    let result = await AuthorizationBench.run("authorization: ask") { bench, spy, manager in
      manager.requestWhenInUseAuthorization()
      return (spy.log.authorizations, bench.agent.asked.count, bench.runtime.authorizationProblem)
    }
    #expect(result.0 == [.notDetermined])
    #expect(result.1 == 0)
    #expect(result.2?.contains("NSLocationWhenInUseUsageDescription") == true)
  }

  @Test(
    "D16: the older callback hears changes of the status alone, the newer those of accuracy too")
  func accuracyAlone() async {
    let result = await onThread {
      let bench = AuthorizationBench(
        "authorization: whenInUse, accuracy: reduced, \(AuthorizationBench.usage)")
      let (spy, old) = (Spy(), OldSpy())
      let manager = bench.manager(spy)
      let oldManager = bench.manager(old)
      turn { old.statuses.count == 1 }
      let reduced = manager.accuracyAuthorization
      let problems = Mutex<[String?]>([])
      for answer in [AuthorizationAnswer.dontAllow, .allowOnce] {
        manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "route") { error in
          problems.withLock { $0.append((error as? CLError).map { "\($0.code)" }) }
        }
        bench.agent.answer(answer)
        let count = problems.withLock { $0.count }
        turn { problems.withLock { $0.count } > count }
      }
      turn { spy.log.authorizations.count == 2 }
      let full = manager.accuracyAuthorization
      bench.runtime.applicationState = .background
      turn { spy.log.authorizations.count == 3 }
      _ = oldManager
      return (
        reduced, full, manager.accuracyAuthorization, problems.withLock { $0 }, old.statuses
      )
    }
    #expect(result.0 == .reducedAccuracy && result.1 == .fullAccuracy)
    #expect(result.2 == .reducedAccuracy)
    #expect(result.3 == ["promptDeclined", nil])
    #expect(result.4 == [.authorizedWhenInUse])
  }

  @Test("M10: asked for exact locations without a run loop, and refused without a purpose")
  func asynchronously() async throws {
    let bench = AuthorizationBench(
      "authorization: whenInUse, accuracy: reduced, \(AuthorizationBench.usage)")
    let manager = CLLocationManager(port: bench.runtime)
    bench.agent.answer(.allowOnce)
    try await manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "route")
    #expect(manager.accuracyAuthorization == .fullAccuracy)
    bench.runtime.applicationState = .background
    bench.runtime.applicationState = .foreground
    do {
      try await manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "nothing")
      Issue.record("a purpose that is not described is refused")
    } catch CLError.denied {}
  }

  @Test("S D2: in the background updates fail to start, with a session they do")
  func background() async {
    let result = await onThread {
      let source = ScriptedSource()
      let runtime = LodestoneRuntime(source: source)
      let spy = Spy()
      let manager = CLLocationManager(port: runtime)
      manager.delegate = spy
      runtime.applicationState = .background
      manager.startUpdatingLocation()
      turn { spy.log.errors.count == 1 }
      let session = CLBackgroundActivitySession(on: runtime)
      manager.startUpdatingLocation()
      source.publish(.location(50, 13))
      turn { spy.log.locations.count == 1 }
      session.invalidate()
      manager.stopUpdatingLocation()
      manager.requestLocation()
      turn { spy.log.errors.count == 2 }
      return spy.log
    }
    #expect(result.errors == [.denied, .denied])
    #expect(result.locations.count == 1)
  }

  @Test(
    "D11 M10: regions of an application that may not hear of them: told, and told again by themselves when it may"
  )
  func regions() async {
    final class Listener: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
      // `@unchecked Sendable`: everything that changes is in the mutex.
      let heard = Mutex<[String]>([])
      func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
        withError error: any Error
      ) { heard.withLock { $0.append("failed \((error as? CLError)?.errorCode ?? -1)") } }
      func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
      ) { heard.withLock { $0.append("state \(state.rawValue)") } }
    }
    let heard = await onThread {
      let bench = AuthorizationBench("authorization: denied")
      let listener = Listener()
      let manager = bench.manager(listener)
      manager.startMonitoring(
        for: CLCircularRegion(
          center: CLLocationCoordinate2DMake(50, 13), radius: 500, identifier: "home"))
      turn { listener.heard.withLock { $0.count } == 1 }
      bench.fix(50)
      manager.requestState(
        for: CLCircularRegion(
          center: CLLocationCoordinate2DMake(50, 13), radius: 500, identifier: "other"))
      turn { listener.heard.withLock { $0.count } == 2 }
      return listener.heard.withLock { $0 }
    }
    #expect(heard == ["failed 4", "state 0"])
  }

  @Test(
    "M18 M10: live updates say why there is no location: being asked, refused, not in use, reduced")
  func liveUpdates() async throws {
    let bench = AuthorizationBench()
    let runtime = bench.runtime
    let heard = Transcript<CLLocationUpdate>()
    let task = Task(priority: .high) {
      for try await update in CLLocationUpdate.liveUpdates(.fitness, on: runtime) {
        heard.add(update)
      }
    }
    let session = CLServiceSession(.whenInUse, nil, runtime)
    // Which of the two comes first is open: what is said in the end is not.
    let agent = bench.agent
    _ = await onThread { turnWithoutEvents { agent.asked.count == 1 } }
    #expect(await heard.waits(for: 1)[0].authorizationRequestInProgress)
    bench.agent.answer(.allowWhileUsing, .reduced)
    let reduced = await heard.waits(for: 2)[1]
    #expect(reduced.accuracyLimited && reduced.location == nil && !reduced.authorizationDenied)
    bench.runtime.applicationState = .background
    #expect(await heard.waits(for: 3)[2].insufficientlyInUse)
    bench.runtime.applicationState = .foreground
    #expect(await heard.waits(for: 4)[3].accuracyLimited)
    #expect(await bench.source.hears(Demand(location: true, locationInterval: 1)))
    bench.fix(50)
    let location = await heard.waits(for: 5)[4]
    #expect(location.location?.horizontalAccuracy ?? 0 >= 4_000 && location.accuracyLimited)
    task.cancel()
    try await task.value
    session.invalidate()

    let refused = AuthorizationBench("authorization: restricted")
    for try await update in CLLocationUpdate.liveUpdates(on: refused.runtime) {
      #expect(update.authorizationRestricted && update.location == nil)
      break
    }
  }

  @Test("M18 M10: a monitor's conditions are unmonitored while positions are refused")
  func monitor() async throws {
    let bench = AuthorizationBench("authorization: always, accuracy: reduced")
    let runtime = bench.runtime
    let monitor = await CLMonitor("test", on: runtime)
    let heard = Transcript<CLMonitor.Event>()
    let events = await monitor.events
    let iterating = Task(priority: .high) {
      for try await event in events { heard.add(event) }
    }
    // The iterator is there with its first demand; a condition that is added before it is told nobody.
    while heard.elements.isEmpty {
      await monitor.add(
        CLMonitor.CircularGeographicCondition(
          center: CLLocationCoordinate2DMake(50, 13), radius: 500), identifier: "home")
      await Task.yield()
    }
    let event = heard.elements[0]
    #expect(event.state == .unmonitored && event.accuracyLimited && !event.authorizationDenied)
    iterating.cancel()
    try await iterating.value
  }

  @Test("M10: a service session asks for what it needs and says what stands in the way")
  func serviceSession() async throws {
    let bench = AuthorizationBench()
    let session = CLServiceSession(.always, "route", bench.runtime)
    let heard = Transcript<CLServiceSession.Diagnostic>()
    let diagnostics = session.diagnostics
    let task = Task(priority: .high) {
      for try await diagnostic in diagnostics { heard.add(diagnostic) }
    }
    #expect(await heard.waits(for: 1)[0].authorizationRequestInProgress)
    bench.agent.answer(.allowOnce, .reduced)
    // When in use and not always, and asked to be exact.
    bench.agent.answer(.dontAllow)
    let seen = await onThread {
      turnWithoutEvents { heard.elements.last?.fullAccuracyDenied == true }
    }
    #expect(seen)
    #expect(heard.elements.last?.alwaysAuthorizationDenied == true)
    #expect(bench.agent.asked == [.position, .fullAccuracy])
    bench.runtime.applicationState = .background
    task.cancel()
    try await task.value
    session.invalidate()
  }
}
