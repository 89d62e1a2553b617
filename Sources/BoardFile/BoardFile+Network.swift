// Where sentences of NMEA 0183 come from on the network, as a board file says it.

import SensorBus
import SensorDrivers

extension BoardFile {
  /// The `host` of a receiver that is read over the network; `nil` for a chip without that key.
  static func networkSource(
    _ map: YAMLMapping, of entry: ChipDescription
  ) throws(BoardFileError) -> ServerAddress? {
    guard let host = try map.string("host") else { return nil }
    guard entry.name == "NMEA" else {
      throw map.error(
        "host",
        entry.kind == .receiver
          ? "'host' goes with 'chip: gpsd' or 'chip: NMEA': over the network a receiver is only read"
          : "'host' goes with 'chip: gpsd' or 'chip: NMEA'")
    }
    for key in ["bus", "port"] where map.has(key) {
      throw map.error("host", "either '\(key)' or 'host', not both")
    }
    for key in ["address", "baudRate"] where map.has(key) {
      throw map.error(key, "'\(key)' does not go with 'host'")
    }
    guard !host.contains("@") else {
      // It is not repeated: before the sign a password may stand.
      throw map.error("host", "'host' takes no user name and no password: tcp://HOST:PORT")
    }
    guard let address = ServerAddress(url: host) else {
      throw map.error("host", mistake(in: host))
    }
    return address
  }

  /// What is wrong with an address that cannot be read.
  private static func mistake(in host: String) -> String {
    let forms =
      "'host' is tcp://HOST:PORT, udp://:PORT or udp://ADDRESS:PORT (an address in numbers)"
    // YAML's own words, and numbers.
    guard !["true", "false", "yes", "no", "on", "off", "null", "~"].contains(host.lowercased()),
      Double(host) == nil
    else { return "\(forms), not \(host)" }
    let parts = host.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[1].isEmpty else {
      if let problem = portProblem(host) { return problem }
      // As gpsd's host is written.
      return ServerAddress(host: host, defaultPort: ServerAddress.portOfNMEA).map {
        "'host' says how as well: write tcp://\($0)"
      } ?? "\(forms), not '\(host)'"
    }
    let scheme = parts[0].lowercased()
    guard scheme == "tcp:" || scheme == "udp:" else { return "\(forms), not '\(host)'" }
    if scheme != parts[0] { return "write \(scheme)// in small letters: \(scheme)//\(parts[2])" }
    if let problem = portProblem(String(parts[2])) { return problem }
    let name = parts[2].prefix { $0 != ":" }
    if scheme == "udp:", !name.isEmpty, name.first != "[" {
      return
        "'\(name)' is a name: udp:// takes an address of this machine in numbers, and udp://:PORT hears all of them"
    }
    return "\(forms), not '\(host)'"
  }

  /// What is wrong with the port of `HOST:PORT`, or with an address that has more colons; `nil` if neither is the mistake.
  static func portProblem(_ place: String) -> String? {
    let end = place.split(separator: ":", omittingEmptySubsequences: false)
    if end.count > 2, place.first != "[" {
      return "an IPv6 address stands in brackets: [\(place)], or [\(place)]:PORT"
    }
    guard end.count > 1, let port = end.last, !port.contains("]") else { return nil }
    let isNumber = port.utf8.allSatisfy { (48...57).contains($0) }
    guard isNumber, UInt16(port).map({ $0 > 0 }) ?? false else {
      return port.isEmpty
        ? "a port is missing behind the colon: 1 to 65535"
        : "'\(port)' is no port: a port is a number from 1 to 65535"
    }
    return nil
  }
}
