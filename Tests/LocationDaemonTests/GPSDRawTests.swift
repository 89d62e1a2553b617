// A receiver's own bytes for clients of gpsd: who gets them, and who does not.

import FacadeTestSupport
import LocationServices
import Lodestone
import OutputProtocols
import SensorHub
import SensorTypes
import Synchronization
import Testing

@testable import LocationDaemon

/// Receivers whose bytes may be passed on until a test says otherwise.
private final class ToldReceivers: ReceiverSource {
  let tap = ReceiverTap()
  private let isOpen = Atomic<Bool>(true)
  var mayHearReceivers: Bool {
    get { isOpen.load(ordering: .relaxed) }
    set { isOpen.store(newValue, ordering: .relaxed) }
  }
  var receiverTap: ReceiverTap? { mayHearReceivers ? tap : nil }

  func send(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { tap.take($0, of: "/dev/serial0", at: Timestamp(seconds: 1)) }
  }
}

/// An output without a port, and a client of it.
private final class RawBench {
  let receivers = ToldReceivers()
  let output: GPSDOutput

  init(_ positions: PositionLimit = .exact) {
    output = GPSDOutput(
      place: "", positions: positions, isSimulated: false, clocks: .system,
      clock: { ClockReading(seconds: $0.seconds, isSet: true) })
    output.attach(receivers: receivers)
    var status = SensorStatus(
      index: 0, chip: "u-blox", position: "/dev/serial0", state: .running,
      since: Timestamp(seconds: 0))
    status.link = ReceiverLink()
    var published = PublishedState()
    published.take(.sensor(status))
    output.take(.sensor(status), published, at: Timestamp(seconds: 1))
  }

  func client(_ watch: String) -> any ServedConnection {
    let connection = output.admit(at: 1, wake: {})
    say(watch, to: connection)
    return connection
  }

  func say(_ text: String, to connection: any ServedConnection) {
    Array((text + "\n").utf8).withUnsafeBytes { connection.receive($0, at: 1) }
  }

  /// What a client gets in a round.
  func get(_ connection: any ServedConnection, at seconds: Double = 1) -> [UInt8] {
    _ = output.advance(PublishedState(), to: Timestamp(seconds: seconds))
    var all: [UInt8] = []
    while let bytes = connection.next() { all += bytes }
    return all
  }
}

struct GPSDRawTests {
  private static let poll: [UInt8] = [0xB5, 0x62, 0x0A, 0x04, 0, 0, 0x0E, 0x34]

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("each client gets its level of a receiver's bytes, and one that watches none gets none")
  func levels() {
    let bench = RawBench()
    let clients = [1, 2, 0].map { bench.client(#"?WATCH={"raw":\#($0)}"#) }
    for (level, client) in zip([1, 2, 0], clients) {
      #expect(Self.text(bench.get(client)).contains(#""raw":\#(level)"#))
    }
    bench.receivers.send(Self.poll)
    #expect(Self.text(bench.get(clients[0])) == "b5620a0400000e34\r\n")
    #expect(bench.get(clients[1]) == Self.poll)
    #expect(bench.get(clients[2]).isEmpty)
  }

  @Test("a client of another device gets none, and after the watch none is kept")
  func device() {
    let bench = RawBench()
    let client = bench.client(#"?WATCH={"raw":2,"device":"lodestone"}"#)
    _ = bench.get(client)
    bench.receivers.send(Self.poll)
    #expect(bench.get(client).isEmpty)
    bench.say(#"?WATCH={"enable":false}"#, to: client)
    _ = bench.get(client)
    bench.receivers.send(Self.poll)
    bench.say(#"?WATCH={"raw":2}"#, to: client)
    _ = bench.get(client)
    bench.receivers.send([1])
    #expect(bench.get(client) == [1])
  }

  @Test(
    "without exact positions WATCH says the level 0, and no byte comes",
    arguments: [
      PositionLimit.reduced, .none,
    ])
  func reduced(_ positions: PositionLimit) {
    let bench = RawBench(positions)
    let client = bench.client(#"?WATCH={"raw":2}"#)
    #expect(Self.text(bench.get(client)).contains(#""raw":0"#))
    bench.receivers.send(Self.poll)
    #expect(bench.get(client).isEmpty)
  }

  @Test("once the machine's rules forbid it no byte comes any more")
  func forbidden() {
    let bench = RawBench()
    let client = bench.client(#"?WATCH={"raw":2}"#)
    _ = bench.get(client)
    bench.receivers.send(Self.poll)
    bench.receivers.mayHearReceivers = false
    #expect(bench.get(client).isEmpty)
    bench.say("?WATCH;", to: client)
    #expect(Self.text(bench.get(client)).contains(#""raw":0"#))
    bench.receivers.send(Self.poll)
    #expect(bench.get(client).isEmpty)
  }

  @Test("what the thread of the outputs is late for is counted")
  func late() {
    let bench = RawBench()
    let client = bench.client(#"?WATCH={"raw":2}"#)
    _ = bench.get(client)
    for _ in 0..<200 { bench.receivers.send([UInt8](repeating: 7, count: 1_024)) }
    #expect(bench.output.summary.dropped == 72)
    bench.output.end()
    #expect(bench.output.summary.dropped == 72)
  }

  private static func rule(_ words: String) -> String {
    "schema: 1\nrules:\n  - user: \"65534\"\n    authorization: \(words)\n"
  }

  @Test(
    "the answer of WATCH follows what the owner and the machine's rules allow",
    arguments: [
      (.exact, nil, 2), (.reduced, nil, 0), (.exact, rule("denied"), 0),
      (.exact, rule("always\n    accuracy: reduced"), 0),
    ] as [(PositionLimit, String?, Int)])
  func daemon(_ positions: PositionLimit, _ rules: String?, _ level: Int) throws {
    let settings = OutputSettings(
      kind: .gpsd, transport: .tcp, address: "127.0.0.1", port: 0, positions: positions, line: 2)
    let bench = try DaemonBench(rules: rules, outputs: [settings])
    let peer = try TextPeer(bench.port(0))
    peer.say(#"?WATCH={"enable":true,"raw":2}"#)
    #expect(peer.gets { $0.contains(#""class":"WATCH""#) })
    #expect(peer.text.contains(#""raw":\#(level)"#), "\(peer.text)")
  }
}
