// The board as a device of an NMEA 2000 bus.

package import LinuxIO
package import LocationServices
import Lodestone
package import OutputProtocols
package import SensorTypes
import Synchronization
import Threads

/// Sends what the board publishes as messages of NMEA 2000.
package final class NMEA2000Output: ProtocolOutput {
  private struct State: Sendable {
    var encoder: NMEA2000Encoder
    /// `nil` while the node has no address: then everything is due at once.
    var schedule: NMEA2000Schedule?
  }

  package let name = "nmea2000"
  package let positions: PositionLimit
  private let settings: NMEA2000Settings
  private let link: NMEA2000Link
  private let poller: Poller
  private let clock: @Sendable (Timestamp) -> ClockReading?
  private let state: Mutex<State>
  package var place: String { link.place }

  /// Makes the output of an interface. `start(now:)` begins its thread.
  ///
  /// - Parameter clock: What the clock of the machine shows at a moment.
  package init(
    _ link: NMEA2000Link, _ settings: NMEA2000Settings, positions: PositionLimit,
    clock: @escaping @Sendable (Timestamp) -> ClockReading?
  ) throws(LocalSocketError) {
    (self.link, self.settings, self.positions, self.clock) = (link, settings, positions, clock)
    poller = try Poller()
    state = Mutex(State(encoder: NMEA2000Encoder(options: settings.options)))
  }

  deinit { poller.wake() }

  /// Makes the node of this machine at an interface.
  static func makeLink(_ device: OutputDevice?, _ settings: NMEA2000Settings) -> NMEA2000Link {
    let interface = device?.name ?? "can0"
    return makeLink(interface, settings) { () throws(OutputLineError) in
      try CANSocket(interface: interface)
    }
  }

  /// Makes the node of this machine at a bus.
  static func makeLink(
    _ place: String, _ settings: NMEA2000Settings, open: @escaping NMEA2000Link.Open
  ) -> NMEA2000Link {
    let node = settings.makeNode(
      machine: MachineNumber.own, software: LodestoneRuntime.version,
      delay: Double.random(in: NMEA2000Node.delays))
    return NMEA2000Link(place: place, node, open: open)
  }

  /// Begins the thread that serves the bus. It ends with the output.
  ///
  /// - Throws: An error if the process or the machine can have no more threads.
  package func start(now: @escaping @Sendable () -> Timestamp) throws(LocalSocketError) {
    let poller = self.poller
    let failure = SystemThread.start("nmea2000") { [weak link] in
      var generation: UInt64?
      while let next = link?.service(at: now()) {
        // A descriptor that was closed is not waited for any more.
        if let watched = link?.watched, watched.generation != generation {
          generation = watched.generation
          try? poller.add(watched.descriptor, token: watched.generation, .readable)
        }
        _ = poller.wait(until: next)
      }
    }
    guard failure == 0 else { throw LocalSocketError(place, errno: failure) }
  }

  package var demand: Demand { link.isUp ? settings.demand : Demand() }
  package var summary: OutputSummary { link.summary }
  package func begin(_ wake: @escaping @Sendable () -> Void) { link.begin(wake) }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {}

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? {
    let news = link.takeNews()
    guard news.isReady else {
      state.withLock { $0.schedule = nil }
      return nil
    }
    let (messages, next) = state.withLock { state in
      var schedule = state.schedule ?? NMEA2000Schedule(settings.entries)
      var due = schedule.due(at: now)
      due += settings.entries.filter { entry in
        news.requested.contains(entry.pgn) && !due.contains(entry)
      }
      let time = clock(now)
      let messages = due.compactMap {
        state.encoder.message($0, of: published, clock: time, at: now)
      }
      state.schedule = schedule
      return (messages, schedule.deadline)
    }
    if !messages.isEmpty {
      link.send(messages, hasFault: published.hasFailedSensor)
      poller.wake()
    }
    return next
  }
}

extension PublishedState {
  fileprivate var hasFailedSensor: Bool {
    sensors.values.contains { if case .failed = $0.state { true } else { false } }
  }
}
