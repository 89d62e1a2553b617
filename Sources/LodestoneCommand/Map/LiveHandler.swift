import FlyingFox
import Foundation

/// The WebSocket of a page: what the board says, one JSON object a message.
///
/// What a page says is not read: it has nothing to say, and what is not read lies in the kernel's buffer, which has a
/// bound. That it is gone shows when it is sent something, which is every second.
struct LiveHandler: WSHandler {
  let feed: MapFeed

  func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws
    -> AsyncStream<WSFrame>
  {
    guard let seat = feed.open() else {
      let code = WSCloseCode(
        WSCloseCode.tryAgainLater.code, reason: "\(MapFeed.limit) pages are open already")
      return AsyncStream { continuation in
        continuation.yield(.close(code: code))
        continuation.finish()
      }
    }
    // Pulled by the connection: the next one is taken only when the last one is on its way.
    return AsyncStream { await seat.next().map(Self.frame) }
  }

  private static func frame(_ event: MapFeed.Event) -> WSFrame {
    switch event {
    case .message(let text):
      WSFrame(fin: true, opcode: .text, mask: nil, payload: Data(text.utf8))
    case .end: .close(code: .goingAway)
    }
  }
}
