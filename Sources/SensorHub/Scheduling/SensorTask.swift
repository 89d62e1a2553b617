import BoardFile
import Recording
import SensorBus
import SensorDrivers
import SensorTypes

/// Something a worker steps: a sensor or a receiver.
protocol WorkerTask: AnyObject {
  /// When it wants to be stepped next at the latest.
  var due: Timestamp { get }
  /// What ends its wait early.
  var readiness: Readiness { get }
  /// Whether somebody asks for what it measures.
  func setWanted(_ wanted: Bool)
  /// Seconds that may lie between two of its measurements where somebody asks for them; `nil`: at the rate of the
  /// board file. Said before every step.
  func setInterval(_ seconds: Double?)
  /// Whether somebody asks for the satellites that a receiver hears. Said before every step.
  func setSatellitesWanted(_ wanted: Bool)
  /// Does what is due at `now`, the beginning of the step, never waiting.
  func step(_ port: WorkerPort, at now: Timestamp, into outbox: inout [WorkerOutput])
  /// Leaves the device as it should be left when the program ends, with one attempt.
  func finish()
  /// How it is doing.
  var status: SensorStatus { get }
  /// Goes on counting from here, before the first step.
  func resume(_ counters: SensorCounters)
}

extension WorkerTask {
  func setSatellitesWanted(_ wanted: Bool) {}

  /// Leaves it as it is.
  func finish() {}
}

/// One chip in the schedule: started, polled by edge or timer, verified, started again.
final class SensorTask: WorkerTask {
  /// Configuration registers are re-read one by one this often (seconds): with up to ten of them a
  /// brown-out is noticed within 1.5 s.
  private static let verifyInterval = 0.15
  /// Silence that counts as loss, seconds; three periods where those are longer.
  private static let silenceLimit = 1.0
  // Polling without an interrupt line: look shortly before the next conversion is due, then closely.
  // The sample's moment is then known to a tenth of a period.
  private static let firstLook = 0.92
  private static let nextLook = 0.12
  /// How often a chip behind a bypass looks whether that is open, seconds.
  private static let hostInterval = 0.02
  /// A chip that could not be put to sleep is told again after so many seconds.
  private static let sleepPause = 0.1
  /// An edge so much of a period after the conversion before tells of another; sooner it is another chip's, or late.
  private static let shortestPeriod = 0.9
  /// The most readings that one look takes of what has waited.
  private static let readingsPerLook = 64

  private let sensor: Board.Sensor
  /// Chips on the same bus behind whose bypass this one may be.
  private var hosts: [SensorTask] = []
  private let make: (WorkerPort, Double) throws(BusError) -> any AnySensor
  private var life = SensorLife.unknown
  /// Conversions a second: by the board file, as wanted now, as the driver was made for.
  private let boardRate: Double
  private var wantedRate: Double
  private var driverRate = 0.0
  /// How often the chip was given a wider range. It keeps it as long as the program runs: a range that came and went would
  /// move the scale under a calibration, and what a range costs is less than what the chip's noise does.
  private var widenings = 0
  private var overflows = OverflowCount()
  private var line: PortLine?
  private var lineFailed = false
  /// Whether it was said that the chip does not raise its line at the rate that is wanted.
  private var lineWasLeft = false
  private var supervisor: Supervisor
  private var isWanted = false
  private(set) var due = Timestamp(nanoseconds: .min)
  /// The newest reading, and the one that a chip got stuck at: as long as it says only that, it says
  /// nothing.
  private var lastReading: Reading?
  private var stuckAt: Reading?
  /// The newest time of a driver's own, and what was said of how the chip is driven.
  private var lastTime = Timestamp(nanoseconds: .min)
  private var note: String?
  private var givesRate = true
  /// The clock of a chip that queues its conversions, and when the newest of those being told was complete.
  private var clock: SampleClock?
  private var newest = Timestamp(nanoseconds: 0)
  private var lastLook = Timestamp(nanoseconds: 0)
  /// When it was last its turn, whatever came of it.
  private var lastTurn = Timestamp(nanoseconds: 0)
  private var nextVerify = Timestamp(nanoseconds: 0)

  init(
    index: Int, sensor: Board.Sensor, rate: Double,
    make: @escaping (WorkerPort, Double) throws(BusError) -> any AnySensor
  ) {
    self.sensor = sensor
    self.make = make
    (boardRate, wantedRate) = (rate, rate)
    supervisor = Supervisor(
      index: index, chip: sensor.chip, position: sensor.attachment.description)
  }

  /// Lets this chip wait for others whose start opens a bypass, behind which it may be.
  func wait(for hosts: [SensorTask]) { self.hosts = hosts }

  /// Whether the chip is on its way to measuring: what is behind it does not answer yet.
  private var isComingUp: Bool {
    !life.isMeasuring && (isWanted || life.isDue)
      && (life.driver != nil || !supervisor.hasFailed)
  }

  // Edges of a chip that is not being read would end every wait at once, and nobody would take them.
  var readiness: Readiness { life.isMeasuring ? line?.readiness ?? .never : .never }

  func setWanted(_ wanted: Bool) {
    guard wanted != isWanted else { return }
    isWanted = wanted
    if !life.isStarting { due = Timestamp(nanoseconds: .min) }
  }

  /// Sets the seconds between samples that are enough for all who ask: the chip is told to be slower than by its board
  /// file's rate, never faster.
  func setInterval(_ seconds: Double?) {
    let rate = min(boardRate, seconds.map { 1 / max($0, 1e-3) } ?? boardRate)
    guard rate != wantedRate else { return }
    wantedRate = rate
    guard isWanted, case .measuring(let driver) = life else { return }
    // From here on, for what is behind its bypass.
    life = .restarting(driver)
    due = Timestamp(nanoseconds: .min)
  }

  func step(_ port: WorkerPort, at begin: Timestamp, into outbox: inout [WorkerOutput]) {
    let retries = port.retries
    defer { supervisor.repeated(port.retries &- retries) }
    let edge = takeEdge(port)
    guard edge != nil || begin >= due else { return }
    // Other chips' transfers have passed since the step began.
    let now = port.now()
    guard isWanted || life.isDue else { return rest(now, into: &outbox) }
    if driverRate == wantedRate, case .measuring(let driver) = life {
      measure(driver, port, edge: edge, now: now, into: &outbox)
    } else {
      start(port, now: now, into: &outbox)
    }
  }

  /// A chip that nobody reads is not to go on converting, and drawing its current, when the program has ended.
  func finish() {
    try? life.awake?.sleep()
  }

  private func takeEdge(_ port: WorkerPort) -> Timestamp? {
    guard life.isMeasuring, let line else { return nil }
    // A line that fails leaves the timer, which polls anyway.
    return (try? line.takeEdge()) ?? nil
  }

  private func rest(_ now: Timestamp, into outbox: inout [WorkerOutput]) {
    due = life.rest() ? now.advanced(bySeconds: Self.sleepPause) : .distantFuture
    if supervisor.rested(at: now) { outbox.append(.status(supervisor.status)) }
  }

  private func start(_ port: WorkerPort, now: Timestamp, into outbox: inout [WorkerOutput]) {
    if hosts.contains(where: \.isComingUp) {
      due = now.advanced(bySeconds: Self.hostInterval)
      return
    }
    do throws(DriverError) {
      let driver = try opened(port, at: now, into: &outbox)
      let step = try driver.start()
      switch step {
      case .wait(let seconds):
        life = .starting(driver)
        due = now.advanced(bySeconds: seconds)
      case .ready:
        // One that is wanted at another rate by now is not there yet.
        life = !isWanted || driverRate == wantedRate ? .measuring(driver) : .restarting(driver)
        clock = driver.batch > 1 ? SampleClock(rate: driver.outputRate) : nil
        let ready = port.now()
        supervisor.ready(at: ready)
        if driver.givesRate != givesRate {
          givesRate = driver.givesRate
          outbox.append(.givesRate(sensor: supervisor.status.index, givesRate))
        }
        if let note = driver.note, note != self.note {
          self.note = note
          outbox.append(
            .diagnostic("\(sensor.chip) at \(sensor.attachment) is \(note)", at: ready))
        }
        // What the line kept from before says nothing about the samples to come.
        _ = takeEdge(port)
        (lastLook, lastTurn) = (ready, ready)
        nextVerify = ready.advanced(bySeconds: Self.verifyInterval)
        due = ready
      }
    } catch {
      fail(error, now: now, into: &outbox)
    }
  }

  private func opened(
    _ port: WorkerPort, at now: Timestamp, into outbox: inout [WorkerOutput]
  ) throws(DriverError) -> any AnySensor {
    // A start that has begun is brought to its end; another rate needs another one.
    if let driver = life.driver, life.isStarting || driverRate == wantedRate { return driver }
    if case .measuring(let driver) = life { life = .restarting(driver) }
    do {
      let driver = try make(port, wantedRate)
      for _ in 0..<widenings { _ = driver.widen() }
      driverRate = wantedRate
      supervisor.starting(at: now)
      if driver.isSelfTimed {
        line = nil
      } else if driver.raisesPin {
        openLine(port, at: now, into: &outbox)
      } else {
        leaveLine(at: now, into: &outbox)
      }
      return driver
    } catch {
      throw .bus(error)
    }
  }

  /// A line that the chip does not raise at its rate is said once.
  private func leaveLine(at now: Timestamp, into outbox: inout [WorkerOutput]) {
    line = nil
    guard sensor.interrupt != nil, !lineWasLeft, !lineFailed else { return }
    lineWasLeft = true
    outbox.append(
      .diagnostic(
        "\(sensor.chip) is polled: its interrupt line tells nothing of samples that gather, "
          + "which they do above 208 Hz", at: now))
  }

  /// A line that cannot be had is said once, and the chip is polled: late is better than nothing.
  private func openLine(_ port: WorkerPort, at now: Timestamp, into outbox: inout [WorkerOutput]) {
    guard let name = sensor.interrupt, line == nil, !lineFailed else { return }
    do {
      line = try port.line(name)
    } catch {
      lineFailed = true
      outbox.append(
        .diagnostic("\(sensor.chip) is polled, its interrupt line failed: \(error)", at: now))
    }
  }

  private func measure(
    _ driver: any AnySensor, _ port: WorkerPort, edge: Timestamp?, now: Timestamp,
    into outbox: inout [WorkerOutput]
  ) {
    let period = Double(driver.batch) / driver.outputRate
    var edge = edge
    defer { lastTurn = now }
    if now.seconds(since: lastTurn) > max(SuspensionMonitor.limit, 3 * period) {
      // Nobody has looked for long: the chip has gone on since its line rose, and was not silent.
      supervisor.ready(at: now)
      if edge != nil { driver.announce() }
      edge = nil
    }
    // What was left of a burst has its moment already.
    var hasMoment = driver.backlog > 0
    do throws(DriverError) {
      if let edge, edge.seconds(since: newest) > Self.shortestPeriod * period { driver.announce() }
      if let reading = try driver.poll() {
        if !hasMoment { newest = moment(of: driver, edge: edge, now: now) }
        hasMoment = true
        try deliver(reading, of: driver, edge: edge, now: now, into: &outbox)
        var waiting = driver.isSelfTimed ? Self.readingsPerLook : 0
        // What is left in the queue of a chip that gets another range is no longer what its counts say.
        while life.isMeasuring, driver.backlog > 0 || waiting > 0, let reading = try driver.poll() {
          waiting -= 1
          try deliver(
            reading, of: driver, edge: driver.isSelfTimed ? nil : edge, now: now, into: &outbox)
        }
        guard life.isMeasuring else { return }
        let wait = line != nil ? 1.5 : clock == nil ? Self.firstLook : 1
        due = now.advanced(bySeconds: period * wait)
      } else {
        if edge != nil { supervisor.metEmptyEdge() }
        due = now.advanced(bySeconds: period * (line == nil ? Self.nextLook : 0.5))
      }
      if let conversion = driver.conversionTime { due = port.now().advanced(bySeconds: conversion) }
      lastLook = now
      if now >= nextVerify {
        nextVerify = now.advanced(bySeconds: Self.verifyInterval)
        try driver.verify()
      }
      let limit = max(Self.silenceLimit, 3 * period)
      if supervisor.isSilent(at: now, limit: limit) {
        throw .notReady("no new conversion for \(Int((limit * 1000).rounded())) ms")
      }
    } catch {
      // A chip that measures on tells of the next conversion by its line, which is not to be forestalled.
      let isMeasuring = if case .overflow = error { line != nil } else { false }
      due = now.advanced(bySeconds: period * (isMeasuring ? 1.5 : 1))
      if driver.backlog > 0 {
        // The one that was beyond the range came with others, which are told at once, each with its own time.
        if !hasMoment { newest = moment(of: driver, edge: edge, now: now) }
        due = now
      }
      clock?.forget()
      fail(error, now: now, into: &outbox)
    }
  }

  /// When the newest conversion that a look has brought was complete.
  private func moment(of driver: any AnySensor, edge: Timestamp?, now: Timestamp) -> Timestamp {
    if let newest = clock?.newest(
      of: driver.backlog + 1, batch: driver.batch, edge: edge, now: now)
    {
      return newest
    }
    // With an edge the kernel knows the moment; else the conversion ended between the last look and this one.
    let since = min(now.seconds(since: lastLook), Self.nextLook / driver.outputRate)
    return edge ?? now.advanced(bySeconds: -since / 2)
  }

  private func deliver(
    _ reading: Reading, of driver: any AnySensor, edge: Timestamp?, now: Timestamp,
    into outbox: inout [WorkerOutput]
  ) throws(DriverError) {
    if reading == stuckAt { throw .stuck }
    stuckAt = nil
    lastReading = reading
    let after = Double(driver.backlog) * (clock?.period ?? 0)
    let time =
      ownTime(of: driver, now: now) ?? newest.advanced(bySeconds: -after - driver.latency)
    if reading.isClipped {
      takeOverflow(now: now, into: &outbox)
      // A chip that has said nothing good of late may be broken on these axes.
      guard supervisor.deliveredClipped() else { return }
    } else if supervisor.delivered(at: now) {
      // That it is back comes before what it says.
      outbox.append(.status(supervisor.status))
    }
    outbox.append(
      .reading(
        SensorReading(
          sensor: supervisor.status.index, sample: Sample(time: time, value: reading),
          edge: edge, outputRate: driver.outputRate)))
  }

  /// The time that a driver has for the reading which it has just given; `nil` where it has none, or one that cannot
  /// be: that is of another clock. One that goes on from the time before is of the right one, however late it comes.
  private func ownTime(of driver: any AnySensor, now: Timestamp) -> Timestamp? {
    let isKnown = lastTime > Timestamp(nanoseconds: .min)
    guard let time = driver.sampleTime, time > lastTime, time <= now,
      isKnown || now.seconds(since: time) < Self.silenceLimit
    else { return nil }
    lastTime = time
    return time
  }

  private func fail(_ error: DriverError, now: Timestamp, into outbox: inout [WorkerOutput]) {
    if case .overflow = error { return takeOverflow(now: now, into: &outbox) }
    guard let retry = supervisor.failed(error, starting: !life.isMeasuring, at: now) else { return }
    if error == .stuck { stuckAt = lastReading }
    life.fail()
    due = retry
    outbox.append(.status(supervisor.status))
  }

  /// Some axes were beyond the range: counts it, and takes a wider range where that happens again and again.
  private func takeOverflow(now: Timestamp, into outbox: inout [WorkerOutput]) {
    outbox.append(.beyondRange(sensor: supervisor.status.index, at: now))
    _ = supervisor.failed(.overflow, starting: !life.isMeasuring, at: now)
    guard life.isMeasuring else { return }
    widen(at: now, into: &outbox)
    // Still answering, but with no whole sample: say so, go on looking, through one range after the other. Of a slow chip
    // the second conversion in a row: the third comes when three periods are over.
    let limit = max(Self.silenceLimit, 1.5 / (life.driver?.outputRate ?? boardRate))
    if !supervisor.hasFailed, supervisor.hasNoSample(at: now, limit: limit) {
      supervisor.enter(.failed(supervisor.words(.overflow)), at: now)
      outbox.append(.status(supervisor.status))
    }
  }

  /// Gives a chip that is beyond its range again and again the next wider one, by another start; not where there is none,
  /// or no need yet.
  private func widen(at now: Timestamp, into outbox: inout [WorkerOutput]) {
    guard case .measuring(let driver) = life,
      overflows.isTooMany(at: now, outputRate: driver.outputRate), driver.widen()
    else { return }
    overflows.reset()
    widenings += 1
    life = .restarting(driver)
    due = now
    outbox.append(
      .diagnostic(
        "\(sensor.chip) at \(sensor.attachment) was beyond its measuring range and has the next wider one now",
        at: now))
  }

  var status: SensorStatus { supervisor.status }

  func resume(_ counters: SensorCounters) { supervisor.resume(counters) }
}
