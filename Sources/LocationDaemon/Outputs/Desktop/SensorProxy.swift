// The compass of iio-sensor-proxy, for desktops: its names and methods on the bus.

import Glibc
import LinuxIO
import SensorTypes
import Synchronization

/// The properties of the compass on the bus, and the number of programs that have claimed it.
struct SensorProxyValues: Sendable, Equatable {
  /// Degrees clockwise from magnetic north, 0 up to 360; `nil` while none is to be trusted.
  var heading: Double?
  /// Whether the board can have a heading at all.
  var isEquipped = true
  var problem: String?
  /// The number of programs that have claimed the compass.
  var claims = 0
  var sent: UInt64 = 0
  /// The number of calls that were refused, and of claims beyond the limit.
  var refused: UInt64 = 0
}

/// The values that the thread of the bus and that of the outputs share.
final class SensorProxyState: Sendable {
  let values = Mutex(SensorProxyValues())
}

/// Serves `net.hadess.SensorProxy.Compass` on the system's D-Bus, as iio-sensor-proxy 3.0 does for chips that the kernel turns into a
/// compass. Names and signatures: its D-Bus interface `net.hadess.SensorProxy.Compass.xml`.
///
/// The interface has no word for a heading that is not known. While a program has claimed the compass and no heading is to be trusted for
/// three seconds, `HasCompass` is therefore false and `CompassHeading` has no value.
final class SensorProxyClient: BusClient {
  static let service = "net.hadess.SensorProxy"
  static let root = "/net/hadess/SensorProxy"
  static let compass = "/net/hadess/SensorProxy/Compass"
  static let compassInterface = "net.hadess.SensorProxy.Compass"
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let driver = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
  /// The time in seconds before a name that another program owns is asked for again.
  private static let nameInterval = 30.0

  private let state: SensorProxyState
  private let wake: @Sendable () -> Void
  private var claimants = SensorProxyClaims()
  private var isOwner = false
  private var nextName = Timestamp(nanoseconds: .min)
  private var changes = SensorProxyChanges()

  /// - Parameter wake: Called when claims have changed.
  init(_ state: SensorProxyState, wake: @escaping @Sendable () -> Void) {
    (self.state, self.wake) = (state, wake)
  }

  func begin(_ bus: MessageBus) throws {
    isOwner = false
    claimants.removeAll()
    changes.forget()
    note()
    let rule =
      "type='signal',sender='\(Self.driver.0)',interface='\(Self.driver.0)',member='NameOwnerChanged'"
    try bus.call(Self.driver.0, Self.driver.1, Self.driver.0, "AddMatch") { try $0.write(rule) }
    try claimName(bus, at: BusSession.now)
  }

  func lose(_ problem: String) {
    isOwner = false
    claimants.removeAll()
    note()
    state.values.withLock { $0.problem = problem }
  }

  private func claimName(_ bus: MessageBus, at now: Timestamp) throws {
    nextName = now.advanced(bySeconds: Self.nameInterval)
    do throws(MessageBusError) {
      try bus.claim(Self.service)
      isOwner = true
      state.values.withLock { $0.problem = nil }
    } catch {
      let problem =
        switch error.errno {
        case EEXIST:
          "another program owns \(Self.service): `systemctl disable --now iio-sensor-proxy` makes it free"
        case EACCES, EPERM:
          "the policy of D-Bus does not let this user own \(Self.service): install Documentation/net.hadess.SensorProxy.conf"
        default: "the name \(Self.service) cannot be owned (error \(error.errno))"
        }
      state.values.withLock { $0.problem = problem }
    }
  }

  // MARK: Calls

  func take(_ message: BusMessage, _ bus: MessageBus) throws {
    if message.isSignal {
      guard message.sender == Self.driver.0, message.member == "NameOwnerChanged",
        let name = try? message.text(), (try? message.text()) != nil,
        let new = try? message.text()
      else { return }
      if new.isEmpty { release(name) }
      if name == Self.service, new.isEmpty { nextName = Timestamp(nanoseconds: .min) }
      return
    }
    guard message.isCall else { return }
    do { try answer(message, bus) } catch is MalformedMessage {
      try refuse(message, bus, "InvalidArgs", "the arguments are not those of the method")
    }
  }

  private func answer(_ call: BusMessage, _ bus: MessageBus) throws {
    let place = (call.path ?? "", call.interface ?? "", call.member ?? "")
    switch place {
    case (Self.compass, Self.compassInterface, "ClaimCompass"):
      try claim(call, bus)
    case (Self.compass, Self.compassInterface, "ReleaseCompass"):
      call.sender.map { release($0) }
      try bus.reply(to: call)
    // A desktop may claim what this board does not have; as with iio-sensor-proxy it then sees that there is none.
    case (Self.root, Self.service, "ClaimAccelerometer"),
      (Self.root, Self.service, "ReleaseAccelerometer"), (Self.root, Self.service, "ClaimLight"),
      (Self.root, Self.service, "ReleaseLight"), (Self.root, Self.service, "ClaimProximity"),
      (Self.root, Self.service, "ReleaseProximity"):
      try bus.reply(to: call)
    case (_, Self.properties, "Get"): try get(call, bus)
    case (_, Self.properties, "GetAll"): try getAll(call, bus)
    case (_, "org.freedesktop.DBus.Introspectable", "Introspect"):
      try bus.reply(to: call) { try $0.write(Self.introspection(place.0)) }
    default:
      try refuse(call, bus, "UnknownMethod", "there is no such method here")
    }
  }

  private func claim(_ call: BusMessage, _ bus: MessageBus) throws {
    guard let sender = call.sender else { return }
    if !claimants.has(sender) {
      let claimant = try claimant(sender, bus)
      if let words = claimants.claim(sender, claimant) {
        return try refuse(call, bus, "LimitsExceeded", words)
      }
      note()
    }
    try bus.reply(to: call)
  }

  /// Asks the bus whose program has a name. Of one that is gone it says nothing.
  private func claimant(
    _ name: String, _ bus: MessageBus
  ) throws -> SensorProxyClaims.Claimant {
    var claimant = SensorProxyClaims.Claimant()
    let reply: BusMessage
    do throws(MessageBusError) {
      reply = try bus.call(Self.driver.0, Self.driver.1, Self.driver.0, "GetConnectionCredentials")
      {
        try $0.write(name)
      }
    } catch {
      // Without a reply the bus itself is gone.
      if error.reply.isEmpty { throw error }
      return claimant
    }
    try reply.entries("sv") {
      switch try reply.text() {
      case "UnixUserID": claimant.user = try reply.variant("u") { try reply.unsigned32() }
      case "ProcessID": claimant.process = try reply.variant("u") { try reply.unsigned32() }
      default: try reply.skip("v")
      }
    }
    return claimant
  }

  private func get(_ call: BusMessage, _ bus: MessageBus) throws {
    let (interface, name) = (try call.text(), try call.text())
    let found = values(call.path, interface).first { $0.name == name }
    guard let found else {
      let text =
        name == "CompassHeading" ? "there is no heading that is to be trusted" : "no such property"
      return try refuse(call, bus, "UnknownProperty", text)
    }
    try bus.reply(to: call) { message in
      try message.container("v", found.type) { try found.write(message) }
    }
  }

  private func getAll(_ call: BusMessage, _ bus: MessageBus) throws {
    let all = values(call.path, try call.text())
    try bus.reply(to: call) { try Self.write(all, to: $0) }
  }

  private func refuse(
    _ call: BusMessage, _ bus: MessageBus, _ name: String, _ text: String
  ) throws {
    state.values.withLock { $0.refused += 1 }
    try bus.refuse(call, "org.freedesktop.DBus.Error.\(name)", text)
  }

  private func release(_ program: String) {
    guard claimants.release(program) else { return }
    note()
  }

  private func note() {
    let isNew = state.values.withLock { values in
      defer { values.claims = claimants.count }
      return values.claims != claimants.count
    }
    if claimants.isEmpty { changes.release() }
    if isNew { wake() }
  }

  // MARK: Values

  private struct Property {
    var name: String
    var type: String
    var write: (BusMessage) throws -> Void

    static func flag(_ name: String, _ value: Bool) -> Property {
      Property(name: name, type: "b") { try $0.write(value) }
    }
    static func text(_ name: String, _ value: String) -> Property {
      Property(name: name, type: "s") { try $0.write(value) }
    }
    static func compass(_ change: SensorProxyChange) -> Property {
      switch change {
      case .presence(let has): flag(change.name, has)
      case .heading(let degrees): Property(name: change.name, type: "d") { try $0.write(degrees) }
      }
    }
  }

  private static func write(_ properties: [Property], to message: BusMessage) throws {
    try message.writeDictionary {
      for property in properties {
        try message.writeEntry(property.name, property.type) { try property.write(message) }
      }
    }
  }

  private func values(_ path: String?, _ interface: String) -> [Property] {
    switch (path, interface) {
    case (Self.compass, Self.compassInterface):
      let current = state.values.withLock { $0 }
      return changes.present(current, at: BusSession.now).map(Property.compass)
    case (Self.root, Self.service):
      return [
        .flag("HasAccelerometer", false), .text("AccelerometerOrientation", "undefined"),
        .flag("HasAmbientLight", false), .text("LightLevelUnit", "lux"),
        .flag("HasProximity", false),
      ]
    default: return []
    }
  }

  func advance(_ bus: MessageBus, at now: Timestamp) throws -> Timestamp {
    if !isOwner, now >= nextName { try claimName(bus, at: now) }
    guard isOwner else { return nextName }
    let values = state.values.withLock { $0 }
    let changed = changes.take(values, isClaimed: !claimants.isEmpty, at: now)
    if !changed.isEmpty {
      try bus.signal(Self.compass, Self.properties, "PropertiesChanged") { message in
        try message.write(Self.compassInterface)
        try Self.write(changed.map(Property.compass), to: message)
        try message.container("a", "s") {}
      }
      state.values.withLock { $0.sent += 1 }
    }
    return changes.deadline(values, at: now)
  }

  private static func introspection(_ path: String) -> String {
    let head =
      "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\" "
      + "\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n"
    switch path {
    case compass:
      return head
        + "<node><interface name=\"\(compassInterface)\"><method name=\"ClaimCompass\"/>"
        + "<method name=\"ReleaseCompass\"/><property name=\"HasCompass\" type=\"b\" access=\"read\"/>"
        + "<property name=\"CompassHeading\" type=\"d\" access=\"read\"/></interface></node>"
    case root: return head + "<node><node name=\"Compass\"/></node>"
    default: return head + "<node/>"
    }
  }
}
