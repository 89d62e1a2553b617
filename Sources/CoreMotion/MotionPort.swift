// One motion service of one manager: what it was told last, and the way to its handler.

import Dispatch
import Foundation
import LocationServices
import Lodestone
import Synchronization

/// A service that can be started with a handler or without one, and asked for its newest value.
///
/// Letting go of it stops the service.
final class MotionPort<Value>: Sendable {
  /// A second of the fastest that a board measures, as good as.
  private static var limit: Int { 256 }

  private let service: Service
  private let runtime: LodestoneRuntime
  private let delivery: QueueDelivery
  private let box: MotionBox
  private let client: ClientID
  private let convert: @Sendable (MotionEvent) -> Value?

  /// - Parameter convert: Makes the value that is handed out; `nil` for an event of another service.
  init(
    _ service: Service, _ runtime: LodestoneRuntime,
    convert: @escaping @Sendable (MotionEvent) -> Value?
  ) {
    self.service = service
    self.runtime = runtime
    self.convert = convert
    delivery = QueueDelivery(runtime: runtime, limit: Self.limit)
    box = MotionBox(delivery, runtime)
    client = runtime.register(box)
    box.setClient(client)
  }

  deinit {
    runtime.send(ServiceRequest(client, .release))
    delivery.clear()
  }

  /// Whether it was started, not stopped, and the board has what it takes.
  var isActive: Bool { box.isActive }

  /// The newest value since the start; `nil` before the first.
  var newest: Value? { box.newest.flatMap(convert) }

  /// Starts the service, with a handler or without one; another start replaces both.
  func start(
    _ settings: ClientSettings, queue: OperationQueue?,
    handler: ((Value?, (any Error)?) -> Void)?
  ) {
    box.begin()
    let convert = self.convert
    delivery.set(
      queue: handler == nil ? nil : queue,
      handler: handler.map { handler in
        QueueDelivery.Handler { content in
          if case .motion(let event) = content, let value = convert(event) { handler(value, nil) }
          if case .failure(let failure) = content { handler(nil, failure.error) }
        }
      })
    runtime.send(ServiceRequest(client, .configure(settings)))
    runtime.send(ServiceRequest(client, .start(service)))
  }

  /// Other settings for a service that may run.
  func configure(_ settings: ClientSettings) {
    runtime.send(ServiceRequest(client, .configure(settings)))
  }

  /// Stops the service and lets go of queue and handler.
  func stop() {
    runtime.send(ServiceRequest(client, .stop(service)))
    // Nobody is asked for a service that does not run.
    runtime.send(ServiceRequest(client, .configure(ClientSettings())))
    box.end()
    delivery.clear()
  }
}

/// The way to each service of one manager.
struct MotionPorts {
  let accelerometer: MotionPort<CMAccelerometerData>
  let gyro: MotionPort<CMGyroData>
  let magnetometer: MotionPort<CMMagnetometerData>
  let device: MotionPort<CMDeviceMotion>

  init(_ runtime: LodestoneRuntime) {
    accelerometer = MotionPort(.accelerometer, runtime) { event in
      if case .force(let sample) = event { CMAccelerometerData(sample) } else { nil }
    }
    gyro = MotionPort(.gyro, runtime) { event in
      if case .angularRate(let sample) = event { CMGyroData(sample) } else { nil }
    }
    magnetometer = MotionPort(.magnetometer, runtime) { event in
      if case .field(let sample) = event { CMMagnetometerData(sample) } else { nil }
    }
    device = MotionPort(.deviceMotion, runtime) { event in
      if case .device(let report) = event { CMDeviceMotion(report) } else { nil }
    }
  }
}

/// The letter box of a port. It is not the port itself: the runtime holds its clients, and a port that nobody else holds
/// is to end.
final class MotionBox: ServiceClient {
  private struct State {
    var client: ClientID?
    var isActive = false
    var newest: MotionEvent?
  }

  private let delivery: QueueDelivery
  private unowned let runtime: LodestoneRuntime
  private let state = Mutex(State())

  init(_ delivery: QueueDelivery, _ runtime: LodestoneRuntime) {
    self.delivery = delivery
    self.runtime = runtime
  }

  func setClient(_ client: ClientID) { state.withLock { $0.client = client } }

  var isActive: Bool { state.withLock { $0.isActive } }
  var newest: MotionEvent? { state.withLock { $0.newest } }

  func begin() { set(isActive: true) }
  func end() { set(isActive: false) }

  private func set(isActive: Bool) {
    state.withLock { state in
      state.isActive = isActive
      state.newest = nil
    }
  }

  func receive(_ content: ServiceEvent.Content) {
    switch content {
    case .motion(let event):
      state.withLock { if $0.isActive { $0.newest = event } }
      delivery.receive(content)
    case .failure(let failure):
      if failure.cause == .notEquipped { end() }
      delivery.receive(content)
    case .question(let question):
      // Whoever shows the movement display has said yes already. Not from here: the services are locked.
      guard let client = state.withLock({ $0.client }) else { return }
      let answer = ServiceRequest(client, .answer(question: question.number, display: true))
      DispatchQueue.global().async { [weak runtime] in runtime?.send(answer) }
    default: break
    }
  }

  func applicationDidResume() {}
}
