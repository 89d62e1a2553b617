import SensorBus
import Testing

/// Where sentences come from on the network, as text.
struct ServerAddressTests {
  @Test(
    "a server of NMEA or a UDP port is read, with its usual port where none is given",
    arguments: [
      ("tcp://boat:4001", .tcp(host: "boat", port: 4_001), "boat:4001"),
      ("tcp://boat", .tcp(host: "boat", port: 10_110), "boat:10110"),
      ("tcp://[fe80::1]:5", .tcp(host: "fe80::1", port: 5), "[fe80::1]:5"),
      ("udp://", .udp(address: nil, port: 10_110), "udp://:10110"),
      ("udp://:2000", .udp(address: nil, port: 2_000), "udp://:2000"),
      (
        "udp://239.192.0.4:60004", .udp(address: "239.192.0.4", port: 60_004),
        "udp://239.192.0.4:60004"
      ),
      (
        "udp://192.168.1.255", .udp(address: "192.168.1.255", port: 10_110),
        "udp://192.168.1.255:10110"
      ),
      ("udp://[ff02::7]:60004", .udp(address: "ff02::7", port: 60_004), "udp://[ff02::7]:60004"),
    ] as [(String, ServerAddress, String)])
  func urls(text: String, address: ServerAddress, words: String) {
    #expect(ServerAddress(url: text) == address)
    #expect(address.description == words)
  }

  @Test(
    "anything else is not",
    arguments: [
      "", "boat:4001", "tcp:", "tcp:/boat", "tcp://", "tcp://:5", "tcp://boat:0",
      "tcp://boat:65536",
      "tcp://boat/", "tcp:// boat", "http://boat", "udp://boat:1", "udp://1.2.3:1",
      "udp://1.2.3.256:1",
      "udp://+1.2.3.4", "udp://[::1", "udp://::1", "udp://:x", "udp://1.2.3.4:1/x", "TCP://boat",
    ])
  func wrong(text: String) { #expect(ServerAddress(url: text) == nil) }
}
