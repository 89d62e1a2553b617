// Regions are the application's, whichever manager has asked for them.

public import LocationServices
import Synchronization

extension LodestoneRuntime {
  /// The regions that are watched.
  public var monitoredRegions: [MonitoredRegion] {
    services.withLock { $0.engine.monitoredRegions }
  }

  /// Watches again what earlier runs of the application have watched; only the first call does anything. Returns why
  /// that cannot be read, for a person.
  public func restoreRegions() -> String? {
    do {
      let records = try regionStore.load()
      guard !records.isEmpty else { return nil }
      services.withLock { services in
        for record in records {
          services.engine.restore(record.region, state: record.state)
        }
      }
      applyDemand()
      return nil
    } catch { return "\(error)" }
  }

  /// Watches a region, in the place of one with the same name. The client is told whether it is.
  ///
  /// Returns why it is watched until the program ends only, where nothing can be kept.
  public func startMonitoring(_ region: MonitoredRegion, by client: ClientID) -> String? {
    send(ServiceRequest(client, .startRegion(region)))
    guard monitoredRegions.contains(region) else { return nil }
    do {
      try regionStore.start(region)
      return nil
    } catch { return "\(error)" }
  }

  /// Watches a region no longer; nothing where it is not watched.
  public func stopMonitoring(_ identifier: String, by client: ClientID) {
    send(ServiceRequest(client, .stopRegion(identifier)))
    // One that stays in the file is watched again by the next run, which is all that can go wrong.
    try? regionStore.stop(identifier)
  }

  /// Keeps what an event says, and has the application told of it, unless the region is watched no longer.
  public func tell(_ event: RegionEvent, _ body: () -> Void) {
    guard let state = event.state else { return body() }
    let isWatched = services.withLock { services in
      services.engine.monitoredRegions.contains { $0.identifier == event.region.identifier }
    }
    guard isWatched else { return }
    // Where it cannot be kept the application is told all the same, by the next run once more.
    try? regionStore.keep(event.region, state)
    body()
    try? regionStore.force()
  }
}
