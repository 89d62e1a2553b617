import CLinuxIO
import CTestSupport
import Foundation
@testable import LinuxBluetooth
import LinuxIO
import Synchronization

/// A D-Bus of its own for one test.
final class PrivateBus {
  static let program = ["/usr/bin/dbus-daemon", "/bin/dbus-daemon"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  let address: String
  private let process = Process()
  private let folder: URL

  /// - Parameter policy: What nobody may, as `<deny .../>`.
  init?(policy: String = "") {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-bus-\(UUID().uuidString.prefix(8))")
    address = "unix:path=\(folder.path)/bus"
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>system</type>
        <listen>\(address)</listen>
        <policy context="default">
          <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
          <allow user="*"/><allow send_type="signal"/>\(policy)
        </policy>
      </busconfig>
      """
    let file = folder.appending(path: "bus.conf")
    let output = Pipe()
    guard let program = Self.program,
      (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true))
        != nil,
      (try? Data(configuration.utf8).write(to: file)) != nil
    else { return nil }
    process.executableURL = URL(filePath: program)
    process.arguments = [
      "--config-file=\(file.path)", "--nofork", "--nopidfile", "--print-address",
    ]
    process.standardOutput = output
    guard (try? process.run()) != nil else { return nil }
    // It prints its address as soon as it listens, and nothing when it cannot.
    guard !output.fileHandleForReading.availableData.isEmpty else { return nil }
  }

  deinit {
    // Not asked: what starts the tests may have it ignore that.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }
}

/// A bluetoothd by BlueZ's API documentation (doc/org.bluez.Adapter.rst and org.bluez.Device.rst of BlueZ 5.7x): objects,
/// a discovery, and the signals that it makes.
///
/// `@unchecked Sendable`: the connection belongs to the thread of `run`; the rest is in the mutex.
final class FakeBlueZ: @unchecked Sendable {
  struct State: Sendable {
    /// Names of adapters, and whether they are powered.
    var adapters: [String: Bool] = [:]
    /// Errors that methods are refused with.
    var refusals: [String: String] = [:]
    /// Methods that are never answered.
    var silent: Set<String> = []
    var calls: [String] = []
    var jobs: [@Sendable (MessageBus) -> Void] = []
    var isEnding = false
  }

  let state = Mutex(State())
  private let ended = DispatchSemaphore(value: 0)

  /// - Parameter name: What it is called on the bus; `nil` for a stranger.
  init?(_ address: String, name: String? = "org.bluez", adapters: [String: Bool] = [:]) {
    state.withLock { $0.adapters = adapters }
    let isReady = DispatchSemaphore(value: 0)
    let works = Mutex(false)
    Thread.detachNewThread {
      guard let bus = try? MessageBus(address: address) else {
        isReady.signal()
        self.ended.signal()
        return
      }
      let isNamed = name.map { test_bus_claim(bus.raw, $0) >= 0 } ?? true
      works.withLock { $0 = isNamed }
      isReady.signal()
      self.run(bus)
    }
    isReady.wait()
    guard works.withLock({ $0 }) else { return nil }
  }

  var calls: [String] { state.withLock { $0.calls } }

  /// Leaves the bus, as a daemon that ends does.
  func end() {
    state.withLock { $0.isEnding = true }
    ended.wait()
  }

  /// Sends a signal, after all that was asked for before.
  func signal(
    _ path: String, _ interface: String, _ member: String,
    _ write: @escaping @Sendable (BusMessage) throws -> Void
  ) {
    state.withLock { state in
      state.jobs.append { bus in
        var made: OpaquePointer?
        guard test_bus_signal(bus.raw, path, interface, member, &made) >= 0, let made else {
          return
        }
        let message = BusMessage(made)
        guard (try? write(message)) != nil else { return }
        _ = test_bus_send(bus.raw, message.raw)
      }
    }
  }

  func change(
    _ path: String, _ interface: String, lost: [String] = [],
    _ properties: @escaping @Sendable (BusMessage) throws -> Void
  ) {
    signal(path, "org.freedesktop.DBus.Properties", "PropertiesChanged") { message in
      try message.write(interface)
      try message.writeDictionary { try properties(message) }
      try message.container("a", "s") { for name in lost { try message.write(name) } }
    }
  }

  func power(_ name: String, _ isOn: Bool) {
    state.withLock { $0.adapters[name] = isOn }
    change("/org/bluez/\(name)", "org.bluez.Adapter1") { message in
      try message.writeEntry("Powered", "b") { try message.write(isOn) }
    }
  }

  func remove(_ name: String) {
    state.withLock { $0.adapters[name] = nil }
    signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved") { message in
      try message.write("/org/bluez/\(name)", as: "o")
      try message.container("a", "s") { try message.write("org.bluez.Adapter1") }
    }
  }

  private func run(_ bus: MessageBus) {
    while true {
      let (jobs, isEnding) = state.withLock { state in
        defer { state.jobs = [] }
        return (state.jobs, state.isEnding)
      }
      for job in jobs { job(bus) }
      if isEnding { break }
      do {
        while let step = try bus.next() { if let message = step { answer(message, bus) } }
      } catch { break }
      _ = lodestone_bus_wait(bus.raw, 10_000_000)
    }
    withExtendedLifetime(bus) {}
    ended.signal()
  }

  private func answer(_ call: BusMessage, _ bus: MessageBus) {
    guard !call.isSignal, let member = call.member else { return }
    let (adapters, refusal, isSilent) = state.withLock { state in
      (state.adapters, state.refusals[member], state.silent.contains(member))
    }
    var words = member
    if member == "SetDiscoveryFilter" {
      var filter: [String] = []
      try? call.entries("sv") {
        let key = try call.text()
        let text = key == "Transport" ? try call.variant("s") { try call.text() } : nil
        let flag = key == "DuplicateData" ? try call.variant("b") { try call.boolean() } : nil
        filter.append("\(key)=\(text ?? flag.map { "\($0)" } ?? "?")")
      }
      words += "(\(filter.sorted().joined(separator: ",")))"
    }
    state.withLock { $0.calls.append("\(call.path ?? "") \(words)") }
    if isSilent { return }
    var made: OpaquePointer?
    if let refusal {
      guard test_bus_refuse(call.raw, refusal, &made) >= 0 else { return }
    } else {
      guard test_bus_reply(call.raw, &made) >= 0 else { return }
    }
    guard let made else { return }
    let reply = BusMessage(made)
    if refusal == nil, member == "GetManagedObjects" {
      try? reply.container("a", "{oa{sa{sv}}}") {
        for (name, isPowered) in adapters {
          try reply.container("e", "oa{sa{sv}}") {
            try reply.write("/org/bluez/\(name)", as: "o")
            try reply.container("a", "{sa{sv}}") {
              try reply.container("e", "sa{sv}") {
                try reply.write("org.bluez.Adapter1")
                try reply.writeDictionary {
                  try reply.writeEntry("Address", "s") { try reply.write("00:11:22:33:44:55") }
                  try reply.writeEntry("Powered", "b") { try reply.write(isPowered) }
                }
              }
            }
          }
        }
      }
    }
    _ = test_bus_send(bus.raw, reply.raw)
  }
}

extension BusMessage {
  /// Properties of a device, inside of their dictionary.
  func writeDevice(strength: Int16? = nil, data: [(UInt16, [UInt8])]? = nil) throws {
    if let strength {
      try writeEntry("RSSI", "n") {
        var value = strength
        _ = lodestone_message_append(raw, CChar(bitPattern: UInt8(ascii: "n")), &value)
      }
    }
    guard let data else { return }
    try writeEntry("ManufacturerData", "a{qv}") {
      try container("a", "{qv}") {
        for (company, bytes) in data {
          try container("e", "qv") {
            var company = company
            _ = lodestone_message_append(raw, CChar(bitPattern: UInt8(ascii: "q")), &company)
            try container("v", "ay") {
              try container("a", "y") {
                for byte in bytes {
                  var byte = byte
                  _ = lodestone_message_append(raw, CChar(bitPattern: UInt8(ascii: "y")), &byte)
                }
              }
            }
          }
        }
      }
    }
  }
}
