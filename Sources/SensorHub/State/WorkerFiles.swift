import CalibrationCore
import Foundation
import SensorDrivers
import SensorTypes

/// The stored files that one worker looks after: the records of its chips, and for the first worker the last
/// position and what a person has said of the board's height. Confined to its thread.
final class WorkerFiles {
  private struct Record {
    let kind: CalibrationKind
    let index: Int
    let sensor: Board.Sensor
    let watch: StateWatch
    /// What tells the file from others in a recording.
    let number: Int
  }

  private let records: [Record]
  private var position: StateWatch?
  private let positionNumber: Int
  private let knownAltitude: StateWatch?
  private let knownAltitudeNumber: Int
  private var hasLooked = false

  /// - Parameters:
  ///   - sensors: The chips of the worker, with their places in the board's list.
  ///   - boardSize: How many chips the whole board has.
  ///   - store: Where the files are.
  ///   - looksAfterBoard: Whether this worker reads what is of no chip.
  init(
    sensors: [(index: Int, sensor: Board.Sensor)], boardSize: Int, store: StateStore,
    looksAfterBoard: Bool
  ) {
    // Numbers are part of recordings: a chip's own for its iron, then the position's, then the others in turn.
    func files(_ kind: CalibrationKind, of kinds: [ChipKind], from first: Int) -> [Record] {
      sensors.compactMap { index, sensor in
        guard let chip = ChipCatalog.chip(named: sensor.chip)?.kind, kinds.contains(chip) else {
          return nil
        }
        let file = store.calibrations.file(CalibrationStore.Key(kind, sensor))
        return Record(
          kind: kind, index: index, sensor: sensor, watch: StateWatch(path: file.path),
          number: first + index)
      }
    }
    positionNumber = boardSize
    records =
      files(.magnetometer, of: [.magnetometer], from: 0)
      + files(.gyro, of: [.inertial], from: boardSize + 1)
      + files(.level, of: [.inertial, .accelerometer], from: 2 * boardSize + 1)
    position = looksAfterBoard ? StateWatch(path: store.positionFile.path) : nil
    knownAltitudeNumber = 3 * boardSize + 1
    knownAltitude = looksAfterBoard ? StateWatch(path: store.knownAltitude.file.path) : nil
  }

  /// Hands on what is new. The position is read once: later ones are this run's own.
  func look(_ port: Port, at now: Timestamp, into outbox: inout [Delivery]) {
    for record in records {
      guard let content = port.change(of: record.watch, record.number) else { continue }
      let (index, sensor) = (record.index, record.sensor)
      switch record.kind {
      case .magnetometer:
        outbox.append(
          .calibration(
            sensor: index, CalibrationStore.finding(content, for: sensor), at: now))
        if hasLooked, let words = CalibrationStore.backgroundWords(content, for: sensor) {
          outbox.append(.diagnostic(words, at: now))
        }
      case .gyro:
        outbox.append(
          .gyroBias(
            sensor: index, CalibrationStore.gyroFinding(content, for: sensor), at: now))
      case .level:
        outbox.append(
          .level(sensor: index, CalibrationStore.levelFinding(content, for: sensor), at: now))
      }
    }
    if let watch = knownAltitude, let content = port.change(of: watch, knownAltitudeNumber) {
      outbox.append(
        .knownAltitude(KnownAltitudeStore.finding(content), isFirst: !hasLooked, at: now))
    }
    hasLooked = true
    guard let watch = position else { return }
    position = nil
    if let content = port.change(of: watch, positionNumber), let last = LastPosition(content) {
      outbox.append(.lastPosition(last))
    }
  }
}
