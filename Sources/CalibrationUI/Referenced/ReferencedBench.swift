import BoardFile
package import CalibrationCore
import LinearAlgebra
package import Lodestone
import SensorDrivers
import SensorHub
package import SensorTypes
import StateStore
package import TerminalUI

/// A board at work: its magnetometer's samples with tilt, and the receiver's fixes.
package struct ReferencedBench {
  package let session: any CalibrationBoard
  package let saving: SaveSettings
  private let field: FieldSettings
  let magnetometer: Int
  private let tilt: Int?
  private var assembler: SampleAssembler
  /// Samples since the start, or since they were last taken away.
  package var samples: [CalibrationSample] = []
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
  package private(set) var fieldSamples = 0
  private var lastHeard: Timestamp
  /// A magnetometer that says nothing for so long is lost, seconds.
  private static let patience = 5.0
  /// How the board sits in its carrier, and what its gyro says at rest (rad/s, its own frame), as the hub
  /// applies them.
  let level: Quaternion
  private let gyroBias: Vector3
  /// More than this of samples is an hour at the usual rates.
  private static let limit = 300_000

  package init(board: String?, field: FieldSettings, saving: SaveSettings) throws {
    try Keyboard.check(saving.yes)
    (self.field, self.saving) = (field, saving)
    session = try BoardViews.openForCalibration(board: board)
    let sensors = session.board.sensors
    func first(_ kind: ChipKind) -> Int? {
      sensors.firstIndex { ChipCatalog.chip(named: $0.chip)?.kind == kind }
    }
    guard let magnetometer = first(.magnetometer) else {
      try saving.refuse("this board has no magnetometer (\(session.chips))")
    }
    self.magnetometer = magnetometer
    tilt = first(.inertial) ?? first(.accelerometer)
    guard tilt != nil || session.board.isLevel else {
      try saving.refuse(
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

  var saver: RecordSaver { RecordSaver(session: session, settings: saving) }

  var sensor: Board.Sensor { session.board.sensors[magnetometer] }

  /// Whether the board file names a receiver.
  var hasReceiver: Bool { session.sensor(of: .receiver) != nil }

  /// The record that is in force.
  var stored: CalibrationRecord? {
    let key = CalibrationKey(.magnetometer, sensor)
    if case .record(.magnetometer(let record)) = session.state.calibrations.current(key) {
      return record
    }
    return nil
  }

  /// The calibration that is in force.
  package var record: AppliedCalibration? { stored?.applied }

  package mutating func take(_ batch: [BoardOutput]) {
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
    case .atmosphere(_, let degrees, _): temperature = degrees
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
  package func fitter(basis: Bool = false) -> ReferencedFitter {
    ReferencedFitter(
      mount: sensor.mount, level: level, earth: try? local().get().earth,
      basis: basis ? record?.matrix : nil)
  }

  /// The field here, or why it is not known.
  package func local() -> Result<LocalEarth, NoData> {
    field.resolve(session, fix: fix)
  }

  /// From true to magnetic north, radians; 0 for headings that are magnetic already.
  package func declination(magnetic: Bool) throws -> Double {
    if magnetic { return 0 }
    switch local() {
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
  package var awaitsFix: Bool {
    guard fix == nil, field.latitude == nil, field.given == nil,
      session.board.position == nil
    else { return false }
    return hasReceiver && session.access == .full
  }

  /// Throws where no field sample has come for some seconds, with the reason: somebody turns a board in vain.
  package func checkHeard() throws {
    if session.now().seconds(since: lastHeard) > Self.patience { throw silence }
  }

  /// No sample comes: why.
  package var silence: CommandError {
    for status in session.sensors where status.index == magnetometer || status.index == tilt {
      if case .failed(let why) = status.state {
        return CommandError("\(status.chip) at \(status.position) does not deliver: \(why)")
      }
    }
    return CommandError("no field sample comes: lodestone doctor says why")
  }
}
