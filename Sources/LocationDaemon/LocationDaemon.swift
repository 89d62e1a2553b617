// The daemon: one board, and the programs that share it.

import Dispatch
package import FoundationEssentials
import Glibc
package import LinuxIO
package import LocationServices
package import Lodestone
package import SensorBus
import OutputProtocols
import SensorTypes
import ServiceProtocol
import Synchronization

/// Owns a board, and serves the programs that connect.
package final class LocationDaemon: Sendable {
  /// What a daemon is made of besides its socket.
  package struct Parts: Sendable {
    /// The name of the board, as programs are told it.
    package var board: String
    package var openBoard: ProgramServices.Factory
    package var radio: @Sendable () throws -> any AdvertisementSource
    package var clocks: RuntimeClocks
    /// The folder of what is kept for programs, or `nil` to keep nothing.
    package var folder: URL?
    package var policies: @Sendable () -> [AuthorizationPolicy]
    package var limits: ServerLimits
    /// The users who may be the owner's agents and see which programs there are, besides root.
    package var ownerUsers: Set<UInt32>

    package init(
      board: String, openBoard: @escaping ProgramServices.Factory,
      radio: @escaping @Sendable () throws -> any AdvertisementSource = { throw NoRadio() },
      clocks: RuntimeClocks = .system, folder: URL? = nil,
      policies: @escaping @Sendable () -> [AuthorizationPolicy] = { [] },
      limits: ServerLimits = ServerLimits(), ownerUsers: Set<UInt32> = [geteuid()]
    ) {
      (self.board, self.openBoard, self.radio) = (board, openBoard, radio)
      (self.clocks, self.folder, self.policies) = (clocks, folder, policies)
      (self.limits, self.ownerUsers) = (limits, ownerUsers)
    }
  }

  /// No radio belongs to the daemon.
  package struct NoRadio: Error, CustomStringConvertible {
    package init() {}
    package var description: String { "nothing that hears beacons belongs to this daemon" }
  }

  private let core: DaemonCore
  private let server: ServiceServer
  private let outputs: OutputService
  private let network: NetworkReport?

  /// Begins to serve. What earlier daemons have kept of programs goes on.
  ///
  /// - Throws: An error if the process or the machine has no file descriptor left.
  ///
  /// - Parameters:
  ///   - listener: Where programs arrive.
  ///   - stream: Where readers of the stream of JSON lines arrive, if there is one.
  ///   - network: The port at which readers arrive whom the kernel does not name, and how much of the position they get.
  ///   - outputs: The protocols that it speaks.
  package init(
    _ listener: LocalListener, stream: LocalListener? = nil,
    network: (listener: OutputPort, positions: PositionLimit)? = nil,
    outputs: [OpenedOutput] = [], _ parts: Parts
  ) throws {
    core = DaemonCore(parts, stream: stream?.path)
    let networkReport = network.map {
      NetworkReport(name: "tcp", path: $0.listener.path, $0.positions, $0.listener.report)
    }
    self.network = networkReport
    let ports = outputs.compactMap { opened in
      opened.listener.map { (ObjectIdentifier(opened.output), $0.report) }
    }
    self.outputs = OutputService(
      outputs.map(\.output), lines: outputs.map(\.line),
      ports: Dictionary(uniqueKeysWithValues: ports), clocks: parts.clocks
    ) { [registry = core.registry] in registry.observer(.network)
    }
    core.registry.restore()
    var entrances = [
      Entrance(listener, refusal: DaemonEnd.refusal) { [core] identity, now, wake in
        core.admit(identity, at: now, wake: wake)
      }
    ]
    if let stream {
      entrances.append(
        Entrance(stream, refusal: StreamHost.refusal) { [core] identity, now, wake in
          core.admitReader(identity, at: now, wake: wake)
        })
    }
    if let network {
      let positions = network.positions
      entrances.append(
        Entrance(network.listener, stranger: .network, refusal: StreamHost.refusal) {
          [core] identity, now, wake in
          core.admitReader(identity, positions, at: now, wake: wake)
        })
    }
    entrances += outputs.compactMap(\.entrance)
    server = try ServiceServer(entrances, limits: parts.limits, clocks: parts.clocks)
    core.gatherNews { [weak server] publish in
      guard let server else { return publish() }
      server.gather(publish)
    }
    core.count { [weak server] in server?.counters ?? ServerCounters() }
    core.report { [weak outputs = self.outputs, weak core] in
      // The readers of these ports are in the status by themselves.
      let ports = [networkReport, core?.pagePort].compactMap { $0?.report }
      return (outputs?.reports ?? []) + ports.filter { $0.problem != nil }
    }
    do {
      try self.outputs.start()
    } catch {
      server.stop()
      throw error
    }
  }

  /// What could not be read when the daemon began, a line each.
  package var problems: [String] { core.registry.problems }
  /// What the outputs do, and whether the stream and the pages have their ports.
  package var outputReports: [DaemonStatus.OutputReport] {
    outputs.reports + [network, core.pagePort].compactMap { $0?.report }
  }
  /// What the chips of the board do.
  package var chipReports: [DaemonStatus.ChipReport] { core.board.chipReports }
  /// Takes what the board has said since the last call, a line each.
  package func takeMessages() -> [String] { core.board.withMessages { $0.takeLines() } }
  /// The number of programs that are away while something goes on for them.
  package var absentCount: Int { core.registry.absentCount }

  /// Whether the board is open.
  package var isBoardOpen: Bool { core.board.isOpen }

  /// Has the status say how many pages are open, and why none can be.
  package func reportPages(_ count: @escaping @Sendable () -> Int, at port: NetworkReport) {
    core.reportPages(count, at: port)
  }

  /// Makes services for somebody whom the kernel does not name: pages in browsers.
  package func makeServices() -> ProgramServices { core.registry.observer(.network) }

  /// Makes a stream of lines of JSON for somebody whom the kernel does not name. It goes on until its `end()`.
  ///
  /// - Parameters:
  ///   - positions: How much of the position the reader gets.
  ///   - wake: Called on any thread when there is something to write or to read again.
  package func makeStream(
    _ positions: PositionLimit, wake: @escaping @Sendable () -> Void
  ) -> StreamHost { core.admitReader(.network, positions, at: core.now, wake: wake) }

  /// Opens the board if need be, which may take seconds: some boards have work to do without a program, as giving the time to chrony.
  /// Why it cannot be opened is in the status; a call a little later tries again.
  package func openBoard() { core.openBoard() }

  /// Reads again what the machine's owner allows.
  package func reload() { core.registry.reload() }

  /// Tells every program that the daemon ends, and ends it.
  package func stop() {
    core.endReaders()
    server.stop()
    outputs.stop()
    core.settle()
  }

  /// Whether the thread that serves still runs its rounds: it answers within the given time in seconds.
  package func isAlive(within seconds: Double) -> Bool { server.isAlive(within: seconds) }

  /// The state of the daemon, with its programs.
  package var status: DaemonStatus { core.status(isWhole: true) }
}

/// What the hosts of a daemon share.
private final class DaemonCore: Sendable {
  private struct Hosts: Sendable {
    var hosts: [UInt64: (identity: ProgramIdentity, host: ProgramHost)] = [:]
    var last: UInt64 = 0
  }

  private struct Readers: Sendable {
    var hosts: [UInt64: (identity: ProgramIdentity, host: StreamHost)] = [:]
    var last: UInt64 = 0
  }

  private struct Counting: Sendable {
    var counters: @Sendable () -> ServerCounters = { ServerCounters() }
    var pages: (@Sendable () -> Int)?
    var pagePort: NetworkReport?
    var outputs: @Sendable () -> [DaemonStatus.OutputReport] = { [] }
  }

  let registry: ProgramRegistry
  private let parts: LocationDaemon.Parts
  private let stream: String?
  let board: BoardOwner
  private let agents = OwnerAgents()
  private let encoder = EventEncoder()
  private let hosts = Mutex(Hosts())
  private let readers = Mutex(Readers())
  private let counting = Mutex(Counting())
  private let began: Timestamp
  /// A number of this run, by which programs see that it is another daemon.
  private let run = UInt64.random(in: 1...(1 << 62))

  /// - Parameter stream: The path of the socket of the stream, if there is one.
  init(_ parts: LocationDaemon.Parts, stream: String?) {
    (self.parts, self.stream) = (parts, stream)
    began = parts.clocks.now()
    let board = BoardOwner(clocks: parts.clocks, open: parts.openBoard)
    let radio = LazyRadio(parts.radio)
    self.board = board
    registry = ProgramRegistry(
      ProgramParts(
        open: { try board.seat() }, radio: { try radio.seat() }, clocks: parts.clocks,
        folder: parts.folder, policies: parts.policies),
      agents: agents)
  }

  func openBoard() { try? board.open() }

  func admit(
    _ identity: ProgramIdentity, at now: Double, wake: @escaping @Sendable () -> Void
  ) -> ProgramHost {
    let number = hosts.withLock { hosts in
      hosts.last += 1
      return hosts.last
    }
    let hello = DaemonHello(
      version: 0, software: LodestoneRuntime.version, run: run, board: parts.board, clock: 0)
    let host = ProgramHost(
      end: DaemonEnd(
        hello: hello, limits: mayOwn(identity.client.user) ? .owner : ProtocolLimits(), at: now),
      admission: Admission(self, identity, number), encoder: encoder, wake: wake)
    hosts.withLock { $0.hosts[number] = (identity, host) }
    return host
  }

  func admitReader(
    _ identity: ProgramIdentity, _ positions: PositionLimit = .exact, at now: Double,
    wake: @escaping @Sendable () -> Void
  ) -> StreamHost {
    let number = readers.withLock { readers in
      readers.last += 1
      return readers.last
    }
    let host = StreamHost(
      board: parts.board, at: now, clocks: parts.clocks, positions: positions,
      mayAsk: identity.isVerified,
      mayRecord: identity.process > 0 && mayOwn(identity.client.user), wake: wake,
      make: { [registry] in registry.observer(identity) },
      leave: { [weak self] services in
        if let services { self?.registry.leave(services, goesOn: false) }
        self?.readers.withLock { $0.hosts[number] = nil }
      })
    readers.withLock { $0.hosts[number] = (identity, host) }
    return host
  }

  var now: Double { parts.clocks.now().seconds }

  /// Tells every reader of the stream that the daemon ends.
  func endReaders() {
    for (_, host) in readers.withLock({ Array($0.hosts.values) }) { host.stop(at: now) }
  }

  /// Waits until the programs' ends are noticed and what has happened for them is written, two seconds at most.
  func settle() {
    let written = DispatchGroup()
    let hosts = hosts.withLock { $0.hosts.values.map(\.host) }
    for host in hosts { host.settle(in: written) }
    _ = written.wait(timeout: .now() + 1)
    DispatchQueue.global().async(group: written) { ProgramServices.settleAway() }
    _ = written.wait(timeout: .now() + 1)
  }

  func forget(_ number: UInt64) { hosts.withLock { $0.hosts[number] = nil } }

  func owner(for user: UInt32) -> OwnerAgents? { mayOwn(user) ? agents : nil }

  func mayOwn(_ user: UInt32) -> Bool { user == 0 || parts.ownerUsers.contains(user) }

  /// Has the hosts' news of one observation gathered.
  func gatherNews(_ gather: @escaping BoardOwner.Gather) { board.gather = gather }

  func count(_ counters: @escaping @Sendable () -> ServerCounters) {
    counting.withLock { $0.counters = counters }
  }

  func report(_ outputs: @escaping @Sendable () -> [DaemonStatus.OutputReport]) {
    counting.withLock { $0.outputs = outputs }
  }

  func reportPages(_ count: @escaping @Sendable () -> Int, at port: NetworkReport) {
    counting.withLock { ($0.pages, $0.pagePort) = (count, port) }
  }

  var pagePort: NetworkReport? { counting.withLock { $0.pagePort } }

  /// - Parameter isWhole: Whether the programs are named.
  func status(isWhole: Bool) -> DaemonStatus {
    let counters = counting.withLock { $0.counters }()
    let connected = hosts.withLock { Array($0.hosts.values) }
    let reading = readers.withLock { Array($0.hosts.values) }.map { identity, host in
      let summary = host.summary
      return DaemonStatus.Reader(
        client: identity.client, process: identity.process > 0 ? identity.process : nil,
        kinds: summary.kinds, rate: summary.rate, waiting: summary.waiting,
        dropped: summary.dropped)
    }
    var programs: [DaemonStatus.Program]?
    if isWhole {
      let present = connected.compactMap { entry -> DaemonStatus.Program? in
        let (services, waiting, dropped) = entry.host.summary
        return services.map {
          program($0, entry.identity.client, entry.identity.process, waiting, dropped)
        }
      }
      let absent = registry.absent.compactMap { services in
        services.away.map { program(services, $0.client, nil, 0, 0) }
      }
      programs =
        present.sorted { ($0.process ?? 0) < ($1.process ?? 0) }
        + absent.sorted { $0.client.executable < $1.client.executable }
    }
    return DaemonStatus(
      software: LodestoneRuntime.version, board: parts.board, stream: stream,
      process: ProcessInfo.processInfo.processIdentifier,
      uptime: parts.clocks.now().seconds(since: began), openingFailure: board.failure,
      connections: connected.count + reading.count,
      counters: [
        "accepted": counters.accepted, "refused": counters.refused, "slow": counters.slow,
        "failures": counters.failures, "crowded": registry.crowdedCount,
      ],
      agents: agents.count, pages: counting.withLock { $0.pages }?(), programs: programs,
      readers: isWhole ? reading : nil, outputs: isWhole ? counting.withLock { $0.outputs }() : nil,
      chips: isWhole ? board.chipReports : nil,
      messages: isWhole ? board.withMessages { $0.report(at: parts.clocks.now()) } : nil)
  }

  private func program(
    _ services: ProgramServices, _ client: AuthorizationClient, _ process: Int32?, _ waiting: Int,
    _ dropped: UInt64
  ) -> DaemonStatus.Program {
    DaemonStatus.Program(
      client: client, process: process, authorization: services.authorization,
      regions: services.monitoredRegions.count, unheard: services.away?.count ?? 0,
      waiting: waiting, dropped: dropped,
      problem: services.away?.problem ?? services.regionProblem ?? services.authorizationProblem)
  }
}

/// What the daemon does for one connection.
private final class Admission: ProgramAdmission {
  private let core: DaemonCore
  private let identity: ProgramIdentity
  private let number: UInt64

  init(_ core: DaemonCore, _ identity: ProgramIdentity, _ number: UInt64) {
    (self.core, self.identity, self.number) = (core, identity, number)
  }

  func services(of hello: ProgramHello) -> ProgramServices {
    core.registry.services(of: identity, usage: hello.usage)
  }

  func leave(_ services: ProgramServices?, goesOn: Bool) {
    if let services { core.registry.leave(services, goesOn: goesOn) }
    core.forget(number)
  }

  func status() -> DaemonStatus? {
    core.status(isWhole: core.mayOwn(identity.client.user))
  }

  var owner: OwnerAgents? { core.owner(for: identity.client.user) }
}

/// The radio of a daemon, which is opened when the first program needs it.
private final class LazyRadio: Sendable {
  private struct Opening: Sendable { var open: @Sendable () throws -> any AdvertisementSource }

  private let opening: Opening
  private let shared = Mutex<SharedAdvertisements?>(nil)

  init(_ open: @escaping @Sendable () throws -> any AdvertisementSource) {
    opening = Opening(open: open)
  }

  func seat() throws -> any AdvertisementSource {
    try shared.withLock { shared in
      let owner = try shared ?? SharedAdvertisements(try opening.open())
      shared = owner
      return owner.seat()
    }
  }
}
