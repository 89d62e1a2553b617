import SensorTypes
import Synchronization

/// Hands what the pipeline has made to everybody who listens, in the pipeline's order and outside of its lock.
///
/// What waits is bounded. A handler that is too slow costs readings and estimates first, which newer ones replace, then
/// everything else; what was dropped is counted and said.
final class ObservationPublisher: Sendable {
  /// The number of items that may wait; twice as many where no newer one replaces them. A board at its highest rates
  /// fills it in a second.
  static let limit = 4_096
  /// The number of times that one bus thread looks for what others have brought while it handed out.
  private static let mostRounds = 8

  /// Who calls the handlers.
  enum Caller {
    /// A thread of the publisher's own: a handler may take its time, and costs a switch of threads.
    case thread
    /// The bus thread that brings something, for handlers that return at once. Of several the first one calls for all.
    case bus
    /// The thread that moves the clock. Nothing is dropped.
    case clock
  }

  private enum PublishedItem {
    case observation(Observation)
    case reading(SensorReading)

    /// Whether the next of its kind says all that this one does.
    var isReplaceable: Bool {
      switch self {
      case .reading, .observation(.heading), .observation(.altitude), .observation(.motion),
        .observation(.absoluteAltitude), .observation(.waves):
        true
      case .observation: false
      }
    }
  }

  private struct Handlers {
    var observations: [(id: UInt64, handler: @Sendable (Observation) -> Void)] = []
    var readings: [(id: UInt64, handler: @Sendable (SensorReading) -> Void)] = []
  }

  private struct Queue {
    var items: [PublishedItem] = []
    /// The memory of the last batch, for the next.
    var spare: [PublishedItem] = []
    var unsaid = 0
    var dropped: UInt64 = 0
  }

  // Both are held for a moment only, never while a handler is called.
  private let handlers = Mutex(Handlers())
  private let queue = Mutex(Queue())
  private let now: @Sendable () -> Timestamp
  private let thread: Mutex<SideThread?>
  private let isHandingOut = Atomic<Bool>(false)
  // Read without the queue's lock, because most boards have nobody who listens to readings.
  private let wantsObservations = Atomic<Bool>(false)
  private let wantsReadings = Atomic<Bool>(false)
  /// Whether something waits.
  private let holdsItems = Atomic<Bool>(false)
  private let caller: Caller

  /// Makes a publisher without listeners.
  ///
  /// - Parameters:
  ///   - caller: Who calls the handlers.
  ///   - now: The board's clock.
  init(_ caller: Caller, now: @escaping @Sendable () -> Timestamp) {
    self.caller = caller
    self.now = now
    thread = Mutex(nil)
  }

  /// The number of observations and readings that were dropped because a handler was too slow.
  var dropped: UInt64 { queue.withLock { $0.dropped } }

  func add(_ id: UInt64, observations handler: @escaping @Sendable (Observation) -> Void) {
    change { $0.observations.append((id, handler)) }
  }

  func add(_ id: UInt64, readings handler: @escaping @Sendable (SensorReading) -> Void) {
    change { $0.readings.append((id, handler)) }
  }

  func remove(_ id: UInt64) {
    change { handlers in
      handlers.observations.removeAll { $0.id == id }
      handlers.readings.removeAll { $0.id == id }
    }
  }

  private func change(_ body: (inout Handlers) -> Void) {
    handlers.withLock { handlers in
      body(&handlers)
      wantsObservations.store(!handlers.observations.isEmpty, ordering: .sequentiallyConsistent)
      wantsReadings.store(!handlers.readings.isEmpty, ordering: .sequentiallyConsistent)
    }
  }

  /// Puts an observation at the end; nobody is called.
  func post(_ observation: Observation) {
    guard wantsObservations.load(ordering: .sequentiallyConsistent) else { return }
    queue.withLock { put(.observation(observation), &$0) }
  }

  /// Puts a reading at the end; nobody is called.
  func post(_ reading: SensorReading) {
    guard wantsReadings.load(ordering: .sequentiallyConsistent) else { return }
    queue.withLock { put(.reading(reading), &$0) }
  }

  private func put(_ item: PublishedItem, _ queue: inout Queue) {
    let limit = item.isReplaceable ? Self.limit : 2 * Self.limit
    guard caller == .clock || queue.items.count < limit else {
      queue.dropped += 1
      queue.unsaid += 1
      return
    }
    queue.items.append(item)
    holdsItems.store(true, ordering: .sequentiallyConsistent)
  }

  /// Has everything that waits handed out by the `Caller`. Only its own thread does it after this has returned, or another
  /// bus thread that is at it.
  func handOut() {
    guard holdsItems.load(ordering: .sequentiallyConsistent) else { return }
    switch caller {
    case .clock: handOutNow()
    case .bus: handOutInTurn()
    case .thread:
      thread.withLock { thread in
        if thread == nil {
          thread = SideThread(name: "publisher") { [weak self] in self?.handOutNow() }
        }
        thread?.wake()
      }
    }
  }

  private func handOutInTurn() {
    // What comes while another thread hands out is left to that thread, which looks once more before it ends. Where others
    // bring without a pause, the rest waits for the next step of any bus, so that none works for the others for long.
    for _ in 0..<Self.mostRounds {
      guard !isHandingOut.exchange(true, ordering: .sequentiallyConsistent) else { return }
      handOutNow()
      isHandingOut.store(false, ordering: .sequentiallyConsistent)
      guard holdsItems.load(ordering: .sequentiallyConsistent) else { return }
    }
  }

  /// Hands out what waits and ends the thread, a second at most later.
  func stop() {
    let thread = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    thread?.stop(within: 1)
  }

  private func handOutNow() {
    let unsaid: Int
    var batch: [PublishedItem]
    (batch, unsaid) = queue.withLock { queue in
      defer {
        queue.items = queue.spare
        queue.spare = []
        queue.unsaid = 0
        holdsItems.store(false, ordering: .sequentiallyConsistent)
      }
      return (queue.items, queue.unsaid)
    }
    for item in batch {
      // Checked again before each call, because a handler may have been cancelled meanwhile.
      switch item {
      case .observation(let observation): call(with: observation)
      case .reading(let reading):
        for listener in handlers.withLock({ $0.readings }) { listener.handler(reading) }
      }
    }
    batch.removeAll(keepingCapacity: true)
    queue.withLock { $0.spare = batch }
    if unsaid > 0 {
      call(
        with: .diagnostic(
          "\(unsaid) observations were dropped: a handler of this program took too long", at: now())
      )
    }
  }

  private func call(with observation: Observation) {
    for subscriber in handlers.withLock({ $0.observations }) { subscriber.handler(observation) }
  }
}
