// The devices of a machine that outputs write to, as serve.yaml names them.

import BoardFile
import LinuxIO

/// A device of this machine that an output writes to.
package enum OutputDevice: Hashable, Sendable {
  /// A serial port, with its rate in bits per second.
  case serial(path: String, baudRate: Int)
  /// A pseudo terminal, with the path of its link and the number of the group that may open it.
  case terminal(path: String, group: UInt32?)
  /// The interface of a CAN bus.
  case can(interface: String)

  /// The rates of serial ports, in bits per second: those of Linux, and what devices have besides.
  static let baudRates = [
    1_200, 1_800, 2_400, 4_800, 9_600, 14_400, 19_200, 28_800, 31_250, 38_400, 56_000, 57_600,
    74_880, 76_800, 111_100, 115_200, 128_000, 153_600, 230_400, 250_000, 256_000, 460_800, 500_000,
    576_000, 614_400, 921_600,
    1_000_000, 1_152_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000, 3_500_000, 4_000_000,
  ]
  /// The rate of NMEA 0183, in bits per second.
  static let usualBaudRate = 4_800
  /// The number of bytes that may wait for a reader of a pseudo terminal.
  private static let terminalCapacity = 2_048
  /// What may wait for a serial line, in seconds of the line, and at least in bytes.
  private static let (lineSeconds, leastCapacity) = (3, 1_024)

  /// The number of bytes per second that it carries, or `nil` where that has no limit: a byte has ten bits on a serial line.
  var bytesPerSecond: Double? {
    if case .serial(_, let baudRate) = self { Double(baudRate) / 10 } else { nil }
  }

  /// What no two outputs can have.
  var name: String {
    switch self {
    case .serial(let path, _), .terminal(let path, _): path
    case .can(let interface): interface
    }
  }

  /// Makes what writes to it; `nil` for a bus.
  func makeWriter() -> LineWriter? {
    switch self {
    case .serial(let path, let rate):
      LineWriter(
        place: "\(path) (\(rate) baud)",
        capacity: max(Self.leastCapacity, rate / 10 * Self.lineSeconds)
      ) { () throws(OutputLineError) in
        try SerialOutputLine(path: path, rate: rate)
      }
    case .terminal(let path, let group):
      LineWriter(place: path, capacity: Self.terminalCapacity, knowsListeners: true) {
        () throws(OutputLineError) in
        try OutputTerminal(path: path, group: group)
      }
    case .can: nil
    }
  }
}

extension OutputDevice {
  /// The keys of serve.yaml that name a device.
  static let keys = ["device", "baudRate", "path", "group", "interface"]

  /// Reads the device of an output; `nil` for one of the network.
  static func parse(
    _ entry: YAMLMapping, _ transport: OutputSettings.Transport
  ) throws(BoardFileError) -> OutputDevice? {
    let used: [String]
    var device: OutputDevice?
    switch transport {
    case .tcp, .udp, .client: used = []
    case .serial:
      used = ["device", "baudRate"]
      device = .serial(
        path: try path("device", entry),
        baudRate: try baudRate(entry) ?? usualBaudRate)
    case .pty:
      used = ["path", "group"]
      device = .terminal(path: try path("path", entry), group: try group(entry))
    case .can:
      used = ["interface"]
      let name = try entry.requiredString("interface")
      // The kernel's limit; a name with these characters is none.
      guard name.utf8.count <= 15, !name.contains("/"), !name.contains(" ") else {
        throw entry.error("interface", "'interface' is the name of an interface, such as can0")
      }
      device = .can(interface: name)
    }
    for key in keys where entry.has(key) && !used.contains(key) {
      throw entry.error(key, "'\(key)' does not go with transport: \(transport.rawValue)")
    }
    if device != nil {
      for key in ["address", "port"] where entry.has(key) {
        throw entry.error(key, "'\(key)' does not go with transport: \(transport.rawValue)")
      }
    }
    return device
  }

  private static func baudRate(_ entry: YAMLMapping) throws(BoardFileError) -> Int? {
    guard let rate = try entry.integer("baudRate", in: 1_200...4_000_000) else { return nil }
    guard baudRates.contains(rate) else {
      throw entry.error(
        "baudRate",
        "no serial device has \(rate) baud; usual values of 'baudRate' are 4800, 9600, 38400, 57600 and 115200"
      )
    }
    return rate
  }

  private static func path(
    _ key: String, _ entry: YAMLMapping
  ) throws(BoardFileError) -> String {
    let path = try entry.requiredString(key)
    guard path.hasPrefix("/"), !path.hasSuffix("/"), path.utf8.count <= 200 else {
      throw entry.error(key, "'\(key)' is a path from the root, of 200 bytes at most")
    }
    return path
  }

  private static func group(_ entry: YAMLMapping) throws(BoardFileError) -> UInt32? {
    guard let name = try entry.string("group") else { return nil }
    guard let number = ServeFile.number(ofGroup: name) else {
      throw entry.error("group", "there is no group '\(name)' on this machine")
    }
    return number
  }
}
