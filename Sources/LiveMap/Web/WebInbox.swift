import Glibc
import Synchronization

/// Passes what other threads have to the thread of a server, and ends its wait.
final class WebInbox: Sendable {
  private let content = Mutex(InboxBatch())
  private let crowdedOut = Atomic<Int>(0)
  /// Becomes readable when something has come.
  let readable: Int32
  private let writable: Int32

  init() throws(SystemProblem) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemProblem(errno) }
    (readable, writable) = (ends[0], ends[1])
  }

  deinit {
    close(readable)
    close(writable)
  }

  func add(_ response: WebResponse, for connection: Int) {
    content.withLock { $0.responses.append((connection, response)) }
    wake()
  }

  func addNews(of connection: Int) {
    let isFirst = content.withLock { content in
      let isFirst = content.news.isEmpty
      content.news.insert(connection)
      return isFirst
    }
    if isFirst { wake() }
  }

  func stop() {
    content.withLock { $0.isStopping = true }
    wake()
  }

  /// Takes what has come. `isStopping` stays true.
  func take() -> InboxBatch {
    var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
    while recv(readable, &bytes, bytes.count, Int32(MSG_DONTWAIT)) == bytes.count {}
    return content.withLock { content in
      defer { content = InboxBatch(isStopping: content.isStopping) }
      return content
    }
  }

  /// Counts a connection that was evicted or found no place.
  func countCrowdedOut() { crowdedOut.add(1, ordering: .relaxed) }

  /// Returns the count since the last call.
  func takeCrowdedOut() -> Int { crowdedOut.exchange(0, ordering: .relaxed) }

  // A buffer that is full has woken the server already.
  private func wake() { _ = send(writable, [1], 1, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)) }
}

/// What has come since the last look.
struct InboxBatch {
  /// Responses that were made on the queue, with the number of their connection.
  var responses: [(connection: Int, response: WebResponse)] = []
  /// The numbers of the connections whose streams may have a new message.
  var news: Set<Int> = []
  /// Whether the server has to stop.
  var isStopping = false
}

/// The error number of a system call.
package struct SystemProblem: Error, Equatable {
  package let number: Int32

  init(_ number: Int32) { self.number = number }
}
