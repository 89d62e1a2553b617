// What serve.yaml says of outputs on lines and buses, and of NMEA 2000 and MAVLink.

import BoardFile
import FacadeTestSupport
import Glibc
import LocationServices
import Lodestone
import OutputProtocols
import SensorTypes
import Testing

@testable import LocationDaemon

struct OutputDeviceTests {
  private static func outputs(_ lines: String) throws -> [OutputSettings] {
    try ServeFile.parse("schema: 1\noutputs:\n" + lines, file: "serve.yaml").outputs
  }

  private static func problem(_ entry: String) -> (line: Int, message: String)? {
    do {
      _ = try ServeFile.parse("schema: 1\noutputs:\n  - \(entry)", file: "serve.yaml")
      return nil
    } catch {
      return (error.line, error.message)
    }
  }

  @Test("a serial line has the rate of NMEA 0183 and what that carries, unless somebody chooses")
  func serial() throws {
    let outputs = try Self.outputs(
      """
        - {protocol: nmea0183, transport: serial, device: /dev/ttyUSB0}
        - {protocol: nmea0183, transport: serial, device: /dev/ttyUSB1, baudRate: 38400}
        - {protocol: nmea0183, transport: serial, device: /dev/ttyUSB2, sentences: {HDT: 0.1}}
      """)
    #expect(outputs[0].device == .serial(path: "/dev/ttyUSB0", baudRate: 4_800))
    #expect(outputs[0].kind == .nmea0183(.slow))
    #expect(outputs[1].kind == .nmea0183(.standard))
    #expect(NMEAConfiguration.slow.bytesPerSecond <= 480)
    var chosen = NMEAConfiguration()
    chosen.set(.hdt, interval: 0.1)
    #expect(outputs[2].kind == .nmea0183(chosen))
  }

  @Test("a pseudo terminal has a path, and a group that may open it")
  func terminal() throws {
    let outputs = try Self.outputs(
      """
        - {protocol: nmea0183, transport: pty, path: /run/lodestone/nmea, group: root}
        - {protocol: nmea0183, transport: pty, path: /run/lodestone/other}
      """)
    #expect(outputs[0].device == .terminal(path: "/run/lodestone/nmea", group: 0))
    #expect(outputs[1].device == .terminal(path: "/run/lodestone/other", group: nil))
    #expect(outputs[1].kind == .nmea0183(.standard))
  }

  @Test("NMEA 2000 and MAVLink, as they are and as somebody chooses")
  func protocols() throws {
    let outputs = try Self.outputs(
      """
        - {protocol: nmea2000, interface: can0}
        - protocol: nmea2000
          interface: can1
          positions: exact
          reference: "true"
          surroundings: mainCabin
          instance: 3
          uniqueNumber: 77
          pgns: {127250: 0.2, 129025: 0.5}
        - {protocol: mavlink, address: 192.168.1.7}
        - {protocol: mavlink, transport: serial, device: /dev/ttyAMA0, baudRate: 57600, system: 2, component: 192}
        - {protocol: mavlink, address: 127.0.0.1, port: 14551, messages: {GPS_INPUT: 0.25}}
      """)
    #expect(outputs[0].kind == .nmea2000(NMEA2000Settings()))
    #expect(outputs[0].device == .can(interface: "can0") && outputs[0].transport == .can)
    var settings = NMEA2000Settings()
    (settings.options.reference, settings.options.place) = (.trueNorth, .mainCabin)
    (settings.options.instance, settings.deviceInstance) = (3, 3)
    settings.uniqueNumber = 77
    settings.entries = [
      NMEA2000Entry(pgn: 127_250, interval: 0.2, priority: 2),
      NMEA2000Entry(pgn: 129_025, interval: 0.5, priority: 2),
    ]
    #expect(outputs[1].kind == .nmea2000(settings) && outputs[1].positions == .exact)
    #expect(outputs[2].kind == .mavlink(MAVLinkSettings()))
    #expect(outputs[2].transport == .udp && outputs[2].port == 14_550)
    #expect(outputs[2].address == "192.168.1.7")
    var second = MAVLinkSettings()
    (second.system, second.component) = (2, 192)
    #expect(outputs[3].kind == .mavlink(second))
    guard case .mavlink(let third) = outputs[4].kind else {
      Issue.record("no MAVLink")
      return
    }
    #expect(third.entries.map(\.kind) == [.heartbeat, .gpsInput])
    #expect(third.entries[1].interval == 0.25)
  }

  @Test(
    "what a line cannot carry, and what no transport has, is a mistake of the file",
    arguments: [
      ("{protocol: nmea0183, transport: serial}", "device"),
      ("{protocol: nmea0183, transport: serial, device: ttyUSB0}", "from the root"),
      ("{protocol: nmea0183, transport: serial, device: /dev/ttyS0, baudRate: 300}", "baudRate"),
      ("{protocol: nmea0183, transport: serial, device: /dev/ttyS0, baudRate: 4801}", "4801 baud"),
      ("{protocol: nmea0183, transport: serial, device: /dev/ttyS0, port: 1}", "does not go with"),
      ("{protocol: nmea0183, transport: serial, device: /dev/ttyS0, path: /p}", "does not go with"),
      (
        "{protocol: nmea0183, transport: serial, device: /dev/ttyS0, sentences: {RMC: 0.1}}",
        "carries 480"
      ),
      ("{protocol: nmea0183, transport: pty, path: /run/x, baudRate: 4800}", "does not go with"),
      ("{protocol: nmea0183, transport: pty, path: /run/x, group: no-such-group}", "no group"),
      ("{protocol: nmea0183, transport: can}", "transport"),
      ("{protocol: nmea0183, device: /dev/ttyS0}", "does not go with"),
      ("{protocol: nmea2000}", "interface"),
      ("{protocol: nmea2000, interface: can0, transport: tcp}", "transport"),
      ("{protocol: nmea2000, interface: can0, sentences: {HDG: 1}}", "does not go with"),
      ("{protocol: nmea2000, interface: a-name-that-is-too-long}", "interface"),
      ("{protocol: nmea2000, interface: can0, pgns: {127250: 0.01}}", "127250"),
      ("{protocol: nmea2000, interface: can0, pgns: {59904: 1}}", "59904"),
      ("{protocol: nmea2000, interface: can0, pgns: {}}", "needs a parameter group"),
      ("{protocol: nmea2000, interface: can0, reference: north}", "reference"),
      ("{protocol: nmea2000, interface: can0, instance: 253}", "instance"),
      ("{protocol: nmea2000, interface: can0, uniqueNumber: 2097152}", "uniqueNumber"),
      ("{protocol: mavlink}", "address"),
      ("{protocol: mavlink, transport: tcp}", "transport"),
      ("{protocol: mavlink, address: 127.0.0.1, system: 0}", "system"),
      ("{protocol: mavlink, address: 127.0.0.1, messages: {ATTITUDE: 1}}", "ATTITUDE"),
      ("{protocol: mavlink, address: 127.0.0.1, messages: {}}", "needs a message"),
      ("{protocol: mavlink, transport: serial, device: /dev/ttyS0}", "carries 480"),
    ])
  func mistakes(entry: String, words: String) {
    let problem = Self.problem(entry)
    #expect(problem?.line == 3 && problem?.message.contains(words) == true, "\(problem as Any)")
  }

  @Test("a device has one output")
  func twice() {
    let problem = Self.problem(
      "{protocol: nmea2000, interface: can0}\n  - {protocol: nmea2000, interface: can0}")
    #expect(problem?.line == 4 && problem?.message.contains("line 3") == true)
  }

  @Test("the number of a machine is the same each time, of 21 bits, and leads nowhere")
  func number() throws {
    let identity = Array("0123456789abcdef0123456789abcdef\n".utf8)
    let number = try #require(MachineNumber.number(of: identity))
    #expect(number <= 0x1F_FFFF && number == MachineNumber.number(of: identity.dropLast()))
    #expect(number != MachineNumber.number(of: Array("0123456789abcdef0123456789abcdee".utf8)))
    for text in ["", "uninitialized", String(repeating: "0", count: 32), "0123456789ABCDEF"] {
      #expect(MachineNumber.number(of: Array(text.utf8)) == nil)
    }
    let settings = NMEA2000Settings()
    let nodes = (0..<2).map { _ in settings.makeNode(machine: number, software: "1", delay: 0) }
    #expect(nodes[0].name == nodes[1].name && nodes[0].name.uniqueNumber == number)
  }

  /// A program that has opened a pseudo terminal as it opens a serial port.
  private final class Reader {
    private let file: Int32
    private(set) var text = ""

    init?(_ path: String) {
      file = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
      guard file >= 0 else { return nil }
    }

    deinit { close(file) }

    /// Whether something comes that is as wanted, ten seconds at most.
    func gets(_ isWanted: (String) -> Bool) -> Bool {
      eventually {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(file, &buffer, buffer.count)
        if count > 0 { text += String(decoding: buffer[..<count], as: UTF8.self) }
        return isWanted(text)
      }
    }
  }

  @Test("who opens a pseudo terminal gets the board's headings, and chips sleep without a reader")
  func reader() throws {
    let path = "/tmp/lodestone-terminal-\(getpid())"
    var sentences = NMEAConfiguration()
    for sentence in [OutputSentence.hdg, .rmc] { sentences.set(sentence, interval: 0.1) }
    let bench = try DaemonBench(outputs: [
      OutputSettings(
        kind: .nmea0183(sentences), transport: .pty, address: "", port: 0,
        device: .terminal(path: path, group: nil), positions: .none, line: 2)
    ])
    var reader: Reader?
    #expect(eventually { access(path, F_OK) == 0 })
    #expect(bench.board.demands.isEmpty)
    reader = Reader(path)
    #expect(eventually { bench.board.demands.last?.heading == true })
    #expect(bench.board.demands.last?.location == false)
    let now = RuntimeClocks.system.now().seconds
    bench.board.publish(.location(53.123, 10.987, at: now))
    bench.board.publish(.heading(degrees: 20, at: now, declination: 3.5))
    #expect(reader?.gets { $0.contains("$HCHDG,20.0,,,,*") } == true)
    #expect(reader?.text.contains("5307.") == false)
    #expect(bench.daemon?.status.outputs?.first?.listeners == 1)
    reader = nil
    #expect(eventually { bench.board.demands.last == Demand() })
  }
}
