import SensorBus
import SensorDrivers
import SensorTypes

/// A GNSS receiver in the schedule: opened, configured, read, watched for silence, opened again.
final class ReceiverTask: WorkerTask {
  /// Over I2C the receiver's buffer is looked into ten times a second at most: each look costs it work.
  private static let pollInterval = 0.1
  /// A serial port wakes the thread by itself; this is for the receiver's own deadlines.
  private static let idleInterval = 0.25
  /// Silence that counts as loss, seconds, however fast the receiver is: said within two, it is noticed a
  /// little before.
  private static let silenceLimit = 1.7

  private let make: (Port) throws(BusError) -> (receiver: any ReceiverDriver, stream: PortStream?)
  private let period: Double
  private var opened: (receiver: any ReceiverDriver, stream: PortStream?)?
  private var supervisor: Supervisor
  private var isWanted = false
  /// Whether the receiver was heard, or found silent, once: that is done whatever the demand.
  private var hasAnswered = false
  private(set) var due = Timestamp(nanoseconds: .min)

  init(
    index: Int, sensor: Board.Sensor, rate: Double,
    make: @escaping (Port) throws(BusError) -> (receiver: any ReceiverDriver, stream: PortStream?)
  ) {
    self.make = make
    period = 1 / rate
    supervisor = Supervisor(
      index: index, chip: sensor.chip, position: sensor.attachment.description)
  }

  var readiness: Readiness { opened?.stream?.readiness ?? .never }

  var status: SensorStatus { supervisor.status }

  func setWanted(_ wanted: Bool) {
    guard wanted != isWanted else { return }
    isWanted = wanted
    due = Timestamp(nanoseconds: .min)
  }

  func step(_ port: Port, at begin: Timestamp, into outbox: inout [Delivery]) {
    // Bytes wake the thread of a serial port before the timer does; looking costs one system call.
    guard begin >= due || opened?.stream != nil else { return }
    let now = port.now()
    guard isWanted || !hasAnswered else {
      opened = nil
      due = .distantFuture
      if supervisor.rested(at: now) { outbox.append(.status(supervisor.status)) }
      return
    }
    do throws(DriverError) {
      let (receiver, stream) = try open(port, at: now)
      due = now.advanced(bySeconds: stream == nil ? Self.pollInterval : Self.idleInterval)
      while let fix = try receiver.poll(now: now) {
        hasAnswered = true
        // That it is back comes before what it says.
        if supervisor.delivered(at: now) { outbox.append(.status(supervisor.status)) }
        outbox.append(.fix(sensor: supervisor.status.index, fix))
      }
      if let next = receiver.nextEpoch { due = min(due, next) }
      let limit = max(Self.silenceLimit, 3 * period)
      if supervisor.isSilent(at: now, limit: limit) {
        let error = DriverError.notReady(receiver.silence(of: limit))
        // One whose words change with what it learns is heard again.
        if !supervisor.hasFailed || (receiver.explainsSilence && !supervisor.hasFailed(error)) {
          throw error
        }
      }
    } catch {
      hasAnswered = true
      // A receiver keeps its own settings: it is read on, or opened anew where the line itself failed.
      if case .notReady = error {
        supervisor.silenced(error, at: now)
        outbox.append(.status(supervisor.status))
      } else if let retry = supervisor.failed(error, starting: opened == nil, at: now) {
        opened = nil
        due = retry
        outbox.append(.status(supervisor.status))
      }
    }
  }

  private func open(
    _ port: Port, at now: Timestamp
  ) throws(DriverError) -> (receiver: any ReceiverDriver, stream: PortStream?) {
    if let opened { return opened }
    do {
      let made = try make(port)
      opened = made
      supervisor.starting(at: now)
      supervisor.ready(at: now)
      return made
    } catch {
      throw .bus(error)
    }
  }
}
