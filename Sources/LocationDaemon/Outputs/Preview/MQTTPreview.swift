// A broker of MQTT for one client, without a network.

import OutputProtocols
import SensorBus
import SensorTypes
import Synchronization

/// A broker that takes every message, and shows it as `mosquitto_sub -v` does: the topic, then the payload.
///
/// It is the stream of the connection and starts its thread, so that the thread is woken when the broker has answered.
final class MQTTPreview: NetworkStream, BusRunner, PreviewPeer {
  /// The number of lines that may wait.
  static let most = 4_096

  private struct State: Sendable {
    var listener = MQTTListener()
    var isOpen = false
    var lines: [String] = []
    var failure: String?
  }

  private let runner: any BusRunner
  private let state = Mutex(State())
  private let run = Mutex<(any BusRun)?>(nil)

  /// - Parameter runner: Runs the thread of the connection.
  init(_ runner: any BusRunner) { self.runner = runner }

  /// Begins a connection.
  func open() {
    state.withLock { state in
      (state.listener, state.isOpen, state.failure) = (MQTTListener(), false, nil)
    }
  }

  func start(name: String, _ make: @escaping @Sendable () -> any BusWork) -> any BusRun {
    let started = runner.startBackground(name: name, make)
    run.withLock { $0 = started }
    // It may have asked before anybody could wake it.
    started.wake()
    return started
  }

  func lines(at now: Timestamp) -> [String] {
    state.withLock { state in
      defer { state.lines = [] }
      return state.lines
    }
  }

  // MARK: The thread of the connection

  var isOpen: Bool { state.withLock { $0.isOpen } }
  var readiness: Readiness { .never }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let (bytes, failure) = state.withLock { state in
      state.isOpen = true
      return (state.listener.takeOutput(buffer.count), state.failure)
    }
    if let failure { throw BusError(.noConnection(failure), bus: "mqtt") }
    buffer.copyBytes(from: bytes)
    return bytes.count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) { _ = try writeSome(bytes) }

  func writeSome(_ bytes: UnsafeRawBufferPointer) throws(BusError) -> Int {
    let taken = Array(bytes)
    let hasAnswer = state.withLock { state in
      do throws(MQTTPacketError) {
        state.lines += try state.listener.receive(taken).map(Self.line)
      } catch {
        state.failure = error.words
      }
      state.lines.removeFirst(max(0, state.lines.count - Self.most))
      return state.listener.outputCount > 0 || state.failure != nil
    }
    if hasAnswer { run.withLock { $0 }?.wake() }
    return taken.count
  }

  func setBaudRate(_ rate: Int) throws(BusError) {}

  private static func line(_ event: MQTTListener.MQTTClientEvent) -> String {
    switch event {
    case .subscription(let topic): return "[subscribes] \(topic)"
    case .will(let message): return "[last will] \(text(message))"
    case .message(let message): return text(message)
    }
  }

  private static func text(_ message: MQTTMessage) -> String {
    let payload = String(decoding: message.payload, as: UTF8.self)
    return (message.isRetained ? "[retained] " : "") + "\(message.topic) \(payload)"
  }
}
