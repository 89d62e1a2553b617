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

/// Stored files that change, as a worker meets them.
@Suite struct StateFileMonitorTests {
  /// A folder that goes with the test.
  private final class Place {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-monitor-\(UUID().uuidString)")

    init() throws {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func write(_ text: String, to name: String) throws {
      try StateFile.write(Array(text.utf8), to: url.appending(path: name))
    }
  }

  private static func bytes(_ text: String) -> StateFileContent { .bytes(Array(text.utf8)) }

  @Test("the first look brings everything, a later one what has changed, and each is taken once")
  func changes() throws {
    let place = try Place()
    try place.write("a", to: "a")
    let monitor = StateFileMonitor(
      [
        .init(number: 1, path: place.path("a")), .init(number: 2, path: place.path("b")),
        .init(number: 3, path: place.path("c"), isReadOnce: true),
      ], queue: nil)
    #expect(!monitor.takeNews() && monitor.take(1) == nil)
    monitor.request()
    #expect(monitor.takeNews() && !monitor.takeNews())
    #expect(monitor.take(1) == Self.bytes("a") && monitor.take(1) == nil)
    #expect(monitor.take(2) == .missing && monitor.take(3) == .missing)
    monitor.request()
    #expect(!monitor.takeNews())
    // Another file each time: the same size within one tick of the clock is still another inode.
    try place.write("b", to: "a")
    try place.write("b", to: "b")
    try place.write("b", to: "c")
    monitor.request()
    #expect(monitor.takeNews())
    #expect(monitor.take(1) == Self.bytes("b") && monitor.take(2) == Self.bytes("b"))
    #expect(monitor.take(3) == nil, "it is read once")
    try FileManager.default.removeItem(atPath: place.path("a"))
    monitor.request()
    try place.write("c", to: "b")
    monitor.request()
    // Of two changes the newest counts.
    #expect(monitor.takeNews() && monitor.take(1) == .missing && monitor.take(2) == Self.bytes("c"))
  }

  @Test("a disk that blocks holds neither the request nor a worker's steps, and is asked once")
  func blocked() throws {
    let place = try Place()
    let queue = WorkQueue("test")
    let (blocks, unblocks) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // What a save does that waits for the disk: the look comes after it.
    queue.add {
      blocks.signal()
      unblocks.wait()
    }
    blocks.wait()
    let files = WorkerFiles(
      sensors: [], boardSize: 0, store: StateStore(folder: place.url), looksAfterBoard: true)
    let monitor = StateFileMonitor(files.files, queue: queue)
    let clock = VirtualClock()
    let provider = SimulatedBusProvider(SimulatedBoard(chips: []), clock: clock)
    let delivered = Mutex<[WorkerOutput]>([])
    let port = WorkerPort(
      LiveInput(provider, files: MonitoredFiles(monitor: monitor)), filePatience: 0)
    let worker = BusWorker(
      bus: "bus", speed: nil, port: port, tasks: [], files: files, demand: DemandBox()
    ) { deliveries, _ in delivered.withLock { $0 += deliveries } }
    var heights: Int {
      delivered.withLock {
        $0.count { if case .record(.altitude, _) = $0 { true } else { false } }
      }
    }
    var steps = 0
    for _ in 0..<100 {
      clock.advance(to: worker.step())
      steps += 1
    }
    #expect(steps == 100 && heights == 0)
    unblocks.signal()
    queue.drain()
    clock.advance(to: worker.step())
    #expect(heights == 1)
    // The requests of a hundred seconds were one look.
    clock.advance(to: worker.step())
    queue.drain()
    #expect(heights == 1)
  }

  @Test("the first step waits for the first look")
  func first() throws {
    let place = try Place()
    let queue = WorkQueue("test")
    let files = WorkerFiles(
      sensors: [], boardSize: 0, store: StateStore(folder: place.url), looksAfterBoard: true)
    let provider = SimulatedBusProvider(SimulatedBoard(chips: []), clock: VirtualClock())
    for _ in 0..<20 {
      let monitor = StateFileMonitor(files.files, queue: queue)
      let port = WorkerPort(LiveInput(provider, files: MonitoredFiles(monitor: monitor)))
      port.requestFiles(isFirst: true)
      #expect(port.hasNewFiles())
      queue.drain()
    }
  }
}
