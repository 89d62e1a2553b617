// Where the board is on the map, and how the map follows it.

import CoreLocation
import Geodesy
import MapDrawing

/// What a map knows of the board and how it follows it.
final class UserState {
  let location = MKUserLocation()
  var isShown = false
  var mode = MKUserTrackingMode.none
  var follower: UserFollower?
  /// When a location and a heading came last, seconds of the map's clock.
  var locationTime: Double?
  var headingTime: Double?
}

extension MKMapView {
  /// Whether the map looks for the board and shows it where it is; false at first. It takes the location services.
  public var showsUserLocation: Bool {
    get { user.isShown }
    set {
      guard newValue != user.isShown else { return }
      user.isShown = newValue
      if newValue { delegate?.mapViewWillStartLocatingUser(self) }
      if !newValue, user.mode != .none { setMode(.none, animated: false) }
      listenToUser()
      guard !newValue else { return }
      hideUser()
      user.location.location = nil
      user.location.heading = nil
      delegate?.mapViewDidStopLocatingUser(self)
    }
  }

  /// Where the board is, as an annotation.
  public var userLocation: MKUserLocation { user.location }

  /// Whether the board may be in sight: the square around its location, as large as its accuracy, touches what is visible.
  /// False while there is no location.
  public var isUserLocationVisible: Bool {
    guard let location = user.location.location, location.horizontalAccuracy >= 0,
      CLLocationCoordinate2DIsValid(location.coordinate)
    else { return false }
    return viewport.shows(
      MKCircle(center: location.coordinate, radius: location.horizontalAccuracy).boundingMapRect)
  }

  /// How the map follows the board; `none` at first. Following shows the board, and centres the map on it as soon as there
  /// is a location; where more than four kilometres are visible in both directions, the map zooms in to one.
  public var userTrackingMode: MKUserTrackingMode {
    get { user.mode }
    set { setUserTrackingMode(newValue, animated: false) }
  }

  /// Follows the board, or no longer. `animated` is about the way there; where the board moves or turns later the map follows
  /// it animated.
  public func setUserTrackingMode(_ mode: MKUserTrackingMode, animated: Bool) {
    guard mode != user.mode else { return }
    if mode != .none { showsUserLocation = true }
    setMode(mode, animated: animated)
    listenToUser()
    guard mode != .none else { return }
    // From heading up to following alone the map is north up again, as on a phone.
    if mode == .follow { turn(to: 0, taking: animated ? Self.changeDuration : 0, isEased: true) }
    followLocation(taking: animated ? Self.changeDuration : 0, isFirst: true)
    followHeading(taking: animated ? Self.changeDuration : 0)
  }

  private func setMode(_ mode: MKUserTrackingMode, animated: Bool) {
    user.mode = mode
    user.headingTime = nil
    if mode != .followWithHeading { user.location.heading = nil }
    delegate?.mapView(self, didChange: mode, animated: animated)
  }

  /// The program has moved the map: it follows no longer.
  func leaveUser() {
    guard user.mode != .none else { return }
    setMode(.none, animated: false)
    listenToUser()
  }

  private func listenToUser() {
    guard user.isShown || user.follower != nil else { return }
    let follower =
      user.follower ?? UserFollower(self, manager: CLLocationManager(port: port))
    user.follower = follower
    user.location.isUpdating = user.isShown && user.location.location == nil
    follower.want(location: user.isShown, heading: user.mode == .followWithHeading)
  }

  // MARK: What the location services say

  func userIs(at location: CLLocation) {
    guard user.isShown else { return }
    let isFirst = user.location.location == nil
    user.location.location = location
    user.location.isUpdating = false
    showUser()
    let pause = pause(since: &user.locationTime)
    followLocation(taking: min(Self.changeDuration, pause / 2), isFirst: isFirst)
    delegate?.mapView(self, didUpdate: user.location)
  }

  func userPoints(_ heading: CLHeading) {
    guard user.mode == .followWithHeading else { return }
    let last = user.location.heading
    user.location.heading = heading
    let pause = pause(since: &user.headingTime)
    if pause <= Self.longestLead, let last, last.trueHeading >= 0 {
      let change = (heading.trueHeading - last.trueHeading).remainder(dividingBy: 360)
      followHeading(taking: pause, ahead: change)
    } else {
      followHeading(taking: min(Self.turnDuration, pause / 2))
    }
    delegate?.mapView(self, didUpdate: user.location)
  }

  func userIsLost(_ error: any Error) {
    guard user.isShown else { return }
    delegate?.mapView(self, didFailToLocateUserWithError: error)
  }

  /// The longest time that a turn to a new heading takes, seconds: a compass that is later than that is felt.
  private static let turnDuration = 0.1

  /// Where headings come as often as this, seconds, the map goes on turning until the next as it did until this one: it
  /// would be behind by a step otherwise, which at a turn of 50 degrees a second and 80 headings is 0.6 degrees.
  private static let longestLead = 0.02

  /// How long it is since the one before came; for the first as long as any change may take.
  private func pause(since time: inout Double?) -> Double {
    let now = now
    defer { time = now }
    // Two at once are animated as well.
    return max(time.map { now - $0 } ?? .infinity, 0.002)
  }

  // MARK: How the map follows

  private func followLocation(taking duration: Double, isFirst: Bool) {
    guard user.mode != .none, let location = user.location.location,
      CLLocationCoordinate2DIsValid(location.coordinate)
    else { return }
    let point = MKMapPoint(location.coordinate).projected
    move { motion, now, start in
      // A location that comes while the map zooms in lets it zoom on.
      var view = motion.end(from: start)
      view.centre = point
      if isFirst, view.settled.isZoomedOut { view.zoomToAKilometre() }
      guard duration > 0 else { return view }
      motion.go(from: start, to: view, at: now, taking: duration)
      return nil
    }
  }

  private func followHeading(taking duration: Double, ahead change: Double = 0) {
    // True north alone turns the map: it is drawn to it.
    guard user.mode == .followWithHeading, let heading = user.location.heading,
      heading.headingAccuracy >= 0, heading.trueHeading >= 0
    else { return }
    turn(
      to: (heading.trueHeading + change) * .pi / 180, taking: duration, isEased: false)
  }

  private func turn(to heading: Double, taking duration: Double, isEased: Bool) {
    move { motion, now, start in
      guard duration > 0 else {
        var view = start
        view.heading = heading
        return view
      }
      motion.turn(
        from: start.heading, to: heading, at: now, taking: duration, isEased: isEased)
      return nil
    }
  }
}

extension Viewport {
  /// Whether more than four kilometres are visible in both directions.
  fileprivate var isZoomedOut: Bool { min(width, height) / pointsPerMetre > 4000 }

  fileprivate mutating func zoomToAKilometre() {
    pointsPerWorld *= min(width, height) / pointsPerMetre / 1000
  }
}
