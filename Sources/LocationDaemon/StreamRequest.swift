// What a reader of the stream says.

import JSONReading
package import OutputProtocols

/// What a reader of the stream has asked for.
package struct StreamChoice: Hashable, Sendable {
  /// The kinds of line.
  package var kinds: Set<LineKind> = []
  /// The largest number of lines of a kind in a second; `nil` for all.
  package var rate: Double?

  /// Whether a line of one of the kinds tells where the board is, or what follows from that.
  var tellsPlace: Bool {
    !kinds.isDisjoint(with: [.location, .sky, .heading, .attitude, .absoluteAltitude])
  }
}

/// A request that cannot be carried out.
struct StreamRequestError: Error, Hashable {
  /// The message for the reader, in one line.
  let message: String
}

/// A line of a reader.
enum StreamRequest: Hashable, Sendable {
  /// Send lines of this choice.
  case choice(StreamChoice)
  /// Send a recording of the board, or end it.
  case record(Bool)

  /// The rates that may be asked for, in lines a second.
  private static let rates = 0.001...10_000.0
  private static let keys = ["subscribe", "rate", "record"]

  private struct Request: Decodable {
    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    var subscribe: [String]?
    var rate: Double?
    var record: Bool?
    /// A key that no request has.
    var unknown: String?

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      subscribe = try values.decodeIfPresent([String].self, forKey: Key(stringValue: "subscribe"))
      rate = try values.decodeIfPresent(Double.self, forKey: Key(stringValue: "rate"))
      record = try values.decodeIfPresent(Bool.self, forKey: Key(stringValue: "record"))
      unknown = values.allKeys.map(\.stringValue).first { !keys.contains($0) }
    }
  }

  /// Reads one line of a reader as a request.
  static func parse(_ text: [UInt8]) throws(StreamRequestError) -> StreamRequest {
    let form = StreamRequestError(
      message: #"a request is a line like {"subscribe":["heading","location"],"rate":5}"#)
    guard let request = try? JSONDocument.decode(Request.self, from: text) else { throw form }
    if let key = request.unknown {
      throw StreamRequestError(
        message:
          "'\(key.prefix(40))' is no key of a request; the keys are \(keys.joined(separator: ", "))"
      )
    }
    if let isOn = request.record {
      guard request.subscribe == nil, request.rate == nil else {
        throw StreamRequestError(message: "a request for a recording has no other key")
      }
      return .record(isOn)
    }
    guard let names = request.subscribe else { throw form }
    var choice = StreamChoice(rate: request.rate)
    for name in names {
      guard let kind = LineKind(rawValue: name) else {
        let known = LineKind.allCases.map(\.rawValue).joined(separator: ", ")
        throw StreamRequestError(
          message: "'\(name.prefix(40))' is no kind of line; the kinds are \(known)")
      }
      choice.kinds.insert(kind)
    }
    if let rate = request.rate, !rates.contains(rate) {
      throw StreamRequestError(
        message: "'rate' is a number of lines a second, from 0.001 to 10000")
    }
    return .choice(choice)
  }
}
