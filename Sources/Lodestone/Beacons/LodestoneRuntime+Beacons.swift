// Beacons: the radio on one side, the services on the other.

import LocationServices
package import SensorBus
import SensorHub
import Synchronization

/// What was counted on the way from the radio to the services; every number only grows.
public struct BeaconCounters: Hashable, Sendable {
  /// Attempts to listen.
  public var attempts: UInt64
  /// Attempts that led to nothing, and losses.
  public var failures: UInt64
  /// Advertisements that were heard, of whatever kind.
  public var heard: UInt64
  /// Messages of the Bluetooth service that did not hold what they should.
  public var malformed: UInt64
  /// Devices and beacons that were forgotten because too many are around.
  public var forgotten: UInt64
}

extension LodestoneRuntime {
  /// Why beacons cannot be heard at the moment, for a person; `nil` where an adapter is there and powered. Asked of the
  /// system's Bluetooth service, which may take two seconds.
  public var beaconProblem: String? { radio.problem?.description }

  /// What was counted of beacons.
  public var beaconCounters: BeaconCounters {
    let (counters, dropped) = (radio.counters, services.withLock { $0.engine.droppedBeacons })
    return BeaconCounters(
      attempts: counters.attempts, failures: counters.failures, heard: counters.heard,
      malformed: counters.malformed, forgotten: counters.forgotten + dropped)
  }

  /// Puts another source of advertisements in the place of the present one.
  package func install(beacons source: any AdvertisementSource) {
    radio.replace(source)
    services.withLock { $0.engine.beaconsSleep() }
    applyBeaconDemand()
  }

  func applyBeaconDemand() {
    radio.apply {
      services.withLock { $0.engine.wantsBeacons }
    } sleeps: {
      services.withLock { $0.engine.beaconsSleep() }
    } _: { [weak self] news in
      self?.take(news)
    }
  }

  private func take(_ news: AdvertisementNews) {
    guard let news = BeaconNews(news) else { return }
    change { engine, emit in engine.handle(news, emit: emit) }
  }
}

extension BeaconNews {
  /// What advertisements mean for beacons; `nil` for what is none.
  init?(_ news: AdvertisementNews) {
    switch news {
    case .listening(let time): self = .listening(time)
    case .heard(let heard):
      guard let beacon = BeaconAdvertisement(company: heard.company, data: heard.data) else {
        return nil
      }
      self = .heard(BeaconSighting(beacon, strength: heard.strength, time: heard.time))
    case .failed(let failure, let time):
      self = .failed(
        BeaconFailure(isUnavailable: failure.isUnavailable, reason: failure.description), time)
    }
  }
}
