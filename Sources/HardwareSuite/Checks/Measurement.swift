// A board left alone: what its chips deliver, how regularly, how noisily, and whether it can be true.

import BoardFile
import Geomagnetism
import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorHub
import SensorTypes
import TextForms

/// Measures a board for some seconds and judges what came.
struct Measurement {
  /// How far a chip's rate may be from the one it is set to: RC oscillators are good to some percent.
  private static let rateTolerance = 0.1
  /// The share of standing still that is worth a word.
  private static let noticedStandstill = 0.02
  /// How many times the datasheet's noise a chip may show on a board, with its supply and its neighbours.
  private static let noiseTolerance = 3.0
  /// The share of samples that must have come with an edge where a line is wired.
  private static let edgeShare = 0.95
  /// The share of edges that may announce nothing: a look by the timer sometimes comes before the edge.
  private static let emptyShare = 0.2
  /// How far a specific force may be from 9.81, m/s^2: zero-g offsets of 20 to 60 mg on each axis are a chip's
  /// right.
  static let gravityLimit = 0.6
  /// The share of samples that may have cost a repeated transfer: more is a faulty bus.
  private static let retryShare = 0.02
  /// From an edge to its sample, seconds.
  private static let latencyLimit = 0.05
  /// The share of edges that are answered within that, on a machine that does not stand still.
  private static let promptShare = 0.99
  /// The largest share of edges that a standstill of the machine excuses.
  private static let excusedShare = 0.25

  /// How noise is measured: `Statistics.noise`.
  private static let noiseMethod =
    "from the differences of successive samples, the median of windows of a second"

  let bench: Bench
  let mark: StreamPosition
  private let start: Timestamp
  let seconds: Double
  /// Seconds of these for which the board or the rig was not let run.
  private let standstill: Double
  private let before: [SensorStatus]
  let after: [SensorStatus]
  /// What has become of the daemon meanwhile, if the board has another owner now, or none.
  let loss: String?
  /// Whether the run ended during the measurement: what came has curves, and is not judged.
  let end: BrokenOff?

  /// Lets `seconds` pass, up to twice as many on a machine that stands still, and keeps what comes.
  init(_ bench: Bench, seconds: Double) {
    self.bench = bench
    mark = bench.capture.mark
    before = bench.source.status
    let owner = bench.source.process
    let standing = bench.standstill()
    start = bench.now()
    do throws(BrokenOff) {
      try bench.pass(seconds)
      // Time in which nothing ran is given once more.
      try bench.pass(min(seconds, bench.standstill() - standing))
      end = nil
    } catch {
      end = error
    }
    after = bench.source.status
    let newOwner = bench.source.process
    loss =
      newOwner == owner && owner != nil
      ? nil
      : newOwner == nil
        ? "the daemon does not answer any more"
        : "the daemon was started again during the measurement"
    self.seconds = bench.now().seconds(since: start)
    standstill = bench.standstill() - standing
  }

  /// What was found, in the group called `group`.
  func checks(_ group: String) -> [Report.Check] {
    // What came is not that of one run, and says nothing of wires.
    if let loss { return [Self.check(loss, group, seconds)] }
    var checks: [Report.Check] = []
    for index in bench.board.sensors.indices {
      let found = bench.kind(index) == .receiver ? receiver(index, group) : chip(index, group)
      checks += found
      // The errors of a chip that never ran are those of its one failure.
      if counted(index).samples > 0 { checks.append(counters(index, group)) }
    }
    return checks
  }

  private static func check(_ loss: String, _ group: String, _ seconds: Double) -> Report.Check {
    Report.Check(
      group, "the daemon serves", .failed, loss, mend: "journalctl -u lodestone -n 20",
      seconds: seconds)
  }

  // MARK: A chip

  func chip(_ index: Int, _ group: String) -> [Report.Check] {
    let name = bench.name(index)
    let readings = bench.capture.readings(of: index, since: mark)
    guard let first = readings.first, let last = readings.last, readings.count > 2 else {
      return [
        Report.Check(
          group, "\(name) delivers", .failed,
          "\(readings.count) samples in \(Report.figure(seconds)) s: \(state(index))",
          mend: bench.remedy, seconds: seconds)
      ]
    }
    let nominal = first.value.outputRate
    let intervals = zip(readings, readings.dropFirst()).map {
      $1.value.sample.time.seconds(since: $0.value.sample.time)
    }
    guard let statistics = Statistics(intervals) else { return [] }
    let span = last.value.sample.time.seconds(since: first.value.sample.time)
    let rate = Double(readings.count - 1) / max(1e-9, span)
    // What a chip measured while nothing here ran is lost, or was never measured by a rig's.
    let most = Double(readings.count - 1) / max(1e-9, span - min(standstill, span / 2))
    // How often the kernel samples is its trigger's affair, or that of how long it takes to be asked.
    let isKernels = bench.kernels.contains(index)
    let isOnTime =
      isKernels
      || rate <= (1 + Self.rateTolerance) * nominal && most >= (1 - Self.rateTolerance) * nominal
    let percent = Report.figure(Self.rateTolerance * 100)
    var checks = [
      Report.Check(
        group, "\(name) delivers at its rate", isOnTime ? .passed : .failed,
        "\(readings.count) samples, \(Report.figure(rate)) Hz of \(Report.figure(nominal))"
          + standstillNote,
        mend: isOnTime
          ? nil
          : isIdle
            ? "the machine has too much else to do"
            : "raise the bus speed, or lower the rates in the board file",
        measures: [
          Report.Measure(
            "rate", rate, "Hz", limit: isKernels ? nil : "\(Report.figure(nominal)) +- \(percent) %"
          ),
          Report.Measure("jitter (one sigma)", statistics.deviation * 1000, "ms"),
          Report.Measure("longest interval", statistics.worst * 1000, "ms"),
        ], seconds: seconds)
    ]
    // Which mode the kernel's driver measures in is not known, and the line is its own.
    if isKernels { return checks }
    checks += noise(index, readings.map(\.value), nominal, group)
    if bench.board.sensors[index].interrupt != nil, raisesPin(index, at: nominal) {
      checks.append(edges(index, readings, group))
    }
    return checks
  }

  /// Whether the machine stood still for a share that explains what is late.
  private var isIdle: Bool { standstill > Self.noticedStandstill * seconds }

  private var standstillNote: String {
    isIdle
      ? ", the machine standing still for \(Report.figure(standstill)) s of \(Report.figure(seconds))"
      : ""
  }

  /// Samples of a chip that has no threshold on its pin gather without a word.
  private func raisesPin(_ index: Int, at rate: Double) -> Bool {
    ChipCatalog.chip(named: bench.board.sensors[index].chip)?.chip?(rate).raisesPin ?? true
  }

  private func noise(
    _ index: Int, _ readings: [SensorReading], _ rate: Double, _ group: String
  ) -> [Report.Check] {
    let sensor = bench.board.sensors[index]
    return DatasheetNoise.of(sensor.chip, rate: rate).map { expected in
      let channels = Channels(readings, quantity: expected.quantity)
      let found = channels.values.compactMap { Statistics.noise($0, rate: rate) }.max() ?? .nan
      let limit = Self.noiseTolerance * expected.sigma
      let stands = found == 0
      let isGood = found <= limit && (!stands || !sensor.checks.change)
      let what =
        found.isNaN
        ? "\(readings.count) samples are too few"
        : stands ? "it does not change at all" : Self.noiseMethod
      return Report.Check(
        group, "\(bench.name(index)) noise of \(expected.quantity)", isGood ? .passed : .failed,
        what,
        mend: isGood
          ? nil : "keep it still, away from supplies and motors; a soldering fault is noisy too",
        measures: [
          Report.Measure(
            "noise (one sigma)", found, expected.unit,
            limit:
              "at most \(Report.figure(limit)): three times the \(Report.figure(expected.sigma)) "
              + "of \(expected.source)")
        ])
    }
  }

  private func edges(
    _ index: Int, _ readings: [TimedArrival<SensorReading>], _ group: String
  ) -> Report.Check {
    let latencies = readings.compactMap { arrival in
      arrival.value.edge.map { arrival.time.seconds(since: $0) }
    }
    let share = Double(latencies.count) / Double(max(1, readings.count))
    let line = bench.board.sensors[index].interrupt
    let place = line.map { "\($0.chip) \($0.line)" } ?? ""
    let empty = counted(index).emptyEdges
    let emptyShare = Double(empty) / Double(max(1, UInt64(latencies.count) + empty))
    guard emptyShare <= Self.emptyShare else {
      return Report.Check(
        group, "\(bench.name(index)) interrupt line", .failed,
        "\(empty) of \(UInt64(latencies.count) + empty) edges on \(place) announced nothing: "
          + "it is another chip's line",
        mend: "gpioinfo   # names the lines; the board file names this chip's below line "
          + "\(bench.board.sensors[index].line)")
    }
    guard share >= Self.edgeShare, let statistics = Statistics(latencies) else {
      return Report.Check(
        group, "\(bench.name(index)) interrupt line", .failed,
        "\(latencies.count) edges on \(place) for \(readings.count) samples: its data-ready pin is on "
          + "another line, or on none",
        mend: "gpiomon   # on the likely lines shows which one moves; put that into the board file")
    }
    // An edge that fell into a standstill had nobody to answer it.
    let excused = isIdle ? min(standstill / seconds, Self.excusedShare) : 0
    let judged = Self.promptShare - excused
    let late = statistics.quantile(judged)
    return Report.Check(
      group, "\(bench.name(index)) interrupt line", late <= Self.latencyLimit ? .passed : .failed,
      "\(latencies.count) edges on \(place) for \(readings.count) samples" + standstillNote,
      measures: [
        Report.Measure("edge to sample, median", statistics.median * 1000, "ms"),
        Report.Measure(
          "edge to sample, 99 %", statistics.quantile(Self.promptShare) * 1000, "ms",
          limit: "at most \(Report.figure(Self.latencyLimit * 1000))"
            + (excused > 0 ? " for \(Report.figure(judged * 100)) %" : "")),
        Report.Measure("edge to sample, worst", statistics.worst * 1000, "ms"),
      ])
  }

  // MARK: A receiver

  func receiver(_ index: Int, _ group: String) -> [Report.Check] {
    let name = bench.name(index)
    let epochs = counted(index).samples
    let rate = Double(epochs) / seconds
    guard epochs > 0, after[index].state == .running else {
      return [
        Report.Check(
          group, "\(name) speaks", .failed,
          "\(epochs) epochs in \(Report.figure(seconds)) s: \(state(index))",
          mend: bench.isSimulated
            ? bench.remedy : "check the receiver's TX wire and its rate; lodestone doctor",
          seconds: seconds)
      ]
    }
    return [
      Report.Check(
        group, "\(name) speaks", .passed, "\(epochs) epochs",
        measures: [Report.Measure("rate", rate, "Hz")], seconds: seconds)
    ]
  }

  /// What was counted during the measurement. A daemon that was started again has begun anew.
  private func counted(_ index: Int) -> SensorCounters {
    after[index].counters.counted(since: before[index].counters)
  }

  private func counters(_ index: Int, _ group: String) -> Report.Check {
    let new = counted(index)
    let counts = [
      ("bus errors", new.busErrors), ("configurations lost", new.configurationsLost),
      ("stalls", new.stalls), ("overflows", new.overflows), ("starts", new.starts),
    ]
    var bad = counts.filter { $0.1 > 0 }
    let mostRetries = Self.retryShare * Double(new.samples)
    if Double(new.retries) > mostRetries { bad.append(("repeated transfers", new.retries)) }
    return Report.Check(
      group, "\(bench.name(index)) without errors", bad.isEmpty ? .passed : .failed,
      bad.isEmpty ? "none" : bad.map { "\($0.1) \($0.0)" }.joined(separator: ", "),
      mend: bad.isEmpty
        ? nil : "check the pull-ups; shorter wires, a lower bus speed, a better supply",
      measures: [
        Report.Measure("bus errors", Double(new.busErrors), ""),
        Report.Measure(
          "repeated transfers", Double(new.retries), "",
          limit: "at most \(Report.figure(mostRetries)): "
            + "\(Report.figure(Self.retryShare * 100)) % of the samples"),
      ])
  }

  private func state(_ index: Int) -> String {
    switch after[index].state {
    case .failed(let reason): reason
    case .starting: "it is still starting"
    case .running: "it runs"
    case .idle: "nobody asked for it"
    }
  }

  // MARK: Curves

  /// What was measured over time, for the report.
  func series() -> [Report.Series] {
    var series: [Report.Series] = []
    func add(
      _ title: String, _ unit: String, _ points: [(Double, Double)], limits: [Double] = []
    ) {
      guard points.count > 1 else { return }
      series.append(Report.Series(title, unit: unit, points, limits: limits))
    }
    var headings: [(Double, Double)] = []
    var strengths: [(Double, Double)] = []
    var altitudes: [(Double, Double)] = []
    for observation in bench.capture.observations(since: mark).map(\.value) {
      switch observation {
      case .heading(let value):
        headings.append((value.time.seconds(since: start), value.magneticHeading * degrees))
        if let field = value.field {
          strengths.append((value.time.seconds(since: start), field.length))
        }
      case .altitude(let value):
        altitudes.append((value.time.seconds(since: start), value.relativeAltitude))
      default: break
      }
    }
    add("magnetic heading", "deg", headings)
    let expected = expectedField(bench.capture.observations(since: mark).map(\.value))
    add(
      "strength of the field as it is used, calibrated where there is a record", "uT", strengths,
      limits: expected.map { [0.85 * $0, 1.15 * $0] } ?? [])
    add("relative altitude", "m", altitudes)
    for index in bench.board.sensors.indices {
      let arrivals = bench.capture.readings(of: index, since: mark)
      let readings = arrivals.map(\.value)
      let name = bench.name(index)
      let times = readings.map { $0.sample.time.seconds(since: start) }
      for quantity in Channels.quantities {
        let channels = Channels(readings, quantity: quantity)
        let values =
          channels.vectors.isEmpty ? channels.values.first : channels.vectors.map(\.length)
        let unit = Channels.unit(of: quantity)
        // A vector is drawn by its length; a field is what the chip says, iron and offset in it.
        let title =
          switch quantity {
          case "field": "\(name): strength of the field as the chip reads it, not calibrated"
          case "acceleration": "\(name): specific force"
          default: "\(name): \(quantity)"
          }
        let limits =
          quantity == "acceleration" ? [9.81 - Self.gravityLimit, 9.81 + Self.gravityLimit] : []
        if let values { add(title, unit, Array(zip(times, values)), limits: limits) }
      }
      let intervals = zip(times, times.dropFirst()).map { ($1, ($1 - $0) * 1000) }
      add("\(name): interval between samples", "ms", Array(intervals))
      let latencies = arrivals.compactMap { arrival in
        arrival.value.edge.map { edge in
          (edge.seconds(since: start), arrival.time.seconds(since: edge) * 1000)
        }
      }
      add(
        "\(name): edge to sample", "ms", latencies, limits: [Self.latencyLimit * 1000])
    }
    return series
  }
}

/// Degrees in a radian.
let degrees = 180 / Double.pi
