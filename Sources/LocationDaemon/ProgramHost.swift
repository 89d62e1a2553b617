// The services of one program that has connected to the daemon: what it says is carried out, what they say is sent.

import Dispatch
package import LocationServices
package import Lodestone
import SensorTypes
package import ServiceProtocol
import Synchronization

/// What the daemon does for one program that has connected.
package protocol ProgramAdmission: AnyObject, Sendable {
  /// Returns the services of the program, on its seat of the board. Called once, when it has greeted.
  func services(of hello: ProgramHello) -> ProgramServices

  /// Takes note that the program has gone, and its clients are released.
  ///
  /// - Parameters:
  ///   - services: Its services, if it had greeted.
  ///   - goesOn: Whether regions or visits go on for it.
  func leave(_ services: ProgramServices?, goesOn: Bool)

  /// Returns the state of the daemon, as much of it as the program may know.
  func status() -> DaemonStatus?

  /// The agents of the machine's owner, or `nil` if the program's user may not be one.
  var owner: OwnerAgents? { get }
}

/// The daemon's side of one program's connection, without its socket.
///
/// The thread of the server calls it; `next()` is called by the thread that has news as well, and not at the same time. What the program asks for is carried out on a separate queue,
/// in order, so that a slow disk or a slow bus holds up no other program.
package final class ProgramHost: ServedConnection {
  /// The number of messages that may wait to be carried out before no more are read.
  private static let mostQueued = 64

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
    /// What the replies of the program's agent are passed to.
    var replies: [UInt64: Reply] = [:]
    var isOwnersAgent = false
  }

  // The closure stands in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Reply: Sendable { var pass: @Sendable (AuthorizationReply?) -> Void }

  private let state: Mutex<State>
  private let admission: any ProgramAdmission
  private let wake: @Sendable () -> Void
  private let encoder: EventEncoder?
  private let work = DispatchQueue(label: "lodestone.program")
  /// Questions that may take seconds wait here.
  private let patience = DispatchQueue(label: "lodestone.questions")
  /// The number of programs whose questions are being answered there, and how many may be: each takes a thread.
  private static let busy = Atomic<Int>(0)
  private static let mostBusy = 64

  /// Makes the host of a program whose connection was accepted.
  ///
  /// - Parameters:
  ///   - end: The protocol's end.
  ///   - admission: What the daemon does for the program.
  ///   - encoder: Encodes events of which other programs get the same.
  ///   - wake: Called on any thread when there is something to write or to read again.
  package init(
    end: DaemonEnd, admission: any ProgramAdmission, encoder: EventEncoder? = nil,
    wake: @escaping @Sendable () -> Void
  ) {
    state = Mutex(State(end: end))
    (self.admission, self.encoder, self.wake) = (admission, encoder, wake)
  }

  // MARK: The connection

  /// Whether the program may say more now. If not, `wake` is called once it may.
  package var isReading: Bool {
    state.withLock { !$0.end.isClosed && $0.queued < Self.mostQueued }
  }
  package let isOneWay = false
  package let maySleep = false
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
      setOwnersAgent(false)
      let (services, clients, replies) = state.withLock { state in
        defer { (state.services, state.clients, state.replies) = (nil, [:], [:]) }
        return (state.services, Array(state.clients.values), state.replies.values)
      }
      guard let services else { return admission.leave(nil, goesOn: false) }
      // They hold each other.
      services.stage.presenter = NoCalibrationPresenter()
      services.applicationState = .background
      services.forgetAgent()
      let goesOn = services.goAway()
      for client in clients { services.send(ServiceRequest(client, .release)) }
      for reply in replies { reply.pass(nil) }
      admission.leave(services, goesOn: goesOn)
    }
  }

  /// Has a group wait until all that was said so far is carried out.
  func settle(in group: DispatchGroup) { work.async(group: group) {} }

  /// The program as its services know it, for a status.
  package var summary: (services: ProgramServices?, waiting: Int, dropped: UInt64) {
    state.withLock { ($0.services, $0.end.waitingCount, $0.end.dropped) }
  }

  // MARK: The program

  private func carryOut(_ message: DaemonEnd.Incoming) {
    if case .greeted(let hello) = message {
      let services = admission.services(of: hello)
      services.applicationState = .foreground
      services.stage.presenter = RemotePresenter(self)
      return state.withLock { $0.services = services }
    }
    // They are there from the greeting to the end.
    guard let services = state.withLock({ $0.services }) else { return }
    switch message {
    case .greeted: break
    case .application(let mode): services.applicationState = ApplicationState(mode)
    case .agent(let role):
      services.authorizationAgent = role == .program ? RemoteAgent(self) : nil
      setOwnersAgent(role == .owner)
    case .reply(let prompt, let answer, let accuracy):
      take(answer.map { AuthorizationReply($0, accuracy: accuracy) }, to: prompt)
    case .request(let number, let request): carryOut(request, number, services)
    case .question(let number, .daemon):
      tell(admission.status().map { .daemon($0) }, to: [number])
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
    let isStored = services.keepsRegions
    let hasNews = state.withLock { state in
      let wasEmpty = state.end.waitingCount == 0
      state.end.didCarryOut(number, request, isStored: isStored)
      return wasEmpty && state.end.waitingCount > 0
    }
    if hasNews { wake() }
  }

  /// Answers a question that may take seconds. One that only reads gets the same answer if it is asked again meanwhile.
  private func answerLater(
    _ number: UInt64, _ question: ServiceQuestion, _ services: ProgramServices
  ) {
    if !question.isRead {
      patiently([number]) { [self] in tell(reply(to: question, services), to: [number]) }
      return
    }
    let isFirst = state.withLock { state in
      state.patient[question, default: []].append(number)
      return state.patient[question]?.count == 1
    }
    guard isFirst else { return }
    let isBegun = patiently([]) { [self] in
      let answer = reply(to: question, services)
      tell(answer, to: state.withLock { $0.patient.removeValue(forKey: question) ?? [] })
    }
    guard !isBegun else { return }
    tell(nil, to: state.withLock { $0.patient.removeValue(forKey: question) ?? [] })
  }

  /// Does something that may take seconds on another thread, unless too many threads do so already. Returns whether it is done.
  @discardableResult
  private func patiently(_ numbers: [UInt64], _ body: @escaping @Sendable () -> Void) -> Bool {
    guard Self.busy.add(1, ordering: .relaxed).newValue <= Self.mostBusy else {
      Self.busy.subtract(1, ordering: .relaxed)
      tell(nil, to: numbers)
      return false
    }
    patience.async {
      body()
      Self.busy.subtract(1, ordering: .relaxed)
    }
    return true
  }

  private func reply(
    to question: ServiceQuestion, _ services: ProgramServices
  ) -> ServiceAnswer? {
    switch question {
    case .records, .saveRecord:
      guard admission.owner != nil else {
        let reason =
          "this user may not calibrate for all programs: 'agents' in serve.yaml does not name it"
        if case .records = question {
          return .records(
            RecordFiles(files: [:], folder: nil, problem: reason, isRefused: true))
        }
        return .recordSaved(.refused(reason, isFile: false))
      }
    case .setAltitude:
      // All programs would get altitudes that follow from it.
      let authorization = services.authorization
      guard authorization.isGranted, authorization.accuracy == .full else {
        return .altitudeSet(
          .impossible("this program may not know where the board is, so it cannot say it either"))
      }
    default: break
    }
    return services.answer(question)
  }

  // MARK: Agents

  private func setOwnersAgent(_ isThere: Bool) {
    guard let owner = admission.owner else { return }
    let was = state.withLock { state in
      defer { state.isOwnersAgent = isThere }
      return state.isOwnersAgent
    }
    if was { owner.remove(self) }
    if isThere { owner.add(self) }
  }

  private func take(_ reply: AuthorizationReply?, to prompt: UInt64) {
    if OwnerAgents.isNumber(prompt) {
      guard state.withLock({ $0.isOwnersAgent }) else { return }
      admission.owner?.take(reply, of: self, to: prompt)
    } else if let own = state.withLock({ $0.replies.removeValue(forKey: prompt) }) {
      own.pass(reply)
    }
  }

  fileprivate func ask(
    _ prompt: AuthorizationPrompt, of client: AuthorizationClient,
    answer: @escaping @Sendable (AuthorizationReply?) -> Void
  ) {
    let isThere = state.withLock { state in
      // Who has gone answers nothing.
      guard state.services != nil else { return false }
      state.replies[prompt.number] = Reply(pass: answer)
      return true
    }
    guard isThere else { return answer(nil) }
    show(prompt, of: client)
  }

  /// Shows a prompt where the program is.
  func show(_ prompt: AuthorizationPrompt, of client: AuthorizationClient) {
    tell { $0.ask(prompt, of: client) }
  }

  /// Takes a prompt down where the program is.
  func takeDown(_ prompt: UInt64) {
    state.withLock { $0.replies[prompt] = nil }
    tell { $0.withdraw(prompt) }
  }

  private func tell(_ answer: ServiceAnswer?, to numbers: [UInt64]) {
    state.withLock { state in
      for number in numbers {
        if let answer { state.end.answer(number, answer) } else { state.end.refuse(number) }
      }
    }
    wake()
  }

  fileprivate func tell(_ event: ServiceEvent) { tell { [encoder] in $0.send(event, encoder) } }

  fileprivate func tell(_ body: (inout DaemonEnd) -> Void) {
    let hasNews = state.withLock { state in
      let wasEmpty = state.end.waitingCount == 0
      body(&state.end)
      return wasEmpty || state.end.isClosed
    }
    if hasNews { wake() }
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
private struct RemoteAgent: DeferredAuthorizationAgent {
  private let host: ProgramHost

  init(_ host: ProgramHost) { self.host = host }

  func ask(
    _ prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @escaping @Sendable () -> Bool,
    answer: @escaping @Sendable (AuthorizationReply?) -> Void
  ) { host.ask(prompt, of: client, answer: answer) }

  func withdraw(_ prompt: UInt64) { host.takeDown(prompt) }
}
