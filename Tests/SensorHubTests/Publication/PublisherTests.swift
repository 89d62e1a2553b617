import BoardFile
import Dispatch
import Foundation
import Recording
import SensorBus
import SensorTypes
import SimulatedDevices
import Synchronization
import Testing

@testable import SensorHub
import StateStore

/// Handlers are called in order, outside of every lock, and no bus waits for one.
struct PublisherTests {
  private static func diagnostic(_ number: Int) -> Observation {
    .diagnostic("\(number)", at: Timestamp(nanoseconds: Int64(number)))
  }

  private static func altitude(_ number: Int) -> Observation {
    .altitude(
      AltitudeEstimate(
        time: Timestamp(nanoseconds: Int64(number)), relativeAltitude: Double(number),
        relativeAccuracy: 0.1, pressure: 101_325))
  }

  /// The time in seconds after which a wait has failed.
  private static let patience = 300.0

  /// What was heard, and a gate in which a handler can be held.
  private final class Listener: Sendable {
    let heard = Mutex<[Observation]>([])
    let isIn = DispatchSemaphore(value: 0)
    let gate = DispatchSemaphore(value: 0)
    let holds = Atomic<Bool>(false)

    func take(_ observation: Observation) {
      if holds.exchange(false, ordering: .acquiringAndReleasing) {
        isIn.signal()
        _ = gate.wait(timeout: .now() + PublisherTests.patience)
      }
      heard.withLock { $0.append(observation) }
    }
  }

  @Test("what is posted is handed out by another thread, in order and once")
  func order() {
    let publisher = ObservationPublisher(.thread) { Timestamp(nanoseconds: 0) }
    let listener = Listener()
    let caller = UInt(pthread_self())
    let wasCaller = Atomic<Bool>(false)
    publisher.add(
      1,
      observations: { observation in
        if UInt(pthread_self()) == caller { wasCaller.store(true, ordering: .relaxed) }
        listener.take(observation)
      })
    for number in 0..<3_000 {
      publisher.post(Self.diagnostic(number))
      publisher.handOut()
    }
    publisher.stop()
    #expect(listener.heard.withLock { $0 } == (0..<3_000).map(Self.diagnostic))
    let isSame = wasCaller.load(ordering: .relaxed)
    #expect(!isSame)
    #expect(publisher.dropped == 0)
  }

  @Test(
    "a handler that stands still costs what newer ones replace first; all that is dropped is counted and said"
  )
  func slowHandler() throws {
    let publisher = ObservationPublisher(.thread) { Timestamp(nanoseconds: 7) }
    let listener = Listener()
    listener.holds.store(true, ordering: .releasing)
    publisher.add(1, observations: listener.take)
    publisher.post(Self.diagnostic(-1))
    publisher.handOut()
    let isIn = listener.isIn.wait(timeout: .now() + Self.patience) == .success
    #expect(isIn)
    // It holds one; as many more may wait, then events only, as many again.
    let limit = 4_096
    for number in 0..<(limit + 500) { publisher.post(Self.altitude(number)) }
    for number in 0..<(limit + 20) { publisher.post(Self.diagnostic(number)) }
    publisher.handOut()
    #expect(publisher.dropped == 520)
    listener.gate.signal()
    publisher.stop()
    let heard = listener.heard.withLock { $0 }
    #expect(heard.count == 1 + limit + limit + 1)
    #expect(Array(heard[1...limit]) == (0..<limit).map(Self.altitude))
    #expect(Array(heard[(limit + 1)...(2 * limit)]) == (0..<limit).map(Self.diagnostic))
    guard case .diagnostic(let text, let time) = try #require(heard.last) else {
      return #expect(Bool(false), "\(String(describing: heard.last))")
    }
    #expect(text.hasPrefix("520 observations were dropped") && time.nanoseconds == 7)
  }

  @Test("of several bus threads one calls at a time, in the order of what was posted")
  func turns() {
    let publisher = ObservationPublisher(.bus) { Timestamp(nanoseconds: 0) }
    let listener = Listener()
    let isIn = Atomic<Bool>(false)
    let wasTwice = Atomic<Bool>(false)
    publisher.add(
      1,
      observations: { observation in
        if isIn.exchange(true, ordering: .sequentiallyConsistent) {
          wasTwice.store(true, ordering: .relaxed)
        }
        listener.take(observation)
        isIn.store(false, ordering: .sequentiallyConsistent)
      })
    let next = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      // As many as may wait, if one thread is not let run for long.
      for _ in 0..<4_096 / 4 {
        next.withLock { number in
          publisher.post(Self.diagnostic(number))
          number += 1
        }
        publisher.handOut()
      }
    }
    // What came when the last thread had looked often enough.
    publisher.handOut()
    let isInOrder =
      listener.heard.withLock { $0 } == (0..<4_096).map(Self.diagnostic)
    #expect(isInOrder)
    let hadTwo = wasTwice.load(ordering: .relaxed)
    #expect(!hadTwo)
    #expect(publisher.dropped == 0)
  }

  @Test("a bus thread does not wait for another one that hands out")
  func noWaiting() {
    let publisher = ObservationPublisher(.bus) { Timestamp(nanoseconds: 0) }
    let listener = Listener()
    listener.holds.store(true, ordering: .releasing)
    publisher.add(1, observations: listener.take)
    let ended = DispatchSemaphore(value: 0)
    publisher.post(Self.diagnostic(0))
    Thread.detachNewThread {
      publisher.handOut()
      ended.signal()
    }
    let isIn = listener.isIn.wait(timeout: .now() + Self.patience) == .success
    #expect(isIn)
    for number in 1..<100 {
      publisher.post(Self.diagnostic(number))
      publisher.handOut()
    }
    let isHeld = listener.heard.withLock { $0.isEmpty }
    #expect(isHeld)
    listener.gate.signal()
    let hasEnded = ended.wait(timeout: .now() + Self.patience) == .success
    #expect(hasEnded)
    #expect(listener.heard.withLock { $0 } == (0..<100).map(Self.diagnostic))
  }

  @Test("a handler that is removed hears nothing more, and may remove itself")
  func removal() {
    let publisher = ObservationPublisher(.clock) { Timestamp(nanoseconds: 0) }
    let heard = Mutex(0)
    publisher.add(
      1,
      observations: { _ in
        heard.withLock { $0 += 1 }
        publisher.remove(1)
      })
    publisher.post(Self.diagnostic(1))
    publisher.post(Self.diagnostic(2))
    publisher.handOut()
    publisher.post(Self.diagnostic(3))
    publisher.handOut()
    #expect(heard.withLock { $0 } == 1)
  }

  // The work of a simulated board, stepped by the test, published as on a board.
  private final class SteppedRunner: BusRunner {
    let base: VirtualTimeRunner
    init(_ clock: VirtualClock) {
      base = VirtualTimeRunner(time: { clock.now() }, setTime: { clock.advance(to: $0) })
    }
    func start(name: String, _ make: @escaping @Sendable () -> any BusWork) -> any BusRun {
      base.start(name: name, make)
    }
  }

  private static let text = """
    schema: 1
    name: two chips
    sensors:
      - {chip: LIS3MDL, bus: /dev/i2c-1, address: 0x1c}
      - {chip: LSM6DSOX, bus: /dev/i2c-1, address: 0x6a}

    """

  private static func hub(_ clock: VirtualClock, _ runner: SteppedRunner, sink: TraceSink? = nil)
    throws -> Hub
  {
    let simulation = SimulatedBusProvider(
      SimulatedBoard(chips: [
        .init(.registers("LIS3MDL"), at: .bus("/dev/i2c-1", address: 0x1C)),
        .init(.registers("LSM6DSOX"), at: .bus("/dev/i2c-1", address: 0x6A)),
      ]), clock: clock)
    let hub = try Hub(
      board: BoardFile.parse(text, file: "two.yaml"), provider: simulation, runner: runner,
      state: StateStore(
        folder: FileManager.default.temporaryDirectory
          .appending(path: "lodestone-test-\(UUID().uuidString)")), isSimulated: true,
      recording: sink.map { (text, "two", $0) })
    hub.setDemand(.everything)
    return hub
  }

  @Test("the buses go on while a handler stands still, and a handler may ask the hub")
  func busGoesOn() throws {
    let clock = VirtualClock()
    let runner = SteppedRunner(clock)
    let hub = try Self.hub(clock, runner)
    let isIn = DispatchSemaphore(value: 0)
    let gate = DispatchSemaphore(value: 0)
    let isFirst = Atomic<Bool>(true)
    let wasOpened = Atomic<Bool>(false)
    let samples = Mutex<[UInt64]>([])
    _ = hub.subscribe { (_: Observation) in
      guard isFirst.exchange(false, ordering: .acquiringAndReleasing) else { return }
      isIn.signal()
      let isOpened = gate.wait(timeout: .now() + Self.patience) == .success
      wasOpened.store(isOpened, ordering: .releasing)
      // With the hub's lock held this would wait for itself.
      samples.withLock { $0 = hub.status.map(\.counters.samples) }
    }
    hub.start()
    runner.base.run(until: clock.now().advanced(bySeconds: 1))
    let isCalled = isIn.wait(timeout: .now() + Self.patience) == .success
    #expect(isCalled)
    // A bus that waited for the handler would get past this line once the handler has lost its patience.
    runner.base.run(until: clock.now().advanced(bySeconds: 5))
    let counted = hub.status.map(\.counters.samples)
    #expect(counted.allSatisfy { $0 > 100 }, "\(counted)")
    gate.signal()
    hub.stop()
    #expect(samples.withLock { $0 }.allSatisfy { $0 > 100 })
    let isOpened = wasOpened.load(ordering: .acquiring)
    #expect(isOpened)
  }

  @Test("a handler that returns at once is called by the bus's thread, until it is cancelled")
  func onBusThread() throws {
    let clock = VirtualClock()
    let runner = SteppedRunner(clock)
    let hub = try Self.hub(clock, runner)
    let caller = UInt(pthread_self())
    let calls = Mutex((own: 0, others: 0))
    let subscription = hub.subscribeOnBusThread { _ in
      let isOwn = UInt(pthread_self()) == caller
      calls.withLock { if isOwn { $0.own += 1 } else { $0.others += 1 } }
    }
    hub.start()
    runner.base.run(until: clock.now().advanced(bySeconds: 2))
    let heard = calls.withLock { $0 }
    #expect(heard.own > 100 && heard.others == 0)
    subscription.cancel()
    runner.base.run(until: clock.now().advanced(bySeconds: 1))
    #expect(calls.withLock { $0.own } == heard.own)
    hub.stop()
  }

  @Test("the buses go on while a recording's sink stands still")
  func slowSink() throws {
    let clock = VirtualClock()
    let runner = SteppedRunner(clock)
    let gate = DispatchSemaphore(value: 0)
    let isHead = Atomic<Bool>(true)
    let wasOpened = Atomic<Bool>(true)
    let kept = Mutex<[UInt8]>([])
    let hub = try Self.hub(clock, runner) { bytes in
      if !isHead.exchange(false, ordering: .acquiringAndReleasing) {
        if gate.wait(timeout: .now() + Self.patience) != .success {
          wasOpened.store(false, ordering: .releasing)
        }
        gate.signal()
      }
      let copy = Array(bytes)
      kept.withLock { $0 += copy }
    }
    hub.start()
    runner.base.run(until: clock.now().advanced(bySeconds: 5))
    #expect(hub.status.allSatisfy { $0.counters.samples > 100 })
    gate.signal()
    hub.stop()
    let isOpened = wasOpened.load(ordering: .acquiring)
    #expect(isOpened)
    let progress = try #require(hub.newestRecording)
    #expect(progress.droppedSteps == 0 && progress.failure == nil)
    let recording = try Recording(kept.withLock { $0 })
    #expect(recording.holes.isEmpty && recording.steps.count > 500)
    var replayed = 0
    try Replay.run(recording, board: hub.board) { if case .heading = $0 { replayed += 1 } }
    #expect(replayed > 100)
  }
}

/// The locks' order is a condition that stops the test that breaks it.
struct OrderedLockTests {
  // Before Swift 6.2 a test cannot watch a process end.
  #if compiler(>=6.2)
    @Test("a thread that takes a lock twice is stopped")
    func twice() async {
      await #expect(processExitsWith: .failure) {
        let lock = OrderedLock("outer", 1)
        lock.withLock { _ in lock.withLock { _ in } }
      }
    }

    @Test("a thread that takes locks in the wrong order is stopped")
    func wrongOrder() async {
      await #expect(processExitsWith: .failure) {
        let inner = OrderedLock("inner", 1)
        let outer = OrderedLock("outer", 1, before: [inner])
        inner.withLock { _ in outer.withLock { _ in } }
      }
    }

    @Test("foreign code that is called with the lock held is stopped")
    func foreignCode() async {
      await #expect(processExitsWith: .failure) {
        let lock = OrderedLock("outer", 1)
        lock.withLock { _ in lock.preconditionNotHeld() }
      }
    }
  #endif

  @Test("in order, on one thread after the other, nothing is stopped")
  func rightOrder() async {
    let inner = OrderedLock("inner", 0)
    let outer = OrderedLock("outer", 0, before: [inner])
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<200 {
            outer.withLock { count in
              count += 1
              inner.withLock { $0 += 1 }
            }
          }
        }
      }
    }
    #expect(outer.withLock { $0 } == 1_600 && inner.withLock { $0 } == 1_600)
    #expect(!outer.isHeldByThisThread)
    outer.preconditionNotHeld()
  }
}
