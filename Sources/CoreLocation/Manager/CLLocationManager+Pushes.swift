// Locations that a server asks for, and those of the past: a board has neither, and says so.

public import Foundation

extension CLLocationManager {
  /// Fails: a board has no push service. The completion is called later, on the manager's run loop, with
  /// `CLLocationPushServiceError.unsupportedPlatform`.
  public func startMonitoringLocationPushes(completion: ((Data?, (any Error)?) -> Void)? = nil) {
    guard let completion else { return }
    // It goes to the manager's thread, and nobody else has it from here on.
    nonisolated(unsafe) let handler = completion
    delivery.answer { _ in handler(nil, Self.noPushes) }
  }

  /// Fails with `CLLocationPushServiceError.unsupportedPlatform`: a board has no push service. It needs no run loop.
  public func startMonitoringLocationPushes(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Data { throw Self.noPushes }

  /// Does nothing: a board has no pushes that could be stopped.
  public func stopMonitoringLocationPushes() {}

  /// Fails: nothing is kept of where a board was. The handler is called later, on the manager's run loop, without locations
  /// and with `CLError.historicalLocationError`.
  public func requestHistoricalLocations(
    purposeKey: String, sampleCount: Int,
    completionHandler handler: @escaping @Sendable ([CLLocation], (any Error)?) -> Void
  ) { delivery.answer { _ in handler([], Self.noHistory) } }

  /// Fails with `CLError.historicalLocationError`: nothing is kept of where a board was. It needs no run loop.
  public func historicalLocations(
    purposeKey: String, sampleCount: Int, isolation: isolated (any Actor)? = #isolation
  ) async throws -> [CLLocation] { throw Self.noHistory }

  private static var noPushes: CLLocationPushServiceError {
    CLLocationPushServiceError(
      .unsupportedPlatform,
      userInfo: [NSLocalizedDescriptionKey: "a board has no service for location pushes"])
  }

  private static var noHistory: CLError {
    CLError(
      .historicalLocationError,
      userInfo: [NSLocalizedDescriptionKey: "nothing is kept of where a board was"])
  }
}

/// The extension of an application that is woken by location pushes. A board has none, and calls nobody.
public protocol CLLocationPushServiceExtension: NSObjectProtocol {
  /// A location is asked for: not called on a board.
  func didReceiveLocationPushPayload(
    _ payload: [String: Any], completion: @escaping () -> Void)

  /// It has taken too long, and is about to be ended: not called on a board.
  func serviceExtensionWillTerminate()
}

extension CLLocationPushServiceExtension {
  /// Does nothing; it is not called on a board.
  public func serviceExtensionWillTerminate() {}
}
