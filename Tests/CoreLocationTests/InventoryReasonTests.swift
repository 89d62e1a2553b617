import CoreLocation
import FacadeTestSupport
import LocationServices
import Lodestone
import Testing

// The inventory of Core Location: by which flags each sequence says why there are no locations.

/// Which of a value's flags are up, by their names.
private func flags<Value>(_ value: Value, _ all: [(String, KeyPath<Value, Bool>)]) -> [String] {
  all.filter { value[keyPath: $0.1] }.map(\.0)
}

/// What the machine's owner has written, whether the application is in the background, and what is said then.
private struct Case: Sendable, CustomTestStringConvertible {
  var rule: String
  var isInBackground = false
  var said: [String]
  var testDescription: String { rule + (isInBackground ? ", in the background" : "") }

  func bench() -> AuthorizationBench {
    let bench = AuthorizationBench("authorization: \(rule)")
    if isInBackground { bench.runtime.applicationState = .background }
    return bench
  }
}

private let cases = [
  Case(rule: "denied", said: ["denied"]), Case(rule: "restricted", said: ["restricted"]),
  Case(rule: "whenInUse", isInBackground: true, said: ["use"]),
]

struct InventoryReasonTests {
  @Test("M18 M10: inventory: an update's flags", arguments: cases)
  fileprivate func updates(_ it: Case) async throws {
    let bench = it.bench()
    var iterator = CLLocationUpdate.liveUpdates(on: bench.runtime).makeAsyncIterator()
    let update = try #require(try await iterator.next())
    let said = flags(
      update,
      [
        ("denied", \.authorizationDenied), ("restricted", \.authorizationRestricted),
        ("asked", \.authorizationRequestInProgress), ("use", \.insufficientlyInUse),
        ("accuracy", \.accuracyLimited), ("globally", \.authorizationDeniedGlobally),
        ("session", \.serviceSessionRequired),
      ])
    #expect(said == it.said && update.location == nil)
  }

  @Test("M10: inventory: a service session's flags", arguments: cases)
  fileprivate func serviceSessions(_ it: Case) async throws {
    let bench = it.bench()
    let session = CLServiceSession(.whenInUse, nil, bench.runtime)
    var iterator = session.diagnostics.makeAsyncIterator()
    let diagnostic = try #require(try await iterator.next())
    let said = flags(
      diagnostic,
      [
        ("denied", \.authorizationDenied), ("restricted", \.authorizationRestricted),
        ("asked", \.authorizationRequestInProgress), ("use", \.insufficientlyInUse),
        ("accuracy", \.accuracyLimited), ("globally", \.authorizationDeniedGlobally),
        ("session", \.serviceSessionRequired),
      ])
    #expect(said == it.said)
  }

  @Test(
    "M10: inventory: a background session's flags, which is itself what keeps it in use",
    arguments: cases.dropLast() + [Case(rule: "whenInUse", isInBackground: true, said: [])])
  fileprivate func backgroundSessions(_ it: Case) async throws {
    let bench = it.bench()
    let session = CLBackgroundActivitySession(on: bench.runtime)
    var iterator = session.diagnostics.makeAsyncIterator()
    let diagnostic = try #require(try await iterator.next())
    let said = flags(
      diagnostic,
      [
        ("denied", \.authorizationDenied), ("restricted", \.authorizationRestricted),
        ("asked", \.authorizationRequestInProgress), ("use", \.insufficientlyInUse),
        ("globally", \.authorizationDeniedGlobally), ("session", \.serviceSessionRequired),
      ])
    #expect(said == it.said)
  }

  @Test("M10: inventory: a background session says that somebody is being asked")
  func asked() async throws {
    let bench = AuthorizationBench()
    let session = CLBackgroundActivitySession(on: bench.runtime)
    let asking = CLServiceSession(.whenInUse, nil, bench.runtime)
    let agent = bench.agent
    _ = await onThread { turnWithoutEvents { agent.asked.count == 1 } }
    var iterator = session.diagnostics.makeAsyncIterator()
    let diagnostic = try #require(try await iterator.next())
    #expect(diagnostic.authorizationRequestInProgress && !diagnostic.authorizationDenied)
    bench.agent.answer(.dontAllow)
    asking.invalidate()
  }

  @Test(
    "M18 M10: inventory: an event's flags",
    arguments: cases.dropLast() + [
      Case(rule: "whenInUse, accuracy: reduced", isInBackground: true, said: ["use", "accuracy"])
    ])
  fileprivate func events(_ it: Case) async throws {
    let bench = it.bench()
    let monitor = await CLMonitor("flags", on: bench.runtime)
    let heard = Transcript<CLMonitor.Event>()
    let events = await monitor.events
    let iterating = Task(priority: .high) { for try await event in events { heard.add(event) } }
    // The iterator is there with its first demand; a condition that is added before it is told nobody.
    while heard.elements.isEmpty {
      await monitor.add(
        CLMonitor.CircularGeographicCondition(
          center: CLLocationCoordinate2DMake(50, 13), radius: 500), identifier: "home")
      await Task.yield()
    }
    let event = heard.elements[0]
    let said = flags(
      event,
      [
        ("denied", \.authorizationDenied), ("restricted", \.authorizationRestricted),
        ("asked", \.authorizationRequestInProgress), ("use", \.insufficientlyInUse),
        ("accuracy", \.accuracyLimited), ("globally", \.authorizationDeniedGlobally),
        ("session", \.serviceSessionRequired), ("limit", \.conditionLimitExceeded),
        ("unsupported", \.conditionUnsupported),
      ])
    #expect(said == it.said && event.state == .unmonitored)
    iterating.cancel()
    try await iterating.value
  }
}
