// What is asked of bluetoothd, by BlueZ's API documentation (org.bluez.Adapter1, org.bluez.Device1).

import Glibc
import LinuxIO
import SensorBus

/// A connection to the bus on which bluetoothd answers.
final class BlueZBus {
  static let service = "org.bluez"
  static let adapterInterface = "org.bluez.Adapter1"
  static let deviceInterface = "org.bluez.Device1"
  private static let driver = ("org.freedesktop.DBus", "/org/freedesktop/DBus")

  let bus: MessageBus
  /// The name of the connection that is bluetoothd: whoever else sends is not heard.
  let owner: String

  init(address: String) throws(AdvertisementFailure) {
    do throws(MessageBusError) {
      bus = try MessageBus(address: address)
    } catch { throw Self.failure(connecting: error, address) }
    do {
      let reply = try bus.call(Self.driver.0, Self.driver.1, Self.driver.0, "GetNameOwner") {
        try $0.write(Self.service)
      }
      owner = try reply.text()
    } catch { throw Self.failure(error) }
  }

  /// Has the bus send what changes: of bluetoothd all signals below its objects, and whether it is there.
  func subscribe() throws(AdvertisementFailure) {
    let rules = [
      "type='signal',sender='\(Self.service)',interface='org.freedesktop.DBus.Properties',"
        + "member='PropertiesChanged',path_namespace='/org/bluez'",
      "type='signal',sender='\(Self.service)',interface='org.freedesktop.DBus.ObjectManager'",
      "type='signal',sender='\(Self.driver.0)',interface='\(Self.driver.0)',"
        + "member='NameOwnerChanged',arg0='\(Self.service)'",
    ]
    do {
      for rule in rules {
        try bus.call(Self.driver.0, Self.driver.1, Self.driver.0, "AddMatch") { try $0.write(rule) }
      }
    } catch { throw Self.failure(error) }
  }

  /// The first adapter that is powered, and the devices that bluetoothd knows.
  func poweredAdapter() throws(AdvertisementFailure) -> (path: String, devices: [BlueZChange]) {
    var adapters: [(path: String, isPowered: Bool)] = []
    var devices: [BlueZChange] = []
    do {
      let reply = try bus.call(
        Self.service, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
      try reply.entries("oa{sa{sv}}") {
        let path = try reply.text("o")
        for change in try reply.interfaces(of: path) {
          switch change.subject {
          case .adapter: adapters.append((path, change.isPowered ?? false))
          case .device: devices.append(change)
          }
        }
      }
    } catch { throw Self.failure(error) }
    adapters.sort { $0.path < $1.path }
    guard let first = adapters.first else { throw .noAdapter }
    guard let powered = adapters.first(where: \.isPowered) else {
      throw .poweredOff(Self.name(first.path))
    }
    return (powered.path, devices)
  }

  /// Starts a discovery of this connection. Other programs' go on as they are: bluetoothd merges them.
  func startDiscovery(_ adapter: String) throws(AdvertisementFailure) {
    do {
      try bus.call(Self.service, adapter, Self.adapterInterface, "SetDiscoveryFilter") { message in
        try message.writeDictionary {
          try message.writeEntry("Transport", "s") { try message.write("le") }
          try message.writeEntry("DuplicateData", "b") { try message.write(true) }
        }
      }
      try bus.call(Self.service, adapter, Self.adapterInterface, "StartDiscovery")
    } catch { throw Self.failure(error, adapter: Self.name(adapter)) }
  }

  /// Ends it; one that has ended by itself is as good.
  func stopDiscovery(_ adapter: String) {
    _ = try? bus.call(Self.service, adapter, Self.adapterInterface, "StopDiscovery")
  }

  /// `hci0` of `/org/bluez/hci0`.
  static func name(_ path: String) -> String {
    path.split(separator: "/").last.map { String($0.prefix(32)) } ?? "?"
  }

  private static func failure(
    connecting error: MessageBusError, _ address: String
  ) -> AdvertisementFailure {
    switch error.errno {
    case ENOSYS:
      .notEquipped("Bluetooth needs libsystemd.so.0: `apt install libsystemd0`")
    case ENOENT, ECONNREFUSED:
      .notEquipped("no D-Bus at \(address): `apt install dbus bluez`")
    case EACCES, EPERM: .notPermitted("the system's D-Bus")
    case ETIMEDOUT: .failed("D-Bus does not answer in 2 s")
    default: .failed("no connection to D-Bus (error \(error.errno))")
    }
  }

  private static func failure(_ error: any Error, adapter: String = "") -> AdvertisementFailure {
    guard let error = error as? MessageBusError else {
      return .failed("bluetoothd's answer is not what its documentation says")
    }
    let name = error.reply.prefix { $0 != ":" }
    switch name {
    case "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown":
      return .notEquipped(
        "bluetoothd does not run: `apt install bluez`, `systemctl enable --now bluetooth`")
    case "org.freedesktop.DBus.Error.AccessDenied", "org.bluez.Error.NotPermitted",
      "org.bluez.Error.NotAuthorized":
      return .notPermitted("\(error.reply.prefix(160))")
    case "org.bluez.Error.NotReady": return .poweredOff(adapter)
    case _ where error.errno == ETIMEDOUT: return .failed("bluetoothd does not answer in 2 s")
    case "": return .failed("the connection to bluetoothd has ended (error \(error.errno))")
    default: return .failed("bluetoothd refuses: \(error.reply.prefix(160))")
    }
  }
}

/// What became of one object of bluetoothd.
struct BlueZChange {
  enum Subject { case adapter, device }

  var path: String
  var subject: Subject
  var isPowered: Bool?
  var isDiscovering: Bool?
  var strength: Int?
  /// By company; `nil` where nothing was said of it.
  var manufacturerData: [(company: UInt16, data: [UInt8])]?
  /// Whether the strength that was known is not any more.
  var losesStrength = false
}

extension BusMessage {
  /// Companies in one advertisement that are read, and the bytes of each, at most.
  private static let (mostCompanies, mostBytes) = (8, 255)

  /// The interfaces of an object with their properties (`a{sa{sv}}`), as far as they matter.
  func interfaces(of path: String) throws -> [BlueZChange] {
    var changes: [BlueZChange] = []
    try entries("sa{sv}") {
      let interface = try text()
      if let change = try properties(of: interface, path) { changes.append(change) }
    }
    return changes
  }

  /// The properties of an interface (`a{sv}`); `nil` of one that does not matter.
  func properties(of interface: String, _ path: String) throws -> BlueZChange? {
    let subject: BlueZChange.Subject
    switch interface {
    case BlueZBus.adapterInterface: subject = .adapter
    case BlueZBus.deviceInterface: subject = .device
    default:
      try skip("a{sv}")
      return nil
    }
    var change = BlueZChange(path: path, subject: subject)
    try entries("sv") {
      switch (subject, try text()) {
      case (.adapter, "Powered"): change.isPowered = try variant("b") { try boolean() }
      case (.adapter, "Discovering"): change.isDiscovering = try variant("b") { try boolean() }
      case (.device, "RSSI"): change.strength = try variant("n") { Int(try number16()) }
      case (.device, "ManufacturerData"):
        change.manufacturerData = try variant("a{qv}") { try companies() }
      default: try skip("v")
      }
    }
    return change
  }

  private func companies() throws -> [(company: UInt16, data: [UInt8])] {
    var all: [(company: UInt16, data: [UInt8])] = []
    try entries("qv") {
      let company = try unsigned16()
      let data = try variant("ay") { try bytes(atMost: Self.mostBytes) }
      if let data, let data, all.count < Self.mostCompanies { all.append((company, data)) }
    }
    return all
  }
}
