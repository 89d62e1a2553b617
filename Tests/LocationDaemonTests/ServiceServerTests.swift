// Programs and a daemon over a real socket, in one process.

import FacadeTestSupport
import Foundation
import Geodesy
import LinuxIO
import LocationDaemon
import SensorHub
import SensorTypes
import ServiceProtocol
import StateStore
import Synchronization
import Testing

@testable import Lodestone
@testable import LocationServices

struct ServiceServerTests {
  /// Who was let in.
  private final class Admitted: Sendable {
    let identities = Mutex<[ProgramIdentity]>([])
  }

  /// Admits a program whatever it is.
  private final class OneAdmission: ProgramAdmission {
    private let make: @Sendable () -> ProgramServices

    init(_ make: @escaping @Sendable () -> ProgramServices) { self.make = make }

    func services(of hello: ProgramHello) -> ProgramServices { make() }
    func leave(_ services: ProgramServices?, goesOn: Bool) {}
    func status() -> DaemonStatus? { nil }
    var owner: OwnerAgents? { nil }
  }

  /// A daemon on a scripted board, with its socket in a folder of its own.
  private final class Daemon {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-\(getpid())-\(UInt32.random(in: 0 ... .max))")
    let board = ScriptedSource()
    private let owner: BoardOwner
    private(set) var server: ServiceServer?
    private var run: UInt64 = 0
    private let admitted = Admitted()
    var identities: [ProgramIdentity] { admitted.identities.withLock { $0 } }
    var path: String { folder.appending(path: "s").path }

    init(_ limits: ServerLimits = ServerLimits()) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      owner = BoardOwner { [board] in board }
      try start(limits)
    }

    deinit {
      server?.stop()
      try? FileManager.default.removeItem(at: folder)
    }

    func start(_ limits: ServerLimits = ServerLimits()) throws {
      run += 1
      let hello = DaemonHello(version: 0, software: "2", run: run, board: "boat", clock: 0)
      let listener = try LocalListener(path: path, mode: 0o600)
      let entrance = Entrance(listener, refusal: DaemonEnd.refusal) {
        [owner, admitted, folder] identity, now, wake in
        admitted.identities.withLock { $0.append(identity) }
        let admission = OneAdmission {
          let store = RegionStore(ApplicationFile("regions", of: "test", in: folder))
          return ProgramServices(open: { try owner.seat() }, regionStore: store, clocks: .system)
        }
        return ProgramHost(
          end: DaemonEnd(hello: hello, at: now), admission: admission, wake: wake)
      }
      server = try ServiceServer([entrance], limits: limits)
    }

    func stop() {
      server?.stop()
      server = nil
    }
  }

  private func isHeading(_ content: EventContent) -> Bool {
    if case .heading = content { true } else { false }
  }

  /// A program that has asked a daemon for headings.
  private func compass(of daemon: Daemon) throws -> (DaemonPort, ClientID, Listener) {
    let (port, listener) = (try DaemonPort(path: daemon.path), Listener())
    let client = port.connect(listener)
    port.send(ServiceRequest(client, .start(.heading)))
    #expect(daemon.board.waits { $0.heading })
    return (port, client, listener)
  }

  @Test("a program hears what it has asked for, until it stops, and the board sleeps after it")
  func services() throws {
    let daemon = try Daemon()
    let (port, client, listener) = try compass(of: daemon)
    daemon.board.publish(.heading(degrees: 42, at: 1))
    #expect(listener.hears(isHeading))
    let answer = port.answer(.authorization)
    #expect(
      answer
        == .authorization(
          AuthorizationReport(status: .always, accuracy: .full, isInUse: true, isBeingAsked: false))
    )
    guard case .capabilities(let capabilities)? = port.answer(.capabilities) else {
      Issue.record("no capabilities")
      return
    }
    #expect(capabilities.heading && capabilities.location)
    #expect(port.connection == .connected(board: "boat", version: "2"))
    let identities = daemon.identities
    #expect(identities.count == 1)
    #expect(identities[0].process == getpid())
    #expect(identities[0].client.executable == AuthorizationClient.current().executable)
    #expect(identities[0].client.user == geteuid())
    port.send(ServiceRequest(client, .stop(.heading)))
    // An answer comes after what was asked before it.
    _ = port.answer(.authorization)
    #expect(daemon.board.waits { !$0.heading })
    let count = listener.contents.count
    daemon.board.publish(.heading(degrees: 43, at: 2))
    _ = port.answer(.authorization)
    #expect(listener.contents.count == count)
  }

  @Test("a program hears that the daemon has gone, and goes on with the next one")
  func reconnection() throws {
    let daemon = try Daemon()
    let (port, _, listener) = try compass(of: daemon)
    daemon.stop()
    #expect(
      listener.hears {
        if case .failure(let failure) = $0 {
          failure.reason.contains("stopped")
        } else {
          false
        }
      })
    #expect(daemon.board.waits { !$0.heading })
    #expect(port.answer(.authorization) == nil)
    try daemon.start()
    #expect(daemon.board.waits { $0.heading })
    daemon.board.publish(.heading(degrees: 42, at: 1))
    #expect(listener.hears(isHeading))
  }

  @Test("two programs share the board, and the end of one is not noticed by the other")
  func sharing() throws {
    let daemon = try Daemon()
    let first = try DaemonPort(path: daemon.path)
    var second: DaemonPort? = try DaemonPort(path: daemon.path)
    let (one, other) = (Listener(), Listener())
    let client = first.connect(one)
    first.send(ServiceRequest(client, .start(.heading)))
    if let second { second.send(ServiceRequest(second.connect(other), .start(.altitude))) }
    #expect(daemon.board.waits { $0.heading && $0.altitude })
    second = nil
    #expect(daemon.board.waits { $0.heading && !$0.altitude })
    daemon.board.publish(.heading(degrees: 42, at: 1))
    #expect(one.hears(isHeading) && !other.contents.contains(where: isHeading))
  }

  @Test("what a program has said is carried out though it has gone, and nobody spins for it")
  func farewell() throws {
    let daemon = try Daemon()
    var port: DaemonPort? = try DaemonPort(path: daemon.path)
    #expect(port?.answer(.authorization) != nil)
    let client = port?.connect(Listener())
    for number in 0..<300 {
      let region = MonitoredRegion(
        identifier: "r", monitor: nil, center: .init(latitude: 53, longitude: 10),
        radius: 100 + Double(number))
      if let client { port?.send(ServiceRequest(client, .startRegion(region))) }
    }
    // Its answer comes after all that was sent before. On a busy disk that takes longer than an answer is waited for.
    let attempts = (0..<60).lazy.compactMap { _ in port?.answer(.regions(of: nil)) }
    #expect(attempts.first != nil)
    port = nil
    let next = try DaemonPort(path: daemon.path)
    guard case .regions(let list)? = next.answer(.regions(of: nil)) else {
      Issue.record("no regions")
      return
    }
    #expect(list.records.map(\.region.radius) == [399])
  }

  @Test("a daemon that is stopped and started at once is found again", arguments: 0..<20)
  func restart(round: Int) throws {
    let daemon = try Daemon()
    let (port, _, listener) = try compass(of: daemon)
    daemon.stop()
    try daemon.start()
    // Nobody says when the program has its seat again: the board speaks until it is heard.
    let isHeard = (1...100).contains { round in
      daemon.board.publish(.heading(degrees: 42, at: Double(round)))
      return listener.hears(within: 0.1, isHeading)
    }
    #expect(isHeard)
    withExtendedLifetime(port) {}
  }

  @Test("of too many connections the last ones are told so")
  func crowd() throws {
    var limits = ServerLimits()
    limits.connectionsOfUser = 2
    let daemon = try Daemon(limits)
    let ports = try (0..<2).map { _ in try DaemonPort(path: daemon.path) }
    for port in ports { #expect(port.answer(.authorization) != nil) }
    let stranger = try LocalConnection(path: daemon.path)
    var bytes = [UInt8](repeating: 0, count: 1_000)
    var entry = pollfd(fd: stranger.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(poll(&entry, 1, 10_000) == 1)
    guard case .bytes(let count) = bytes.withUnsafeMutableBytes({ stranger.read(into: $0) }) else {
      Issue.record("nothing was said")
      return
    }
    var end = ProgramEnd(software: "1")
    end.connected(at: 0)
    #expect(end.receive(bytes.prefix(count), at: 0) == [.farewell(.crowded)])
    #expect(daemon.server?.counters.refused == 1)
    withExtendedLifetime(ports) {}
  }
}
