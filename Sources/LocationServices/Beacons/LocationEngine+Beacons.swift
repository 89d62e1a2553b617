// Beacons among the services: who wants them, and who is told.

import SensorTypes

/// What the engine knows of beacons.
struct BeaconServices: Sendable {
  var ranging = BeaconRanging()
  /// Whether the radio listens.
  var isListening = false
  /// Why it does not.
  var failure: BeaconFailure?
}

extension LocationEngine {
  /// Whether the radio is to listen: somebody ranges, or somebody would hear of a region that is watched.
  package var wantsBeacons: Bool {
    guard mayHearBeacons else { return false }
    return beacons.ranging.isWanted || regions.wantsBeacons { clients.hearRegions(of: $0) }
  }

  /// Whether the application may know of beacons, which say where it is as exactly as positions.
  private var mayHearBeacons: Bool { authorization.mayLocate && judgesRegions }

  /// Beacons that were dropped because too many were in range; it only grows.
  package var droppedBeacons: UInt64 { beacons.ranging.dropped }

  var beaconDeadline: Timestamp? {
    guard beacons.isListening else { return nil }
    return Self.earlier(beacons.ranging.deadline, regions.beaconDeadline)
  }

  /// Takes what the radio says. What the time makes due comes before it.
  package mutating func handle(_ news: BeaconNews, emit: (ServiceEvent) -> Void) {
    switch news {
    case .listening(let time):
      (beacons.isListening, beacons.failure) = (true, nil)
      beacons.ranging.begin(at: time)
      regions.beginBeacons(at: time)
    case .heard(let sighting):
      advance(to: sighting.time, emit: emit)
      guard beacons.isListening, mayHearBeacons else { return }
      beacons.ranging.take(sighting)
      let clients = clients
      regions.take(sighting) {
        clients.hearRegions(of: $0)
      } tell: {
        clients.tell($0, emit)
      }
    case .failed(let failure, let time):
      let isNew = beacons.failure != failure
      beaconsSleep()
      beacons.failure = failure
      guard isNew else { return }
      beacons.ranging.forEach { client, constraint in
        let told = RangingFailure(constraint: constraint, failure: failure)
        emit(ServiceEvent(client: client, content: .rangingFailed(told)))
      }
      for region in monitoredRegions where region.beacons != nil {
        clients.tell(
          RegionEvent(region: region, kind: .failed(.unheard(failure.reason)), time: time), emit)
      }
    }
  }

  /// The radio sleeps, because nobody wants it: it neither hears nor fails.
  package mutating func beaconsSleep() {
    (beacons.isListening, beacons.failure) = (false, nil)
    regions.endBeacons()
  }

  mutating func startRanging(
    _ constraint: BeaconConstraint, by client: ClientID, at now: Timestamp,
    _ emit: (ServiceEvent) -> Void
  ) {
    let problem = beacons.ranging.start(constraint, by: client, at: now)
    let failure = problem.map { BeaconFailure(isUnavailable: false, reason: $0) }
    let denial = regionDenial.map { BeaconFailure.denied($0) }
    guard let failure = failure ?? denial ?? beacons.failure else { return }
    let told = RangingFailure(constraint: constraint, failure: failure)
    emit(ServiceEvent(client: client, content: .rangingFailed(told)))
  }

  /// A region was added: if its beacons cannot be heard somebody has to say so.
  mutating func beaconsWereAdded(
    _ region: MonitoredRegion, by client: ClientID, at now: Timestamp,
    _ emit: (ServiceEvent) -> Void
  ) {
    guard region.beacons != nil else { return }
    if beacons.isListening { regions.beginBeacons(at: now) }
    guard let failure = beacons.failure, monitoredRegions.contains(region) else { return }
    let event = RegionEvent(region: region, kind: .failed(.unheard(failure.reason)), time: now)
    if region.monitor == nil {
      emit(ServiceEvent(client: client, content: .region(event)))
    } else {
      clients.tell(event, emit)
    }
  }

  mutating func advanceBeacons(to now: Timestamp, _ emit: (ServiceEvent) -> Void) {
    guard beacons.isListening, mayHearBeacons else { return }
    let clients = clients
    beacons.ranging.advance(to: now) { client, report in
      // An old report is worth nothing to a client that wakes up: the next one is for it.
      guard clients.contains(where: { $0.id == client && !$0.isSuspended }) else { return }
      emit(ServiceEvent(client: client, content: .beacons(report)))
    }
    regions.advanceBeacons(to: now) {
      clients.hearRegions(of: $0)
    } tell: {
      clients.tell($0, emit)
    }
  }
}
