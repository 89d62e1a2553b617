import BoardFile
import Recording
import SensorBus
import SensorDrivers
import SensorTypes

/// A GNSS receiver in the schedule: opened, configured, read, watched for silence, opened again, put to sleep.
final class ReceiverTask: WorkerTask {
  /// Over I2C the receiver's buffer is looked into ten times a second at most: each look costs it work.
  private static let pollInterval = 0.1
  /// A serial port wakes the thread by itself; this is for the receiver's own deadlines.
  private static let idleInterval = 0.25
  /// Silence that counts as loss, seconds, however fast the receiver is: said within two, it is noticed a
  /// little before.
  private static let silenceLimit = 1.7
  /// The same, in seconds, until it is heard after it was opened or woken: it may just have been powered, speaks once a
  /// second until it is configured, and its first epoch is known to be whole when the second one begins.
  private static let firstSilenceLimit = 3.5
  /// Seconds in which one that is to sleep is found: it is listened to and asked at every rate of the line.
  private static let searchTime = 30.0
  /// Between the times of two fixes that have to be kept in order, seconds.
  private static let orderStep = 1e-3

  private let make:
    (WorkerPort) throws(BusError) -> (receiver: any ReceiverDriver, stream: PortStream?)
  private let sensor: Board.Sensor
  private let period: Double
  private let pulse: ReceiverPulse?
  private let time: ReceiverTime?
  private var opened: (receiver: any ReceiverDriver, stream: PortStream?)?
  private var supervisor: Supervisor
  private var isWanted = false
  private var areSatellitesWanted = false
  /// Seconds between epochs that are wanted; `nil` for as fast as it goes.
  private var wantedInterval: Double?
  private var standstill = SuspensionMonitor()
  /// The time of the newest fix.
  private var lastTime: Timestamp?
  /// Seconds between epochs when it was last read.
  private var lastInterval: Double?
  private var isAsleep = false
  /// Commands that earlier openings of it did not take.
  private var refusalsBefore: UInt64 = 0
  /// What was said of it.
  private var note: String?
  private var notes = NoteLimit()
  /// Whether it was not heard since it was opened or woken.
  private var awaitsFirstWords = true
  /// Whether the receiver was heard, or found silent, once: that is done whatever the demand.
  private var hasAnswered = false
  private(set) var due = Timestamp(nanoseconds: .min)

  init(
    index: Int, sensor: Board.Sensor, rate: Double,
    make:
      @escaping (WorkerPort) throws(BusError) -> (receiver: any ReceiverDriver, stream: PortStream?)
  ) {
    self.make = make
    self.sensor = sensor
    period = 1 / rate
    pulse = sensor.pulse.map(ReceiverPulse.init)
    time = sensor.time.map(ReceiverTime.init)
    supervisor = Supervisor(
      index: index, chip: sensor.chip, position: sensor.attachment.description)
  }

  var readiness: Readiness { isAsleep ? .never : opened?.stream?.readiness ?? .never }

  var status: SensorStatus { supervisor.status }

  func resume(_ counters: SensorCounters) { supervisor.resume(counters) }

  func setWanted(_ wanted: Bool) {
    // A clock wants it always.
    let wanted = wanted || time != nil
    guard wanted != isWanted else { return }
    isWanted = wanted
    due = Timestamp(nanoseconds: .min)
  }

  /// Sets the seconds between epochs that all who ask for it together want, never less than by the board file's
  /// rate; `nil` for as fast as it goes.
  func setInterval(_ seconds: Double?) {
    let seconds = time == nil ? seconds : seconds.map { min($0, 1) }
    guard seconds != wantedInterval else { return }
    wantedInterval = seconds
    opened?.receiver.setInterval(seconds)
    if isWanted { due = Timestamp(nanoseconds: .min) }
  }

  func setSatellitesWanted(_ wanted: Bool) { areSatellitesWanted = wanted }

  func step(_ port: WorkerPort, at begin: Timestamp, into outbox: inout [WorkerOutput]) {
    // Bytes wake the thread of a serial port before the timer does; looking costs one system call.
    guard begin >= due || (opened?.stream != nil && !isAsleep) else { return }
    let retries = port.retries
    defer { supervisor.repeated(port.retries &- retries) }
    let now = port.now()
    guard isWanted || !hasAnswered else { return rest(now, into: &outbox) }
    do throws(DriverError) {
      let (receiver, stream) = try open(port, at: now)
      due = now.advanced(bySeconds: stream == nil ? Self.pollInterval : Self.idleInterval)
      // Nobody has listened: that nothing was heard is no fault of the receiver's.
      if standstill.look(at: now) {
        supervisor.ready(at: now)
      } else {
        supervisor.excuse(standstill.delay(after: 2 * Self.idleInterval))
      }
      pulse?.listen(port, at: now)
      if let boardTime = port.boardTime { receiver.setBoardTime(boardTime) }
      while var fix = try receiver.poll(now: now) {
        hasAnswered = true
        awaitsFirstWords = false
        guard standstill.date(&fix) else { continue }
        fix.pulseTime = pulse?.moment(of: fix)
        keepOrder(&fix)
        if let time { time.take(fix, receiver.link, port, at: now) }
        // That it is back comes before what it says.
        if supervisor.delivered(at: now) { outbox.append(.status(supervisor.status)) }
        outbox.append(.fix(sensor: supervisor.status.index, fix))
      }
      // Taken in any case: a round that nobody wanted is not kept for somebody who comes later.
      if let sky = receiver.takeSky(), areSatellitesWanted {
        outbox.append(.sky(sensor: supervisor.status.index, sky))
      }
      if let heading = receiver.takeHeading() {
        outbox.append(.receiverHeading(sensor: supervisor.status.index, heading))
      }
      if let next = receiver.nextEpoch { due = min(due, next) }
      learn(of: receiver, now, into: &outbox)
      let interval = receiver.interval ?? period
      // It is asked for more from here on: what it has been silent for was meant.
      if let lastInterval, interval < lastInterval { supervisor.ready(at: now) }
      lastInterval = interval
      let shortest = awaitsFirstWords ? Self.firstSilenceLimit : Self.silenceLimit
      let limit = max(shortest, 3 * interval)
      if supervisor.isSilent(at: now, limit: limit) {
        // Before it is found it cannot be put to sleep.
        if !sensor.sleeps || supervisor.isSilent(at: now, limit: Self.searchTime) {
          hasAnswered = true
        }
        let error = DriverError.notReady(receiver.silence(of: limit))
        // One whose words change with what it learns is heard again.
        if !supervisor.hasFailed || (receiver.explainsSilence && !supervisor.hasFailed(error)) {
          throw error
        }
      }
    } catch {
      // A receiver keeps its own settings: it is read on, or opened anew where the line itself failed.
      if case .notReady = error {
        supervisor.silenced(error, at: now)
        outbox.append(.status(supervisor.status))
        return
      }
      hasAnswered = true
      if let retry = supervisor.failed(error, starting: opened == nil, at: now) {
        close()
        due = retry
        outbox.append(.status(supervisor.status))
      }
    }
  }

  // Where a pulse comes into use its first moments may lie before the time of the fix before, which is that of a message.
  // Such a fix follows that one without the pulse's moment: time does not go back, and what is of the pulse is true.
  private func keepOrder(_ fix: inout GNSSFix) {
    defer { lastTime = fix.moment(latency: 0) }
    guard let moment = fix.pulseTime, let lastTime, moment <= lastTime else { return }
    fix.pulseTime = nil
    fix.received = min(fix.received, lastTime.advanced(bySeconds: Self.orderStep))
  }

  /// Nobody asks for it: it sleeps where the board file lets it, and is let go where it cannot.
  private func rest(_ now: Timestamp, into outbox: inout [WorkerOutput]) {
    due = .distantFuture
    if supervisor.rested(at: now) { outbox.append(.status(supervisor.status)) }
    guard sensor.sleeps, let receiver = opened?.receiver else { return letGo() }
    do {
      switch try receiver.rest(now: now) {
      case .underWay:
        // Wanted again it has been silent from then on.
        supervisor.ready(at: now)
        due = now.advanced(bySeconds: Self.idleInterval)
      case .asleep:
        isAsleep = true
        pulse?.forget()
        standstill.forget()
      case .impossible: letGo()
      }
    } catch {
      close()
    }
  }

  /// A receiver that speaks once a minute would be looked for at the wrong rates of its line.
  func finish() { opened?.receiver.finish() }

  private func letGo() {
    finish()
    close()
  }

  private func close() {
    refusalsBefore &+= opened?.receiver.refusals ?? 0
    opened = nil
    lastInterval = nil
    isAsleep = false
    pulse?.forget()
    time?.wait()
    standstill.forget()
  }

  private func learn(
    of receiver: any ReceiverDriver, _ now: Timestamp, into outbox: inout [WorkerOutput]
  ) {
    if supervisor.learned(receiver.identity, refusals: refusalsBefore &+ receiver.refusals),
      let identity = supervisor.status.identity
    {
      outbox.append(.identity(sensor: supervisor.status.index, identity))
    }
    var current = receiver.link
    if let pulse {
      if let note = pulse.takeNote() { say(note, now, into: &outbox) }
      current = current ?? ReceiverLink()
      current?.pulse = pulse.use
    }
    if let time {
      if let note = time.takeNote() { say(note, now, into: &outbox) }
      current = current ?? ReceiverLink()
      current?.timeServices = time.services
    }
    if supervisor.learned(current), let link = supervisor.status.link {
      outbox.append(.link(sensor: supervisor.status.index, link))
    }
    // One that must wait is said later, if it is still so.
    guard let note = receiver.note, note != self.note, say(note, now, into: &outbox) else { return }
    self.note = note
  }

  @discardableResult
  private func say(
    _ words: String, _ now: Timestamp, into outbox: inout [WorkerOutput]
  ) -> Bool {
    guard let words = notes.admit(words, at: now) else { return false }
    outbox.append(.diagnostic("\(sensor.chip) at \(sensor.attachment) \(words)", at: now))
    return true
  }

  private func open(
    _ port: WorkerPort, at now: Timestamp
  ) throws(DriverError) -> (receiver: any ReceiverDriver, stream: PortStream?) {
    if let opened {
      if isAsleep {
        isAsleep = false
        begin(at: now)
      }
      // One that was falling asleep as it was wanted again is woken when it sleeps.
      try opened.receiver.wake(now: now)
      return opened
    }
    do {
      let made = try make(port)
      made.receiver.setInterval(wantedInterval)
      opened = made
      begin(at: now)
      return made
    } catch {
      throw .bus(error)
    }
  }

  private func begin(at now: Timestamp) {
    awaitsFirstWords = true
    supervisor.starting(at: now)
    supervisor.ready(at: now)
  }
}
