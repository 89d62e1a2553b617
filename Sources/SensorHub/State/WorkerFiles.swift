import Foundation
import SensorTypes

/// The stored files that one worker looks after: the calibrations of its magnetometers, and for the first
/// worker the last position. Confined to its thread.
final class WorkerFiles {
  private let calibrations: [(index: Int, sensor: Board.Sensor, watch: StateWatch)]
  private var position: StateWatch?
  private let positionIndex: Int

  /// - Parameters:
  ///   - sensors: The magnetometers of the worker, with their places in the board's list.
  ///   - store: Where the files are.
  ///   - positionIndex: The number of the position's file in a recording; `nil` for a worker that leaves it
  ///     to another one.
  init(
    magnetometers sensors: [(index: Int, sensor: Board.Sensor)], store: StateStore,
    positionIndex: Int?
  ) {
    calibrations = sensors.map { index, sensor in
      (index, sensor, StateWatch(path: store.calibrations.file(of: sensor).path))
    }
    position = positionIndex.map { _ in StateWatch(path: store.positionFile.path) }
    self.positionIndex = positionIndex ?? 0
  }

  /// Hands on what is new. The position is read once: later ones are this run's own.
  func look(_ port: Port, at now: Timestamp, into outbox: inout [Delivery]) {
    for (index, sensor, watch) in calibrations {
      guard let content = port.change(of: watch, index) else { continue }
      let finding = CalibrationStore.finding(content, for: sensor)
      outbox.append(.calibration(sensor: index, finding, at: now))
    }
    guard let watch = position else { return }
    position = nil
    if let content = port.change(of: watch, positionIndex), let last = LastPosition(content) {
      outbox.append(.lastPosition(last))
    }
  }
}
