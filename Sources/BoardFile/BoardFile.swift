import SensorBus
import SensorDrivers
import SensorTypes

/// Reads a board file, `schema: 1`. Every mistake is an error with file and line.
package enum BoardFile {
  /// The schema this version writes and reads.
  package static let schema = 1
  /// The maximum length of a board file, in bytes.
  package static let limit = 1 << 20
  /// The maximum number of chips on a board.
  package static let mostSensors = 256
  /// More epochs a second than any receiver that is known gives: they have no registers that would say.
  private static let fastestEpochs = 100.0

  /// Reads the text of a board file.
  ///
  /// - Parameters:
  ///   - text: YAML.
  ///   - file: The path, for messages.
  package static func parse(_ text: String, file: String) throws(BoardFileError) -> Board {
    guard text.utf8.count <= limit else {
      throw BoardFileError(
        file: file, line: 0, message: "longer than a board file may be, \(limit) bytes")
    }
    let root = try YAMLMapping.root(of: text, file: file)
    let map = try YAMLMapping(
      root, file: file, context: "the board",
      known: [
        "schema", "name", "level", "vehicle", "carryPosition", "backgroundCalibration", "position",
        "buses",
        "sensors",
        "simulation",
      ])
    guard let schema = try map.integer("schema", in: 0...1_000_000) else {
      throw map.error("schema", "the board needs 'schema: 1'")
    }
    guard schema == Self.schema else {
      throw map.error("schema", "schema \(schema) is not known to this version; it reads schema 1")
    }
    var sensors: [Board.Sensor] = []
    let nodes = try map.items("sensors") ?? []
    // Each chip is compared with all before it, which takes quadratic time.
    guard nodes.count <= mostSensors else {
      throw map.error(
        "sensors", "'sensors' has \(nodes.count) chips; a board has \(mostSensors) at most")
    }
    for node in nodes {
      let sensor = try Self.sensor(node, file: file)
      if let other = sensors.first(where: { $0.attachment.overlaps(sensor.attachment) }) {
        throw BoardFileError(
          file: file, line: sensor.line,
          message: "\(sensor.attachment) is taken by \(other.chip) in line \(other.line)")
      }
      // The kernel gives a line to whoever asks first, and wires that are tied together tell nobody apart. A file cannot
      // tell that a chip's label and path, or a line's number and name, are the same one: opening the second fails.
      if let line = sensor.gpio, let other = sensors.first(where: { $0.gpio == line }) {
        throw BoardFileError(
          file: file, line: sensor.line,
          message: "the GPIO line \(line.line) of \(line.chip) is taken by \(other.chip) in line "
            + "\(other.line)")
      }
      sensors.append(sensor)
    }
    for sensor in sensors where sensor.behind != nil && sensors.host(of: sensor) == nil {
      throw BoardFileError(
        file: file, line: sensor.line,
        message: "'behind' names a chip of this file, on the same bus, that has a bypass; "
          + "there is no such \(sensor.behind ?? "")")
    }
    guard !sensors.isEmpty else {
      throw map.error("sensors", "the board needs 'sensors', a list with at least one chip")
    }
    let isVehicle = try map.boolean("vehicle") ?? false
    let place = try map.node("position").map { node throws(BoardFileError) in
      try position(node, file: file, isBoards: true)
    }
    if let problem = stayProblem(place, isVehicle: isVehicle, sensors) {
      throw map.error("position", problem)
    }
    var simulation: SimulationPlan?
    if let node = map.node("simulation") { simulation = try plan(node, file: file, sensors) }
    return Board(
      name: try map.requiredString("name"),
      isLevel: try map.boolean("level") ?? false,
      isVehicle: isVehicle,
      longestCarry: try map.number("carryPosition", in: 0...60, unit: "s") ?? 0,
      calibratesInUse: try map.boolean("backgroundCalibration") ?? true,
      position: place,
      busSpeeds: try busSpeeds(map, file: file),
      sensors: sensors, simulation: simulation)
  }

  /// What keeps a board from staying at an altitude of which its barometer would know.
  private static func stayProblem(
    _ position: BoardPosition?, isVehicle: Bool, _ sensors: [Board.Sensor]
  ) -> String? {
    guard position?.altitudeAccuracy != nil else { return nil }
    if isVehicle { return "'altitudeAccuracy' is for a board that stays, not for a vehicle" }
    let hasBarometer = sensors.contains { ChipCatalog.chip(named: $0.chip)?.kind == .barometer }
    return hasBarometer
      ? nil : "'altitudeAccuracy' is for a barometer, and this board has none"
  }

  private static func busSpeeds(
    _ map: YAMLMapping, file: String
  ) throws(BoardFileError) -> [String: Double] {
    var speeds: [String: Double] = [:]
    for node in try map.items("buses") ?? [] {
      let bus = try YAMLMapping(node, file: file, context: "a bus", known: ["bus", "speed"])
      let name = try bus.requiredString("bus")
      speeds[name] = try bus.requiredNumber("speed", in: 1_000...5_000_000, unit: "Hz")
    }
    return speeds
  }

  private static func sensor(_ node: YAMLNode, file: String) throws(BoardFileError) -> Board.Sensor
  {
    let map = try YAMLMapping(
      node, file: file, context: "a sensor",
      known: [
        "chip", "bus", "address", "port", "baudRate", "host", "socket", "device", "interrupt",
        "pps", "rate", "dynamicModel", "standby", "mount", "driver", "behind", "identity",
        "constant", "talker", "antennas", "corrections", "time", "base",
      ])
    let chip = try map.requiredString("chip")
    guard let entry = ChipCatalog.chip(named: chip) else {
      let meant = ChipCatalog.chips(meantBy: chip).joined(separator: " or ")
      // Fifty names would hide the one.
      throw map.error(
        "chip",
        "unknown chip '\(chip)'; "
          + (meant.isEmpty
            ? "known are \(ChipCatalog.chips.map(\.name).joined(separator: ", "))"
            : "here that is \(meant)"))
    }
    if map.has("pps"), entry.kind != .receiver {
      throw map.error("pps", "'pps' goes with a receiver, not with \(chip)")
    }
    if map.has("interrupt"), entry.kind == .receiver {
      throw map.error(
        "interrupt", "a receiver has no interrupt line; its pulse per second is 'pps'")
    }
    if map.has("interrupt"), !entry.hasDataReadyPin {
      throw map.error(
        "interrupt", "\(chip) tells no line of its readings, it is asked: take 'interrupt' out")
    }
    if map.has("behind"), entry.kind != .magnetometer {
      throw map.error("behind", "a magnetometer hangs behind another chip's bypass, not \(chip)")
    }
    let place = try attachment(map, of: entry)
    var sensor = Board.Sensor(
      chip: chip, attachment: place,
      interrupt: try line(map, "interrupt", "an interrupt line", file: file),
      pulse: try line(map, "pps", "a line for PPS", file: file),
      rate: try map.number(
        "rate", in: 0.1...(entry.chip?(.greatestFiniteMagnitude).outputRate ?? fastestEpochs),
        unit: "Hz, as \(chip) goes"),
      dynamicModel: try dynamicModel(map, of: entry), talker: try talker(map, of: entry),
      antennas: try antennas(map, of: entry),
      corrections: try corrections(map, of: entry),
      sleeps: try sleeps(map, of: entry), mount: try mount(map, of: entry),
      driver: try driver(map, of: entry),
      behind: try map.string("behind"),
      checks: try checks(map, of: entry), line: map.line)
    sensor.time = try timeOutput(map, of: sensor, file: file)
    sensor.base = try base(map, of: sensor)
    return sensor
  }

  private static func line(
    _ map: YAMLMapping, _ key: String, _ context: String, file: String
  ) throws(BoardFileError) -> InterruptLineName? {
    guard let node = map.node(key) else { return nil }
    let line = try YAMLMapping(node, file: file, context: context, known: ["chip", "line"])
    return InterruptLineName(
      chip: try line.requiredString("chip"), line: try line.requiredString("line"))
  }

  private static func attachment(
    _ map: YAMLMapping, of entry: ChipDescription
  ) throws(BoardFileError) -> Board.Attachment {
    let chip = entry.name
    if chip == "gpsd" { return .server(try server(map), device: try device(map)) }
    for key in ["socket", "device"] where map.has(key) {
      throw map.error(key, "'\(key)' goes with 'chip: gpsd'")
    }
    if let source = try networkSource(map, of: entry) { return .server(source) }
    switch (try map.string("bus"), try map.string("port")) {
    case (let bus?, nil):
      guard bus.hasPrefix("/") else {
        let number = bus.split(separator: "-").last ?? ""
        throw map.error(
          "bus", "'bus' is a path: /dev/i2c-\(Int(number).map(String.init) ?? "1"), not '\(bus)'")
      }
      if let meant = try meantAddress(map, of: entry) {
        throw map.error("address", meant)
      }
      guard let address = try map.integer("address", in: 0x08...0x77) else {
        throw map.error("bus", "a chip on an I2C bus needs 'address'")
      }
      guard entry.addresses.contains(UInt8(address)) else {
        let known = entry.addresses.map(hexadecimal).joined(separator: " or ")
        throw map.error(
          "address",
          known.isEmpty
            ? "\(chip) is not an I2C chip: it needs 'port'" : "\(chip) answers at \(known) only")
      }
      if map.has("baudRate") { throw map.error("baudRate", "'baudRate' goes with 'port'") }
      return .i2c(bus: bus, address: UInt8(address))
    case (nil, let port?):
      guard entry.kind == .receiver else {
        throw map.error("port", "\(chip) is an I2C chip: it needs 'bus' and 'address'")
      }
      if map.has("address") { throw map.error("address", "'address' goes with 'bus'") }
      return .serial(port: port, baudRate: try baudRate(map))
    case (_?, _?): throw map.error("port", "either 'bus' or 'port', not both")
    case (nil, nil):
      throw map.error(
        "chip",
        chip == "NMEA"
          ? "NMEA needs 'port' (/dev/serial0) or 'host' (tcp://boat:10110, udp://:10110)"
          : "a sensor needs 'bus' and 'address', or 'port'")
    }
  }

  /// What somebody has meant who writes an address as `i2cdetect` prints it (77, 1e), or with the bit for reading and
  /// writing (0x3C); `nil` for one that is right, or not to be guessed.
  private static func meantAddress(
    _ map: YAMLMapping, of entry: ChipDescription
  ) throws(BoardFileError) -> String? {
    guard let text = try map.string("address") else { return nil }
    let digits = text.lowercased().hasPrefix("0x") ? String(text.dropFirst(2)) : text
    func isIts(_ address: Int?) -> Bool {
      address.flatMap { UInt8(exactly: $0) }.map(entry.addresses.contains) ?? false
    }
    let value = text.hasPrefix("0x") ? Int(digits, radix: 16) : Int(text)
    if isIts(value) { return nil }
    if isIts(Int(digits, radix: 16)) {
      return "'\(text)' is no hexadecimal number: write 0x\(digits.lowercased())"
    }
    if let value, isIts(value >> 1) {
      return "\(text) has the bit for reading and writing in it: write "
        + hexadecimal(UInt8(truncatingIfNeeded: value >> 1))
    }
    return nil
  }

  /// Which of gpsd's receivers: a name that stands in JSON as it is, of a length that gpsd takes.
  private static func device(_ map: YAMLMapping) throws(BoardFileError) -> String? {
    guard let name = try map.string("device") else { return nil }
    let isPlain = name.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != 34 && $0 != 92 }
    guard (1...127).contains(name.utf8.count), isPlain else {
      throw map.error("device", "'device' is a receiver as gpsd names it: /dev/ttyACM0")
    }
    return name
  }

  /// `host` with its port, or `socket`; without either this machine's gpsd.
  private static func server(_ map: YAMLMapping) throws(BoardFileError) -> ServerAddress {
    for key in ["bus", "address", "port", "baudRate"] where map.has(key) {
      throw map.error(key, "gpsd has the receiver: it needs 'host' (localhost:2947), not '\(key)'")
    }
    switch (try map.string("host"), try map.string("socket")) {
    case (_?, _?): throw map.error("socket", "either 'host' or 'socket', not both")
    case (nil, let path?):
      // What a Unix socket's address holds.
      guard path.hasPrefix("/"), path.utf8.count < 108 else {
        throw map.error("socket", "'socket' is the absolute path of a socket, 107 bytes at most")
      }
      return .unix(path: path)
    case (let host, nil):
      guard let address = ServerAddress(host: host ?? "localhost", defaultPort: 2_947) else {
        let problem = host.flatMap(portProblem).map { "; \($0)" } ?? ""
        throw map.error(
          "host",
          "'host' is a name or an address with a port: localhost:2947, [::1]:2947\(problem)")
      }
      return address
    }
  }

  private static func driver(
    _ map: YAMLMapping, of chip: ChipDescription
  ) throws(BoardFileError) -> Board.DriverOwner? {
    guard let value = try map.string("driver") else { return nil }
    guard chip.kind != .receiver else {
      throw map.error("driver", "'driver' is for chips with registers, not for a receiver")
    }
    guard let owner = Board.DriverOwner(rawValue: value) else {
      throw map.error(
        "driver",
        "'driver' is 'kernel' or 'own'; without it the kernel's is taken where there is one")
    }
    return owner
  }

  /// `identity: unchecked` and `constant: allowed`: for test rigs, whose chips are not quite the real ones.
  private static func checks(
    _ map: YAMLMapping, of chip: ChipDescription
  ) throws(BoardFileError) -> DriverChecks {
    func isLifted(_ key: String, _ word: String) throws(BoardFileError) -> Bool {
      guard let value = try map.string(key) else { return false }
      guard value == word else {
        throw map.error(key, "'\(key)' can only be '\(word)', on a test rig; leave it out else")
      }
      guard chip.kind != .receiver else {
        throw map.error(key, "'\(key)' is for chips with registers, not for a receiver")
      }
      return true
    }
    return DriverChecks(
      identity: try !isLifted("identity", "unchecked"),
      change: try !isLifted("constant", "allowed"), asksStrangers: true)
  }

  private static func mount(
    _ map: YAMLMapping, of chip: ChipDescription
  ) throws(BoardFileError) -> Mount {
    guard let items = try map.items("mount") else { return .aligned }
    guard chip.kind != .receiver else {
      throw map.error(
        "mount",
        "'mount' has no effect on a receiver: take it out; 'antennas' says how two antennas lie")
    }
    var axes: [SignedAxis] = []
    for item in items {
      guard case .scalar(let scalar) = item.value, let axis = SignedAxis(rawValue: scalar.string)
      else {
        throw map.error("mount", "'mount' is a list of three of +x -x +y -y +z -z")
      }
      axes.append(axis)
    }
    guard axes.count == 3, let mount = Mount(x: axes[0], y: axes[1], z: axes[2]) else {
      throw map.error("mount", "'mount' names each of the sensor's axes once: [+y, -x, +z]")
    }
    return mount
  }

  static func position(
    _ node: YAMLNode, file: String, isBoards: Bool = false
  ) throws(BoardFileError) -> BoardPosition {
    let map = try YAMLMapping(
      node, file: file, context: "a position",
      known: ["latitude", "longitude", "altitude", "heading"]
        + (isBoards ? ["altitudeAccuracy"] : []))
    let accuracy = try map.number(
      "altitudeAccuracy", in: KnownAltitude.accuracies, unit: "m")
    let altitude = try map.number(
      "altitude", in: accuracy == nil ? -500...20_000 : KnownAltitude.elevations, unit: "m")
    guard accuracy == nil || altitude != nil else {
      throw map.error("altitudeAccuracy", "'altitudeAccuracy' goes with 'altitude'")
    }
    return BoardPosition(
      latitude: try map.requiredNumber("latitude", in: -90...90, unit: "degrees north"),
      longitude: try map.requiredNumber("longitude", in: -180...180, unit: "degrees east"),
      altitude: altitude ?? 0, altitudeAccuracy: accuracy)
  }
}

extension Board.Attachment {
  /// Whether two chips would be in each other's way.
  fileprivate func overlaps(_ other: Board.Attachment) -> Bool {
    switch (self, other) {
    case (.serial(let a, _), .serial(let b, _)): a == b
    case (.server(let a, let one), .server(let b, let other)):
      a == b && (one == nil || other == nil || one == other)
    default: self == other
    }
  }
}
