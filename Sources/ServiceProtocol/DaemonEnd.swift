// The daemon's end of one connection, as a value: bytes in, messages out. It has no socket, and time is an argument.

package import LocationServices
package import SensorTypes

/// The limits of a connection.
package struct ProtocolLimits: Hashable, Sendable {
  /// The largest frame of a program in bytes. Its longest messages, regions and questions about them, have below 2 KiB.
  package var programFrame = 16_384
  /// The largest frame of the daemon in bytes. Its longest event holds the positions of a deferral, at most 3,600.
  package var daemonFrame = 2_097_152
  /// The number of seconds that a greeting may take, at both ends.
  package var greeting = 5.0
  /// The number of seconds that a closed connection has for its last bytes.
  package var closing = 2.0
  /// The number of bytes that may wait for a program.
  package var waiting = 4_194_304
  /// The number of clients that a program may have at a time: location managers, altimeters, updates.
  package var clients = 256
  /// The number of a program's questions that may be without an answer.
  package var questions = 32
  /// The tolerance of the comparison of two monotonic clocks in seconds.
  package var clock = 0.005

  package init() {}

  /// The limits of a program whose user may store calibration records, which have their samples beside them.
  package static var owner: ProtocolLimits {
    var limits = ProtocolLimits()
    limits.programFrame = 262_144
    return limits
  }
}

/// The daemon's end of one program's connection.
///
/// Pass what arrives to `receive(_:at:)`, and carry out what it returns in this order. Write what `next()` returns.
package struct DaemonEnd: Sendable {
  /// What a program has said.
  package enum Incoming: Hashable, Sendable {
    /// The program has greeted; its requests follow.
    case greeted(ProgramHello)
    /// A request. Call `willCarryOut(_:)` before and `didCarryOut(_:)` after it is carried out.
    case request(number: UInt64, ServiceRequest)
    /// A question, to be answered with `answer(_:_:)`.
    case question(number: UInt64, ServiceQuestion)
    case application(ApplicationMode)
    /// The agent that the program has, if any.
    case agent(AgentRole?)
    /// The answer of the program's agent, or `nil` if nobody answered.
    case reply(prompt: UInt64, AuthorizationAnswer?, accuracy: AccuracyAuthorization?)
  }

  private enum Stage {
    case greeting(since: Double)
    case open
    case closed(since: Double)
  }

  private let limits: ProtocolLimits
  private let hello: DaemonHello
  private let versions: ProtocolVersions
  private var stage: Stage
  /// The newest time that was passed in.
  private var now: Double
  private var reader: FrameReader
  private var outbox: EventOutbox
  /// The request that is carried out, or was carried out last.
  private var current: UInt64 = 0
  private var clients: Set<ClientID> = []
  private var questions: Set<UInt64> = []
  /// Events that were dropped with an outbox that was given up.
  private var droppedBefore: UInt64 = 0
  /// The number of messages of kinds that this version does not know.
  package private(set) var unknown: UInt64 = 0

  /// Makes the end of a connection that was accepted at `now`, in seconds of the monotonic clock.
  ///
  /// - Parameter hello: The greeting. Its version and clock are filled in.
  package init(
    hello: DaemonHello, versions: ProtocolVersions = .supported, limits: ProtocolLimits = .init(),
    at now: Double
  ) {
    (self.hello, self.versions, self.limits, self.now) = (hello, versions, limits, now)
    stage = .greeting(since: now)
    reader = FrameReader(limit: limits.programFrame)
    outbox = EventOutbox(limit: limits.waiting)
  }

  /// Whether nothing more is read. The socket is closed when `next()` has nothing more, or after `deadline`.
  package var isClosed: Bool { if case .closed = stage { true } else { false } }
  /// Whether the program has greeted and the connection is not closed.
  package var isOpen: Bool { if case .open = stage { true } else { false } }
  /// The number of events that were dropped or replaced by newer ones.
  package var dropped: UInt64 { droppedBefore + outbox.dropped }
  /// The number of bytes that wait to be written.
  package var waitingCount: Int { outbox.byteCount }

  /// The time at which `advance(to:)` has something to do, or at which a closed connection's socket is to be closed whatever waits.
  package var deadline: Double? {
    switch stage {
    case .greeting(let since): since + limits.greeting
    case .open: nil
    case .closed(let since): since + limits.closing
    }
  }

  /// Closes a connection whose greeting is late.
  package mutating func advance(to now: Double) {
    self.now = max(self.now, now)
    if case .greeting(let since) = stage, now >= since + limits.greeting { close(.noGreeting) }
  }

  // MARK: From the program

  /// Takes bytes, and returns what the program says, in order.
  package mutating func receive(_ bytes: some Sequence<UInt8>, at now: Double) -> [Incoming] {
    self.now = max(self.now, now)
    guard !isClosed else { return [] }
    reader.append(bytes)
    var incoming: [Incoming] = []
    do {
      while !isClosed, let frame = try reader.next() {
        if let message = read(frame) { incoming.append(message) }
      }
    } catch {
      close(.unreadable("a frame is longer than \(limits.programFrame) bytes"))
    }
    return incoming
  }

  private mutating func read(_ frame: [UInt8]) -> Incoming? {
    do {
      return accept(try CBORDecoder.decode(ProgramMessage.self, from: frame))
    } catch is DecodingError {
      unknown += 1
      guard isOpen else {
        close(.noGreeting)
        return nil
      }
      // Nobody may wait for what will not come.
      let message = try? CBORDecoder.decode(UnknownMessage.self, from: frame)
      if let number = message?.request?.number { send(.unknownRequest(number)) }
      if let number = message?.question?.number { send(.noAnswer(number)) }
    } catch {
      close(.unreadable("a frame is not valid CBOR"))
    }
    return nil
  }

  private mutating func accept(_ message: ProgramMessage) -> Incoming? {
    switch (stage, message) {
    case (.greeting, .hello(let theirs)):
      guard let version = versions.common(with: theirs.versions) else {
        close(.versions(versions, software: hello.software))
        return nil
      }
      stage = .open
      var hello = hello
      (hello.version, hello.clock) = (version, now)
      send(.hello(hello))
      return .greeted(theirs)
    case (.open, .request(let number, let request)):
      switch request.action {
      case .register: clients.insert(request.client)
      case .release: clients.remove(request.client)
      default: break
      }
      guard clients.count <= limits.clients else {
        close(.excessive("more than \(limits.clients) location managers and updates"))
        return nil
      }
      return .request(number: number, request)
    case (.open, .question(let number, let question)):
      guard questions.insert(number).inserted else {
        close(.unreadable("a question has the number of one that is not answered"))
        return nil
      }
      guard questions.count <= limits.questions else {
        close(.excessive("more than \(limits.questions) questions without an answer"))
        return nil
      }
      return .question(number: number, question)
    case (.open, .application(let mode)): return .application(mode)
    case (.open, .agent(let role)): return .agent(role)
    case (.open, .reply(let prompt, let answer, let accuracy)):
      return .reply(prompt: prompt, answer, accuracy: accuracy)
    case (.greeting, _): close(.noGreeting)
    case (.open, .hello): close(.unreadable("it has greeted before"))
    case (.closed, _): break
    }
    return nil
  }

  /// The request of this number is being carried out: events that arise from now on know it.
  package mutating func willCarryOut(_ number: UInt64) { current = max(current, number) }

  /// The request was carried out.
  ///
  /// - Parameter isStored: Whether what it stores is stored. If not, the program tells the next daemon again.
  package mutating func didCarryOut(
    _ number: UInt64, _ request: ServiceRequest, isStored: Bool = true
  ) {
    if request.action.isStored, isStored { send(.carriedOut(number)) }
  }

  // MARK: To the program

  /// Queues an event for one of the program's clients.
  ///
  /// - Parameter encoder: Encodes the event if other programs may get the same.
  package mutating func send(_ event: ServiceEvent, _ encoder: EventEncoder? = nil) {
    guard isOpen else { return }
    let shared = encoder.flatMap { frame(event, $0) }
    guard let bytes = shared ?? frame(.event(during: current, event)) else { return }
    outbox.append(bytes, of: event)
    checkWaiting()
  }

  private func frame(_ event: ServiceEvent, _ encoder: EventEncoder) -> [UInt8]? {
    var bytes: [UInt8] = []
    do {
      try Frame.append(
        eventDuring: current, of: event.client, content: encoder.bytes(of: event.content),
        to: &bytes, limit: limits.daemonFrame)
    } catch {
      // The usual way says what is wrong.
      return nil
    }
    return bytes
  }

  /// Queues the answer to a question.
  package mutating func answer(_ number: UInt64, _ answer: ServiceAnswer) {
    guard questions.remove(number) != nil else { return }
    send(.answer(number: number, answer))
  }

  /// Queues that a question has no answer.
  package mutating func refuse(_ number: UInt64) {
    guard questions.remove(number) != nil else { return }
    send(.noAnswer(number))
  }

  /// Queues that the calibration prompt is shown or taken down.
  package mutating func tell(_ change: CalibrationPromptChange) { send(.calibrationPrompt(change)) }

  /// Queues the progress of a calibration, which replaces what waits of it.
  package mutating func tell(_ progress: CalibrationProgress) {
    guard isOpen, let frame = frame(.calibrationProgress(progress)) else { return }
    outbox.append(progress: frame)
  }

  /// Queues an authorization prompt for the program's agent.
  package mutating func ask(_ prompt: AuthorizationPrompt, of client: AuthorizationClient) {
    send(.authorizationPrompt(prompt, of: client))
  }

  /// Queues that an authorization prompt is no longer shown.
  package mutating func withdraw(_ prompt: UInt64) { send(.withdrawnPrompt(prompt)) }

  private mutating func send(_ message: DaemonMessage) {
    guard isOpen, let frame = frame(message) else { return }
    outbox.append(frame)
    checkWaiting()
  }

  private mutating func frame(_ message: DaemonMessage) -> [UInt8]? {
    var bytes: [UInt8] = []
    do {
      try Frame.append(message, to: &bytes, limit: limits.daemonFrame)
      return bytes
    } catch {
      close(.failed("a message cannot be encoded: \(error)"))
      return nil
    }
  }

  private mutating func checkWaiting() {
    guard outbox.isFull else { return }
    // What waits is given up, so that the reason arrives.
    droppedBefore += outbox.dropped
    outbox = EventOutbox(limit: limits.waiting)
    close(.slow)
  }

  /// Closes the connection for a reason, which is the last message. Does nothing if it is closed.
  package mutating func close(_ reason: Farewell) {
    guard !isClosed else { return }
    stage = .closed(since: now)
    var bytes: [UInt8] = []
    if (try? Frame.append(DaemonMessage.farewell(reason), to: &bytes, limit: limits.daemonFrame))
      != nil
    {
      outbox.append(bytes)
    }
  }

  /// Returns the next frame to write, or `nil`.
  package mutating func next() -> [UInt8]? { outbox.next() }
}
