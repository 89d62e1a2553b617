import ArgumentParser
import CalibrationCore
import Foundation
import Glibc
import LinearAlgebra
import Lodestone
import SensorDrivers
import SensorHub
import SensorTypes

/// Options that the commands for boards that cannot be tumbled share.
struct ReferencedOptions: ParsableArguments {
  @OptionGroup var board: BoardOptions
  @OptionGroup var field: FieldOptions

  @OptionGroup var saving: SaveOptions

  var format: OutputFormat { saving.format }
}

/// A board at work: its magnetometer's samples with tilt, and the receiver's fixes.
struct ReferencedBench {
  let session: Session
  let options: ReferencedOptions
  let magnetometer: Int
  private let tilt: Int?
  private var assembler: SampleAssembler
  /// Samples since the start, or since they were last taken away.
  var samples: [CalibrationSample] = []
  /// The newest fix with a position.
  private(set) var fix: GNSSFix?
  /// Fixes that came with the last batch.
  private(set) var newFixes: [GNSSFix] = []
  /// The board's temperature as its barometer says it, degrees Celsius.
  private(set) var temperature: Double?
  /// The newest speed over ground, m/s, and when it came.
  private var speed: (value: Double, time: Timestamp)?
  /// Whether forces of a steady bend are taken out by speed and gyro; a course takes them out itself.
  var takesBendsOut = true
  /// A speed older than this says nothing, seconds.
  private static let longestSpeedAge = 2.0
  /// How many field samples have come.
  private(set) var fieldSamples = 0
  private var lastHeard: Timestamp
  /// A magnetometer that says nothing for so long is lost, seconds.
  private static let patience = 5.0
  /// How the board sits in its carrier, and what its gyro says at rest (rad/s, its own frame), as the hub
  /// applies them.
  let level: Quaternion
  private let gyroBias: Vector3
  /// More than this of samples is an hour at the usual rates.
  private static let limit = 300_000

  init(_ options: ReferencedOptions) throws {
    try Keyboard.check(options.saving.yes)
    self.options = options
    session = try Session(board: options.board.name)
    let sensors = session.board.sensors
    func first(_ kind: ChipKind) -> Int? {
      sensors.firstIndex { ChipCatalog.chip(named: $0.chip)?.kind == kind }
    }
    guard let magnetometer = first(.magnetometer) else {
      try options.saving.refuse("this board has no magnetometer (\(session.chips))")
    }
    self.magnetometer = magnetometer
    tilt = first(.inertial) ?? first(.accelerometer)
    guard tilt != nil || session.board.isLevel else {
      try options.saving.refuse(
        "\(NoData.tiltUnknown): declare it by 'level: true' in the board file")
    }
    let store = session.state.calibrations
    level = store.level(of: session.board) ?? .identity
    gyroBias = tilt.flatMap { store.gyroBias(of: sensors[$0]) } ?? .zero
    assembler = SampleAssembler(magnetometerMount: sensors[magnetometer].mount)
    lastHeard = session.now()
    // A drive of a quarter of an hour is not for nothing.
    try saver.begin(.magnetometer, sensor)
  }

  var saver: RecordSaver { RecordSaver(session: session, options: options.saving) }

  var sensor: Board.Sensor { session.board.sensors[magnetometer] }

  /// Whether the board file names a receiver.
  var hasReceiver: Bool { session.sensor(of: .receiver) != nil }

  /// The record that is in force.
  var stored: CalibrationRecord? {
    let key = CalibrationStore.Key(.magnetometer, sensor)
    if case .record(.magnetometer(let record)) = session.state.calibrations.current(key) {
      return record
    }
    return nil
  }

  /// The calibration that is in force.
  var record: AppliedCalibration? { stored?.applied }

  /// Takes a batch.
  mutating func take(_ batch: [Gathering.Arrival]) {
    newFixes.removeAll(keepingCapacity: true)
    for arrival in batch {
      switch arrival {
      case .reading(let reading): take(reading)
      case .observation(.location(let location)):
        fix = location.fix
        speed = location.fix.speed.map { ($0, location.fix.received) }
        newFixes.append(location.fix)
      case .observation: break
      }
    }
    if samples.count > Self.limit { samples.removeFirst(Self.limit / 2) }
  }

  private mutating func take(_ reading: SensorReading) {
    let time = reading.sample.time
    switch reading.sample.value {
    case .magneticField(let field) where reading.sensor == magnetometer:
      // Until gravity is heard of, a board that has it is not taken for level.
      guard var sample = assembler.take(field: field, at: time),
        tilt == nil || sample.force != nil
      else { return }
      takeBendOut(of: &sample)
      lastHeard = session.now()
      samples.append(sample)
      fieldSamples += 1
    case .acceleration(let force) where reading.sensor == tilt:
      assembler.take(force: force, mount: session.board.sensors[reading.sensor].mount, at: time)
    case .inertial(let rate, let force) where reading.sensor == tilt:
      let mount = session.board.sensors[reading.sensor].mount
      assembler.take(force: force, mount: mount, at: time)
      assembler.take(angularRate: rate - gyroBias, mount: mount, at: time)
    case .atmosphere(_, let degrees): temperature = degrees
    default: break
    }
  }

  // In a bend the force leans to its inside, and an accelerometer calls that down: at 3 m/s and a circle a
  // minute by two degrees, which would be seven of heading.
  private func takeBendOut(of sample: inout CalibrationSample) {
    guard takesBendsOut, let force = sample.force, let rate = sample.angularRate,
      let up = force.normalized, let speed, speed.value.isFinite,
      abs(sample.time.seconds(since: speed.time)) < Self.longestSpeedAge
    else { return }
    let turn = level.matrix * sensor.mount.matrix
    // The rate came through the mount as an axial vector; clockwise is against up.
    let clockwise = -turn.determinant * rate.dot(up)
    sample.force = force - turn.transposed * Vector3(speed.value * clockwise, 0, 0)
  }

  /// A fitter for what is known of the earth's field by now.
  func fitter(basis: Bool = false) throws -> ReferencedFitter {
    ReferencedFitter(
      mount: sensor.mount, level: level, earth: try? local().get().earth,
      basis: basis ? record?.matrix : nil)
  }

  /// The field here, or why it is not known.
  func local() throws -> Result<LocalEarth, NoData> {
    try options.field.resolve(session, fix: fix)
  }

  /// From true to magnetic north, radians; 0 for headings that are magnetic already.
  func declination(magnetic: Bool) throws -> Double {
    if magnetic { return 0 }
    switch try local() {
    case .success(let local):
      guard let declination = local.declination else {
        throw CommandError(
          "the declination is unknown: give --field STRENGTH,DIP,DECLINATION or --magnetic",
          kind: .usage)
      }
      return declination
    case .failure(let reason):
      throw CommandError(
        "\(reason): give --latitude and --longitude, --field, --magnetic, or a position in the board file",
        kind: .usage)
    }
  }

  /// Waits for the first fix where the place is not known otherwise and the board has a receiver.
  var awaitsFix: Bool {
    guard fix == nil, options.field.latitude == nil, options.field.field == nil,
      session.board.position == nil
    else { return false }
    return hasReceiver && session.access == .full
  }

  /// Throws where no field sample has come for some seconds, with the reason: somebody turns a board in vain.
  func checkHeard() throws {
    if session.now().seconds(since: lastHeard) > Self.patience { throw silence }
  }

  /// No sample comes: why.
  var silence: CommandError {
    for status in session.hub.status where status.index == magnetometer || status.index == tilt {
      if case .failed(let why) = status.state {
        return CommandError("\(status.chip) at \(status.position) does not deliver: \(why)")
      }
    }
    return CommandError("no field sample comes: lodestone doctor says why")
  }
}

/// Lines that a person types while samples go on coming in.
struct TypedLines {
  private var bytes: [UInt8] = []
  private(set) var hasEnded = false

  /// A line that is complete by now; `nil` for none yet.
  mutating func next() -> String? {
    while true {
      if let end = bytes.firstIndex(of: 10) {
        defer { bytes.removeFirst(end + 1) }
        return String(decoding: bytes[..<end], as: UTF8.self)
      }
      guard !hasEnded else { return nil }
      var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 0) > 0 else { return nil }
      var buffer = [UInt8](repeating: 0, count: 256)
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        hasEnded = true
        return nil
      }
      bytes += buffer.prefix(count)
      // Nobody means a line this long.
      if bytes.count > 4_096 { bytes.removeAll() }
    }
  }
}

/// The key by which a person ends a gathering and keeps what came: Return, or `s` and Return.
///
/// Only a person at the terminal has it: what comes through a pipe, and a terminal that another program has in the
/// foreground, end nothing.
struct StopKey {
  private var lines = TypedLines()
  private let hasTerminal: Bool

  /// Whether somebody can press it now.
  private static var isAtTerminal: Bool {
    guard Keyboard.isTerminal else { return false }
    // To read, or flush, in the background would stop the program.
    let foreground = tcgetpgrp(STDIN_FILENO)
    return foreground < 0 || foreground == getpgrp()
  }

  init() {
    hasTerminal = Keyboard.isTerminal
    // What was typed before it was offered ends nothing.
    if Self.isAtTerminal { tcflush(STDIN_FILENO, TCIFLUSH) }
  }

  /// Whether it was pressed since the last call.
  mutating func wasPressed() -> Bool {
    guard hasTerminal, Self.isAtTerminal else { return false }
    while let line = lines.next() {
      if ["", "s"].contains(line.trimmingCharacters(in: .whitespaces).lowercased()) { return true }
    }
    return lines.hasEnded
  }

  /// How it is told of, for the end of an instruction.
  static var words: String {
    Keyboard.isTerminal
      ? "Return ends it and keeps what was gathered, Ctrl-C gives up.\n" : "Ctrl-C gives up.\n"
  }
}
