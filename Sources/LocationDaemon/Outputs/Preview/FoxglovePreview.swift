// A program that has connected to Foxglove's port and subscribed to everything, without a socket.

import JSONReading
import OutputProtocols
import SensorTypes
import Synchronization
import TextForms

/// Reads each message by the schema that its channel was advertised with.
final class FoxglovePreview: PreviewPeer {
  /// The bytes before the data of a message: its kind, the subscription and the time.
  private static let headLength = 13

  private struct Channel: Sendable {
    /// The topic and the name of the schema.
    var name: String
    /// The definition of messages that are no JSON.
    var definition: ROSDefinition?
  }

  private struct State: Sendable {
    var connection: PreviewConnection?
    var socket: WebSocketClient
    var channels: [UInt32: Channel] = [:]
  }

  private struct Advertisement: Decodable {
    struct AdvertisedChannel: Decodable {
      var id: UInt32
      var topic: String
      var encoding: String
      var schemaName: String
      var schema: String
    }

    var op: String
    var channels: [AdvertisedChannel]?
  }

  private let connect: ConnectionPreview.PreviewConnect
  private let state: Mutex<State>

  init(_ connect: @escaping ConnectionPreview.PreviewConnect) {
    self.connect = connect
    var limits = WebSocketLimits()
    limits.message = 1_048_576
    state = Mutex(
      State(
        socket: WebSocketClient(
          nonce: (0..<16).map { _ in UInt8.random(in: 0...255) }, limits: limits,
          subprotocol: FoxgloveMessage.protocols[0], makeMask: { UInt32.random(in: 0 ... .max) })))
  }

  deinit { state.withLock { $0.connection }?.connection.end() }

  func lines(at now: Timestamp) -> [String] {
    state.withLock { state in
      let connection = state.connection ?? PreviewConnection(connection: connect(now.seconds))
      if state.connection == nil {
        state.connection = connection
        state.socket.open(host: "localhost", path: "/")
        connection.send(state.socket.takeOutput(), at: now)
      }
      var lines: [String] = []
      for event in state.socket.receive(connection.take(at: now)) {
        lines += Self.lines(of: event, &state)
      }
      connection.send(state.socket.takeOutput(), at: now)
      return lines
    }
  }

  private static func lines(of event: WebSocketEvent, _ state: inout State) -> [String] {
    switch event {
    case .text(let text): return take(text, &state)
    case .binary(let message): return [line(of: message, state)]
    case .refused(let status, let words): return ["refused: \(status) \(words)"]
    case .closed(let code, let reason): return ["closed: \(code) \(reason)"]
    case .failed(let words): return ["failed: \(words)"]
    case .opened, .pong: return []
    }
  }

  /// Takes a message of the server. Channels are subscribed, each with its own number.
  private static func take(_ text: [UInt8], _ state: inout State) -> [String] {
    guard let advertisement = try? JSONDocument.decode(Advertisement.self, from: text),
      let channels = advertisement.channels
    else { return [String(decoding: text, as: UTF8.self)] }
    var request = JSONLine()
    request.set("op", "subscribe")
    request.set("subscriptions", objects: channels) { line, channel in
      line.set("id", Int(channel.id))
      line.set("channelId", Int(channel.id))
    }
    state.socket.send(text: request.line)
    return channels.map { channel in
      let name = "\(channel.topic) \(channel.schemaName)"
      state.channels[channel.id] = Channel(
        name: name, definition: channel.encoding == "cdr" ? ROSDefinition(channel.schema) : nil)
      return "channel \(channel.id): \(name) (\(channel.encoding))"
    }
  }

  private static func line(of message: [UInt8], _ state: State) -> String {
    guard message.count >= headLength, message[0] == 1 else {
      return "no message: \(message.count) bytes"
    }
    let number = message[1..<5].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let data = Array(message[headLength...])
    guard let channel = state.channels[number] else { return "no channel \(number)" }
    guard let definition = channel.definition else {
      return "\(channel.name): \(String(decoding: data, as: UTF8.self))"
    }
    return definition.decode(data, name: channel.name)?.text
      ?? "\(channel.name): no message of this type, \(data.count) bytes"
  }
}
