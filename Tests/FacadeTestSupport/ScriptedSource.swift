// A board that says what a test lets it say, and the values for it.

package import BoardFile
import BoardTestSupport
import Dispatch
package import Lodestone
package import SensorTypes
package import StateStore
import LinearAlgebra
import Synchronization

/// A source without hardware: `publish` speaks to whoever has subscribed, on the caller's thread.
package final class ScriptedSource: ObservationSource {
  private final class Subscription: ObservationSubscription {
    let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    func cancel() { end() }
  }

  private struct State {
    var handlers: [Int: @Sendable (Observation) -> Void] = [:]
    var subscriptions = 0
    var demands: [Demand] = []
    var board: Board?
    var sensors: [SensorStatus] = []
    var calibrations: CalibrationStore?
    var readings: [Int: @Sendable (SensorReading) -> Void] = [:]
  }

  /// What the board says it has.
  package let capabilities: HardwareCapabilities
  private let state = Mutex(State())
  private let demandWasSet = DispatchSemaphore(value: 0)
  private let subscriptionHasEnded = DispatchSemaphore(value: 0)
  let barrier = Barrier()

  /// Makes a board that has everything, or what is said.
  package init(
    capabilities: HardwareCapabilities = HardwareCapabilities(
      heading: true, location: true, relativeAltitude: true)
  ) {
    self.capabilities = capabilities
  }

  /// Says what the board is made of, and how its sensors are doing.
  package func set(_ board: Board, _ sensors: [SensorStatus]) {
    state.withLock { ($0.board, $0.sensors) = (board, sensors) }
  }

  package var board: Board? { state.withLock { $0.board } }
  package var sensors: [SensorStatus] { state.withLock { $0.sensors } }

  /// Where the board's records are.
  package var calibrations: CalibrationStore? {
    get { state.withLock { $0.calibrations } }
    set { state.withLock { $0.calibrations = newValue } }
  }

  package func subscribe(
    readings handler: @escaping @Sendable (SensorReading) -> Void
  ) -> (any ObservationSubscription)? {
    let id = state.withLock { state in
      state.subscriptions += 1
      state.readings[state.subscriptions] = handler
      return state.subscriptions
    }
    return Subscription { [weak self] in self?.state.withLock { $0.readings[id] = nil } }
  }

  /// Whether somebody asks for the samples of the chips.
  package var hasReaders: Bool { state.withLock { !$0.readings.isEmpty } }

  package func publish(_ reading: SensorReading) {
    for handler in state.withLock({ Array($0.readings.values) }) { handler(reading) }
  }

  /// Every demand that was set, in order.
  package var demands: [Demand] {
    barrier()
    return state.withLock { $0.demands }
  }

  package var listeners: Int {
    barrier()
    return state.withLock { $0.handlers.count }
  }

  /// Waits until nobody listens, ten seconds at most; returns whether nobody does.
  package func waitsUntilUnheard() -> Bool {
    while listeners > 0 {
      guard subscriptionHasEnded.wait(timeout: .now() + 10) == .success else { return false }
    }
    return true
  }

  package func publish(_ observation: Observation) {
    // What was asked for before this is to be asked for.
    barrier()
    for handler in state.withLock({ Array($0.handlers.values) }) { handler(observation) }
    barrier()
  }

  package func subscribe(
    _ handler: @escaping @Sendable (Observation) -> Void
  ) -> any ObservationSubscription {
    let id = state.withLock { state in
      state.subscriptions += 1
      state.handlers[state.subscriptions] = handler
      return state.subscriptions
    }
    return Subscription { [weak self] in
      self?.state.withLock { $0.handlers[id] = nil }
      self?.subscriptionHasEnded.signal()
    }
  }

  package func setDemand(_ demand: Demand) {
    state.withLock { $0.demands.append(demand) }
    demandWasSet.signal()
  }

  /// Waits until a demand is the newest, so many seconds at most; returns whether it is.
  package func waits(for demand: Demand, atMost seconds: Double = 10) -> Bool {
    waits(atMost: seconds) { $0 == demand }
  }

  /// Waits until the newest demand is one that is wanted.
  package func waits(atMost seconds: Double = 10, until isWanted: (Demand) -> Bool) -> Bool {
    while !(state.withLock { $0.demands }.last.map(isWanted) ?? false) {
      guard demandWasSet.wait(timeout: .now() + seconds) == .success else { return false }
    }
    return true
  }

  /// Waits on a separate thread until a task has asked for this demand, at most 300 s. The task needs a high priority:
  /// with the default one it is queued behind all the tests that compute.
  package func hears(_ demand: Demand) async -> Bool {
    await onThread { self.waits(for: demand, atMost: 300) }
  }
}

extension Observation {
  /// A fix at a place.
  package static func location(
    _ latitude: Double, _ longitude: Double, accuracy: Double = 5, at seconds: Double = 0,
    utc: Double? = nil, isSimulated: Bool = false
  ) -> Observation {
    var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: .threeDimensional)
    fix.latitude = latitude
    fix.longitude = longitude
    fix.horizontalAccuracy = accuracy
    fix.utc = utc
    return .location(LocationEstimate(fix: fix, isSimulated: isSimulated))
  }

  /// The heading of a board that lies flat, its accuracy 2 degrees unless there is a reason against it.
  package static func heading(
    degrees: Double, at seconds: Double = 0, declination: Double? = nil, reason: NoData? = nil,
    calibration: UInt32? = nil
  ) -> Observation {
    let heading = degrees * .pi / 180
    return .heading(
      HeadingEstimate(
        time: Timestamp(seconds: seconds), magneticHeading: heading,
        accuracy: reason == nil ? 2 * .pi / 180 : nil,
        trueHeading: declination.map { heading + $0 * .pi / 180 },
        declination: declination.map { $0 * .pi / 180 }, reason: reason,
        field: Vector3(1, 20, -43),
        attitude: Quaternion(rotationVector: Vector3(0, 0, -heading)),
        fieldCheck: FieldCheck(
          measured: FieldShape(strength: 47.4), calibration: calibration)))
  }

  /// An altitude of the barometer's run.
  package static func altitude(
    _ metres: Double, at seconds: Double, pascals: Double = 101_325
  ) -> Observation {
    .altitude(
      AltitudeEstimate(
        time: Timestamp(seconds: seconds), relativeAltitude: metres, relativeAccuracy: 0.1,
        pressure: pascals))
  }
}
