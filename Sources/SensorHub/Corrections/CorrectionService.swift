import BoardFile
import SensorBus
import SensorTypes
import Synchronization

/// The corrections of one receiver, between the thread that fetches them and the one that reads the receiver.
final class CorrectionService: Sendable {
  private struct State {
    var fix: GNSSFix?
    var isWanted = false
    var status: CorrectionStatus
  }

  /// The receiver's place in the board file, its name with its place for messages, where it is reached, and its bus.
  let sensor: Int
  let name: String
  let place: String
  let bus: String
  /// Whether it is on I2C, where a transfer may not be acknowledged.
  let isOnI2C: Bool
  let source: CorrectionSource
  let feed = CorrectionFeed()
  private let state: Mutex<State>
  private let run = Mutex<(any BusRun)?>(nil)

  private init(_ index: Int, _ sensor: Board.Sensor, _ source: CorrectionSource) {
    self.sensor = index
    name = "\(sensor.chip) at \(sensor.attachment)"
    place = sensor.attachment.description
    bus = sensor.attachment.bus
    if case .i2c = sensor.attachment { isOnI2C = true } else { isOnI2C = false }
    self.source = source
    state = Mutex(State(status: CorrectionStatus(source: source.description)))
  }

  /// One for each receiver of a board that gets corrections.
  static func services(for board: Board) -> [CorrectionService] {
    board.sensors.enumerated().compactMap { index, sensor in
      sensor.corrections.map { CorrectionService(index, sensor, $0) }
    }
  }

  /// How the corrections are doing.
  var status: CorrectionStatus {
    get { state.withLock { $0.status } }
    set { state.withLock { $0.status = newValue } }
  }

  /// What the thread that fetches them needs to know: the newest fix, and whether corrections are of use.
  var wish: (fix: GNSSFix?, isWanted: Bool) { state.withLock { ($0.fix, $0.isWanted) } }

  func started(_ run: any BusRun) { self.run.withLock { $0 = run } }

  /// Takes what the receiver's thread has brought.
  func take(_ delivery: WorkerOutput) {
    switch delivery {
    case .fix(sensor, let fix):
      let isFirst = state.withLock { state in
        defer { state.fix = fix }
        return state.fix?.latitude == nil && fix.latitude != nil
      }
      if isFirst { wake() }
    case .status(let status) where status.index == sensor:
      feed.setOpen(status.state == .running)
      let hasChanged = state.withLock { state in
        let before = state.isWanted
        switch status.state {
        case .running: state.isWanted = true
        case .idle: (state.isWanted, state.fix) = (false, nil)
        // A receiver that is lost comes back, and the connection with it.
        case .starting, .failed: break
        }
        return state.isWanted != before
      }
      if hasChanged { wake() }
    default: break
    }
  }

  private func wake() { run.withLock { $0 }?.wake() }
}
