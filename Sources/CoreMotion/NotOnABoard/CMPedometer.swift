// Steps, which a board does not count: so that code that asks for them compiles, and is told so.

public import Foundation

/// Takes counted steps, or the reason why there are none: on a board always the latter.
public typealias CMPedometerHandler = (CMPedometerData?, (any Error)?) -> Void

/// Takes the beginning or the end of a pause, or the reason why there is none: on a board always the latter.
public typealias CMPedometerEventHandler = (CMPedometerEvent?, (any Error)?) -> Void

/// Steps of a time. A board counts none; it is there for code that handles them, and for subclasses.
open class CMPedometerData: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change; unchecked because the class is open, as the SDK's is.

  /// The beginning of the time, in a subclass; the distant past on a board.
  open var startDate: Date { .distantPast }
  /// The end of the time, in a subclass; the distant past on a board.
  open var endDate: Date { .distantPast }
  /// Steps, in a subclass; 0 in the time that is none on a board.
  open var numberOfSteps: NSNumber { 0 }
  /// Metres, in a subclass; `nil` on a board.
  open var distance: NSNumber? { nil }
  /// Storeys up, in a subclass; `nil` on a board.
  open var floorsAscended: NSNumber? { nil }
  /// Storeys down, in a subclass; `nil` on a board.
  open var floorsDescended: NSNumber? { nil }
  /// Seconds a metre at the end, in a subclass; `nil` on a board.
  open var currentPace: NSNumber? { nil }
  /// Steps a second at the end, in a subclass; `nil` on a board.
  open var currentCadence: NSNumber? { nil }
  /// Seconds a metre without the pauses, in a subclass; `nil` on a board.
  open var averageActivePace: NSNumber? { nil }

  /// No steps in no time, which is all that a board has. It is there for subclasses.
  public override init() { super.init() }

  /// Itself: on a board it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Yes, on a board too.
  open class var supportsSecureCoding: Bool { true }

  /// Writes nothing: on a board there is nothing in it.
  open func encode(with coder: NSCoder) {}

  /// Reads nothing: on a board there is nothing in it.
  public required init?(coder: NSCoder) { super.init() }
}

/// Whether somebody has stopped or gone on: told by no board.
public enum CMPedometerEventType: Int, Sendable {
  /// Stopped.
  case pause = 0
  /// Gone on.
  case resume = 1
}

/// The beginning or the end of a pause. A board makes none; it is there for code that handles them, and for subclasses.
open class CMPedometerEvent: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change; unchecked because the class is open, as the SDK's is.

  /// When, in a subclass; the distant past on a board.
  open var date: Date { .distantPast }
  /// Which of both, in a subclass; a pause on a board, where nobody has walked.
  open var type: CMPedometerEventType { .pause }

  /// A pause since ever, which is all that a board has. It is there for subclasses.
  public override init() { super.init() }

  /// Itself: on a board it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Yes, on a board too.
  open class var supportsSecureCoding: Bool { true }

  /// Writes nothing: on a board there is nothing in it.
  open func encode(with coder: NSCoder) {}

  /// Reads nothing: on a board there is nothing in it.
  public required init?(coder: NSCoder) { super.init() }
}

/// Counts steps. A board does not: what carries it has wheels as often as feet, and a count that nobody has checked would be made up.
open class CMPedometer: NSObject {
  /// A pedometer has no queue of its owner's: its handlers are called on this one, one after the other.
  private let queue: OperationQueue
  private let updates = UnavailableNotice()
  private let events = UnavailableNotice()

  /// Makes one that has started nothing, and counts nothing on a board.
  public override init() {
    queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    super.init()
  }

  /// Whether steps are counted: not on a board.
  open class func isStepCountingAvailable() -> Bool { false }
  /// Whether steps become metres: not on a board, where `CLLocation.distance(from:)` has them.
  open class func isDistanceAvailable() -> Bool { false }
  /// Whether storeys are counted: not on a board, where `CMAltimeter` has metres.
  open class func isFloorCountingAvailable() -> Bool { false }
  /// Whether there is a pace: not on a board, where `CLLocation.speed` has it.
  open class func isPaceAvailable() -> Bool { false }
  /// Whether there is a cadence: not on a board.
  open class func isCadenceAvailable() -> Bool { false }
  /// Whether pauses are told: not on a board.
  open class func isPedometerEventTrackingAvailable() -> Bool { false }

  /// Whether the application may know steps: on a board it may, but there are none.
  open class func authorizationStatus() -> CMAuthorizationStatus { .authorized }

  /// Asks for past steps: on a board `handler` is given `CMErrorMotionActivityNotAvailable`.
  open func queryPedometerData(
    from start: Date, to end: Date, withHandler handler: @escaping CMPedometerHandler
  ) { UnavailableNotice.answer(on: queue) { handler(nil, Self.error) } }

  /// Starts steps: on a board `handler` is given `CMErrorMotionActivityNotAvailable` once.
  open func startUpdates(from start: Date, withHandler handler: @escaping CMPedometerHandler) {
    updates.tell(on: queue) { handler(nil, Self.error) }
  }

  /// Stops steps: on a board the error is not told, where it was not yet.
  open func stopUpdates() { updates.forget() }

  /// Starts pauses: on a board `handler` is given `CMErrorMotionActivityNotAvailable` once.
  open func startEventUpdates(handler: @escaping CMPedometerEventHandler) {
    events.tell(on: queue) { handler(nil, Self.error) }
  }

  /// Stops pauses: on a board the error is not told, where it was not yet.
  open func stopEventUpdates() { events.forget() }

  private static var error: NSError {
    UnavailableNotice.error(CMErrorMotionActivityNotAvailable, "a board counts no steps")
  }
}
