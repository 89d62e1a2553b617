// Runtimes on a scripted board, with their services in this process or behind a daemon's socket.

package import BoardTestSupport
package import Foundation
import Glibc
import LinuxIO
import LocationDaemon
package import LocationServices
package import Lodestone
package import SensorBus
import ServiceProtocol
import StateStore
import Synchronization

/// The way in which the runtimes of tests reach their services. With `LODESTONE_TEST_WAY=daemon` the same tests go through a socket.
package enum TestWay {
  package static let isDaemon =
    ProcessInfo.processInfo.environment["LODESTONE_TEST_WAY"] == "daemon"
}

extension LodestoneRuntime {
  /// Makes a runtime that opens its source when it is needed.
  package convenience init(
    open: @escaping ProgramServices.Factory, clocks: RuntimeClocks = .system
  ) {
    self.init(
      test: ProgramServices(open: open, regionStore: RegionStore(nil), clocks: clocks), clocks)
  }

  /// Makes a runtime on a source that is open.
  package convenience init(source: any ObservationSource, clocks: RuntimeClocks = .system) {
    let services = ProgramServices(
      open: { source }, regionStore: RegionStore(nil), clocks: clocks)
    services.install(source)
    self.init(test: services, clocks)
    settle(source)
  }

  /// Makes a runtime that keeps its regions in a folder, on a source that is open.
  package convenience init(
    source: any ObservationSource, regionsIn folder: URL, clocks: RuntimeClocks = .system
  ) {
    let store = RegionStore(ApplicationFile("regions", of: "test", in: folder))
    let services = ProgramServices(open: { source }, regionStore: store, clocks: clocks)
    services.install(source)
    self.init(test: services, clocks)
    settle(source)
  }

  /// Makes a runtime for a program of which the machine says something, on a source that is open.
  package convenience init(
    source: any ObservationSource, authorization: AuthorizationSetup,
    clocks: RuntimeClocks = .system
  ) {
    let services = ProgramServices(
      open: { source }, regionStore: RegionStore(nil), clocks: clocks,
      authorization: AuthorizationCoordinator { authorization })
    services.install(source)
    self.init(test: services, clocks)
    settle(source)
  }

  private convenience init(test services: ProgramServices, _ clocks: RuntimeClocks) {
    if TestWay.isDaemon {
      self.init(TestDaemon.shared.port(to: services, clocks), services: services)
    } else {
      self.init(services)
    }
  }

  /// Puts another source in the place of the present one.
  package func install(_ source: any ObservationSource) {
    services?.install(source)
    settle(source)
  }

  package func install(beacons source: any AdvertisementSource) {
    services?.install(beacons: source)
    if TestWay.isDaemon { (source as? ScriptedBeacons)?.barrier.set(barrier) }
  }

  package func settleAuthorization() { services?.settleAuthorization() }

  /// The regions that are watched, of managers and monitors.
  package var monitoredRegions: [MonitoredRegion] {
    wait()
    return services?.monitoredRegions ?? []
  }

  /// Waits until all requests so far are carried out, and all events so far have arrived.
  package func wait() {
    // An answer comes after both.
    guard TestWay.isDaemon else { return }
    for _ in 0..<60 where answer(.authorization) != nil { return }
    preconditionFailure("the daemon of the tests does not answer")
  }

  private var barrier: @Sendable () -> Void { { [weak self] in self?.wait() } }

  private func settle(_ source: any ObservationSource) {
    guard TestWay.isDaemon else { return }
    (source as? ScriptedSource)?.barrier.set(barrier)
    (source as? VirtualSource)?.barrier.set(barrier)
  }

  /// Has a clock wait, before and after it is moved, until what was asked for is carried out, and what happened has arrived.
  package func follow(_ clock: Barrier) { if TestWay.isDaemon { clock.set(barrier) } }
}

/// A daemon in this process, whose every program has services that a test has made.
private final class TestDaemon: Sendable {
  static let shared = TestDaemon()

  private let path: String
  private let server: ServiceServer?
  /// Held while a port connects, so that its connection gets the services that were made for it.
  private let connecting = Mutex(())
  private let next = NextServices()

  private final class NextServices: Sendable {
    let services = Mutex<ProgramServices?>(nil)
  }

  private init() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "lodestone-\(getpid())")
    path = folder.appending(path: "daemon.sock").path
    var limits = ServerLimits()
    limits.connections = 16_384
    limits.connectionsOfUser = 16_384
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let listener = try LocalListener(path: path, mode: 0o600)
      let entrance = Entrance(listener, refusal: DaemonEnd.refusal) { [next] _, now, wake in
        let hello = DaemonHello(version: 0, software: "test", run: 1, board: "test", clock: 0)
        guard let services = next.services.withLock({ $0 }) else {
          preconditionFailure("a port of the tests has lost its connection")
        }
        return ProgramHost(
          end: DaemonEnd(hello: hello, at: now), admission: TestAdmission(services), wake: wake)
      }
      server = try ServiceServer([entrance], limits: limits)
    } catch {
      preconditionFailure("the daemon of the tests does not start: \(error)")
    }
  }

  func port(to services: ProgramServices, _ clocks: RuntimeClocks) -> DaemonPort {
    connecting.withLock { _ in
      next.services.withLock { $0 = services }
      defer { next.services.withLock { $0 = nil } }
      do {
        let port = try DaemonPort(path: path, clocks: clocks)
        // It is answered once the daemon has greeted.
        precondition(port.answer(.program) != nil, "the daemon of the tests does not answer")
        return port
      } catch {
        preconditionFailure("no port to the daemon of the tests: \(error)")
      }
    }
  }
}

/// Gives a program the services that a test has made.
private final class TestAdmission: ProgramAdmission {
  private let services: ProgramServices

  init(_ services: ProgramServices) { self.services = services }

  func services(of hello: ProgramHello) -> ProgramServices { services }
  func leave(_ services: ProgramServices?, goesOn: Bool) {}
  func status() -> DaemonStatus? { nil }
  var owner: OwnerAgents? { nil }
}
