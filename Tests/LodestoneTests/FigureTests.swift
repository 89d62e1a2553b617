// Every shipped board, and every fault of a chip, comes to the figures that it came to before.

import BoardTestSupport
import LinearAlgebra
import RecordedFigures
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@Suite("the figures of simulated boards are as they were")
struct FigureTests {
  private static let demand = Demand(
    heading: true, location: true, altitude: true, satellites: true,
    motion: MotionDemand(samples: true, attitude: true, field: true, interval: 0.05))
  private static let figures = RecordedFigures("boards")

  @Test("half a minute of every board's twins", arguments: ShippedBoard.all)
  func boards(file: ShippedBoard) throws {
    let board = try file.twins(records: true)
    board.hub.setDemand(Self.demand)
    var summary = FigureSummary()
    let readings = Kept<SensorReading>()
    let subscription = board.hub.subscribe(readings: { readings.append($0) })
    for observation in board.run(30) { summary.add(observation, board.start) }
    subscription.cancel()
    for reading in readings.all { summary.add(reading, board.start) }
    for status in board.hub.status { summary.add(status) }
    // Every transfer, edge and byte of a receiver: see TransactionTrace.
    for line in board.recording.split(separator: 10) {
      guard let letter = line.first, "rwixeh".utf8.contains(letter), line.dropFirst().first == 32
      else { continue }
      summary.add("transfers", text: String(decoding: line, as: UTF8.self))
    }
    #expect(try Self.figures.differences(of: file.name, summary) == [])
  }

  private static let faults: [(name: String, fault: SimulatedFault)] = [
    ("no answer", .noAnswer), ("time-out", .timeout), ("slow", .slow(seconds: 0.004)),
    ("disturbed", .disturbed(every: 3)), ("short read", .shortRead(bytes: 1)),
    ("another identity", .wrongIdentity(0xEE)), ("brown-out", .brownOut),
    ("stuck data", .stuckData), ("stuck low", .stuckLow),
    ("bit flip", .bitFlip(register: 0x20, mask: 0x08)), ("overflow", .overflow),
    ("silent receiver", .receiverSilent), ("garbage", .receiverGarbage),
  ]

  // 0 LIS3MDL, 1 LSM6DSOX, 2 BMP280, 3 u-blox on a serial port.
  @Test("seven seconds of each fault of each chip, and five after it", arguments: 0..<4)
  func faults(chip: Int) throws {
    for (name, fault) in Self.faults {
      let board = try VirtualBoard()
      _ = board.run(12)
      let now = board.clock.now()
      board.simulation.inject(fault, chip: chip, from: now, until: now.advanced(bySeconds: 7))
      var summary = FigureSummary()
      for observation in board.run(12) { summary.add(eventIn: observation, board.start) }
      for status in board.hub.status { summary.add(status) }
      #expect(try Self.figures.differences(of: "\(name) of chip \(chip)", summary) == [])
    }
  }
}

extension FigureSummary {
  fileprivate mutating func add(_ channel: String, _ vector: Vector3?) {
    add(channel + " x", vector?.x)
    add(channel + " y", vector?.y)
    add(channel + " z", vector?.z)
  }

  fileprivate mutating func add(_ channel: String, _ attitude: Quaternion?) {
    add(channel + " w", attitude?.w)
    add(channel, attitude?.vector)
  }

  fileprivate mutating func add(_ observation: Observation, _ start: Timestamp) {
    switch observation {
    case .heading(let heading):
      add("heading time", heading.time.seconds(since: start))
      add("heading magnetic", heading.magneticHeading)
      add("heading accuracy", heading.accuracy)
      add("heading true", heading.trueHeading)
      add("heading declination", heading.declination)
      add("heading field", heading.field)
      add("heading attitude", heading.attitude)
      add("heading measured", heading.fieldCheck?.measured.strength)
      add("heading expected", heading.fieldCheck?.expected?.strength)
      for reason in [heading.reason, heading.trueReason].compactMap({ $0 }) {
        add("heading reason", text: "\(reason)")
      }
    case .location(let location): add(location, start)
    case .altitude(let altitude):
      add("altitude time", altitude.time.seconds(since: start))
      add("altitude relative", altitude.relativeAltitude)
      add("altitude accuracy", altitude.relativeAccuracy)
      add("altitude pressure", altitude.pressure)
      add("altitude speed", altitude.verticalSpeed)
    case .absoluteAltitude(let altitude):
      add("sea level time", altitude.time.seconds(since: start))
      add("sea level altitude", altitude.altitude)
      add("sea level accuracy", altitude.accuracy)
      add("sea level ellipsoid", altitude.ellipsoidalAltitude)
    case .motion(let motion): add(motion, start)
    // No run of the figures asks for them.
    case .waves: break
    case .sky(let sky):
      add("sky time", sky.received.seconds(since: start))
      for satellite in sky.satellites {
        add(
          "sky satellite", text: "\(satellite.system)\(satellite.number)\(satellite.isUsed == true)"
        )
        add("sky elevation", satellite.elevation)
        add("sky azimuth", satellite.azimuth)
        add("sky noise", satellite.carrierToNoise)
      }
    case .headingUnavailable, .locationUnavailable, .altitudeUnavailable, .motionUnavailable,
      .wavesUnavailable, .sensor, .diagnostic:
      add(eventIn: observation, start)
    }
  }

  /// Reasons, states and diagnostics with their times; of estimates only the accuracies.
  fileprivate mutating func add(eventIn observation: Observation, _ start: Timestamp) {
    switch observation {
    case .heading(let heading): add("heading accuracy", heading.accuracy)
    case .location(let location): add("fix horizontal", location.fix.horizontalAccuracy)
    case .altitude(let altitude): add("altitude accuracy", altitude.relativeAccuracy)
    case .absoluteAltitude(let altitude): add("sea level accuracy", altitude.accuracy)
    case .sky, .motion, .waves: break
    case .headingUnavailable(let reason, let time), .locationUnavailable(let reason, let time),
      .altitudeUnavailable(let reason, let time), .motionUnavailable(_, let reason, let time),
      .wavesUnavailable(let reason, let time):
      add("reason", text: "\(reason)")
      add("reason time", time.seconds(since: start))
    case .sensor(let status):
      add("state", text: "\(status.index) \(status.state)")
      add("state time", status.since.seconds(since: start))
    case .diagnostic(let text, let time):
      add("diagnostic", text: text)
      add("diagnostic time", time.seconds(since: start))
    }
  }

  private mutating func add(_ location: LocationEstimate, _ start: Timestamp) {
    let fix = location.fix
    add("fix time", fix.received.seconds(since: start))
    add("fix utc", fix.utc.map { $0 - 1_795_000_000 })
    // The whole degrees would hide the rest.
    add("fix latitude", fix.latitude.map { ($0 - 52.5) * 1_000 })
    add("fix longitude", fix.longitude.map { ($0 - 13.4) * 1_000 })
    add("fix altitude", fix.altitude)
    add("fix ellipsoid", fix.ellipsoidalAltitude)
    add("fix horizontal", fix.horizontalAccuracy)
    add("fix vertical", fix.verticalAccuracy)
    add("fix speed", fix.speed)
    add("fix speed accuracy", fix.speedAccuracy)
    add("fix course", fix.course)
    add("fix course accuracy", fix.courseAccuracy)
    add("fix climb", fix.verticalSpeed)
    add("fix satellites", fix.satellitesUsed.map(Double.init))
    add("fix kind", text: "\(fix.mode) \(fix.accuracySource) \(location.carried != nil)")
  }

  private mutating func add(_ motion: MotionEstimate, _ start: Timestamp) {
    add("motion time", motion.time.seconds(since: start))
    add("motion force", motion.force?.value)
    add("motion rate", motion.angularRate?.value)
    add("motion field", motion.field?.value)
    add("motion free", motion.attitude?.free)
    add("motion steadied", motion.attitude?.steadied)
    add("motion north", motion.attitude?.north)
    add("motion north accuracy", motion.attitude?.northAccuracy)
    add("motion calibrated", motion.attitude?.field)
    if let attitude = motion.attitude { add("motion trust", text: "\(attitude.fieldTrust)") }
  }

  fileprivate mutating func add(_ reading: SensorReading, _ start: Timestamp) {
    let name = "sensor \(reading.sensor)"
    add(name + " time", reading.sample.time.seconds(since: start))
    add(name + " edge", reading.edge?.seconds(since: start))
    add(name + " output rate", reading.outputRate)
    switch reading.sample.value {
    case .magneticField(let field): add(name + " field", field)
    case .acceleration(let acceleration): add(name + " force", acceleration)
    case .inertial(let angularRate, let acceleration):
      add(name + " rate", angularRate)
      add(name + " force", acceleration)
    case .clippedInertial(let angularRate, let acceleration, let clipped):
      add(name + " rate", angularRate)
      add(name + " force", acceleration)
      add(name + " clipped", text: "\(clipped)")
    case .atmosphere(let pressure, let temperature, _):
      add(name + " pressure", pressure)
      add(name + " temperature", temperature)
    }
  }

  fileprivate mutating func add(_ status: SensorStatus) {
    let name = "counter \(status.index) "
    let counters = status.counters
    for (kind, count) in [
      ("samples", counters.samples), ("errors", counters.busErrors), ("retries", counters.retries),
      ("starts", counters.starts), ("lost", counters.configurationsLost),
      ("overflows", counters.overflows), ("stalls", counters.stalls),
      ("edges", counters.emptyEdges), ("refusals", counters.refusals),
    ] {
      add(name + kind, Double(count))
    }
  }
}
