// The messages of Foxglove's WebSocket protocol (its specification in the repository foxglove/ws-protocol, docs/spec.md). The sub-protocol
// foxglove.sdk.v1 of its SDK has the same messages as foxglove.websocket.v1, by which older programs and Lichtblick ask.

import JSONReading
import OutputProtocols
import TextForms

/// What a client says.
enum FoxgloveRequest: Equatable, Sendable {
  struct FoxgloveSubscription: Decodable, Equatable, Sendable {
    var id: UInt32
    var channelId: UInt32
  }

  case subscribe([FoxgloveSubscription])
  case unsubscribe([UInt32])
  /// It asks for something that the server does not say it can do.
  case foreign

  private struct Line: Decodable {
    var op: String
    var subscriptions: [FoxgloveSubscription]?
    var subscriptionIds: [UInt32]?
  }

  /// Reads a message; `nil` if it is none.
  init?(_ text: [UInt8]) {
    guard let line = try? JSONDocument.decode(Line.self, from: text) else { return nil }
    switch line.op {
    case "subscribe":
      guard let subscriptions = line.subscriptions else { return nil }
      self = .subscribe(subscriptions)
    case "unsubscribe":
      guard let identifiers = line.subscriptionIds else { return nil }
      self = .unsubscribe(identifiers)
    default: self = .foreign
    }
  }
}

/// What the server says.
enum FoxgloveMessage {
  /// The sub-protocols, the present one first.
  static let protocols = ["foxglove.sdk.v1", "foxglove.websocket.v1"]

  /// How bad it is what a status says.
  enum FoxgloveStatusLevel: Int {
    case info = 0
    case warning = 1
    case error = 2
  }

  /// The first message to a client.
  ///
  /// - Parameter session: Another text for each run of the server.
  static func serverInfo(name: String, program: String, session: String) -> [UInt8] {
    var line = JSONLine()
    line.set("op", "serverInfo")
    line.set("name", name)
    line.set("capabilities", [String]())
    var metadata = JSONLine()
    metadata.set("program", program)
    line.set("metadata", metadata)
    line.set("sessionId", session)
    return Array(line.line.utf8)
  }

  /// The channels with their schemas. The number of a channel is the place of its topic, counted from 1.
  static func advertise(
    _ topics: [RobotMessages.Topic], of messages: RobotMessages, prefix: String
  ) -> [UInt8] {
    var line = JSONLine()
    line.set("op", "advertise")
    line.set("channels", objects: topics) { line, topic in
      let description = messages.description(of: topic)
      line.set("id", Int(channel(of: topic)))
      line.set("topic", prefix + topic.rawValue)
      line.set("encoding", description.encoding)
      line.set("schemaName", description.schemaName)
      line.set("schema", description.schema)
      line.set("schemaEncoding", description.schemaEncoding)
    }
    return Array(line.line.utf8)
  }

  static func status(_ level: FoxgloveStatusLevel, _ message: String) -> [UInt8] {
    var line = JSONLine()
    line.set("op", "status")
    line.set("level", level.rawValue)
    line.set("message", message)
    return Array(line.line.utf8)
  }

  /// A message of a channel, which is binary: 1, the subscription in four bytes, the time in eight, the data; little endian.
  static func data(_ message: RobotMessage, subscription: UInt32) -> [UInt8] {
    var bytes: [UInt8] = [1]
    bytes.reserveCapacity(message.data.count + 13)
    for shift in stride(from: 0, to: 32, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: subscription >> UInt32(shift)))
    }
    for shift in stride(from: 0, to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: message.logTime >> UInt64(shift)))
    }
    return bytes + message.data
  }

  static func channel(of topic: RobotMessages.Topic) -> UInt32 {
    UInt32(RobotMessages.Topic.allCases.firstIndex(of: topic) ?? 0) + 1
  }

  static func topic(of channel: UInt32) -> RobotMessages.Topic? {
    let topics = RobotMessages.Topic.allCases
    return channel > 0 && Int(channel) <= topics.count ? topics[Int(channel) - 1] : nil
  }
}
