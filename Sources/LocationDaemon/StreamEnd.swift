// The daemon's end of a stream of JSON lines, as a value: bytes and observations in, lines out.

import JSONReading
import Lodestone
package import OutputProtocols
import SensorTypes
import ServiceProtocol
import TextForms

/// What a reader of the stream has asked for.
package struct StreamChoice: Hashable, Sendable {
  /// The kinds of line.
  package var kinds: Set<LineKind> = []
  /// The largest number of lines of a kind in a second; `nil` for all.
  package var rate: Double?
}

/// One reader's stream.
///
/// Measurements that the reader does not take are superseded by newer ones, and counted in the key `skipped`. News of sensors, losses and
/// errors are kept; if too many of those wait, the stream is closed.
struct StreamEnd {
  /// The largest request in bytes.
  static let longestRequest = 4_096
  /// The number of measurements of a kind that may wait, and of everything else.
  static let (mostMeasurements, mostEvents) = (32, 1_024)
  /// The number of seconds that the first request may take.
  static let patience = 60.0
  /// The number of seconds that a closed stream has for its last bytes.
  static let closing = 2.0
  /// The number of bytes that are written at once.
  static let piece = 16_384

  private struct Request: Decodable {
    var subscribe: [String]
    var rate: Double?
  }

  private enum Entry {
    case observation(Observation)
    case attitude(AttitudeReading)
  }

  private(set) var choice = StreamChoice()
  private(set) var isClosed = false
  private(set) var dropped: UInt64 = 0
  private let began: Double
  private var closedAt = 0.0
  private var hasAsked = false
  private var input: [UInt8] = []
  private var isOverlong = false
  /// Lines that are to be written before what waits.
  private var output: [UInt8] = []
  private var lines: ObservationLines
  private var entries: [(kind: LineKind, isMeasurement: Bool, entry: Entry)] = []
  private var counts: [LineKind: Int] = [:]
  private var eventCount = 0
  private var skipped: [LineKind: Int] = [:]
  private var rhythms: [LineKind: SampleRhythm] = [:]
  private var lastAttitude: Timestamp?

  /// Makes a stream whose first line says what it is.
  ///
  /// - Parameters:
  ///   - board: The name of the board.
  ///   - now: The monotonic clock in seconds.
  ///   - clock: What the system's clock shows at a moment.
  init(board: String, at now: Double, clock: @escaping (Timestamp) -> ClockReading?) {
    began = now
    lines = ObservationLines(clock: clock)
    var line = lines.begin("hello", at: Timestamp(seconds: now))
    line.set("software", LodestoneRuntime.version)
    line.set("board", board)
    line.set("kinds", LineKind.allCases.map(\.rawValue))
    append(line)
  }

  /// The number of bytes that wait, as far as they are lines already.
  var waitingCount: Int { output.count }
  var hasNews: Bool { !output.isEmpty || !entries.isEmpty }

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
    entries = []
    fail(reason, at: now)
  }

  // MARK: Requests

  /// Takes bytes of the reader. Returns whether another choice was made.
  mutating func receive(_ bytes: some Sequence<UInt8>, at now: Double) -> Bool {
    var hasChosen = false
    for byte in bytes where !isClosed {
      guard byte == UInt8(ascii: "\n") else {
        if input.count < Self.longestRequest { input.append(byte) } else { isOverlong = true }
        continue
      }
      if isOverlong {
        close("a request has more than \(Self.longestRequest) bytes", at: now)
      } else if !input.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) {
        hasChosen = take(input, at: now) || hasChosen
      }
      input.removeAll(keepingCapacity: true)
    }
    return hasChosen
  }

  private mutating func take(_ text: [UInt8], at now: Double) -> Bool {
    guard let request = try? JSONDocument.decode(Request.self, from: text) else {
      fail(#"a request is a line like {"subscribe":["heading","location"],"rate":5}"#, at: now)
      return false
    }
    var kinds: Set<LineKind> = []
    for name in request.subscribe {
      guard let kind = LineKind(rawValue: name) else {
        let known = LineKind.allCases.map(\.rawValue).joined(separator: ", ")
        fail("'\(name.prefix(40))' is no kind of line; the kinds are \(known)", at: now)
        return false
      }
      kinds.insert(kind)
    }
    if let rate = request.rate, !(rate > 0 && rate.isFinite) {
      fail("'rate' is a number of lines a second, above zero", at: now)
      return false
    }
    (choice, hasAsked) = (StreamChoice(kinds: kinds, rate: request.rate), true)
    (entries, counts, eventCount) = ([], [:], 0)
    (skipped, rhythms) = ([:], [:])
    var line = lines.begin("subscription", at: Timestamp(seconds: now))
    line.set("kinds", LineKind.allCases.filter(kinds.contains).map(\.rawValue))
    line.set("rate", request.rate, digits: 3)
    append(line)
    return true
  }

  private mutating func fail(_ message: String, at now: Double) {
    var line = lines.begin("error", at: Timestamp(seconds: now))
    line.set("message", message)
    append(line)
  }

  private mutating func append(_ line: JSONLine) { output += Array(line.line.utf8) + [0x0A] }

  // MARK: Observations

  mutating func take(_ observation: Observation, at now: Double) {
    guard !isClosed else { return }
    switch observation {
    case .motion(let motion):
      if choice.kinds.contains(.attitude), let reading = AttitudeReading(motion) {
        lastAttitude = motion.time
        measure(.attitude, motion.time, .attitude(reading))
      }
      if motion.force != nil || motion.angularRate != nil || motion.field != nil {
        measure(.motion, motion.time, .observation(observation))
      }
    case .heading(let heading):
      measure(.heading, heading.time, .observation(observation))
      // A gyro gives attitudes more often than a magnetometer.
      guard lastAttitude.map({ heading.time.seconds(since: $0) > 1 }) ?? true else { break }
      measure(.attitude, heading.time, .attitude(AttitudeReading(heading)))
    case .location(let location):
      measure(.location, location.fix.received, .observation(observation))
    case .altitude(let altitude): measure(.altitude, altitude.time, .observation(observation))
    case .absoluteAltitude(let altitude):
      measure(.absoluteAltitude, altitude.time, .observation(observation))
    case .sky(let sky): measure(.sky, sky.received, .observation(observation))
    case .headingUnavailable, .locationUnavailable, .altitudeUnavailable, .motionUnavailable,
      .sensor, .diagnostic:
      keep(observation, at: now)
    }
  }

  private mutating func measure(_ kind: LineKind, _ time: Timestamp, _ entry: Entry) {
    guard choice.kinds.contains(kind) else { return }
    let interval = choice.rate.map { 1 / $0 }
    guard rhythms[kind, default: SampleRhythm()].accepts(time, interval: interval) else { return }
    if counts[kind, default: 0] >= Self.mostMeasurements,
      let oldest = entries.firstIndex(where: { $0.kind == kind && $0.isMeasurement })
    {
      entries.remove(at: oldest)
      counts[kind, default: 0] -= 1
      skipped[kind, default: 0] += 1
      dropped += 1
    }
    counts[kind, default: 0] += 1
    entries.append((kind, true, entry))
  }

  private mutating func keep(_ observation: Observation, at now: Double) {
    let kind = LineKind(observation)
    guard choice.kinds.contains(kind) else { return }
    guard eventCount < Self.mostEvents else {
      return close("the reader did not take \(Self.mostEvents) lines in time", at: now)
    }
    eventCount += 1
    entries.append((kind, false, .observation(observation)))
  }

  // MARK: Lines

  /// Returns the next bytes to write, or `nil`.
  mutating func next() -> [UInt8]? {
    var (bytes, taken) = (output, 0)
    output = []
    for (kind, isMeasurement, entry) in entries {
      guard bytes.count < Self.piece else { break }
      taken += 1
      let left = isMeasurement ? skipped.removeValue(forKey: kind) ?? 0 : 0
      if isMeasurement { counts[kind, default: 0] -= 1 } else { eventCount -= 1 }
      switch entry {
      case .observation(let observation):
        bytes += Array(lines.line(for: observation, skipped: left).utf8)
      case .attitude(let reading): bytes += Array(lines.line(for: reading, skipped: left).utf8)
      }
      bytes.append(0x0A)
    }
    entries.removeFirst(taken)
    return bytes.isEmpty ? nil : bytes
  }
}
