// How somebody's head moves, which a board does not know: so that code that asks for it compiles, and is told so.

public import Foundation

/// Hears that headphones come and go: on a board nobody calls it.
public protocol CMHeadphoneMotionManagerDelegate: NSObjectProtocol {
  /// Headphones have come: not called on a board.
  func headphoneMotionManagerDidConnect(_ manager: CMHeadphoneMotionManager)
  /// Headphones have gone: not called on a board.
  func headphoneMotionManagerDidDisconnect(_ manager: CMHeadphoneMotionManager)
}

extension CMHeadphoneMotionManagerDelegate {
  /// Does nothing: on a board nobody calls it.
  public func headphoneMotionManagerDidConnect(_ manager: CMHeadphoneMotionManager) {}
  /// Does nothing: on a board nobody calls it.
  public func headphoneMotionManagerDidDisconnect(_ manager: CMHeadphoneMotionManager) {}
}

/// Tells how headphones move. A board has none: its own motion is `CMMotionManager`'s.
open class CMHeadphoneMotionManager: NSObject {
  /// Takes a motion, or the reason why there is none: on a board always the latter.
  public typealias DeviceMotionHandler = (CMDeviceMotion?, (any Error)?) -> Void

  private let updates = UnavailableNotice()

  /// Who would hear that headphones come and go: nobody is told on a board. It is not held.
  open weak var delegate: (any CMHeadphoneMotionManagerDelegate)?

  /// Makes one that has started nothing, and has nothing to start on a board.
  public override init() { super.init() }

  /// Whether the application may know motions: on a board it may, but there are none.
  open class func authorizationStatus() -> CMAuthorizationStatus { .authorized }

  /// Whether headphones can tell: not on a board.
  open var isDeviceMotionAvailable: Bool { false }
  /// Whether they do: not on a board.
  open var isDeviceMotionActive: Bool { false }
  /// The latest motion: `nil` on a board.
  open var deviceMotion: CMDeviceMotion? { nil }
  /// Whether coming and going is told: not on a board.
  open var isConnectionStatusActive: Bool { false }

  /// Starts motions: nothing on a board.
  open func startDeviceMotionUpdates() {}

  /// Starts motions: on a board `handler` is given `CMErrorNotAvailable` once, on `queue`.
  open func startDeviceMotionUpdates(
    to queue: OperationQueue, withHandler handler: @escaping DeviceMotionHandler
  ) {
    updates.tell(on: queue) {
      handler(
        nil, UnavailableNotice.error(CMErrorNotAvailable, "a board has no headphones that tell"))
    }
  }

  /// Stops motions: on a board the error is not told, where it was not yet.
  open func stopDeviceMotionUpdates() { updates.forget() }

  /// Starts coming and going: nothing on a board.
  open func startConnectionStatusUpdates() {}
  /// Stops coming and going: nothing on a board.
  open func stopConnectionStatusUpdates() {}
}
