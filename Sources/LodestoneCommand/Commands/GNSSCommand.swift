import ArgumentParser
import BoardFile
import Lodestone
import SensorDrivers
import SensorHub
import SensorTypes
import TerminalUI

/// `lodestone gnss`: the receiver itself, and the satellites that it hears.
struct GNSSCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gnss",
    abstract: "The receiver: who it is, how it is set, its fix, and the satellites in view.",
    discussion: """
      A table and a sky plot on a terminal (north up, east on the right; capitals are used), a page for each round of \
      satellites in a pipe; one JSON object a line with --format json. Elevation and azimuth in degrees, C/N0 in dB-Hz; \
      what the receiver does not say is a dash. Satellites have RINEX names: G GPS, R GLONASS, E Galileo, C BeiDou, \
      J QZSS, I NavIC, S SBAS less 100. Needs authorization for the board's exact position (exit code 77 without). Exit \
      code 1 when no receiver delivered anything.
      """)

  @OptionGroup var board: BoardOptions

  @OptionGroup var duration: DurationOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws {
    let session = try Session(board: board.name)
    guard !session.receivers.isEmpty else {
      throw CommandError("\(session.board.name): there is no receiver on this board")
    }
    try session.demandExactPosition("gnss shows the receiver's fix and its satellites")
    let watch = ObservationRun(
      session: session, seconds: duration.seconds,
      demand: Demand(location: true, satellites: true), isNeeded: Session.isReceiver,
      needed: "receiver")
    switch format {
    case .json: try watch.run(printer: GNSSJSONPrinter(session))
    case .text where Terminal.isInteractive: try watch.run(printer: GNSSLivePrinter(session))
    case .text: try watch.run(printer: GNSSPagePrinter(session))
    }
  }
}

extension Session {
  fileprivate static func isReceiver(_ status: SensorStatus) -> Bool {
    ChipCatalog.chip(named: status.chip)?.kind == .receiver
  }

  /// How the board's receivers are doing, in the order of its file.
  fileprivate var receivers: [SensorStatus] { hub.status.filter(Self.isReceiver) }
}

/// The page drawn in place.
private struct GNSSLivePrinter: ObservationPrinter {
  let patience = LivePage.interval
  private let session: Session
  private var page: GNSSPage
  private var screen = LivePage()

  init(_ session: Session) {
    self.session = session
    page = GNSSPage(boardName: session.board.name)
  }

  mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    for observation in batch { page.take(observation) }
    guard screen.isDue() else { return true }
    page.receivers = session.receivers
    return screen.draw(page.lines(at: session.now(), size: Terminal.size))
  }

  mutating func finish() { screen.finish() }
}

/// A page for each round of satellites, for a log or a pipe; where none come, now and then.
private struct GNSSPagePrinter: ObservationPrinter {
  let patience = 1.0
  /// Seconds after which a page comes without a round: receivers are asked for one every five.
  private static let longestPause = 10.0
  /// As terminals are, whatever reads it.
  private static let size = (columns: 80, rows: 24)

  private let session: Session
  private var page: GNSSPage
  private var nextPage = ContinuousClock.now.advanced(by: .seconds(longestPause))
  private var hasPrinted = false

  init(_ session: Session) {
    self.session = session
    page = GNSSPage(boardName: session.board.name)
  }

  mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    var isDue = ContinuousClock.now >= nextPage
    for observation in batch {
      page.take(observation)
      if case .sky = observation { isDue = true }
    }
    return isDue ? write() : true
  }

  mutating func finish() {
    if !hasPrinted { _ = write() }
  }

  private mutating func write() -> Bool {
    hasPrinted = true
    nextPage = ContinuousClock.now.advanced(by: .seconds(Self.longestPause))
    page.receivers = session.receivers
    let lines = page.lines(at: session.now(), size: Self.size)
    return Terminal.write(Terminal.plain(lines.joined(separator: "\n")) + "\n\n")
  }
}

/// One JSON object a line: positions, satellites, and the receivers where something of them has changed.
private struct GNSSJSONPrinter: ObservationPrinter {
  let patience = 1.0
  private let session: Session
  private var lines: ObservationLines
  private var said: [Int: SensorStatus] = [:]

  init(_ session: Session) {
    self.session = session
    lines = ObservationLines(start: session.now()) { session.clock(at: $0) }
  }

  mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    var text = ""
    for observation in batch {
      switch observation {
      case .location, .locationUnavailable, .sky, .diagnostic:
        text += lines.line(for: observation) + "\n"
      default: break
      }
    }
    // Who a receiver is and how it is set becomes known without an observation of its own.
    for status in session.receivers where status.state != .starting {
      var known = status
      known.counters = SensorCounters()
      guard said[status.index] != known else { continue }
      said[status.index] = known
      text += lines.line(for: .sensor(status)) + "\n"
    }
    if dropped > 0 { Terminal.warn("lodestone: \(dropped) lines dropped: the reader is too slow") }
    return Terminal.write(text)
  }

  mutating func finish() {}
}
