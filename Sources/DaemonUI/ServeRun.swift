// A daemon from its start to the signal that ends it.

import BoardFile
import Diagnosis
import Dispatch
import FoundationEssentials
import Glibc
import LinuxIO
package import LocationDaemon
import LocationServices
import Lodestone
package import MapDrawing
import SensorTypes
import StateStore
import Synchronization
import TerminalUI

/// Runs a daemon until a signal ends it.
package struct ServeRun {
  /// The time between two looks whether the daemon is well, in seconds, without a watchdog.
  private static let look = 5.0
  /// The time in seconds from the start to the first check of the outputs: a wrong device is reported while somebody watches the start.
  private static let firstLook = 1.0
  /// The number of malloc's arenas: a daemon allocates little at once, and lives long.
  private static let arenas = 2
  /// The time in seconds within which the thread that serves must answer.
  private static let patience = 2.0

  private let settings: ServeConfiguration
  private let file: String
  private let manager: ServiceManager
  private let environment = ProcessInfo.processInfo.environment
  private let openTiles: @Sendable (String) throws -> TileStore

  /// - Parameters:
  ///   - file: The path of the configuration, for messages.
  ///   - openTiles: Opens the map below the track of the page.
  package init(
    _ settings: ServeConfiguration, file: String,
    openTiles: @escaping @Sendable (String) throws -> TileStore
  ) {
    (self.settings, self.file, self.openTiles) = (settings, file, openTiles)
    manager = ServiceManager(environment: ProcessInfo.processInfo.environment)
  }

  package func run() throws {
    MemoryLimits.limitArenas(to: Self.arenas)
    try demandRules()
    let located = try BoardLocator.locate(settings.board)
    Self.raiseDescriptorLimit()
    let listener = try makeListener(at: settings.socket, manager.socket)
    let stream = try makeStream()
    let network = try makeNetwork()
    let page = try settings.web.map {
      try WebParts($0, state: StateDirectory.current(), openTiles: openTiles)
    }
    var outputs = try makeOutputs(isSimulated: located?.board.simulation != nil)
    let label = "Lodestone on \(Self.machine)"
    if let publication = OpenedOutput(publishing: outputs, label: label) {
      outputs.append(publication)
    }
    let parts = makeParts(board: located?.board.name ?? "found on the buses")
    let stop = StopFlag()
    let reloads = Atomic<Bool>(false)
    let isOpening = Atomic<Bool>(false)
    let round = DispatchSemaphore(value: 0)
    // Both may take longer than the watchdog waits.
    let reloading = DispatchQueue(label: "lodestone.reload")
    let opening = DispatchQueue(label: "lodestone.board")
    let worksAlone = located?.board.worksAlone ?? false
    let interrupts = Interrupts { signal in
      if signal == SIGHUP { reloads.store(true, ordering: .releasing) } else { stop.set(signal) }
      round.signal()
    }
    let daemon = try LocationDaemon(
      listener, stream: stream, network: network, outputs: outputs, parts)
    for problem in daemon.problems { Terminal.warn("lodestone: \(problem)") }
    Terminal.say("serving \(parts.board) at \(listener.path)")
    if let stream { Terminal.say("lines of JSON at \(stream.path)") }
    if let network { announce(network.listener, network.positions) }
    for opened in outputs { Terminal.say(OutputAnnouncement.text(opened)) }
    if daemon.absentCount > 0 {
      Terminal.say("regions and visits go on for \(daemon.absentCount) programs that are away")
    }
    let web: WebEntrance?
    do {
      web = try page.map { try WebEntrance($0, daemon: daemon) }
    } catch {
      daemon.stop()
      throw error
    }
    web?.announce()
    manager.tell("READY=1\nSTATUS=serving \(parts.board)")
    let period = manager.watchdog.map { $0 / 3 } ?? Self.look
    var (journal, chips) = (OutputJournal(), OutputJournal())
    var pause = min(period, Self.firstLook)
    var starting = StartingPhase()
    while stop.signal == nil {
      // An opening that hangs is not asked for again.
      if worksAlone, !isOpening.exchange(true, ordering: .acquiringAndReleasing) {
        opening.async {
          daemon.openBoard()
          isOpening.store(false, ordering: .releasing)
        }
      }
      _ = round.wait(timeout: .now() + pause)
      pause = period
      web?.look()
      if starting.isOver(isBoardOpen: daemon.isBoardOpen) { MemoryLimits.releaseCode() }
      let now = RuntimeClocks.system.now()
      let news =
        daemon.takeMessages() + chips.lines(for: daemon.chipReports, at: now)
        + journal.lines(for: daemon.outputReports, at: now)
      for line in news { Terminal.warn("lodestone: \(line)") }
      if reloads.exchange(false, ordering: .acquiringAndReleasing) {
        reloading.async { reload(daemon) }
      }
      guard daemon.isAlive(within: min(period, Self.patience)) else { continue }
      manager.tell("WATCHDOG=1")
    }
    manager.tell("STOPPING=1")
    daemon.stop()
    web?.stop()
    withExtendedLifetime(interrupts) {}
  }

  private func announce(_ port: OutputPort, _ positions: PositionLimit) {
    let words =
      port.report.isOpen
      ? "lines of JSON for everybody who reaches \(port.path), positions: \(positions.rawValue)"
      : "tcp waits for \(port.path), which another program has"
    Terminal.say(words)
  }

  private func makeParts(board: String) -> LocationDaemon.Parts {
    var realtime = settings.realtime
    if let priority = realtime, let problem = ThreadRunner.problem(of: priority) {
      Terminal.warn(
        "lodestone: no real-time priority \(priority): \(problem) (systemd: LimitRTPRIO=\(priority))"
      )
      realtime = nil
    }
    let name = settings.board
    var parts = LocationDaemon.Parts(
      board: board,
      openBoard: { [realtime] in
        try SessionSource(board: name, isShared: true, realtime: realtime)
      },
      radio: { try BeaconRadio.system() }, folder: StateDirectory.current(),
      policies: { [environment] in AuthorizationPolicy.current(environment) },
      ownerUsers: settings.agents.union([geteuid()]))
    parts.limits.connections = settings.connections
    parts.limits.connectionsOfUser = settings.connectionsOfUser
    return parts
  }

  private func reload(_ daemon: LocationDaemon) {
    manager.tell("RELOADING=1\nMONOTONIC_USEC=\(RuntimeClocks.system.now().nanoseconds / 1_000)")
    daemon.reload()
    do {
      try demandRules()
      Terminal.say("the rules of this machine were read again")
    } catch {
      Terminal.warn("lodestone: \(error)")
    }
    manager.tell("READY=1")
  }

  /// Throws if the rules of this machine cannot be used: no program would be told anything, and nobody why.
  private func demandRules() throws {
    guard let problem = AuthorizationOverview(AuthorizationRecords()).problem else { return }
    throw CommandError(problem, kind: .configuration)
  }

  /// Returns the socket of the stream, or `nil` if there is none. Without a path in the configuration, a failure is only a warning.
  private func makeStream() throws -> LocalListener? {
    guard let path = settings.streamSocket else { return nil }
    do {
      return try makeListener(at: path, manager.stream)
    } catch  where settings.stream == .besideSocket && manager.stream == nil {
      Terminal.warn("lodestone: no stream of JSON lines: \(error)")
      return nil
    }
  }

  private func makeNetwork() throws -> (listener: OutputPort, positions: PositionLimit)? {
    try settings.network.map { network in
      do throws(LocalSocketError) {
        let listener = try OutputPort(address: network.address, port: network.port)
        return (listener: listener, positions: network.positions)
      } catch {
        let isWrong = [EINVAL, EADDRNOTAVAIL].contains(error.errno)
        throw CommandError("tcp: \(error)", kind: isWrong ? .configuration : .io)
      }
    }
  }

  private func makeOutputs(isSimulated: Bool) throws -> [OpenedOutput] {
    try settings.outputs.map { output in
      do throws(LocalSocketError) {
        return try OpenedOutput(output, isSimulated: isSimulated) {
          LinuxBusProvider().isWallTimeSet
        }
      } catch {
        let isWrong = [EINVAL, EADDRNOTAVAIL].contains(error.errno)
        throw CommandError(
          "\(file):\(output.line): \(output.name): \(error)",
          kind: isWrong ? .configuration : .io)
      }
    }
  }

  /// The name of this machine.
  private static var machine: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "this machine" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// - Parameter descriptor: The socket that a service manager has opened, if there is one.
  private func makeListener(at path: String, _ descriptor: Int32?) throws -> LocalListener {
    do throws(LocalSocketError) {
      if let descriptor { return try LocalListener(adopting: descriptor) }
      let folder = URL(filePath: path).deletingLastPathComponent().path
      // A service manager makes it; a person who tries the daemon has none.
      if mkdir(folder, 0o755) != 0, errno != EEXIST, errno != ENOENT {
        throw LocalSocketError(folder, errno: errno)
      }
      let listener = try LocalListener(
        path: path, mode: settings.group == nil ? 0o666 : 0o660)
      if let group = settings.group, chown(path, uid_t.max, group) != 0 {
        throw LocalSocketError(path, errno: errno)
      }
      return listener
    } catch {
      throw CommandError(
        "\(error)", kind: [EACCES, EPERM].contains(error.errno) ? .permission : .io)
    }
  }

  /// A connection takes a descriptor, and the usual limit is lower than the number of programs that may connect.
  private static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 32_768)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
