import Recording
import SensorBus
import SensorTypes

/// The line of a receiver's pulse in the schedule: opened once, its edges taken, and what is wrong with it said.
final class ReceiverPulse {
  private let name: InterruptLineName
  private var line: PortLine?
  private var clock = PulseClock()
  /// Why the line cannot be had; it is not tried again, as an interrupt's.
  private var failure: String?
  /// Whether it was said that the pulse is not used.
  private var wasSaid = false

  init(_ name: InterruptLineName) { self.name = name }

  /// How it is used.
  var use: PulseUse {
    if let failure { return .unusable(failure) }
    return switch clock.state {
    case .waiting: .waiting
    case .inUse: .inUse
    case .unusable(let fault): .unusable(fault.words)
    }
  }

  /// Takes what has come on the line; before the epochs of the same look.
  func listen(_ port: WorkerPort, at now: Timestamp) {
    guard failure == nil else { return }
    do throws(BusError) {
      let line = try opened(port)
      let edges = try line.takeEdges()
      clock.take(edge: edges?.newest, count: edges?.count ?? 0, at: now)
      if clock.isLookDue(at: now) {
        clock.saw(isHigh: try line.isHigh())
      }
    } catch {
      failure = "its line failed: \(error)"
      line = nil
      clock.forget()
    }
  }

  /// The moment of an epoch; `nil` where no pulse tells it.
  func moment(of fix: GNSSFix) -> Timestamp? { clock.moment(of: fix) }

  /// The receiver is not listened to any more.
  func forget() { clock.forget() }

  /// What a person should know and was not told: once when it is not used, once when it is again.
  func takeNote() -> String? {
    switch use {
    case .unusable(let reason) where !wasSaid:
      wasSaid = true
      return "gives no PPS that is of use: \(reason)"
    case .inUse where wasSaid:
      wasSaid = false
      return "gives a PPS that is used now"
    default: return nil
    }
  }

  private func opened(_ port: WorkerPort) throws(BusError) -> PortLine {
    if let line { return line }
    let opened = try port.line(name)
    line = opened
    return opened
  }
}

extension PulseRejection {
  /// For a person: what it is, and where to look.
  var words: String {
    switch self {
    case .missing: "no pulse comes: check its wire"
    case .irregular:
      "its pulses do not lie a second apart: check its wire, and that it gives one a second"
    case .inverted:
      "its line rises where a pulse ends: turn the polarity, in the receiver or on the way"
    case .unmatched: "the receiver's messages name other seconds than its pulses count"
    }
  }
}
