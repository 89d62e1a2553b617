#if FUZZ
  // The fuzzers are a package of their own, which sees no package declarations.
  @testable import OutputProtocols
  @testable import SensorTypes
#else
  import OutputProtocols
  import SensorTypes
#endif

// Servers that the board connects to: a broker of MQTT, and a server of Signal K.

extension OutputChecks {
  private static let start = Timestamp(seconds: 100)
  /// What is never told: the password, and the token that was kept.
  private static let secrets = ["hush-hush", "kept.token"]

  private static func check(words: String?, _ failures: inout [String]) {
    guard let words else { return }
    if !isPrintable(words) || words.utf8.count > 400 { failures.append("words of a stranger") }
    if secrets.contains(where: { words.contains($0) }) { failures.append("a secret is told") }
  }

  // MARK: MQTT

  /// What a broker says, before and after it has accepted the client.
  static func broker(_ bytes: [UInt8]) -> [String] {
    packets(bytes) + conversation(bytes) + conversation([0x20, 3, 0, 0, 0] + bytes)
  }

  private static func packets(_ bytes: [UInt8]) -> [String] {
    let found = sizes(bytes).map { size -> (arrivals: [MQTTArrival], error: MQTTPacketError?) in
      var reader = MQTTPacketReader()
      var arrivals: [MQTTArrival] = []
      do throws(MQTTPacketError) {
        for piece in pieces(bytes, of: size) {
          reader.append(piece)
          while let arrival = try reader.next() { arrivals.append(arrival) }
        }
        return (arrivals, nil)
      } catch {
        return (arrivals, error)
      }
    }
    var failures: [String] = []
    if found[0].arrivals != found[1].arrivals || found[0].error != found[1].error {
      failures.append("other packets come of the same bytes in pieces")
    }
    check(words: found[0].error?.words, &failures)
    for case .message(let message, let identifier) in found[0].arrivals {
      let isTopic =
        !message.topic.isEmpty && !message.topic.utf8.contains { "+#\0".utf8.contains($0) }
      if !isTopic || message.quality > 1 || identifier == 0 { failures.append("no message") }
      if message.payload.count > min(MQTTPacketReader.limit, bytes.count) {
        failures.append("more than has come")
      }
    }
    return failures
  }

  /// What a client has done by its end.
  private struct Conversation: Equatable {
    var words: String?
    var objection: String?
    var output: [UInt8] = []
    var arrivals: [MQTTMessage] = []
    var counts: [UInt64] = []
  }

  private static func conversation(_ bytes: [UInt8]) -> [String] {
    var failures: [String] = []
    let will = MQTTMessage(topic: "b/a", payload: Array("offline".utf8), quality: 1)
    let found = sizes(bytes).map { size -> Conversation in
      var client = MQTTClient(
        MQTTClientOptions(identifier: "boat", will: will, subscriptions: ["ha/status"]))
      client.connect(credentials: "me:\(secrets[0])", at: start)
      client.dropOutput(client.outputCount)
      var end = Conversation()
      do throws(MQTTFailure) {
        for piece in pieces(bytes, of: size) {
          try client.receive(piece, at: start)
          if client.outputCount > MQTTClient.mostAcknowledged + 65_536 {
            failures.append("answers pile up")
          }
        }
      } catch { end.words = error.words }
      (end.objection, end.arrivals) = (client.objection, client.takeArrivals())
      end.output = client.withOutput { Array($0) }
      end.counts = [client.sent, client.refused, UInt64(client.unacknowledged)]
      goOn(&client, &failures)
      return end
    }
    if found[0] != found[1] { failures.append("another end comes of the same bytes in pieces") }
    check(words: found[0].words, &failures)
    check(words: found[0].objection, &failures)
    if found[0].arrivals.contains(where: { $0.topic != "ha/status" }) {
      failures.append("a message that nobody has subscribed")
    }
    if !isPackets(found[0].output) { failures.append("our packets are none") }
    return failures
  }

  /// Publishes, and lets time pass until a silent broker is given up.
  private static func goOn(_ client: inout MQTTClient, _ failures: inout [String]) {
    for number in UInt8(0)..<40 where client.hasRoom(quality: number & 1) {
      let message = MQTTMessage(topic: "b/v", payload: [number], quality: number & 1)
      client.publish(message, at: start)
    }
    if client.unacknowledged > MQTTClient.mostUnacknowledged + 1 {
      failures.append("\(client.unacknowledged) messages are under way")
    }
    if !isPackets(client.withOutput { Array($0) }) { failures.append("our packets are none") }
    var words: String?
    for second in 1...200 where words == nil {
      do throws(MQTTFailure) {
        try client.advance(to: start.advanced(bySeconds: Double(second)))
      } catch { words = error.words }
    }
    if client.isOpen { failures.append("a silent broker is not given up") }
    check(words: words, &failures)
    client.lost()
    client.connect(credentials: nil, at: start.advanced(bySeconds: 300))
    if !isPackets(client.withOutput { Array($0) }) { failures.append("our packets are none") }
  }

  /// Whether bytes are whole packets that a client may send: CONNECT, PUBLISH, PUBACK, SUBSCRIBE, PINGREQ, DISCONNECT.
  private static func isPackets(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while let header = rest.popFirst() {
      guard [1, 3, 4, 8, 12, 14].contains(header >> 4) else { return false }
      var (length, shift) = (0, 0)
      repeat {
        guard shift < 28, let byte = rest.popFirst() else { return false }
        length |= Int(byte & 0x7F) << shift
        shift += 7
        if byte & 0x80 == 0 { break }
      } while true
      guard rest.count >= length else { return false }
      rest = rest.dropFirst(length)
    }
    return true
  }

  // MARK: Signal K

  /// What a server answers, an answer a connection, with a zero between two of them.
  ///
  /// One that does not begin with a status line stands behind a line that fits, so that the content is reached.
  static func signalKServer(_ bytes: [UInt8]) -> [String] {
    // A server that repeats a secret knows it already.
    let text = String(decoding: bytes, as: UTF8.self)
    guard !secrets.contains(where: { text.contains($0) }) else { return [] }
    let mode = bytes.first ?? 0
    let answers = bytes.dropFirst().split(separator: 0, maxSplits: 31).map { Array($0) }
    var failures: [String] = []
    let ends = sizes(bytes).map { talk(answers, mode, of: $0, &failures) }
    if ends[0] != ends[1] { failures.append("another end comes of the same answers in pieces") }
    return failures
  }

  /// Lets a client talk with a server. Returns what it has asked, and what it says of it.
  private static func talk(
    _ answers: [[UInt8]], _ mode: UInt8, of size: Int, _ failures: inout [String]
  ) -> [String] {
    let server = SignalKServerAddress(
      host: "boat.example", port: 3_000, isEncrypted: mode & 1 != 0)
    let kept = SignalKKeptAccess(
      clientID: "c0d79334-4e25-4245-8892-54e8ccc8021d", token: mode & 2 != 0 ? secrets[1] : nil)
    var now = start
    guard
      var client = SignalKClient(
        server, kept: kept, name: "board", usesLogin: mode & 4 != 0, at: now,
        random: { 0x1234_5678_9ABC_DEF0 })
    else { return ["no client"] }
    var told: [String] = []
    for answer in answers {
      guard let place = connection(of: &client, &now, server, &failures) else { break }
      client.connected(credentials: "me:\(secrets[0])", at: now)
      let request = client.takeOutput()
      told.append("\(place) \(String(decoding: request, as: UTF8.self))")
      let head = head(for: request, answer, &failures)
      for piece in pieces(head + answer, of: size) {
        client.received(piece, at: now)
        if client.hasRoom { _ = client.send("{}") }
      }
      if client.takeOutput().count > 300_000 { failures.append("endless answers") }
      client.lost("the server has ended it", at: now)
      check(words: client.problem, &failures)
      told.append(client.problem ?? "")
    }
    return told
  }

  /// Takes commands until the client wants a connection, a day at most.
  private static func connection(
    of client: inout SignalKClient, _ now: inout Timestamp, _ server: SignalKServerAddress,
    _ failures: inout [String]
  ) -> String? {
    for _ in 0..<200 {
      switch client.step(at: now, utc: 1_800_000_000) {
      case .connect(let place, _):
        if place.host != server.host || server.isEncrypted && !place.isEncrypted {
          failures.append("it is led to \(place)")
        }
        return place.description
      case .keep(let kept):
        let isPath = kept.pending?.hasPrefix("/signalk/") ?? true
        if !isPath || !(kept.token.map { SignalKAccess.isToken($0) } ?? true) {
          failures.append("something is kept that is none")
        }
      case .disconnect: break
      case nil:
        let due = client.due
        guard due.seconds(since: now) < 86_400 else { return nil }
        now = max(due, now.advanced(bySeconds: 0.001))
      }
    }
    failures.append("commands without an end")
    return nil
  }

  /// Looks at a request, and returns the head with which an answer to it is read.
  private static func head(
    for request: [UInt8], _ answer: [UInt8], _ failures: inout [String]
  ) -> [UInt8] {
    guard case .complete(let head) = HTTPRequestHead.read(request),
      head.fields["host"]?.hasPrefix("boat.example") == true,
      !(head.fields["authorization"] ?? "").contains(",")
    else {
      failures.append("a request of ours is none")
      return []
    }
    if answer.starts(with: Array("HTTP".utf8)) { return [] }
    if let key = head.fields["sec-websocket-key"] { return agreement(to: key) }
    return Array("HTTP/1.1 200 OK\r\nContent-Length: \(answer.count)\r\n\r\n".utf8)
  }
}
