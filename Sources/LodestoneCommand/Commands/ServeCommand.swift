import ArgumentParser
import BoardFile
import DaemonUI
import Foundation
import LocationDaemon
import Lodestone
import LogConversion
import StateStore
import TerminalUI

/// `lodestone serve`: the board for all programs of this machine.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Own the board, and serve all programs of this machine.",
    discussion: """
      Programs that use CoreLocation, CoreMotion or MapKit find the daemon by its socket, \(DaemonLocator.systemSocket), or by \
      LODESTONE_SOCKET, unless LODESTONE_BOARD names a board that they open themselves. The kernel names each of them: its executable, \
      its user, its systemd unit. What the rules of this machine (lodestone authorization) keep from it never leaves the daemon.

      Regions are monitored while their program is away, and it hears of them when it comes back.

      \(ServeFile.systemFile) configures the daemon:

        schema: 1
        board: gy-87-hmc5883l      # a name or a path
        socket: /run/lodestone/lodestone.sock
        stream: /run/lodestone/stream.sock
        tcp: {address: 0.0.0.0, port: 2950, positions: none}
        web: {address: 0.0.0.0, port: 8080, positions: exact}
        outputs:
          - {protocol: gpsd, positions: exact}
          - {protocol: nmea0183, address: 0.0.0.0, positions: exact}
          - {protocol: nmea0183, transport: udp, address: 192.168.1.255, sentences: {HDG: 0.1, RMC: 1}, talker: II}
          - {protocol: signalk, address: 0.0.0.0, positions: exact}
          - {protocol: signalk, server: "http://boat.local:3000", label: mast, positions: exact}
          - {protocol: nmea0183, transport: serial, device: /dev/ttyUSB0, baudRate: 4800, positions: exact}
          - {protocol: nmea0183, transport: pty, path: /run/lodestone/nmea, group: dialout, positions: exact}
          - {protocol: nmea2000, interface: can0, pgns: {127250: 0.1, 129025: 0.2}, reference: magnetic, positions: exact}
          - {protocol: mavlink, address: 192.168.1.7, system: 1, component: 191, messages: {GPS_INPUT: 0.2}, positions: exact}
          - {protocol: openmetrics, address: 0.0.0.0, positions: exact}
          - {protocol: foxglove, address: 0.0.0.0, positions: exact}
          - {protocol: influxdb, server: "https://database.example.org:8086", organization: home, bucket: boat, tokenFile: /etc/lodestone/influxdb.token}
          - {protocol: mqtt, address: broker.example, tls: true, credentials: /etc/lodestone/mqtt, positions: exact}
          - {protocol: sensorproxy}
        group: location
        agents: [pi]
        realtime: 20
        connections: {total: 1024, perUser: 256}

      Every key but schema may be left out. stream has lines of JSON for other languages ('none': no stream), tcp the same for everybody \
      who reaches the port. web is the page of lodestone map for everybody who has its token, with tiles and tokenFile as further keys, \
      and the lines as a WebSocket: /stream?token=TOKEN&subscribe=heading,location&rate=5. An address is 127.0.0.1 if it is left out; \
      positions is exact, reduced or none, and if it is left out none for tcp, exact for web. Only users of group may connect. \
      agents may answer prompts, calibrate and record, as root may. realtime is the SCHED_FIFO priority of the threads of the buses.

      outputs are protocols that the daemon speaks. Whoever reaches one gets what positions allows: none if it is left out.

        gpsd         programs that are written for gpsd find the board at port 2947
        nmea0183     listens at port 10110, or sends datagrams there with transport: udp; sentences chooses which, each with the seconds \
      from one to the next, talker whose they are. transport: serial writes to a device that nobody else uses and that may be plugged in \
      later (4800 baud unless baudRate says more; more than the line carries is an error), pty to a pseudo terminal that programs open \
      at path
        nmea2000     a device of the bus at a CAN interface, which is to be up with 250000 bit/s; uniqueNumber follows from the machine if \
      it is left out, instance tells several boards apart, surroundings says where the barometer is
        signalk      listens at port 8375, sends datagrams there with transport: udp, or is an input of a Signal K server with server: it \
      asks for access as label, for a person there to approve, or logs in with the USER:PASSWORD of the file credentials (mode 600). rate \
      is the greatest number of values a second; vessel (urn:mrn:imo:mmsi:...) makes the board the vessel's own server
        mqtt         publishes to a broker of MQTT 5, where Home Assistant discovers the board: name tells boards apart (the machine's, if \
      it is left out), interval and headingInterval are seconds from one value to the next (10 and 1), credentials is a file of mode 600 \
      with USER:PASSWORD, caFile has the authorities of the broker's certificate in place of the system's, topicPrefix and \
      discoveryPrefix are lodestone and homeassistant; without tls everybody on the way can read the password
        mavlink      sends to port 14550 of address, or with transport: serial to a device; it takes no commands
        foxglove     messages of ROS 2 live at port 8765: open a connection of the kind Foxglove WebSocket in Foxglove or Lichtblick. \
      origins names further web pages that may connect, interval the seconds between two messages of motion (0.05)
        openmetrics  /metrics for Prometheus at port 2951, without a token; the chips are awake for five minutes after a scrape. board is \
      the name of the board there; without it that of the machine. hosts names further host names by which scrapers may ask, besides \
      numeric addresses, localhost and the machine's own name, with and without .local
        influxdb     points every 10 seconds (interval) to a database over HTTP, with the token of tokenFile (mode 600), or as datagrams to \
      port 8089 with transport: udp and an address; board as with openmetrics
        sensorproxy  the compass of desktops over D-Bus (net.hadess.SensorProxy), unless iio-sensor-proxy has that name

      --try PROTOCOL prints what a peer of this protocol would receive, until a signal ends it: lines of text as they are, binary messages \
      with their fields, decoded from the bytes. It uses the first output of this protocol in the configuration, or the default settings. \
      Nothing is sent, and no port or device is opened. If a daemon runs, its board is used; otherwise the board is opened.

      SIGHUP makes it read the rules of this machine again. Exit code 78 when the configuration, the board file or the rules are wrong: \
      a service manager need not try again.
      """)

  @OptionGroup var board: BoardOptions

  @Option(
    help: "The configuration. Default: \(ServeFile.systemFile), if there is one.",
    completion: .file())
  var configuration: String?

  @Option(help: "The socket at which programs arrive.", completion: .file())
  var socket: String?

  @Flag(help: "Print the state of the daemon that runs, and end.")
  var status = false

  @Option(help: "For --status: text or json.")
  var format = OutputFormat.text

  @Option(
    name: .customLong("try"),
    help: ArgumentHelp(
      "Print what an output of this protocol would send: \(OutputSettings.names.joined(separator: ", ")).",
      valueName: "protocol"),
    completion: .list(OutputSettings.names))
  var shown: String?

  @OptionGroup var duration: DurationOptions

  func validate() throws {
    guard let shown else {
      if duration.seconds != nil { throw ValidationError("--seconds goes with --try") }
      return
    }
    let names = OutputSettings.names
    guard names.contains(shown) else {
      throw ValidationError(
        "'\(shown)' is not a protocol. The protocols are \(names.joined(separator: ", "))")
    }
    if status || socket != nil {
      throw ValidationError("--status and --socket do not go with --try")
    }
  }

  func run() throws {
    if status {
      return try StatusReport.print(of: socket ?? DaemonLocator.socketOfCommands, format)
    }
    var settings = try Self.settings(configuration)
    if let shown {
      let file = configuration ?? ServeFile.systemFile
      return try PreviewRun(
        shown, settings, file: file, board: board.name, seconds: duration.seconds
      ).run()
    }
    settings.board = board.name ?? settings.board
    settings.socket = socket ?? settings.socket
    try ServeRun(
      settings, file: configuration ?? ServeFile.systemFile, openTiles: TileFiles.open
    ).run()
  }

  private static func settings(_ path: String?) throws -> ServeConfiguration {
    let file = path ?? ServeFile.systemFile
    guard path != nil || FileManager.default.fileExists(atPath: file) else {
      return ServeConfiguration()
    }
    let text: String
    do throws(FileProblem) {
      text = try TextFile.read(file, limit: ServeFile.limit, isNamed: true)
    } catch {
      let isMissing = error.code == 0 || error.code == ENOENT
      throw CommandError("\(error)", kind: isMissing ? .configuration : .init(error))
    }
    return try ServeFile.parse(text, file: file)
  }
}
