// The services of one program that has connected to the daemon: what it says is carried out, what they say is sent.

import Dispatch
import LocationServices
import SensorTypes
package import ServiceProtocol
import Synchronization

/// The daemon's side of one program's connection, without its socket.
///
/// One thread calls `receive(_:at:)`, `next()`, `advance(to:)` and `end()`. What the program asks for is carried out on a queue of its
/// own, one after the other, so that a slow disk or a slow bus holds up no other program.
package final class ProgramHost: Sendable {
  /// The number of messages that may wait to be carried out before no more are read.
  private static let mostQueued = 256

  /// Makes the services of a program, on its seat of the board.
  package typealias ServicesFactory = @Sendable (_ hello: ProgramHello) -> ProgramServices

  private struct State: Sendable {
    var end: DaemonEnd
    /// The services of the program, once it has greeted.
    var services: ProgramServices?
    /// The names that the services have for the program's clients.
    var clients: [ClientID: ClientID] = [:]
    /// The number of messages that wait to be carried out.
    var queued = 0
    /// The questions of a kind that one answer is awaited for.
    var patient: [ServiceQuestion: [UInt64]] = [:]
  }

  private let state: Mutex<State>
  private let makeServices: ServicesFactory
  private let wake: @Sendable () -> Void
  private let work = DispatchQueue(label: "lodestone.program")
  /// Questions that may take seconds wait here.
  private let patience = DispatchQueue(label: "lodestone.program.questions")
  private let replies = AgentReplies()

  /// Makes the host of a program whose connection was accepted.
  ///
  /// - Parameters:
  ///   - end: The protocol's end.
  ///   - wake: Called on any thread when there is something to write or to read again.
  ///   - makeServices: Called once the program has greeted.
  package init(
    end: DaemonEnd, wake: @escaping @Sendable () -> Void, makeServices: @escaping ServicesFactory
  ) {
    state = Mutex(State(end: end))
    (self.makeServices, self.wake) = (makeServices, wake)
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
      // Whoever waits for it may hold up what comes before it.
      if case .reply(let prompt, let answer, let accuracy) = message {
        replies.take(answer.map { AuthorizationReply($0, accuracy: accuracy) }, to: prompt)
      }
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
    replies.end()
    work.async { [self] in
      let (services, clients) = state.withLock { state in
        defer { (state.services, state.clients) = (nil, [:]) }
        return (state.services, Array(state.clients.values))
      }
      guard let services else { return }
      for client in clients { services.send(ServiceRequest(client, .release)) }
      // They hold each other.
      services.stage.presenter = NoCalibrationPresenter()
      services.forgetAgent()
    }
  }

  // MARK: The program

  private func carryOut(_ message: DaemonEnd.Incoming) {
    if case .greeted(let hello) = message {
      let services = makeServices(hello)
      services.stage.presenter = RemotePresenter(self)
      return state.withLock { $0.services = services }
    }
    // They are there from the greeting to the end.
    guard let services = state.withLock({ $0.services }) else { return }
    switch message {
    case .greeted: break
    case .application(let mode): services.applicationState = ApplicationState(mode)
    case .agent(let isThere):
      services.authorizationAgent = isThere ? RemoteAgent(self, replies) : nil
    case .reply: break
    case .request(let number, let request): carryOut(request, number, services)
    case .question(let number, let question) where question.isSlow:
      answerLater(number, question, services)
    case .question(let number, let question):
      tell(reply(to: question, services), to: [number])
    }
  }

  private func carryOut(
    _ request: ServiceRequest, _ number: UInt64, _ services: ProgramServices
  ) {
    let willHandle = { [self] in state.withLock { $0.end.willCarryOut(number) } }
    let known = state.withLock { $0.clients[request.client] }
    switch (request.action, known) {
    case (.register, nil):
      let client = RemoteClient(self, request.client)
      let id = services.connect(client, willHandle: willHandle)
      state.withLock { $0.clients[request.client] = id }
    case (.register, _?): break
    case (_, let id?):
      services.send(ServiceRequest(id, request.action), willHandle: willHandle)
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

  /// Answers a question that may take seconds. One that only reads gets the same answer if it is asked again meanwhile.
  private func answerLater(
    _ number: UInt64, _ question: ServiceQuestion, _ services: ProgramServices
  ) {
    if case .setAltitude = question {
      return patience.async { [self] in tell(reply(to: question, services), to: [number]) }
    }
    let isFirst = state.withLock { state in
      state.patient[question, default: []].append(number)
      return state.patient[question]?.count == 1
    }
    guard isFirst else { return }
    patience.async { [self] in
      let answer = reply(to: question, services)
      tell(answer, to: state.withLock { $0.patient.removeValue(forKey: question) ?? [] })
    }
  }

  private func reply(
    to question: ServiceQuestion, _ services: ProgramServices
  ) -> ServiceAnswer? {
    if case .setAltitude = question {
      // All programs would get altitudes that follow from it.
      let authorization = services.authorization
      guard authorization.isGranted, authorization.accuracy == .full else {
        return .altitudeSet(
          .impossible("this program may not know where the board is, so it cannot say it either"))
      }
    }
    return services.answer(question)
  }

  private func tell(_ answer: ServiceAnswer?, to numbers: [UInt64]) {
    guard let answer else { return }
    state.withLock { state in for number in numbers { state.end.answer(number, answer) } }
    wake()
  }

  fileprivate func tell(_ event: ServiceEvent) { tell { $0.send(event) } }

  fileprivate func tell(_ body: (inout DaemonEnd) -> Void) {
    let hasNews = state.withLock { state in
      let wasEmpty = state.end.waitingCount == 0
      body(&state.end)
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

/// Shows the calibration prompt where the program is.
private struct RemotePresenter: PromptRelay {
  private let host: ProgramHost

  init(_ host: ProgramHost) { self.host = host }

  func show(_ prompt: CalibrationPrompt) { host.tell { $0.tell(.show(prompt)) } }
  func update(_ progress: CalibrationProgress) { host.tell { $0.tell(progress) } }
  func dismiss(_ end: CalibrationPromptEnd) { host.tell { $0.tell(.dismiss(end)) } }
}

/// Has the program's own agent ask.
private struct RemoteAgent: AuthorizationAgent {
  private let host: ProgramHost
  private let replies: AgentReplies

  init(_ host: ProgramHost, _ replies: AgentReplies) { (self.host, self.replies) = (host, replies) }

  func reply(
    to prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @Sendable () -> Bool
  ) -> AuthorizationReply? {
    replies.expect(prompt.number)
    host.tell { $0.ask(prompt, of: client) }
    let reply = replies.wait(while: stands)
    if reply == nil { host.tell { $0.withdraw(prompt.number) } }
    return reply
  }
}

/// Where the answer to the one prompt that a program's agent shows is waited for.
private final class AgentReplies: Sendable {
  private struct State {
    var prompt: UInt64?
    var reply: AuthorizationReply?
    /// Whether nothing more is to be waited for.
    var isDone = false
  }

  /// The time between two looks whether the prompt is still shown, in seconds.
  private static let look = 0.2
  private let state = Mutex(State())
  private let news = DispatchSemaphore(value: 0)

  func expect(_ prompt: UInt64) {
    state.withLock { state in
      guard !(state.isDone && state.prompt == nil) else { return }
      state = State(prompt: prompt)
    }
  }

  func take(_ reply: AuthorizationReply?, to prompt: UInt64) {
    let isExpected = state.withLock { state in
      guard state.prompt == prompt, !state.isDone else { return false }
      (state.reply, state.isDone) = (reply, true)
      return true
    }
    if isExpected { news.signal() }
  }

  /// Nothing comes any more.
  func end() {
    state.withLock { $0 = State(isDone: true) }
    news.signal()
  }

  func wait(while stands: () -> Bool) -> AuthorizationReply? {
    while stands() {
      let (isDone, reply) = state.withLock { ($0.isDone, $0.reply) }
      if isDone { return reply }
      _ = news.wait(timeout: .now() + Self.look)
    }
    return nil
  }
}
