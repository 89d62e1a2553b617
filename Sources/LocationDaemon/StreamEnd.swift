// The daemon's end of a stream of JSON lines, as a value: choices and observations in, what is to be written out.

import OutputProtocols
import SensorTypes

/// The stream of JSON lines for one reader.
///
/// Measurements that the reader does not take are superseded by newer ones, and counted in the key `skipped`. News of sensors, losses and
/// errors are kept; if too many of those wait, the stream is closed.
struct StreamEnd {
  /// Something that becomes a line. It is as large as what it holds: a sample has a fifth of an observation.
  indirect enum Entry {
    case hello(at: Double)
    case subscription(StreamChoice, at: Double)
    case failure(String, at: Double)
    case observation(Observation, skipped: Int)
    case attitude(AttitudeReading, skipped: Int)
    case sample(SensorReading, skipped: Int)
    /// There is nothing of a kind, for this reason.
    case missing(LineKind, NoData, at: Timestamp)
    /// What follows is a recording, and no line of JSON.
    case recording(at: Double)

    /// The kind that the line is chosen by.
    var kind: LineKind? {
      switch self {
      case .hello, .subscription, .failure, .recording: nil
      case .observation(let observation, _): LineKind(observation)
      case .attitude: .attitude
      case .sample: .sample
      case .missing(let kind, _, _): kind
      }
    }
  }

  /// The number of measurements of a kind that may wait.
  static let mostMeasurements = 32
  /// The number of samples that may wait. A chip that delivers from its FIFO brings many at once.
  static let mostSamples = 256
  /// The number of other lines that may wait.
  static let mostEvents = 512
  /// The number of seconds that the first request may take.
  static let patience = 60.0
  /// The number of seconds that a closed stream has for its last bytes.
  static let closing = 2.0
  /// The number of entries that are taken at once.
  static let piece = 64
  /// The length in bytes that an entry is taken to have.
  private static let entryLength = 400

  /// What a rhythm or a limit is of.
  private struct Source: Hashable {
    var kind: LineKind
    var sensor = 0
  }

  /// Entries of one source, the oldest first.
  private struct Queue {
    private var entries: [(order: UInt64, entry: Entry)?] = []
    private var first = 0
    var count: Int { entries.count - first }
    var order: UInt64? { first < entries.count ? entries[first]?.order : nil }

    mutating func append(_ entry: Entry, order: UInt64) { entries.append((order, entry)) }

    /// Removes what is not wanted. Returns how many entries that were.
    mutating func remove(where isUnwanted: (Entry) -> Bool) -> Int {
      let before = count
      entries = entries[first...].filter { $0.map { !isUnwanted($0.entry) } ?? false }
      first = 0
      return before - count
    }

    mutating func removeFirst() -> Entry? {
      guard first < entries.count else { return nil }
      let entry = entries[first]?.entry
      entries[first] = nil
      first += 1
      if first > 64, 2 * first > entries.count {
        entries.removeFirst(first)
        first = 0
      }
      return entry
    }
  }

  private(set) var choice = StreamChoice()
  private(set) var isClosed = false
  private var isRecording = false
  /// The number of measurements that the reader did not take.
  private(set) var dropped: UInt64 = 0
  private let began: Double
  private var closedAt = 0.0
  private var hasAsked = false
  private var order: UInt64 = 0
  private var count = 0
  private var measurements: [Source: Queue] = [:]
  private var events = Queue()
  private var skipped: [Source: Int] = [:]
  private var rhythms: [Source: SampleRhythm] = [:]
  private var lastAttitude: Timestamp?
  /// The sensors as they were told last.
  private var sensors: [Int: SensorStatus] = [:]
  /// Whether an altitude above the sea has come, and stands.
  private var hasAltitude = false
  private var lastMotion: (force: Timestamp?, rate: Timestamp?, field: Timestamp?)

  /// Makes a stream whose first line says what it is.
  ///
  /// - Parameter now: The monotonic clock in seconds.
  init(at now: Double) {
    began = now
    keep(.hello(at: now))
  }

  /// The number of bytes that wait, by the usual length of a line.
  var waitingCount: Int { count * Self.entryLength }
  var hasNews: Bool { count > 0 }

  var deadline: Double? {
    if isClosed { return closedAt + Self.closing }
    return hasAsked ? nil : began + Self.patience
  }

  mutating func advance(to now: Double) {
    guard !isClosed, !hasAsked, now >= began + Self.patience else { return }
    close("no request came within \(Int(Self.patience)) seconds", at: now)
  }

  mutating func close(_ reason: String, at now: Double) {
    guard !isClosed else { return }
    (isClosed, closedAt) = (true, now)
    guard !isRecording else { return }
    (measurements, events, count) = ([:], Queue(), 0)
    keep(.failure(reason, at: now))
  }

  /// Says that a recording follows. It is the last line.
  mutating func beginRecording(at now: Double) {
    guard !isClosed else { return }
    (choice, measurements, hasAsked) = (StreamChoice(), [:], true)
    count = events.count
    keep(.recording(at: now))
    isRecording = true
  }

  // MARK: Requests

  /// Sends what was chosen from here on. News that wait stay if they are of a kind that was chosen again.
  mutating func choose(_ choice: StreamChoice, at now: Double) {
    guard !isClosed, !isRecording else { return }
    (self.choice, hasAsked) = (choice, true)
    count -= measurements.values.reduce(0) { $0 + $1.count }
    (measurements, skipped, rhythms) = ([:], [:], [:])
    (lastAttitude, lastMotion) = (nil, (nil, nil, nil))
    (sensors, hasAltitude) = ([:], false)
    count -= events.remove { $0.kind.map { !choice.kinds.contains($0) } ?? false }
    keep(.subscription(choice, at: now), at: now)
  }

  /// Says what is wrong with a request.
  mutating func fail(_ message: String, at now: Double) {
    guard !isClosed, !isRecording else { return }
    keep(.failure(message, at: now), at: now)
  }

  // MARK: Observations

  mutating func take(_ observation: Observation, at now: Double) {
    guard !isClosed, !isRecording else { return }
    switch observation {
    case .motion(let motion): take(motion)
    case .heading(let heading):
      measure(.heading, heading.time, .observation(observation, skipped: 0))
      // A gyro gives attitudes more often than a magnetometer.
      guard lastAttitude.map({ heading.time.seconds(since: $0) > 1 }) ?? true else { break }
      measure(.attitude, heading.time, .attitude(AttitudeReading(heading), skipped: 0))
    case .location(let location):
      measure(.location, location.fix.received, .observation(observation, skipped: 0))
    case .altitude(let altitude):
      measure(.altitude, altitude.time, .observation(observation, skipped: 0))
    case .absoluteAltitude(let altitude):
      hasAltitude = true
      measure(.absoluteAltitude, altitude.time, .observation(observation, skipped: 0))
    case .sky(let sky): measure(.sky, sky.received, .observation(observation, skipped: 0))
    case .headingUnavailable(let reason, let time):
      tell(observation, at: now)
      guard choice.kinds.contains(.attitude),
        lastAttitude.map({ time.seconds(since: $0) > 1 }) ?? true
      else { break }
      keep(.attitude(AttitudeReading(missing: reason, at: time), skipped: 0), at: now)
    case .altitudeUnavailable(let reason, let time):
      tell(observation, at: now)
      hasAltitude = false
      tell(.absoluteAltitude, reason, time, at: now)
    case .locationUnavailable(let reason, let time):
      tell(observation, at: now)
      tell(.sky, reason, time, at: now)
      // A barometer carries an altitude on for long.
      if !hasAltitude { tell(.absoluteAltitude, reason, time, at: now) }
    case .sensor(let status):
      // States are told when they change and when somebody asks; the newest stands.
      if let last = sensors[status.index], last.since > status.since || last == status.told {
        break
      }
      sensors[status.index] = status.told
      tell(observation, at: now)
    case .motionUnavailable(let sensor, let reason, let time):
      tell(observation, at: now)
      guard sensor == .gyro, choice.kinds.contains(.attitude) else { break }
      lastAttitude = nil
      keep(.attitude(AttitudeReading(missing: reason, at: time), skipped: 0), at: now)
    case .waves(let waves): measure(.waves, waves.time, .observation(observation, skipped: 0))
    case .wavesUnavailable, .diagnostic: tell(observation, at: now)
    }
  }

  mutating func take(_ reading: SensorReading) {
    guard !isClosed, !isRecording else { return }
    measure(.sample, reading.sample.time, .sample(reading, skipped: 0), of: reading.sensor)
  }

  private mutating func take(_ motion: MotionEstimate) {
    if let reading = AttitudeReading(motion) {
      lastAttitude = motion.time
      measure(.attitude, motion.time, .attitude(reading, skipped: 0))
    }
    guard choice.kinds.contains(.motion) else { return }
    // Each chip has its own rate; what was told is not told again.
    var news = MotionEstimate(time: motion.time)
    if let force = motion.force, force.time != lastMotion.force { news.force = force }
    if let rate = motion.angularRate, rate.time != lastMotion.rate { news.angularRate = rate }
    if let field = motion.field, field.time != lastMotion.field { news.field = field }
    guard news.force != nil || news.angularRate != nil || news.field != nil,
      measure(.motion, motion.time, .observation(.motion(news), skipped: 0))
    else { return }
    if let force = news.force { lastMotion.force = force.time }
    if let rate = news.angularRate { lastMotion.rate = rate.time }
    if let field = news.field { lastMotion.field = field.time }
  }

  /// Returns whether the measurement is written.
  ///
  /// - Parameter sensor: The index of the chip, if each chip is thinned separately.
  @discardableResult
  private mutating func measure(
    _ kind: LineKind, _ time: Timestamp, _ entry: Entry, of sensor: Int = 0
  ) -> Bool {
    guard choice.kinds.contains(kind) else { return false }
    let source = Source(kind: kind, sensor: sensor)
    let interval = choice.rate.map { 1 / $0 }
    guard rhythms[source, default: SampleRhythm()].accepts(time, interval: interval) else {
      return false
    }
    let most = kind == .sample ? Self.mostSamples : Self.mostMeasurements
    if measurements[source, default: Queue()].count >= most {
      _ = measurements[source]?.removeFirst()
      skipped[source, default: 0] += 1
      (dropped, count) = (dropped + 1, count - 1)
    }
    order += 1
    count += 1
    measurements[source, default: Queue()].append(entry, order: order)
    return true
  }

  private mutating func tell(
    _ kind: LineKind, _ reason: NoData, _ time: Timestamp, at now: Double
  ) {
    if choice.kinds.contains(kind) { keep(.missing(kind, reason, at: time), at: now) }
  }

  private mutating func tell(_ observation: Observation, at now: Double) {
    guard choice.kinds.contains(LineKind(observation)) else { return }
    keep(.observation(observation, skipped: 0), at: now)
  }

  private mutating func keep(_ entry: Entry, at now: Double) {
    guard events.count < Self.mostEvents else {
      return close("the reader did not take \(Self.mostEvents) lines in time", at: now)
    }
    keep(entry)
  }

  private mutating func keep(_ entry: Entry) {
    order += 1
    count += 1
    events.append(entry, order: order)
  }

  // MARK: Writing

  /// Returns the next entries in the order in which they came, and removes them.
  mutating func next() -> [Entry] {
    var taken: [Entry] = []
    while taken.count < Self.piece {
      let oldest = measurements.min { $0.value.order ?? .max < $1.value.order ?? .max }
      let (source, first) = (oldest?.key, oldest?.value.order ?? .max)
      if let order = events.order, order < first {
        if let entry = events.removeFirst() { taken.append(entry) }
      } else if let source, let entry = measurements[source]?.removeFirst() {
        taken.append(entry.with(skipped: skipped.removeValue(forKey: source) ?? 0))
        if measurements[source]?.count == 0 { measurements[source] = nil }
      } else {
        break
      }
      count -= 1
    }
    return taken
  }
}

extension StreamEnd.Entry {
  fileprivate func with(skipped count: Int) -> StreamEnd.Entry {
    guard count > 0 else { return self }
    return switch self {
    case .observation(let observation, _): .observation(observation, skipped: count)
    case .attitude(let reading, _): .attitude(reading, skipped: count)
    case .sample(let reading, _): .sample(reading, skipped: count)
    case .hello, .subscription, .failure, .missing, .recording: self
    }
  }
}

extension SensorStatus {
  /// The status without what counts up all the time.
  fileprivate var told: SensorStatus {
    var status = self
    status.counters = SensorCounters()
    return status
  }
}
