// One fault, from its beginning to the chip's return, held against what the project promises.

import SensorDrivers
import SensorHub
import SensorTypes

/// Lets something go wrong with one chip and watches the whole board.
struct FaultTrial {
  /// Loss is reported within this, or three periods where those are longer; seconds.
  static let reportLimit = 2.0
  /// A chip is back within this of the fault's end; seconds.
  static let returnLimit = 5.0
  /// What a person's hand adds: nobody presses a key at the moment of pulling a wire.
  private static let handLimit = 3.0
  /// A chip that has nothing to do with it may pause for this long; seconds.
  private static let othersLimit = 1.0

  let bench: Bench
  let sensor: Int
  let fault: RigFault
  let seconds: Double

  private var kind: ChipKind? { ChipCatalog.chip(named: bench.board.sensors[sensor].chip)?.kind }

  /// Slow transfers are late, not lost.
  private var isLoss: Bool { fault != .slow }

  /// Carries it out and says how it went.
  func run(_ group: String) -> Report.Check {
    let name = "\(bench.name(sensor)): \(fault.rawValue) for \(Report.figure(seconds)) s"
    let begin = bench.now()
    guard bench.wait(atMost: Self.returnLimit, until: { isRunning(sensor) }) else {
      return Report.Check(
        group, name, .failed, "it does not run before the fault: nothing can be learnt",
        mend: "lodestone doctor")
    }
    let mark = bench.capture.mark
    // Counted from the asking: a rig's answer takes a while, and its fault is over so much sooner.
    let injected = bench.now()
    do {
      try bench.person.inject(
        fault, chip: bench.board.sensors[sensor].chip, seconds: seconds)
    } catch {
      return Report.Check(group, name, .failed, "\(error)")
    }
    let slack = bench.person.isPerson ? Self.handLimit : 0
    // A brown-out is over as soon as it has been.
    let end = fault == .brownOut ? injected : injected.advanced(bySeconds: seconds)
    if isLoss {
      _ = bench.wait(atMost: max(seconds, reportLimit + slack)) { wasLost(since: mark) }
    }
    bench.pass(max(0, end.seconds(since: bench.now())))
    _ = bench.wait(atMost: Self.returnLimit + slack + 1) { hasReturned(since: mark, after: end) }
    // What the others did shows a little later.
    bench.pass(0.3)
    return judge(name, group, mark, injected, end, slack, took: bench.now().seconds(since: begin))
  }

  private func isRunning(_ index: Int) -> Bool { bench.hub.status[index].state == .running }

  private func statuses(
    since mark: Capture.Mark, of index: Int
  ) -> [(status: SensorStatus, time: Timestamp)] {
    bench.capture.observations(since: mark).compactMap { arrival in
      if case .sensor(let status) = arrival.value, status.index == index {
        (status, arrival.time)
      } else {
        nil
      }
    }
  }

  private func hasReturned(since mark: Capture.Mark, after end: Timestamp) -> Bool {
    isRunning(sensor)
      && (!wasLost(since: mark)
        || statuses(since: mark, of: sensor).contains {
          $0.status.state == .running && $0.time >= end
        })
  }

  private func wasLost(since mark: Capture.Mark) -> Bool {
    statuses(since: mark, of: sensor).contains { $0.status.isFailed }
  }

  private func judge(
    _ name: String, _ group: String, _ mark: Capture.Mark, _ injected: Timestamp,
    _ end: Timestamp, _ slack: Double, took: Double
  ) -> Report.Check {
    var complaints: [String] = []
    var measures: [Report.Measure] = []
    var said = "no loss, as it should be"
    let own = statuses(since: mark, of: sensor)
    if isLoss {
      let limit = reportLimit + slack
      if let report = own.first(where: { $0.status.isFailed }) {
        let delay = report.time.seconds(since: injected)
        measures.append(
          Report.Measure("loss said after", delay, "s", limit: "at most \(Report.figure(limit))"))
        if delay > limit { complaints.append("the loss was said late") }
        said = "\(report.status.position): \(report.status.reason)"
        if report.status.reason.isEmpty { complaints.append("the loss was said without a reason") }
      } else {
        complaints.append("the loss was not said")
      }
      if let back = own.first(where: { $0.status.state == .running && $0.time >= end }) {
        let delay = back.time.seconds(since: end)
        let most = Self.returnLimit + slack
        measures.append(
          Report.Measure("back after", delay, "s", limit: "at most \(Report.figure(most))"))
        if delay > most { complaints.append("it came back late") }
      } else if own.contains(where: { $0.status.isFailed }) {
        complaints.append("it did not come back")
      }
      complaints += invented(own, mark)
    } else if own.contains(where: { $0.status.isFailed }) {
      complaints.append("what was only late was taken for lost")
    }
    complaints += others(mark)
    return Report.Check(
      group, name, complaints.isEmpty ? .passed : .failed,
      complaints.isEmpty ? said : complaints.joined(separator: "; ") + ". Said was: " + said,
      measures: measures, seconds: took)
  }

  // A receiver's period is the slowest on a board; one whose rate is not said may have a second.
  private var reportLimit: Double {
    kind == .receiver
      ? max(Self.reportLimit, 3 / (bench.board.sensors[sensor].rate ?? 1)) : Self.reportLimit
  }

  /// Values of a chip that was known to be lost.
  private func invented(
    _ own: [(status: SensorStatus, time: Timestamp)], _ mark: Capture.Mark
  ) -> [String] {
    var lost: Timestamp?
    var count = 0
    for arrival in bench.capture.observations(since: mark) {
      switch (arrival.value, kind) {
      case (.sensor(let status), _) where status.index == sensor:
        if status.isFailed {
          lost = lost ?? arrival.time
        } else if status.state == .running {
          lost = nil
        }
      case (.heading, .magnetometer), (.altitude, .barometer), (.location, .receiver):
        count += lost == nil ? 0 : 1
      default: break
      }
    }
    return count == 0 ? [] : ["\(count) values were published while it was lost"]
  }

  /// Chips that had nothing to do with it, and suffered.
  private func others(_ mark: Capture.Mark) -> [String] {
    bench.board.sensors.indices.filter { $0 != sensor }.flatMap { index -> [String] in
      let name = bench.name(index)
      if let failed = statuses(since: mark, of: index).first(where: { $0.status.isFailed }) {
        return ["\(name) failed with it: \(failed.status.reason)"]
      }
      let times = bench.capture.readings(of: index, since: mark).map(\.time)
      let gap = zip(times, times.dropFirst()).map { $1.seconds(since: $0) }.max() ?? 0
      return gap > Self.othersLimit ? ["\(name) paused for \(Report.figure(gap)) s"] : []
    }
  }
}

extension SensorStatus {
  /// Whether it is lost.
  var isFailed: Bool {
    if case .failed = state { true } else { false }
  }

  /// Why it is lost; empty where it is not.
  var reason: String {
    if case .failed(let reason) = state { reason } else { "" }
  }
}
