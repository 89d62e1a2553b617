// A broker of MQTT that a test plays, without a network.

import Foundation
import Lodestone
import OutputProtocols
import SensorBus
import SensorTypes
import Synchronization

@testable import LocationDaemon

/// A broker that takes packets and says what a test has it say.
final class PlayedBroker: Sendable {
  struct State: Sendable {
    var isReachable = true
    /// Whether the connections take bytes.
    var isTaking = true
    var connections = 0
    var incoming: [UInt8] = []
    var outgoing: [UInt8] = []
    var failure: BusError?
  }

  let state = Mutex(State())

  /// Begins a connection.
  func open() throws(BusError) -> any NetworkStream {
    let isReachable = state.withLock { state in
      state.connections += 1
      (state.incoming, state.outgoing, state.failure) = ([], [], nil)
      return state.isReachable
    }
    guard isReachable else {
      throw BusError(.noConnection("nobody listens there"), bus: "broker", errno: 111)
    }
    return PlayedStream(self)
  }

  var connections: Int { state.withLock { $0.connections } }

  func says(_ bytes: [UInt8]) { state.withLock { $0.outgoing += bytes } }

  /// Ends the connection.
  func breaks(_ words: String = "the server has ended it") {
    state.withLock { $0.failure = BusError(.noConnection(words), bus: "broker") }
  }

  /// Takes the packets that have come: the first byte and the rest behind the length.
  func takePackets() -> [(header: UInt8, body: [UInt8])] {
    var rest = state.withLock { state in
      defer { state.incoming = [] }
      return state.incoming
    }[...]
    var packets: [(UInt8, [UInt8])] = []
    while let header = rest.popFirst() {
      var (length, shift) = (0, 0)
      while let byte = rest.popFirst() {
        length |= Int(byte & 0x7F) << shift
        shift += 7
        if byte & 0x80 == 0 { break }
      }
      packets.append((header, Array(rest.prefix(length))))
      rest = rest.dropFirst(length)
    }
    return packets
  }

  /// Takes the messages that have come, acknowledges those of quality 1, and answers a ping.
  func takeMessages() -> [MQTTMessage] {
    takePackets().compactMap { header, body in
      if header == 0xC0 { says([0xD0, 0]) }
      guard header >> 4 == 3, body.count > 2 else { return nil }
      let length = Int(body[0]) << 8 | Int(body[1])
      var rest = body.dropFirst(2)
      let topic = String(decoding: rest.prefix(length), as: UTF8.self)
      rest = rest.dropFirst(length)
      if header & 6 != 0 {
        says([0x40, 2] + rest.prefix(2))
        rest = rest.dropFirst(2)
      }
      return MQTTMessage(
        topic: topic, payload: Array(rest.dropFirst()), quality: header >> 1 & 3,
        isRetained: header & 1 == 1)
    }
  }
}

private final class PlayedStream: NetworkStream {
  private let broker: PlayedBroker
  private(set) var isOpen = false

  init(_ broker: PlayedBroker) { self.broker = broker }

  var readiness: Readiness { .never }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let (bytes, failure) = broker.state.withLock { state in
      let bytes = Array(state.outgoing.prefix(buffer.count))
      state.outgoing.removeFirst(bytes.count)
      return (bytes, bytes.isEmpty ? state.failure : nil)
    }
    if let failure { throw failure }
    isOpen = true
    buffer.copyBytes(from: bytes)
    return bytes.count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) { _ = try writeSome(bytes) }

  func writeSome(_ bytes: UnsafeRawBufferPointer) throws(BusError) -> Int {
    broker.state.withLock { state in
      guard state.isTaking else { return 0 }
      state.incoming += bytes
      return bytes.count
    }
  }

  func setBaudRate(_ rate: Int) throws(BusError) {}
}

/// Runs the work of one thread when a test says so, at the time that it says.
///
/// `@unchecked Sendable`: the work belongs to the test, which has one thread.
final class SteppedThread: BusRunner, BusRun, @unchecked Sendable {
  private let time = Mutex(Timestamp(seconds: 1_000))
  private var work: (any BusWork)?
  private(set) var isStopped = false

  var now: Timestamp { time.withLock { $0 } }
  var clocks: RuntimeClocks { RuntimeClocks(now: { self.now }, wallTime: { 0 }) }

  func pass(_ seconds: Double) { time.withLock { $0 = $0.advanced(bySeconds: seconds) } }
  func start(name: String, _ make: @escaping @Sendable () -> any BusWork) -> any BusRun {
    work = make()
    return self
  }
  func wake() {}
  func stop() {
    guard !isStopped else { return }
    isStopped = true
    work?.finish()
    work = nil
  }

  /// Does what is due now. Returns after how many seconds the work wants to be called again.
  @discardableResult
  func step() -> Double { work?.step().seconds(since: now) ?? .infinity }
}
