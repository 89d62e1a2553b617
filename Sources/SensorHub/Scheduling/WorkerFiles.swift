import BoardFile
import CalibrationCore
import FoundationEssentials
import Recording
import SensorDrivers
import SensorTypes
import StateStore

/// The stored files that one worker looks after: the records of its chips, and for the first worker the last
/// position and what a person has said of the board's height. Confined to its thread.
final class WorkerFiles {
  private struct Record {
    let kind: CalibrationKind
    let index: Int
    let sensor: Board.Sensor
    let file: MonitoredFile
    /// Whether its content was handed on before: what comes later was changed while the board runs.
    var isKnown = false
  }

  private var records: [Record]
  private let position: MonitoredFile?
  private let knownAltitude: MonitoredFile?
  private var knowsAltitude = false

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
        let file = store.calibrations.file(CalibrationKey(kind, sensor))
        return Record(
          kind: kind, index: index, sensor: sensor,
          file: MonitoredFile(number: first + index, path: file.path))
      }
    }
    records =
      files(.magnetometer, of: [.magnetometer], from: 0)
      + files(.gyro, of: [.inertial], from: boardSize + 1)
      + files(.level, of: [.inertial, .accelerometer], from: 2 * boardSize + 1)
    position =
      looksAfterBoard
      ? MonitoredFile(number: boardSize, path: store.positionFile.path, isReadOnce: true)
      : nil
    knownAltitude =
      looksAfterBoard
      ? MonitoredFile(number: 3 * boardSize + 1, path: store.knownAltitude.file.path)
      : nil
  }

  /// The files, for a monitor of them.
  var files: [MonitoredFile] {
    records.map(\.file) + [position, knownAltitude].compactMap { $0 }
  }

  /// Hands on what is new. The position is read once: later ones are this run's own.
  func take(_ port: WorkerPort, at now: Timestamp, into outbox: inout [WorkerOutput]) {
    guard port.hasNewFiles() else { return }
    for place in records.indices {
      let record = records[place]
      guard let content = content(of: record.file, port) else { continue }
      outbox.append(
        .record(KeptRecord(record.kind, of: record.index, record.sensor, in: content), at: now))
      if record.kind == .magnetometer, record.isKnown,
        let words = CalibrationStore.backgroundWords(content, for: record.sensor)
      {
        outbox.append(.diagnostic(words, at: now))
      }
      records[place].isKnown = true
    }
    if let content = content(of: knownAltitude, port) {
      let finding = KnownAltitudeStore.finding(content)
      outbox.append(.record(.altitude(finding, isFirst: !knowsAltitude), at: now))
      knowsAltitude = true
    }
    if let content = content(of: position, port), let last = LastPosition(content) {
      outbox.append(.record(.position(last), at: now))
    }
  }

  /// What is new in a file; `nil` where nothing is.
  private func content(of file: MonitoredFile?, _ port: WorkerPort) -> StateFileContent? {
    file.flatMap { port.newContent(of: $0.number) }.map(StateFileContent.init)
  }
}

/// A monitor's files as a worker takes them.
struct MonitoredFiles: StoredFileSource {
  let monitor: StateFileMonitor

  func request() { monitor.request() }
  func waitForFirstLook(within seconds: Double) { monitor.waitForFirstLook(within: seconds) }
  func takeNews() -> Bool { monitor.takeNews() }
  func take(_ number: Int) -> RecordedContent? { monitor.take(number).map(RecordedContent.init) }
}

extension RecordedContent {
  init(_ content: StateFileContent) {
    switch content {
    case .missing: self = .missing
    case .bytes(let bytes): self = .bytes(bytes)
    case .unreadable(let why): self = .unreadable(why)
    }
  }
}

extension StateFileContent {
  init(_ content: RecordedContent) {
    switch content {
    case .missing: self = .missing
    case .bytes(let bytes): self = .bytes(bytes)
    case .unreadable(let why): self = .unreadable(why)
    }
  }
}
