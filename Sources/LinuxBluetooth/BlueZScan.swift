// One discovery of bluetoothd, kept going.

import CLinuxIO
import LinuxIO
import SensorBus
import SensorTypes
import Synchronization

/// Connects, listens, and after a loss tries again; on a thread of its own.
final class BlueZScan: BusWork {
  /// Devices whose last words are kept, at most; then the one that was silent for longest is forgotten.
  private static let mostDevices = 512
  /// Messages that are taken in one step.
  private static let messagesAStep = 64
  /// The first and the longest pause before another attempt, seconds.
  private static let (shortest, longest) = (0.25, 2.0)

  private struct Device {
    var data: [(company: UInt16, data: [UInt8])] = []
    var strength: Int?
    var time: Timestamp
  }

  private struct Discovery {
    let bluez: BlueZBus
    let adapter: String
  }

  private let address: String
  private let counters: BlueZCounters
  private let tell: (AdvertisementNews) -> Void
  private var discovery: Discovery?
  private var devices: [String: Device] = [:]
  private var told: AdvertisementFailure?
  private var pause = shortest
  private var nextAttempt = Timestamp(nanoseconds: .min)

  init(
    address: String, counters: BlueZCounters, tell: @escaping (AdvertisementNews) -> Void
  ) {
    (self.address, self.counters, self.tell) = (address, counters, tell)
  }

  static var now: Timestamp { Timestamp(nanoseconds: lodestone_monotonic()) }

  func step() -> Timestamp {
    if discovery == nil {
      guard Self.now >= nextAttempt else { return nextAttempt }
      open()
    }
    guard let discovery else { return nextAttempt }
    do {
      for _ in 0..<Self.messagesAStep {
        guard let step = try discovery.bluez.bus.next() else { return .distantFuture }
        if let message = step { try take(message, discovery) }
      }
      return Self.now
    } catch let failure as AdvertisementFailure {
      lose(failure)
    } catch {
      lose(.failed("the connection to D-Bus has ended"))
    }
    return nextAttempt
  }

  func forEachReadiness(_ body: (Readiness) -> Void) {
    guard let discovery else { return }
    body(.descriptor(discovery.bluez.bus.descriptor))
  }

  func finish() {
    guard let discovery else { return }
    discovery.bluez.stopDiscovery(discovery.adapter)
  }

  private func open() {
    counters.attempts.add(1, ordering: .relaxed)
    do throws(AdvertisementFailure) {
      let bluez = try BlueZBus(address: address)
      // Before the list, so that nothing that changes after it is missed.
      try bluez.subscribe()
      let (adapter, known) = try bluez.poweredAdapter()
      devices = [:]
      for device in known { remember(device) }
      try bluez.startDiscovery(adapter)
      discovery = Discovery(bluez: bluez, adapter: adapter)
      (pause, told) = (Self.shortest, nil)
      tell(.listening(Self.now))
    } catch { lose(error) }
  }

  // A loss that goes on is told once; another reason is news.
  private func lose(_ failure: AdvertisementFailure) {
    counters.failures.add(1, ordering: .relaxed)
    discovery = nil
    devices = [:]
    nextAttempt = Self.now.advanced(bySeconds: pause)
    pause = min(2 * pause, Self.longest)
    guard failure != told else { return }
    told = failure
    tell(.failed(failure, Self.now))
  }

  private func take(_ message: BusMessage, _ discovery: Discovery) throws(AdvertisementFailure) {
    guard message.isSignal else { return }
    if message.sender == "org.freedesktop.DBus" {
      // Only the one that was asked for, and those to this connection, which say nothing of bluetoothd.
      guard message.member == "NameOwnerChanged", (try? message.text()) == BlueZBus.service
      else { return }
      throw .failed("bluetoothd has ended")
    }
    guard message.sender == discovery.bluez.owner else { return }
    do {
      switch (message.member, message.path) {
      case ("PropertiesChanged", let path?):
        let interface = try message.text()
        guard var change = try message.properties(of: interface, path) else { return }
        change.losesStrength = try message.texts().contains("RSSI")
        try take(change, discovery)
      case ("InterfacesAdded", _):
        let path = try message.text("o")
        for change in try message.interfaces(of: path) { try take(change, discovery) }
      case ("InterfacesRemoved", _):
        let path = try message.text("o")
        let interfaces = try message.texts()
        if path == discovery.adapter, interfaces.contains(BlueZBus.adapterInterface) {
          throw AdvertisementFailure.noAdapter
        }
        if interfaces.contains(BlueZBus.deviceInterface) { devices[path] = nil }
      default: break
      }
    } catch let failure as AdvertisementFailure {
      throw failure
    } catch { counters.malformed.add(1, ordering: .relaxed) }
  }

  private func take(_ change: BlueZChange, _ discovery: Discovery) throws(AdvertisementFailure) {
    switch change.subject {
    case .adapter:
      guard change.path == discovery.adapter else { return }
      if change.isPowered == false { throw .poweredOff(BlueZBus.name(change.path)) }
      if change.isDiscovering == false { throw .failed("bluetoothd has ended the discovery") }
    case .device:
      remember(change)
      // The other half is as it was: bluetoothd tells what has changed. What only lost its strength was not heard.
      guard change.strength != nil || change.manufacturerData != nil,
        let device = devices[change.path]
      else { return }
      for entry in device.data {
        counters.heard.add(1, ordering: .relaxed)
        tell(
          .heard(
            Advertisement(
              company: entry.company, data: entry.data, strength: device.strength,
              time: device.time)))
      }
    }
  }

  private func remember(_ change: BlueZChange) {
    let time = Self.now
    if devices[change.path] == nil, devices.count >= Self.mostDevices,
      let oldest = devices.min(by: { $0.value.time < $1.value.time })
    {
      devices[oldest.key] = nil
      counters.forgotten.add(1, ordering: .relaxed)
    }
    var device = devices[change.path] ?? Device(time: time)
    device.time = time
    if change.losesStrength { device.strength = nil }
    if let strength = change.strength { device.strength = strength }
    if let data = change.manufacturerData { device.data = data }
    devices[change.path] = device
  }
}
