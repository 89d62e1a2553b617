// The counters of the sensors, for outputs that tell them.

import Dispatch
import SensorTypes
import Synchronization

/// The sensors with their counters of this moment.
///
/// Observations tell the states of sensors, but not that a counter rises. A bus that hangs answers late, so the board is asked on a
/// queue, once at a time.
final class SensorPoll: Sendable {
  /// The time in seconds after which the counters are asked for again.
  private static let interval = 5.0

  // The closure stands in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct State: Sendable {
    var ask: (@Sendable () -> [SensorStatus])?
    var newest: [SensorStatus] = []
    var asked: Timestamp?
    var isBusy = false
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "lodestone.sensors")

  init() {}

  /// Sets what asks the board, which may take seconds.
  func attach(_ ask: @escaping @Sendable () -> [SensorStatus]) { state.withLock { $0.ask = ask } }

  /// Returns what is known, and has it asked for again if it is old.
  ///
  /// - Parameter published: The states of the sensors as observations have told them, which are newer than the counters.
  func sensors(_ published: PublishedSensors, at now: Timestamp) -> [SensorStatus] {
    let (newest, ask) = state.withLock {
      state -> ([SensorStatus], (@Sendable () -> [SensorStatus])?) in
      let isOld = state.asked.map { now.seconds(since: $0) >= Self.interval } ?? true
      guard isOld, !state.isBusy, let ask = state.ask else { return (state.newest, nil) }
      (state.isBusy, state.asked) = (true, now)
      return (state.newest, ask)
    }
    if let ask {
      queue.async { [self] in
        let found = ask()
        state.withLock { ($0.newest, $0.isBusy) = (found, false) }
      }
    }
    var known = published
    for var status in newest {
      if let told = known[status.index], told.since > status.since { status.state = told.state }
      known[status.index] = status
    }
    return known.values.sorted { $0.index < $1.index }
  }

  /// Sensors by their place in the board file.
  typealias PublishedSensors = [Int: SensorStatus]
}
