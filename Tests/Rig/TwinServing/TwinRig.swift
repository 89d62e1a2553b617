// A board of twins behind a real kernel's buses: what is connected where, and the loop that serves it.

import CVhostUser
import Glibc
package import SensorBus
import SensorTypes
package import SimulatedDevices

/// Serves the simulated chips of one board to a guest: I2C buses and a GPIO chip by vhost-user sockets,
/// receivers and a control line by pseudo terminals. All in one thread: the guest's transfers change
/// when the next edge comes, and nothing here waits for anything else.
package final class TwinRig {
  /// Why `run` came back.
  package enum Ending: Sendable {
    /// Every guest has gone.
    case disconnected
    /// SIGTERM or SIGINT.
    case signal
    /// Nobody came within the time given.
    case nobody
  }

  private let provider: SimulatedBusProvider
  private let log: Log
  private let signals: Int32
  private var stations: [any Station] = []
  private var sockets: [VhostUserSocket] = []
  private var buses: [(name: String, device: I2CDevice)] = []
  private var gpio: GPIODevice?
  private var control: ControlLine?
  /// Seconds for which the machine kept the loop from running when it was due: a chip that should have measured
  /// meanwhile did not, which is no fault of who reads it.
  private var stoodStill = 0.0 {
    didSet { control?.stoodStill = stoodStill }
  }
  /// Longest wait of the loop, nanoseconds: a bound, so that nothing that was missed is missed for good.
  private static let longestWait: Int64 = 1_000_000_000
  /// A processor's own haste: waking up and a round's work take tens of microseconds, and on a busy one less than
  /// this, seconds.
  private static let haste = 0.001

  /// Makes a rig with nothing connected; from here on SIGTERM and SIGINT end `run` and nothing else.
  ///
  /// - Parameters:
  ///   - provider: The board, with an infinite `busTimeout` and one attempt at a transfer: a slow chip takes its time here, and
  ///     the guest repeats what is disturbed.
  ///   - log: Takes a line for a person.
  package init(provider: SimulatedBusProvider, log: @escaping (String) -> Void) throws {
    self.provider = provider
    self.log = Log(log)
    signals = twin_signals_open()
    guard signals >= 0 else { throw RigError.call("signals", errno: -signals) }
  }

  deinit { close(signals) }

  /// Offers an I2C bus of the board at a socket, for a virtio device 34.
  package func serveBus(_ bus: String, at socket: String) throws {
    guard provider.registerBuses().contains(bus) else {
      throw RigError(
        "\(bus): the board has \(provider.registerBuses().joined(separator: ", "))")
    }
    let device = I2CDevice(bus: bus, provider: provider)
    try add(VhostUserSocket(path: socket, device: device, log: log))
    buses.append((bus, device))
  }

  /// Offers a GPIO chip with these lines at a socket, for a virtio device 41.
  package func serveLines(_ lines: [InterruptLineName], at socket: String) throws {
    let device = try GPIODevice(lines, provider: provider)
    try add(VhostUserSocket(path: socket, device: device, log: log))
    gpio = device
  }

  private func add(_ socket: VhostUserSocket) {
    sockets.append(socket)
    stations.append(socket)
  }

  /// Offers a receiver of the board at a pseudo terminal, which gets a link of that name; says its path.
  package func serveSerial(_ port: String, link: String?) throws -> String {
    let line = try SerialLine(port: port, link: link, provider: provider)
    stations.append(line)
    return line.terminal.path
  }

  /// Offers the control line at a pseudo terminal; the chips' names in the board's order. Says its path.
  package func serveControl(names: [String], link: String?) throws -> String {
    let line = try ControlLine(link: link, control: RigControl(provider: provider, names: names))
    stations.append(line)
    self.control = line
    return line.terminal.path
  }

  /// Serves until every guest has gone, or a signal comes, or `patience` seconds pass without a guest.
  package func run(patience: Double) -> Ending {
    twin_wake_exactly()
    let start = provider.now()
    var watch = PollSet()
    while true {
      let now = provider.now()
      var deadline = Timestamp(nanoseconds: now.nanoseconds + Self.longestWait)
      watch.clear()
      watch.add(signals)
      for station in stations {
        station.watch(&watch)
        deadline = min(deadline, station.deadline(now: now))
      }
      let asleep = provider.now()
      watch.wait(nanoseconds: max(0, deadline.nanoseconds - asleep.nanoseconds))
      let awake = provider.now()
      if watch.has(signals) { return .signal }
      for station in stations { station.step(watch, now: provider.now()) }
      for late in [
        awake.seconds(since: max(deadline, asleep)), provider.now().seconds(since: awake),
      ] where late > Self.haste {
        stoodStill += late
      }
      if !sockets.isEmpty, !sockets.contains(where: \.isConnected) {
        if sockets.contains(where: \.wasConnected) { return .disconnected }
        if now.seconds(since: start) > patience { return .nobody }
      }
    }
  }

  /// What was served, as lines for a person.
  package var report: [String] {
    var lines = buses.map {
      "\($0.name): \($0.device.counts.messages) messages, "
        + "\($0.device.counts.failed) of them failed"
    }
    if let counts = gpio?.counts {
      let met = counts.edges - counts.latched
      let mean = met > 0 ? Double(counts.lateness) / Double(met) / 1_000 : 0
      lines.append(
        "lines: \(counts.edges) edges, \(counts.latched) of them latched, the others "
          + "\(Int(mean.rounded())) us late in the mean and "
          + "\(counts.worstLateness / 1_000) us at worst")
    }
    lines.append("stood still for \(Int((stoodStill * 1000).rounded())) ms")
    return lines
  }
}
