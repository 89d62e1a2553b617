// The board of a process: opened when it is needed, tried again when it is not there.

import Dispatch
import Inboxes
import LocationServices
import SensorHub
import SensorTypes
import StateStore
import Synchronization

extension ProgramServices {
  // The demand is read and set under one lock: two clients that start and stop at once cannot leave the
  // older of two demands standing.
  func applyDemand() {
    let isMissing = link.withLock { link in
      let (demand, isPositionOpen, wantsReadings, isObserved) = services.withLock {
        (
          $0.engine.demand, $0.engine.positionIsOpen, $0.engine.wantsReadings,
          $0.engine.isObserved
        )
      }
      guard let source = link.source else { return demand != Demand() || isObserved }
      if link.isPositionOpen != isPositionOpen { tellPositionIsOpen(&link, isPositionOpen) }
      if wantsReadings != (link.readings != nil) {
        link.readings?.cancel()
        link.readings =
          wantsReadings
          ? source.subscribe(readings: { [weak self] (reading: SensorReading) in self?.take(reading)
          }) : nil
      }
      if link.demand != demand {
        link.demand = demand
        source.setDemand(demand)
      }
      return false
    }
    if isMissing {
      opener.async { [weak self] in self?.openOrRetry() }
    }
    applyBeaconDemand()
  }

  // A board that could not be opened may be there later (a bus whose driver loads late, a file that is
  // being mended): tried again for as long as somebody asks for something.
  private func openOrRetry() {
    guard open() == nil else { return }
    let isFirst = link.withLock { link in
      defer { link.isRetrying = true }
      return !link.isRetrying
    }
    guard isFirst else { return }
    opener.asyncAfter(deadline: .now() + Self.retryPause) { [weak self] in
      guard let self else { return }
      link.withLock { $0.isRetrying = false }
      let isWanted = services.withLock { $0.engine.demand != Demand() || $0.engine.isObserved }
      if isWanted { openOrRetry() }
    }
  }

  // Only ever on `opener`.
  func open() -> (any ObservationSource)? {
    let now = clocks.now()
    let isTooSoon = link.withLock { link in
      guard link.source == nil, let last = link.lastAttempt else { return link.source != nil }
      return now.seconds(since: last) < Self.retryPause
    }
    guard !isTooSoon else { return link.withLock { $0.source } }
    do {
      let source = try factory()
      install(source)
      return source
    } catch {
      link.withLock { link in
        link.lastAttempt = now
        link.failure = String(describing: error)
      }
      // A client that waits must hear that it waits for nothing.
      let reason = NoData.noBoard("\(error)")
      take(.locationUnavailable(reason, at: now))
      take(.headingUnavailable(reason, at: now))
      take(.altitudeUnavailable(reason, at: now))
      for sensor in MotionSensor.allCases {
        take(.motionUnavailable(sensor, reason, at: now))
      }
      take(.wavesUnavailable(reason, at: now))
      return nil
    }
  }
}
