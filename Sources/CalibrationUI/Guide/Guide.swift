package import BoardFile
package import CalibrationCore
import LinearAlgebra
package import Lodestone
import OutputProtocols
import SensorDrivers
import SensorHub
import SensorTypes
import StateStore
package import TerminalUI
import TextForms

/// What a person wishes while the guide runs.
package enum GuideWish {
  case goOn
  case quit
  case save
  case startOver
}

/// How a guide shows itself.
package protocol GuideView {
  /// What was wished since the last call.
  mutating func wish() -> GuideWish
  /// Shows how far it is; called often. Returns false when nobody sees it any more.
  mutating func show(_ coach: CalibrationCoach, note: String?) -> Bool
  /// Leaves the terminal as it was.
  mutating func close()
}

/// A board in somebody's hand and the coach that looks on.
package struct Guide {
  /// How it came to its end.
  package enum GuideEnding: Equatable {
    case ended
    /// A person wants what there is.
    case asked
    /// A person wants nothing of it.
    case quit
    /// By a signal, of this number.
    case interrupted(by: Int32)
  }

  /// A silent magnetometer is waited for so long, seconds: first, and once it was heard.
  private static let firstPatience = 6.0
  private static let patience = 30.0

  let session: any CalibrationBoard
  let sensor: Board.Sensor
  private(set) var coach: CalibrationCoach
  /// The calibration that was in force at the beginning.
  let before: AppliedCalibration?
  /// The board's temperature as its barometer says it, degrees Celsius.
  private(set) var temperature: Double?
  /// How many field samples came.
  private(set) var heard = 0

  private let magnetometer: Int
  private let tilt: Int?
  private let field: FieldSettings
  private var assembler: SampleAssembler
  private var hasFix = false
  /// From the chip's frame to the body's.
  private let toBody: Matrix3

  package init(
    session: any CalibrationBoard, magnetometer: (index: Int, sensor: Board.Sensor),
    field: FieldSettings,
    seconds: Double
  ) {
    self.session = session
    self.magnetometer = magnetometer.index
    self.field = field
    sensor = magnetometer.sensor
    tilt = (session.sensor(of: .inertial) ?? session.sensor(of: .accelerometer))?.index
    assembler = SampleAssembler(magnetometerMount: sensor.mount)
    before =
      if case .record(let applied) = session.state.calibrations.find(sensor) { applied } else {
        nil
      }
    let level = session.state.calibrations.level(of: session.board)
    toBody = (level ?? .identity).matrix * sensor.mount.matrix
    var params = CoachParameters()
    params.seconds = seconds
    coach = CalibrationCoach(mount: sensor.mount, params: params)
    expect(fix: nil)
  }

  /// Runs until it ends one way or another.
  package mutating func run(_ view: some GuideView) throws -> GuideEnding {
    var view = view
    defer { view.close() }
    var way = GuideEnding.ended
    var note: (text: String, until: Timestamp)?
    var lastHeard = session.now()
    let gathering = Gathering(session: session)
    let end = try gathering.run(patience: 0.1) { batch in
      let count = heard
      for arrival in batch { take(arrival) }
      let now = session.now()
      if heard > count { lastHeard = now }
      if now.seconds(since: lastHeard) > (heard == 0 ? Self.firstPatience : Self.patience) {
        throw silence
      }
      coach.update(at: now)
      // A small computer must not fit all the time.
      let took = session.now().seconds(since: now)
      if took > 0.02 { coach.params.refitInterval = max(1, min(10, 4 * took)) }
      if coach.end != nil { return false }
      switch view.wish() {
      case .goOn: break
      case .quit:
        way = .quit
        return false
      case .startOver:
        coach.startOver(at: now)
        note = ("Started over.", now.advanced(bySeconds: 4))
      case .save:
        if coach.outcome.isAccepted {
          way = .asked
          return false
        }
        let reason = coach.refusal ?? "no fit yet"
        note = ("Not yet: \(reason)", now.advanced(bySeconds: 6))
      }
      if let shown = note, now > shown.until { note = nil }
      guard view.show(coach, note: note?.text) else {
        way = .quit
        return false
      }
      return true
    }
    if case .interrupted(let signal) = end { return .interrupted(by: signal) }
    return way
  }

  private mutating func take(_ arrival: BoardOutput) {
    switch arrival {
    case .reading(let reading):
      let time = reading.sample.time
      switch reading.sample.value {
      case .magneticField(let value) where reading.sensor == magnetometer:
        heard += 1
        if let sample = assembler.take(field: value, at: time) { coach.take(sample) }
      case .acceleration(let value) where reading.sensor == tilt:
        let mount = session.board.sensors[reading.sensor].mount
        assembler.take(force: value, mount: mount, at: time)
      case .inertial(let rate, let value) where reading.sensor == tilt:
        let mount = session.board.sensors[reading.sensor].mount
        assembler.take(force: value, mount: mount, at: time)
        assembler.take(angularRate: rate, mount: mount, at: time)
      case .atmosphere(_, let degrees, _): temperature = degrees
      default: break
      }
    case .observation(.location(let location)):
      // Ten kilometres change nothing here: one fix is enough.
      guard !hasFix, location.fix.latitude != nil, location.fix.longitude != nil else { return }
      hasFix = true
      expect(fix: location.fix)
    case .observation: break
    }
  }

  /// Tells the coach of the field here, as well as that is known.
  private mutating func expect(fix: GNSSFix?) {
    let up = toBody.transposed * Vector3(0, 0, 1)
    guard let earth = try? field.resolve(session, fix: fix).get().earth else {
      coach.expected = CalibrationField(up: up)
      return
    }
    coach.expected = CalibrationField(
      strength: earth.strength, dip: atan2(earth.vertical, earth.horizontal), up: up)
  }

  /// No sample came: why.
  private var silence: CommandError {
    let status = session.sensors[magnetometer]
    let name = "\(status.chip) at \(status.position)"
    if case .failed(let why) = status.state {
      return CommandError("\(name) does not deliver: \(why); what was stored stays")
    }
    return CommandError("\(name) says nothing: lodestone doctor says why; what was stored stays")
  }
}

/// The guide as a screen with keys, drawn anew five times a second at most.
package struct DrawnGuide: GuideView {
  private let screen: GuideScreen
  private let terminal = ScreenTerminal()
  private var nextDraw = ContinuousClock.now

  package init(screen: GuideScreen) { self.screen = screen }

  package mutating func wish() -> GuideWish {
    for key in terminal.keys() {
      switch key {
      case UInt8(ascii: "q"), UInt8(ascii: "Q"): return .quit
      case UInt8(ascii: "s"), UInt8(ascii: "S"): return .save
      case UInt8(ascii: "r"), UInt8(ascii: "R"): return .startOver
      default: break
      }
    }
    return .goOn
  }

  package mutating func show(_ coach: CalibrationCoach, note: String?) -> Bool {
    let now = ContinuousClock.now
    guard now >= nextDraw else { return true }
    nextDraw = now.advanced(by: .milliseconds(200))
    return terminal.draw(screen.lines(coach, note: note, size: Terminal.size))
  }

  package mutating func close() { terminal.close() }
}

/// The guide as one line a second, for a log or a program.
package struct SpokenGuide: GuideView {
  let format: OutputFormat
  private var said = -1
  private var pose: CoachPose?

  package init(format: OutputFormat) { self.format = format }

  package mutating func wish() -> GuideWish { .goOn }

  package mutating func show(_ coach: CalibrationCoach, note: String?) -> Bool {
    let second = Int(coach.age)
    guard second > said || coach.pose != pose else { return true }
    (said, pose) = (second, coach.pose)
    let words = coach.words
    switch format {
    case .json:
      var line = JSONLine()
      line.set("v", ObservationLines.version)
      line.set("kind", "progress")
      line.set("seconds", coach.age, digits: 1)
      line.set("say", "\(words.pose) \(words.turn)")
      line.set("hint", coach.warning?.words)
      line.set("coverage", coach.coverage, digits: 2)
      line.set("score", coach.score)
      line.set("samples", coach.samples.count)
      line.set("field", coach.strength, digits: 1)
      return Terminal.write(line.line + "\n")
    case .text:
      var text = GuideScreen.clock(coach.age)
      text += "  seen \(Int((100 * coach.coverage).rounded())) %  score \(coach.score)  "
      text += coach.warning?.words ?? "\(words.pose) \(words.turn)"
      return Terminal.write(text.prefix(80) + "\n")
    }
  }

  package mutating func close() {}
}
