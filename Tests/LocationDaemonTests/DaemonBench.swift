// A daemon on a scripted board, and programs that connect to it.

import FacadeTestSupport
import Foundation
import Geodesy
import LinuxIO
import LocationServices
import Lodestone
import SensorTypes
import Synchronization

@testable import LocationDaemon

/// A client that keeps what it is told.
final class Listener: ServiceClient {
  private let heard = Mutex<[EventContent]>([])
  private let news = DispatchSemaphore(value: 0)
  var contents: [EventContent] { heard.withLock { $0 } }

  func post(_ content: EventContent) -> Int {
    heard.withLock { $0.append(content) }
    news.signal()
    return 0
  }

  func applicationChanged(isSuspended: Bool) {}

  /// Waits for something that was heard, so many seconds at most.
  func hears(within seconds: Double = 10, _ isWanted: (EventContent) -> Bool) -> Bool {
    let end = DispatchTime.now() + seconds
    while !contents.contains(where: isWanted) {
      guard news.wait(timeout: end) == .success else { return false }
    }
    return true
  }

  /// The states of regions that were told, in order.
  var states: [RegionState] {
    contents.compactMap { if case .region(let event) = $0 { event.state } else { nil } }
  }

  var visits: [VisitReport] {
    contents.compactMap { if case .visit(let visit) = $0 { visit } else { nil } }
  }

  var authorizations: [AuthorizationReport] {
    contents.compactMap { if case .authorization(let report) = $0 { report } else { nil } }
  }
}

/// A daemon on a scripted board, with its socket and all that it keeps in a temporary folder.
final class DaemonBench {
  let folder = FileManager.default.temporaryDirectory
    .appending(path: "lodestone-\(getpid())-\(UInt32.random(in: 0 ... .max))")
  let board = ScriptedSource()
  private(set) var daemon: LocationDaemon?
  private let rules: String?
  private let owners: Set<UInt32>
  private let outputs: [OutputSettings]
  private let limits: ServerLimits
  private var ports: [UInt16] = []
  var path: String { folder.appending(path: "s").path }
  var streamPath: String { folder.appending(path: "stream").path }
  private var rulesFile: URL { folder.appending(path: "authorization.yaml") }

  /// - Parameters:
  ///   - rules: The text of the owner's file, or `nil` for none.
  ///   - outputs: The protocols that it speaks.
  ///   - limits: The limits of its connections.
  init(
    rules: String? = nil, owners: Set<UInt32> = [geteuid()], outputs: [OutputSettings] = [],
    limits: ServerLimits = ServerLimits()
  ) throws {
    (self.rules, self.owners, self.outputs, self.limits) = (rules, owners, outputs, limits)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try write(rules: rules)
    try start()
  }

  deinit {
    daemon?.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  func write(rules: String?) throws {
    try rules.map { try $0.write(to: rulesFile, atomically: true, encoding: .utf8) }
  }

  func start() throws {
    let (board, file) = (board, rulesFile)
    let state = folder.appending(path: "state")
    let opened = try outputs.map { settings throws(LocalSocketError) in
      try OpenedOutput(settings, isSimulated: false, folder: state) { true }
    }
    ports = opened.map { $0.listener?.port ?? 0 }
    daemon = try LocationDaemon(
      LocalListener(path: path, mode: 0o600),
      stream: LocalListener(path: streamPath, mode: 0o600), outputs: opened,
      LocationDaemon.Parts(
        board: "boat", openBoard: { board }, folder: state,
        policies: { [AuthorizationPolicy(file)] }, limits: limits, ownerUsers: owners))
  }

  /// The port of an output, which the system has chosen.
  func port(_ index: Int) -> UInt16 { ports[index] }

  func stop() {
    daemon?.stop()
    daemon = nil
  }

  func program() throws -> DaemonPort {
    var usage = UsageDescriptions()
    usage.whenInUse = "It guides you."
    return try DaemonPort(path: path, usage: usage)
  }

  /// Waits until so many programs are away, ten seconds at most.
  func waits(forAbsent count: Int) -> Bool { eventually { self.daemon?.absentCount == count } }

  /// The board says that it is so many metres from the middle of `circle`, and again when that is believed.
  func moves(to metres: Double, at seconds: Double) {
    let latitude = 53 + metres / 111_300
    for time in [seconds, seconds + 25] {
      board.publish(.location(latitude, 10, at: time, utc: 1_800_000_000 + time))
    }
  }

  /// A circle of a hundred metres.
  static func circle(_ name: String = "home", monitor: String? = nil) -> MonitoredRegion {
    MonitoredRegion(
      identifier: name, monitor: monitor, center: Position(latitude: 53, longitude: 10), radius: 100
    )
  }
}

/// Looks until something is so, ten seconds at most. For what other threads do and nobody reports.
func eventually(_ isSo: () -> Bool) -> Bool {
  let (end, nobody) = (DispatchTime.now() + 10, DispatchSemaphore(value: 0))
  while !isSo() {
    guard DispatchTime.now() < end else { return false }
    _ = nobody.wait(timeout: .now() + 0.002)
  }
  return true
}

extension DaemonPort {
  /// Connects a client that hears of the regions of a monitor.
  func hearRegions(of monitor: String? = nil) -> (ClientID, Listener) {
    let listener = Listener()
    let client = connect(listener)
    var settings = ClientSettings()
    (settings.hearsRegions, settings.monitor) = (true, monitor)
    send(ServiceRequest(client, .configure(settings)))
    return (client, listener)
  }

  /// Tells the daemon that its newest crossing is told.
  func tellNewest(_ client: ClientID, _ listener: Listener) -> Bool {
    let newest = listener.contents.compactMap { content -> RegionEvent? in
      if case .region(let event) = content, event.state != nil { event } else { nil }
    }.last
    guard let newest else { return false }
    let isKept = ask(.keep(newest))
    send(ServiceRequest(client, .regionTold(newest.region.key)))
    return isKept
  }

  /// Waits until all requests so far are carried out.
  func settle() { _ = answer(.authorization) }
}
