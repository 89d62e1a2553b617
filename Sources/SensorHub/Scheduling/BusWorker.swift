import Recording
import SensorBus
import SensorTypes
import Synchronization

/// The demand of all clients as the workers read it, at every step, without a lock.
final class DemandBox: Sendable {
  /// The wishes in the lowest two bytes, the interval of motion in the next two, the milliseconds from bit 32 on.
  private let bits = Atomic<UInt64>(0)

  var value: Demand {
    get {
      let bits = bits.load(ordering: .acquiring)
      return Demand(
        wishes: UInt16(truncatingIfNeeded: bits),
        milliseconds: UInt32(truncatingIfNeeded: bits >> 32),
        motionTenths: UInt16(truncatingIfNeeded: bits >> 16))
    }
    set {
      let bits =
        UInt64(newValue.milliseconds) << 32 | UInt64(newValue.motionTenths) << 16
        | UInt64(newValue.wishes)
      self.bits.store(bits, ordering: .releasing)
    }
  }
}

/// What a worker has told of a bus: one that takes its place goes on from there.
struct WorkerProgress: Sendable {
  var followsCourse = false
  var motion = MotionDemand()
  var waves = false
  /// Of each task.
  var counters: [SensorCounters] = []
}

/// Everything on one bus, stepped by the one thread that owns it.
final class BusWorker: BusWork {
  /// How often the system's date and the stored files are looked at, seconds.
  private static let lookInterval = 1.0
  /// The window of the bus load, seconds, and the share above which it is said.
  private static let loadWindow = 10.0
  private static let loadLimit = 0.6

  private let bus: String
  private let speed: Double?
  private let port: WorkerPort
  private let tasks: [(task: any WorkerTask, kind: DemandKind)]
  private let demand: DemandBox
  private let deliver: ([WorkerOutput], TraceBuffer) -> Void
  private var outbox: [WorkerOutput] = []
  private var followsCourse = false
  private var motion = MotionDemand()
  private var waves = false
  private let files: WorkerFiles
  private var nextLook = Timestamp(nanoseconds: .min)
  private var loadStart: Timestamp?
  private var loadWasSaid = false

  /// - Parameters:
  ///   - speed: The I2C clock in hertz; `nil` for a serial port.
  ///   - files: The stored files that the sensors of this bus use.
  ///   - old: What a worker before it on the same bus has told.
  ///   - deliver: Takes what a step brought, and its trace, before the next step begins.
  init(
    bus: String, speed: Double?, port: WorkerPort,
    tasks: [(task: any WorkerTask, kind: DemandKind)],
    files: WorkerFiles, demand: DemandBox, continuing old: WorkerProgress = WorkerProgress(),
    deliver: @escaping ([WorkerOutput], TraceBuffer) -> Void
  ) {
    self.bus = bus
    self.speed = speed
    self.port = port
    self.tasks = tasks
    self.files = files
    self.demand = demand
    self.deliver = deliver
    (followsCourse, motion, waves) = (old.followsCourse, old.motion, old.waves)
    for (place, (task, _)) in tasks.enumerated() where place < old.counters.count {
      task.resume(old.counters[place])
    }
    outbox.reserveCapacity(64)
  }

  /// What the worker has told so far, for one that takes its place.
  var progress: WorkerProgress {
    WorkerProgress(
      followsCourse: followsCourse, motion: motion, waves: waves,
      counters: tasks.map(\.task.status.counters))
  }

  func step() -> Timestamp {
    port.beginStep()
    outbox.removeAll(keepingCapacity: true)
    let now = port.now()
    let isLook = now >= nextLook
    if isLook { port.requestFiles(isFirst: nextLook.nanoseconds == .min) }
    files.take(port, at: now, into: &outbox)
    if isLook {
      nextLook = now.advanced(bySeconds: Self.lookInterval)
      let clock = port.wallTime()
      outbox.append(.wallTime(clock.seconds, isSet: clock.isSet, at: now))
      for (task, _) in tasks {
        outbox.append(.counters(sensor: task.status.index, task.status.counters))
      }
      watchLoad(now)
    }
    let demand = port.demand(self.demand.value)
    if demand.followsCourse != followsCourse {
      followsCourse = demand.followsCourse
      outbox.append(.followsCourse(followsCourse))
    }
    if demand.motion != motion {
      motion = demand.motion
      outbox.append(.motion(motion, at: now))
    }
    if demand.waves != waves {
      waves = demand.waves
      outbox.append(.waves(waves, at: now))
    }
    var due = nextLook
    for (task, kind) in tasks {
      task.setWanted(kind.isWanted(demand))
      task.setInterval(kind.interval(demand))
      task.setSatellitesWanted(demand.satellites)
    }
    for (task, _) in tasks {
      task.step(port, at: now, into: &outbox)
      due = min(due, task.due)
    }
    port.endStep()
    deliver(outbox, port.trace)
    return due
  }

  func forEachReadiness(_ body: (Readiness) -> Void) {
    for (task, _) in tasks { body(task.readiness) }
  }

  func finish() {
    for (task, _) in tasks { task.finish() }
  }

  private func watchLoad(_ now: Timestamp) {
    guard let speed else { return }
    guard let start = loadStart else {
      loadStart = now
      _ = port.takeBits()
      return
    }
    let window = now.seconds(since: start)
    guard window >= Self.loadWindow else { return }
    let load = Double(port.takeBits()) / (speed * window)
    loadStart = now
    if load > Self.loadLimit, !loadWasSaid {
      loadWasSaid = true
      let percent = Int((load * 100).rounded())
      outbox.append(
        .diagnostic(
          "\(bus) is busy \(percent) % of the time at \(Int(speed)) Hz: "
            + "lower the rates or raise the bus speed",
          at: now))
    }
  }
}

/// Which wish a sensor serves.
enum DemandKind {
  case heading
  case altitude
  case location
  /// The same, and which way the board points.
  case antennas
  /// Accelerometer and gyro serve heading, altitude and heave, and position where it is carried.
  case motion

  func isWanted(_ demand: Demand) -> Bool {
    switch self {
    case .heading: demand.heading || demand.motion.field
    case .altitude: demand.altitude
    case .location:
      demand.location || demand.satellites || (demand.heading && demand.followsCourse)
    case .antennas:
      demand.location || demand.satellites || demand.heading || demand.motion.attitude
    case .motion:
      demand.heading || demand.altitude || (demand.location && demand.carriesPosition)
        || demand.motion.samples || demand.motion.attitude || demand.waves
    }
  }

  /// Between two samples where motion serves altitude alone, seconds: what lifts a board takes tenths of a second.
  static let slowMotion = 0.02

  /// Seconds that may lie between two samples or epochs; `nil`: as the board file says.
  func interval(_ demand: Demand) -> Double? {
    switch self {
    case .altitude: nil
    case .heading: demand.heading || demand.motion.attitude ? nil : demand.motion.interval
    // A course that is heading has no time for less.
    case .location: demand.heading && demand.followsCourse ? nil : demand.locationInterval
    case .antennas:
      demand.heading || demand.motion.attitude ? nil : demand.locationInterval
    case .motion: Self.motionInterval(demand)
    }
  }

  // Attitude is turned by every sample, however seldom it is asked for.
  private static func motionInterval(_ demand: Demand) -> Double? {
    if demand.heading || demand.motion.attitude || demand.waves
      || (demand.location && demand.carriesPosition)
    {
      return nil
    }
    guard demand.motion.samples else { return demand.altitude ? slowMotion : nil }
    guard let interval = demand.motion.interval else { return nil }
    return demand.altitude ? min(interval, slowMotion) : interval
  }
}
