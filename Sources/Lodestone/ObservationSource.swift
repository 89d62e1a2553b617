// What the facades stand on, and the real one of it: a board that is open.

package import BoardFile
package import Recording
package import SensorHub
package import SensorTypes
package import StateStore
import Synchronization

/// Ends a subscription; letting go of it does not.
package protocol ObservationSubscription: AnyObject, Sendable {
  /// Ends the subscription; a call that is under way on another thread may still finish.
  func cancel()
}

/// What the facades stand on: the one hub of the process, or a stand-in in a test.
package protocol ObservationSource: Sendable {
  /// Calls `handler` with everything that is published, in order, until cancelled.
  ///
  /// `handler` returns at once: the thread that calls it may be a bus's, whose chips would have to wait.
  func subscribe(
    _ handler: @escaping @Sendable (Observation) -> Void
  ) -> any ObservationSubscription

  /// Calls `handler` with how far a calibration in use has come, until cancelled; `nil` where there is none to hear of.
  func subscribe(
    progress handler: @escaping @Sendable (CalibrationProgress) -> Void
  ) -> (any ObservationSubscription)?

  /// Says what all clients together ask for; what nobody asks for is put to sleep.
  func setDemand(_ demand: Demand)

  /// Says whether the program may know exactly where the board is: only then may a position be kept.
  func setPositionIsOpen(_ isOpen: Bool)

  /// Calls `handler` with the samples of the chips as they measure them, until cancelled. Returns `nil` for a source that has no chips.
  func subscribe(
    readings handler: @escaping @Sendable (SensorReading) -> Void
  ) -> (any ObservationSubscription)?

  /// The board as its file describes it; `nil` for a source that has no board.
  var board: Board? { get }

  /// Where the board was last, as it is stored; `nil` if that is not known.
  var lastPosition: LastPosition? { get }

  /// The calibration records of the board; `nil` for a source that stores none.
  var calibrations: CalibrationStore? { get }

  /// The state of the sensors, in the order of the board file.
  var sensors: [SensorStatus] { get }

  /// What the board really has, asked of the hardware.
  var capabilities: HardwareCapabilities { get }

  /// Begins a recording of every transfer on the buses. Each chip is set up again.
  ///
  /// - Returns: `nil` for a source that has no buses.
  /// - Throws: `Hub.RecordedAlready`, or what the sink throws.
  func beginRecording(_ sink: @escaping TraceSink) throws -> HubRecording?

  /// What the receivers send, byte by byte; `nil` for a source that has none, or that may not say exactly where the board is.
  var receiverTap: ReceiverTap? { get }

  /// Where what a person says of the board's height is kept, and the clock that dates it; `nil` where nothing is.
  var knownAltitude: (store: KnownAltitudeStore, clock: ClockReading)? { get }
}

extension ObservationSource {
  /// Nothing is kept anyway.
  package func setPositionIsOpen(_ isOpen: Bool) {}

  package var knownAltitude: (store: KnownAltitudeStore, clock: ClockReading)? { nil }
  package var receiverTap: ReceiverTap? { nil }

  package func subscribe(
    readings handler: @escaping @Sendable (SensorReading) -> Void
  ) -> (any ObservationSubscription)? { nil }

  package func beginRecording(_ sink: @escaping TraceSink) throws -> HubRecording? { nil }

  package var board: Board? { nil }
  package var calibrations: CalibrationStore? { nil }
  package var lastPosition: LastPosition? { nil }
  package var sensors: [SensorStatus] { [] }

  /// Nothing is calibrated in use.
  package func subscribe(
    progress handler: @escaping @Sendable (CalibrationProgress) -> Void
  ) -> (any ObservationSubscription)? { nil }
}

extension Hub.Subscription: ObservationSubscription {}

/// The hub of a session. It starts with the first subscription, so that nothing is said unheard.
package final class SessionSource: ObservationSource {
  private let session: Session
  private let isShared: Bool
  private let isStarted = Atomic<Bool>(false)

  /// Opens a board, which starts with the first subscription.
  ///
  /// - Parameters:
  ///   - board: Its name or path, or `nil` for the machine's own.
  ///   - isShared: Whether handlers are called on the publishing thread, because there may be many. Otherwise the thread of the bus calls
  ///     them.
  ///   - realtime: The real-time priority of the threads of the buses, or `nil` for none.
  package init(board: String? = nil, isShared: Bool = false, realtime: Int32? = nil) throws {
    // The engine withholds what the application may not know, which changes while it runs.
    session = try Session(board: board, access: .full, calibratesInUse: true, realtime: realtime)
    self.isShared = isShared
  }

  /// Makes a source of a session, which starts with the first subscription. What the session's program may not know of the position is
  /// withheld.
  init(_ session: Session) { (self.session, isShared) = (session, true) }

  deinit { session.hub.stop() }

  package func subscribe(
    _ handler: @escaping @Sendable (Observation) -> Void
  ) -> any ObservationSubscription {
    let hub = session.hub
    let subscription = isShared ? hub.subscribe(handler) : hub.subscribeOnBusThread(handler)
    if !isStarted.exchange(true, ordering: .acquiringAndReleasing) { hub.start() }
    return subscription
  }

  package func subscribe(
    progress handler: @escaping @Sendable (CalibrationProgress) -> Void
  ) -> (any ObservationSubscription)? { session.hub.subscribe(progress: handler) }

  package func setDemand(_ demand: Demand) { session.hub.setDemand(demand) }

  package func setPositionIsOpen(_ isOpen: Bool) {
    session.hub.setPositionIsOpen(isOpen && session.access == .full)
  }

  package func subscribe(
    readings handler: @escaping @Sendable (SensorReading) -> Void
  ) -> (any ObservationSubscription)? { session.hub.subscribe(readings: handler) }

  package func beginRecording(_ sink: @escaping TraceSink) throws -> HubRecording? {
    try session.beginRecording(sink)
  }

  package var board: Board? { session.board }

  package var calibrations: CalibrationStore? { session.state.calibrations }

  package var lastPosition: LastPosition? { session.state.lastPosition }

  package var sensors: [SensorStatus] { session.hub.status }

  package var receiverTap: ReceiverTap? { session.access == .full ? session.hub.receiverTap : nil }

  package var capabilities: HardwareCapabilities { session.hub.capabilities }

  package var knownAltitude: (store: KnownAltitudeStore, clock: ClockReading)? {
    (session.state.knownAltitude, session.clock)
  }
}
