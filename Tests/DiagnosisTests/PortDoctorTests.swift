import BoardFile
import LinuxIO
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import Diagnosis

/// Who has a serial port, as the doctor says it.
struct PortDoctorTests {
  private static let path = "/dev/ttyACM0"

  private func finding(
    _ usage: PortUsage, isRefused: Bool = false, isAwaited: Bool = false
  ) -> Doctor.Finding {
    Doctor.port(Self.path, usage: usage, isRefused: isRefused, isAwaited: isAwaited, sensor: 0)
  }

  @Test("a process that is seen is named, with what ends it")
  func holders() {
    let found = finding(PortUsage(holders: ["gpsd (process 812)"]))
    #expect(found.level == .problem && found.text == "/dev/ttyACM0 is in use by gpsd (process 812)")
    #expect(found.mend?.contains("gpsd.socket") == true)
    let getty = finding(PortUsage(holders: ["agetty (process 9)"]))
    #expect(getty.mend == "sudo systemctl disable --now serial-getty@ttyACM0")
    #expect(
      finding(PortUsage(holders: ["cat (process 7)"])).mend?.contains("end that program") == true)
  }

  @Test("a process of another user that was started with the port is named")
  func suspects() {
    let usage = PortUsage(suspects: ["gpsd (process 812)"], isComplete: false)
    let found = finding(usage)
    #expect(found.level == .problem && found.text.contains("probably in use by gpsd (process 812)"))
    #expect(found.mend?.contains("gpsd.socket") == true)
    #expect(finding(usage, isRefused: true).text.contains("is in use by gpsd (process 812)"))
  }

  @Test(
    "a process that nobody sees is a problem where it keeps the port, with the command that names it"
  )
  func refused() {
    let found = finding(PortUsage(isComplete: false), isRefused: true)
    #expect(found.level == .problem && found.text.contains("another user"))
    #expect(found.mend?.contains("sudo lodestone doctor") == true)
    #expect(found.mend?.contains("sudo fuser -v /dev/ttyACM0") == true)
    #expect(finding(PortUsage(), isRefused: true).level == .problem)
  }

  @Test(
    "what this user cannot see is a note that says so, and the report does not end with nothing to mend"
  )
  func unseen() {
    let found = finding(PortUsage(isComplete: false))
    #expect(found.level == .note && found.isUnseen)
    #expect(found.text.contains("this user cannot see") && found.mend?.contains("fuser") == true)
    var report = DoctorReport { $0 }
    #expect(report.conclusion == "nothing to mend")
    _ = report.take(found)
    #expect(!report.hasProblems && !report.conclusion.contains("nothing to mend"))
    #expect(finding(PortUsage()).level == .good)
  }

  @Test("a port that gpsd is told to read is gpsd's before any program asks")
  func awaited() {
    let found = finding(PortUsage(isComplete: false), isAwaited: true)
    #expect(found.level == .problem && found.text.contains("/etc/default/gpsd"))
  }

  @Test("gpsd's devices are read as its package writes them")
  func gpsd() {
    let text = """
      # Devices gpsd should collect to at boot time.
      # DEVICES="/dev/ttyS9"
      START_DAEMON="true"
      DEVICES="/dev/null  /dev/zero" # and a remark
      USBAUTO="true"
      """
    let setup = GPSDSetup(text, isSwitchedOn: true)
    #expect(setup.devices == ["/dev/null", "/dev/zero"] && setup.isSwitchedOn)
    #expect(
      setup.reads("/dev/null") && setup.reads("/dev/../dev/zero") && !setup.reads("/dev/ttyS9"))
    #expect(GPSDSetup("DEVICES=\"\"", isSwitchedOn: true).devices.isEmpty)
    #expect(!GPSDSetup("DEVICES='null'", isSwitchedOn: true).reads("null"))
  }
}

/// Receivers on the network, as the doctor finds them.
struct NetworkDoctorTests {
  private static let server = ServerAddress.tcp(host: "boat", port: 10_110)
  private static let port = ServerAddress.udp(address: nil, port: 10_110)

  private func finding(
    _ place: ServerAddress, _ fault: SimulatedFault?, asked: ServerAddress? = nil
  ) throws -> Doctor.Finding {
    let bench = try DoctorBench { _ in [.init(.nmea, at: .server(place))] }
    bench.clock.advance(bySeconds: 10)
    if let fault { bench.provider.inject(fault, chip: 0, from: bench.clock.now()) }
    let host =
      switch asked ?? place {
      case .tcp(let host, let port): "tcp://\(host):\(port)"
      case .udp, .unix, .datagrams: "\(asked ?? place)"
      }
    return try bench.answer("schema: 1\nname: boat\nsensors:\n  - {chip: NMEA, host: '\(host)'}\n")
  }

  @Test("a receiver that sends is good", arguments: [server, port])
  func good(place: ServerAddress) throws {
    let found = try finding(place, nil)
    #expect(found.level == .good && found.text == "NMEA comes from \(place)")
  }

  @Test(
    "nobody there, nobody who sends, and strange bytes are problems with a command that shows more")
  func problems() throws {
    let absent = try finding(Self.server, .noAnswer)
    #expect(absent.level == .problem && absent.text.contains("nobody listens there"), "\(absent)")
    #expect(absent.mend?.contains("correct 'host'") == true)
    let silent = try finding(Self.server, .receiverSilent)
    #expect(silent.text.contains("connected, and nothing comes for 3000 ms"), "\(silent)")
    #expect(silent.mend?.hasPrefix("nc boat 10110") == true)
    let closed = Doctor.remedy(
      Self.server, BusError(.noConnection("the server has ended it"), bus: "boat:10110"))
    #expect(closed.hasPrefix("nc boat 10110"))
    let unknown = Doctor.remedy(
      Self.server, BusError(.noConnection("there is no host of this name"), bus: "boat:10110"))
    #expect(unknown.hasPrefix("getent hosts boat"))
    let garbage = try finding(Self.server, .receiverGarbage)
    #expect(garbage.level == .problem && garbage.text.contains("not NMEA 0183"), "\(garbage)")
    let unsent = try finding(Self.port, .noAnswer)
    #expect(unsent.text.contains("no datagram for 3000 ms"), "\(unsent)")
    #expect(unsent.mend?.hasPrefix("sudo tcpdump -n udp port 10110") == true)
    let other = try finding(Self.server, nil, asked: .tcp(host: "boat", port: 1))
    #expect(other.level == .problem)
  }
}

/// Receivers on a serial line, as the doctor hears them.
struct LineDoctorTests {
  private static let port = "/dev/ttyUSB0"

  private func finding(
    _ kind: TwinKind = .nmea, _ fault: SimulatedFault? = nil, keys: String = "chip: NMEA"
  ) throws -> (finding: Doctor.Finding, seconds: Double) {
    let bench = try DoctorBench { _ in [.init(kind, at: .port(Self.port))] }
    bench.clock.advance(bySeconds: 100)
    if let fault { bench.provider.inject(fault, chip: 0, from: bench.clock.now()) }
    let board = try BoardFile.parse(
      "schema: 1\nname: boat\nsensors:\n  - {\(keys), port: \(Self.port)}\n", file: "boat.yaml")
    let sensor = board.sensors[0]
    guard case .serial(let port, let baudRate) = sensor.attachment else {
      throw BoardFileError(file: "", line: 0, message: "no port")
    }
    let begun = bench.clock.now()
    let found = bench.doctor.line(sensor, 0, port: port, baudRate: baudRate)
    return (found, bench.clock.now().seconds(since: begun))
  }

  @Test(
    "a receiver that is heard is good, at its rate or at one that is found",
    arguments: [
      (TwinKind.nmea, "chip: NMEA"), (.nmea, "chip: NMEA, baudRate: 9600"),
      (.ubloxM9, "chip: u-blox"), (.nmea, "chip: GNSS"),
    ])
  func good(kind: TwinKind, keys: String) throws {
    let (found, seconds) = try finding(kind, keys: keys)
    #expect(found.level == .good && found.text.contains("positions come"), "\(found)")
    #expect(seconds < 10)
  }

  @Test("silence, noise and a wrong rate are problems, each with a step, and end in time")
  func problems() throws {
    let silent = try finding(.nmea, .receiverSilent)
    #expect(silent.finding.level == .problem)
    #expect(silent.finding.text.contains("nothing comes at any usual rate"), "\(silent)")
    #expect(silent.finding.mend?.contains("TX") == true && silent.seconds < 26)
    let fixed = try finding(.nmea, .receiverSilent, keys: "chip: NMEA, baudRate: 9600")
    #expect(fixed.finding.text.contains("nothing comes at 9600 baud") && fixed.seconds < 5)
    let noise = try finding(.nmea, .receiverGarbage)
    #expect(noise.finding.level == .problem)
    #expect(noise.finding.text.contains("no message at any usual rate"), "\(noise)")
    let wrong = try finding(keys: "chip: NMEA, baudRate: 115200")
    #expect(wrong.finding.level == .problem)
    #expect(wrong.finding.text.contains("the receiver sends at 9600 baud"), "\(wrong)")
    #expect(wrong.finding.mend?.hasPrefix("baudRate: 9600") == true && wrong.seconds < 30)
  }

  @Test("a talker that does not come, and headings that do not, are problems")
  func contents() throws {
    let other = try finding(keys: "chip: NMEA, talker: II").finding
    #expect(other.level == .problem && other.text.contains("from the talker II"), "\(other)")
    #expect(other.mend?.hasPrefix("talker: G") == true)
    let headless = try finding(keys: "chip: NMEA, antennas: 0").finding
    #expect(headless.level == .problem && headless.text.contains("no heading"), "\(headless)")
    #expect(headless.mend?.contains("antennas") == true)
  }

  @Test("a port that is no device, and a name that is no UART's, have their own words")
  func places() throws {
    let bench = try DoctorBench { _ in [] }
    let folder = bench.doctor.port("/tmp", sensor: 0)
    #expect(folder.level == .problem && folder.text == "/tmp is a directory, not a serial port")
    // The bench's node is a file.
    let file = bench.doctor.port(bench.bus, sensor: 0)
    #expect(file.level == .problem && file.text.hasSuffix("is a regular file, not a serial port"))
    #expect(bench.doctor.port("/dev/gps0", sensor: 0).mend?.hasPrefix("ls /dev/serial") == true)
    #expect(bench.doctor.port("/dev/ttyAMA99", sensor: 0).mend?.hasPrefix("enable_uart") == true)
  }

  @Test("many processes are named by the first of them")
  func many() {
    let holders = (1...40).map { "cat (process \($0))" }
    let found = Doctor.port(
      Self.port, usage: PortUsage(holders: holders), isRefused: false, isAwaited: false, sensor: 0)
    #expect(found.text.hasSuffix("cat (process 5) and 35 more"), "\(found.text)")
  }

  @Test("a rate that has no effect is a note, and a simulated board has no caster")
  func notes() throws {
    let bench = try DoctorBench { _ in [] }
    let text =
      "schema: 1\nname: boat\nsensors:\n"
      + "  - {chip: NMEA, port: /dev/serial0, rate: 20, corrections: 'ntrip://caster.example/ROOF'}\n"
      + "simulation: {start: {latitude: 52, longitude: 13}}\n"
    let board = try BoardFile.parse(text, file: "boat.yaml")
    let found = bench.doctor.examine(board)
    #expect(found.contains { $0.level == .note && $0.text.contains("'rate' has no effect") })
    #expect(
      found.contains {
        $0.level == .note && $0.text.contains("caster.example:2101 is not connected to")
      })
    do throws(BusError) {
      _ = try bench.provider.networkStream(
        to: .tcp(host: "caster.example", port: 2_101), isEncrypted: false, within: 10)
      Issue.record("a simulated board has connected")
    } catch {
      #expect(error.connectionWords.contains("connects to no real caster"))
    }
  }
}

/// The sockets that a receiver's time goes to, as the doctor finds them.
struct TimeDoctorTests {
  @Test("a socket that is not there, and a file in its place, are problems with chrony's line")
  func sockets() throws {
    let bench = try DoctorBench { _ in [] }
    // The bench's node is a file.
    let text =
      "schema: 1\nname: boat\nsensors:\n  - {chip: GNSS, port: /dev/serial0, pps: {chip: x, line: y}, "
      + "time: {chrony: /nonexistent/x, pulse: \(bench.bus)}}\n"
    let sensor = try BoardFile.parse(text, file: "boat.yaml").sensors[0]
    let found = bench.doctor.time(sensor, 0)
    try #require(found.count == 2)
    #expect(found.allSatisfy { $0.level == .problem && $0.sensor == 0 })
    #expect(found[0].text.contains("the time of its messages has no socket at /nonexistent/x"))
    #expect(found[0].mend?.hasPrefix("refclock SOCK /nonexistent/x refid GNSS delay 0.2") == true)
    #expect(found[1].text.contains("is no socket"))
    #expect(found[1].mend?.contains("refid PPS") == true)
  }

  @Test("a daemon's receiver whose time chrony does not take is a problem")
  func daemon() throws {
    let sensor = Board.Sensor(
      chip: "GNSS", attachment: .serial(port: "/dev/serial0", baudRate: nil))
    var status = SensorStatus(
      index: 0, chip: "GNSS", position: "/dev/serial0", state: .running,
      since: Timestamp(seconds: 1))
    var service = TimeService(path: "/run/x", isPulse: false)
    service.state = .refused("chrony does not take it at /run/x: nobody listens there")
    status.link = ReceiverLink()
    status.link?.timeServices = [service]
    let found = Doctor.chip(status, sensor, counted: SensorCounters())
    #expect(found.level == .problem && found.text.contains("nobody listens there"))
    #expect(found.mend?.hasPrefix("refclock SOCK /run/x") == true)
    service.state = .sending
    status.link?.timeServices = [service]
    #expect(Doctor.chip(status, sensor, counted: SensorCounters()).level == .good)
  }
}
