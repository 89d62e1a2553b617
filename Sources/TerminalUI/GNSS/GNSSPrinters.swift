// What `lodestone gnss` prints, by where it goes: a terminal, a log or a program.

package import Lodestone
import OutputProtocols
import SensorDrivers
package import SensorTypes
import TextForms

extension SensorStatus {
  static func isReceiver(_ status: SensorStatus) -> Bool {
    ChipCatalog.chip(named: status.chip)?.kind == .receiver
  }

}

extension BoardView {
  /// How the board's receivers are doing, in the order of its file.
  package var receivers: [SensorStatus] { sensors.filter(SensorStatus.isReceiver) }
}

extension ObservationRun {
  /// A run that asks for positions and satellites alone, and fails where no receiver delivered anything.
  /// With antennas the heading is theirs, and asked for too.
  package init(board: any BoardView, receiversFor seconds: Double?) {
    let demand = Demand(
      heading: board.summary.hasAntennas == true, location: true, satellites: true)
    self.init(
      board: board, seconds: seconds, demand: demand,
      isNeeded: SensorStatus.isReceiver, needed: "receiver")
  }
}

/// The page drawn in place.
package struct GNSSLivePrinter: ObservationPrinter {
  package let patience = LivePage.interval
  private let board: any BoardView
  private var page: GNSSPage
  private var screen = LivePage()

  package init(_ board: any BoardView) {
    self.board = board
    page = GNSSPage(board.summary)
  }

  package mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    for observation in batch { page.take(observation) }
    guard screen.isDue() else { return true }
    page.receivers = board.receivers
    return screen.draw(page.lines(at: board.now(), size: Terminal.size))
  }

  package mutating func finish() { screen.finish() }
}

/// A page for each round of satellites, for a log or a pipe; where none come, now and then.
package struct GNSSPagePrinter: ObservationPrinter {
  package let patience = 1.0
  /// As terminals are, whatever reads it.
  private static let size = (columns: 80, rows: 24)

  private let board: any BoardView
  private var page: GNSSPage
  private var pace = GNSSPagePace(start: .now)

  package init(_ board: any BoardView) {
    self.board = board
    page = GNSSPage(board.summary)
  }

  package mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    let now = ContinuousClock.now
    for observation in batch { page.take(observation) }
    return pace.isDue(for: batch, at: now) ? write() : true
  }

  package mutating func finish() {
    if !pace.hasPrinted { _ = write() }
  }

  private mutating func write() -> Bool {
    pace.notePage(at: .now)
    page.receivers = board.receivers
    let lines = page.lines(at: board.now(), size: Self.size)
    return Terminal.write(Terminal.plain(lines.joined(separator: "\n")) + "\n\n")
  }
}

/// When a page is due in a log.
struct GNSSPagePace {
  /// Seconds after which a page comes without a round: receivers are asked for one every five.
  private static let longestPause = 10.0

  private var next: ContinuousClock.Instant
  private(set) var hasPrinted = false

  init(start: ContinuousClock.Instant) { next = start.advanced(by: .seconds(Self.longestPause)) }

  /// Whether a page is due: behind a round of satellites, or after a long pause.
  func isDue(for batch: [Observation], at now: ContinuousClock.Instant) -> Bool {
    now >= next || batch.contains { if case .sky = $0 { true } else { false } }
  }

  /// Notes that a page was printed.
  mutating func notePage(at now: ContinuousClock.Instant) {
    hasPrinted = true
    next = now.advanced(by: .seconds(Self.longestPause))
  }
}

/// One JSON object a line: positions, headings of antennas, satellites, and the receivers where something of them has changed.
package struct GNSSJSONPrinter: ObservationPrinter {
  package let patience = 1.0
  private let board: any BoardView
  private var lines: ObservationLines
  private var changes = ReceiverChanges()
  private var selection: ReceiverSelection

  package init(_ board: any BoardView) {
    self.board = board
    selection = ReceiverSelection(hasAntennas: board.summary.hasAntennas == true)
    lines = ObservationLines(
      start: board.now(), clock: { board.clock(at: $0) }, hints: { Hints.complete($0) })
  }

  package mutating func print(_ batch: [Observation], dropped: Int) -> Bool {
    var text = ""
    for observation in selection.take(batch) { text += lines.line(for: observation) + "\n" }
    // Who a receiver is and how it is set becomes known without an observation of its own.
    for status in changes.take(board.receivers) {
      text += lines.line(for: .sensor(status)) + "\n"
    }
    if dropped > 0 { Terminal.warn("lodestone: \(dropped) lines dropped: the reader is too slow") }
    return Terminal.write(text)
  }

  package mutating func finish() {}
}

/// Selects from observations what comes from the receiver.
struct ReceiverSelection {
  private let hasAntennas: Bool
  /// The last heading of the antennas that was not returned yet.
  private var heading: (estimate: HeadingEstimate, observation: Observation)?
  /// The moment of the last one that was returned, or of the first one.
  private var since: Timestamp?
  /// The seconds after which a heading is returned without a position.
  private static let patience = 2.0

  /// - Parameter hasAntennas: Whether the heading is measured by antennas of the receiver, or by an instrument on its line.
  init(hasAntennas: Bool) { self.hasAntennas = hasAntennas }

  /// Returns what comes from the receiver. Of the headings of its antennas there is one for each position: with a gyro there are a
  /// hundred a second. Without positions there is one each two seconds.
  mutating func take(_ batch: [Observation]) -> [Observation] {
    var selected: [Observation] = []
    for observation in batch {
      switch observation {
      case .location, .locationUnavailable:
        release(to: &selected)
        selected.append(observation)
      case .sky, .diagnostic: selected.append(observation)
      case .heading(let estimate) where hasAntennas && estimate.field == nil:
        heading = (estimate, observation)
        since = since ?? estimate.time
        if let since, abs(estimate.time.seconds(since: since)) >= Self.patience {
          release(to: &selected)
        }
      case .headingUnavailable where hasAntennas:
        heading = nil
        selected.append(observation)
      default: break
      }
    }
    return selected
  }

  private mutating func release(to selected: inout [Observation]) {
    guard let (estimate, observation) = heading else { return }
    selected.append(observation)
    (heading, since) = (nil, estimate.time)
  }
}

/// Tells which receivers have news of themselves: who they are, how they are set, how they are doing.
struct ReceiverChanges {
  private var said: [Int: SensorStatus] = [:]

  /// Returns the receivers whose status differs from the last one that was returned of them. Counters rise all the
  /// time and are no news, and a receiver that is starting has none yet.
  mutating func take(_ receivers: [SensorStatus]) -> [SensorStatus] {
    receivers.filter { status in
      guard status.state != .starting else { return false }
      var known = status
      known.counters = SensorCounters()
      let corrections = known.link?.corrections?.withoutCounters
      known.link?.corrections = corrections
      let base = known.link?.base?.withoutCounters
      known.link?.base = base
      guard said[status.index] != known else { return false }
      said[status.index] = known
      return true
    }
  }
}
