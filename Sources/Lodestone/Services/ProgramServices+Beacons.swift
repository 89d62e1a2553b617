// Beacons: the radio on one side, the services on the other.

import LocationServices
package import SensorBus
import SensorHub
import Synchronization

extension ProgramServices {
  /// Counters of the reception of beacons.
  var beaconCounters: BeaconCounters {
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
