import SensorBus
import Testing

@testable import BoardFile

/// A receiver of NMEA on the network, in a board file.
struct NetworkSourceTests {
  private func board(_ sensors: String...) throws -> Board {
    let lines = sensors.map { "  - {\($0)}\n" }.joined()
    return try BoardFile.parse("schema: 1\nname: boat\nsensors:\n" + lines, file: "boat.yaml")
  }

  private func mistake(_ sensors: String...) -> String? {
    do {
      let lines = sensors.map { "  - {\($0)}\n" }.joined()
      _ = try BoardFile.parse("schema: 1\nname: boat\nsensors:\n" + lines, file: "boat.yaml")
      return nil
    } catch { return "\(error)" }
  }

  @Test(
    "NMEA comes from a server or a UDP port",
    arguments: [
      ("tcp://boat:4001", .tcp(host: "boat", port: 4_001)),
      ("tcp://boat", .tcp(host: "boat", port: 10_110)),
      ("udp://:10110", .udp(address: nil, port: 10_110)),
      ("'udp://239.192.0.4:60004'", .udp(address: "239.192.0.4", port: 60_004)),
    ] as [(String, ServerAddress)])
  func sources(host: String, address: ServerAddress) throws {
    let sensor = try board("chip: NMEA, host: \(host), talker: GP, antennas: 90").sensors[0]
    #expect(sensor.attachment == .server(address) && sensor.talker == "GP")
    #expect(sensor.attachment.bus == address.description)
  }

  @Test(
    "every mistake says what would be right",
    arguments: [
      ("chip: NMEA", "'host' (tcp://boat:10110, udp://:10110)"),
      ("chip: NMEA, host: boat", "write tcp://boat:10110"),
      ("chip: NMEA, host: 'boat:4001'", "write tcp://boat:4001"),
      ("chip: NMEA, host: 'http://boat'", "'host' is tcp://HOST:PORT"),
      ("chip: NMEA, host: 'udp://boat:1'", "'boat' is a name: udp:// takes an address"),
      ("chip: NMEA, host: 'tcp://boat:99999'", "'99999' is no port: a port is a number from 1"),
      ("chip: NMEA, host: 'udp://:70000'", "'70000' is no port"),
      ("chip: NMEA, host: 'tcp://boat:0'", "'0' is no port"),
      ("chip: NMEA, host: 'udp://:'", "a port is missing behind the colon"),
      ("chip: NMEA, host: 'boat:99999'", "'99999' is no port"),
      ("chip: NMEA, host: 'tcp://::1'", "brackets: [::1]"),
      ("chip: NMEA, host: '::1'", "brackets: [::1]"),
      ("chip: NMEA, host: 'TCP://boat:10110'", "in small letters: tcp://boat:10110"),
      ("chip: NMEA, host: true", "'host' is tcp://HOST:PORT"),
      ("chip: NMEA, host: 10110", "'host' is tcp://HOST:PORT"),
      ("chip: gpsd, host: 'boat:99999'", "'99999' is no port"),
      ("chip: NMEA, host: tcp://boat, port: /dev/serial0", "either 'port' or 'host', not both"),
      ("chip: NMEA, host: tcp://boat, bus: /dev/i2c-1, address: 0x42", "either 'bus' or 'host'"),
      ("chip: NMEA, host: tcp://boat, baudRate: 9600", "'baudRate' does not go with 'host'"),
      ("chip: NMEA, host: tcp://boat, socket: /run/x", "'socket' goes with 'chip: gpsd'"),
      ("chip: NMEA, host: tcp://boat, device: /dev/x", "'device' goes with 'chip: gpsd'"),
      ("chip: NMEA, host: tcp://boat, dynamicModel: sea", "u-blox or GNSS"),
      ("chip: GNSS, host: tcp://boat", "'chip: NMEA': over the network a receiver is only read"),
      ("chip: u-blox, host: tcp://boat", "'chip: NMEA': over the network"),
      ("chip: BMP280, host: tcp://boat", "'host' goes with 'chip: gpsd' or 'chip: NMEA'"),
      ("chip: NMEA, host: 'tcp://boat:+1'", "'+1' is no port"),
      ("chip: NMEA, host: 'tcp://boat:-1'", "'-1' is no port"),
      ("chip: NMEA, host: 'udp://:+10110'", "'+10110' is no port"),
      ("chip: gpsd, host: 'localhost:+2947'", "'host' is a name"),
      ("chip: NMEA, host: tcp://boat, antennas: 1e-320", "'antennas' must be a number (degrees)"),
      ("chip: NMEA, host: tcp://boat, antennas: '90'", "'antennas' is a text in quotes"),
      ("chip: NMEA, port: /dev/serial0, baudRate: '9600'", "'baudRate' is a text in quotes"),
      (
        "chip: NMEA, host: tcp://boat, corrections: 'ntrip://caster.example/ROOF'",
        "over the network a receiver is only read, and takes no corrections"
      ),
      (
        "chip: NMEA, host: 'udp://:10110', corrections: 'ntrip://caster.example/ROOF'",
        "takes no corrections"
      ),
      ("chip: gpsd, host: tcp://boat", "'host' is a name or an address with a port"),
    ])
  func mistakes(sensor: String, says: String) throws {
    let words = try #require(mistake(sensor))
    #expect(words.contains(says) && words.hasPrefix("boat.yaml:4: "), "\(words)")
  }

  @Test("an address that YAML takes for a mapping has a hint")
  func unquoted() {
    do throws(BoardFileError) {
      _ = try BoardFile.parse(
        "schema: 1\nname: x\nsensors:\n  - chip: NMEA\n    host: udp://:\n", file: "x")
      Issue.record("it was read")
    } catch {
      #expect(error.line == 5 && error.message.contains("quotation marks"), "\(error)")
    }
  }

  @Test("a source is one sensor's")
  func twice() {
    let entry = "chip: NMEA, host: udp://:10110"
    #expect(mistake(entry, entry)?.contains("udp://:10110 is taken by NMEA in line 4") == true)
    #expect(mistake(entry, "chip: NMEA, host: udp://:10111") == nil)
  }

  @Test(
    "a password in an address is refused and not repeated",
    arguments: ["tcp://me:hush@boat:10110", "tcp://hush@boat", "me:hush@boat", "udp://me:hush@:1"])
  func secrecy(host: String) throws {
    let words = try #require(mistake("chip: NMEA, host: '\(host)'"))
    #expect(
      words == "boat.yaml:4: 'host' takes no user name and no password: tcp://HOST:PORT")
  }
}
