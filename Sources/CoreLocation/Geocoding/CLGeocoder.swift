// From places to names and back: not on a board.

public import Foundation
import Synchronization

/// What a request for names of a place, or places of a name, is answered with: places, or why there are none, which is all
/// that a board has to say.
public typealias CLGeocodeCompletionHandler = ([CLPlacemark]?, (any Error)?) -> Void

/// Turns places into addresses and addresses into places.
///
/// A board has no service for that, and nothing is made up: every request fails with `CLError.network`, later, on the
/// main queue, as it does on a phone without a network. A request that is made while another is under way, or that was
/// cancelled, fails with `CLError.geocodeCanceled`.
open class CLGeocoder: NSObject {
  private let pending = PendingRequest()

  /// Makes a geocoder.
  public override init() {}

  /// Whether a request waits for its answer.
  open var isGeocoding: Bool { pending.isWaiting }

  /// Asks for the address of a location: fails on a board.
  open func reverseGeocodeLocation(
    _ location: CLLocation, completionHandler: @escaping CLGeocodeCompletionHandler
  ) { pending.begin(completionHandler) }

  /// Asks for the address of a location, in a language: fails on a board.
  open func reverseGeocodeLocation(
    _ location: CLLocation, preferredLocale locale: Locale?,
    completionHandler: @escaping CLGeocodeCompletionHandler
  ) { pending.begin(completionHandler) }

  /// Asks for the place of an address: fails on a board.
  open func geocodeAddressString(
    _ addressString: String, completionHandler: @escaping CLGeocodeCompletionHandler
  ) { pending.begin(completionHandler) }

  /// Asks for the place of an address within a region: fails on a board.
  open func geocodeAddressString(
    _ addressString: String, in region: CLRegion?,
    completionHandler: @escaping CLGeocodeCompletionHandler
  ) { pending.begin(completionHandler) }

  /// Asks for the place of an address within a region, in a language: fails on a board.
  open func geocodeAddressString(
    _ addressString: String, in region: CLRegion?, preferredLocale locale: Locale?,
    completionHandler: @escaping CLGeocodeCompletionHandler
  ) { pending.begin(completionHandler) }

  /// Asks for the place of an address within a circle, metres, in a language: fails on a board.
  open func geocodeAddressString(
    _ addressString: String, inRegionCenteredAt centroid: CLLocationCoordinate2D,
    inRegionRadius radius: CLLocationDistance, preferredLocale locale: Locale?,
    completionHandler: @escaping CLGeocodeCompletionHandler
  ) { pending.begin(completionHandler) }

  /// Asks for the place of an address in parts: fails on a board.
  @available(*, deprecated, message: "use geocodeAddressString(_:completionHandler:)")
  open func geocodeAddressDictionary(
    _ addressDictionary: [AnyHashable: Any],
    completionHandler: @escaping CLGeocodeCompletionHandler
  ) { pending.begin(completionHandler) }

  /// Asks for the address of a location: fails on a board.
  open func reverseGeocodeLocation(
    _ location: CLLocation, preferredLocale locale: Locale? = nil
  ) async throws -> [CLPlacemark] { throw CLError(.network, userInfo: PendingRequest.reason) }

  /// Asks for the place of an address within a region, in a language: fails on a board.
  open func geocodeAddressString(
    _ addressString: String, in region: CLRegion? = nil, preferredLocale locale: Locale? = nil
  ) async throws -> [CLPlacemark] { throw CLError(.network, userInfo: PendingRequest.reason) }

  /// Ends the request that waits: it fails with `CLError.geocodeCanceled`.
  open func cancelGeocode() { pending.cancel() }
}

/// The one request that may wait, and its answer.
private final class PendingRequest: Sendable {
  static let reason = [
    NSLocalizedDescriptionKey: "a board has no service for addresses"
  ]

  private struct State {
    var isWaiting = false
    var isCancelled = false
  }

  private let state = Mutex(State())

  var isWaiting: Bool { state.withLock { $0.isWaiting } }

  /// Answers `handler` from the main queue: while another request waits, with its cancellation.
  func begin(_ handler: @escaping CLGeocodeCompletionHandler) {
    let isFirst = state.withLock { state in
      guard !state.isWaiting else { return false }
      (state.isWaiting, state.isCancelled) = (true, false)
      return true
    }
    // The handler goes to the main queue, and nobody else has it from here on.
    nonisolated(unsafe) let handler = handler
    DispatchQueue.main.async { [self] in
      handler(nil, isFirst ? end() : CLError(.geocodeCanceled))
    }
  }

  func cancel() { state.withLock { $0.isCancelled = $0.isWaiting } }

  private func end() -> CLError {
    let isCancelled = state.withLock { state in
      state.isWaiting = false
      return state.isCancelled
    }
    return isCancelled ? CLError(.geocodeCanceled) : CLError(.network, userInfo: Self.reason)
  }
}
