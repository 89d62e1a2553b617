// A program's end of the connection to the daemon, as a value: requests in, bytes out. It outlives the connection.

package import LocationServices
package import SensorTypes

/// A program's end of its connection to the daemon.
///
/// Tell it of each connection with `connected(at:)` and `disconnected(_:)`. In between it remembers what the program's clients have
/// asked for, and tells the next daemon. The clients only notice failures in the meantime.
package struct ProgramEnd: Sendable {
  /// What the daemon has said, or what follows from a lost connection.
  package enum Incoming: Hashable, Sendable {
    /// The daemon accepts the program. Requests were sent again, events follow.
    case greeted(DaemonHello)
    case event(ServiceEvent)
    case answer(number: UInt64, ServiceAnswer)
    /// The question of this number will have no answer.
    case unanswered(number: UInt64)
    case calibrationPrompt(CalibrationPromptChange)
    case calibrationProgress(CalibrationProgress)
    /// The program's agent is to ask this, and `reply(to:_:accuracy:)` to be called.
    case authorizationPrompt(AuthorizationPrompt, of: AuthorizationClient)
    /// The authorization prompt of this number is no longer shown.
    case withdrawnPrompt(UInt64)
    /// The daemon closes the connection, for this reason.
    case farewell(Farewell)
    /// The connection is of no use, for this reason: close it.
    case unusable(String)
  }

  private enum Stage {
    case disconnected
    case greeting(since: Double)
    case open
    /// Nothing more is read from this connection.
    case closed
  }

  private let hello: ProgramHello
  private let limits: ProtocolLimits
  private var stage = Stage.disconnected
  /// Whether the daemon has greeted on this connection.
  private var hasGreeted = false
  private var (reader, output): (FrameReader, [UInt8])
  private var ledgers: [ClientID: ClientLedger] = [:]
  /// The clients in the order in which they registered.
  private var order: [ClientID] = []
  private var lastNumber: UInt64 = 0
  private var unstored = UnstoredRequests()
  /// Requests that may turn out to be unknown to the daemon: those of this connection since the last confirmation.
  private var (recent, recentOrder): ([UInt64: ServiceRequest], [UInt64]) = ([:], [])
  private var questions: PendingQuestions
  /// The clients that have asked for something while the greeting was on its way.
  private var hopeful: Set<ClientID> = []
  /// The number of attempts after which a request that has one answer is answered with an error: ten seconds at half a second each.
  private static let mostAttempts = 20
  private var attempts = 0
  private var mode = ApplicationMode.foreground
  private var agent: AgentRole?
  private var prompts = ShownPrompts()
  /// The reason why there is no daemon, as part of failures.
  private var absence = "no daemon was reached yet"
  /// Whether nobody has tried to connect: nothing has failed then.
  private var isBeginning = true
  /// The number of messages of kinds that this version does not know.
  package private(set) var unknown: UInt64 = 0
  /// The number of messages that were too long to be sent.
  package private(set) var unsendable: UInt64 = 0

  /// Makes the end of a program that was built with this version of Lodestone.
  package init(
    software: String, usage: UsageDescriptions? = nil, versions: ProtocolVersions = .supported,
    limits: ProtocolLimits = .init()
  ) {
    hello = ProgramHello(versions: versions, software: software, usage: usage?.shortened)
    (self.limits, reader, output) = (limits, FrameReader(limit: limits.daemonFrame), [])
    questions = PendingQuestions(most: limits.questions)
  }

  /// Whether the daemon has greeted and the connection is of use.
  package var isOpen: Bool { if case .open = stage { true } else { false } }

  /// Whether there is a connection whose bytes are read.
  private var isConnected: Bool {
    switch stage {
    case .disconnected, .closed: false
    case .greeting, .open: true
    }
  }

  /// The time at which a connection without a greeting is to be given up.
  package var deadline: Double? {
    if case .greeting(let since) = stage { since + limits.greeting } else { nil }
  }

  // MARK: The connection

  /// Begins a connection with a greeting.
  ///
  /// - Parameter now: The monotonic clock in seconds.
  package mutating func connected(at now: Double) {
    stage = .greeting(since: now)
    hasGreeted = false
    reader = FrameReader(limit: limits.daemonFrame)
    output = []
    (recent, recentOrder) = ([:], [])
    questions.restart()
    write(.hello(hello))
  }

  /// Ends a connection, or an attempt, and returns what the program's clients are to be told of it.
  ///
  /// - Parameter reason: The reason in words, as part of failures.
  package mutating func disconnected(_ reason: String) -> [Incoming] {
    stage = .disconnected
    (absence, isBeginning) = (reason, false)
    output = []
    var incoming = questions.lose().map { Incoming.unanswered(number: $0) }
    attempts = hasGreeted ? 0 : attempts + 1
    for client in order where attempts >= Self.mostAttempts {
      for content in ledgers[client]?.eventsOfDespair(reason) ?? [] {
        incoming.append(.event(ServiceEvent(client: client, content: content)))
      }
    }
    for client in order where hasGreeted || hopeful.contains(client) {
      for content in ledgers[client]?.eventsAfterLoss(reason) ?? [] {
        incoming.append(.event(ServiceEvent(client: client, content: content)))
      }
    }
    (hasGreeted, hopeful) = (false, [])
    return incoming + prompts.takeDown()
  }

  /// Returns the bytes to write and removes them.
  package mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  // MARK: The program

  /// Sends a client's request, or remembers it for the next daemon.
  ///
  /// - Returns: What the client is to be told at once, because no daemon hears the request now.
  package mutating func send(_ request: ServiceRequest) -> [Incoming] {
    let client = request.client
    lastNumber += 1
    switch request.action {
    case .register:
      if ledgers[client] == nil {
        // One less than the daemon allows, which a request of a client that has gone may need.
        guard ledgers.count < limits.clients - 1 else {
          let failure = ServiceFailure(
            service: .location, reason: "a program can have \(limits.clients - 1) location managers"
          )
          return [.event(ServiceEvent(client: client, content: .failure(failure)))]
        }
        ledgers[client] = ClientLedger()
        order.append(client)
      }
    case .release:
      ledgers[client] = nil
      order.removeAll { $0 == client }
    case .requestLocation where ledgers[client]?.awaitsLocation == true: return []
    default: ledgers[client]?.record(request.action, number: lastNumber)
    }
    if let region = request.action.storedRegion {
      if !request.action.isTold { for client in order { ledgers[client]?.forget(region) } }
      unstored.add(request, number: lastNumber)
    }
    if isOpen { return send(request, lastNumber) }
    // While the greeting is on its way nothing has failed. `replay` sends all but deferrals.
    var isHopeful = isBeginning
    if case .greeting = stage { isHopeful = true }
    if isHopeful {
      guard case .allowDeferral = request.action else {
        hopeful.insert(client)
        return []
      }
    }
    let events = ledgers[client]?.eventsWithoutDaemon(request.action, absence) ?? []
    return events.map { .event(ServiceEvent(client: client, content: $0)) }
  }

  private mutating func send(_ request: ServiceRequest, _ number: UInt64) -> [Incoming] {
    guard write(.request(number: number, request)) else {
      unstored.remove(number)
      return refused(request, "the request is longer than \(limits.programFrame) bytes")
    }
    // Answers to what is unknown come soon, if at all.
    recent[number] = request
    recentOrder.append(number)
    if recentOrder.count > 64 { recent[recentOrder.removeFirst()] = nil }
    return []
  }

  /// Returns what a client is told of a request that no daemon will carry out.
  private mutating func refused(_ request: ServiceRequest, _ reason: String) -> [Incoming] {
    var contents = ledgers[request.client]?.eventsWithoutDaemon(request.action, reason) ?? []
    let failure = ServiceFailure(service: .location, reason: reason)
    switch request.action {
    case .requestLocation:
      ledgers[request.client]?.giveUpLocation()
      contents.append(.requestFailed(failure))
    case .startRegion(let region, _):
      contents.append(
        .region(RegionEvent(region: region, kind: .failed(.unfit(reason)), time: .init(seconds: 0)))
      )
    default: break
    }
    return contents.map { .event(ServiceEvent(client: request.client, content: $0)) }
  }

  /// Asks a question and returns its number, or `nil` if it has no answer: there is no daemon.
  ///
  /// A statement is made to the next daemon even if nobody waits for its answer any more.
  package mutating func ask(_ question: ServiceQuestion) -> UInt64? {
    guard isConnected || question.isStatement else { return nil }
    let number = questions.add(question)
    if !isConnected { questions.abandon(number) }
    if isOpen, !put(number) { return nil }
    return isConnected ? number : nil
  }

  /// Asks the daemon a question, or holds it back for now. Returns whether it can be asked at all.
  @discardableResult
  private mutating func put(_ number: UInt64) -> Bool {
    guard let question = questions.begin(number) else { return true }
    if write(.question(number: number, question)) { return true }
    _ = questions.end(number)
    return false
  }

  /// Takes note that the daemon is done with a question, asks what was held back, and returns whether somebody waits for the answer.
  private mutating func isAwaited(_ number: UInt64) -> Bool {
    let isAwaited = questions.end(number)
    while let next = questions.nextHeld() { put(next) }
    return isAwaited
  }

  /// Ends the wait for an answer. A statement is still made.
  package mutating func forget(_ number: UInt64) { questions.abandon(number) }

  /// Takes the state of the application.
  package mutating func set(_ mode: ApplicationMode) {
    guard mode != self.mode else { return }
    self.mode = mode
    if isOpen { write(.application(mode)) }
  }

  /// Says which agent the program has. Another agent is said as well.
  package mutating func set(agent: AgentRole?) {
    guard agent != nil || self.agent != nil else { return }
    self.agent = agent
    if isOpen { write(.agent(agent)) }
  }

  /// Sends what the program's agent has answered, unless the prompt is no longer shown.
  package mutating func reply(
    to prompt: UInt64, _ answer: AuthorizationAnswer?, accuracy: AccuracyAuthorization?
  ) {
    guard isOpen, prompts.isAnswered(prompt) else { return }
    write(.reply(prompt: prompt, answer, accuracy: accuracy))
  }

  // MARK: The daemon

  /// Takes bytes, and returns what they say, in order.
  package mutating func receive(_ bytes: some Sequence<UInt8>, at now: Double) -> [Incoming] {
    guard isConnected else { return [] }
    reader.append(bytes)
    var incoming: [Incoming] = []
    do {
      while let frame = try reader.next() {
        incoming += read(frame, at: now)
        if case .closed = stage { break }
      }
    } catch {
      incoming.append(unusable("a frame of the daemon is longer than \(limits.daemonFrame) bytes"))
    }
    return incoming
  }

  private mutating func unusable(_ why: String) -> Incoming {
    stage = .closed
    return .unusable(why)
  }

  private mutating func read(_ frame: [UInt8], at now: Double) -> [Incoming] {
    do {
      return accept(try DaemonMessage(cbor: frame), at: now)
    } catch is DecodingError {
      unknown += 1
      guard isOpen else {
        return [unusable("the daemon does not greet as this version of Lodestone expects")]
      }
      return []
    } catch {
      return [unusable("the daemon sends a frame that is not valid CBOR")]
    }
  }

  private mutating func accept(_ message: DaemonMessage, at now: Double) -> [Incoming] {
    switch (stage, message) {
    case (_, .farewell(let reason)):
      stage = .closed
      return [.farewell(reason)]
    case (.greeting(let since), .hello(let hello)):
      guard self.hello.versions.contains(hello.version) else {
        return [unusable("the daemon speaks version \(hello.version) of the protocol")]
      }
      guard hello.clock >= since - limits.clock, hello.clock <= now + limits.clock else {
        return [
          unusable(
            "the daemon's monotonic clock differs from this program's: one of them runs in another time namespace"
          )
        ]
      }
      stage = .open
      hasGreeted = true
      hopeful = []
      return [.greeted(hello)] + replay()
    case (.open, .event(let during, let event)):
      guard ledgers[event.client]?.accepts(event.content, during: during) == true else { return [] }
      return [.event(event)]
    case (.open, .answer(let number, let answer)):
      return isAwaited(number) ? [.answer(number: number, answer)] : []
    case (.open, .carriedOut(let number)):
      unstored.remove(upTo: number)
      return []
    case (.open, .unknownRequest(let number)):
      unstored.remove(number)
      guard let request = recent.removeValue(forKey: number) else { return [] }
      return refused(request, "the daemon is older than this program and does not know the request")
    case (.open, .noAnswer(let number)):
      return isAwaited(number) ? [.unanswered(number: number)] : []
    case (.open, .calibrationPrompt), (.open, .calibrationProgress), (.open, .authorizationPrompt),
      (.open, .withdrawnPrompt):
      return prompts.accept(message)
    case (.greeting, _): return [unusable("the daemon does not greet")]
    case (.open, .hello): return [unusable("the daemon greets twice")]
    case (.disconnected, _), (.closed, _): return []
    }
  }

  /// Tells a new connection's daemon what the program's clients have asked for.
  ///
  /// They asked for it in the foreground or were refused. The state that the application has now comes last, and takes away only what it would
  /// have taken from a program that was connected all the time.
  private mutating func replay() -> [Incoming] {
    var refused: [Incoming] = []
    write(.application(.foreground))
    if let agent { write(.agent(agent)) }
    // First what was told: a region whose crossing is found again would be told twice.
    for number in questions.numbers(areStatements: true) { put(number) }
    func again(_ client: ClientID, _ action: ServiceAction) {
      lastNumber += 1
      refused += send(ServiceRequest(client, action), lastNumber)
    }
    for client in order { for action in ledgers[client]?.settings ?? [] { again(client, action) } }
    for index in unstored.requests.indices {
      var request = unstored.requests[index].request
      if case .startRegion(let region, assuming: .unknown) = request.action {
        request.action = .startRegion(region, assuming: told(region))
      }
      // The client that has asked may be gone; what it has asked for stays.
      let isOrphan = ledgers[request.client] == nil
      if isOrphan { again(request.client, .register) }
      lastNumber += 1
      unstored.requests[index].number = lastNumber
      write(.request(number: lastNumber, request))
      if isOrphan { again(request.client, .release) }
    }
    for client in order { for action in ledgers[client]?.services ?? [] { again(client, action) } }
    if mode != .foreground { write(.application(mode)) }
    for number in questions.numbers(areStatements: false) { put(number) }
    return refused
  }

  /// Returns the state of a region that a client was told last.
  private func told(_ region: MonitoredRegion) -> RegionState {
    for client in order {
      if let state = ledgers[client]?.told(region) { return state }
    }
    return .unknown
  }

  @discardableResult
  private mutating func write(_ message: ProgramMessage) -> Bool {
    do {
      try Frame.append(message, to: &output, limit: limits.programFrame)
      return true
    } catch {
      unsendable += 1
      return false
    }
  }
}
