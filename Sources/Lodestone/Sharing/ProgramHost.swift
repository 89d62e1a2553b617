// The services of one program that has connected to the daemon: what it says is carried out, what they say is sent.

import Dispatch
import LocationServices
package import ServiceProtocol
import Synchronization

/// The daemon's side of one program's connection, without its socket.
///
/// One thread calls `receive(_:at:)`, `next()`, `advance(to:)` and `end()`. What the program asks for is carried out on a queue of its
/// own, one after the other, so that a slow disk or a slow bus holds up no other program.
package final class ProgramHost: Sendable {
  /// The number of messages that may wait to be carried out before no more are read.
  private static let mostQueued = 256

  private struct State: Sendable {
    var end: DaemonEnd
    /// The names that the services have for the program's clients.
    var clients: [ClientID: ClientID] = [:]
    /// The number of messages that wait to be carried out.
    var queued = 0
    /// The questions of a kind that one answer is awaited for.
    var patient: [ServiceQuestion: [UInt64]] = [:]
  }

  private let state: Mutex<State>
  private let runtime: LodestoneRuntime
  private let wake: @Sendable () -> Void
  private let work = DispatchQueue(label: "lodestone.program")
  /// Questions that may take seconds wait here.
  private let patience = DispatchQueue(label: "lodestone.program.questions")

  /// Makes the host of a program whose connection was accepted.
  ///
  /// - Parameters:
  ///   - end: The protocol's end.
  ///   - runtime: The program's own runtime, on its seat of the board.
  ///   - wake: Called on any thread when there is something to write or to read again.
  package init(end: DaemonEnd, runtime: LodestoneRuntime, wake: @escaping @Sendable () -> Void) {
    state = Mutex(State(end: end))
    (self.runtime, self.wake) = (runtime, wake)
  }

  // MARK: The connection

  /// Whether the program may say more now. If not, `wake` is called once it may.
  package var isReading: Bool {
    state.withLock { !$0.end.isClosed && $0.queued < Self.mostQueued }
  }
  /// Whether nothing more is read, and the socket is closed once all is written.
  package var isClosed: Bool { state.withLock { $0.end.isClosed } }
  /// The number of bytes that wait to be written.
  package var waitingCount: Int { state.withLock { $0.end.waitingCount } }
  /// The number of events that were dropped because the program did not take them.
  package var dropped: UInt64 { state.withLock { $0.end.dropped } }
  /// The time at which `advance(to:)` has something to do, or at which a closed connection's socket is to be closed.
  package var deadline: Double? { state.withLock { $0.end.deadline } }

  /// Closes a connection whose greeting is late.
  package func advance(to now: Double) { state.withLock { $0.end.advance(to: now) } }

  /// Closes the connection for a reason, which is the last message.
  package func close(_ reason: Farewell, at now: Double) {
    state.withLock { state in
      state.end.advance(to: now)
      state.end.close(reason)
    }
  }

  /// Takes bytes of the program.
  package func receive(_ bytes: UnsafeRawBufferPointer, at now: Double) {
    let messages = state.withLock { state in
      let messages = state.end.receive(bytes, at: now)
      state.queued += messages.count
      return messages
    }
    for message in messages {
      work.async { [self] in
        carryOut(message)
        finish()
      }
    }
  }

  private func finish() {
    let wasFull = state.withLock { state in
      state.queued -= 1
      return state.queued == Self.mostQueued - 1
    }
    if wasFull { wake() }
  }

  /// Returns the next frame to write, or `nil`.
  package func next() -> [UInt8]? { state.withLock { $0.end.next() } }

  /// Ends the program's clients: its connection is gone. What it has said before is carried out.
  package func end() {
    work.async { [self] in
      let clients = state.withLock { state in
        defer { state.clients = [:] }
        return Array(state.clients.values)
      }
      for client in clients { runtime.send(ServiceRequest(client, .release)) }
    }
  }

  // MARK: The program

  private func carryOut(_ message: DaemonEnd.Incoming) {
    switch message {
    case .greeted: break
    case .application(let mode): runtime.applicationState = ApplicationState(mode)
    case .request(let number, let request): carryOut(request, number)
    case .question(let number, .capabilities): answerLater(number, .capabilities)
    case .question(let number, .beacons): answerLater(number, .beacons)
    case .question(let number, let question): answer(number, question)
    }
  }

  private func carryOut(_ request: ServiceRequest, _ number: UInt64) {
    let willHandle = { [self] in state.withLock { $0.end.willCarryOut(number) } }
    let known = state.withLock { $0.clients[request.client] }
    switch (request.action, known) {
    case (.register, nil):
      let client = RemoteClient(self, request.client)
      let id = runtime.connect(client, willHandle: willHandle)
      state.withLock { $0.clients[request.client] = id }
    case (.register, _?): break
    case (_, let id?):
      runtime.send(ServiceRequest(id, request.action), willHandle: willHandle)
      if request.action == .release { state.withLock { $0.clients[request.client] = nil } }
    // Of a client that never was, or that has gone.
    case (_, nil): break
    }
    let hasNews = state.withLock { state in
      let wasEmpty = state.end.waitingCount == 0
      state.end.didCarryOut(number, request)
      return wasEmpty && state.end.waitingCount > 0
    }
    if hasNews { wake() }
  }

  /// Answers a question that may take seconds. One that is asked again meanwhile gets the same answer.
  private func answerLater(_ number: UInt64, _ question: ServiceQuestion) {
    let isFirst = state.withLock { state in
      state.patient[question, default: []].append(number)
      return state.patient[question]?.count == 1
    }
    guard isFirst else { return }
    patience.async { [self] in
      let answer = runtime.answer(question)
      tell(answer, to: state.withLock { $0.patient.removeValue(forKey: question) ?? [] })
    }
  }

  private func answer(_ number: UInt64, _ question: ServiceQuestion) {
    tell(runtime.answer(question), to: [number])
  }

  private func tell(_ answer: ServiceAnswer?, to numbers: [UInt64]) {
    guard let answer else { return }
    state.withLock { state in for number in numbers { state.end.answer(number, answer) } }
    wake()
  }

  fileprivate func tell(_ event: ServiceEvent) {
    let hasNews = state.withLock { state in
      let wasEmpty = state.end.waitingCount == 0
      state.end.send(event)
      return wasEmpty || state.end.isClosed
    }
    if hasNews { wake() }
  }
}

extension ApplicationState {
  init(_ mode: ApplicationMode) {
    self =
      switch mode {
      case .foreground: .foreground
      case .background: .background
      case .suspended: .suspended
      }
  }
}

/// A client of a program, as the services see it. It sends each event to the program, which itself holds events back while it is
/// suspended. The end of the connection releases it.
private final class RemoteClient: ServiceClient {
  private let host: ProgramHost
  private let id: ClientID

  init(_ host: ProgramHost, _ id: ClientID) { (self.host, self.id) = (host, id) }

  func post(_ content: EventContent) -> Int {
    host.tell(ServiceEvent(client: id, content: content))
    return 0
  }

  func applicationChanged(isSuspended: Bool) {}
}
