// What a manager could do under another name, or in another way.

import LocationServices

extension CLLocationManager {
  /// Whether there can be headings on this board: the older form of the class's method.
  @available(*, deprecated, message: "use the class method headingAvailable()")
  public var headingAvailable: Bool { Self.headingAvailable() }

  /// Whether a receiver answers on this board: the older form of the class's method.
  @available(*, deprecated, message: "use the class method locationServicesEnabled()")
  public var locationServicesEnabled: Bool { Self.locationServicesEnabled() }

  /// Whether circular regions can be monitored on this board.
  @available(*, deprecated, message: "use isMonitoringAvailable(for:)")
  public class func regionMonitoringAvailable() -> Bool {
    isMonitoringAvailable(for: CLCircularRegion.self)
  }

  /// Whether circular regions can be monitored, and the application may have locations at all times.
  @available(*, deprecated, message: "use isMonitoringAvailable(for:) and authorizationStatus")
  public class func regionMonitoringEnabled() -> Bool {
    isMonitoringAvailable(for: CLCircularRegion.self)
      && processPort.ask(.authorization).status == .always
  }

  /// Watches a region, as `startMonitoring(for:)` does. How far beyond the boundary a crossing is told is not asked for: it
  /// follows from the accuracy of the positions.
  @available(*, deprecated, renamed: "startMonitoring(for:)")
  public func startMonitoring(
    for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy
  ) { startMonitoring(for: region) }

  /// The spelling of 2014 for `startMonitoring(for:)`.
  @available(*, deprecated, renamed: "startMonitoring(for:)")
  public func startMonitoringForRegion(_ region: CLRegion) { startMonitoring(for: region) }

  /// The spelling of 2014 for `stopMonitoring(for:)`.
  @available(*, deprecated, renamed: "stopMonitoring(for:)")
  public func stopMonitoringForRegion(_ region: CLRegion) { stopMonitoring(for: region) }

  /// The spelling of 2014 for `requestState(for:)`.
  @available(*, deprecated, renamed: "requestState(for:)")
  public func requestStateForRegion(_ region: CLRegion) { requestState(for: region) }
}
