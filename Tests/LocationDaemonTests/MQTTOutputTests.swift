// A board at a broker of MQTT: what is published, kept and said when the broker is away, refuses or lies.

import BoardFile
import FacadeTestSupport
import Foundation
import LocationServices
import Lodestone
import OutputProtocols
import SensorBus
import SensorTypes
import Synchronization
import Testing

@testable import LocationDaemon

/// An output with a broker that a test plays, and the board's state.
private final class MQTTBench {
  static let accepted: [UInt8] = [0x20, 3, 0, 0, 0]

  let broker = PlayedBroker()
  let thread = SteppedThread()
  let output: MQTTOutput
  private(set) var state = PublishedState()

  init(
    _ positions: PositionLimit = .exact,
    _ change: (inout MQTTConfiguration) -> Void = { _ in }
  ) {
    var configuration = MQTTConfiguration()
    configuration.boardName = "boat"
    change(&configuration)
    output = MQTTOutput(
      place: "mqtt://broker:1883", configuration, positions: positions, clocks: thread.clocks,
      runner: thread
    ) { [broker] () throws(BusError) in try broker.open() }
    output.begin {}
  }

  func publish(_ observation: Observation) {
    state.take(observation)
    output.take(observation, state, at: thread.now)
  }

  func chip(_ state: SensorState, index: Int = 0) {
    publish(
      .sensor(
        SensorStatus(
          index: index, chip: "LIS3MDL", position: "/dev/i2c-1:0x1e", state: state,
          since: thread.now)))
  }

  /// Lets time pass, and both threads do what is due: first the outputs', then the connection's.
  @discardableResult
  func pass(_ seconds: Double = 0) -> [MQTTMessage] {
    thread.pass(seconds)
    _ = output.advance(state, to: thread.now)
    thread.step()
    return broker.takeMessages()
  }

  /// Has the broker accept the client, and returns what it is told first.
  func connect() -> [MQTTMessage] {
    pass()
    broker.says(Self.accepted)
    pass()
    return pass(2.1)
  }
}

struct MQTTOutputTests {
  private static func end(_ message: MQTTMessage) -> String {
    message.topic.split(separator: "/").last.map(String.init) ?? ""
  }

  private static func text(_ message: MQTTMessage?) -> String {
    String(decoding: message?.payload ?? [], as: UTF8.self)
  }

  @Test("a board is described once it is known, then it is online, then its values come")
  func begins() throws {
    let bench = MQTTBench()
    #expect(bench.output.summary.problem == "not connected yet")
    bench.publish(.heading(degrees: 20, at: bench.thread.now.seconds, declination: 3.5))
    bench.chip(.running)
    let first = bench.connect()
    #expect(bench.output.summary.problem == nil && bench.output.demand.heading)
    #expect(bench.output.demand.locationInterval == 10)
    #expect(
      first.map(Self.end) == ["config", "availability", "0", "heading", "position", "air"])
    #expect(first.map(\.quality) == [1, 1, 1, 0, 0, 0])
    #expect(first.map(\.isRetained) == [true, true, false, false, false, false])
    #expect(Self.text(first[0]).contains("magnetic_heading"))
    #expect(Self.text(first[1]) == "online")
    // A barometer is seen later: the description comes again, after a while.
    bench.publish(.heading(degrees: 21, at: bench.thread.now.seconds, declination: 3.5))
    bench.publish(
      .altitude(
        AltitudeEstimate(
          time: bench.thread.now, relativeAltitude: 0, relativeAccuracy: 1, pressure: 101_325)))
    #expect(bench.pass(1).map(Self.end) == ["heading"])
    let again = bench.pass(1.1)
    #expect(again.map(Self.end) == ["config", "heading"])
    #expect(Self.text(again[0]).contains("atmospheric_pressure"))
    #expect(Self.text(again[0]).contains(#""expire_after":30"#))
    #expect(bench.output.summary.sent == 9 && bench.output.summary.dropped == 0)
  }

  @Test("where the owner names no positions, nothing that tells the place goes to the broker")
  func withheld() {
    let bench = MQTTBench(.none)
    #expect(!bench.output.demand.location)
    bench.publish(.location(53.123, 10.987, at: bench.thread.now.seconds))
    let texts = bench.connect().map(Self.text) + bench.pass(10).map(Self.text)
    #expect(!bench.output.demand.location && texts.count > 3)
    #expect(!texts.contains { $0.contains("53.1") || $0.contains("latitude") })
  }

  @Test("when Home Assistant starts, everything comes again, though not all the time")
  func birth() {
    let bench = MQTTBench()
    _ = bench.connect()
    func birth(_ word: String) {
      bench.broker.says(
        MQTTPackets.publish(
          MQTTMessage(topic: "homeassistant/status", payload: Array(word.utf8)), identifier: 0))
      bench.thread.step()
    }
    bench.pass(20)
    birth("offline")
    #expect(!bench.pass(1).map(Self.end).contains("config"))
    birth("online")
    #expect(bench.pass().map(Self.end).prefix(2) == ["config", "availability"])
    var descriptions = 0
    for _ in 0..<100 {
      birth("online")
      descriptions += bench.pass(0.1).count { Self.end($0) == "config" }
    }
    #expect(descriptions == 1)
  }

  @Test("what happens to chips while the broker is away is told in order when it is back")
  func away() {
    let bench = MQTTBench()
    bench.chip(.running)
    _ = bench.connect()
    bench.broker.breaks()
    bench.broker.state.withLock { $0.isReachable = false }
    bench.pass()
    bench.pass()
    #expect(bench.output.summary.problem == "the server has ended it")
    bench.chip(.failed("no answer"))
    bench.pass(5)
    bench.chip(.running)
    bench.publish(.heading(degrees: 20, at: bench.thread.now.seconds, declination: 3.5))
    for _ in 0..<30 { bench.pass(1) }
    #expect(bench.output.summary.problem == "connection refused: nobody listens there")
    let attempts = bench.broker.connections
    #expect((4...7).contains(attempts))
    bench.broker.state.withLock { $0.isReachable = true }
    bench.pass(40)
    bench.broker.says(MQTTBench.accepted)
    bench.thread.step()
    let messages = bench.broker.takeMessages() + bench.pass()
    let chips = messages.filter { Self.end($0) == "0" }.map(Self.text)
    #expect(
      chips.map { $0.contains(#""problem":"ON""#) } == [true, false, false], "\(chips)")
    #expect(messages.map(Self.end).contains("config") && bench.output.summary.problem == nil)
    // No heading of before.
    #expect(messages.filter { Self.end($0) == "heading" }.count == 1)
  }

  @Test("events that are lost because too many wait for a broker are said, until one is back")
  func full() {
    let bench = MQTTBench()
    bench.chip(.running)
    _ = bench.connect()
    bench.broker.breaks()
    bench.broker.state.withLock { $0.isReachable = false }
    bench.pass()
    bench.pass()
    for _ in 0..<200 {
      bench.chip(.failed("no answer"))
      bench.pass(0.1)
      bench.chip(.running)
      bench.pass(0.1)
    }
    let problem = bench.output.summary.problem
    #expect(problem?.contains("events are lost, because no more than 256 wait") == true)
    bench.broker.state.withLock { $0.isReachable = true }
    bench.pass(40)
    bench.broker.says(MQTTBench.accepted)
    bench.thread.step()
    #expect(bench.output.summary.problem == nil)
  }

  @Test("chips sleep when the broker has been away for a quarter of an hour")
  func sleep() {
    let bench = MQTTBench()
    bench.broker.state.withLock { $0.isReachable = false }
    bench.pass()
    #expect(bench.output.demand.heading)
    bench.pass(899)
    #expect(bench.output.demand.heading)
    bench.pass(2)
    #expect(bench.output.demand == Demand())
    bench.broker.state.withLock { $0.isReachable = true }
    bench.pass(100)
    bench.broker.says(MQTTBench.accepted)
    bench.pass()
    bench.pass()
    #expect(bench.output.demand.heading && bench.output.summary.isConnected == true)
    #expect(!bench.output.summary.isLasting)
  }

  @Test("a refusal is said in words, and the broker is not asked again at once")
  func refused() {
    let bench = MQTTBench()
    bench.pass()
    bench.broker.says([0x20, 3, 0, 0x87, 0])
    bench.pass()
    #expect(
      bench.output.summary.problem
        == "the broker wants a user name and a password: 'credentials' in serve.yaml (0x87)")
    bench.pass(7)
    #expect(bench.broker.connections == 1)
    bench.pass(6)
    #expect(bench.broker.connections == 2)
  }

  @Test("a broker that ends the connection before it answers may want encryption")
  func mute() {
    let bench = MQTTBench()
    bench.pass()
    bench.broker.breaks()
    bench.pass()
    #expect(
      bench.output.summary.problem
        == "the server has ended it before it answered: does it want 'tls: true'?")
    // One that says nothing is given up.
    bench.pass(1.3)
    bench.pass(10)
    #expect(bench.output.summary.problem?.contains("has not answered within 10 s") == true)
  }

  @Test("a broker that ends each connection early may have two clients of one name")
  func taken() {
    let bench = MQTTBench()
    for _ in 0..<2 {
      _ = bench.connect()
      bench.broker.breaks()
      bench.pass()
      bench.pass()
      bench.pass(20)
    }
    bench.broker.says(MQTTBench.accepted)
    bench.pass()
    #expect(bench.output.summary.problem?.contains("call itself 'lodestone-boat'?") == true)
    for _ in 0..<61 { bench.pass(1) }
    #expect(bench.output.summary.problem == nil)
  }

  @Test("user and password come from a file that only its owner can read")
  func credentials() throws {
    let file = FileManager.default.temporaryDirectory
      .appending(path: "mqtt-\(UInt32.random(in: 0 ... .max))")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data("me:secret\n".utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    let bench = MQTTBench(.exact) { $0.credentials = file.path }
    bench.pass()
    #expect(bench.output.summary.problem?.contains("chmod 600") == true)
    #expect(bench.output.summary.isLasting && bench.broker.connections == 0)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    bench.thread.pass(13)
    bench.thread.step()
    let first = try #require(bench.broker.takePackets().first)
    #expect(first.header == 0x10)
    #expect(first.body.suffix(12).elementsEqual([0, 2] + "me".utf8 + [0, 6] + "secret".utf8))
    bench.broker.says([0x20, 3, 0, 0x87, 0])
    bench.pass()
    let problem = try #require(bench.output.summary.problem)
    #expect(problem.contains("wrong user name or password") && !problem.contains("secret"))
    #expect(bench.output.summary.isConnected == false)
  }

  @Test("a broker that takes nothing costs no memory, and is given up")
  func stuck() {
    let bench = MQTTBench()
    _ = bench.connect()
    bench.broker.state.withLock { $0.isTaking = false }
    for second in 0..<30 {
      bench.chip(second % 2 == 0 ? .failed("gone") : .running)
      bench.pass(1)
    }
    #expect(bench.output.summary.problem == nil)
    for _ in 0..<15 { bench.pass(1) }
    #expect(bench.output.summary.problem == "the broker has acknowledged no message for 30 s")
  }

  @Test("a broker that sends nonsense or without end is left, and the board goes on")
  func hostile() {
    let message = MQTTPackets.publish(
      MQTTMessage(topic: "homeassistant/status", payload: [UInt8](repeating: 65, count: 8_000)),
      identifier: 0)
    for bytes in [
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0xFF, 0xFF, 0xFF, 0x7F], [0x20, 3, 0, 0, 0],
      Array(repeating: message, count: 100).flatMap(\.self),
    ] as [[UInt8]] {
      let bench = MQTTBench()
      _ = bench.connect()
      bench.broker.says(bytes)
      for _ in 0..<20 { bench.thread.step() }
      #expect(bench.output.summary.problem?.contains("the broker") == true)
      bench.pass(30)
      #expect(bench.broker.connections == 2)
      bench.broker.says(MQTTBench.accepted)
      bench.pass()
      #expect(bench.output.summary.problem == nil)
    }
  }

  @Test("the end is told to the broker, once")
  func leaves() {
    let bench = MQTTBench()
    _ = bench.connect()
    bench.output.end()
    let packets = bench.broker.takePackets()
    #expect(packets.map(\.header) == [0x33, 0xE0] && bench.thread.isStopped)
    #expect(packets.first.map { $0.body.suffix(7).elementsEqual("offline".utf8) } == true)
    bench.output.end()
  }

  @Test("what serve.yaml says of a broker, and what is wrong in it")
  func settings() throws {
    func read(_ entry: String) throws -> OutputSettings? {
      try ServeFile.parse("schema: 1\noutputs:\n  - \(entry)\n", file: "serve.yaml").outputs.first
    }
    let usual = try #require(try read("{protocol: mqtt, address: broker.example}"))
    #expect(usual.address == "broker.example" && usual.port == 1_883 && usual.positions == .none)
    #expect(usual.kind == .mqtt(MQTTConfiguration()) && usual.name == "mqtt")
    let chosen = try #require(
      try read(
        "{protocol: mqtt, address: '[::1]', tls: true, caFile: /ca.pem, credentials: /c, name: boat, "
          + "topicPrefix: a/b, discoveryPrefix: ha, interval: 30, headingInterval: 0.5, positions: exact}"
      ))
    #expect(chosen.address == "::1" && chosen.port == 8_883 && chosen.positions == .exact)
    guard case .mqtt(let configuration) = chosen.kind else {
      Issue.record("\(chosen)")
      return
    }
    #expect(configuration.isEncrypted && configuration.authorities == "/ca.pem")
    #expect(configuration.credentials == "/c" && configuration.name == "boat")
    #expect(configuration.topicPrefix == "a/b" && configuration.discoveryPrefix == "ha")
    #expect(configuration.intervals.heading == 0.5 && configuration.intervals.air == 30)
    #expect(try read("{protocol: mqtt, address: 'b:1', positions: none}")?.port == 1)
    for entry in [
      "{protocol: mqtt}", "{protocol: mqtt, address: 'me:pw@b'}", "{protocol: mqtt, address: ''}",
      "{protocol: mqtt, address: 'mqtt://b'}", "{protocol: mqtt, address: b, port: 0}",
      "{protocol: mqtt, address: 'b:1', port: 2}", "{protocol: mqtt, address: b, caFile: /ca.pem}",
      "{protocol: mqtt, address: b, credentials: 'me:secret'}",
      "{protocol: mqtt, address: b, transport: tcp}", "{protocol: mqtt, address: b, talker: II}",
      "{protocol: mqtt, address: b, interval: 0}", "{protocol: mqtt, address: b, name: ''}",
      "{protocol: mqtt, address: b, topicPrefix: 'a/#'}", "{protocol: gpsd, tls: true}",
    ] {
      let error = #expect(throws: BoardFileError.self, "\(entry)") { try read(entry) }
      #expect(error?.line == 3 && error?.message.contains("secret") == false, "\(entry)")
    }
  }

  @Test("two outputs go to one broker under two names, and not under one")
  func names() throws {
    func read(_ first: String, _ second: String) throws -> [OutputSettings] {
      let entries = [first, second].map { "  - {protocol: mqtt, \($0)}\n" }.joined()
      return try ServeFile.parse("schema: 1\noutputs:\n" + entries, file: "serve.yaml").outputs
    }
    #expect(try read("address: b, name: bow", "address: b, name: mast").count == 2)
    #expect(try read("address: b", "address: b, port: 1884").count == 2)
    #expect(try read("address: b, name: boat", "address: c, name: boat").count == 2)
    for (first, second) in [
      ("address: b", "address: b"), ("address: b, name: boat", "address: B, name: boat"),
      ("address: b, port: 8883, name: boat", "address: b, tls: true, name: boat"),
      // The same to the broker.
      ("address: b, name: my boat", "address: b, name: my_boat"),
    ] {
      let error = #expect(throws: BoardFileError.self) { try read(first, second) }
      #expect(error?.line == 4 && error?.message.contains("line 3") == true, "\(first)")
    }
  }
}
