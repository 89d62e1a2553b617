// The server's own sockets wait without an end. A peer that opens a connection and says nothing, or that takes nothing
// of what it is sent, would hold it for as long as it likes.

import FlyingFox
import FlyingSocks
import Glibc

/// Lets no connection wait for ever; the socket that takes connections may.
struct DeadlinePool: AsyncSocketPool {
  private let base: any AsyncSocketPool
  // A browser keeps a connection for its next request, and opens another one when it is gone.
  private static var secondsForRequest: Int { 60 }
  // A page gets something every second.
  private static var secondsForTaking: Int { 20 }

  init(_ base: any AsyncSocketPool = HTTPServer.defaultPool()) { self.base = base }

  func prepare() async throws { try await base.prepare() }

  func run() async throws { try await base.run() }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    guard !Self.isListening(socket) else {
      Self.boundSending(of: socket)
      return try await base.suspendSocket(socket, untilReadyFor: events)
    }
    let seconds = events.contains(.write) ? Self.secondsForTaking : Self.secondsForRequest
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await base.suspendSocket(socket, untilReadyFor: events) }
      group.addTask {
        try await Task.sleep(for: .seconds(seconds))
        throw SocketError.disconnected
      }
      _ = try await group.next()
    }
  }

  // Connections inherit it from the socket that takes them. By itself the system lets megabytes wait for a slow reader,
  // minutes of what is long past; what waits here instead is replaced by what is new.
  private static func boundSending(of socket: Socket) {
    try? socket.setValue(65_536, for: .sendBufferSize)
    try? socket.setValue(
      16_384, for: Int32SocketOption(level: Int32(IPPROTO_TCP), name: TCP_NOTSENT_LOWAT))
  }

  private static func isListening(_ socket: Socket) -> Bool {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    let result = getsockopt(socket.file.rawValue, SOL_SOCKET, SO_ACCEPTCONN, &value, &length)
    return result == 0 && value != 0
  }
}
