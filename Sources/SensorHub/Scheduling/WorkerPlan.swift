import BoardFile
import Recording
import SensorDrivers
import SensorTypes
import StateStore

/// Which sensors one thread serves: all of one bus. A plan is a value; the worker is made on its thread.
struct WorkerPlan: Sendable {
  let index: Int
  let bus: String
  let speed: Double?
  let sensors: [(index: Int, sensor: Board.Sensor)]
  /// How many sensors the whole board has.
  let boardSize: Int

  /// One plan a bus, in the order of the board file.
  static func plans(for board: Board) -> [WorkerPlan] {
    var buses: [String] = []
    for sensor in board.sensors where !buses.contains(sensor.attachment.bus) {
      buses.append(sensor.attachment.bus)
    }
    return buses.enumerated().map { index, bus in
      let sensors = board.sensors.enumerated().filter { $0.element.attachment.bus == bus }
      let isOnI2C = sensors.contains {
        if case .i2c = $0.element.attachment { true } else { false }
      }
      return WorkerPlan(
        index: index, bus: bus, speed: isOnI2C ? board.busSpeeds[bus] ?? 100_000 : nil,
        sensors: sensors.map { ($0.offset, $0.element) }, boardSize: board.sensors.count)
    }
  }

  /// A thread's name: the last part of the path, of at most the kernel's 15 characters.
  var threadName: String { String((bus.split(separator: "/").last ?? "bus").suffix(15)) }

  func makeWorker(
    input: any WorkerInput, state: StateStore, demand: DemandBox,
    continuing old: WorkerProgress = WorkerProgress(),
    deliver: @escaping ([WorkerOutput], TraceBuffer) -> Void
  ) -> BusWorker {
    let tasks = sensors.map { index, sensor in SensorFactory.task(index: index, sensor: sensor) }
    // Whether a magnetometer is behind a bypass of its bus, a board file need not say: each waits for those there are.
    let hosts = tasks.enumerated().compactMap { place, entry in
      ChipCatalog.chip(named: sensors[place].sensor.chip)?.opensBypass == true
        ? entry.task as? SensorTask : nil
    }
    for case (let task as SensorTask, .heading) in tasks { task.wait(for: hosts) }
    return BusWorker(
      bus: bus, speed: speed, port: WorkerPort(input), tasks: tasks,
      files: files(in: state), demand: demand, continuing: old, deliver: deliver)
  }

  /// The stored files that this worker uses.
  func files(in state: StateStore) -> WorkerFiles {
    // One worker is enough for files that belong to no chip.
    WorkerFiles(
      sensors: sensors, boardSize: boardSize, store: state, looksAfterBoard: index == 0)
  }
}
