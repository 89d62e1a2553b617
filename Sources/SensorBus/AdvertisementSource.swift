// What a radio hears of devices that speak to nobody in particular.

package import SensorTypes

/// Manufacturer data that was heard once.
package struct Advertisement: Hashable, Sendable {
  /// The number of the company whose format it is.
  package var company: UInt16
  package var data: [UInt8]
  /// How strong it was, dBm as the radio says it; `nil`: it says nothing.
  package var strength: Int?
  package var time: Timestamp

  package init(company: UInt16, data: [UInt8], strength: Int?, time: Timestamp) {
    (self.company, self.data, self.strength, self.time) = (company, data, strength, time)
  }
}

/// Why nothing is heard, as a person would say it.
package enum AdvertisementFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is nothing to hear with on this board; why.
  case notEquipped(String)
  /// There is no radio.
  case noAdapter
  /// The radio is switched off; its name.
  case poweredOff(String)
  /// This user may not; what was refused.
  case notPermitted(String)
  /// What it is heard by has ended, or refuses; in words.
  case failed(String)

  /// Whether there is nothing to hear with, rather than something that fails.
  package var isUnavailable: Bool { if case .failed = self { false } else { true } }

  /// One line: what happened, and what to do.
  package var description: String {
    switch self {
    case .notEquipped(let why): why
    case .noAdapter: "no Bluetooth adapter: plug one in, or enable the board's own"
    case .poweredOff(let name): "Bluetooth adapter \(name) is off: `bluetoothctl power on`"
    case .notPermitted(let what):
      "this user may not use Bluetooth: the group `bluetooth` may (\(what))"
    case .failed(let why): why
    }
  }
}

/// What a source of advertisements says.
package enum AdvertisementNews: Sendable, Hashable {
  /// It listens from now on.
  case listening(Timestamp)
  /// It has heard one.
  case heard(Advertisement)
  /// It hears nothing, and why; it goes on trying. Said once a loss.
  case failed(AdvertisementFailure, Timestamp)
}

/// What a source has counted; every number only grows.
package struct AdvertisementCounters: Hashable, Sendable {
  package var attempts: UInt64 = 0
  /// Attempts that led to nothing, and losses.
  package var failures: UInt64 = 0
  /// Advertisements that were heard.
  package var heard: UInt64 = 0
  /// Messages that did not hold what they should.
  package var malformed: UInt64 = 0
  /// Devices that were forgotten because too many are around.
  package var forgotten: UInt64 = 0

  /// Makes counters of nothing.
  package init() {}
}

/// Hears advertisements while it is started.
package protocol AdvertisementSource: AnyObject, Sendable {
  /// Starts, and calls the handler on one thread at a time until it is stopped; also before `start` has returned, and from
  /// it. It is only called while it is stopped.
  func start(_ handler: @escaping @Sendable (AdvertisementNews) -> Void)

  /// Stops; a call that is under way on another thread may still finish.
  func stop()

  /// Why nothing could be heard now, asked of the hardware, which may take some seconds; `nil` where all is there.
  func problem() -> AdvertisementFailure?

  /// What it has counted.
  var counters: AdvertisementCounters { get }
}
