// `lodestone serve --try`: prints the messages that an output would send.

import Dispatch
import LinuxIO
package import LocationDaemon
import LocationServices
import Lodestone
import SensorTypes
import TerminalUI

/// Prints what a peer of a protocol would get, until time is up or a signal ends it. Nothing is sent anywhere.
package struct PreviewRun {
  /// The time between two looks at what the peer has got, in seconds.
  private static let look = 0.02

  private let name: String
  private let settings: ServeConfiguration
  private let file: String
  private let board: String?
  private let seconds: Double?

  /// - Parameters:
  ///   - name: The protocol, as in serve.yaml.
  ///   - settings: The configuration of the daemon, whose first entry of the protocol is taken.
  ///   - file: The path of the configuration, which need not be there.
  ///   - board: The board that was named, or `nil`.
  ///   - seconds: After how many seconds it ends, or `nil`.
  package init(
    _ name: String, _ settings: ServeConfiguration, file: String, board: String?, seconds: Double?
  ) {
    (self.name, self.settings, self.file) = (name, settings, file)
    (self.board, self.seconds) = (board, seconds)
  }

  package func run() throws {
    let (output, note) = try Self.choose(
      name, of: settings, file: file, hasTerminal: Terminal.isControlling)
    Terminal.warn("lodestone: \(note)")
    // A daemon that runs has its own board.
    let isAlone = DaemonLocator.socket() == nil
    let services = try BoardServices(board: board ?? (isAlone ? settings.board : nil))
    if output.positions != .none, let problem = services.positionProblem {
      Terminal.warn("lodestone: no exact position: \(problem)")
    }
    let preview: OutputPreview
    do throws(LocalSocketError) {
      preview = try OutputPreview(output, isSimulated: services.isSimulated) {
        LinuxBusProvider().isWallTimeSet
      }
    } catch {
      throw CommandError("\(error)", kind: .io)
    }
    let before = Self.samples(services)
    let service = OutputService([preview.output]) { services.port }
    do { try service.start() } catch { throw CommandError("\(error)", kind: .io) }
    let signal = show(preview, of: services)
    let isSilent = Self.samples(services) == before
    service.stop()
    if isSilent, signal == nil, Terminal.output.failure == nil {
      throw CommandError("no chip of this board delivered anything: lodestone doctor says why")
    }
  }

  /// Prints lines until time is up, a signal comes, or nobody reads them. Returns the signal.
  private func show(_ preview: OutputPreview, of services: BoardServices) -> Int32? {
    let stop = StopFlag()
    let round = DispatchSemaphore(value: 0)
    let interrupts = Interrupts { signal in
      stop.set(signal)
      round.signal()
    }
    defer { withExtendedLifetime(interrupts) {} }
    let clocks = RuntimeClocks.system
    let start = clocks.now()
    var loss: String?
    while stop.signal == nil {
      let now = clocks.now()
      if services.loss != loss {
        loss = services.loss
        Terminal.warn("lodestone: \(loss ?? "the daemon is there again")")
      }
      for line in preview.lines(at: now) {
        guard Terminal.say(line) else { return stop.signal }
      }
      if let seconds, now.seconds(since: start) >= seconds { break }
      _ = round.wait(timeout: .now() + Self.look)
    }
    return stop.signal
  }

  private static func samples(_ services: BoardServices) -> [Int: UInt64] {
    Dictionary(services.sensors.map { ($0.index, $0.counters.samples) }) { $1 }
  }

  /// Chooses the settings of a protocol, and says which they are.
  ///
  /// - Parameter hasTerminal: Whether a person at a terminal has started the command.
  static func choose(
    _ name: String, of settings: ServeConfiguration, file: String, hasTerminal: Bool
  ) throws -> (output: OutputSettings, note: String) {
    let entries = settings.outputs.filter { $0.name == name }
    if let output = entries.first {
      let which = entries.count == 1 ? "the entry" : "the first of \(entries.count) entries"
      let place = "\(file), line \(output.line)"
      return (output, "\(name): \(which) in \(place); positions: \(output.positions.rawValue)")
    }
    let limit: PositionLimit = hasTerminal ? .exact : .none
    guard OutputSettings.names.contains(name),
      let output = try OutputSettings.standard(name, positions: limit)
    else {
      let names = OutputSettings.names.joined(separator: ", ")
      throw CommandError("'\(name)' is no protocol: it is one of \(names)", kind: .usage)
    }
    var note = "\(name): default settings, because \(file) has no entry for it"
    note += "; positions: \(output.positions.rawValue)"
    if output.positions == limit {
      note += hasTerminal ? ", because you are at a terminal" : ", because there is no terminal"
    }
    return (output, note)
  }
}
