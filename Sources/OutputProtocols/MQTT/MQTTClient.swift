// A client of a broker of MQTT 5 as a state machine: bytes and time in, bytes and messages out.

package import SensorTypes

/// What a client says of itself.
package struct MQTTClientOptions: Sendable, Hashable {
  package var identifier: String
  /// What the broker publishes when the connection breaks.
  package var will: MQTTMessage
  /// The topics that are subscribed, without wildcards.
  package var subscriptions: [String]
  /// The longest time in seconds in which nothing is heard of the broker before it is asked.
  package var keepAlive: UInt16 = 30
  /// For how many seconds the broker keeps the session, with what it has not acknowledged.
  package var sessionExpiry: UInt32 = 3_600
  /// How many seconds the broker waits with the last will: a connection that is made again within is not told.
  package var willDelay: UInt32 = 5

  package init(identifier: String, will: MQTTMessage, subscriptions: [String] = []) {
    (self.identifier, self.will, self.subscriptions) = (identifier, will, subscriptions)
  }
}

/// Why a connection to a broker is at its end.
package struct MQTTFailure: Error, Hashable, Sendable {
  /// In one line, for a person.
  package var words: String
  /// Whether the broker has refused, so that trying again soon is of no use.
  package var isRefusal = false
}

/// A client of a broker, without a socket and a clock.
///
/// It publishes with quality 0 and 1. What the broker has not acknowledged is kept and sent again after the next connection: as a
/// duplicate where the broker has kept the session, else as a new message.
package struct MQTTClient: Sendable {
  /// Seconds until the broker has to answer CONNECT, and a ping.
  package static let answerTime = 10.0
  /// Seconds until the broker has to acknowledge a message.
  package static let acknowledgementTime = 30.0
  /// The number of messages that may be unacknowledged, however many the broker would take.
  package static let mostUnacknowledged = 16
  /// The number of bytes that wait for the network beyond which nothing more is taken.
  package static let mostOutput = 65_536
  /// The number of bytes that wait for the network beyond which no message of the broker is acknowledged.
  package static let mostAcknowledged = 2 * mostOutput
  /// The bytes that a broker may send within `flowTime` seconds. A client that subscribes one topic gets a few.
  package static let mostReceived = 262_144
  package static let flowTime = 10.0
  /// The number of messages that wait to be taken.
  private static let mostArrivals = 32

  private enum Phase: Hashable {
    case closed
    case connecting(since: Timestamp)
    case open(since: Timestamp)
  }

  private struct Unacknowledged: Sendable {
    var identifier: UInt16
    var message: MQTTMessage
    /// When it was sent at this connection, and whether it was at an earlier one of the same session.
    var sent: Timestamp?
    var wasSent = false
  }

  private let options: MQTTClientOptions
  private var phase = Phase.closed
  private var reader = MQTTPacketReader()
  private var output: [UInt8] = []
  private var arrivals: [MQTTMessage] = []
  private var waiting: [Unacknowledged] = []
  private var lastIdentifier: UInt16 = 0
  private var hasSession = false
  private var hasCredentials = false
  private var limits = MQTTAnswer()
  private var lastSent = Timestamp(nanoseconds: 0)
  private var lastHeard = Timestamp(nanoseconds: 0)
  private var pinged: Timestamp?
  private var flow = (since: Timestamp(nanoseconds: 0), bytes: 0)
  /// What the broker does not let this client do although it is connected, in words; `nil` for nothing.
  package private(set) var objection: String?
  /// The number of messages that were handed to a broker, and that one has refused or is not able to take.
  package private(set) var sent: UInt64 = 0
  package private(set) var refused: UInt64 = 0

  package init(_ options: MQTTClientOptions) { self.options = options }

  package var isOpen: Bool { if case .open = phase { true } else { false } }
  package var unacknowledged: Int { waiting.count }
  /// The number of bytes for the network.
  package var outputCount: Int { output.count }

  /// For how many seconds the connection has stood.
  package func stood(at now: Timestamp) -> Double {
    if case .open(let since) = phase { now.seconds(since: since) } else { 0 }
  }

  // MARK: A connection

  /// Begins a conversation over a connection that stands.
  ///
  /// - Parameter credentials: `USER:PASSWORD`, or `nil`.
  package mutating func connect(credentials: String?, at now: Timestamp) {
    lost()
    phase = .connecting(since: now)
    (lastSent, lastHeard, flow) = (now, now, (now, 0))
    var packet = MQTTConnect(identifier: options.identifier)
    packet.keepAlive = options.keepAlive
    // A session that is not this client's is not to be gone on with.
    packet.startsClean = !hasSession
    packet.sessionExpiry = options.sessionExpiry
    packet.receiveMaximum = 8
    packet.maximumPacketSize = UInt32(MQTTPacketReader.limit)
    (packet.will, packet.willDelay) = (options.will, options.willDelay)
    hasCredentials = credentials != nil
    if let credentials, let colon = credentials.utf8.firstIndex(of: UInt8(ascii: ":")) {
      packet.user = String(credentials[..<colon])
      packet.password = Array(credentials.utf8[colon...].dropFirst())
    }
    output = packet.bytes
  }

  /// Notes that the connection is gone. What was not acknowledged is kept.
  package mutating func lost() {
    phase = .closed
    reader = MQTTPacketReader()
    (output, arrivals) = ([], [])
    (pinged, objection) = (nil, nil)
    for index in waiting.indices {
      waiting[index].wasSent = waiting[index].wasSent || waiting[index].sent != nil
      waiting[index].sent = nil
    }
  }

  /// Says that the board goes away, and ends the conversation.
  package mutating func end() {
    guard isOpen else { return }
    output += MQTTPackets.publish(options.will, identifier: nextIdentifier())
    output += MQTTPackets.disconnect()
    phase = .closed
  }

  // MARK: Sending

  /// Whether a message may be published now: one of quality 1 only while the broker takes more of them.
  package func hasRoom(quality: UInt8) -> Bool {
    guard isOpen, output.count < Self.mostOutput else { return false }
    return quality == 0 || limits.maximumQuality == 0 || waiting.count < mostWaiting
  }

  private var mostWaiting: Int { min(Self.mostUnacknowledged, limits.receiveMaximum) }

  /// Publishes a message for which there is room. One that the broker is not able to take is counted, and said.
  package mutating func publish(_ message: MQTTMessage, at now: Timestamp) {
    guard isOpen else { return }
    var message = message
    message.quality = min(message.quality, limits.maximumQuality, 1)
    guard limits.canRetain || !message.isRetained else {
      object("the broker keeps no retained messages, which Home Assistant's discovery needs")
      refused &+= 1
      return
    }
    // The fixed header, the topic's length, the identifier and the length of the properties.
    let size = message.topic.utf8.count + message.payload.count + 10
    if let most = limits.maximumPacketSize, size > most {
      object("the broker takes \(most) bytes at most, and \(message.topic) needs \(size)")
      refused &+= 1
      return
    }
    guard message.quality > 0 else { return send(MQTTPackets.publish(message, identifier: 0), now) }
    waiting.append(Unacknowledged(identifier: nextIdentifier(), message: message))
    pump(now)
  }

  private mutating func pump(_ now: Timestamp) {
    var underWay = waiting.count { $0.sent != nil }
    for index in waiting.indices where waiting[index].sent == nil && underWay < mostWaiting {
      let entry = waiting[index]
      waiting[index].sent = now
      underWay += 1
      send(
        MQTTPackets.publish(
          entry.message, identifier: entry.identifier, isRepeated: entry.wasSent), now)
    }
  }

  private mutating func send(_ packet: [UInt8], _ now: Timestamp) {
    output += packet
    lastSent = now
    if packet[0] >> 4 == 3 { sent &+= 1 }
  }

  private mutating func nextIdentifier() -> UInt16 {
    repeat {
      lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
    } while waiting.contains { $0.identifier == lastIdentifier }
    return lastIdentifier
  }

  private mutating func object(_ words: String) { objection = objection ?? words }

  /// The bytes for the network, from the first that was not sent.
  package func withOutput<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result { try output.withUnsafeBytes(body) }

  /// Notes that bytes were sent.
  package mutating func dropOutput(_ count: Int) { output.removeFirst(min(count, output.count)) }

  // MARK: Receiving

  /// Takes bytes of the broker.
  ///
  /// - Throws: A failure after which the connection has to be closed, once what `withOutput` has was sent.
  package mutating func receive(
    _ bytes: some Collection<UInt8>, at now: Timestamp
  ) throws(MQTTFailure) {
    guard phase != .closed else { return }
    if now.seconds(since: flow.since) >= Self.flowTime { flow = (now, 0) }
    flow.bytes += bytes.count
    guard flow.bytes <= Self.mostReceived else {
      throw refuse(0x96, "the broker sends more than was asked for")
    }
    lastHeard = now
    reader.append(bytes)
    while true {
      let arrival: MQTTArrival?
      do throws(MQTTPacketError) {
        arrival = try reader.next()
      } catch {
        throw refuse(error.code, error.words)
      }
      guard let arrival else { return }
      if let failure = take(arrival, now) { throw failure }
    }
  }

  private mutating func take(_ arrival: MQTTArrival, _ now: Timestamp) -> MQTTFailure? {
    switch (phase, arrival) {
    case (.connecting, .answer(let answer)): return take(answer, now)
    case (.connecting, .end(let code)):
      phase = .closed
      return MQTTFailure(words: MQTTReason.end(code, client: options.identifier))
    case (.open, .message(let message, let identifier)):
      if let identifier {
        // A broker that reads nothing gets no more of them.
        guard output.count < Self.mostAcknowledged else {
          return refuse(0x93, "the broker sends messages and does not take the answers")
        }
        send(MQTTPackets.acknowledge(identifier), now)
      }
      if options.subscriptions.contains(message.topic), arrivals.count < Self.mostArrivals {
        arrivals.append(message)
      }
    case (.open, .acknowledgement(let identifier, let code)):
      guard let index = waiting.firstIndex(where: { $0.identifier == identifier && $0.sent != nil })
      else { break }
      let topic = waiting.remove(at: index).message.topic
      if code >= 0x80 {
        refused &+= 1
        object(
          "the broker does not take \(topic): \(MQTTReason.words(code)) (\(MQTTReason.number(code)))"
        )
      }
      pump(now)
    case (.open, .subscribed(_, let codes)):
      guard let code = codes.first(where: { $0 >= 0x80 }) else { break }
      object(
        "the broker does not let this client hear \(options.subscriptions.joined(separator: ", ")): "
          + "\(MQTTReason.words(code)) (\(MQTTReason.number(code)))")
    case (.open, .pong): pinged = nil
    case (.open, .end(let code)):
      phase = .closed
      return MQTTFailure(
        words: MQTTReason.end(code, client: options.identifier),
        isRefusal: MQTTReason.isRefusal(code))
    default: return refuse(0x82, "the broker does not keep to MQTT 5: a packet comes out of order")
    }
    return nil
  }

  private mutating func take(_ answer: MQTTAnswer, _ now: Timestamp) -> MQTTFailure? {
    guard answer.code == 0, !answer.isOlderVersion else {
      phase = .closed
      return MQTTFailure(
        words: MQTTReason.refusal(
          answer, client: options.identifier, hasCredentials: hasCredentials), isRefusal: true)
    }
    guard hasSession || !answer.hasSession else {
      return refuse(0x82, "the broker goes on with a session that this client has not begun")
    }
    phase = .open(since: now)
    limits = answer
    for index in waiting.indices where !answer.hasSession { waiting[index].wasSent = false }
    hasSession = options.sessionExpiry > 0
    if !options.subscriptions.isEmpty {
      // Quality 0, and nothing of what was retained before: all is published again anyway.
      let filters = options.subscriptions.map { (topic: $0, options: UInt8(0x20)) }
      send(MQTTPackets.subscribe(filters, identifier: nextIdentifier()), now)
    }
    if answer.maximumQuality == 0 {
      let messages = waiting.map(\.message)
      waiting = []
      for message in messages { publish(message, at: now) }
    }
    pump(now)
    return nil
  }

  // MARK: Time

  /// Asks a broker that is silent whether it is there.
  ///
  /// - Throws: A failure if it is not.
  package mutating func advance(to now: Timestamp) throws(MQTTFailure) {
    switch phase {
    case .closed: return
    case .connecting(let since):
      guard now.seconds(since: since) < Self.answerTime else {
        phase = .closed
        throw MQTTFailure(
          words: "the broker has not answered within \(Int(Self.answerTime)) s: is it one of MQTT?")
      }
    case .open:
      if let sent = oldestSent, now.seconds(since: sent) >= Self.acknowledgementTime {
        throw refuse(
          0x80, "the broker has acknowledged no message for \(Int(Self.acknowledgementTime)) s")
      }
      if let pinged {
        guard now.seconds(since: pinged) < Self.answerTime else {
          phase = .closed
          throw MQTTFailure(words: "the broker does not answer any more")
        }
      } else if now >= pingDue {
        pinged = now
        send(MQTTPackets.ping, now)
      }
    }
  }

  /// When `advance` has something to do; `nil` for nothing.
  package var deadline: Timestamp? {
    switch phase {
    case .closed: nil
    case .connecting(let since): since.advanced(bySeconds: Self.answerTime)
    case .open:
      [
        pinged?.advanced(bySeconds: Self.answerTime) ?? pingDue,
        oldestSent?.advanced(bySeconds: Self.acknowledgementTime),
      ].compactMap { $0 }.min()
    }
  }

  /// When the message was sent whose acknowledgement has been missing for longest.
  private var oldestSent: Timestamp? { waiting.lazy.compactMap(\.sent).min() }

  private var pingDue: Timestamp {
    // The broker's own time holds, and a shorter one never hurts.
    let asked = limits.keepAlive.map { $0 > 0 ? $0 : Int(options.keepAlive) }
    let interval = Double(max(1, min(asked ?? .max, Int(options.keepAlive))))
    // What it is sent may never arrive: it is asked when it has been silent, too.
    return min(
      lastSent.advanced(bySeconds: interval * 0.8), lastHeard.advanced(bySeconds: interval))
  }

  /// Takes messages of topics that are subscribed.
  package mutating func takeArrivals() -> [MQTTMessage] {
    defer { arrivals = [] }
    return arrivals
  }

  private mutating func refuse(_ code: UInt8, _ words: String) -> MQTTFailure {
    if isOpen { output += MQTTPackets.disconnect(code) }
    phase = .closed
    return MQTTFailure(words: words, isRefusal: true)
  }
}
