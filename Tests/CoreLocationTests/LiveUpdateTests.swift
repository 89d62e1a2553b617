import Dispatch
import FacadeTestSupport
import Foundation
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import CoreLocation

@Suite(.timeLimit(.minutes(10)))
struct LiveUpdateTests {
  private static let fast = Demand(location: true)

  private func listen(
    _ runtime: LodestoneRuntime,
    to configuration: CLLocationUpdate.LiveConfiguration = .fitness,
    on executor: (any TaskExecutor)? = nil
  ) -> (Transcript<CLLocationUpdate>, Task<Void, any Error>) {
    let heard = Transcript<CLLocationUpdate>()
    let task = Task(executorPreference: executor, priority: .high) {
      defer { heard.end() }
      for try await update in CLLocationUpdate.liveUpdates(configuration, on: runtime) {
        heard.add(update)
      }
    }
    return (heard, task)
  }

  @Test("M18: locations come in order, a loss is said once, and then locations again")
  func locations() async throws {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let (heard, task) = listen(runtime)
    #expect(await source.hears(Self.fast))
    source.publish(.location(50, 13, at: 1, utc: 1_000_000_001))
    source.publish(.location(51, 13, at: 2))
    source.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: 3)))
    source.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: 4)))
    source.publish(.location(52, 13, at: 5))
    let updates = await heard.waits(for: 4)
    #expect(updates.map { $0.location?.coordinate.latitude } == [50, 51, nil, 52])
    #expect(updates.map(\.locationUnavailable) == [false, false, true, false])
    #expect(updates.allSatisfy { !$0.stationary && !$0.authorizationDenied })
    #expect(updates[0].location?.timestamp == Date(timeIntervalSince1970: 1_000_000_001))
    task.cancel()
    try await task.value
    #expect(heard.elements.count == 4)
  }

  @Test(
    "M18 B2: the board is asked with the first wait, and for nothing once the task is cancelled")
  func cancellation() async throws {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let updates = CLLocationUpdate.liveUpdates(.airborne, on: runtime)
    let iterator = updates.makeAsyncIterator()
    #expect(!source.demands.contains { $0.location })
    _ = iterator
    let (heard, task) = listen(runtime)
    #expect(await source.hears(Self.fast))
    task.cancel()
    try await task.value
    #expect(heard.hasEnded && heard.elements.isEmpty)
    #expect(source.demands.last == Demand())
    source.publish(.location(50, 13, at: 1))
    #expect(heard.elements.isEmpty)
  }

  /// A task executor that records its calling threads.
  private final class Executor: TaskExecutor {
    let queue = DispatchQueue(label: "executor")
    let callers = Mutex<[UInt]>([])

    func enqueue(_ job: consuming ExecutorJob) {
      callers.withLock { $0.append(UInt(pthread_self())) }
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  @Test("M18: a task's own executor is called by no thread of the board's")
  func executor() async throws {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let executor = Executor()
    let (heard, task) = listen(runtime, on: executor)
    #expect(await source.hears(Self.fast))
    // The serial queue is free once the task waits for the next one.
    await onThread { executor.queue.sync {} }
    let before = executor.callers.withLock { $0.count }
    // Asked on that thread, because its ID can be reused once the thread has ended.
    let (board, callers) = await onThread {
      for second in 1...5 {
        source.publish(.location(50 + Double(second), 13, at: Double(second)))
        runtime.settleClients()
        executor.queue.sync {}
      }
      return (UInt(pthread_self()), executor.callers.withLock { $0.dropFirst(before) })
    }
    #expect(!callers.isEmpty && !callers.contains(board))
    let latitudes = await heard.waits(for: 5).map { $0.location?.coordinate.latitude }
    #expect(latitudes == [51, 52, 53, 54, 55])
    task.cancel()
    try await task.value
  }

  @Test("M18 B2: a loop that is left stops the board")
  func leaving() async throws {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let task = Task(priority: .high) {
      for try await update in CLLocationUpdate.liveUpdates(.fitness, on: runtime) {
        return update.location?.coordinate.latitude
      }
      return nil
    }
    #expect(await source.hears(Self.fast))
    source.publish(.location(50, 13, at: 1))
    #expect(try await task.value == 50)
    #expect(await source.hears(Demand()))
  }

  @Test("M18: a task that is cancelled before it waits asks for nothing, and the sequence ends")
  func cancelledBefore() async throws {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let task = Task(priority: .high) {
      // The task's own cancellation: nothing has to be hit in time.
      withUnsafeCurrentTask { $0?.cancel() }
      var iterator = CLLocationUpdate.liveUpdates(on: runtime).makeAsyncIterator()
      let first = try await iterator.next()
      let second = try await iterator.next()
      return first == nil && second == nil
    }
    #expect(try await task.value)
    #expect(!source.demands.contains { $0.location })
  }

  @Test(
    "M18: each configuration asks for what its documentation says",
    arguments: zip(
      [
        CLLocationUpdate.LiveConfiguration.default, .automotiveNavigation, .otherNavigation,
        .fitness, .airborne, .maritime,
      ],
      [
        Demand(location: true, locationInterval: 1),
        Demand(location: true, followsCourse: true),
        Demand(location: true, followsCourse: true),
        Demand(location: true), Demand(location: true),
        Demand(location: true, followsCourse: true),
      ]))
  func configurations(
    _ configuration: CLLocationUpdate.LiveConfiguration, _ demand: Demand
  ) async throws {
    let source = ScriptedSource()
    let (_, task) = listen(LodestoneRuntime(source: source), to: configuration)
    #expect(await source.hears(demand))
    task.cancel()
    try await task.value
  }

  @Test("M18 M16: on foot the board is stationary after three minutes, once, and then moves again")
  func stationary() async throws {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let (heard, task) = listen(runtime)
    #expect(await source.hears(Self.fast))
    for second in stride(from: 0.0, through: 180, by: 60) {
      source.publish(.location(50, 13, at: second))
    }
    let updates = await heard.waits(for: 5)
    #expect(updates.map(\.stationary) == [false, false, false, false, true])
    #expect(updates[4].location?.coordinate.latitude == 50)
    // The receiver rests: one look every half minute.
    #expect(await source.hears(Demand(location: true, locationInterval: 30)))
    source.publish(.location(50, 13, at: 300))
    source.publish(.location(50.01, 13, at: 330))
    let moved = await heard.waits(for: 6)
    #expect(moved.count == 6)
    #expect(moved[5].location?.coordinate.latitude == 50.01 && !moved[5].stationary)
    task.cancel()
    try await task.value
  }

  @Test("M18 B4: what comes while the application is suspended is handed out afterwards")
  func suspension() async throws {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let executor = Executor()
    let (heard, task) = listen(runtime, on: executor)
    #expect(await source.hears(Self.fast))
    runtime.applicationState = .suspended
    await onThread {
      executor.queue.sync {}
      for second in 1...3 { source.publish(.location(50, 13, at: Double(second))) }
      runtime.settleClients()
      executor.queue.sync {}
    }
    #expect(heard.elements.isEmpty)
    runtime.applicationState = .foreground
    #expect(await heard.waits(for: 3).count == 3)
    task.cancel()
    try await task.value
  }

  @Test("what nobody takes waits in order, the newest 256, and what is dropped is counted")
  func backlog() async throws {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let publisher = Task(priority: .high) {
      let isHeard = await source.hears(Self.fast)
      source.publish(.location(1, 13, at: 0))
      return isHeard
    }
    var iterator = CLLocationUpdate.liveUpdates(.fitness, on: runtime).makeAsyncIterator()
    #expect(try await iterator.next()?.location?.coordinate.latitude == 1)
    #expect(await publisher.value)
    for count in 0..<300 { source.publish(.location(Double(count) / 10, 13, at: Double(count))) }
    #expect(runtime.droppedLocations == 44)
    #expect(try await iterator.next()?.location?.coordinate.latitude == 4.4)
  }

  @Test(
    "M18: headings, filtered and from the edge that is asked for; interference says there is none")
  func headings() async throws {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    let heard = Transcript<CLHeadingUpdate>()
    let task = Task(priority: .high) {
      defer { heard.end() }
      for await update in CLHeadingUpdate.liveUpdates(
        filter: 5, orientation: .landscapeLeft, on: runtime)
      {
        heard.add(update)
      }
    }
    #expect(await source.hears(Demand(heading: true)))
    for (second, degrees) in [(1, 10.0), (2, 12), (3, 16)] {
      source.publish(.heading(degrees: degrees, at: Double(second)))
    }
    source.publish(.headingUnavailable(.sensorLost("QMC5883L"), at: Timestamp(seconds: 4)))
    let updates = await heard.waits(for: 3)
    // The right edge is 90 degrees clockwise of the top.
    let headings = updates.map { $0.heading?.magneticHeading }
    #expect(headings.count == 3 && headings[2] == nil && updates[2].headingUnavailable)
    for (heading, expected) in zip(headings, [100.0, 106]) {
      #expect(abs((heading ?? 0) - expected) < 1e-9)
    }
    task.cancel()
    await task.value
    #expect(source.demands.last == Demand())
  }
}
