// The altimeter, and the way of its events to the queue of a handler.

public import Foundation
import LocationServices
import Lodestone
import SensorTypes
import Synchronization

/// Takes the altitude of a second, or the reason why there is none: one of the two is nil.
public typealias CMAltitudeHandler = (CMAltitudeData?, (any Error)?) -> Void

/// Tells once a second how much the device has climbed since the first event.
///
/// Events come at regular intervals whether or not the value has changed. While the application is
/// suspended there are none; afterwards they go on, relative to the same first event. When the barometer
/// stops answering the handler gets one error, and altitudes again when it is back.
open class CMAltimeter: NSObject {
  private let runtime: LodestoneRuntime
  private let delivery: QueueDelivery
  private let client: ClientID

  /// Makes an altimeter that has started nothing.
  public override init() {
    runtime = .shared
    delivery = QueueDelivery(runtime: runtime)
    client = runtime.register(delivery)
    super.init()
  }

  /// An altimeter on a runtime of its own, for tests.
  init(runtime: LodestoneRuntime) {
    self.runtime = runtime
    delivery = QueueDelivery(runtime: runtime)
    client = runtime.register(delivery)
    super.init()
  }

  deinit {
    runtime.send(ServiceRequest(client, .release))
    delivery.clear()
  }

  /// Whether a barometer answers on this board. The first answer may take two seconds.
  open class func isRelativeAltitudeAvailable() -> Bool {
    isRelativeAltitudeAvailable(on: .shared)
  }

  class func isRelativeAltitudeAvailable(on runtime: LodestoneRuntime) -> Bool {
    runtime.equipment.relativeAltitude
  }

  /// Whether the application may use altitudes: on a board it may.
  open class func authorizationStatus() -> CMAuthorizationStatus { .authorized }

  /// Starts altitudes: `handler` is called on `queue` once a second, first with the altitude 0. A second
  /// start replaces queue and handler and begins anew. On a board without a barometer it does nothing.
  open func startRelativeAltitudeUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMAltitudeHandler
  ) {
    // Stopped first, so that the new handler begins with its own zero.
    runtime.send(ServiceRequest(client, .stop(.altitude)))
    delivery.set(queue: queue, handler: QueueDelivery.Handler(call: handler))
    runtime.send(ServiceRequest(client, .start(.altitude)))
  }

  /// Stops altitudes and lets go of queue and handler: it is not called any more. Nothing if they are
  /// stopped.
  open func stopRelativeAltitudeUpdates() {
    runtime.send(ServiceRequest(client, .stop(.altitude)))
    delivery.clear()
  }
}

/// Carries altitudes to the handler's queue. At most `limit` wait; then the oldest is dropped.
///
/// `@unchecked Sendable`: everything that changes is in the mutex. The handler is not `Sendable`, as in the
/// SDK; it is only ever called on the queue that its owner has named for it, and let go of by the owner's
/// thread or on that queue: never by the publishing thread, where what it captures must not end.
final class QueueDelivery: ServiceClient, @unchecked Sendable {
  /// A minute of events.
  static let limit = 60

  struct Handler: @unchecked Sendable {
    let call: CMAltitudeHandler
  }

  private struct State {
    /// Counts starts and stops, so that what is on its way to a former handler is known as such.
    var generation: UInt64 = 0
    var queue: OperationQueue?
    var handler: Handler?
    var waiting: [ServiceEvent.Content] = []
    /// Operations of this generation that are on the way.
    var operations = 0
  }

  private let runtime: LodestoneRuntime
  private let state = Mutex(State())

  init(runtime: LodestoneRuntime) { self.runtime = runtime }

  func set(queue: OperationQueue?, handler: Handler?) {
    // What the former handler captures may run code of its owner when it ends: not under the lock.
    let former = state.withLock { state in
      defer {
        state = State(generation: state.generation &+ 1, queue: queue, handler: handler)
      }
      return state.handler
    }
    withExtendedLifetime(former) {}
  }

  func clear() { set(queue: nil, handler: nil) }

  // Only the queue is touched here, never the handler.
  func receive(_ content: ServiceEvent.Content) {
    let target: (queue: OperationQueue, generation: UInt64)? = state.withLock { state in
      guard let queue = state.queue else { return nil }
      state.waiting.append(content)
      if state.waiting.count > Self.limit { state.waiting.removeFirst() }
      guard state.operations < Self.limit else { return nil }
      state.operations += 1
      return (queue, state.generation)
    }
    guard let target else { return }
    target.queue.addOperation { [weak self] in self?.deliverNext(of: target.generation) }
  }

  func applicationDidResume() {}

  private func deliverNext(of generation: UInt64) {
    let next: (ServiceEvent.Content, Handler)? = state.withLock { state in
      guard state.generation == generation else { return nil }
      state.operations -= 1
      guard let handler = state.handler, !state.waiting.isEmpty else { return nil }
      return (state.waiting.removeFirst(), handler)
    }
    guard let (content, handler) = next, !runtime.isSuspended else { return }
    switch content {
    case .altitude(let report):
      handler.call(CMAltitudeData(report), nil)
    case .failure(let failure):
      handler.call(
        nil,
        NSError(
          domain: CMErrorDomain, code: Int(CMErrorNotAvailable.rawValue),
          userInfo: [NSLocalizedDescriptionKey: failure.reason]))
    case .location, .requestedLocation, .requestFailed, .paused, .resumed, .heading, .question,
      .questionClosed, .authorization, .fullAccuracyAnswered, .significantChange, .visit, .region,
      .beacons, .rangingFailed:
      break
    }
  }
}
