// The board of the daemon, for a command that shows it.

package import BoardFile
package import CalibrationCore
import Dispatch
import FoundationEssentials
import LinuxIO
package import LocationServices
package import Recording
import SensorHub
package import SensorTypes
import ServiceProtocol
package import StateStore
import Synchronization
import Threads

/// No daemon can be reached, or it cannot open its board.
package struct DaemonUnreachable: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message, in one line.
  package let description: String
  /// Whether it is a right that this user lacks.
  package let isRight: Bool
  /// Whether the daemon answers, and has not opened its board.
  package let hasNoBoard: Bool

  init(description: String, isRight: Bool = false, hasNoBoard: Bool = false) {
    (self.description, self.isRight, self.hasNoBoard) = (description, isRight, hasNoBoard)
  }
}

/// A daemon did not store a record.
package struct RecordRefused: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message, in one line.
  package let description: String
  /// Whether the disk is the reason.
  package let isFile: Bool
}

/// The board that a daemon owns.
///
/// It stays attached: after the daemon was started again, observations go on. The time in between is a loss.
package final class DaemonBoard: CalibrationBoard {
  /// The purpose of the positions that a command needs, for the prompt of the machine's owner.
  private static let usage = UsageDescriptions(whenInUse: "It shows what the board measures.")
  /// The number of seconds that an answer of the machine's owner is waited for.
  private static let longestWait = 120.0
  /// The time between two looks whether there is an answer, in seconds.
  private static let look = 0.1

  private let port: any RuntimeBackend
  private let positions: PositionLimit
  private let observer = Observer()
  private let client: ClientID
  private let known: Mutex<[SensorStatus]>
  private let folder: Mutex<String?>
  /// A copy of the records of the daemon, which goes with the board.
  private let copy: URL
  package let state: StateStore
  package let board: Board
  /// The name and the chips of the board, as they were at the beginning.
  package let summary: BoardDescription

  /// Attaches to the daemon that listens at a path.
  ///
  /// - Parameters:
  ///   - asks: Whether the machine's owner is asked about this program if the rules want that.
  ///   - isPatient: Whether an answer is waited for.
  /// - Throws: `DaemonUnreachable`, or an error if the process has no descriptor left.
  package convenience init(path: String, asks: Bool = true, isPatient: Bool = false) throws {
    let port = try DaemonPort(path: path, usage: Self.usage, limits: .owner)
    try self.init(
      port, name: "the daemon at \(path)", positions: .exact, asks: asks, isPatient: isPatient)
  }

  /// Attaches to services of the daemon in its own process, for somebody whom the kernel does not name.
  ///
  /// - Parameter positions: How much of the position is shown.
  package convenience init(of services: ProgramServices, positions: PositionLimit) throws {
    try self.init(
      services, name: "the daemon", positions: positions, asks: false, isPatient: false)
  }

  /// - Parameters:
  ///   - name: The daemon, for a message.
  ///   - asks: Whether the machine's owner is asked where the rules want that.
  private init(
    _ port: any RuntimeBackend, name: String, positions: PositionLimit, asks: Bool, isPatient: Bool
  ) throws {
    (self.port, self.positions) = (port, positions)
    let client = port.connect(observer)
    self.client = client
    if asks { port.send(ServiceRequest(client, .requestAuthorization(.whenInUse))) }
    if isPatient { _ = Self.authorization(port) }
    var isAttached = false
    // The services hold the client until it is released, and a board that was not made releases nothing.
    defer { if !isAttached { port.send(ServiceRequest(client, .release)) } }
    guard let report = port.ask(.board) else {
      var reason = "\(name) does not answer"
      if case .away(let why) = port.connection { reason = why }
      throw DaemonUnreachable(description: "\(reason); --board opens a board without the daemon")
    }
    guard let board = report.board else {
      throw DaemonUnreachable(
        description: "the daemon cannot open its board: \(report.problem ?? "it does not say why")",
        hasNoBoard: true)
    }
    summary = board
    known = Mutex(report.sensors)
    folder = Mutex(nil)
    do {
      self.board = try CBORDecoder.decode(Board.self, from: report.file ?? [])
    } catch {
      throw DaemonUnreachable(
        description: "the daemon is of another version than this command: restart it")
    }
    copy = FileManager.default.temporaryDirectory.appending(
      path: "lodestone-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString.prefix(8))")
    state = StateStore(folder: copy)
    isAttached = true
  }

  deinit {
    port.send(ServiceRequest(client, .release))
    try? FileManager.default.removeItem(at: copy)
  }

  package var sensors: [SensorStatus] {
    guard let report = port.ask(.board), report.board != nil else { return known.withLock { $0 } }
    known.withLock { $0 = report.sensors }
    return report.sensors
  }

  package var isShared: Bool { true }

  /// The location services of the daemon for this program.
  var services: any ServicePort { port }
  /// The state of the connection to the daemon.
  var connection: ServiceConnection { port.connection }

  /// The process of the daemon, or `nil` if none answers.
  package var process: Int32? { port.ask(.daemon)?.process }

  /// The reason why the program may not know the position, as far as the daemon says one.
  package var positionProblem: String? {
    guard access != .full else { return nil }
    return port.ask(.program)?.authorizationProblem
      ?? "the owner of this machine allows \(access == .reduced ? "a reduced position only" : "none")"
  }

  package func begin(_ demand: Demand, _ handler: @escaping @Sendable (Observation) -> Void) {
    begin(BoardRequest(demand, positions: positions), handler, nil)
  }

  package func begin(
    _ demand: Demand, readings: @escaping @Sendable (SensorReading) -> Void,
    _ handler: @escaping @Sendable (Observation) -> Void
  ) { begin(BoardRequest(demand, hasReadings: true, positions: positions), handler, readings) }

  private func begin(
    _ request: BoardRequest, _ handler: @escaping @Sendable (Observation) -> Void,
    _ readings: (@Sendable (SensorReading) -> Void)?
  ) {
    observer.set(handler, readings)
    port.send(ServiceRequest(client, .observe(request)))
  }

  /// Calls a closure when what the program may know of the position has changed, before any observation of that. It must return at once.
  package func onAccessChange(_ handler: @escaping @Sendable () -> Void) {
    observer.setAccess(handler)
  }

  package func end() {
    port.send(ServiceRequest(client, .observe(nil)))
    observer.set(nil, nil)
  }

  package func now() -> Timestamp { RuntimeClocks.system.now() }

  package var clock: ClockReading { clock(at: now()) }

  package func clock(at time: Timestamp) -> ClockReading {
    // As `RuntimeClocks.reading` does it.
    let isSet = LinuxBusProvider().isWallTimeSet
    return ClockReading(seconds: port.wallTime(of: time), isSet: isSet)
  }

  package func demandExactPosition(_ what: String) throws(PositionNotAuthorized) {
    let report = authorization
    guard report.isGranted else { throw refusal(what) }
    guard report.accuracy == .full else {
      throw PositionNotAuthorized(
        description: "\(what), and this program is authorized for reduced accuracy only")
    }
  }

  package func demandPosition(_ what: String) throws(PositionNotAuthorized) {
    guard authorization.isGranted else { throw refusal(what) }
  }

  package var access: PositionAccess {
    let report = authorization
    guard report.isGranted else { return .withheld("the owner of this machine does not allow it") }
    return report.accuracy == .full ? .full : .reduced
  }

  // MARK: Recordings

  /// Begins a recording of every transfer on the buses of the board.
  ///
  /// - Throws: `PositionNotAuthorized`, `DaemonUnreachable` if the daemon does not record for this program, or what the sink throws.
  package func beginRecording(_ sink: @escaping TraceSink) throws -> DaemonRecording {
    if board.hasReceiver { try demandExactPosition("a recording holds where the board is") }
    guard let status = port.ask(.daemon) else {
      throw DaemonUnreachable(description: "the daemon does not say where recordings come from")
    }
    // Who may see the programs is the owner's.
    guard status.programs != nil else {
      throw DaemonUnreachable(
        description:
          "this user may not record the board: 'agents' in serve.yaml does not name it",
        isRight: true)
    }
    guard let stream = status.stream else {
      throw DaemonUnreachable(
        description:
          "the daemon serves no stream, so that it cannot be recorded: 'stream' in serve.yaml")
    }
    return try DaemonRecording(path: stream, sink: sink)
  }

  // MARK: Records

  package var recordFolder: String? { folder.withLock { $0 } }

  /// Fetches the records of the daemon.
  ///
  /// - Throws: `DaemonUnreachable` if this user may not calibrate, or the daemon cannot store records.
  package func fetchRecords() throws {
    guard let answer = port.ask(.records) else {
      throw DaemonUnreachable(description: "the daemon does not say which records it has")
    }
    if let problem = answer.problem {
      throw DaemonUnreachable(description: problem, isRight: answer.isRefused)
    }
    folder.withLock { $0 = answer.folder }
    let store = state.calibrations
    for sensor in board.sensors {
      for kind in CalibrationKind.allCases {
        let file = store.file(CalibrationKey(kind, sensor))
        guard let text = answer.files[file.lastPathComponent] else { continue }
        try StateFile.write(Array(text.utf8), to: file)
      }
    }
    if let place = answer.place {
      try state.save(
        LastPosition(
          latitude: place.latitude, longitude: place.longitude, altitude: place.altitude,
          utc: place.utc))
    }
  }

  package func rehearseSave(of key: CalibrationKey) throws {}

  package func save(
    _ record: StoredRecord, samples: CalibrationSamples?, overridingLock: Bool
  ) throws {
    let save = RecordSave(
      record: String(decoding: try record.encoded(), as: UTF8.self),
      samples: samples.map { String(decoding: $0.encoded(), as: UTF8.self) },
      overridesLock: overridingLock)
    switch port.ask(.saveRecord(save)) {
    case .saved?: return
    case .withoutSamples(let reason)?: throw CalibrationStore.SamplesNotKept(reason: reason)
    case .refused(let reason, let isFile)?:
      throw RecordRefused(description: "the daemon: \(reason)", isFile: isFile)
    case nil: throw DaemonUnreachable(description: "the daemon does not say whether it is stored")
    }
  }

  /// The authorization, once nobody is being asked any more.
  private var authorization: AuthorizationReport { Self.authorization(port) }

  private static func authorization(_ port: any RuntimeBackend) -> AuthorizationReport {
    let end = RuntimeClocks.system.now().advanced(bySeconds: longestWait)
    while true {
      let report = port.ask(.authorization)
      guard report.isBeingAsked, RuntimeClocks.system.now() < end else { return report }
      SystemThread.sleep(seconds: look)
    }
  }

  private func refusal(_ what: String) -> PositionNotAuthorized {
    let problem = port.ask(.program)?.authorizationProblem
    return PositionNotAuthorized(
      description: "\(what): \(problem ?? "the owner of this machine does not allow it"). "
        + "lodestone authorization shows the rules")
  }
}

/// Passes observations on, and losses of the daemon as losses of what it observes.
private final class Observer: ServiceClient {
  // The closure stands in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Passing: Sendable {
    var pass: (@Sendable (Observation) -> Void)?
    var readings: (@Sendable (SensorReading) -> Void)?
    var access: (@Sendable () -> Void)?
  }

  private let passing = Mutex(Passing())

  func set(
    _ handler: (@Sendable (Observation) -> Void)?, _ readings: (@Sendable (SensorReading) -> Void)?
  ) { passing.withLock { ($0.pass, $0.readings) = (handler, readings) } }

  func setAccess(_ handler: @escaping @Sendable () -> Void) {
    passing.withLock { $0.access = handler }
  }

  func post(_ content: EventContent) -> Int {
    let passing = passing.withLock { $0 }
    if case .authorization = content { passing.access?() }
    guard let pass = passing.pass else { return 0 }
    switch content {
    case .reading(let reading): passing.readings?(reading)
    case .observation(let observation): pass(observation)
    case .failure(let failure):
      let (reason, now) = (NoData.sensorLost(failure.reason), RuntimeClocks.system.now())
      switch failure.service {
      case .heading: pass(.headingUnavailable(reason, at: now))
      case .location: pass(.locationUnavailable(reason, at: now))
      case .altitude: pass(.altitudeUnavailable(reason, at: now))
      case .deviceMotion:
        for sensor in MotionSensor.allCases {
          pass(.motionUnavailable(sensor, reason, at: now))
        }
        pass(.wavesUnavailable(reason, at: now))
      default: break
      }
    default: break
    }
    return 0
  }

  func applicationChanged(isSuspended: Bool) {}
}
