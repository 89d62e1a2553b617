// The bytes of events: many programs get the same ones at the same time, and each program reads them often.

import LocationServices
import Synchronization

/// Encodes the content of an event once for all programs that get the same.
///
/// What a program may not know is taken out of the content before it comes here, so that no program gets the bytes of another one's.
package final class EventEncoder: Sendable {
  private struct Entry: Sendable {
    var content: EventContent
    var bytes: [UInt8]
  }

  private struct State: Sendable {
    var entries: [Entry] = []
    var next = 0
  }

  /// The number of contents that are kept: programs with other filters or other accuracy get another content.
  private static let most = 4

  private let state = Mutex(State())

  package init() {}

  /// Returns the content as a data item of CBOR.
  func bytes(of content: EventContent) throws -> [UInt8] {
    let known = state.withLock { state in
      state.entries.first { $0.content == content }?.bytes
    }
    if let known { return known }
    var bytes: [UInt8] = []
    try CBOREncoder.append(content, to: &bytes)
    state.withLock { state in
      let entry = Entry(content: content, bytes: bytes)
      if state.entries.count < Self.most {
        state.entries.append(entry)
      } else {
        state.entries[state.next] = entry
        state.next = (state.next + 1) % Self.most
      }
    }
    return bytes
  }
}

extension Frame {
  /// Appends the frame of `DaemonMessage.event`, whose content is encoded already.
  static func append(
    eventDuring request: UInt64, of client: ClientID, content: [UInt8], to bytes: inout [UInt8],
    limit: Int
  ) throws(FrameProblem) {
    let begin = bytes.count
    bytes.reserveCapacity(begin + headerCount + content.count + 64)
    bytes.append(contentsOf: repeatElement(0, count: headerCount))
    let writer = CBORWriter(bytes)
    bytes = []
    // The maps of the message, of its case and of the event, as their synthesised encodings are.
    let message = writer.begin(CBORByte.map)
    writer.write("event")
    _ = writer.begin(CBORByte.map)
    writer.write("during")
    writer.write(request)
    writer.write("_1")
    _ = writer.begin(CBORByte.map)
    writer.write("client")
    writer.write(client.rawValue)
    writer.write("content")
    writer.write(content)
    writer.resume(message - 1)
    bytes = writer.takeBytes()
    let count = bytes.count - begin - headerCount
    guard count <= limit else {
      bytes.removeLast(bytes.count - begin)
      throw .tooLong(count)
    }
    for index in 0..<headerCount {
      bytes[begin + index] = UInt8(truncatingIfNeeded: count >> (8 * index))
    }
  }
}

extension DaemonMessage {
  /// Decodes a message. Of an event, by far the most frequent one, the maps around its content are read without a decoder, as they are written.
  ///
  /// - Throws: `CBORProblem` for bytes that are no item, `DecodingError` for an item that is not such a message.
  init(cbor bytes: [UInt8]) throws {
    let reader = try CBORReader(bytes)
    guard let event = reader.value(of: "event", in: 0),
      let request = reader.value(of: "during", in: event),
      let pair = reader.value(of: "_1", in: event),
      let client = reader.value(of: "client", in: pair),
      let content = reader.value(of: "content", in: pair)
    else {
      self = try CBORDecoder.decode(Self.self, from: reader, at: 0)
      return
    }
    self = .event(
      during: try CBORDecoder.decode(UInt64.self, from: reader, at: request),
      ServiceEvent(
        client: try CBORDecoder.decode(ClientID.self, from: reader, at: client),
        content: try CBORDecoder.decode(EventContent.self, from: reader, at: content)))
  }
}
