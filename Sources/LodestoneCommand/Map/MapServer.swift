import Dispatch
import FlyingFox
import FlyingSocks
import Glibc
import SensorHub
import Synchronization

/// Listens, and has every request answered by a handler; for callers that wait, as the command's thread does.
final class MapServer: Sendable {
  private struct State {
    var server: HTTPServer?
    var task: Task<Void, Never>?
    var isStopping = false
  }

  private let address: ListenAddress
  private let makeHandler: @Sendable () -> any HTTPHandler
  // The oldest compiler finds a Mutex in FlyingSocks too, and wants to be told which is meant.
  private let state = Synchronization.Mutex(State())

  init(address: ListenAddress, handler: @escaping @Sendable () -> any HTTPHandler) {
    self.address = address
    makeHandler = handler
  }

  /// Begins to listen. Returns the port, which the system has chosen where 0 was asked for.
  func start(port: UInt16) throws -> UInt16 {
    let answer = Answer()
    let task = Task { await keepRunning(port: port, answer: answer) }
    state.withLock { $0.task = task }
    do {
      return try answer.wait(seconds: 10)
    } catch {
      stop()
      throw problem(error, port: port)
    }
  }

  /// Ends at once, connections included; the pages that were told so before get their last message.
  func stop() {
    let (server, task) = state.withLock { state in
      state.isStopping = true
      return (state.server, state.task)
    }
    let isOver = DispatchSemaphore(value: 0)
    Task {
      await server?.stop(timeout: 0.2)
      task?.cancel()
      await task?.value
      isOver.signal()
    }
    // The process ends next: what has not ended by then ends with it.
    _ = isOver.wait(timeout: .now() + 1)
  }

  // A flood of connections can take all of the process' descriptors, which ends the server with them.
  private func keepRunning(port: UInt16, answer: Answer) async {
    var port = port
    let handler = makeHandler()
    while !Task.isCancelled {
      var reason: any Error = SocketError.disconnected
      do {
        let server = try HTTPServer(config: configuration(port: port), handler: handler)
        guard
          state.withLock({ state in
            state.server = server
            return !state.isStopping
          })
        else { return }
        let opening = Task {
          try await server.waitUntilListening()
          guard let port = await server.listeningAddress?.port else {
            throw SocketError.unsupportedAddress
          }
          answer.give(.success(port))
          return port
        }
        do {
          try await server.run()
        } catch {
          reason = error
          opening.cancel()
          if let chosen = answer.port { port = chosen }
        }
      } catch {
        reason = error
      }
      guard answer.port != nil, !state.withLock({ $0.isStopping }) else {
        return answer.give(.failure(reason))
      }
      Terminal.warn("lodestone: the server broke down and starts again: \(Self.words(reason))")
      try? await Task.sleep(for: .seconds(1))
    }
  }

  private func configuration(port: UInt16) throws -> HTTPServer.Configuration {
    func configuration(_ address: some SocketAddress) -> HTTPServer.Configuration {
      .init(address: address, pool: DeadlinePool(), logger: .disabled)
    }
    return address.isIPv6
      ? try configuration(.inet6(ip6: address.text, port: port))
      : try configuration(.inet(ip4: address.text, port: port))
  }

  private func problem(_ error: any Error, port: UInt16) -> CommandError {
    let place = address.authority(port: port)
    guard case SocketError.failed(_, let number, _) = error else {
      return CommandError("cannot listen at \(place): \(Self.words(error))", kind: .io)
    }
    switch number {
    case EADDRINUSE:
      return CommandError("port \(port) is in use: another --port, or 0 for a free one", kind: .io)
    case EADDRNOTAVAIL:
      return CommandError("\(address.text) is not an address of this machine", kind: .usage)
    case EACCES:
      return CommandError(
        "port \(port) is not for ordinary users: one from 1024 on is", kind: .permission)
    default:
      return CommandError("cannot listen at \(place): \(Self.words(error))", kind: .io)
    }
  }

  private static func words(_ error: any Error) -> String {
    switch error {
    case SocketError.failed(_, let number, _): String(cString: strerror(number))
    case SocketError.disconnected: "it was closed"
    default: "\(error)"
    }
  }
}

extension Socket.Address {
  fileprivate var port: UInt16? {
    switch self {
    case .ip4(_, let port), .ip6(_, let port): port
    case .unix: nil
    }
  }
}

/// What a task says once to a thread that waits for it.
private final class Answer: Sendable {
  private let result = Synchronization.Mutex<Result<UInt16, any Error>?>(nil)
  private let isGiven = DispatchSemaphore(value: 0)

  /// The port, once there is one.
  var port: UInt16? { result.withLock { try? $0?.get() } }

  /// Gives the answer; the first one counts.
  func give(_ answer: Result<UInt16, any Error>) {
    let isFirst = result.withLock { result in
      guard result == nil else { return false }
      result = answer
      return true
    }
    if isFirst { isGiven.signal() }
  }

  func wait(seconds: Double) throws -> UInt16 {
    _ = isGiven.wait(timeout: .now() + seconds)
    guard let result = result.withLock({ $0 }) else {
      throw SocketError.timeout(message: "listening")
    }
    return try result.get()
  }
}
