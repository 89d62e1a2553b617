// The altimeter: climb by the barometer, and height above the sea.

public import Foundation
import LocationServices
import SensorTypes

/// Takes the altitude of a second, or the reason why there is none: one of the two is nil.
public typealias CMAltitudeHandler = (CMAltitudeData?, (any Error)?) -> Void

/// Takes a height above the sea, or the reason why there is none: one of the two is nil.
public typealias CMAbsoluteAltitudeHandler = (CMAbsoluteAltitudeData?, (any Error)?) -> Void

/// Tells once a second how much the device has climbed since the first event, and how high above the sea it is.
///
/// Events come at regular intervals whether or not the value has changed. While the application is
/// suspended there are none; afterwards they go on, relative to the same first event. When the barometer
/// stops answering the handler gets one error, and altitudes again when it is back.
open class CMAltimeter: NSObject {
  private let port: any ServicePort
  private let delivery: QueueDelivery
  private let client: ClientID
  private let absoluteDelivery: QueueDelivery
  private let absoluteClient: ClientID

  /// Makes an altimeter that has started nothing.
  public override init() {
    port = processPort
    (delivery, absoluteDelivery) = (QueueDelivery(), QueueDelivery())
    client = port.connect(delivery.inbox)
    absoluteClient = port.connect(absoluteDelivery.inbox)
    super.init()
  }

  /// An altimeter on services of its own, for tests.
  init(port: any ServicePort) {
    self.port = port
    (delivery, absoluteDelivery) = (QueueDelivery(), QueueDelivery())
    client = port.connect(delivery.inbox)
    absoluteClient = port.connect(absoluteDelivery.inbox)
    super.init()
  }

  deinit {
    port.send(ServiceRequest(client, .release))
    port.send(ServiceRequest(absoluteClient, .release))
    delivery.clear()
    absoluteDelivery.clear()
  }

  /// Whether a barometer answers on this board. The first answer may take two seconds.
  open class func isRelativeAltitudeAvailable() -> Bool {
    isRelativeAltitudeAvailable(on: processPort)
  }

  class func isRelativeAltitudeAvailable(on port: any ServicePort) -> Bool {
    port.ask(.capabilities).relativeAltitude
  }

  /// Whether the application may use altitudes: on a board it may.
  open class func authorizationStatus() -> CMAuthorizationStatus { .authorized }

  /// Starts altitudes: `handler` is called on `queue` once a second, first with the altitude 0. A second
  /// start replaces queue and handler and begins anew. On a board without a barometer it does nothing.
  open func startRelativeAltitudeUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMAltitudeHandler
  ) {
    // Stopped first, so that the new handler begins with its own zero.
    port.send(ServiceRequest(client, .stop(.altitude)))
    delivery.set(
      queue: queue,
      handler: QueueDelivery.Handler { content in
        if case .altitude(let report) = content { handler(CMAltitudeData(report), nil) }
        if case .failure(let failure) = content { handler(nil, failure.error) }
      })
    port.send(ServiceRequest(client, .start(.altitude)))
  }

  /// Stops altitudes and lets go of queue and handler: it is not called any more. Nothing if they are
  /// stopped.
  open func stopRelativeAltitudeUpdates() {
    port.send(ServiceRequest(client, .stop(.altitude)))
    delivery.clear()
  }

  /// Whether a barometer answers on this board, and something says how high it stands: a receiver, a height that
  /// somebody has told (`lodestone altitude set`), or the board file. The first answer may take two seconds.
  open class func isAbsoluteAltitudeAvailable() -> Bool {
    isAbsoluteAltitudeAvailable(on: processPort)
  }

  class func isAbsoluteAltitudeAvailable(on port: any ServicePort) -> Bool {
    port.ask(.capabilities).absoluteAltitude
  }

  /// Starts heights above the sea: `handler` is called on `queue` about once a second, from the moment on at which one
  /// is known, whether it has changed or not. A second start replaces queue and handler. On a board without a barometer
  /// it does nothing; when the barometer stops answering the handler gets one error (`CMErrorNotAvailable`), and heights
  /// again when it is back.
  ///
  /// A height that a receiver's fix is part of tells where the board is: if the application may not know that, or has
  /// reduced accuracy, the handler gets one error (`CMErrorNotAuthorized`) and no such heights.
  open func startAbsoluteAltitudeUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMAbsoluteAltitudeHandler
  ) {
    port.send(ServiceRequest(absoluteClient, .stop(.absoluteAltitude)))
    absoluteDelivery.set(
      queue: queue,
      handler: QueueDelivery.Handler { content in
        if case .absoluteAltitude(let report) = content {
          handler(CMAbsoluteAltitudeData(report), nil)
        }
        if case .failure(let failure) = content { handler(nil, failure.error) }
      })
    port.send(ServiceRequest(absoluteClient, .start(.absoluteAltitude)))
  }

  /// Stops heights above the sea and lets go of queue and handler. Nothing if they are stopped.
  open func stopAbsoluteAltitudeUpdates() {
    port.send(ServiceRequest(absoluteClient, .stop(.absoluteAltitude)))
    absoluteDelivery.clear()
  }
}
