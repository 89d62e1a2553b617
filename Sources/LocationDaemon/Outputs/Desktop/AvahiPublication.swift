// Ports of outputs made known to the network (DNS-SD), by Avahi over D-Bus.

import LinuxIO
package import LocationServices
package import OutputProtocols
import SensorBus
package import SensorTypes
import Synchronization

/// A port that programs of other machines can find.
package struct PublishedPort: Sendable {
  /// The type of DNS-SD, such as `_nmea-0183._tcp`.
  package var type: String
  package var port: UInt16
  /// Keys and values that go along.
  package var texts: [String]
  /// What has happened at the port: one that another program has is not published. `nil` for a port that is always open.
  private let report: PortReport?

  /// Whether programs can connect.
  var isOpen: Bool { report?.isOpen ?? true }

  /// Makes the port of an output, or `nil` for a protocol that has no type, and for one that only this machine reaches.
  ///
  /// - Parameters:
  ///   - protocolName: The name of the protocol, as in serve.yaml.
  ///   - address: The numeric address at which it listens.
  ///   - positions: How much of the position goes there. GeoClue, which takes positions from such a port, expects an exact one otherwise
  ///     (the key `accuracy` of its network-nmea source).
  ///   - report: What has happened at the port, if it may not be open.
  package init?(
    _ protocolName: String, address: String, port: UInt16, positions: PositionLimit = .exact,
    report: PortReport? = nil
  ) {
    guard port > 0, !Self.isLoopback(address) else { return nil }
    switch protocolName {
    case "nmea0183":
      (type, texts) = ("_nmea-0183._tcp", ["accuracy=\(Self.accuracy(positions))"])
    case "signalk":
      (type, texts) = ("_signalk-tcp._tcp", ["txtvers=1", "roles=main", "swname=lodestone"])
    default: return nil
    }
    (self.port, self.report) = (port, report)
  }

  /// GeoClue's name of an accuracy: a city is 15 km wide, and a reduced position is one of 5.6 km.
  private static func accuracy(_ positions: PositionLimit) -> String {
    switch positions {
    case .exact: "exact"
    case .reduced: "city"
    case .none: "none"
    }
  }

  static func isLoopback(_ address: String) -> Bool {
    address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
      || address == "localhost"
  }
}

/// What has become of ports that are to be published.
struct AvahiProgress: Sendable, Equatable {
  var isPublished = false
  var problem: String?
  /// The number of times that ports were published.
  var published: UInt64 = 0
}

/// The progress that the thread of the bus and a status share.
final class AvahiState: Sendable {
  let values = Mutex(AvahiProgress())
}

/// Asks Avahi to publish ports, again whenever it is restarted, and under another name when the name is taken.
///
/// Methods, signals and states: Avahi's `org.freedesktop.Avahi.Server.xml`, `org.freedesktop.Avahi.EntryGroup.xml` and `defs.h`.
final class AvahiClient: BusClient {
  private static let service = "org.freedesktop.Avahi"
  private static let server = "org.freedesktop.Avahi.Server"
  private static let group = "org.freedesktop.Avahi.EntryGroup"
  private static let driver = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
  /// Avahi's word for all interfaces, and for IPv4 and IPv6.
  private static let unspecified: Int32 = -1
  /// The states of a group and of the server that matter.
  private static let (established, collision, failure): (Int32, Int32, Int32) = (2, 3, 4)
  private static let running: Int32 = 2
  /// The number of names that are tried, and the time in seconds before another attempt where Avahi is not there.
  private static let (mostNames, retryInterval) = (16, 30.0)

  private let ports: [PublishedPort]
  private let usualName: String
  private let state: AvahiState
  private var name: String
  private var names = 0
  private var path: String?
  /// The number of ports that were published last.
  private var published = 0
  /// The unique name of Avahi on the bus. Signals of other senders are ignored, because any program can imitate them.
  private var owner: String?
  private var next = Timestamp(nanoseconds: .min)

  /// - Parameter name: The name of the services in DNS-SD. Services of different types can share one name.
  init(_ ports: [PublishedPort], name: String, _ state: AvahiState) {
    (self.ports, self.state) = (ports, state)
    // DNS-SD's labels have 63 bytes.
    var short = name
    while short.utf8.count > 56 { short.removeLast() }
    (usualName, self.name) = (short, short)
  }

  func begin(_ bus: MessageBus) throws {
    (path, names, name) = (nil, 0, usualName)
    let rules = [
      "type='signal',sender='\(Self.driver.0)',interface='\(Self.driver.0)',"
        + "member='NameOwnerChanged',arg0='\(Self.service)'",
      "type='signal',sender='\(Self.service)',interface='\(Self.group)',member='StateChanged'",
      "type='signal',sender='\(Self.service)',interface='\(Self.server)',member='StateChanged'",
    ]
    for rule in rules {
      try bus.call(Self.driver.0, Self.driver.1, Self.driver.0, "AddMatch") { try $0.write(rule) }
    }
    let reply = try? bus.call(Self.driver.0, Self.driver.1, Self.driver.0, "GetNameOwner") {
      try $0.write(Self.service)
    }
    owner = try? reply?.text()
    next = BusSession.now
  }

  func lose(_ problem: String) {
    path = nil
    fail("not published: \(problem)")
  }

  private func fail(_ problem: String) {
    state.values.withLock { ($0.isPublished, $0.problem) = (false, problem) }
  }

  func take(_ message: BusMessage, _ bus: MessageBus) throws {
    guard message.isSignal else { return }
    if message.sender == Self.driver.0 {
      guard message.member == "NameOwnerChanged", (try? message.text()) == Self.service,
        (try? message.text()) != nil, let new = try? message.text()
      else { return }
      (path, owner) = (nil, new.isEmpty ? nil : new)
      if new.isEmpty { fail("not published: avahi-daemon has ended") }
      // The bus says when it is there again.
      next = BusSession.now.advanced(bySeconds: new.isEmpty ? Self.retryInterval : 0)
      return
    }
    guard let owner, message.sender == owner else { return }
    guard message.member == "StateChanged", let number = try? message.number32() else { return }
    if message.interface == Self.server {
      // A new host name: what was published is no more.
      if number == Self.running, path == nil { next = BusSession.now }
      if number == Self.collision { path = nil }
      return
    }
    guard message.interface == Self.group, let path, message.path == path else { return }
    switch number {
    case Self.established:
      state.values.withLock { values in
        (values.isPublished, values.problem) = (true, nil)
        values.published += 1
      }
    case Self.collision: try takeOtherName(bus)
    case Self.failure:
      let words = (try? message.text()) ?? ""
      fail("not published: Avahi reports a failure \(words.prefix(80))")
      self.path = nil
      next = BusSession.now.advanced(bySeconds: Self.retryInterval)
    default: break
    }
  }

  func advance(_ bus: MessageBus, at now: Timestamp) throws -> Timestamp {
    guard now >= next else { return next }
    // A port may have been opened since the last look.
    guard !open.isEmpty, path == nil || published != open.count else { return wait(at: now) }
    next = now.advanced(bySeconds: Self.retryInterval)
    do throws(MessageBusError) {
      try publish(bus)
    } catch {
      path = nil
      let isGone =
        error.reply.hasPrefix("org.freedesktop.DBus.Error.ServiceUnknown")
        || error.reply.hasPrefix("org.freedesktop.DBus.Error.NameHasNoOwner")
      // The bus itself is gone where there was no reply.
      if error.reply.isEmpty { throw error }
      fail(
        isGone
          ? "not published: Avahi does not run: `apt install avahi-daemon`"
          : "not published: Avahi refuses: \(error.reply.prefix(120))")
    }
    return path == nil ? next : wait(at: now)
  }

  /// The ports at which programs can connect now.
  private var open: [PublishedPort] { ports.filter(\.isOpen) }

  /// Returns when to look again for ports that are opened later.
  private func wait(at now: Timestamp) -> Timestamp {
    next = open.count == ports.count ? .distantFuture : now.advanced(bySeconds: Self.retryInterval)
    return next
  }

  private func publish(_ bus: MessageBus) throws(MessageBusError) {
    if let path {
      try bus.call(Self.service, path, Self.group, "Reset")
      return try add(bus, path)
    }
    let reply = try bus.call(Self.service, "/", Self.server, "EntryGroupNew")
    guard let made = try? reply.text("o"), made.utf8.count < 256 else {
      throw MessageBusError(reply: "the path of its group is malformed")
    }
    path = made
    try add(bus, made)
  }

  private func add(_ bus: MessageBus, _ path: String) throws(MessageBusError) {
    let open = open
    published = open.count
    for port in open {
      try bus.call(Self.service, path, Self.group, "AddService") { [name] message in
        try message.write(Self.unspecified)
        try message.write(Self.unspecified)
        try message.write(UInt32(0))
        try message.write(name)
        try message.write(port.type)
        // The domain and the host: Avahi's own.
        try message.write("")
        try message.write("")
        try message.write(port.port)
        try message.container("a", "ay") {
          for text in port.texts { try message.write(bytes: Array(text.utf8)) }
        }
      }
    }
    try bus.call(Self.service, path, Self.group, "Commit")
  }

  private func takeOtherName(_ bus: MessageBus) throws(MessageBusError) {
    guard let path else { return }
    names += 1
    guard names < Self.mostNames else {
      return fail("not published: \(Self.mostNames) names are taken by other machines")
    }
    name = "\(usualName) #\(names + 1)"
    try bus.call(Self.service, path, Self.group, "Reset")
    try add(bus, path)
  }
}

/// Makes the ports of outputs known to the network, as long as it lives. It needs nothing of the board.
package final class AvahiPublication: ProtocolOutput {
  package let name = "avahi"
  package let place: String
  package let positions = PositionLimit.none
  package let demand = Demand()

  private let ports: [PublishedPort]
  private let label: String
  private let address: String?
  private let state = AvahiState()
  private let thread = Mutex<BusThread?>(nil)

  /// - Parameters:
  ///   - label: What the services are called in lists.
  ///   - address: The address of the bus, as D-Bus writes it; the system's bus if it is `nil`.
  package init(_ ports: [PublishedPort], label: String, address: String? = nil) {
    (self.ports, self.label, self.address) = (ports, label, address)
    place = ports.map { "\($0.type) port \($0.port)" }.joined(separator: ", ")
  }

  deinit { thread.withLock { $0 }?.stop() }

  package var summary: OutputSummary {
    state.values.withLock { values in
      var summary = OutputSummary()
      (summary.sent, summary.problem) = (values.published, values.problem)
      return summary
    }
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) {
    let (ports, label, address, state) = (ports, label, address, state)
    do throws(BusError) {
      let started = try BusThread(name: "avahi") {
        BusSession(address: address, AvahiClient(ports, name: label, state))
      }
      thread.withLock { $0 = started }
    } catch {
      state.values.withLock { $0.problem = "no thread for D-Bus: \(error)" }
    }
  }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {}
  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? { nil }
}
