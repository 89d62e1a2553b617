// Deltas to a Signal K server over a WebSocket.

package import FoundationEssentials
import LinuxIO
package import LocationServices
package import OutputProtocols
package import SensorBus
package import SensorTypes
import Synchronization

/// Sends deltas to a server. A thread of its own talks with the server; this is the side of the thread of the outputs.
package final class SignalKClientOutput: ProtocolOutput {
  /// Returns the server, or `nil` while none is known. Called on the thread that talks with it.
  ///
  /// serve.yaml names the server. One that is found by mDNS (`_signalk-http._tcp`) is to come from here as well.
  package typealias SignalKFinder = @Sendable () -> SignalKServerAddress?

  private struct State: Sendable {
    var provider: SignalKProvider
    var stream: UInt64?
    var due: Timestamp?
    var run: (any BusRun)?
  }

  package let name = "signalk"
  package let place: String
  package let positions: PositionLimit
  private let settings: SignalKSettings
  private let clock: @Sendable (Timestamp) -> ClockReading
  private let link = SignalKLink()
  private let makeWork: @Sendable (SignalKLink) -> any BusWork
  private let runner: any BusRunner
  private let state: Mutex<State>

  /// Makes the output to a server; nothing is connected before `begin`.
  ///
  /// - Parameters:
  ///   - place: The server, for messages.
  ///   - find: Returns the server.
  ///   - folder: The state folder, in which the token is kept.
  ///   - clock: What the clock of the machine shows at a moment.
  package init(
    place: String, _ settings: SignalKSettings, positions: PositionLimit,
    find: @escaping SignalKFinder, folder: URL,
    provider: any BusProvider = LinuxBusProvider(), runner: any BusRunner = ThreadRunner(),
    clock: @escaping @Sendable (Timestamp) -> ClockReading
  ) {
    (self.place, self.settings, self.positions) = (place, settings, positions)
    (self.clock, self.runner) = (clock, runner)
    makeWork = { link in
      SignalKClientWork(
        link, settings, find: find, folder: folder, provider: provider, clock: clock)
    }
    state = Mutex(State(provider: SignalKProvider(settings.options, rate: settings.rate)))
  }

  deinit { end() }

  package var demand: Demand {
    guard link.condition.stream != nil else { return Demand() }
    return state.withLock { $0.provider.demand }
  }

  package var summary: OutputSummary {
    var summary = OutputSummary()
    (summary.sent, summary.dropped) = (link.sent, link.dropped)
    let condition = link.condition
    (summary.problem, summary.isConnected) = (condition.problem, condition.stream != nil)
    return summary
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) {
    link.begin(wake)
    let (link, makeWork) = (link, makeWork)
    let run = runner.startBackground(name: "signalk") { makeWork(link) }
    state.withLock { $0.run = run }
  }

  package func end() {
    let run = state.withLock { state in
      defer { state.run = nil }
      return state.run
    }
    run?.stop()
  }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {
    guard observation.endsSomething else { return }
    state.withLock { $0.due = nil }
  }

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? {
    guard let stream = link.condition.stream else { return nil }
    let (messages, due, run) = state.withLock { state -> ([String], Timestamp, (any BusRun)?) in
      if state.stream != stream {
        // Nobody knows what the server has got of the stream before.
        state.provider.repeatAll()
        (state.stream, state.due) = (stream, nil)
      }
      if let due = state.due, now < due { return ([], due, nil) }
      let due = now.advanced(bySeconds: min(state.provider.interval, SignalKOutput.look))
      state.due = due
      guard link.hasRoom else {
        link.passOver()
        return ([], due, nil)
      }
      let snapshot = SignalKSnapshot(
        published, at: now, clock: clock(now), measuresOutsideAir: settings.measuresOutsideAir)
      return (state.provider.messages(snapshot), due, state.run)
    }
    guard !messages.isEmpty else { return due }
    link.add(messages, to: stream)
    run?.wake()
    return due
  }
}
