// The reason codes of a broker in words (OASIS MQTT 5.0, section 2.4).

/// Says why a broker does not do what it was asked. Its own texts are not repeated: they may hold whatever it was sent.
enum MQTTReason {
  /// Why a broker does not accept a client.
  ///
  /// - Parameters:
  ///   - client: The identifier of the client.
  ///   - hasCredentials: Whether the client has said a user name and a password.
  static func refusal(_ answer: MQTTAnswer, client: String, hasCredentials: Bool) -> String {
    if answer.isOlderVersion { return "the broker does not speak MQTT 5: it needs a newer version" }
    let words: String
    switch answer.code {
    case 0x84: words = "the broker does not speak MQTT 5: it needs a newer version"
    case 0x85: words = "the broker does not accept the client identifier '\(client)'"
    case 0x86, 0x87, 0x8C:
      words =
        hasCredentials
        ? "wrong user name or password, or this user may not connect"
        : "the broker wants a user name and a password: 'credentials' in serve.yaml"
    case 0x88, 0x89, 0x97, 0x9F: words = "the broker takes no more clients at the moment"
    case 0x8A: words = "the broker has banned this client"
    case 0x90, 0x99: words = "the broker does not accept the topic or the text of the last will"
    case 0x95: words = "the broker takes no packet as large as the first one"
    case 0x9A:
      words = "the broker keeps no retained messages, which Home Assistant's discovery needs"
    case 0x9B: words = "the broker does not take messages of quality 1"
    case 0x9C, 0x9D: words = "the broker sends its clients to another server: change 'address'"
    default: words = "the broker refuses the client: \(Self.words(answer.code))"
    }
    return "\(words) (\(number(answer.code)))"
  }

  /// Why a broker ends a connection.
  static func end(_ code: UInt8, client: String) -> String {
    let words =
      code == 0x8E
      ? "another client calls itself '\(client)': give each board a 'name' of its own"
      : "the broker has ended the connection: \(Self.words(code))"
    return "\(words) (\(number(code)))"
  }

  /// Whether a broker that ends a connection so had better not be asked again soon.
  static func isRefusal(_ code: UInt8) -> Bool {
    switch code {
    case 0x87, 0x8A, 0x8E, 0x93, 0x96, 0x97, 0x98, 0x9C, 0x9D, 0x9F: true
    default: false
    }
  }

  static func words(_ code: UInt8) -> String {
    switch code {
    case 0x00: "no reason given"
    case 0x81: "it calls a packet malformed"
    case 0x82: "it calls a packet a protocol error"
    case 0x87: "not authorized"
    case 0x88, 0x89: "it is busy"
    case 0x8B: "it is shutting down"
    case 0x8D: "it has heard nothing within the keep-alive time"
    case 0x8F, 0x90: "it does not accept a topic"
    case 0x93: "too many messages were on their way"
    case 0x95: "a packet was too large"
    case 0x96: "messages come too fast"
    case 0x97: "a quota is used up"
    case 0x98: "its operator has ended it"
    case 0x99: "it does not accept a payload"
    case 0x9A: "it keeps no retained messages"
    case 0x9B: "it does not take messages of quality 1"
    case 0x9C, 0x9D: "another server is to be used"
    case 0x9F: "connections come too fast"
    case 0xA0: "the longest time of a connection is over"
    default: "reason code \(number(code))"
    }
  }

  static func number(_ code: UInt8) -> String {
    let digits = String(code, radix: 16, uppercase: true)
    return digits.count == 1 ? "0x0\(digits)" : "0x\(digits)"
  }
}
