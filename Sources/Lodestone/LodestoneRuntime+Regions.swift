// Regions are the application's: the managers share theirs, and each monitor has its own.

public import LocationServices
import SensorHub
import Synchronization

/// What is known of a region that is watched.
package struct RegionRecord: Sendable {
  /// The region.
  package var region: MonitoredRegion
  /// On which side of its boundary the application knows the board to be.
  package var state: RegionState
  /// Since when, seconds since 1970; `nil` where it was not kept.
  package var date: Double?
}

extension LodestoneRuntime {
  /// The regions that are watched, of managers and monitors.
  public var monitoredRegions: [MonitoredRegion] {
    services.withLock { $0.engine.monitoredRegions }
  }

  /// What the application knows of a monitor's regions, in the order in which they were added.
  package func regionRecords(of monitor: String) -> [RegionRecord] {
    regionStore.records.filter { $0.region.monitor == monitor }
      .map { RegionRecord(region: $0.region, state: $0.state, date: $0.date) }
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

  /// Holds what was found of a monitor's regions and told nobody as not found: whoever hears of them next is told.
  package func rewindRegions(of monitor: String) {
    let records = regionStore.records.filter { $0.region.monitor == monitor }
    services.withLock { services in
      for record in records { services.engine.reset(record.region.key, to: record.state) }
    }
  }

  /// Watches a region, in the place of one with the same name; of one that was not watched before `state` is taken as
  /// known. The client is told whether it is watched.
  ///
  /// Returns why it is watched until the program ends only, where nothing can be kept.
  public func startMonitoring(
    _ region: MonitoredRegion, assuming state: RegionState = .unknown, by client: ClientID
  ) -> String? {
    send(ServiceRequest(client, .startRegion(region, assuming: state)))
    guard monitoredRegions.contains(region) else { return nil }
    do {
      try regionStore.start(region, assuming: state, at: wallTime)
      return nil
    } catch { return "\(error)" }
  }

  /// Watches a region no longer; nothing where it is not watched.
  public func stopMonitoring(_ region: RegionKey, by client: ClientID) {
    send(ServiceRequest(client, .stopRegion(region)))
    // One that stays in the file is watched again by the next run, which is all that can go wrong.
    try? regionStore.stop(region)
  }

  /// Keeps what an event says, and has the application told of it, unless the region is watched no longer.
  public func tell(_ event: RegionEvent, _ body: () -> Void) {
    guard let state = event.state else { return body() }
    let isWatched = services.withLock { services in
      services.engine.state(of: event.region.key) != nil
    }
    guard isWatched else { return }
    // Where it cannot be kept the application is told all the same, by the next run once more.
    try? regionStore.keep(event.region.key, state, at: event.utc ?? wallTime(of: event.time))
    body()
    try? regionStore.force()
  }
}
