import BoardFile
import Recording
import SensorBus
import SensorTypes

/// A receiver's time on its way to chrony: at most one sample a second to each socket, and what became of it.
final class ReceiverTime {
  /// The pause after a sample that was not taken, in seconds.
  static let pause = 5.0
  /// What an epoch may be before its second by the receiver's own resolution, in seconds.
  private static let tolerance = 0.01
  /// Attempts at reading the two clocks without an interruption.
  private static let attempts = 3

  fileprivate struct Output {
    var service: TimeService
    var sink: PortStream?
    /// The second of the newest sample, and when it may be tried again after one that was not taken.
    var second: Double?
    var retry: Timestamp?
    /// Samples that were not taken since one was.
    var missed: UInt64 = 0
    var wasSaid = false
  }

  private var outputs: [Output]

  init(_ output: TimeOutput) {
    outputs = [(output.messages, false), (output.pulses, true)].compactMap { path, isPulse in
      path.map { Output(service: TimeService(path: $0, isPulse: isPulse)) }
    }
  }

  /// The sockets, and whether their program takes what is sent.
  var services: [TimeService] { outputs.map(\.service) }

  /// Takes an epoch, and sends what it says of the time.
  ///
  /// - Parameter link: What is known of the receiver: whether it is a base station, and the next leap second.
  func take(_ fix: GNSSFix, _ link: ReceiverLink?, _ port: WorkerPort, at now: Timestamp) {
    guard let utc = fix.trustedUTC(isBase: link?.base?.phase == .fixed) else { return wait() }
    let leapSecond = link?.condition?.leapSecond
    for index in outputs.indices {
      let moment: Timestamp? =
        outputs[index].service.isPulse
        ? fix.pulseTime : fix.received.advanced(bySeconds: -GNSSFix.usualLatency)
      guard let moment else {
        outputs[index].idle()
        continue
      }
      let second = (utc + Self.tolerance).rounded(.down)
      guard second != outputs[index].second, outputs[index].retry.map({ now >= $0 }) ?? true,
        let clocks = clocks(port),
        let sample = TimeSample(
          utc: utc, moment: moment, clocks: clocks, leapSecond: leapSecond)
      else { continue }
      outputs[index].second = second
      outputs[index].send(sample, port, at: now)
    }
  }

  /// What a person should know and was not told: that chrony takes nothing, and that it does again.
  func takeNote() -> String? {
    for index in outputs.indices {
      if let note = outputs[index].takeNote() { return note }
    }
    return nil
  }

  /// The receiver is not listened to any more.
  func wait() {
    for index in outputs.indices { outputs[index].idle() }
  }

  private func clocks(_ port: WorkerPort) -> ClockPair? {
    for _ in 0..<Self.attempts {
      let before = port.now()
      let system = port.wallTime().seconds
      if let pair = ClockPair(before: before, system: system, after: port.now()) { return pair }
    }
    return nil
  }
}

extension ReceiverTime.Output {
  /// Nothing is sent at present. What was not taken stays said.
  fileprivate mutating func idle() {
    if service.state == .sending { service.state = .waiting }
  }

  fileprivate mutating func send(_ sample: TimeSample, _ port: WorkerPort, at now: Timestamp) {
    do throws(BusError) {
      let sink = try opened(port)
      let failure = sample.withBytes { bytes -> BusError? in
        do throws(BusError) {
          try sink.write(bytes)
          return nil
        } catch { return error }
      }
      if let failure { throw failure }
      service.state = .sending
      retry = nil
    } catch {
      missed &+= 1
      retry = now.advanced(bySeconds: ReceiverTime.pause)
      let why = if case .noConnection(let words) = error.reason { words } else { "\(error)" }
      service.state = .refused("chrony does not take it at \(service.path): \(why)")
    }
  }

  private mutating func opened(_ port: WorkerPort) throws(BusError) -> PortStream {
    if let sink { return sink }
    let opened = try port.connection(to: .datagrams(path: service.path))
    sink = opened
    return opened
  }

  fileprivate mutating func takeNote() -> String? {
    switch service.state {
    case .refused(let why) where !wasSaid:
      wasSaid = true
      return "gives the time, and \(why)"
    case .sending where wasSaid:
      wasSaid = false
      defer { missed = 0 }
      return
        "gives the time, and chrony takes it at \(service.path) (\(missed) samples were not taken)"
    default: return nil
    }
  }
}
