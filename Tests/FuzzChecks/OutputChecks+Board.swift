import LinearAlgebra

#if FUZZ
  // The fuzzers are a package of their own, which sees no package declarations.
  @testable import LocationServices
  @testable import OutputProtocols
  @testable import SensorTypes
#else
  import LocationServices
  import OutputProtocols
  import SensorTypes
#endif

// Programs that ask the board: clients of gpsd and of Signal K, and devices of an NMEA 2000 bus. Two boards at different places, of which
// nobody may know the place, have to answer the same, whatever they are asked.

extension OutputChecks {
  private static let start = Timestamp(seconds: 100)

  private static func clock(_ time: Timestamp) -> ClockReading {
    ClockReading(seconds: 1_800_000_000 + time.seconds(since: start), isSet: true)
  }

  /// What a board at one of two places publishes, as it reaches an output without positions.
  private static func board(_ place: Int, at now: Timestamp) -> PublishedState {
    let (shift, away) = (Double(place), 0.1 * Double(place))
    var fix = GNSSFix(received: now, mode: .threeDimensional)
    (fix.utc, fix.timeOfDay) = (1_800_000_000 + shift, 28_800 + shift)
    (fix.latitude, fix.longitude) = (50.123 + 20 * shift, 13.045 - 70 * shift)
    (fix.altitude, fix.ellipsoidalAltitude, fix.verticalAccuracy) = (40 + shift, 80 - shift, 3)
    (fix.horizontalAccuracy, fix.accuracySource) = (5 + shift, .receiver)
    (fix.speed, fix.course) = (4 + shift, 90 + shift)
    (fix.hdop, fix.vdop, fix.pdop, fix.satellitesUsed) = (1 + shift, 2, 3, 9 + place)
    var satellite = GNSSSatellite(.gps, 3 + place)
    (satellite.elevation, satellite.azimuth, satellite.isUsed) = (71 - shift, 4 + shift, true)
    let heading = HeadingEstimate(
      time: now, magneticHeading: 2, accuracy: 0.05, trueHeading: 2.05 + away,
      declination: 0.05 + away, field: Vector3(20, 0, -44), attitude: .identity,
      fieldCheck: FieldCheck(
        measured: FieldShape(strength: 48, dip: 1.1),
        expected: FieldShape(strength: 49 + shift, dip: 1.2 + away), origin: .model))
    let motion = MotionEstimate(
      time: now,
      attitude: MotionAttitude(
        angularRate: Vector3(0, 0, 0.1), free: .identity, steadied: .identity, north: .identity,
        declination: 0.05 + away))
    let height = AbsoluteAltitudeEstimate(
      time: now, altitude: 34 + shift, accuracy: 2, ellipsoidalAltitude: 74 + shift, fixTime: now,
      knownTime: now)
    let air = AltitudeEstimate(
      time: now, relativeAltitude: 3, relativeAccuracy: 0.2, pressure: 101_325)
    let observations: [Observation] = [
      .heading(heading), .motion(motion),
      .location(LocationEstimate(fix: fix, isSimulated: false)), .absoluteAltitude(height),
      .sky(GNSSSky(received: now, satellites: [satellite])), .altitude(air),
    ]
    var filter = ObservationFilter(.withheld("the owner says so"))
    var state = PublishedState()
    for observation in observations {
      if let passed = filter.pass(observation) { state.take(passed) }
    }
    return state
  }

  // MARK: gpsd

  /// What a client of gpsd asks.
  static func gpsd(_ bytes: [UInt8]) -> [String] {
    var failures: [String] = []
    let answers = sizes(bytes).map { asked(bytes, at: 0, in: $0, hasReports: false, &failures) }
    if answers[0] != answers[1] { failures.append("other answers come of the same requests") }
    // Reports come between the pieces.
    let size = max(sizes(bytes)[1], bytes.count / 32 + 1)
    let told = (0...1).map { asked(bytes, at: $0, in: size, hasReports: true, &failures) }
    if told[0] != told[1] { failures.append("a place is told") }
    return failures + unread(bytes)
  }

  private static func makeSession() -> GPSDSession {
    GPSDSession(GPSDRelease(revision: "Lodestone"), at: start)
  }

  private static func makeReports() -> GPSDReports {
    GPSDReports(
      devices: [GPSDDevice(path: "/dev/serial0", driver: "u-blox", isReceiver: true)],
      receiver: "/dev/serial0", instrument: "lodestone", clock: { clock($0) })
  }

  /// Returns what a client reads that reads all.
  private static func asked(
    _ bytes: [UInt8], at place: Int, in size: Int, hasReports: Bool, _ failures: inout [String]
  ) -> [[UInt8]] {
    var (session, read) = (makeSession(), [[UInt8]]())
    let (reports, state) = (makeReports(), board(place, at: start))
    func take() {
      while !session.output.isEmpty {
        let piece = Array(session.output)
        read.append(piece)
        session.didWrite(piece.count, at: start)
      }
    }
    take()
    for piece in pieces(bytes, of: size) {
      var rest = piece[...]
      repeat {
        let part = rest.prefix(session.room)
        rest = rest.dropFirst(part.count)
        session.receive(part, reports: reports, state: state, at: start)
        take()
        while session.hasRequests {
          session.receive(EmptyCollection<UInt8>(), reports: reports, state: state, at: start)
          take()
        }
      } while !rest.isEmpty
      guard hasReports else { continue }
      session.send(reports.position(state, at: start), at: start)
      session.send(reports.sky(state, at: start), at: start)
      session.send(reports.attitude(state, at: start), at: start)
      let raw = GPSDRawData(lines: [Array("b56201\r\n".utf8)], verbatim: [[0xB5, 0x62, 1]])
      session.send(raw, device: reports.receiver, at: start)
      take()
    }
    if session.deadline <= start { failures.append("a client that asks is given up") }
    for answer in read where !hasReports && !(isObject(answer) && answer.suffix(2) == [13, 10]) {
      failures.append("no object: \(String(decoding: answer.prefix(100), as: UTF8.self))")
    }
    let most = 24_576 * (1 + bytes.count)
    if read.reduce(0, { $0 + $1.count }) > most { failures.append("endless answers") }
    return read
  }

  /// What waits for a client that reads nothing.
  private static func unread(_ bytes: [UInt8]) -> [String] {
    var session = makeSession()
    let (reports, state) = (makeReports(), board(0, at: start))
    for piece in pieces(bytes, of: 512) {
      session.receive(piece.prefix(session.room), reports: reports, state: state, at: start)
      for _ in 0..<4 {
        session.send(reports.position(state, at: start), at: start)
        session.send(nmea: Array("$GPGGA\r\n".utf8), device: reports.receiver, at: start)
      }
    }
    var waiting = 0
    while !session.output.isEmpty {
      waiting += session.output.count
      session.didWrite(session.output.count, at: start)
    }
    return waiting > 131_072 ? ["\(waiting) bytes wait for who reads nothing"] : []
  }

  // MARK: Signal K

  /// What a client of Signal K asks that has connected to the board.
  static func signalKClientOfOurs(_ bytes: [UInt8]) -> [String] {
    var failures: [String] = []
    let found = sizes(bytes).map { subscribed(bytes, at: 0, in: $0, &failures) }
    if found[0] != found[1] { failures.append("other messages come of the same requests") }
    if found[0] != subscribed(bytes, at: 1, in: sizes(bytes)[0], &failures) {
      failures.append("a place is told")
    }
    return failures
  }

  private static func subscribed(
    _ bytes: [UInt8], at place: Int, in size: Int, _ failures: inout [String]
  ) -> [String] {
    var session = SignalKSession(SignalKOptions())
    for piece in pieces(bytes, of: size) { session.receive(piece) }
    if let interval = session.interval, !(0.05...86_400).contains(interval) {
      failures.append("an interval of \(interval) s")
    }
    if session.interval == nil, session.demand != Demand() {
      failures.append("chips are awake for nobody")
    }
    var messages: [String] = []
    for round in 0..<3 {
      let now = start.advanced(bySeconds: 0.3 * Double(round))
      let told = session.messages(
        SignalKSnapshot(board(place, at: now), at: now, clock: clock(now)))
      if told.reduce(0, { $0 + $1.utf8.count }) > 32_768 { failures.append("endless messages") }
      messages += told
    }
    for message in messages where !isObject(message.utf8) || message.contains("\n") {
      failures.append("no object: \(message.prefix(100))")
    }
    return messages
  }

  // MARK: NMEA 2000

  /// Frames of a bus, 13 bytes each: the identifier in four, the number of bytes, and eight bytes.
  static func bus(_ bytes: [UInt8]) -> [String] {
    var failures: [String] = []
    let sent = (0...1).map { answers(to: bytes, at: $0, &failures) }
    if sent[0] != sent[1] { failures.append("a place is told") }
    return failures
  }

  private static func answers(
    to bytes: [UInt8], at place: Int, _ failures: inout [String]
  ) -> [CANFrame] {
    let entries = NMEA2000Entry.all
    var node = NMEA2000Node(
      name: NMEA2000Name(uniqueNumber: 1_234),
      product: NMEA2000Product(
        model: "Lodestone", software: "1", modelVersion: "", serialNumber: "1"),
      preferred: 35, transmits: entries.map(\.pgn), delay: 0.1)
    var (encoder, now) = (NMEA2000Encoder(), start)
    var sent = node.start(at: now)
    for _ in 0..<2 {
      now = now.advanced(bySeconds: 0.3)
      sent += node.tick(at: now)
    }
    for record in pieces(bytes, of: 13) where record.count == 13 {
      now = now.advanced(bySeconds: 0.005)
      let identifier = record[..<4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let data = record[5..<(5 + Int(record[4] % 9))]
      guard let frame = CANFrame(identifier: identifier & CANFrame.largestIdentifier, bytes: data)
      else { continue }
      let reaction = node.receive(frame, at: now)
      var frames = reaction.frames
      if let due = node.deadline, now >= due { frames += node.tick(at: now) }
      for entry in entries where reaction.requested.contains(entry.pgn) {
        let message = encoder.message(
          entry, of: board(place, at: now), clock: clock(now), at: now)
        frames += message.map { node.frames(for: $0) } ?? []
      }
      if reaction.requested.contains(where: { pgn in !entries.contains { $0.pgn == pgn } }) {
        failures.append("something is asked for that there is not")
      }
      check(frames, node, now, &failures)
      sent += frames
    }
    // Each frame of another one leads to one claim at most, and the answers of a second have their number.
    let seconds = Int(now.seconds(since: start)) + 2
    if sent.count > bytes.count / 13 + seconds * (50 + 10 * 42) + 4 {
      failures.append("\(sent.count) frames in \(seconds) s")
    }
    return sent
  }

  /// Whether frames of the node are its own, and their fast packets whole.
  private static func check(
    _ frames: [CANFrame], _ node: NMEA2000Node, _ now: Timestamp, _ failures: inout [String]
  ) {
    var assembler = FastPacketAssembler()
    for frame in frames {
      let header = NMEA2000Header(identifier: frame.identifier)
      if header.source > 251, header.source != NMEA2000Address.none {
        failures.append("a frame from address \(header.source)")
      }
      if NMEA2000PGN.fast.contains(header.pgn) { _ = assembler.take(frame, header, at: now) }
    }
    if assembler.count + Int(assembler.dropped) > 0 { failures.append("a packet in pieces") }
    if frames.count > 60 { failures.append("\(frames.count) frames at once") }
  }
}
