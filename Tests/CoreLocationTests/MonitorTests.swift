import FacadeTestSupport
import Lodestone
import SensorBus
import SensorTypes
import Testing

@testable import CoreLocation

/// A monitor on a board of its own, and what it has said.
private struct Bench {
  let source = ScriptedSource()
  let runtime: LodestoneRuntime
  let monitor: CLMonitor
  let heard = Transcript<CLMonitor.Event>()
  let task: Task<Void, any Error>

  /// Iterates the events from the beginning.
  init(in folder: URL, name: String = "home", _ conditions: [(String, Double)] = []) async {
    runtime = LodestoneRuntime(source: source, regionsIn: folder)
    monitor = await CLMonitor(name, on: runtime)
    for (identifier, latitude) in conditions {
      await monitor.add(circle(latitude), identifier: identifier)
    }
    let events = await monitor.events
    let heard = heard
    task = Task(priority: .high) {
      defer { heard.end() }
      for try await event in events { heard.add(event) }
    }
    if await !monitor.identifiers.isEmpty { await listens() }
  }

  /// Until the board is asked for positions.
  func listens() async {
    #expect(await source.hears(Demand(location: true, locationInterval: 1)))
  }

  /// Positions inside a circle, or far outside, for long enough.
  func go(_ latitude: Double, at second: Double) {
    source.publish(.location(latitude, 13, at: second, utc: 1_000_000_000 + second))
    source.publish(.location(latitude, 13, at: second + 30, utc: 1_000_000_030 + second))
  }

  func ends() async throws {
    task.cancel()
    try await task.value
    // A program that follows at once is one of another daemon here, which must find what this one has stored.
    await onThread { runtime.wait() }
  }
}

private func circle(_ latitude: Double = 50) -> CLMonitor.CircularGeographicCondition {
  CLMonitor.CircularGeographicCondition(
    center: CLLocationCoordinate2DMake(latitude, 13), radius: 100)
}

/// No condition that anybody knows.
private struct Unknown: CLCondition {}

private func withFolder(_ body: (URL) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "monitor-\(UUID())")
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(folder)
}

private func words(_ events: [CLMonitor.Event]) -> [String] {
  events.map { "\($0.identifier) \($0.state)" }
}

@Suite(.timeLimit(.minutes(10)))
struct MonitorTests {
  @Test("M18: where the board is becomes known, then each crossing, with the receiver's time")
  func crossings() async throws {
    try await withFolder { folder in
      let bench = await Bench(in: folder, [("a", 50), ("b", 51)])
      let fresh = await bench.monitor.record(for: "a")
      #expect(fresh?.lastEvent.state == .unknown)
      #expect(fresh?.condition as? CLMonitor.CircularGeographicCondition == circle())
      bench.go(50, at: 0)
      bench.go(51, at: 100)
      let events = await bench.heard.waits(for: 4)
      #expect(
        words(events) == ["a satisfied", "b unsatisfied", "a unsatisfied", "b satisfied"])
      #expect(
        events.map(\.date.timeIntervalSince1970) == [1e9, 1e9, 1_000_000_130, 1_000_000_130])
      #expect(await bench.monitor.identifiers == ["a", "b"])
      try await bench.ends()
      #expect(bench.source.demands.last == Demand())
    }
  }

  @Test("M18: the record holds the event before, until the next is asked for")
  func handling() async throws {
    try await withFolder { folder in
      let bench = await Bench(in: folder)
      await bench.monitor.add(circle(), identifier: "a", assuming: .unsatisfied)
      var iterator = await bench.monitor.events.makeAsyncIterator()
      try await bench.ends()
      let publisher = Task(priority: .high) {
        await bench.listens()
        bench.go(50, at: 0)
      }
      let first = try await iterator.next()
      #expect(first?.state == .satisfied)
      #expect(await bench.monitor.record(for: "a")?.lastEvent.state == .unsatisfied)
      await publisher.value
      bench.go(51, at: 100)
      #expect(try await iterator.next()?.state == .unsatisfied)
      #expect(await bench.monitor.record(for: "a")?.lastEvent.state == .satisfied)
    }
  }

  @Test("M18 M12: conditions and states survive the program; only what has changed is told")
  func restart() async throws {
    try await withFolder { folder in
      let first = await Bench(in: folder, [("a", 50), ("b", 51)])
      first.go(50, at: 0)
      _ = await first.heard.waits(for: 2)
      try await first.ends()

      let second = await Bench(in: folder)
      #expect(await second.monitor.identifiers == ["a", "b"])
      let record = await second.monitor.record(for: "a")
      #expect(record?.lastEvent.state == .satisfied)
      #expect(record?.lastEvent.date == Date(timeIntervalSince1970: 1e9))
      #expect(record?.condition as? CLMonitor.CircularGeographicCondition == circle())
      second.go(50, at: 0)
      second.go(52, at: 100)
      #expect(words(await second.heard.waits(for: 1)) == ["a unsatisfied"])
      await second.monitor.remove("b")
      try await second.ends()

      let third = await Bench(in: folder)
      #expect(await third.monitor.identifiers == ["a"])
      #expect(await third.monitor.record(for: "b") == nil)
      try await third.ends()
    }
  }

  @Test("M18: what was found while nobody took it is told to whoever asks next")
  func untaken() async throws {
    try await withFolder { folder in
      let bench = await Bench(in: folder)
      try await bench.ends()
      await bench.monitor.add(circle(), identifier: "a", assuming: .unsatisfied)
      // This one waits once, and takes nothing of what comes then.
      let idle = Task(priority: .high) {
        var iterator = await bench.monitor.events.makeAsyncIterator()
        return try await iterator.next()
      }
      await bench.listens()
      idle.cancel()
      #expect(try await idle.value == nil)
      #expect(await bench.source.hears(Demand()))
      // Nobody hears: the boundary is not judged.
      bench.go(50, at: 0)
      let late = Transcript<CLMonitor.Event>()
      let task = Task(priority: .high) {
        for try await event in await bench.monitor.events { late.add(event) }
      }
      await bench.listens()
      bench.go(50, at: 100)
      #expect(words(await late.waits(for: 1)) == ["a satisfied"])
      task.cancel()
      try await task.value
    }
  }

  @Test("M18: a monitor's conditions are its own, and no manager's regions")
  func separation() async throws {
    try await withFolder { folder in
      let bench = await Bench(in: folder, [("a", 50)])
      let other = await CLMonitor("office", on: bench.runtime)
      await other.add(circle(51), identifier: "a")
      #expect(
        await bench.monitor.record(for: "a")?.condition
          as? CLMonitor.CircularGeographicCondition == circle(50))
      let runtime = bench.runtime
      let identifiers = await onThread {
        let manager = CLLocationManager(port: runtime)
        let before = manager.monitoredRegions.count
        manager.startMonitoring(
          for: CLCircularRegion(
            center: CLLocationCoordinate2DMake(50, 13), radius: 10, identifier: "a"))
        return (before, manager.monitoredRegions.map(\.identifier))
      }
      #expect(identifiers.0 == 0 && identifiers.1 == ["a"])
      bench.go(50, at: 0)
      #expect(words(await bench.heard.waits(for: 1)) == ["a satisfied"])
      await other.remove("a")
      #expect(await bench.monitor.identifiers == ["a"])
      #expect(bench.runtime.monitoredRegions.count == 2)
      try await bench.ends()
    }
  }

  @Test("M18: more than 20, no circle, or none on earth is unmonitored, and the event says why")
  func unmonitored() async throws {
    try await withFolder { folder in
      let bench = await Bench(in: folder, (0..<20).map { ("\($0)", Double($0)) })
      await bench.monitor.add(circle(), identifier: "more")
      await bench.monitor.add(
        CLMonitor.CircularGeographicCondition(
          center: CLLocationCoordinate2DMake(91, 0), radius: 10), identifier: "3")
      let events = await bench.heard.waits(for: 2)
      #expect(words(events) == ["more unmonitored", "3 unmonitored"])
      #expect(events.map(\.conditionLimitExceeded) == [true, false])
      #expect(events.map(\.conditionUnsupported) == [false, true])
      await bench.monitor.add(Unknown(), identifier: "4")
      let unknown = await bench.monitor.record(for: "4")?.lastEvent
      #expect(unknown?.state == .unmonitored && unknown?.conditionUnsupported == true)
      // In the place of 3 and 4 nothing is watched.
      #expect(bench.runtime.monitoredRegions.count == 18)
      await bench.monitor.add(circle(), identifier: "more")
      #expect(await bench.monitor.record(for: "more")?.lastEvent.state == .unknown)
      #expect(bench.runtime.monitoredRegions.count == 19)
      try await bench.ends()
    }
  }

  @Test("M18: the same circle keeps what is known of it, another one does not")
  func again() async throws {
    try await withFolder { folder in
      let bench = await Bench(in: folder, [("a", 50)])
      bench.go(50, at: 0)
      _ = await bench.heard.waits(for: 1)
      // Handled is what the next wait follows.
      await bench.monitor.add(circle(), identifier: "b")
      bench.go(50, at: 100)
      _ = await bench.heard.waits(for: 2)
      await bench.monitor.add(circle(), identifier: "a", assuming: .unsatisfied)
      #expect(await bench.monitor.record(for: "a")?.lastEvent.state == .satisfied)
      await bench.monitor.add(circle(51), identifier: "a", assuming: .unsatisfied)
      #expect(await bench.monitor.record(for: "a")?.lastEvent.state == .unsatisfied)
      bench.go(51, at: 200)
      let events = await bench.heard.waits(for: 4)
      #expect(words(Array(events.dropFirst(2))).sorted() == ["a satisfied", "b unsatisfied"])
      try await bench.ends()
    }
  }

  @Test("a folder that cannot be written is said, and all goes on")
  func unwritable() async throws {
    try await withFolder { folder in
      try Data("a file".utf8).write(to: folder)
      let bench = await Bench(in: folder, [("a", 50)])
      #expect(await bench.monitor.record(for: "a")?.lastEvent.persistenceUnavailable == true)
      bench.go(50, at: 0)
      let events = await bench.heard.waits(for: 1)
      #expect(words(events) == ["a satisfied"])
      #expect(events.first?.persistenceUnavailable == true)
      try await bench.ends()
    }
  }

  @Test(
    "M18 M13: a beacon is a condition: satisfied when it speaks, unsatisfied after 30 s of silence")
  func beacons() async throws {
    try await withFolder { folder in
      let (source, clock, radio) = (ScriptedSource(), AlarmClock(), ScriptedBeacons())
      let runtime = LodestoneRuntime(source: source, regionsIn: folder, clocks: clock.clocks)
      runtime.follow(clock.barrier)
      runtime.install(beacons: radio)
      let monitor = await CLMonitor("home", on: runtime)
      let uuid = try #require(UUID(uuidString: "92AB49BE-4127-42F4-B532-90FAF1E26491"))
      let condition = CLMonitor.BeaconIdentityCondition(uuid: uuid, major: 1)
      await monitor.add(condition, identifier: "key")
      #expect(runtime.monitoredRegions.count == 1 && !radio.isOn)
      let heard = Transcript<CLMonitor.Event>()
      let task = Task(priority: .high) {
        for try await event in await monitor.events { heard.add(event) }
      }
      // Nobody listens before the first wait: the radio says when.
      #expect(await onThread { radio.waitsUntilOn() })
      radio.say(.listening(clock.now))
      clock.move(to: 5)
      radio.hear(major: 2, minor: 1, strength: -60, at: 5)
      radio.hear(major: 1, minor: 1, strength: -60, at: 5)
      clock.move(to: 34)
      #expect(words(await heard.waits(for: 1)) == ["key satisfied"])
      clock.move(to: 36)
      #expect(words(await heard.waits(for: 2)) == ["key satisfied", "key unsatisfied"])
      radio.say(.failed(.noAdapter, clock.now))
      #expect(await heard.waits(for: 3)[2].state == .unmonitored)
      task.cancel()
      try await task.value
      #expect(!radio.isOn)
      let record = await CLMonitor("home", on: runtime).record(for: "key")
      #expect(record?.condition as? CLMonitor.BeaconIdentityCondition == condition)
      #expect(record?.lastEvent.state == .unsatisfied)
    }
  }
}
