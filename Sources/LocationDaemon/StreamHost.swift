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
    /// There from the moment on at which nothing but a recording is written.
    var recording: StreamRecording?
    /// The bytes of a request that is not complete.
    var input: [UInt8] = []
    /// Whether requests are being carried out: until then no more are read.
    var isBusy = false
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
        ClockReading(
          seconds: clocks.wallTime(of: time), isSet: LinuxBusProvider().isWallTimeSet)
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
      !state.isBusy && !state.end.isClosed && state.end.waitingCount < Self.mostWaiting
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
  /// What the reader has asked for, and the number of measurements that it did not take.
  package var summary: (choice: StreamChoice, waiting: Int, dropped: UInt64) {
    state.withLock { ($0.end.choice, $0.end.waitingCount, $0.end.dropped) }
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
      guard case .choice = try StreamRequest.parse(text) else {
        return "this is no choice of lines"
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
    state.withLock { $0.recording }?.readerHasGone()
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
      state.isBusy = !requests.isEmpty
      return requests
    }
    guard !requests.isEmpty else { return }
    work.async { [self] in carryOut(requests) }
  }

  private func carryOut(_ requests: [[UInt8]]) {
    var (hasChosen, mistakes) = (false, 0)
    for request in requests where mistakes <= Self.mostMistakes {
      let now = clocks.now().seconds
      do throws(StreamRequestError) {
        switch try StreamRequest.parse(request) {
        case .choice(let choice):
          state.withLock { $0.end.choose(choice, at: now) }
          hasChosen = true
        case .record(true): record()
        case .record(false): state.withLock { $0.recording }?.finish()
        }
      } catch {
        mistakes += 1
        state.withLock { state in
          state.end.fail(error.message, at: now)
          guard mistakes > Self.mostMistakes else { return }
          state.end.close("more than \(Self.mostMistakes) requests at once were wrong", at: now)
        }
      }
    }
    wake()
    if hasChosen { observe() }
    state.withLock { $0.isBusy = false }
    wake()
  }

  /// Begins a recording. Nothing else is written from then on.
  private func record() {
    guard !state.withLock({ $0.isGone || $0.recording != nil }) else { return }
    let now = clocks.now().seconds
    guard making.mayRecord else {
      let reason = "this user may not record the board: 'agents' in serve.yaml does not name it"
      return state.withLock { $0.end.close(reason, at: now) }
    }
    let services = state.withLock { $0.services } ?? making.make()
    state.withLock { $0.services = services }
    let recording = StreamRecording(wake: wake)
    do {
      try recording.begin(services.beginRecording)
      state.withLock { state in
        state.end.beginRecording(at: now)
        state.recording = recording
      }
    } catch {
      recording.abandon()
      state.withLock { $0.end.close("\(error)", at: now) }
    }
  }

  private func observe() {
    let (choice, known, isGone) = state.withLock { ($0.end.choice, $0.services, $0.isGone) }
    guard !isGone else { return }
    let services = known ?? making.make()
    let client = state.withLock { $0.client } ?? services.connect(StreamClient(self))
    state.withLock { ($0.services, $0.client) = (services, client) }
    if choice.tellsPlace, mayAsk {
      services.send(ServiceRequest(client, .requestAuthorization(.whenInUse)))
    }
    let request = BoardRequest(
      LineKind.demand(for: choice.kinds, rate: choice.rate),
      hasReadings: choice.kinds.contains(.sample), positions: positions)
    services.send(ServiceRequest(client, .observe(choice.kinds.isEmpty ? nil : request)))
    // Where nothing is measured for the reader, the board may not be open yet.
    guard !choice.kinds.isDisjoint(with: [.sensor, .error]), let report = board(of: services),
      known != nil
    else { return }
    // States are told when they change, and when a program comes; this one has come before.
    for status in report.sensors where status.state != .starting { take(.sensor(status)) }
  }

  /// Asks for the board, which may take seconds, unless too many readers do so already.
  private func board(of services: ProgramServices) -> BoardReport? {
    defer { Self.busy.subtract(1, ordering: .relaxed) }
    guard Self.busy.add(1, ordering: .relaxed).newValue <= Self.mostBusy,
      case .board(let report)? = services.answer(.board)
    else { return nil }
    return report
  }

  // MARK: Observations

  fileprivate func take(_ observation: Observation) {
    let now = clocks.now().seconds
    change { $0.take(observation, at: now) }
  }

  fileprivate func take(_ reading: SensorReading) { change { $0.take(reading) } }

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
    default: break
    }
    return 0
  }

  func applicationChanged(isSuspended: Bool) {}
}
