// Both ends of a connection without a socket between them, and what they say to each other in the tests.

import Geodesy
import SensorTypes
import Testing

@testable import LocationServices
@testable import ServiceProtocol

/// A program and a daemon without a socket between them.
struct Conversation {
  var program: ProgramEnd
  var daemon: DaemonEnd
  var heard: [ProgramEnd.Incoming] = []
  var asked: [DaemonEnd.Incoming] = []
  /// The time of both.
  var now = 100.0
  /// Whether the daemon stores what it is asked to.
  var stores = true
  /// The number of bytes that are passed on at a time.
  var piece = 7

  init(
    program versions: ProtocolVersions = .supported,
    daemon daemonVersions: ProtocolVersions = .supported
  ) {
    program = ProgramEnd(software: "1.2.3", versions: versions)
    daemon = Self.daemon(daemonVersions)
  }

  static func daemon(
    _ versions: ProtocolVersions = .supported, run: UInt64 = 1, at now: Double = 100
  ) -> DaemonEnd {
    DaemonEnd(
      hello: DaemonHello(version: 0, software: "4.5.6", run: run, board: "boat", clock: 0),
      versions: versions, at: now)
  }

  static func hello(version: Int = 1, run: UInt64 = 1) -> ProgramEnd.Incoming {
    .greeted(DaemonHello(version: version, software: "4.5.6", run: run, board: "boat", clock: 100))
  }

  mutating func connect() {
    program.connected(at: now)
    exchange()
  }

  /// Replaces the daemon by one that has just started.
  mutating func restart(run: UInt64) {
    heard += program.disconnected("away")
    (daemon, asked) = (Self.daemon(run: run), [])
    connect()
  }

  mutating func send(_ action: ServiceAction, _ client: UInt64 = 5) {
    heard += program.send(ServiceRequest(ClientID(rawValue: client), action))
  }

  mutating func ask(_ question: ServiceQuestion) throws -> UInt64 {
    let number = program.ask(question)
    return try #require(number)
  }

  /// The daemon tells a client of the program something.
  mutating func tell(_ content: EventContent, _ client: UInt64 = 5) {
    daemon.send(ServiceEvent(client: ClientID(rawValue: client), content: content))
  }

  /// Moves bytes, in pieces, until nobody has anything more to say. The daemon carries out every request at once.
  mutating func exchange() {
    for _ in 0..<1_000 {
      var output = program.takeOutput()[...]
      var isQuiet = output.isEmpty
      while !output.isEmpty {
        let incoming = daemon.receive(output.prefix(piece), at: now)
        output = output.dropFirst(piece)
        for message in incoming {
          asked.append(message)
          guard case .request(let number, let request) = message else { continue }
          daemon.willCarryOut(number)
          daemon.didCarryOut(number, request, isStored: stores)
        }
      }
      while let frame = daemon.next() {
        var rest = frame[...]
        while !rest.isEmpty {
          heard += program.receive(rest.prefix(piece), at: now)
          rest = rest.dropFirst(piece)
        }
        isQuiet = false
      }
      if isQuiet { return }
    }
    Issue.record("they talk for ever")
  }

  var requests: [ServiceRequest] {
    asked.compactMap { if case .request(_, let request) = $0 { request } else { nil } }
  }

  var actions: [ServiceAction] { requests.map(\.action) }

  var events: [EventContent] {
    heard.compactMap { if case .event(let event) = $0 { event.content } else { nil } }
  }

  /// The services that a failure was reported of.
  var failures: [Service] {
    events.compactMap { if case .failure(let failure) = $0 { failure.service } else { nil } }
  }
}

let region = MonitoredRegion(
  identifier: "harbour", monitor: nil, center: .init(latitude: 53.5, longitude: 10), radius: 120)
let heading = EventContent.heading(
  HeadingReport(time: Timestamp(seconds: 1), magneticHeading: 12))
let force = EventContent.motion(
  .force(MotionSample(time: Timestamp(seconds: 1), value: .zero)))
let late = EventContent.requestFailed(ServiceFailure(service: .location, reason: "late"))
let beacons = BeaconConstraint(uuid: BeaconUUID(high: 1, low: 2))

func regionEvent(_ kind: RegionEventKind) -> RegionEvent {
  RegionEvent(region: region, kind: kind, time: Timestamp(seconds: 0))
}

func report(isBeingAsked: Bool = false) -> AuthorizationReport {
  AuthorizationReport(
    status: .whenInUse, accuracy: .full, isInUse: true, isBeingAsked: isBeingAsked)
}

func framed(_ message: some Encodable) throws -> [UInt8] {
  var bytes: [UInt8] = []
  try Frame.append(message, to: &bytes, limit: 100_000)
  return bytes
}
