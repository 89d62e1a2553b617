// A reader of the stream of JSON lines, and the services that it gets them from.

import Dispatch
import LinuxIO
package import LocationServices
package import Lodestone
import OutputProtocols
import SensorTypes
package import ServiceProtocol
import Synchronization

/// Serves one reader of the stream.
///
/// The reader is a program with an authorization like every other one: it gets the services of its executable, user and unit.
package final class StreamHost: ServedConnection {
  /// The largest request in bytes.
  static let longestRequest = 4_096
  /// The number of waiting bytes beyond which no more requests are read.
  private static let mostWaiting = 65_536
  /// The number of requests of a batch that may be wrong.
  private static let mostMistakes = 16
  /// The number of readers that wait for the board, and how many may: each takes a thread.
  private static let busy = Atomic<Int>(0)
  private static let mostBusy = 32

  private struct State: Sendable {
    var end: StreamEnd
    var services: ProgramServices?
    var client: ClientID?
    /// The recording, once it has begun. Nothing else is written from then on.
    var recording: StreamRecording?
    /// The number of wrong requests since the last right one.
    var mistakes = 0
    /// The bytes of a request that is not complete.
    var input: [UInt8] = []
    /// The number of batches of requests that are not carried out: until then no more are read.
    var batches = 0
    var isGone = false
  }

  // The closures stand in structs: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Making: Sendable {
    var make: @Sendable () -> ProgramServices
    var leave: @Sendable (ProgramServices?) -> Void
    var mayRecord: Bool
  }

  private let state: Mutex<State>
  /// Lines are written on the thread of the server, and not while the board's observations wait for that.
  private let lines: Mutex<StreamLines>
  private let making: Making
  private let clocks: RuntimeClocks
  private let positions: PositionLimit
  /// Whether somebody may be asked for the reader's authorization.
  private let mayAsk: Bool
  private let wake: @Sendable () -> Void
  private let work = DispatchQueue(label: "lodestone.stream")

  /// Makes the host of a reader that has connected.
  ///
  /// - Parameters:
  ///   - board: The name of the board.
  ///   - now: The monotonic clock in seconds.
  ///   - positions: How much of the position the reader gets at most.
  ///   - mayAsk: Whether the machine's owner may be asked about the reader.
  ///   - mayRecord: Whether the reader may record the board.
  ///   - make: Makes the reader's services. Called on another queue, with the first request.
  ///   - leave: Called once the reader has gone.
  package init(
    board: String, at now: Double, clocks: RuntimeClocks, positions: PositionLimit = .exact,
    mayAsk: Bool = true, mayRecord: Bool = false, wake: @escaping @Sendable () -> Void,
    make: @escaping @Sendable () -> ProgramServices,
    leave: @escaping @Sendable (ProgramServices?) -> Void
  ) {
    state = Mutex(State(end: StreamEnd(at: now)))
    lines = Mutex(
      StreamLines(board: board) { time in
        clocks.reading(of: time) { LinuxBusProvider().isWallTimeSet }
      })
    making = Making(make: make, leave: leave, mayRecord: mayRecord)
    (self.clocks, self.positions, self.wake) = (clocks, positions, wake)
    self.mayAsk = mayAsk && positions != .none
  }

  /// Returns the line for a reader that is refused.
  package static func refusal(_ reason: Farewell) -> [UInt8] {
    var lines = StreamLines(board: "") { _ in nil }
    return lines.bytes([.failure(reason.text(), at: RuntimeClocks.system.now().seconds)])
  }

  package var isReading: Bool {
    state.withLock { state in
      state.batches == 0 && !state.end.isClosed && state.end.waitingCount < Self.mostWaiting
    }
  }
  package var isClosed: Bool {
    state.withLock { $0.end.isClosed || $0.recording?.isDone == true }
  }
  package var waitingCount: Int {
    state.withLock { $0.recording?.waitingCount ?? $0.end.waitingCount }
  }
  package var deadline: Double? { state.withLock { $0.end.deadline } }
  package let isOneWay = true
  package var maySleep: Bool { state.withLock { $0.recording == nil } }
  /// What the reader has asked for, and the number of measurements that it did not take.
  package var summary: StreamSummary {
    state.withLock { state in
      let kinds = state.end.choice.kinds.map(\.rawValue).sorted()
      return StreamSummary(
        kinds: state.recording == nil ? kinds : ["recording"], rate: state.end.choice.rate,
        waiting: state.recording?.waitingCount ?? state.end.waitingCount,
        dropped: state.end.dropped)
    }
  }

  package func advance(to now: Double) { state.withLock { $0.end.advance(to: now) } }

  package func close(_ reason: Farewell, at now: Double) {
    state.withLock { $0.end.close(reason.text(), at: now) }
  }

  /// Ends the stream because the daemon ends.
  package func stop(at now: Double) {
    close(.ending, at: now)
    wake()
  }

  /// Returns what is wrong with a request, in one line, or `nil`.
  package static func problem(ofRequest text: [UInt8]) -> String? {
    do throws(StreamRequestError) {
      guard text.count <= longestRequest else {
        return "a request has at most \(longestRequest) bytes"
      }
      guard case .choice = try StreamRequest.parse(text) else {
        return "a query names kinds of line"
      }
      return nil
    } catch {
      return error.message
    }
  }

  package func next() -> [UInt8]? {
    let (entries, recording) = state.withLock { ($0.end.next(), $0.recording) }
    guard entries.isEmpty else { return lines.withLock { $0.bytes(entries) } }
    return recording?.next()
  }

  package func end() {
    state.withLock { $0.recording }?.close()
    work.async { [self] in
      let (services, client, recording) = state.withLock { state in
        state.isGone = true
        defer { (state.services, state.client) = (nil, nil) }
        return (state.services, state.client, state.recording)
      }
      recording?.abandon()
      if let client { services?.send(ServiceRequest(client, .release)) }
      making.leave(services)
    }
  }

  // MARK: Requests

  package func receive(_ bytes: UnsafeRawBufferPointer, at now: Double) {
    let requests = state.withLock { state -> [[UInt8]] in
      var requests: [[UInt8]] = []
      for byte in bytes {
        if byte == 0x0A {
          requests.append(state.input)
          state.input.removeAll(keepingCapacity: true)
        } else {
          state.input.append(byte)
        }
        guard state.input.count <= Self.longestRequest else {
          state.end.close("a request has more than \(Self.longestRequest) bytes", at: now)
          return []
        }
      }
      let blanks: Set<UInt8> = [0x20, 0x0D]
      requests.removeAll { $0.allSatisfy(blanks.contains) }
      if !requests.isEmpty { state.batches += 1 }
      return requests
    }
    guard !requests.isEmpty else { return }
    work.async { [self] in carryOut(requests) }
  }

  private func carryOut(_ requests: [[UInt8]]) {
    var hasChosen = false
    for request in requests where !isClosed {
      let now = clocks.now().seconds
      do throws(StreamRequestError) {
        switch try StreamRequest.parse(request) {
        case .choice(let choice):
          state.withLock { $0.end.choose(choice, at: now) }
          hasChosen = true
        case .record(true): record()
        case .record(false):
          guard let recording = state.withLock({ $0.recording }) else {
            throw StreamRequestError(message: "there is no recording to end")
          }
          recording.finish()
        }
        state.withLock { $0.mistakes = 0 }
      } catch {
        state.withLock { state in
          state.mistakes += 1
          state.end.fail(error.message, at: now)
          guard state.mistakes > Self.mostMistakes else { return }
          state.end.close("more than \(Self.mostMistakes) requests in a row were wrong", at: now)
        }
      }
    }
    wake()
    if hasChosen { observe() }
    state.withLock { $0.batches -= 1 }
    wake()
  }

  /// Begins a recording. Nothing else is written from then on.
  private func record() {
    guard !state.withLock({ $0.isGone || $0.recording != nil }) else { return }
    let now = clocks.now().seconds
    func fail(_ reason: String) { state.withLock { $0.end.fail(reason, at: now) } }
    guard making.mayRecord else {
      return fail(
        "only a program of this machine whose user 'agents' in serve.yaml names may record the board"
      )
    }
    let (services, client) = connect()
    let recording = StreamRecording(wake: wake)
    do {
      try recording.begin(services.beginRecording)
    } catch {
      return fail("\(error)")
    }
    let isBegun = state.withLock { state in
      guard !state.isGone, !state.end.isClosed else { return false }
      state.end.beginRecording(at: now)
      state.recording = recording
      return true
    }
    guard isBegun else { return recording.abandon() }
    // What nobody asks for would be recorded asleep.
    services.send(ServiceRequest(client, .observe(BoardRequest(.everything))))
    checkRecording()
  }

  /// Ends a recording if the program may not know any more where the board is.
  private func checkRecording() {
    let (services, recording) = state.withLock { ($0.services, $0.recording) }
    guard let services, let recording else { return }
    guard !services.mayRecord else { return }
    recording.finish(refusal: "this program may no longer know where the board is")
  }

  /// Returns the services and the client of the reader, which are made with its first request.
  private func connect() -> (ProgramServices, ClientID) {
    let known = state.withLock { ($0.services, $0.client) }
    let services = known.0 ?? making.make()
    let client = known.1 ?? services.connect(StreamClient(self))
    state.withLock { ($0.services, $0.client) = (services, client) }
    return (services, client)
  }

  private func observe() {
    let (choice, isGone) = state.withLock { ($0.end.choice, $0.isGone) }
    guard !isGone else { return }
    let (services, client) = connect()
    if choice.tellsPlace, mayAsk {
      services.send(ServiceRequest(client, .requestAuthorization(.whenInUse)))
    }
    let request = BoardRequest(
      LineKind.demand(for: choice.kinds, rate: choice.rate),
      hasReadings: choice.kinds.contains(.sample), positions: positions)
    services.send(ServiceRequest(client, .observe(choice.kinds.isEmpty ? nil : request)))
    // Where nothing is measured for the reader, the board may not be open yet, and no chip has a state.
    if !choice.kinds.isDisjoint(with: [.sensor, .error]) { openBoard(of: services) }
  }

  /// Opens the board, which may take seconds, unless too many readers do so already.
  private func openBoard(of services: ProgramServices) {
    defer { Self.busy.subtract(1, ordering: .relaxed) }
    guard Self.busy.add(1, ordering: .relaxed).newValue <= Self.mostBusy else { return }
    _ = services.answer(.board)
  }

  // MARK: Observations

  fileprivate func take(_ observation: Observation) {
    let now = clocks.now().seconds
    change { $0.take(observation, at: now) }
  }

  fileprivate func take(_ reading: SensorReading) { change { $0.take(reading) } }

  /// Looks at what the authorization of the reader means for its recording. It cannot do so at once: the services are locked.
  fileprivate func authorizationDidChange() {
    guard state.withLock({ $0.recording != nil }) else { return }
    work.async { [self] in checkRecording() }
  }

  private func change(_ body: (inout StreamEnd) -> Void) {
    let hasNews = state.withLock { state in
      let had = state.end.hasNews
      body(&state.end)
      return !had && state.end.hasNews || state.end.isClosed
    }
    if hasNews { wake() }
  }
}

/// The services' client of a reader.
private final class StreamClient: ServiceClient {
  private let host: StreamHost

  init(_ host: StreamHost) { self.host = host }

  func post(_ content: EventContent) -> Int {
    switch content {
    case .observation(let observation): host.take(observation)
    case .reading(let reading): host.take(reading)
    case .authorization: host.authorizationDidChange()
    default: break
    }
    return 0
  }

  func applicationChanged(isSuspended: Bool) {}
}

/// A reader of the stream, for a status.
package struct StreamSummary: Sendable {
  package var kinds: [String]
  package var rate: Double?
  /// The number of bytes that wait to be written, about.
  package var waiting: Int
  /// The number of measurements that the reader did not take.
  package var dropped: UInt64
}
