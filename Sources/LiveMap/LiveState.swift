import MapDrawing
import OutputProtocols
import SensorTypes
import TerminalUI
import TextForms

/// All that a page needs to know, as messages: what goes to pages that are open, and a snapshot for one that comes.
struct LiveState {
  /// Seconds between two headings, and between two altitudes.
  static let headingInterval = 0.05
  static let altitudeInterval = 0.1
  /// The age up to which a height above the sea goes with a relative altitude, in seconds.
  static let seaLifetime = 3.0
  /// How many of the newest diagnostics are kept.
  static let diagnosticLimit = 20

  private var lines: ObservationLines
  private let start: Timestamp
  private let about: BoardFacts
  private var newest: [String: Observation] = [:]
  private var diagnostics: [Observation] = []
  private(set) var track = MapTrack()
  private(set) var history = AltitudeHistory()
  private var headingPace = Pace(interval: headingInterval)
  private var altitudePace = Pace(interval: altitudeInterval)
  private var clockPace = Pace(interval: 1)
  private var asksForCalibration = false
  private var held: [String: Observation] = [:]
  private let missing: MissingParts

  init(
    board: BoardDescription, tiles: TileStore?, sensors: [SensorStatus],
    start: Timestamp, clock: @escaping @Sendable (Timestamp) -> ClockReading?
  ) {
    lines = ObservationLines(start: start, clock: clock) { Hints.complete($0) }
    self.start = start
    about = BoardFacts(board: board, tiles: tiles)
    missing = MissingParts(board)
    setMissing(at: start)
    for status in sensors { newest[Self.key(status)] = .sensor(status) }
  }

  private static func key(_ status: SensorStatus) -> String { "sensor \(status.index)" }

  private mutating func setMissing(at time: Timestamp) {
    newest["heading"] = .headingUnavailable(missing.heading, at: time)
    newest["altitude"] = .altitudeUnavailable(missing.altitude, at: time)
    newest["location"] = .locationUnavailable(missing.location, at: time)
    newest["absoluteAltitude"] = nil
  }

  /// Takes note that nothing is observed until the next observation. What was measured before is no news for a page that comes later.
  mutating func rest(at now: Timestamp) {
    held = [:]
    setMissing(at: now)
    asksForCalibration = false
    track.breakOff()
    _ = history.breakOff(at: now.seconds(since: start))
  }

  /// Forgets all that tells where the board was, or follows from that: the pages may know less of it from now on.
  mutating func forgetPlaces(at now: Timestamp) {
    rest(at: now)
    track = MapTrack()
    history.forgetSea()
    diagnostics = []
  }

  /// Takes an observation in. Returns what is to be sent now.
  mutating func take(_ observation: Observation) -> [LiveMessage] {
    switch observation {
    case .heading(let heading):
      return prompting(observation)
        + paced(observation, "heading", \.headingPace, heading.time)
    case .headingUnavailable: return prompting(observation) + state(observation, "heading")
    case .altitude(let altitude):
      return remember(altitude) + paced(observation, "altitude", \.altitudePace, altitude.time)
    case .altitudeUnavailable(_, let at):
      // What stood on it is over too.
      newest["absoluteAltitude"] = nil
      let row = history.breakOff(at: at.seconds(since: start))
      return (row.map { [message([$0], isWhole: false, at: at)] } ?? [])
        + state(observation, "altitude")
    case .absoluteAltitude: return state(observation, "absoluteAltitude")
    case .location(let location): return state(observation, "location") + remember(location)
    case .locationUnavailable:
      track.breakOff()
      return state(observation, "location")
    case .sensor(let status): return state(observation, Self.key(status))
    case .diagnostic:
      diagnostics.append(observation)
      if diagnostics.count > Self.diagnosticLimit { diagnostics.removeFirst() }
      return [LiveMessage(text: lines.line(for: observation))]
    // No part of the page.
    case .sky, .motion, .motionUnavailable, .waves, .wavesUnavailable: return []
    }
  }

  /// What time has made due: what was held back, and once a second the time itself.
  mutating func due(at now: Timestamp) -> [LiveMessage] {
    var messages: [LiveMessage] = []
    if let heading = held["heading"], headingPace.admits(at: now) {
      messages += state(heading, "heading")
    }
    if let altitude = held["altitude"], altitudePace.admits(at: now) {
      messages += state(altitude, "altitude")
    }
    if clockPace.admits(at: now) { messages.append(clock(at: now)) }
    return messages
  }

  /// Everything that a page needs that knows nothing yet.
  mutating func snapshot(at now: Timestamp) -> [LiveMessage] {
    var board = lines.begin("board", at: now)
    about.write(into: &board)
    var messages = [LiveMessage(text: board.line), clock(at: now)]
    messages.append(message(track.points, isWhole: true, at: now))
    messages.append(message(history.rows, isWhole: true, at: now))
    for (key, observation) in newest.sorted(by: { $0.key < $1.key }) {
      messages.append(LiveMessage(key: key, text: lines.line(for: observation)))
    }
    if asksForCalibration { messages.append(prompt(at: now)) }
    for observation in diagnostics {
      messages.append(LiveMessage(text: lines.line(for: observation)))
    }
    return messages
  }

  private mutating func state(_ observation: Observation, _ key: String) -> [LiveMessage] {
    newest[key] = observation
    held[key] = nil
    return [LiveMessage(key: key, text: lines.line(for: observation))]
  }

  // Said when it changes: a compass that is not calibrated says so with every heading.
  private mutating func prompting(_ observation: Observation) -> [LiveMessage] {
    let (isCalibrated, time): (Bool, Timestamp) =
      switch observation {
      case .heading(let heading): (heading.reason != .uncalibrated, heading.time)
      case .headingUnavailable(let reason, let at): (reason != .uncalibrated, at)
      default: (true, start)
      }
    guard isCalibrated == asksForCalibration else { return [] }
    asksForCalibration = !isCalibrated
    return [prompt(at: time)]
  }

  private mutating func prompt(at time: Timestamp) -> LiveMessage {
    var line = lines.begin("prompt", at: time)
    if asksForCalibration {
      line.set(
        "message",
        Hints.complete(
          "lodestone calibrate magnetometer learns the iron around the compass: until then no heading is trusted"
        ))
    }
    return LiveMessage(key: "prompt", text: line.line)
  }

  private mutating func paced(
    _ observation: Observation, _ key: String, _ pace: WritableKeyPath<LiveState, Pace>,
    _ time: Timestamp
  ) -> [LiveMessage] {
    if self[keyPath: pace].admits(at: time) { return state(observation, key) }
    newest[key] = observation
    held[key] = observation
    return []
  }

  private mutating func remember(_ location: LocationEstimate) -> [LiveMessage] {
    guard let latitude = location.fix.latitude, let longitude = location.fix.longitude else {
      return []
    }
    let moment = location.fix.moment(latency: 0)
    let change = track.add(
      latitude: latitude, longitude: longitude, time: moment.seconds(since: start),
      isCarried: location.carried != nil)
    switch change {
    case .none: return []
    case .added(let point): return [message([point], isWhole: false, at: moment)]
    case .thinned: return [message(track.points, isWhole: true, at: moment)]
    }
  }

  private mutating func remember(_ altitude: AltitudeEstimate) -> [LiveMessage] {
    var row = AltitudeHistory.Row(
      time: altitude.time.seconds(since: start), relative: altitude.relativeAltitude,
      relativeAccuracy: altitude.relativeAccuracy)
    if case .absoluteAltitude(let sea)? = newest["absoluteAltitude"],
      altitude.time.seconds(since: sea.time) < Self.seaLifetime
    {
      (row.aboveSea, row.aboveSeaAccuracy) = (sea.altitude, sea.accuracy)
    }
    return history.add(row).map { [message([$0], isWhole: false, at: altitude.time)] } ?? []
  }

  private mutating func clock(at now: Timestamp) -> LiveMessage {
    LiveMessage(key: "clock", text: lines.begin("clock", at: now).line)
  }

  private mutating func message(_ points: [LiveTrackPoint], isWhole: Bool, at time: Timestamp)
    -> LiveMessage
  {
    var line = lines.begin("track", at: time)
    if isWhole { line.set("whole", true) }
    let rows = points.map(Self.row)
    line.set("points", rows: rows, digits: 7)
    return LiveMessage(text: line.line)
  }

  private static func row(_ point: LiveTrackPoint) -> [Double] {
    let flags: Double = (point.begins ? 1 : 0) + (point.isCarried ? 2 : 0)
    return [point.latitude, point.longitude, (point.time * 10).rounded() / 10, flags]
  }

  private mutating func message(_ rows: [AltitudeHistory.Row], isWhole: Bool, at time: Timestamp)
    -> LiveMessage
  {
    var line = lines.begin("altitudeHistory", at: time)
    if isWhole { line.set("whole", true) }
    line.set("moments", rows.map(\.time), digits: 1)
    line.set("relativeAltitude", orNull: rows.map(\.relative), digits: 3)
    line.set("relativeAccuracy", orNull: rows.map(\.relativeAccuracy), digits: 3)
    line.set("altitude", orNull: rows.map(\.aboveSea), digits: 2)
    line.set("altitudeAccuracy", orNull: rows.map(\.aboveSeaAccuracy), digits: 2)
    return LiveMessage(text: line.line)
  }
}
