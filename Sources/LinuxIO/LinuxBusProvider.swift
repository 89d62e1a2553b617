import CLinuxIO
import Glibc
package import SensorBus
package import SensorTypes
import Synchronization

/// The buses of this machine.
package final class LinuxBusProvider: BusProvider {
  private struct WeakBus {
    weak var bus: I2CBus?
  }

  private let calls: any I2CCalls
  private let open = Mutex<[String: WeakBus]>([:])
  private let devices: String
  private let nodes: String
  private let rounds = RoundsRegistry()

  /// Makes a provider; nothing is opened yet.
  package convenience init() { self.init(calls: KernelI2C()) }

  /// - Parameters:
  ///   - devices: Where sysfs lists I2C devices.
  ///   - nodes: Where the buffers of IIO devices are.
  init(
    calls: any I2CCalls, devices: String = "/sys/bus/i2c/devices", nodes: String = "/dev"
  ) {
    self.calls = calls
    self.devices = devices
    self.nodes = nodes
  }

  /// `CLOCK_MONOTONIC`.
  package func now() -> Timestamp { Timestamp(nanoseconds: lodestone_monotonic()) }

  /// `CLOCK_REALTIME`, seconds since 1970.
  package func wallTime() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
  }

  /// Whether the kernel's clock is disciplined (`adjtimex`): by NTP, or by a receiver through chrony. A clock chip alone
  /// does not count: one without a battery, like a Raspberry Pi 5's, gives the time of the last shutdown.
  package var isWallTimeSet: Bool { lodestone_clock_is_set() == 1 }

  /// The chip at `address`; opens the bus for this process if it is not open yet.
  package func registerDevice(bus: String, address: UInt8) throws(BusError) -> any RegisterDevice {
    if let driver = KernelDriver.name(bus: bus, address: address, devices: devices) {
      throw BusError(.ownedByKernel(driver: driver), bus: bus, address: address, errno: EBUSY)
    }
    return LinuxRegisterDevice(bus: try shared(bus), address: address)
  }

  /// The chip's folder in sysfs.
  package func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice {
    guard KernelDriver.name(bus: bus, address: address, devices: devices) != nil,
      let folder = KernelDriver.folder(bus: bus, address: address, devices: devices)
    else { throw BusError(.notFound, bus: bus, address: address, errno: ENOENT) }
    return LinuxKernelDevice(folder: folder, nodes: nodes, registry: rounds)
  }

  /// A serial port, raw and for this process alone.
  package func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    try SerialPort(path: port, rate: baudRate)
  }

  /// A TCP connection, a Unix socket, a UDP port, or a program's datagram socket.
  package func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    switch server {
    case .tcp, .unix: try SocketStream(server)
    case .udp(let address, let port):
      try DatagramStream(address: address, port: port, place: server.description)
    case .datagrams(let path): try DatagramSink(path: path)
    }
  }

  /// A TCP connection, with OpenSSL where it is encrypted.
  package func networkStream(
    to server: ServerAddress, isEncrypted: Bool, within seconds: Double
  ) throws(BusError) -> any NetworkStream {
    if isEncrypted { return try TLSStream(server, within: seconds) }
    return try SocketStream(server, within: seconds)
  }

  /// A GPIO line through libgpiod, requested for rising edges.
  package func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    try EdgeLine(name)
  }

  /// The nodes `/dev/i2c-N`, in order of number.
  package func registerBuses() -> [String] {
    PortHolder.entries("/dev").compactMap { name in
      name.hasPrefix("i2c-") ? Int(name.dropFirst(4)) : nil
    }.sorted().map { "/dev/i2c-\($0)" }
  }

  /// `/dev/serial0` and the ports by identity.
  package func serialPorts() -> [String] {
    // The names that mean the same after every boot come first.
    var ports = access("/dev/serial0", F_OK) == 0 ? ["/dev/serial0"] : []
    ports += PortHolder.entries("/dev/serial/by-id").sorted().map { "/dev/serial/by-id/\($0)" }
    return ports
  }

  // A bus is opened once a process and closed when its last chip is let go.
  private func shared(_ path: String) throws(BusError) -> I2CBus {
    let result: Result<I2CBus, BusError> = open.withLock { open in
      if let bus = open[path]?.bus { return .success(bus) }
      do throws(BusError) {
        let bus = try I2CBus(path: path, calls: calls)
        open[path] = WeakBus(bus: bus)
        return .success(bus)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
