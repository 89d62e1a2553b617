import Foundation
@testable import LinuxBluetooth
import LinuxIO
import SensorBus
import Synchronization
import Testing

/// What a source has said, waited for with an end.
private final class News: Sendable {
  private let all = Mutex<[AdvertisementNews]>([])
  private let wasSaid = DispatchSemaphore(value: 0)

  func take(_ news: AdvertisementNews) {
    all.withLock { $0.append(news) }
    wasSaid.signal()
  }

  /// The next thing that was said, at most a minute from now, for machines are shared; times are left out.
  func next() -> String {
    guard wasSaid.wait(timeout: .now() + 60) == .success else { return "nothing" }
    return all.withLock { all in
      switch all.removeFirst() {
      case .listening: "listening"
      case .failed(let failure, _): "\(failure)"
      case .heard(let heard):
        "\(heard.company) \(heard.data) \(heard.strength.map { "\($0)" } ?? "-")"
      }
    }
  }
}

/// Runs a test on a thread that may wait.
private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}

/// Waits for a condition, at most a minute.
private func waits(_ condition: () -> Bool) -> Bool {
  let end = Date(timeIntervalSinceNow: 60)
  while !condition() {
    guard Date() < end else { return false }
    sched_yield()
  }
  return true
}

private let isThere = PrivateBus.program != nil

@Suite(
  .enabled(if: isThere, "LEFT OUT: BlueZ over D-Bus is not tested, dbus-daemon is not installed"))
struct BlueZTests {
  private static let device = "/org/bluez/hci0/dev_AA"
  private static let interface = "org.bluez.Device1"

  private static func source(_ address: String) -> BlueZAdvertisements {
    BlueZAdvertisements(address: address) { name, make throws(BusError) in
      try BusThread(name: name, make)
    }
  }

  @Test(
    "M13 L: without bluetoothd, without an adapter, off, on, off, removed, restarted: told, once each"
  )
  func life() async throws {
    let (said, calls, counters) = try #require(
      await onThread { () -> ([String], [String], AdvertisementCounters)? in
        guard let bus = PrivateBus() else { return nil }
        let source = BlueZTests.source(bus.address)
        let news = News()
        var said = ["\(source.problem().map { "\($0)" } ?? "none")"]
        source.start { news.take($0) }
        said.append(news.next())
        // The same again is no news.
        guard waits({ source.counters.failures >= 3 }) else { return nil }
        guard let fake = FakeBlueZ(bus.address) else { return nil }
        said.append(news.next())
        fake.state.withLock { $0.adapters = ["hci1": false] }
        said.append(news.next())
        fake.state.withLock { $0.adapters["hci0"] = true }
        said.append(news.next())
        said.append("\(source.problem().map { "\($0)" } ?? "none")")
        fake.power("hci0", false)
        said.append(news.next())
        fake.power("hci0", true)
        said.append(news.next())
        fake.state.withLock { $0.adapters["hci1"] = nil }
        fake.remove("hci0")
        said.append(news.next())
        fake.state.withLock { $0.adapters["hci0"] = true }
        said.append(news.next())
        fake.end()
        said.append(news.next())
        said.append(news.next())
        guard let other = FakeBlueZ(bus.address, adapters: ["hci0": true]) else { return nil }
        said.append(news.next())
        source.stop()
        _ = waits { other.calls.contains("/org/bluez/hci0 StopDiscovery") }
        other.end()
        return (said, other.calls, source.counters)
      })
    let absent = "bluetoothd does not run: `apt install bluez`, `systemctl enable --now bluetooth`"
    let none = "no Bluetooth adapter: plug one in, or enable the board's own"
    func off(_ name: String) -> String {
      "Bluetooth adapter \(name) is off: `bluetoothctl power on`"
    }
    #expect(
      said == [
        absent, absent, none, off("hci1"), "listening", "none", off("hci0"), "listening", none,
        "listening", "bluetoothd has ended", absent, "listening",
      ])
    #expect(
      calls == [
        "/ GetManagedObjects",
        "/org/bluez/hci0 SetDiscoveryFilter(DuplicateData=true,Transport=le)",
        "/org/bluez/hci0 StartDiscovery", "/org/bluez/hci0 StopDiscovery",
      ])
    #expect(counters.attempts >= 10 && counters.failures >= 9 && counters.malformed == 0)
  }

  /// Announces a new device, with an interface that does not matter.
  private static func addDevice(_ fake: FakeBlueZ) {
    fake.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded") { message in
      try message.write(device, as: "o")
      try message.container("a", "{sa{sv}}") {
        try message.container("e", "sa{sv}") {
          try message.write("org.bluez.Other1")
          try message.writeDictionary {
            try message.writeEntry("A", "b") { try message.write(true) }
          }
        }
        try message.container("e", "sa{sv}") {
          try message.write(interface)
          try message.writeDictionary {
            try message.writeEntry("Address", "s") { try message.write("AA") }
            try message.writeDevice(strength: -60, data: [(0x4C, [1, 2])])
          }
        }
      }
    }
  }

  /// Sends changes that say nothing, and some that no bluetoothd sends.
  private static func sayNothingOfUse(_ fake: FakeBlueZ) {
    fake.change(device, interface, lost: ["RSSI"]) { _ in }
    fake.change(device, interface) { message in
      try message.writeEntry("RSSI", "s") { try message.write("loud") }
      try message.writeEntry("ManufacturerData", "b") { try message.write(true) }
    }
    fake.signal(device, "org.freedesktop.DBus.Properties", "PropertiesChanged") {
      try $0.write(interface)
    }
    fake.signal(device, "org.freedesktop.DBus.Properties", "PropertiesChanged") {
      try $0.write(true)
    }
    fake.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded") {
      try $0.write(interface)
    }
    fake.change("/org/bluez/hci0/dev_BB", interface) {
      try $0.writeDevice(strength: -1, data: [(1, [UInt8](repeating: 7, count: 70_000))])
    }
  }

  /// Sends changes of an adapter that is not listened to, and of a stranger on the bus that speaks as bluetoothd does.
  private static func interfere(_ stranger: FakeBlueZ, beside fake: FakeBlueZ) {
    fake.change("/org/bluez/hci7", "org.bluez.Adapter1") { message in
      try message.writeEntry("Powered", "b") { try message.write(false) }
    }
    stranger.change(device, interface) { try $0.writeDevice(strength: -1, data: [(9, [9])]) }
    stranger.change("/org/bluez/hci0", "org.bluez.Adapter1") { message in
      try message.writeEntry("Powered", "b") { try message.write(false) }
    }
    stranger.end()
  }

  @Test(
    "D13 L: advertisements arrive as they are told, and nothing of what is malformed or strange")
  func advertisements() async throws {
    let (said, counters) = try #require(
      await onThread { () -> ([String], AdvertisementCounters)? in
        guard let bus = PrivateBus(),
          let fake = FakeBlueZ(bus.address, adapters: ["hci0": true]),
          let stranger = FakeBlueZ(bus.address, name: nil)
        else { return nil }
        let source = BlueZTests.source(bus.address)
        let news = News()
        source.start { news.take($0) }
        var said = [news.next()]
        let (device, interface) = (Self.device, Self.interface)
        Self.addDevice(fake)
        said.append(news.next())
        // The same on the air, louder; then the same strength, other words; then both.
        fake.change(device, interface) { try $0.writeDevice(strength: -50) }
        said.append(news.next())
        fake.change(device, interface) { try $0.writeDevice(data: [(0x4C, [3])]) }
        said.append(news.next())
        fake.change(device, interface) { try $0.writeDevice(strength: -40, data: [(0x4C, [])]) }
        said.append(news.next())
        Self.sayNothingOfUse(fake)
        Self.interfere(stranger, beside: fake)
        // After all of it the strength that was lost is not known.
        fake.change(device, interface) { try $0.writeDevice(data: [(0x4C, [5])]) }
        said.append(news.next())
        // A room of devices that each speak once.
        for number in 0..<600 {
          fake.change("/org/bluez/hci0/dev_\(number)", interface) {
            try $0.writeDevice(strength: -70, data: [(2, [1])])
          }
        }
        for _ in 0..<600 where news.next() != "2 [1] -70" { said.append("other") }
        source.stop()
        fake.end()
        return (said, source.counters)
      })
    #expect(
      said == [
        "listening", "76 [1, 2] -60", "76 [1, 2] -50", "76 [3] -50", "76 [] -40", "76 [5] -",
      ])
    #expect(counters.malformed == 3 && counters.heard == 605 && counters.forgotten == 90)
  }

  @Test("L: refusals, a bus that forbids it, and one that says nothing are told, with what to do")
  func refusals() async throws {
    let said = try #require(
      await onThread { () -> [String]? in
        guard let bus = PrivateBus(),
          let fake = FakeBlueZ(bus.address, adapters: ["hci0": true]),
          let closed = PrivateBus(policy: "<deny send_destination=\"org.bluez\"/>"),
          let hidden = FakeBlueZ(closed.address, adapters: ["hci0": true])
        else { return nil }
        var said = [
          "\(BlueZTests.source("unix:path=/nowhere/bus").problem().map { "\($0)" } ?? "")",
          "\(BlueZTests.source("nonsense").problem().map { "\($0)" } ?? "")",
          "\(BlueZTests.source(closed.address).problem().map { "\($0)" } ?? "")",
        ]
        let source = BlueZTests.source(bus.address)
        let news = News()
        fake.state.withLock { $0.refusals["StartDiscovery"] = "org.bluez.Error.NotReady" }
        source.start { news.take($0) }
        said.append(news.next())
        fake.state.withLock { $0.refusals["StartDiscovery"] = "org.bluez.Error.Failed" }
        said.append(news.next())
        fake.state.withLock { state in
          state.refusals = [:]
          state.silent = ["SetDiscoveryFilter"]
        }
        said.append(news.next())
        fake.state.withLock { $0.silent = [] }
        said.append(news.next())
        source.stop()
        fake.end()
        hidden.end()
        return said
      })
    let starts = [
      "no D-Bus at unix:path=/nowhere/bus", "no D-Bus at nonsense",
      "this user may not use Bluetooth: the group `bluetooth`", "Bluetooth adapter hci0 is off",
      "bluetoothd refuses: org.bluez.Error.Failed", "bluetoothd does not answer in 2 s",
      "listening",
    ]
    #expect(said.count == starts.count)
    for (said, start) in zip(said, starts) { #expect(said.hasPrefix(start), "\(said)") }
  }
}
