// Delegates that remember, and the answer of a thread.

import CoreLocation
import Synchronization

/// What the main queue carries and no other does. The main thread says nothing here: once a program's `main`
/// is asynchronous, Linux serves the main queue from a pool.
struct MainQueueMark: @unchecked Sendable {
  static let shared = MainQueueMark()
  private let key = DispatchSpecificKey<Void>()

  private init() { DispatchQueue.main.setSpecific(key: key, value: ()) }

  var isHere: Bool { DispatchQueue.getSpecific(key: key) != nil }
}

/// A delegate that implements every modern method and notes each call.
final class Spy: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  struct Log: Sendable {
    var calls: [String] = []
    var locations: [[CLLocation]] = []
    var headings: [CLHeading] = []
    var errors: [CLError.Code] = []
    var reasons: [String] = []
    var authorizations: [CLAuthorizationStatus] = []
    /// Whether `manager.location` or `.heading` was the newest already when the delegate was told.
    var wasCurrent: [Bool] = []
    var onMainQueue: [Bool] = []
  }

  private let state = Mutex(Log())
  private let onEvent: @Sendable (Spy) -> Void

  init(onEvent: @escaping @Sendable (Spy) -> Void = { _ in }) { self.onEvent = onEvent }

  var log: Log { state.withLock { $0 } }

  private func note(_ change: (inout Log) -> Void) {
    state.withLock { log in
      log.onMainQueue.append(MainQueueMark.shared.isHere)
      change(&log)
    }
    onEvent(self)
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    note {
      $0.calls.append("locations")
      $0.locations.append(locations)
      $0.wasCurrent.append(manager.location === locations.last)
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    note {
      $0.calls.append("heading")
      $0.headings.append(newHeading)
      $0.wasCurrent.append(manager.heading === newHeading)
    }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    note {
      $0.calls.append("error")
      if let error = error as? CLError { $0.errors.append(error.code) }
      $0.reasons.append(error.localizedDescription)
    }
  }

  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {
    note { $0.calls.append("paused") }
  }

  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {
    note { $0.calls.append("resumed") }
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    note {
      $0.calls.append("authorization")
      $0.authorizations.append(manager.authorizationStatus)
    }
  }
}

/// A delegate of 2014: only the old spellings.
final class OldSpy: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  struct Step: Sendable, Equatable {
    var new: Double
    var old: Double?
    var current: Double?
  }

  private let state = Mutex<(steps: [Step], statuses: [CLAuthorizationStatus])>(([], []))

  var steps: [Step] { state.withLock { $0.steps } }
  var statuses: [CLAuthorizationStatus] { state.withLock { $0.statuses } }

  func locationManager(
    _ manager: CLLocationManager, didUpdateToLocation newLocation: CLLocation,
    fromLocation oldLocation: CLLocation?
  ) {
    let step = Step(
      new: newLocation.coordinate.latitude, old: oldLocation?.coordinate.latitude,
      current: manager.location?.coordinate.latitude)
    state.withLock { $0.steps.append(step) }
  }

  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) {
    state.withLock { $0.statuses.append(status) }
  }
}

/// A delegate that implements nothing.
final class SilentDelegate: NSObject, CLLocationManagerDelegate {}
