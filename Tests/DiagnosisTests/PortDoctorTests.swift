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
    #expect(finding(PortUsage(holders: ["cat (process 7)"])).mend?.contains("end it") == true)
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
    let garbage = try finding(Self.server, .receiverGarbage)
    #expect(garbage.level == .problem && garbage.text.contains("not NMEA 0183"), "\(garbage)")
    let unsent = try finding(Self.port, .noAnswer)
    #expect(unsent.text.contains("no datagram for 3000 ms"), "\(unsent)")
    #expect(unsent.mend?.hasPrefix("sudo tcpdump -n udp port 10110") == true)
    let other = try finding(Self.server, nil, asked: .tcp(host: "boat", port: 1))
    #expect(other.level == .problem)
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
