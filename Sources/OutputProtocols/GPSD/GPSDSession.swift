// One client of gpsd's JSON protocol, on our side (gpsd_json(5); gpsd 3.22, gpsd.c). It does no I/O.

package import SensorTypes
import TextForms

/// What the greeting says of us.
package struct GPSDRelease: Hashable, Sendable {
  /// The release of gpsd whose protocol is spoken: `cgps` warns of any but its own. Printable ASCII, at most 63 characters are
  /// sent (gps.h, `version_t`).
  package var release: String
  /// Who is speaking.
  package var revision: String
  package var protocolMajor: Int
  package var protocolMinor: Int

  /// Makes a release. gpsd 3.22 has the protocol 3.14 (its file SConscript).
  package init(
    release: String = "3.22", revision: String, protocolMajor: Int = 3, protocolMinor: Int = 14
  ) {
    (self.release, self.revision) = (release, revision)
    (self.protocolMajor, self.protocolMinor) = (protocolMajor, protocolMinor)
  }
}

/// What a client wants to be sent (gpsd_json(5), "?WATCH").
package struct GPSDPolicy: Hashable, Sendable {
  package var isWatching = false
  package var json = false
  package var nmea = false
  /// 0: no raw data; 1: binary messages as hexadecimal; 2: every byte as it is.
  package var raw = 0
  package var scaled = false
  package var split24 = false
  package var timing = false
  /// Whether TOFF and PPS are wanted.
  package var pps = false
  /// The device whose reports are wanted; `nil` for all.
  package var device: String?

  package init() {}

  /// Takes an order. What it does not say stays for `json`, `nmea` and `raw`; the others go back to their defaults, as in
  /// gpsd's `json_watch_read`.
  mutating func take(_ watch: GPSDWatch) {
    isWatching = watch.isEnabled ?? true
    json = watch.json ?? json
    nmea = watch.nmea ?? nmea
    raw = min(max(watch.raw ?? raw, 0), 2)
    (scaled, split24) = (watch.scaled ?? false, watch.split24 ?? false)
    (timing, pps) = (watch.timing ?? false, watch.pps ?? false)
    device = watch.device.flatMap { $0.isEmpty ? nil : $0 }
  }

  func wants(_ device: String) -> Bool {
    isWatching && (self.device.map { $0 == device } ?? true)
  }
}

/// The conversation with one client: its requests come in as bytes, answers and reports go out as bytes.
///
/// The owner of the socket reads at most `room` bytes and gives them to `receive`, writes `output` as far as the socket takes
/// it and says so to `didWrite`, and closes the connection at `deadline`. While `hasRequests`, it calls `receive` again after it
/// has written, with no bytes.
package struct GPSDSession: Sendable {
  /// How long a client may leave what was written to it unread, seconds (gpsd's `NOREAD_TIMEOUT`).
  package static let readTimeout = 180.0
  /// How long a client that watches nothing may ask for nothing, seconds (gpsd's `COMMAND_TIMEOUT`).
  package static let requestTimeout = 900.0

  /// What the client wants to be sent.
  package private(set) var policy = GPSDPolicy()
  /// Whether a receiver's own bytes may be sent. Without them a client that asks for `raw` is answered by the level 0, which is what it
  /// gets.
  package var passesRaw: Bool {
    didSet {
      guard !passesRaw else { return }
      // Raw data that wait hold the position as sentences do not: both are pieces, and both are left out.
      if oldValue, policy.raw > 0 { outbox.removePieces() }
      policy.raw = 0
    }
  }
  private let release: GPSDRelease
  private var reader = GPSDRequestReader()
  private var outbox = GPSDOutbox()
  private var lastRequest: Timestamp
  private var lastWrite: Timestamp
  private var isHeld = false
  /// Requests that were answered by an ERROR.
  package private(set) var errors: UInt64 = 0

  /// Makes a session for a client that has just connected: the server speaks first.
  ///
  /// - Parameter passesRaw: Whether a receiver's own bytes may be sent.
  package init(_ release: GPSDRelease, passesRaw: Bool = true, at now: Timestamp) {
    (self.release, self.passesRaw) = (release, passesRaw)
    (lastRequest, lastWrite) = (now, now)
    outbox.append(answer: GPSDReports.line { write(version: &$0) })
  }

  /// The most bytes that `receive` takes now; none while the client does not read its answers.
  package var room: Int { reader.room }
  /// Whether requests have waited for the client to read the answers to earlier ones, which it now has.
  package var hasRequests: Bool { isHeld && !outbox.isFull }
  /// What is to be written next; empty where nothing is.
  package var output: ArraySlice<UInt8> { outbox.head }
  /// What the client has not been sent because it reads too slowly.
  package var leftOut: GPSDLeftOut { outbox.leftOut }
  /// Lines that were no requests, and requests beyond 1,024 bytes.
  package var badLines: UInt64 { reader.ignoredLines &+ reader.tooLong }
  /// When the connection is to be closed, unless something happens before.
  package var deadline: Timestamp {
    if !outbox.isEmpty { return lastWrite.advanced(bySeconds: Self.readTimeout) }
    return policy.isWatching ? .distantFuture : lastRequest.advanced(bySeconds: Self.requestTimeout)
  }

  /// Takes note that the first `count` bytes of `output` are written.
  package mutating func didWrite(_ count: Int, at now: Timestamp) {
    guard count > 0 else { return }
    lastWrite = now
    outbox.didWrite(count)
  }

  /// Takes bytes of the client, and answers the requests that are whole.
  ///
  /// - Parameters:
  ///   - bytes: At most `room` of them; what is beyond is lost.
  ///   - reports: The devices, and what a POLL is made with.
  ///   - state: What the board has published.
  package mutating func receive(
    _ bytes: some Collection<UInt8>, reports: GPSDReports, state: PublishedState,
    at now: Timestamp
  ) {
    reader.append(bytes)
    while !outbox.isFull, let request = reader.next() {
      lastRequest = now
      if outbox.isEmpty { lastWrite = now }
      handle(request, reports, state, now)
    }
    isHeld = outbox.isFull && !reader.isEmpty
  }

  /// Sends a report if the client wants it.
  package mutating func send(_ report: GPSDServerReport, at now: Timestamp) {
    guard policy.wants(report.device) else { return }
    // As gpsd's `notify_watchers` is called.
    switch report.kind {
    case .timeOffset: guard policy.pps else { return }
    case .pulse: guard policy.pps || policy.json else { return }
    case .position, .sky, .attitude, .inertial, .device: guard policy.json else { return }
    }
    if outbox.isEmpty { lastWrite = now }
    outbox.append(report)
  }

  /// Sends whole NMEA sentences, each with its CR LF, if the client wants NMEA.
  package mutating func send(nmea sentences: [UInt8], device: String, at now: Timestamp) {
    guard policy.nmea, policy.wants(device) else { return }
    if outbox.isEmpty { lastWrite = now }
    outbox.append(piece: sentences)
  }

  /// Sends what a receiver has sent, if the client wants raw data.
  package mutating func send(_ raw: GPSDRawData, device: String, at now: Timestamp) {
    guard policy.raw > 0, policy.wants(device) else { return }
    if outbox.isEmpty { lastWrite = now }
    for piece in policy.raw > 1 ? raw.verbatim : raw.lines { outbox.append(piece: piece) }
  }
}

// MARK: Answers

extension GPSDSession {
  private mutating func handle(
    _ request: GPSDRequest, _ reports: GPSDReports, _ state: PublishedState, _ now: Timestamp
  ) {
    switch request {
    case .version: answer(GPSDReports.line { write(version: &$0) })
    case .devices: answer(GPSDReports.line { reports.write(devices: &$0) })
    case .poll:
      answer(GPSDReports.line { reports.write(poll: &$0, state, for: policy, at: now) })
    case .watch(let watch?): order(watch, reports)
    case .watch(nil): answerPolicy(reports)
    case .invalidWatch(let why):
      fail("Invalid WATCH: \(why)")
      answerPolicy(reports)
    case .device(let path, let isOrder): device(path, isOrder: isOrder, reports)
    case .invalidDevice(let why): fail("Invalid DEVICE: \(why)")
    case .unknown(let text): fail("Unrecognized request '\(text)'")
    }
  }

  private mutating func order(_ watch: GPSDWatch, _ reports: GPSDReports) {
    policy.take(watch)
    if !passesRaw { policy.raw = 0 }
    if !policy.isWatching { outbox.removeReports() }
    if policy.isWatching, let device = policy.device, !reports.has(device) {
      return fail("No such device as \(device)")
    }
    answerPolicy(reports)
  }

  /// Nobody sets a receiver from here: an order is answered with the state that it has, as gpsd does where a device cannot do
  /// what is asked of it.
  private mutating func device(_ path: String?, isOrder: Bool, _ reports: GPSDReports) {
    let path = path.flatMap { $0.isEmpty ? nil : $0 }
    if isOrder {
      if let path, !reports.has(path) { return fail("Can't open \(path).") }
      if path == nil, reports.devices.isEmpty {
        return fail("Can't perform DEVICE configuration, no devices attached.")
      }
      if path == nil, reports.devices.count > 1 {
        return fail("No path specified in DEVICE, but multiple devices are attached.")
      }
    }
    for device in reports.devices where path == nil || device.path == path {
      answer(GPSDReports.line { device.write(into: &$0) })
    }
  }

  private mutating func answerPolicy(_ reports: GPSDReports) {
    answer(GPSDReports.line { reports.write(devices: &$0) })
    answer(GPSDReports.line { write(policy: &$0) })
  }

  private mutating func fail(_ message: String) {
    errors &+= 1
    let line = GPSDReports.line {
      $0.set("class", "ERROR")
      $0.set("message", message)
    }
    answer(line)
  }

  private mutating func answer(_ line: [UInt8]) { outbox.append(answer: line) }

  private func write(version line: inout JSONLine) {
    line.set("class", "VERSION")
    line.set("release", GPSDText.ascii(release.release.utf8, limit: 63))
    line.set("rev", GPSDText.ascii(release.revision.utf8, limit: 63))
    line.set("proto_major", release.protocolMajor)
    line.set("proto_minor", release.protocolMinor)
  }

  private func write(policy line: inout JSONLine) {
    line.set("class", "WATCH")
    line.set("enable", policy.isWatching)
    line.set("json", policy.json)
    line.set("nmea", policy.nmea)
    line.set("raw", policy.raw)
    line.set("scaled", policy.scaled)
    line.set("timing", policy.timing)
    line.set("split24", policy.split24)
    line.set("pps", policy.pps)
    line.set("device", policy.device)
  }
}
