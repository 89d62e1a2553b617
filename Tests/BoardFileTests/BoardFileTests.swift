import BoardFile
import Foundation
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

struct BoardFileTests {
  static let good = """
    schema: 1
    name: Desk
    level: false
    position: {latitude: 52.5, longitude: 13.4, altitude: 34}
    buses:
      - {bus: /dev/i2c-1, speed: 400000}
    sensors:
      - chip: LIS3MDL
        bus: /dev/i2c-1
        address: 0x1c
        interrupt: {chip: pinctrl-bcm2711, line: GPIO17}
        rate: 80
        mount: [+y, -x, +z]
      - chip: NMEA
        port: /dev/serial0
        baudRate: 9600
    """

  @Test("every key of schema 1 is read")
  func everything() throws {
    let board = try BoardFile.parse(Self.good, file: "desk.yaml")
    #expect(board.name == "Desk")
    #expect(!board.isLevel)
    #expect(!board.isVehicle)
    #expect(board.position == BoardPosition(latitude: 52.5, longitude: 13.4, altitude: 34))
    #expect(board.busSpeeds == ["/dev/i2c-1": 400_000])
    #expect(board.sensors.count == 2)
    let magnetometer = board.sensors[0]
    #expect(magnetometer.attachment == .i2c(bus: "/dev/i2c-1", address: 0x1C))
    #expect(magnetometer.interrupt == InterruptLineName(chip: "pinctrl-bcm2711", line: "GPIO17"))
    #expect(magnetometer.mount == Mount(x: .plusY, y: .minusX, z: .plusZ))
    #expect(magnetometer.line == 8)
    #expect(board.sensors[1].attachment == .serial(port: "/dev/serial0", baudRate: 9_600))
  }

  @Test("calibration in use is on unless the file says otherwise")
  func backgroundCalibration() throws {
    #expect(try BoardFile.parse(Self.good, file: "board").calibratesInUse)
    let text = Self.good.replacingOccurrences(
      of: "level: false", with: "backgroundCalibration: false")
    #expect(try !BoardFile.parse(text, file: "board").calibratesInUse)
  }

  @Test("a chip hangs behind the bypass of the one that its entry names")
  func behind() throws {
    let text =
      Self.good.replacingOccurrences(of: "rate: 80", with: "behind: MPU6050")
      + "\n  - {chip: MPU6500, bus: /dev/i2c-1, address: 0x69}"
      + "\n  - {chip: MPU6050, bus: /dev/i2c-1, address: 0x68}"
    let board = try BoardFile.parse(text, file: "desk.yaml")
    #expect(board.sensors[0].behind == "MPU6050")
    #expect(board.host(of: board.sensors[0])?.chip == "MPU6050")
    // On another bus is none.
    let apart = text.replacingOccurrences(
      of: "MPU6050, bus: /dev/i2c-1", with: "MPU6050, bus: /dev/i2c-0")
    #expect(throws: BoardFileError.self) { try BoardFile.parse(apart, file: "desk.yaml") }
  }

  @Test("a receiver's pulse has a line, named as an interrupt is")
  func pulse() throws {
    for entry in ["chip: NMEA", "chip: GNSS", "chip: u-blox"] {
      let text = Self.good.replacingOccurrences(of: "chip: NMEA", with: entry)
      let board = try BoardFile.parse(
        text + "\n    pps: {chip: pinctrl-rp1, line: 18}", file: "desk.yaml")
      #expect(board.sensors[1].pulse == InterruptLineName(chip: "pinctrl-rp1", line: "18"))
      #expect(board.sensors[0].pulse == nil && board.sensors[1].interrupt == nil)
    }
  }

  @Test("a vehicle is declared by a key of its own")
  func vehicle() throws {
    let text = Self.good.replacingOccurrences(of: "level: false", with: "vehicle: true")
    #expect(try BoardFile.parse(text, file: "desk.yaml").isVehicle)
  }

  @Test("positions are carried only where the file says for how long, a minute at most")
  func carry() throws {
    func board(_ line: String) throws -> Board {
      try BoardFile.parse(
        Self.good.replacingOccurrences(of: "level: false", with: line), file: "desk.yaml")
    }
    #expect(try board("level: false").longestCarry == 0)
    #expect(try board("carryPosition: 20").longestCarry == 20)
    #expect(throws: BoardFileError.self) { try board("carryPosition: 61") }
    #expect(throws: BoardFileError.self) { try board("carryPosition: true") }
  }

  struct Mistake: Sendable, CustomTestStringConvertible {
    let replace: String
    let with: String
    let line: Int
    let says: String
    var testDescription: String { with }
  }

  static let mistakes = [
    Mistake(replace: "schema: 1", with: "schema: 2", line: 1, says: "schema 2 is not known"),
    Mistake(
      replace: "name: Desk", with: "nmae: Desk", line: 2,
      says: "unknown key 'nmae' in the board, which may be 'name'"),
    Mistake(replace: "level: false", with: "level: nearly", line: 3, says: "true or false"),
    Mistake(replace: "level: false", with: "vehicle: car", line: 3, says: "true or false"),
    Mistake(replace: "latitude: 52.5", with: "latitude: 152.5", line: 4, says: "-90 to 90"),
    Mistake(replace: "chip: LIS3MDL", with: "chip: LIS3MDX", line: 8, says: "unknown chip"),
    Mistake(replace: "address: 0x1c", with: "address: 0x1d", line: 10, says: "0x1c or 0x1e only"),
    Mistake(replace: "address: 0x1c", with: "address: high", line: 10, says: "whole number"),
    Mistake(replace: "address: 0x1c", with: "address: 1e", line: 10, says: "write 0x1e"),
    Mistake(replace: "address: 0x1c", with: "address: 1C", line: 10, says: "write 0x1c"),
    Mistake(replace: "address: 0x1c", with: "address: 0X1C", line: 10, says: "write 0x1c"),
    Mistake(replace: "address: 0x1c", with: "address: 0x3c", line: 10, says: "write 0x1e"),
    Mistake(replace: "address: 0x1c", with: "address: 0x39", line: 10, says: "write 0x1c"),
    Mistake(
      replace: "bus: /dev/i2c-1\n    address", with: "bus: 3\n    address", line: 9,
      says: "/dev/i2c-3, not '3'"),
    Mistake(
      replace: "bus: /dev/i2c-1\n    address", with: "bus: i2c-0\n    address", line: 9,
      says: "/dev/i2c-0, not"),
    Mistake(
      replace: "chip: LIS3MDL", with: "chip: GY-271", line: 8, says: "HMC5883L or QMC5883L"),
    Mistake(replace: "rate: 80", with: "rate: fast", line: 12, says: "must be a number"),
    Mistake(
      replace: "[+y, -x, +z]", with: "[+y, -y, +z]", line: 13,
      says: "each of the sensor's axes once"),
    Mistake(replace: "[+y, -x, +z]", with: "[+y, -x]", line: 13, says: "each of the sensor's axes"),
    Mistake(replace: "baudRate: 9600", with: "baudRate: 0", line: 16, says: "50 to 4000000"),
    Mistake(replace: "rate: 80", with: "identity: checked", line: 12, says: "only be 'unchecked'"),
    Mistake(replace: "rate: 80", with: "constant: true", line: 12, says: "only be 'allowed'"),
    Mistake(replace: "rate: 80", with: "behind: MPU6050", line: 8, says: "has a bypass"),
    Mistake(replace: "rate: 80", with: "behind: LIS3MDL", line: 8, says: "no such LIS3MDL"),
    Mistake(
      replace: "rate: 80", with: "rate: 1001", line: 12, says: "0.1 to 1000 Hz, as LIS3MDL"),
    Mistake(
      replace: "chip: LIS3MDL", with: "chip: lis3mdl", line: 8, says: "here that is LIS3MDL"),
    Mistake(
      replace: "chip: LIS3MDL", with: "chip: AK09916", line: 11,
      says: "AK09916 tells no line of its readings, it is asked: take 'interrupt' out"),
    Mistake(
      replace: "chip: LIS3MDL", with: "chip: LSM303AGR", line: 8,
      says: "here that is LIS2MDL or LIS3DH"),
    Mistake(
      replace: "chip: LIS3MDL", with: "chip: LSM9DS1", line: 8,
      says: "here that is LSM9DS1-M or LSM9DS1-AG"),
    Mistake(
      replace: "{chip: pinctrl-bcm2711, line: GPIO17}", with: "GPIO17", line: 11,
      says: "must be a mapping: {chip: ..., line: ...}"),
    Mistake(
      replace: "baudRate: 9600", with: "baudRate: 12345", line: 16, says: "no receiver has 12345"),
    Mistake(
      replace: "baudRate: 9600", with: "mount: [+x, +y, +z]", line: 16, says: "on a receiver"),
    Mistake(
      replace: "rate: 80", with: "rate: 80\n    rate: 90", line: 13,
      says: "key 'rate' stands twice, first in line 12"),
    Mistake(replace: "baudRate: 9600", with: "identity: unchecked", line: 16, says: "a receiver"),
    Mistake(
      replace: "baudRate: 9600", with: "interrupt: {chip: a, line: b}", line: 16,
      says: "its pulse per second is 'pps'"),
    Mistake(
      replace: "altitude: 34", with: "altitude: 34, altitudeAccuracy: 1", line: 4,
      says: "a barometer, and this board has none"),
    Mistake(
      replace: "rate: 80", with: "pps: {chip: a, line: b}", line: 12, says: "goes with a receiver"),
    Mistake(
      replace: "baudRate: 9600", with: "pps: {chip: a, lien: b}", line: 16,
      says: "unknown key 'lien'"),
    Mistake(replace: "baudRate: 9600", with: "pps: {chip: a}", line: 16, says: "'line'"),
    Mistake(replace: "baudRate: 9600", with: "pps: GPIO18", line: 16, says: "a line for PPS"),
    Mistake(replace: "baudRate: 9600", with: "host: tcp://boat", line: 16, says: "not both"),
    Mistake(replace: "baudRate: 9600", with: "device: /dev/x", line: 16, says: "'chip: gpsd'"),
    Mistake(replace: "baudRate: 9600", with: "behind: MPU6050", line: 16, says: "a magnetometer"),
    Mistake(replace: "baudRate: 9600", with: "dynamicModel: sea", line: 16, says: "u-blox or GNSS"),
    Mistake(replace: "baudRate: 9600", with: "standby: true", line: 16, says: "u-blox or GNSS"),
    Mistake(replace: "rate: 80", with: "standby: true", line: 12, says: "u-blox or GNSS"),
    Mistake(replace: "chip: NMEA", with: "chip: gpsd", line: 15, says: "needs 'host'"),
    Mistake(replace: "baudRate: 9600", with: "constant: allowed", line: 16, says: "a receiver"),
    Mistake(
      replace: "port: /dev/serial0", with: "prot: /dev/serial0", line: 15, says: "unknown key"),
  ]

  @Test("every mistake is an error with its line", arguments: mistakes)
  func mistake(_ mistake: Mistake) {
    let text = Self.good.replacingOccurrences(of: mistake.replace, with: mistake.with)
    #expect {
      try BoardFile.parse(text, file: "desk.yaml")
    } throws: { error in
      guard let error = error as? BoardFileError else { return false }
      return error.line == mistake.line && error.message.contains(mistake.says)
        && error.description.hasPrefix("desk.yaml:\(mistake.line): ")
    }
  }

  @Test(
    "gpsd is reached by host and port, by a socket, or where it is by itself",
    arguments: [
      ("", .tcp(host: "localhost", port: 2_947)),
      (", host: 192.168.1.7", .tcp(host: "192.168.1.7", port: 2_947)),
      (", host: 'boat:3000'", .tcp(host: "boat", port: 3_000)),
      (", host: '[::1]:2947'", .tcp(host: "::1", port: 2_947)),
      (", socket: /run/reports.sock", .unix(path: "/run/reports.sock")),
    ] as [(String, ServerAddress)])
  func gpsd(keys: String, address: ServerAddress) throws {
    let text = "schema: 1\nname: x\nsensors:\n  - {chip: gpsd\(keys)}\n"
    #expect(try BoardFile.parse(text, file: "x").sensors[0].attachment == .server(address))
  }

  @Test(
    "how a receiver's carrier moves, and whether it may sleep", arguments: DynamicModel.allCases)
  func receiverKeys(model: DynamicModel) throws {
    func sensor(_ keys: String) throws -> Board.Sensor {
      let text = "schema: 1\nname: x\nsensors:\n  - {chip: GNSS, port: /dev/serial0\(keys)}\n"
      return try BoardFile.parse(text, file: "x").sensors[0]
    }
    #expect(try sensor(", talker: GN").talker == "GN" && sensor("").talker == nil)
    for wrong in ["gn", "GNS", "G", "1A"] {
      #expect(throws: BoardFileError.self) { try sensor(", talker: \(wrong)") }
    }
    let told = try sensor(", dynamicModel: \(model.rawValue), standby: true")
    #expect(told.dynamicModel == model && told.sleeps)
    let plain = try sensor("")
    #expect(plain.dynamicModel == nil && !plain.sleeps)
    #expect(throws: BoardFileError.self) { try sensor(", dynamicModel: car") }
    #expect(throws: BoardFileError.self) { try sensor(", standby: often") }
  }

  @Test("two of one gpsd's receivers are two sensors, each by its name")
  func gpsdDevices() throws {
    func board(_ a: String, _ b: String) throws -> Board {
      let text = "schema: 1\nname: x\nsensors:\n  - {chip: gpsd\(a)}\n  - {chip: gpsd\(b)}\n"
      return try BoardFile.parse(text, file: "x")
    }
    let both = try board(", device: /dev/ttyACM0", ", device: /dev/ttyUSB0")
    let here = ServerAddress.tcp(host: "localhost", port: 2_947)
    #expect(
      both.sensors.map(\.attachment) == [
        .server(here, device: "/dev/ttyACM0"), .server(here, device: "/dev/ttyUSB0"),
      ])
    #expect(both.sensors[1].attachment.description == "localhost:2947:/dev/ttyUSB0")
    #expect(Set(both.sensors.map(\.attachment.bus)).count == 1)
    for second in ["", ", device: /dev/ttyACM0"] {
      #expect(throws: BoardFileError.self) { try board(", device: /dev/ttyACM0", second) }
    }
  }

  @Test(
    "where gpsd cannot be is an error",
    arguments: [
      "host: ''", "host: 'a b'", "host: ':2947'", "host: 'x:0'", "host: 'x:65536'", "host: '::1'",
      "host: '[::1'", "host: '[::1]2947'", "host: /run/x", "socket: run/x", "port: 2947",
      "socket: /x, host: y", "socket: /" + String(repeating: "x", count: 120), "bus: /dev/i2c-1",
      "device: ''", "device: '\"'", "device: 'a b'",
      "device: " + String(repeating: "x", count: 128),
    ])
  func noServer(key: String) {
    let text = "schema: 1\nname: x\nsensors:\n  - {chip: gpsd, \(key)}\n"
    #expect(throws: BoardFileError.self) { try BoardFile.parse(text, file: "x") }
  }

  @Test("two chips at one address are an error that names both")
  func twice() {
    let text =
      Self.good + """

          - chip: LSM303DLHC-M
            bus: /dev/i2c-1
            address: 0x1e
          - chip: LIS3MDL
            bus: /dev/i2c-1
            address: 0x1e
        """
    #expect {
      try BoardFile.parse(text, file: "desk.yaml")
    } throws: { error in
      (error as? BoardFileError)?.message.contains("taken by LSM303DLHC-M in line 17") == true
    }
  }

  @Test("a GPIO line is one chip's alone")
  func lineTwice() {
    let text =
      Self.good + "\n    pps: {chip: pinctrl-bcm2711, line: GPIO17}"
    #expect {
      try BoardFile.parse(text, file: "desk.yaml")
    } throws: { error in
      (error as? BoardFileError)?.description
        == "desk.yaml:14: the GPIO line GPIO17 of pinctrl-bcm2711 is taken by LIS3MDL in line 8"
    }
  }

  @Test("a vehicle does not stay at an altitude")
  func vehicleStays() {
    let text =
      Self.good.replacingOccurrences(of: "level: false", with: "vehicle: true")
      .replacingOccurrences(of: "altitude: 34", with: "altitude: 34, altitudeAccuracy: 1")
      + "\n  - {chip: BMP280, bus: /dev/i2c-1, address: 0x76}"
    #expect {
      try BoardFile.parse(text, file: "desk.yaml")
    } throws: { error in
      (error as? BoardFileError)?.description.hasPrefix("desk.yaml:4: 'altitudeAccuracy'") == true
    }
  }

  @Test("the fault of a pulse goes with a receiver that has one")
  func noPulse() throws {
    func text(_ pps: String) -> String {
      Self.good + pps
        + "\nsimulation:\n  start: {latitude: 1, longitude: 2}\n  faults:\n"
        + "    - {chip: NMEA, fault: noPulse, from: 1, seconds: 5}"
    }
    let wired = try BoardFile.parse(text("\n    pps: {chip: a, line: b}"), file: "desk.yaml")
    #expect(wired.simulation?.faults.first?.kind == .noPulse)
    #expect {
      try BoardFile.parse(text(""), file: "desk.yaml")
    } throws: { error in
      (error as? BoardFileError)?.message.contains("'pps'") == true
    }
  }

  @Test("a tab is named, whatever ends the lines", arguments: ["\n", "\r\n"])
  func tab(end: String) {
    #expect {
      try BoardFile.parse(
        "schema: 1\(end)name: x\(end)sensors:\(end)\t- {chip: NMEA}", file: "desk.yaml")
    } throws: { error in
      (error as? BoardFileError)?.description.hasPrefix("desk.yaml:4: ") == true
        && (error as? BoardFileError)?.message.contains("a tab is in this line") == true
    }
  }

  @Test(
    "what is no YAML, no mapping or nothing at all is an error, never a crash",
    arguments: [
      "", "- a", "schema: [", "schema: 1\nname: x", "\u{0}", "schema: 1\nschema: 1\nname: x",
    ])
  func hostile(text: String) {
    #expect(throws: BoardFileError.self) { try BoardFile.parse(text, file: "x") }
  }

  @Test("every board that comes with the project is good")
  func shipped() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder = root.appending(path: "Boards")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "yaml" }
    #expect(files.count >= 4)
    for file in files {
      let board = try BoardFile.parse(
        String(contentsOf: file, encoding: .utf8), file: file.lastPathComponent)
      #expect(!board.sensors.isEmpty)
      #expect(board.sensors.allSatisfy { $0.checks == .board }, "those are for test rigs only")
    }
  }

  @Test("what a rig's file leaves unchecked is said with its line")
  func rig() throws {
    let text = Self.good.replacingOccurrences(
      of: "rate: 80", with: "identity: unchecked\n    constant: allowed")
    let board = try BoardFile.parse(text, file: "rig.yaml")
    #expect(
      board.sensors[0].checks == DriverChecks(identity: false, change: false, asksStrangers: true))
    #expect(
      board.sensors[0].deviations == [
        "LIS3MDL at /dev/i2c-1:0x1c: identity is not checked (board file line 8)",
        "LIS3MDL at /dev/i2c-1:0x1c: an output that stands still is no loss (board file line 8)",
      ])
    #expect(board.sensors[1].checks == .board)
    #expect(board.sensors[1].deviations.isEmpty)
  }

  @Test("the board file of the emulated Raspberry Pi is good")
  func emulated() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Hardware/raspberry-pi/board.yaml")
    let board = try BoardFile.parse(String(contentsOf: file, encoding: .utf8), file: "board.yaml")
    #expect(board.sensors.map(\.chip) == ["LSM303DLHC-M", "DPS310", "NMEA"])
    #expect(board.sensors.allSatisfy { !$0.mount.isMirrored })
  }
}
