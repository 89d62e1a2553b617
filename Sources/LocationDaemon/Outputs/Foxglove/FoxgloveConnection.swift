// One program that shows the board by Foxglove's protocol.

import OutputProtocols
import SensorTypes
import ServiceProtocol
import Synchronization

/// The conversation with one client: the handshake of its WebSocket, what it subscribes to, and messages.
///
/// For a client that reads too slowly, the oldest messages are left out whole and counted, and it is told.
final class FoxgloveConnection: ServedConnection {
  /// The most bytes that may wait.
  static let mostWaiting = 262_144
  /// The time in seconds between two remarks about messages that were left out.
  private static let remarkInterval = 10.0
  /// The most bytes of a request: some hundred subscriptions.
  private static let limits = {
    var limits = WebSocketLimits()
    (limits.message, limits.output) = (16_384, 4_096)
    return limits
  }()

  private enum Phase: Sendable { case head, open, closed }

  private struct State: Sendable {
    var phase = Phase.head
    var head: [UInt8] = []
    var socket = WebSocketServer(limits: FoxgloveConnection.limits)
    /// The subscription of each topic.
    var subscriptions: [RobotMessages.Topic: UInt32] = [:]
    /// Answers, which are never left out, and messages.
    var answers: [[UInt8]] = []
    var messages: [[UInt8]] = []
    var count = 0
    var dropped: UInt64 = 0
    var nextRemark = 0.0
    /// When the head must be there, a remark is due, or the connection is given up.
    var deadline: Double?
  }

  private let output: FoxgloveOutput
  private let id: UInt64
  private let wake: @Sendable () -> Void
  private let state: Mutex<State>

  init(
    _ output: FoxgloveOutput, _ id: UInt64, at now: Double, wake: @escaping @Sendable () -> Void
  ) {
    (self.output, self.id, self.wake) = (output, id, wake)
    var state = State()
    state.deadline = now + HTTPRequestHead.patience
    self.state = Mutex(state)
  }

  var topics: Set<RobotMessages.Topic> { state.withLock { Set($0.subscriptions.keys) } }
  var dropped: UInt64 { state.withLock { $0.dropped } }

  let isOneWay = false
  /// What waits is superseded by what is newer.
  let maySleep = true
  var isReading: Bool {
    // Answers to somebody who does not read them are made later.
    state.withLock { $0.phase != .closed && $0.answers.count < 64 }
  }
  var isClosed: Bool { state.withLock { $0.phase == .closed } }
  var waitingCount: Int { state.withLock { $0.count } }
  var deadline: Double? { state.withLock { $0.deadline } }

  func advance(to now: Double) {
    state.withLock { state in
      guard let deadline = state.deadline, now >= deadline else { return }
      if state.phase == .open { return remark(&state, now) }
      guard state.phase == .head else { return }
      Self.end(&state, with: HTTPStatus.requestTimeout.answer("The request did not arrive."), now)
    }
  }

  func close(_ reason: Farewell, at now: Double) {
    state.withLock { state in
      guard state.phase != .closed else { return }
      // Close code: the server ends.
      let last = state.phase == .open ? WebSocketServer.frame(closing: 1_001) : []
      Self.end(&state, with: last, now)
    }
  }

  func receive(_ bytes: UnsafeRawBufferPointer, at now: Double) {
    let isChanged = state.withLock { state in
      var rest = Array(bytes)
      if state.phase == .head {
        state.head += rest
        rest = takeHead(&state, now)
      }
      guard state.phase == .open, !rest.isEmpty else { return false }
      let old = state.subscriptions
      for event in state.socket.receive(rest) { take(event, &state, now) }
      let answer = state.socket.takeOutput()
      if !answer.isEmpty { Self.add(answer, to: &state) }
      if state.phase == .closed { state.subscriptions = [:] }
      return state.subscriptions != old
    }
    if isChanged { output.subscriptionsChanged() }
  }

  func next() -> [UInt8]? {
    state.withLock { state in
      let frame: [UInt8]
      if !state.answers.isEmpty {
        frame = state.answers.removeFirst()
      } else if !state.messages.isEmpty {
        frame = state.messages.removeFirst()
      } else {
        return nil
      }
      state.count -= frame.count
      return frame
    }
  }

  func end() { output.remove(id, dropped: dropped) }

  /// Sends a message if the client has subscribed to its topic.
  func send(_ message: RobotMessage) {
    let isFirst = state.withLock { state in
      guard state.phase == .open, let subscription = state.subscriptions[message.topic] else {
        return false
      }
      let wasEmpty = state.count == 0
      let frame = WebSocketServer.frame(
        binary: FoxgloveMessage.data(message, subscription: subscription))
      while !state.messages.isEmpty, state.count + frame.count > Self.mostWaiting {
        state.count -= state.messages.removeFirst().count
        state.dropped += 1
        state.deadline = state.deadline ?? state.nextRemark
      }
      state.messages.append(frame)
      state.count += frame.count
      return wasEmpty
    }
    if isFirst { wake() }
  }

  // MARK: Handshake

  /// Answers the request once it is there. Returns the bytes behind it.
  private func takeHead(_ state: inout State, _ now: Double) -> [UInt8] {
    switch HTTPRequestHead.read(state.head) {
    case .incomplete: return []
    case .wrong(let status):
      Self.end(&state, with: status.answer("This is no request of HTTP/1.1."), now)
      return []
    case .complete(let head):
      switch answer(to: head) {
      case .failure(let refusal):
        Self.end(&state, with: refusal.answer, now)
        return []
      case .success(let answer):
        let length = HTTPRequestHead.length(of: state.head) ?? state.head.count
        let rest = Array(state.head[length...])
        (state.phase, state.head, state.deadline) = (.open, [], nil)
        Self.add(answer, to: &state)
        for greeting in output.greetings {
          Self.add(WebSocketServer.frame(text: greeting), to: &state)
        }
        return rest
      }
    }
  }

  private struct Refusal: Error { var answer: [UInt8] }

  /// Returns the answer that opens the WebSocket.
  private func answer(to head: HTTPRequestHead) -> Result<[UInt8], Refusal> {
    guard head.method == "GET", head.has("websocket", in: "upgrade"),
      head.has("upgrade", in: "connection"), head.fields["sec-websocket-version"] == "13",
      let accept = head.fields["sec-websocket-key"].flatMap(WebSocketServer.accept)
    else {
      let words = "This is the port for Foxglove: open a connection of the kind Foxglove WebSocket."
      return .failure(
        Refusal(
          answer: HTTPStatus.upgradeRequired.answer(
            words, fields: [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")])))
    }
    guard isAllowed(head.fields["origin"]) else {
      return .failure(
        Refusal(
          answer: HTTPStatus.forbidden.answer(
            "This web page may not connect: 'origins' of the output in serve.yaml names those that may."
          )))
    }
    guard
      let name = FoxgloveMessage.protocols.first(where: {
        head.has($0, in: "sec-websocket-protocol")
      })
    else {
      return .failure(
        Refusal(
          answer: HTTPStatus.badRequest.answer(
            "Sec-WebSocket-Protocol must be \(FoxgloveMessage.protocols.joined(separator: " or "))."
          )))
    }
    let lines = [
      "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Accept: \(accept)", "Sec-WebSocket-Protocol: \(name)", "", "",
    ]
    return .success(Array(lines.joined(separator: "\r\n").utf8))
  }

  /// Whether a page of this origin may connect. Browsers name it, and let every page open a WebSocket to any server. Programs have none,
  /// and Foxglove's own has `file://`.
  private func isAllowed(_ origin: String?) -> Bool {
    guard let origin = origin?.lowercased() else { return true }
    if origin == "file://" || FoxgloveSettings.pages.contains(origin) { return true }
    if output.settings.origins.contains(where: { $0.lowercased() == origin }) { return true }
    // A page that this machine serves.
    guard let scheme = ["http://", "https://"].first(where: { origin.hasPrefix($0) }) else {
      return false
    }
    return HTTPRequestHead(
      method: "GET", path: "/", fields: ["host": String(origin.dropFirst(scheme.count))]
    ).isForThisMachine
  }

  // MARK: Conversation

  private func take(_ event: WebSocketEvent, _ state: inout State, _ now: Double) {
    switch event {
    case .text(let text): take(FoxgloveRequest(text), &state)
    case .binary:
      say(.error, "This server takes no messages.", &state)
    case .closed, .failed: Self.end(&state, with: state.socket.takeOutput(), now)
    case .opened, .refused, .pong: break
    }
  }

  /// Tells the client that messages were left out.
  private func remark(_ state: inout State, _ now: Double) {
    (state.deadline, state.nextRemark) = (nil, now + Self.remarkInterval)
    say(.warning, "\(state.dropped) messages were left out: the connection is too slow", &state)
  }

  private func take(_ request: FoxgloveRequest?, _ state: inout State) {
    switch request {
    case .subscribe(let subscriptions):
      for subscription in subscriptions {
        guard let topic = FoxgloveMessage.topic(of: subscription.channelId),
          output.topics.contains(topic)
        else {
          say(.error, "Unknown channel: \(subscription.channelId)", &state)
          continue
        }
        guard state.subscriptions[topic] == nil,
          !state.subscriptions.values.contains(subscription.id)
        else {
          say(.warning, "Already subscribed: channel \(subscription.channelId)", &state)
          continue
        }
        state.subscriptions[topic] = subscription.id
      }
    case .unsubscribe(let identifiers):
      let gone = Set(identifiers)
      state.subscriptions = state.subscriptions.filter { !gone.contains($0.value) }
    case .foreign: say(.error, "This server only has channels to subscribe to.", &state)
    case nil: say(.error, "This is no message of the protocol.", &state)
    }
  }

  private func say(
    _ level: FoxgloveMessage.FoxgloveStatusLevel, _ message: String, _ state: inout State
  ) {
    // A client that asks for much that there is not is told some of it.
    guard state.answers.count < 64 else { return }
    Self.add(WebSocketServer.frame(text: FoxgloveMessage.status(level, message)), to: &state)
  }

  private static func add(_ answer: [UInt8], to state: inout State) {
    state.answers.append(answer)
    state.count += answer.count
  }

  private static func end(_ state: inout State, with last: [UInt8], _ now: Double) {
    (state.phase, state.head, state.messages, state.subscriptions) = (.closed, [], [], [:])
    state.deadline = now + HTTPRequestHead.patience
    state.count = state.answers.reduce(0) { $0 + $1.count }
    if !last.isEmpty { add(last, to: &state) }
  }
}
