// A reader of the stream of JSON lines, and the services that it gets them from.

import Dispatch
import LinuxIO
import LocationServices
package import Lodestone
import OutputProtocols
import SensorTypes
package import ServiceProtocol
import Synchronization

/// Serves one reader of the stream.
///
/// The reader is a program with an authorization like every other one: it gets the services of its executable, user and unit.
package final class StreamHost: ServedConnection {
  private struct State {
    var end: StreamEnd
    var services: ProgramServices?
    var client: ClientID?
    var isGone = false
  }

  // The closures stand in structs: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Making: Sendable {
    var make: @Sendable () -> ProgramServices
    var leave: @Sendable (ProgramServices?) -> Void
  }

  private let state: Mutex<State>
  private let making: Making
  private let clocks: RuntimeClocks
  private let wake: @Sendable () -> Void
  private let work = DispatchQueue(label: "lodestone.stream")

  /// Makes the host of a reader that has connected.
  ///
  /// - Parameters:
  ///   - board: The name of the board.
  ///   - now: The monotonic clock in seconds.
  ///   - make: Makes the reader's services. Called on a queue of its own, with the first request.
  ///   - leave: Called once the reader has gone.
  package init(
    board: String, at now: Double, clocks: RuntimeClocks,
    wake: @escaping @Sendable () -> Void, make: @escaping @Sendable () -> ProgramServices,
    leave: @escaping @Sendable (ProgramServices?) -> Void
  ) {
    state = Mutex(
      State(
        end: StreamEnd(board: board, at: now) { time in
          ClockReading(
            seconds: clocks.wallTime(of: time), isSet: LinuxBusProvider().isWallTimeSet)
        }))
    making = Making(make: make, leave: leave)
    (self.clocks, self.wake) = (clocks, wake)
  }

  /// Returns the line for a reader that is refused.
  package static func refusal(_ reason: Farewell) -> [UInt8] {
    var end = StreamEnd(board: "", at: 0) { _ in nil }
    end.close(reason.text(), at: 0)
    return end.next() ?? []
  }

  package let isReading = true
  package var isClosed: Bool { state.withLock { $0.end.isClosed } }
  package var waitingCount: Int { state.withLock { $0.end.waitingCount } }
  package var deadline: Double? { state.withLock { $0.end.deadline } }
  /// What the reader has asked for, and the number of lines that it did not take.
  package var summary: (services: ProgramServices?, choice: StreamChoice, dropped: UInt64) {
    state.withLock { ($0.services, $0.end.choice, $0.end.dropped) }
  }

  package func advance(to now: Double) { state.withLock { $0.end.advance(to: now) } }

  package func close(_ reason: Farewell, at now: Double) {
    state.withLock { $0.end.close(reason.text(), at: now) }
  }

  package func receive(_ bytes: UnsafeRawBufferPointer, at now: Double) {
    let bytes = Array(bytes)
    guard state.withLock({ $0.end.receive(bytes, at: now) }) else { return }
    work.async { [self] in observe() }
  }

  package func next() -> [UInt8]? { state.withLock { $0.end.next() } }

  package func end() {
    work.async { [self] in
      let (services, client) = state.withLock { state in
        state.isGone = true
        defer { (state.services, state.client) = (nil, nil) }
        return (state.services, state.client)
      }
      if let client { services?.send(ServiceRequest(client, .release)) }
      making.leave(services)
    }
  }

  private func observe() {
    let (choice, known, isGone) = state.withLock { ($0.end.choice, $0.services, $0.isGone) }
    guard !isGone else { return }
    let services = known ?? making.make()
    let client = state.withLock { $0.client } ?? services.connect(StreamClient(self))
    state.withLock { ($0.services, $0.client) = (services, client) }
    if known == nil {
      services.send(ServiceRequest(client, .requestAuthorization(.whenInUse)))
    }
    let demand = choice.kinds.isEmpty ? nil : LineKind.demand(for: choice.kinds, rate: choice.rate)
    services.send(ServiceRequest(client, .observe(demand)))
  }

  fileprivate func take(_ observation: Observation) {
    let now = clocks.now().seconds
    let hasNews = state.withLock { state in
      let had = state.end.hasNews
      state.end.take(observation, at: now)
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
    if case .observation(let observation) = content { host.take(observation) }
    return 0
  }

  func applicationChanged(isSuspended: Bool) {}
}
