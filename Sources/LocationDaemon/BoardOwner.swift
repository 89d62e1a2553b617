// One board that several programs share. A program's seat behaves like a board of its own.

import BoardFile
import LocationServices
package import Lodestone
import Recording
import SensorHub
package import SensorTypes
import StateStore
import Synchronization

/// The owner of a board that several programs share.
///
/// The board is opened with the first seat that needs it, and asked for what all seats together ask for. Observations go to all
/// seats, in order, on the thread that publishes them.
package final class BoardOwner: Sendable {
  /// Calls a closure that hands an observation to all programs.
  package typealias Gather = @Sendable (_ publish: () -> Void) -> Void

  // A mutex gets this and the next closure in a struct: Swift 6.0 dies when it optimises one that a mutex holds bare.
  private struct Gathering: Sendable { var gather: Gather? }

  private struct Member: Sendable {
    var demand = Demand()
    var handler: (@Sendable (Observation) -> Void)?
    var progress: (@Sendable (CalibrationProgress) -> Void)?
    var readings: (@Sendable (SensorReading) -> Void)?
  }

  private struct State: Sendable {
    var source: (any ObservationSource)?
    var subscriptions: [any ObservationSubscription] = []
    var members: [UInt64: Member] = [:]
    var lastID: UInt64 = 0
    var demand = Demand()
    var standing = StandingObservations()
    /// There only while somebody asks for the samples of the chips.
    var readings: (any ObservationSubscription)?
    /// Why the board could not be opened. It stands here as well, because opening takes seconds.
    var failure: String?
  }

  private struct Opening: Sendable {
    var open: ProgramServices.Factory
    /// Why opening failed, and when.
    var failure: (error: any Error, time: Timestamp)?
  }

  /// The time after a failure in which no other attempt is made, in seconds: many programs may ask at once.
  private static let pause = 1.5

  private let gathering = Mutex(Gathering())
  private let said = Mutex(BoardMessages())
  private let opening: Mutex<Opening>
  private let clocks: RuntimeClocks
  /// Held while handlers are called, so that who subscribes meanwhile hears what stands before what is new.
  private let delivery = Mutex(())
  private let state = OrderedLock("the board owner's lock", State())

  /// Makes an owner that opens its board when it is needed.
  package init(clocks: RuntimeClocks = .system, open: @escaping ProgramServices.Factory) {
    opening = Mutex(Opening(open: open))
    self.clocks = clocks
  }

  deinit {
    for subscription in state.withLock({ $0.subscriptions }) { subscription.cancel() }
  }

  /// Returns a seat, and opens the board if need be, which may take seconds.
  ///
  /// - Throws: What opening the board throws. A call a little later tries again.
  package func seat() throws -> any ObservationSource {
    try open()
    return BoardSeat(
      owner: self,
      id: state.withLock { state in
        state.lastID += 1
        return state.lastID
      })
  }

  /// The number of seats with a subscription.
  package var memberCount: Int { state.withLock { $0.members.count { $0.value.handler != nil } } }

  package var isOpen: Bool { source != nil }

  /// The reason why the board could not be opened, in one line.
  package var failure: String? { state.withLock { $0.failure } }

  /// The state of the chips, in the order of the board file; empty while the board is not open.
  package var sensors: [SensorStatus] { source?.sensors ?? [] }

  /// Calls a closure with what the board has said of itself.
  package func withMessages<Result>(_ body: (inout BoardMessages) -> Result) -> Result {
    said.withLock { body(&$0) }
  }

  /// Opens the board if need be, which may take seconds.
  ///
  /// - Throws: What opening the board throws. A call a little later tries again.
  package func open() throws {
    // Two that come at once: the second one waits, and finds it open.
    try opening.withLock { opening in
      guard state.withLock({ $0.source == nil }) else { return }
      let now = clocks.now()
      if let (error, time) = opening.failure, now.seconds(since: time) < Self.pause { throw error }
      let source: any ObservationSource
      do {
        source = try opening.open()
      } catch {
        opening.failure = (error, clocks.now())
        state.withLock { $0.failure = String(describing: error) }
        throw error
      }
      opening.failure = nil
      state.withLock { $0.failure = nil }
      // The board's own position is kept: who may not know it is not told.
      source.setPositionIsOpen(true)
      state.withLock { $0.source = source }
      let subscriptions = [
        source.subscribe { [weak self] (observation: Observation) in self?.publish(observation) },
        source.subscribe(progress: { [weak self] progress in self?.publish(progress) }),
      ]
      state.withLock { $0.subscriptions = subscriptions.compactMap(\.self) }
    }
  }

  /// What calls the handlers of all programs for one observation.
  package var gather: Gather? {
    get { gathering.withLock { $0.gather } }
    set { gathering.withLock { $0.gather = newValue } }
  }

  private func publish(_ observation: Observation) {
    if case .diagnostic(let text, let time) = observation {
      withMessages { $0.take(text, at: time) }
    }
    // Sockets are written after the handlers' turn, so that a program that subscribes does not wait for them.
    if let gather { gather { deliver(observation) } } else { deliver(observation) }
  }

  private func deliver(_ observation: Observation) {
    delivery.withLock { _ in
      let handlers = state.withLock { state in
        // The end of a loss goes to all programs: for one that asks later the loss would stand.
        let isForAll = state.standing.take(observation)
        return state.members.values.compactMap { member in
          isForAll || member.demand.wants(observation) ? member.handler : nil
        }
      }
      for handler in handlers { handler(observation) }
    }
  }

  private func publish(_ progress: CalibrationProgress) {
    let handlers = state.withLock { $0.members.values.compactMap(\.progress) }
    for handler in handlers { handler(progress) }
  }

  private func publish(_ reading: SensorReading) {
    let handlers = state.withLock { $0.members.values.compactMap(\.readings) }
    for handler in handlers { handler(reading) }
  }

  // MARK: Seats

  fileprivate var source: (any ObservationSource)? { state.withLock { $0.source } }

  /// Adds a handler, which first hears what stands: a program that comes later must know as well what cannot be given.
  fileprivate func subscribe(_ id: UInt64, _ handler: @escaping @Sendable (Observation) -> Void) {
    delivery.withLock { _ in
      let standing = state.withLock { state in
        state.members[id, default: Member()].handler = handler
        return state.standing.observations
      }
      for observation in standing { handler(observation) }
    }
  }

  fileprivate func subscribe(
    _ id: UInt64, progress handler: @escaping @Sendable (CalibrationProgress) -> Void
  ) {
    state.withLock { $0.members[id, default: Member()].progress = handler }
  }

  fileprivate func subscribe(
    _ id: UInt64, readings handler: (@Sendable (SensorReading) -> Void)?
  ) {
    state.withLock { state in
      state.members[id]?.readings = handler
      let isWanted = state.members.values.contains { $0.readings != nil }
      guard isWanted != (state.readings != nil) else { return }
      state.readings?.cancel()
      state.readings =
        isWanted ? state.source?.subscribe(readings: { [weak self] in self?.publish($0) }) : nil
    }
  }

  fileprivate func setDemand(_ demand: Demand, of id: UInt64) {
    change { $0[id, default: Member()].demand = demand }
  }

  fileprivate func remove(_ id: UInt64) {
    subscribe(id, readings: nil)
    change { $0[id] = nil }
  }

  private func change(_ body: (inout [UInt64: Member]) -> Void) {
    // The demand is set under the lock, so that of two changes at once the later sum is the one that stays.
    state.withLock { state in
      body(&state.members)
      let demand = state.members.values.reduce(Demand()) { $0.merged(with: $1.demand) }
      guard demand != state.demand else { return }
      state.demand = demand
      state.source?.setDemand(demand)
    }
  }
}

/// A program's share of a board.
private final class BoardSeat: ObservationSource {
  private let owner: BoardOwner
  private let id: UInt64

  init(owner: BoardOwner, id: UInt64) { (self.owner, self.id) = (owner, id) }

  deinit { owner.remove(id) }

  func subscribe(
    _ handler: @escaping @Sendable (Observation) -> Void
  ) -> any ObservationSubscription {
    owner.subscribe(id, handler)
    return SeatSubscription(owner: owner, id: id)
  }

  func subscribe(
    progress handler: @escaping @Sendable (CalibrationProgress) -> Void
  ) -> (any ObservationSubscription)? {
    owner.subscribe(id, progress: handler)
    return SeatSubscription(owner: owner, id: id)
  }

  func setDemand(_ demand: Demand) { owner.setDemand(demand, of: id) }
  var capabilities: HardwareCapabilities {
    owner.source?.capabilities
      ?? HardwareCapabilities(heading: false, location: false, relativeAltitude: false)
  }
  func subscribe(
    readings handler: @escaping @Sendable (SensorReading) -> Void
  ) -> (any ObservationSubscription)? {
    owner.subscribe(id, readings: handler)
    return ReadingSubscription(owner: owner, id: id)
  }

  func beginRecording(_ sink: @escaping TraceSink) throws -> HubRecording? {
    try owner.source?.beginRecording(sink)
  }

  var board: Board? { owner.source?.board }
  var calibrations: CalibrationStore? { owner.source?.calibrations }
  var lastPosition: LastPosition? { owner.source?.lastPosition }
  var sensors: [SensorStatus] { owner.source?.sensors ?? [] }
  var receiverTap: ReceiverTap? { owner.source?.receiverTap }
  var knownAltitude: (store: KnownAltitudeStore, clock: ClockReading)? {
    owner.source?.knownAltitude
  }
}

private final class SeatSubscription: ObservationSubscription {
  private let owner: BoardOwner
  private let id: UInt64

  init(owner: BoardOwner, id: UInt64) { (self.owner, self.id) = (owner, id) }

  func cancel() { owner.remove(id) }
}

private final class ReadingSubscription: ObservationSubscription {
  private let owner: BoardOwner
  private let id: UInt64

  init(owner: BoardOwner, id: UInt64) { (self.owner, self.id) = (owner, id) }

  func cancel() { owner.subscribe(id, readings: nil) }
}

/// What was said once and still stands: losses, and the states of sensors.
private struct StandingObservations: Sendable {
  private enum Kind: Hashable {
    case heading, location, altitude, waves
    case motion(MotionSensor)
    case sensor(Int)
  }

  private var latest: [Kind: Observation] = [:]

  /// Takes an observation. Returns whether what stood has changed by it.
  mutating func take(_ observation: Observation) -> Bool {
    switch observation {
    case .headingUnavailable: latest[.heading] = observation
    case .heading: return forget(.heading)
    case .locationUnavailable: latest[.location] = observation
    case .location: return forget(.location)
    case .altitudeUnavailable: latest[.altitude] = observation
    case .altitude: return forget(.altitude)
    case .motionUnavailable(let sensor, _, _): latest[.motion(sensor)] = observation
    case .motion(let estimate):
      // What speaks is not lost.
      var hasEnded = false
      if estimate.force?.time == estimate.time { hasEnded = forget(.motion(.accelerometer)) }
      if estimate.angularRate?.time == estimate.time {
        hasEnded = forget(.motion(.gyro)) || hasEnded
      }
      if estimate.field != nil { hasEnded = forget(.motion(.magnetometer)) || hasEnded }
      return hasEnded
    case .wavesUnavailable: latest[.waves] = observation
    case .waves: return forget(.waves)
    case .sensor(let status):
      latest[.sensor(status.index)] = observation
      if case .headingUnavailable(let reason, _) = latest[.heading], reason.ends(with: status) {
        latest[.heading] = nil
      }
    case .absoluteAltitude, .sky, .diagnostic: return false
    }
    return true
  }

  // Most observations find nothing to forget, and change nothing.
  private mutating func forget(_ kind: Kind) -> Bool {
    guard latest[kind] != nil else { return false }
    latest[kind] = nil
    return true
  }

  var observations: [Observation] { Array(latest.values) }
}

extension Demand {
  /// Whether an observation is for a program with this demand. Losses, news of sensors and positions are for all programs,
  /// since a program may ask at any time where it was last.
  fileprivate func wants(_ observation: Observation) -> Bool {
    switch observation {
    case .heading: heading
    case .altitude: altitude
    case .sky: satellites
    case .motion: motion.isAny
    case .waves: waves
    case .location, .locationUnavailable, .absoluteAltitude, .headingUnavailable,
      .altitudeUnavailable, .motionUnavailable, .wavesUnavailable, .sensor, .diagnostic:
      true
    }
  }
}
