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
      // As gpsd's host is written.
      let meant = ServerAddress(host: host, defaultPort: ServerAddress.portOfNMEA)
      throw map.error(
        "host",
        meant.map { "'host' says how as well: write tcp://\($0)" }
          ?? "'host' is tcp://HOST:PORT, udp://:PORT or udp://ADDRESS:PORT (an address in numbers), not '\(host)'"
      )
    }
    return address
  }
}
