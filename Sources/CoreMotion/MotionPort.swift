// One motion service of one manager: what it was told last, and the way to its handler.

import Dispatch
import Foundation
import LocationServices
import Inboxes
import Synchronization

/// A service that can be started with a handler or without one, and asked for its newest value.
///
/// Letting go of it stops the service.
final class MotionPort<Value>: Sendable {
  /// A second of the fastest that a board measures, as good as.
  private static var limit: Int { 256 }

  private let service: Service
  private let port: any ServicePort
  private let delivery: QueueDelivery
  private let state: MotionClient
  private let client: ClientID
  private let convert: @Sendable (MotionEvent) -> Value?

  /// - Parameter convert: Makes the value that is handed out; `nil` for an event of another service.
  init(
    _ service: Service, _ port: any ServicePort,
    convert: @escaping @Sendable (MotionEvent) -> Value?
  ) {
    self.service = service
    self.port = port
    self.convert = convert
    delivery = QueueDelivery(limit: Self.limit)
    state = MotionClient(delivery.inbox, port)
    client = port.connect(state)
    state.setClient(client)
  }

  deinit {
    port.send(ServiceRequest(client, .release))
    delivery.clear()
  }

  /// Whether it was started, not stopped, and the board has what it takes.
  var isActive: Bool { state.isActive }

  /// The newest value since the start; `nil` before the first.
  var newest: Value? { state.newest.flatMap(convert) }

  /// Starts the service, with a handler or without one; another start replaces both.
  func start(
    _ settings: ClientSettings, queue: OperationQueue?,
    handler: ((Value?, (any Error)?) -> Void)?
  ) {
    state.begin()
    let convert = self.convert
    delivery.set(
      queue: handler == nil ? nil : queue,
      handler: handler.map { handler in
        QueueDelivery.Handler { content in
          if case .motion(let event) = content, let value = convert(event) { handler(value, nil) }
          if case .failure(let failure) = content { handler(nil, failure.error) }
        }
      })
    port.send(ServiceRequest(client, .configure(settings)))
    port.send(ServiceRequest(client, .start(service)))
  }

  /// Other settings for a service that may run.
  func configure(_ settings: ClientSettings) {
    port.send(ServiceRequest(client, .configure(settings)))
  }

  /// Stops the service and lets go of queue and handler.
  func stop() {
    port.send(ServiceRequest(client, .stop(service)))
    // Nobody is asked for a service that does not run.
    port.send(ServiceRequest(client, .configure(ClientSettings())))
    state.end()
    delivery.clear()
  }
}

/// The way to each service of one manager.
struct MotionPorts {
  let accelerometer: MotionPort<CMAccelerometerData>
  let gyro: MotionPort<CMGyroData>
  let magnetometer: MotionPort<CMMagnetometerData>
  let device: MotionPort<CMDeviceMotion>

  init(_ port: any ServicePort) {
    accelerometer = MotionPort(.accelerometer, port) { event in
      if case .force(let sample) = event { CMAccelerometerData(sample) } else { nil }
    }
    gyro = MotionPort(.gyro, port) { event in
      if case .angularRate(let sample) = event { CMGyroData(sample) } else { nil }
    }
    magnetometer = MotionPort(.magnetometer, port) { event in
      if case .field(let sample) = event { CMMagnetometerData(sample) } else { nil }
    }
    device = MotionPort(.deviceMotion, port) { event in
      if case .device(let report) = event { CMDeviceMotion(report) } else { nil }
    }
  }
}

/// What a port knows of its service, and the way of its events. It is not the port itself: the services hold their clients, and
/// a port that nobody else holds is to end.
final class MotionClient: SettlingClient {
  private struct State {
    var client: ClientID?
    var isActive = false
    var newest: MotionEvent?
  }

  private let inbox: EventInbox
  private let questions = Inbox<CalibrationQuestion, OneKind>(InboxPolicy(.newest))
  private let state = Mutex(State())

  init(_ inbox: EventInbox, _ port: any ServicePort) {
    self.inbox = inbox
    // Whoever shows the movement display has said yes already. Not where it is asked: the services are locked.
    questions.setWake(
      .onQueue { [weak self, weak port] in
        guard let self else { return }
        questions.beginRound()
        guard let client = state.withLock({ $0.client }), let question = questions.take() else {
          return
        }
        port?.send(ServiceRequest(client, .answer(question: question.number, display: true)))
      })
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

  func post(_ content: EventContent) -> Int {
    switch content {
    case .motion(let event): state.withLock { if $0.isActive { $0.newest = event } }
    case .failure(let failure) where failure.cause == .notEquipped: end()
    case .question(let question): questions.post(question)
    default: break
    }
    return inbox.post(content)
  }

  func applicationChanged(isSuspended: Bool) { inbox.applicationChanged(isSuspended: isSuspended) }

  func settle() {
    questions.settle()
    inbox.settle()
  }
}
