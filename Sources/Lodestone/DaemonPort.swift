// The services of a daemon that owns the board, for the clients of this process.

import Dispatch
import Inboxes
import LinuxIO
package import LocationServices
import SensorBus
import SensorHub
package import SensorTypes
package import ServiceProtocol
import Synchronization
import Threads

/// The services that a daemon gives the clients of this process.
///
/// It connects by itself, and again after a loss. What the clients have asked for stands meanwhile; they hear failures.
package final class DaemonPort: RuntimeBackend {
  private let core: PortCore
  let diagnostics = DiagnosticLog()

  /// Connects to the daemon that listens at a path.
  ///
  /// - Parameters:
  ///   - usage: What the program needs positions for, in its own words.
  ///   - clocks: Makes wall times of timestamps.
  ///   - limits: The limits of what is sent and received.
  package init(
    path: String, usage: UsageDescriptions? = nil, clocks: RuntimeClocks = .system,
    limits: ProtocolLimits = ProtocolLimits()
  ) throws {
    core = try PortCore(path: path, usage: usage, clocks: clocks, limits: limits)
    let failure = SystemThread.start("daemon") { [core] in core.run() }
    guard failure == 0 else { throw BusError(.system, bus: path, errno: failure) }
  }

  deinit { core.stop() }

  /// The state of the connection.
  package var connection: ServiceConnection { core.state.withLock { $0.connection } }
  /// Locations that were dropped because their client did not take them; it only grows.
  package var droppedLocations: UInt64 { core.state.withLock { $0.dropped } }

  package func connect(_ client: any ServiceClient) -> ClientID {
    core.change { [core] state in
      state.lastID += 1
      let id = ClientID(rawValue: state.lastID)
      state.clients[id] = client
      if state.mode == .suspended { client.applicationChanged(isSuspended: true) }
      state.hear(state.end.send(ServiceRequest(id, .register)), core)
      return id
    }
  }

  package func send(_ request: ServiceRequest) {
    let client = core.change { state in
      let client = state.clients[request.client]
      state.hear(state.end.send(request), core)
      if request.action == .release { state.clients[request.client] = nil }
      return client
    }
    // A client that nobody else holds ends here, without a lock: what it holds may be the application's.
    withExtendedLifetime(client) {}
  }

  package func answer(_ question: ServiceQuestion) -> ServiceAnswer? { core.answer(question) }

  package func wallTime(of time: Timestamp) -> Double { core.clocks.wallTime(of: time) }

  package func note(_ line: String) { diagnostics.add(line) }

  var stage: PromptStage { core.stage }

  /// What the application is doing. The daemon and the clients are told.
  package var applicationState: ApplicationState {
    get { core.state.withLock { ApplicationState($0.mode) } }
    set { set(ApplicationMode(newValue)) }
  }

  private func set(_ mode: ApplicationMode) {
    core.change { state in
      let was = state.mode
      state.mode = mode
      state.end.set(mode)
      guard (mode == .suspended) != (was == .suspended) else { return }
      for client in state.clients.values {
        client.applicationChanged(isSuspended: mode == .suspended)
      }
    }
  }

  package var authorizationAgent: (any AuthorizationAgent)? {
    get { core.asking.agent }
    set { set(newValue, as: .program) }
  }

  /// Has an agent ask for the owner of the machine, if the daemon knows this user as one who may.
  package func serveOwner(_ agent: any AuthorizationAgent) { set(agent, as: .owner) }

  private func set(_ agent: (any AuthorizationAgent)?, as role: AgentRole) {
    // The old one goes outside of the locks: its `deinit` may call the runtime.
    let old = core.change { [core] state in
      state.end.set(agent: agent == nil ? nil : role)
      return core.asking.replace(by: agent)
    }
    withExtendedLifetime(old) {}
  }

  package func settleClients() {
    // What was published before arrives before an answer does.
    _ = core.answer(.authorization)
    for case let client as any SettlingClient in core.state.withLock({ Array($0.clients.values) }) {
      client.settle()
    }
  }
}

extension ApplicationState {
  package init(_ mode: ApplicationMode) {
    self =
      switch mode {
      case .foreground: .foreground
      case .background: .background
      case .suspended: .suspended
      }
  }
}

extension ApplicationMode {
  init(_ state: ApplicationState) {
    self =
      switch state {
      case .foreground: .foreground
      case .background: .background
      case .suspended: .suspended
      }
  }
}

/// What a port and its thread share; the thread must not hold the port, or it would never end.
private final class PortCore: Sendable {
  /// One who waits for an answer.
  final class Waiter: Sendable {
    let answered = DispatchSemaphore(value: 0)
    let answer = Mutex<ServiceAnswer?>(nil)
  }

  struct State: Sendable {
    var end: ProgramEnd
    var clients: [ClientID: any ServiceClient] = [:]
    var lastID: UInt64 = 0
    var mode = ApplicationMode.foreground
    var connection = ServiceConnection.connecting
    var dropped: UInt64 = 0
    var isStopping = false
    var hasAttempted = false
    /// Why the daemon, or this end, ends the connection.
    var farewell: String?
    var waiters: [UInt64: Waiter] = [:]
    /// The question about the authorization that every new daemon is asked, and the last client that existed when it was asked. Later
    /// clients hear newer reports, and must not hear this older one after them.
    var standing: (number: UInt64, last: UInt64)?

    /// Hands on what the daemon says, with the lock held: nothing but letter boxes is called.
    mutating func hear(_ incoming: [ProgramEnd.Incoming], _ core: PortCore) {
      for message in incoming {
        switch message {
        case .event(let event):
          dropped += UInt64(clients[event.client]?.post(event.content) ?? 0)
        case .answer(let number, .authorization(let report)) where number == standing?.number:
          for (id, client) in clients where id.rawValue <= standing?.last ?? 0 {
            _ = client.post(.authorization(report))
          }
        case .answer(let number, let answer): end(number, answer)
        case .unanswered(let number): end(number, nil)
        case .calibrationPrompt(let change):
          core.stage.take(change) { [weak core] in core?.state.withLock { _ in } }
        case .calibrationProgress(let progress): core.stage.update(progress)
        case .authorizationPrompt(let prompt, let client):
          core.asking.ask(prompt, of: client) { [weak core] reply in
            core?.change {
              $0.end.reply(to: prompt.number, reply?.answer, accuracy: reply?.accuracy)
            }
          }
        case .withdrawnPrompt(let number): core.asking.withdraw(number)
        case .greeted(let hello):
          connection = .connected(board: hello.board, version: hello.software)
          // It may be another one than the daemon before has given.
          standing = self.end.ask(.authorization).map { ($0, lastID) }
        case .farewell(let reason): farewell = reason.text()
        case .unusable(let reason): farewell = reason
        }
      }
    }

    private mutating func end(_ number: UInt64, _ answer: ServiceAnswer?) {
      guard let waiter = waiters.removeValue(forKey: number) else { return }
      waiter.answer.withLock { $0 = answer }
      waiter.answered.signal()
    }
  }

  /// The pauses between attempts to connect in seconds: a daemon that has just been restarted is found within half a second.
  private static let pauses = 0.05...0.5
  /// The age from which a lost connection counts as a good one, in seconds. The next attempt then follows soon.
  private static let trust = 5.0
  private static let readAtOnce = 65_536

  let path: String
  let clocks: RuntimeClocks
  let state: OrderedLock<State>
  let stage = PromptStage()
  let asking = AgentQueue()
  private let poller: Poller
  private let thread = Atomic<UInt>(0)
  /// Left with the end of the first attempt to connect.
  private let firstAttempt = DispatchGroup()

  init(
    path: String, usage: UsageDescriptions?, clocks: RuntimeClocks, limits: ProtocolLimits
  ) throws {
    (self.path, self.clocks) = (path, clocks)
    poller = try Poller()
    firstAttempt.enter()
    state = OrderedLock(
      "the daemon port's lock",
      State(
        end: ProgramEnd(software: LodestoneRuntime.version, usage: usage, limits: limits)),
      before: [stage.state])
  }

  func stop() {
    state.withLock { $0.isStopping = true }
    poller.wake()
  }

  /// Changes the state, and has what the daemon is to be told written.
  func change<Result>(_ body: (inout State) -> Result) -> Result {
    defer { poller.wake() }
    return state.withLock { body(&$0) }
  }

  func answer(_ question: ServiceQuestion) -> ServiceAnswer? {
    precondition(
      thread.load(ordering: .acquiring) != SystemThread.current,
      "the thread that brings answers cannot wait for one")
    state.preconditionNotHeld()
    // Before that nobody knows whether there is a daemon.
    _ = firstAttempt.wait(timeout: .now() + question.patience)
    let waiter = Waiter()
    let number = change { state -> UInt64? in
      guard let number = state.end.ask(question) else { return nil }
      state.waiters[number] = waiter
      return number
    }
    guard let number else { return nil }
    if waiter.answered.wait(timeout: .now() + question.patience) == .timedOut {
      state.withLock { state in
        state.waiters[number] = nil
        state.end.forget(number)
      }
    }
    return waiter.answer.withLock { $0 }
  }

  /// The time of the connection, whose greeting both ends date by the system's clock.
  private var now: Double { RuntimeClocks.system.now().seconds }

  // MARK: The thread

  func run() {
    thread.store(SystemThread.current, ordering: .releasing)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Self.readAtOnce, alignment: 16)
    defer { buffer.deallocate() }
    var pause = Self.pauses.lowerBound
    while !state.withLock({ $0.isStopping }) {
      do {
        let connection = try LocalConnection(path: path)
        try poller.add(connection.descriptor, token: 1, .readable)
        let reason = converse(connection, buffer, &pause)
        poller.remove(connection.descriptor)
        lose(reason)
      } catch {
        lose("no daemon can be reached: \(error)")
      }
      rest(pause)
      pause = min(2 * pause, Self.pauses.upperBound)
    }
    // Nobody may wait for what will not come.
    lose("this process ends")
  }

  private func noteAttempt() {
    let isFirst = state.withLock { state in
      defer { state.hasAttempted = true }
      return !state.hasAttempted
    }
    if isFirst { firstAttempt.leave() }
  }

  private func lose(_ reason: String) {
    state.withLock { state in
      state.connection = .away(reason: reason)
      state.hear(state.end.disconnected(reason), self)
    }
    // Who waits for it then hears the reason.
    noteAttempt()
  }

  private func rest(_ seconds: Double) {
    let end = now + seconds
    while now < end, !state.withLock({ $0.isStopping }) {
      _ = poller.wait(until: Timestamp(seconds: end))
    }
  }

  /// Talks until the connection ends, and returns why it did.
  private func converse(
    _ connection: LocalConnection, _ buffer: UnsafeMutableRawBufferPointer, _ pause: inout Double
  ) -> String {
    let begin = now
    state.withLock { state in
      state.farewell = nil
      state.end.connected(at: begin)
    }
    noteAttempt()
    var (unsent, isUnwritable, interest): ([UInt8], _, _) = ([], false, Poller.Interest.readable)
    while true {
      let (output, isStopping, farewell, deadline) = state.withLock { state in
        (state.end.takeOutput(), state.isStopping, state.farewell, state.end.deadline)
      }
      if let farewell { return farewell }
      unsent += output
      if !unsent.isEmpty, !isUnwritable {
        if let count = unsent.withUnsafeBytes({ connection.write($0) }) {
          unsent.removeFirst(count)
        } else {
          // What the daemon has said last is still read.
          isUnwritable = true
        }
      }
      if isUnwritable { unsent = [] }
      if isStopping { return "this process ends" }
      if let deadline, now >= deadline { return "the daemon does not greet" }
      let wanted: Poller.Interest = unsent.isEmpty ? .readable : [.readable, .writable]
      if wanted != interest { poller.set(connection.descriptor, token: 1, wanted) }
      interest = wanted
      let ready = poller.wait(until: Timestamp(seconds: min(deadline ?? .infinity, now + 1)))
      guard ready.contains(where: { $0.isReadable || $0.isHungUp }) else { continue }
      switch connection.read(into: buffer) {
      case .nothing: break
      case .end: return "the daemon has gone"
      case .bytes(let count):
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        let now = now
        state.withLock { $0.hear($0.end.receive(bytes, at: now), self) }
        // A daemon that soon ends every connection is not asked twenty times a second.
        if now >= begin + Self.trust { pause = Self.pauses.lowerBound }
      }
    }
  }
}

extension ServiceQuestion {
  /// The number of seconds that an answer is waited for.
  fileprivate var patience: Double {
    // One that was given up too early would be reported as impossible, and be set all the same.
    switch self {
    case .setAltitude: 10
    // Another process that changes the folder is waited for.
    case .saveRecord: 60
    default: isSlow ? 3 : 1
    }
  }
}
