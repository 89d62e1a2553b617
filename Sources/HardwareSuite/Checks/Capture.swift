// What a board says while it is tested, with the moment at which it came.

import BoardFile
import SensorHub
import SensorTypes
import Synchronization

/// Keeps everything that a board says. Any thread may use it; what is one too many is counted, not kept.
final class Capture: Sendable {
  private struct State {
    var observations: [TimedArrival<Observation>] = []
    var readings: [[TimedArrival<SensorReading>]]
    var dropped = 0
  }

  /// Ten minutes of everything at full rates; a run that lasts longer forgets between its steps.
  private static let limit = 200_000

  // The handlers outlive this object by a call: they hold the box, not the capture.
  private final class Box: Sendable {
    let state: Mutex<State>
    init(sensors: Int) {
      state = Mutex(State(readings: Array(repeating: [], count: sensors)))
    }
  }

  private let box: Box
  private let stop: @Sendable () -> Void

  init(_ source: any TestedBoard, of board: Board, now: @escaping @Sendable () -> Timestamp) {
    let box = Box(sensors: board.sensors.count)
    self.box = box
    stop = source.listen(
      { observation in
        let time = now()
        box.state.withLock { state in
          guard state.observations.count < Self.limit else { return state.dropped += 1 }
          state.observations.append(TimedArrival(value: observation, time: time))
        }
      },
      readings: { reading in
        let time = now()
        box.state.withLock { state in
          guard state.readings.indices.contains(reading.sensor) else { return }
          guard state.readings[reading.sensor].count < Self.limit else { return state.dropped += 1 }
          state.readings[reading.sensor].append(TimedArrival(value: reading, time: time))
        }
      })
  }

  func end() { stop() }

  /// What could not be kept.
  var dropped: Int { box.state.withLock { $0.dropped } }

  var mark: StreamPosition {
    box.state.withLock {
      StreamPosition(observations: $0.observations.count, readings: $0.readings.map(\.count))
    }
  }

  /// Forgets all that came so far; marks from before are void.
  func forget() {
    box.state.withLock { state in
      state.observations.removeAll(keepingCapacity: true)
      for index in state.readings.indices {
        state.readings[index].removeAll(keepingCapacity: true)
      }
    }
  }

  /// What was published since a mark.
  func observations(since mark: StreamPosition) -> [TimedArrival<Observation>] {
    box.state.withLock { Array($0.observations.dropFirst(mark.observations)) }
  }

  /// What a chip measured since a mark.
  func readings(of sensor: Int, since mark: StreamPosition) -> [TimedArrival<SensorReading>] {
    box.state.withLock { Array($0.readings[sensor].dropFirst(mark.readings[sensor])) }
  }
}

/// A place in the stream: what came after it is asked for by it.
struct StreamPosition: Sendable {
  fileprivate let observations: Int
  fileprivate let readings: [Int]
}

/// Something and when it arrived here.
struct TimedArrival<Value: Sendable>: Sendable {
  let value: Value
  let time: Timestamp
}
