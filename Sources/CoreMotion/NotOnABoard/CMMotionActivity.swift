// What somebody is doing, which a board does not know: so that code that asks for it compiles, and is told so.

public import Foundation

/// Takes an activity: never called on a board.
public typealias CMMotionActivityHandler = (CMMotionActivity?) -> Void

/// Takes past activities, or the reason why there are none: on a board always the latter.
public typealias CMMotionActivityQueryHandler = ([CMMotionActivity]?, (any Error)?) -> Void

/// How sure an activity is: of no use on a board, which tells none.
public enum CMMotionActivityConfidence: Int, Sendable {
  /// Not very.
  case low = 0
  /// Fairly.
  case medium = 1
  /// Very.
  case high = 2
}

/// What somebody is doing. A board makes none; it is there for code that handles them, and for subclasses.
open class CMMotionActivity: CMLogItem, @unchecked Sendable {
  /// How sure it is: low on a board, which knows nothing of it.
  open var confidence: CMMotionActivityConfidence { .low }
  /// Since when, in a subclass; the distant past on a board.
  open var startDate: Date { .distantPast }
  /// Whether it is not known what: false on a board, as all of them.
  open var unknown: Bool { false }
  /// Whether the device does not move: false on a board.
  open var stationary: Bool { false }
  /// Whether somebody walks: false on a board.
  open var walking: Bool { false }
  /// Whether somebody runs: false on a board.
  open var running: Bool { false }
  /// Whether it is in a vehicle: false on a board.
  open var automotive: Bool { false }
  /// Whether somebody cycles: false on a board.
  open var cycling: Bool { false }
}

/// Tells what somebody is doing. A board does not know: what it is carried by may be a boat, a drone or a hand.
open class CMMotionActivityManager: NSObject {
  /// Whether activities are known: not on a board.
  open class func isActivityAvailable() -> Bool { false }

  /// Whether the application may know activities: on a board it may, but there are none.
  open class func authorizationStatus() -> CMAuthorizationStatus { .authorized }

  /// Asks for past activities: on a board `handler` is given `CMErrorMotionActivityNotAvailable` on `queue`.
  open func queryActivityStarting(
    from start: Date, to end: Date, to queue: OperationQueue,
    withHandler handler: @escaping CMMotionActivityQueryHandler
  ) {
    UnavailableNotice.answer(on: queue) {
      handler(
        nil,
        UnavailableNotice.error(CMErrorMotionActivityNotAvailable, "a board knows of no activities")
      )
    }
  }

  /// Starts activities: on a board `handler`, which takes no error, is never called.
  open func startActivityUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMMotionActivityHandler
  ) {}

  /// Stops activities: nothing on a board.
  open func stopActivityUpdates() {}
}
