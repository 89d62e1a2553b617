// Delegates that do not hear what they have asked for.
//
// A method whose name or type is not quite the protocol's compiles, and is never called. Linux cannot ask an object
// which methods it has. But the implementation that stands in for a missing one knows that it ran, so that the first
// event that nobody hears says so.

import Foundation
import LocationServices

/// A method without which an event goes nowhere. Those that an application may do without are none: pauses, the
/// authorization, the calibration prompt, the beginning of monitoring.
struct DelegateMethods: OptionSet {
  let rawValue: UInt16

  static let locations = DelegateMethods(rawValue: 1 << 0)
  static let failure = DelegateMethods(rawValue: 1 << 1)
  static let heading = DelegateMethods(rawValue: 1 << 2)
  static let deferral = DelegateMethods(rawValue: 1 << 3)
  static let entry = DelegateMethods(rawValue: 1 << 4)
  static let exit = DelegateMethods(rawValue: 1 << 5)
  static let regionState = DelegateMethods(rawValue: 1 << 6)
  static let regionFailure = DelegateMethods(rawValue: 1 << 7)
  static let ranging = DelegateMethods(rawValue: 1 << 8)
  static let rangingFailure = DelegateMethods(rawValue: 1 << 9)
  static let visit = DelegateMethods(rawValue: 1 << 10)

  /// What happens, and the declaration that is expected.
  static let words: [(method: DelegateMethods, event: String, declaration: String)] = [
    (.locations, "locations arrive", "didUpdateLocations locations: [CLLocation]"),
    (.failure, "an error arrives", "didFailWithError error: any Error"),
    (.heading, "a heading arrives", "didUpdateHeading newHeading: CLHeading"),
    (
      .deferral, "a deferral ends", "didFinishDeferredUpdatesWithError error: (any Error)?"
    ),
    (.entry, "a region is entered", "didEnterRegion region: CLRegion"),
    (.exit, "a region is left", "didExitRegion region: CLRegion"),
    (
      .regionState, "the state of a region arrives",
      "didDetermineState state: CLRegionState, for region: CLRegion"
    ),
    (
      .regionFailure, "a region cannot be monitored",
      "monitoringDidFailFor region: CLRegion?, withError error: any Error"
    ),
    (
      .ranging, "beacons arrive",
      "didRange beacons: [CLBeacon], satisfying beaconConstraint: CLBeaconIdentityConstraint"
    ),
    (
      .rangingFailure, "beacons cannot be ranged",
      "didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: any Error"
    ),
    (.visit, "a visit arrives", "didVisit visit: CLVisit"),
  ]
}

/// What a manager's delegate does not hear.
struct Unheard {
  /// Whose methods were missing in this delivery.
  fileprivate var missing: DelegateMethods = []
  /// What was said of delegates of a class.
  private var said: DelegateMethods = []
  private var kind: ObjectIdentifier?
  /// Whether one of them has heard of a region's boundary: it may do without the other side.
  private var hearsCrossings = false

  /// What is to be said after a delivery to a delegate of a class.
  fileprivate mutating func judge(
    _ delivery: DelegateCall, to kind: ObjectIdentifier
  ) -> DelegateMethods {
    if kind != self.kind { self = Unheard(missing: missing, kind: kind) }
    var news = missing
    if case .region(let event) = delivery, case .crossed(let state) = event.kind {
      // Any of the methods that tell of a crossing will do.
      var told: DelegateMethods = .regionState
      if state == .inside, event.region.notifiesOnEntry { told.insert(.entry) }
      if state == .outside, event.region.notifiesOnExit { told.insert(.exit) }
      if told != missing { hearsCrossings = true }
      news = hearsCrossings || told == .regionState ? [] : told.subtracting(.regionState)
    }
    news.subtract(said)
    said.formUnion(news)
    return news
  }

  init() {}

  private init(missing: DelegateMethods, kind: ObjectIdentifier) {
    (self.missing, self.kind) = (missing, kind)
  }
}

extension CLLocationManager {
  /// An implementation ran that stands in for a missing one. Of a delegate that another one passes events on to it says
  /// nothing.
  func isMissing(_ method: DelegateMethods, of delegate: any CLLocationManagerDelegate) {
    if delegate === self.delegate { unheard.missing.insert(method) }
  }

  /// Tells the delegate, and says what it did not hear.
  func deliver(_ delivery: DelegateCall) {
    // A delegate may turn its run loop, and be told of something else meanwhile.
    let outer = unheard.missing
    unheard.missing = []
    defer { unheard.missing = outer }
    guard let delegate else { return tell(delivery) }
    tell(delivery)
    let kind: AnyClass = type(of: delegate as AnyObject)
    let news = unheard.judge(delivery, to: ObjectIdentifier(kind))
    guard !news.isEmpty else { return }
    for (method, event, declaration) in DelegateMethods.words where news.contains(method) {
      port.note(
        "\(event), and \(kind) has no func locationManager(_ manager: CLLocationManager, "
          + "\(declaration)): is it misspelt, or not in the class that names the protocol?")
    }
  }
}
