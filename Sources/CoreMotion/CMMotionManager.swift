// The manager of accelerometer, gyro, magnetometer and device motion.

public import Foundation
import LocationServices
import SensorTypes
import Synchronization

/// Takes an acceleration, or the reason why there is none: one of the two is nil.
public typealias CMAccelerometerHandler = (CMAccelerometerData?, (any Error)?) -> Void
/// Takes an angular rate, or the reason why there is none: one of the two is nil.
public typealias CMGyroHandler = (CMGyroData?, (any Error)?) -> Void
/// Takes a field, or the reason why there is none: one of the two is nil.
public typealias CMMagnetometerHandler = (CMMagnetometerData?, (any Error)?) -> Void
/// Takes an attitude and what goes with it, or the reason why there is none: one of the two is nil.
public typealias CMDeviceMotionHandler = (CMDeviceMotion?, (any Error)?) -> Void

/// Gives what the chips that feel motion measure, and what they say together.
///
/// Each of the four services is started with a queue and a handler, which is then called at the service's interval, or
/// without, and its newest value asked for when it is needed. Starting it again replaces queue and handler. Several
/// managers may run at their own intervals: the chips are set to what the fastest needs, and never faster than the board
/// file says; device motion takes them as fast as that, however seldom it is asked for. While the application is
/// suspended nothing is delivered.
///
/// Where a chip stops answering a handler gets one error, `CMErrorNotAvailable`, and values again when it is back. On a
/// board that has no such chip it gets that error once, and the service is not active.
open class CMMotionManager: NSObject {
  /// The interval of each service until another is set, seconds.
  private static let interval = 0.01

  private struct Wishes: Sendable {
    var settings = MotionSettings(
      accelerometerInterval: interval, gyroInterval: interval, magnetometerInterval: interval,
      deviceInterval: interval)
    var showsMovementDisplay = false

    /// As a client says it.
    var client: ClientSettings {
      ClientSettings(
        answersQuestions: showsMovementDisplay && settings.frame.usesField, motion: settings)
    }
  }

  private let port: any ServicePort
  private let wishes = Mutex(Wishes())
  private let ports: MotionPorts
  private var accelerometer: MotionPort<CMAccelerometerData> { ports.accelerometer }
  private var gyro: MotionPort<CMGyroData> { ports.gyro }
  private var magnetometer: MotionPort<CMMagnetometerData> { ports.magnetometer }
  private var device: MotionPort<CMDeviceMotion> { ports.device }

  /// Makes a manager that has started nothing.
  public override init() {
    port = processPort
    ports = MotionPorts(port)
    super.init()
  }

  /// Whether the application may use what the chips measure: on a board it may.
  open class func authorizationStatus() -> CMAuthorizationStatus { .authorized }

  /// A manager on services of its own, for tests.
  init(port: any ServicePort) {
    self.port = port
    ports = MotionPorts(port)
    super.init()
  }

  private func change(_ change: (inout Wishes) -> Void) -> ClientSettings {
    wishes.withLock { wishes in
      change(&wishes)
      return wishes.client
    }
  }

  private var settings: ClientSettings { wishes.withLock { $0.client } }

  // MARK: Accelerometer

  /// Seconds between two accelerations; 0.01 at first. It may be changed while they come. Zero or less is as fast as the
  /// board measures.
  open var accelerometerUpdateInterval: TimeInterval {
    get { wishes.withLock { $0.settings.accelerometerInterval } }
    set {
      let settings = change { $0.settings.accelerometerInterval = newValue }
      if accelerometer.isActive { accelerometer.configure(settings) }
    }
  }

  /// Whether an accelerometer answers on this board. The first answer may take two seconds.
  open var isAccelerometerAvailable: Bool { port.ask(.capabilities).motion.accelerometer }

  /// Whether accelerations were started.
  open var isAccelerometerActive: Bool { accelerometer.isActive }

  /// The newest acceleration since the start; `nil` before the first.
  open var accelerometerData: CMAccelerometerData? { accelerometer.newest }

  /// Starts accelerations for `accelerometerData`.
  open func startAccelerometerUpdates() {
    accelerometer.start(settings, queue: nil, handler: nil)
  }

  /// Starts accelerations: `handler` is called on `queue` with each.
  open func startAccelerometerUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMAccelerometerHandler
  ) {
    accelerometer.start(settings, queue: queue, handler: handler)
  }

  /// Stops accelerations and lets go of queue and handler. Nothing if they are stopped.
  open func stopAccelerometerUpdates() { accelerometer.stop() }

  // MARK: Gyro

  /// Seconds between two angular rates; 0.01 at first. It may be changed while they come. Zero or less is as fast as the
  /// board measures.
  open var gyroUpdateInterval: TimeInterval {
    get { wishes.withLock { $0.settings.gyroInterval } }
    set {
      let settings = change { $0.settings.gyroInterval = newValue }
      if gyro.isActive { gyro.configure(settings) }
    }
  }

  /// Whether a gyro answers on this board. The first answer may take two seconds.
  open var isGyroAvailable: Bool { port.ask(.capabilities).motion.gyro }

  /// Whether angular rates were started.
  open var isGyroActive: Bool { gyro.isActive }

  /// The newest angular rate since the start; `nil` before the first.
  open var gyroData: CMGyroData? { gyro.newest }

  /// Starts angular rates for `gyroData`.
  open func startGyroUpdates() { gyro.start(settings, queue: nil, handler: nil) }

  /// Starts angular rates: `handler` is called on `queue` with each.
  open func startGyroUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMGyroHandler
  ) {
    gyro.start(settings, queue: queue, handler: handler)
  }

  /// Stops angular rates and lets go of queue and handler. Nothing if they are stopped.
  open func stopGyroUpdates() { gyro.stop() }

  // MARK: Magnetometer

  /// Seconds between two fields; 0.01 at first. It may be changed while they come. Zero or less is as fast as the board
  /// measures.
  open var magnetometerUpdateInterval: TimeInterval {
    get { wishes.withLock { $0.settings.magnetometerInterval } }
    set {
      let settings = change { $0.settings.magnetometerInterval = newValue }
      if magnetometer.isActive { magnetometer.configure(settings) }
    }
  }

  /// Whether a magnetometer answers on this board. The first answer may take two seconds.
  open var isMagnetometerAvailable: Bool { port.ask(.capabilities).motion.magnetometer }

  /// Whether fields were started.
  open var isMagnetometerActive: Bool { magnetometer.isActive }

  /// The newest field since the start; `nil` before the first.
  open var magnetometerData: CMMagnetometerData? { magnetometer.newest }

  /// Starts fields for `magnetometerData`.
  open func startMagnetometerUpdates() {
    magnetometer.start(settings, queue: nil, handler: nil)
  }

  /// Starts fields: `handler` is called on `queue` with each.
  open func startMagnetometerUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMMagnetometerHandler
  ) {
    magnetometer.start(settings, queue: queue, handler: handler)
  }

  /// Stops fields and lets go of queue and handler. Nothing if they are stopped.
  open func stopMagnetometerUpdates() { magnetometer.stop() }

  // MARK: Device motion

  /// Seconds between two attitudes; 0.01 at first. It may be changed while they come. Zero or less is as fast as the
  /// board measures.
  open var deviceMotionUpdateInterval: TimeInterval {
    get { wishes.withLock { $0.settings.deviceInterval } }
    set {
      let settings = change { $0.settings.deviceInterval = newValue }
      if device.isActive { device.configure(settings) }
    }
  }

  /// Whether accelerometer and gyro answer on this board. The first answer may take two seconds.
  open var isDeviceMotionAvailable: Bool { Self.canMove(port) }

  private static func canMove(_ port: any ServicePort) -> Bool {
    let motion = port.ask(.capabilities).motion
    return motion.accelerometer && motion.gyro
  }

  /// Whether device motion was started.
  open var isDeviceMotionActive: Bool { device.isActive }

  /// The newest attitude since the start, and what goes with it; `nil` before the first.
  open var deviceMotion: CMDeviceMotion? { device.newest }

  /// The frames that this board can measure attitudes against: none without a gyro, those with north only with a
  /// magnetometer, true north only where a receiver, the board file or an earlier run can say where the board is.
  open class func availableAttitudeReferenceFrames() -> CMAttitudeReferenceFrame {
    availableAttitudeReferenceFrames(on: processPort)
  }

  class func availableAttitudeReferenceFrames(
    on port: any ServicePort
  ) -> CMAttitudeReferenceFrame {
    let motion = port.ask(.capabilities).motion
    guard motion.accelerometer, motion.gyro else { return [] }
    var frames: CMAttitudeReferenceFrame = .xArbitraryZVertical
    if motion.magnetometer {
      frames.formUnion([.xArbitraryCorrectedZVertical, .xMagneticNorthZVertical])
      if motion.place { frames.insert(.xTrueNorthZVertical) }
    }
    return frames
  }

  /// The frame that device motion was started with last; `xArbitraryZVertical` before.
  open var attitudeReferenceFrame: CMAttitudeReferenceFrame {
    CMAttitudeReferenceFrame(wishes.withLock { $0.settings.frame })
  }

  /// Whether the calibration prompt is shown, without anybody being asked, when device motion runs in a frame that uses
  /// the magnetometer and that needs a calibration. Who shows it is `LodestoneRuntime.calibrationPresenter`.
  open var showsDeviceMovementDisplay: Bool {
    get { wishes.withLock { $0.showsMovementDisplay } }
    set {
      let settings = change { $0.showsMovementDisplay = newValue }
      if device.isActive { device.configure(settings) }
    }
  }

  /// The view, or another body, whose axes device motion is to be told in; `nil` by default. It is kept, as long as somebody
  /// else holds it: a board shows no views, and device motion is told in the axes of the board.
  open weak var deviceMotionBody: (any CMBodyIdentifiable)?

  /// Starts device motion against `xArbitraryZVertical`, for `deviceMotion`.
  open func startDeviceMotionUpdates() {
    startDeviceMotionUpdates(using: .xArbitraryZVertical)
  }

  /// Starts device motion against `xArbitraryZVertical`: `handler` is called on `queue` with each.
  open func startDeviceMotionUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMDeviceMotionHandler
  ) {
    startDeviceMotionUpdates(using: .xArbitraryZVertical, to: queue, withHandler: handler)
  }

  /// Starts device motion against a frame, for `deviceMotion`; nothing for none or several at once.
  open func startDeviceMotionUpdates(using referenceFrame: CMAttitudeReferenceFrame) {
    guard let frame = referenceFrame.frame else { return }
    device.start(change { $0.settings.frame = frame }, queue: nil, handler: nil)
  }

  /// Starts device motion against a frame: `handler` is called on `queue` with each.
  ///
  /// In a frame with north nothing comes before that is known, and the handler is told once what is missing:
  /// `CMErrorDeviceRequiresMovement` while the magnetometer has no calibration, `CMErrorTrueNorthNotAvailable` while
  /// nobody knows where the board is. A disturbed field does not stop it: the gyro holds north meanwhile, and
  /// `magneticField.accuracy` is low. None or several frames at once are `CMErrorInvalidParameter`.
  open func startDeviceMotionUpdates(
    using referenceFrame: CMAttitudeReferenceFrame, to queue: OperationQueue,
    withHandler handler: @escaping CMDeviceMotionHandler
  ) {
    guard let frame = referenceFrame.frame else {
      let refusal = Refusal(handler: handler)
      return queue.addOperation { refusal.tell() }
    }
    device.start(change { $0.settings.frame = frame }, queue: queue, handler: handler)
  }

  /// Stops device motion and lets go of queue and handler. Nothing if it is stopped.
  open func stopDeviceMotionUpdates() { device.stop() }

  // Unchecked: the handler is only ever called on the queue that its owner has named for it.
  private struct Refusal: @unchecked Sendable {
    let handler: CMDeviceMotionHandler

    func tell() {
      handler(
        nil,
        NSError(
          domain: CMErrorDomain, code: Int(CMErrorInvalidParameter.rawValue),
          userInfo: [NSLocalizedDescriptionKey: "one frame at a time"]))
    }
  }
}
