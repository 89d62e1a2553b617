import SensorBus
import SensorTypes
import Synchronization

extension Demand {
  /// One bit a wish, as recordings keep them.
  var wishes: UInt8 {
    func bit(_ wish: Bool, _ value: UInt8) -> UInt8 { wish ? value : 0 }
    return bit(heading, 1) | bit(location, 2) | bit(altitude, 4) | bit(followsCourse, 8)
      | bit(carriesPosition, 16) | bit(satellites, 32)
  }

  /// The interval in milliseconds, as recordings keep it, a millisecond at least; 0: as fast as it goes.
  var milliseconds: UInt32 {
    guard let locationInterval, locationInterval > 0 else { return 0 }
    let rounded = (locationInterval * 1_000).rounded()
    return rounded < Double(UInt32.max) ? max(1, UInt32(rounded)) : .max
  }

  init(wishes: UInt8, milliseconds: UInt32) {
    self.init(
      heading: wishes & 1 != 0, location: wishes & 2 != 0,
      locationInterval: milliseconds > 0 ? Double(milliseconds) / 1_000 : nil,
      altitude: wishes & 4 != 0, followsCourse: wishes & 8 != 0,
      carriesPosition: wishes & 16 != 0, satellites: wishes & 32 != 0)
  }
}

/// The demand of all clients as the workers read it, at every step, without a lock.
final class DemandBox: Sendable {
  /// The wishes in the lowest byte, the milliseconds from bit 32 on.
  private let bits = Atomic<UInt64>(0)

  var value: Demand {
    get {
      let bits = bits.load(ordering: .acquiring)
      return Demand(
        wishes: UInt8(truncatingIfNeeded: bits),
        milliseconds: UInt32(truncatingIfNeeded: bits >> 32))
    }
    set {
      let bits = UInt64(newValue.milliseconds) << 32 | UInt64(newValue.wishes)
      self.bits.store(bits, ordering: .releasing)
    }
  }
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
  private let port: Port
  private let tasks: [(task: any WorkerTask, kind: DemandKind)]
  private let demand: DemandBox
  private let deliver: ([Delivery], TraceBuffer) -> Void
  private var outbox: [Delivery] = []
  private var followsCourse = false
  private let files: WorkerFiles
  private var nextLook = Timestamp(nanoseconds: .min)
  private var loadStart: Timestamp?
  private var loadWasSaid = false

  /// - Parameters:
  ///   - speed: The I2C clock in hertz; `nil` for a serial port.
  ///   - files: The stored files that the sensors of this bus use.
  ///   - deliver: Takes what a step brought, and its trace, before the next step begins.
  init(
    bus: String, speed: Double?, port: Port, tasks: [(task: any WorkerTask, kind: DemandKind)],
    files: WorkerFiles, demand: DemandBox, deliver: @escaping ([Delivery], TraceBuffer) -> Void
  ) {
    self.bus = bus
    self.speed = speed
    self.port = port
    self.tasks = tasks
    self.files = files
    self.demand = demand
    self.deliver = deliver
    outbox.reserveCapacity(64)
  }

  func step() -> Timestamp {
    port.beginStep()
    outbox.removeAll(keepingCapacity: true)
    let now = port.now()
    if now >= nextLook {
      nextLook = now.advanced(bySeconds: Self.lookInterval)
      files.look(port, at: now, into: &outbox)
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
  /// Accelerometer and gyro serve heading and altitude, and position where it is carried.
  case motion

  func isWanted(_ demand: Demand) -> Bool {
    switch self {
    case .heading: demand.heading
    case .altitude: demand.altitude
    case .location:
      demand.location || demand.satellites || (demand.heading && demand.followsCourse)
    case .motion:
      demand.heading || demand.altitude || (demand.location && demand.carriesPosition)
    }
  }

  /// Between two samples where motion serves altitude alone, seconds: what lifts a board takes tenths of a second.
  static let slowMotion = 0.02

  /// Seconds that may lie between two samples or epochs; `nil`: as the board file says.
  func interval(_ demand: Demand) -> Double? {
    switch self {
    case .heading, .altitude: nil
    // A course that is heading has no time for less.
    case .location: demand.heading && demand.followsCourse ? nil : demand.locationInterval
    case .motion:
      !demand.altitude || demand.heading || (demand.location && demand.carriesPosition)
        ? nil : Self.slowMotion
    }
  }
}
