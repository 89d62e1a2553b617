import Dispatch
import FacadeTestSupport
import Foundation
import LocationServices
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import CoreMotion

/// What a handler was given.
private final class Heard: Sendable {
  struct Call: Sendable {
    var altitude: Double?
    var pressure: Double?
    var time: Double?
    var code: Int?
    var queue: String?
  }
  private let calls = Mutex<[Call]>([])

  var all: [Call] { calls.withLock { $0 } }

  func take(_ data: CMAltitudeData?, _ error: (any Error)?) {
    let code = (error as? NSError).map(\.code)
    let call = Call(
      altitude: data?.relativeAltitude.doubleValue, pressure: data?.pressure.doubleValue,
      time: data?.timestamp, code: code, queue: OperationQueue.current?.name)
    calls.withLock { $0.append(call) }
  }
}

/// An altimeter on a board and a queue of its own.
private final class Bench {
  let source = ScriptedSource()
  let runtime: LodestoneRuntime
  let altimeter: CMAltimeter
  let queue: OperationQueue
  let heard = Heard()

  init() {
    runtime = LodestoneRuntime(source: source)
    altimeter = CMAltimeter(port: runtime)
    queue = Self.queue("altitudes")
  }

  static func queue(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    queue.maxConcurrentOperationCount = 1
    return queue
  }

  func start() {
    let heard = self.heard
    altimeter.startRelativeAltitudeUpdates(to: queue) { heard.take($0, $1) }
  }

  /// Speaks, and waits until the handler's queue has nothing left to do.
  func say(_ observations: Observation...) {
    for observation in observations { source.publish(observation) }
    runtime.settleClients()
    queue.waitUntilAllOperationsAreFinished()
  }
}

struct AltimeterTests {
  @Test("A1: available is what the board answers; altitudes need no permission")
  func availability() {
    for has in [true, false] {
      let source = ScriptedSource(
        capabilities: HardwareCapabilities(heading: true, location: true, relativeAltitude: has))
      let runtime = LodestoneRuntime(source: source)
      #expect(CMAltimeter.isRelativeAltitudeAvailable(on: runtime) == has)
    }
    #expect(CMAltimeter.authorizationStatus() == .authorized)
  }

  @Test(
    "A2: an event a second on the given queue, changed or not, the first one zero, in kilopascals")
  func regularEvents() {
    let bench = Bench()
    bench.start()
    for step in 0...75 {
      bench.say(
        .altitude(step < 60 ? 12.5 : 14, at: 500 + Double(step) * 0.04, pascals: 100_150))
    }
    #expect(bench.heard.all.map(\.altitude) == [0, 0, 0, 1.5])
    #expect(bench.heard.all.allSatisfy { $0.pressure == 100.15 })
    #expect(bench.heard.all.allSatisfy { $0.queue == "altitudes" && $0.code == nil })
    #expect(bench.heard.all.map { $0.time?.rounded() } == [500, 501, 502, 503])
  }

  @Test("A2: a second start replaces queue and handler, and begins at zero")
  func replacement() {
    let bench = Bench()
    bench.start()
    bench.say(.altitude(10, at: 0))
    // One event is on its way to the first handler and must not arrive any more.
    bench.queue.isSuspended = true
    bench.source.publish(.altitude(11, at: 1))
    bench.runtime.settleClients()
    let second = Heard()
    let other = Bench.queue("other")
    bench.altimeter.startRelativeAltitudeUpdates(to: other) { second.take($0, $1) }
    bench.queue.isSuspended = false
    bench.say(.altitude(12, at: 2), .altitude(13, at: 3))
    other.waitUntilAllOperationsAreFinished()
    #expect(bench.heard.all.map(\.altitude) == [0])
    #expect(second.all.map(\.altitude) == [0, 1])
    #expect(second.all.map(\.queue) == ["other", "other"])
  }

  @Test("A2: on a board without a barometer a start does nothing")
  func withoutBarometer() {
    let bench = Bench()
    bench.start()
    bench.say(.altitudeUnavailable(.notEquipped("barometer"), at: Timestamp(seconds: 0)))
    #expect(bench.heard.all.isEmpty)
  }

  @Test("A3: a lost barometer gives an error and no data, once; then altitudes again")
  func errors() {
    let bench = Bench()
    bench.start()
    let lost = Observation.altitudeUnavailable(.sensorLost("bus"), at: Timestamp(seconds: 2))
    bench.say(.altitude(10, at: 0), lost, lost, .altitude(13, at: 12))
    #expect(bench.heard.all.map(\.altitude) == [0, nil, 3])
    #expect(bench.heard.all.map(\.code) == [nil, 109, nil])
  }

  @Test("A4: stop is idempotent, silences the handler and lets go of it and its queue")
  func stop() {
    final class Token: Sendable {}
    let bench = Bench()
    bench.altimeter.stopRelativeAltitudeUpdates()
    weak var handlerIsAlive: Token?
    do {
      let token = Token()
      handlerIsAlive = token
      let heard = bench.heard
      bench.altimeter.startRelativeAltitudeUpdates(to: bench.queue) {
        withExtendedLifetime(token) {}
        heard.take($0, $1)
      }
    }
    bench.say(.altitude(10, at: 0))
    #expect(handlerIsAlive != nil)
    bench.queue.isSuspended = true
    bench.source.publish(.altitude(10, at: 1))
    bench.runtime.settleClients()
    bench.altimeter.stopRelativeAltitudeUpdates()
    bench.altimeter.stopRelativeAltitudeUpdates()
    #expect(handlerIsAlive == nil)
    bench.queue.isSuspended = false
    bench.say(.altitude(10, at: 2))
    #expect(bench.heard.all.count == 1)
    #expect(bench.source.demands == [Demand(), Demand(altitude: true), Demand()])
  }

  @Test("A4: an altimeter that is released counts as stopped")
  func release() {
    let source = ScriptedSource()
    let runtime = LodestoneRuntime(source: source)
    do {
      let altimeter = CMAltimeter(port: runtime)
      altimeter.startRelativeAltitudeUpdates(to: OperationQueue()) { _, _ in }
      #expect(source.demands.last == Demand(altitude: true))
    }
    #expect(source.demands.last == Demand())
  }

  @Test(
    "A5: nothing while the application is suspended; afterwards altitudes go on from the same zero")
  func suspension() {
    let bench = Bench()
    bench.start()
    bench.say(.altitude(10, at: 0))
    bench.runtime.applicationState = .suspended
    bench.say(.altitude(11, at: 1), .altitude(12, at: 2))
    #expect(bench.heard.all.count == 1)
    bench.runtime.applicationState = .background
    bench.say(.altitude(13, at: 3), .altitude(14, at: 4))
    #expect(bench.heard.all.map(\.altitude) == [0, 3, 4])
  }

  @Test("a handler whose queue stands still is owed a minute of events at most")
  func overflow() {
    let bench = Bench()
    bench.start()
    bench.queue.isSuspended = true
    for step in 0..<200 { bench.source.publish(.altitude(Double(step), at: Double(step))) }
    bench.runtime.settleClients()
    #expect(bench.queue.operationCount == 60)
    bench.queue.isSuspended = false
    bench.say()
    #expect(bench.heard.all.map(\.altitude) == (140..<200).map(Double.init))
  }

  /// An operation queue whose `addOperation` blocks.
  private final class SlowQueue: OperationQueue, @unchecked Sendable {
    let gate = DispatchSemaphore(value: 0)
    let isIn = DispatchSemaphore(value: 0)
    /// The thread that publishes, and whether this was called by it.
    let publisher = UInt(pthread_self())
    let wasCalledByPublisher = Atomic<Bool>(false)

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      if UInt(pthread_self()) == publisher {
        wasCalledByPublisher.store(true, ordering: .relaxed)
      } else {
        isIn.signal()
        _ = gate.wait(timeout: .now() + 300)
      }
      super.addOperation(block)
    }
  }

  @Test("a queue that takes its time holds up neither the board nor another client")
  func slowQueue() {
    let bench = Bench()
    bench.start()
    let queue = SlowQueue()
    queue.maxConcurrentOperationCount = 1
    let (late, other) = (Heard(), CMAltimeter(port: bench.runtime))
    other.startRelativeAltitudeUpdates(to: queue) { late.take($0, $1) }
    let arrived = DispatchSemaphore(value: 0)
    let third = CMAltimeter(port: bench.runtime)
    third.startRelativeAltitudeUpdates(to: bench.queue) { _, _ in arrived.signal() }
    bench.source.publish(.altitude(10, at: 0))
    let isHeld = queue.isIn.wait(timeout: .now() + 300) == .success
    #expect(isHeld)
    bench.source.publish(.altitude(12, at: 1))
    // It hears both while the other one's word still waits.
    for _ in 0..<2 { #expect(arrived.wait(timeout: .now() + 300) == .success) }
    #expect(late.all.isEmpty)
    for _ in 0..<2 { queue.gate.signal() }
    bench.runtime.settleClients()
    queue.waitUntilAllOperationsAreFinished()
    #expect(late.all.map(\.altitude) == [0, 2])
    let wasCalledByPublisher = queue.wasCalledByPublisher.load(ordering: .relaxed)
    #expect(!wasCalledByPublisher)
  }

  @Test("values survive archiving")
  func archiving() throws {
    let data = CMAltitudeData(relativeAltitude: -1.5, pressure: 100.15, timestamp: 12.25)
    let bytes = try NSKeyedArchiver.archivedData(withRootObject: data, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CMAltitudeData.self, from: bytes)
    #expect(back == data)
    #expect(back?.timestamp == 12.25)
    #expect(try #require(data.copy() as? CMAltitudeData) == data)
  }

  @Test("error numbers are the SDK's")
  func codes() {
    #expect(CMErrorDomain == "CMErrorDomain")
    #expect(CMErrorNULL.rawValue == 100)
    #expect(CMErrorNotAvailable.rawValue == 109)
    #expect(CMErrorSize.rawValue == 113)
    let refused = ServiceFailure(service: .absoluteAltitude, reason: "", isDenied: true)
    #expect(refused.error.code == 111 && refused.error.domain == CMErrorDomain)
  }
}

@Test(
  "A2 A3 M18: altitudes as a sequence, each iteration with a zero of its own; a loss says there is none",
  .timeLimit(.minutes(10)))
func altitudeSequence() async throws {
  let source = ScriptedSource()
  let runtime = LodestoneRuntime(source: source)
  // The loss that lasts is said at once to whoever comes then.
  for (start, before) in [(100.0, [Double?]()), (200, [nil])] {
    let heard = Transcript<CMAltitudeUpdate>()
    let task = Task(priority: .high) {
      for await update in CMAltitudeUpdate.liveUpdates(on: runtime) { heard.add(update) }
    }
    #expect(await source.hears(Demand(altitude: true)))
    source.publish(.altitude(start, at: start))
    source.publish(.altitude(start + 2.5, at: start + 1, pascals: 100_000))
    source.publish(.altitudeUnavailable(.sensorLost("BMP280"), at: Timestamp(seconds: start + 2)))
    let updates = await heard.waits(for: before.count + 3)
    #expect(updates.map { $0.altitude?.relativeAltitude.doubleValue } == before + [0, 2.5, nil])
    #expect(updates.map { $0.altitude?.pressure.doubleValue } == before + [101.325, 100, nil])
    #expect(updates.allSatisfy { $0.altitudeUnavailable == ($0.altitude == nil) })
    task.cancel()
    await task.value
    #expect(source.demands.last == Demand())
  }
}
