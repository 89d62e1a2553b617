// Regions are the application's: the managers share theirs, and each monitor has its own.

import Dispatch
package import LocationServices
import SensorHub
import SensorTypes
import Synchronization

extension ProgramServices {
  /// The regions that are watched, of managers and monitors.
  package var monitoredRegions: [MonitoredRegion] {
    services.withLock { $0.engine.monitoredRegions }
  }

  /// Removes the file of the regions if none is watched.
  package func discardEmptyStore() { regionStore.discardIfEmpty() }

  /// Whether the regions outlive the program and its services.
  package var keepsRegions: Bool { regionStore.isKept }

  /// Watches again what earlier runs of the application have watched; only the first call does anything. Another thread's
  /// waits for it.
  func beginRegions() {
    var isChanged = false
    regionStore.begin { records in
      services.withLock { state in
        for record in records { state.engine.restore(record.region, state: record.state) }
      }
      isChanged = !records.isEmpty
    }
    if isChanged { applyDemand() }
  }

  /// The regions of a monitor, or of the managers, with what is known of each.
  func regions(of monitor: String?) -> RegionList {
    beginRegions()
    let watched = monitoredRegions.filter { $0.monitor == monitor }
    let (kept, problem) = (regionStore.records, regionStore.problem)
    let records = watched.map { region in
      let record = kept.first { $0.region.key == region.key }
      return RegionRecord(region: region, state: record?.state ?? .unknown, date: record?.date)
    }
    return RegionList(records: records, problem: problem)
  }

  /// Keeps what an event says; whether the application is to be told of it: not where the region is watched no longer.
  func keep(_ event: RegionEvent) -> Bool {
    guard let state = event.state else { return true }
    if let away {
      away.told(event, at: event.utc ?? wallTime(of: event.time))
      Self.keeping.async { [weak self] in self?.saveAway() }
    }
    let isWatched = services.withLock { $0.engine.state(of: event.region.key) != nil }
    guard isWatched else { return false }
    // Where it cannot be kept the application is told all the same, by the next run once more.
    try? regionStore.keep(event.region.key, state, at: event.utc ?? wallTime(of: event.time))
    return true
  }

  /// Keeps which regions are watched, after a request that changes it.
  func keepRegion(_ request: ServiceRequest) {
    switch request.action {
    case .startRegion(let region, let state):
      guard monitoredRegions.contains(region) else { return }
      do {
        try regionStore.start(region, assuming: state, at: wallTime)
      } catch {
        guard region.monitor == nil else { return }
        let event = RegionEvent(region: region, kind: .unkept("\(error)"), time: clocks.now())
        services.withLock { state in
          hand(ServiceEvent(client: request.client, content: .region(event)), to: state.clients)
        }
      }
    // One that stays in the file is watched again by the next run, which is all that can go wrong.
    case .stopRegion(let key): try? regionStore.stop(key)
    default: break
    }
  }

  /// Tells the first that hears of the managers' regions, once, why those of earlier runs cannot be read; with `services`
  /// held.
  func tellUnreadable(_ request: ServiceRequest, _ state: inout Services) {
    guard case .configure(let settings) = request.action, settings.hearsRegions,
      settings.monitor == nil, let problem = regionStore.takeUnreadable()
    else { return }
    hand(
      ServiceEvent(client: request.client, content: .regionsUnreadable(problem)), to: state.clients)
  }
}
