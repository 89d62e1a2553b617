// The bytes of events that many programs get at the same time.

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
