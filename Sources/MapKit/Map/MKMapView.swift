// The map: which part of the earth it shows, from where, and how it gets there.

public import CoreLocation
import Geodesy
package import LocationServices
package import MapDrawing

/// A map without a screen: it knows what it shows, tells its delegate what a map on a phone would, follows the board, and
/// draws itself when it is asked to.
///
/// It is a view of 640 by 480 points unless a frame is given. Like the SDK's it is to be used from one thread, the one that
/// made it, on which its delegate is called. What is animated takes place on that thread's run loop, the main thread's
/// also where only the main dispatch queue runs; without either a map stays where the last step has brought it.
///
/// Nobody touches it: the flags that allow gestures are kept, and change nothing that a program does.
open class MKMapView: UIView {
  /// Who is told and asked.
  open weak var delegate: (any MKMapViewDelegate)? {
    didSet { if delegate !== oldValue { delegateDidChange() } }
  }

  /// What is shown below everything else, `standard` at first.
  open var mapType = MKMapType.standard
  /// Whether gestures may change the scale; true at first.
  open var isZoomEnabled = true
  /// Whether gestures may move the map; true at first.
  open var isScrollEnabled = true
  /// Whether the camera's pitch is used, true at first; without it the map is flat. A pitch that was set stays, and is used
  /// again when this is true again.
  open var isPitchEnabled = true {
    didSet { if isPitchEnabled != oldValue { viewportDidChange() } }
  }
  /// Whether the camera's heading is used, true at first; without it north is up.
  open var isRotateEnabled = true {
    didSet { if isRotateEnabled != oldValue { viewportDidChange() } }
  }
  /// Whether places of interest are shown; true at first. They are where the tiles have them.
  open var showsPointsOfInterest = true
  /// Whether buildings stand up from a map that is pitched; true at first. None is drawn on a board.
  open var showsBuildings = true
  /// Whether a north arrow is drawn on a map that is turned; true at first.
  open var showsCompass = true
  /// Whether a scale bar is drawn; true at first, other than on a phone: a picture cannot be measured by touching it.
  open var showsScale = true
  /// Whether traffic is shown. None is on a board.
  open var showsTraffic = false

  // What was asked for last, whatever the flags make of it.
  private var asked = Viewport(
    centre: MercatorPoint(x: 0.5, y: 0.5), pointsPerWorld: 480, width: 640, height: 480)
  private var motion: MapMotion?
  private let ticker: any Ticker

  let port: any ServicePort
  var shelf = AnnotationShelf()
  var stack = OverlayStack()
  var renderers: [ObjectIdentifier: MKOverlayRenderer] = [:]
  /// What lies below everything else.
  package var base = BaseMap.ofTheBoard
  let user = UserState()

  /// Makes a map that shows the whole earth.
  public override convenience init(frame: CGRect) {
    self.init(frame: frame, port: processPort, ticker: FrameTicker())
  }

  /// Makes a map of 640 by 480 points that shows the whole earth.
  public convenience init() { self.init(frame: CGRect(x: 0, y: 0, width: 640, height: 480)) }

  /// A map on services of its own, moved on by a ticker of its own, for tests.
  package init(frame: CGRect, port: any ServicePort, ticker: any Ticker) {
    self.port = port
    self.ticker = ticker
    super.init(frame: frame)
    frameDidChange()
  }

  /// Makes a map of 640 by 480 points: no archive of views is read.
  public required init?(coder: NSCoder) {
    port = processPort
    ticker = FrameTicker()
    super.init(coder: coder)
    frame = CGRect(x: 0, y: 0, width: 640, height: 480)
  }

  deinit {
    ticker.stop()
    user.follower?.want(location: false, heading: false)
    // Points that outlive the map have nobody to tell any more.
    forgetMe()
  }

  override func frameDidChange() {
    asked.width = max(frame.width, 1)
    asked.height = max(frame.height, 1)
    asked = asked.settled
    viewportDidChange()
  }

  // MARK: What is visible

  /// What is shown now, on its way to somewhere else perhaps.
  package var viewport: Viewport {
    var view = asked
    if !isPitchEnabled { view.pitch = 0 }
    if !isRotateEnabled { view.heading = 0 }
    return view
  }

  /// What is visible: its middle and its extent in degrees.
  ///
  /// A region that is set is shown as a whole, north up and flat, as large as fits around its middle; what is read is what is
  /// visible then. Regions that are not on earth change nothing. While the map moves it is where the map is.
  open var region: MKCoordinateRegion {
    get { viewport.region }
    set { setRegion(newValue, animated: false) }
  }

  /// Shows a region, at once or on a way of 0.3 s.
  open func setRegion(_ region: MKCoordinateRegion, animated: Bool) {
    guard let view = asked.showing(region) else { return }
    go(to: view, animated: animated)
  }

  /// The coordinate in the middle. Setting it keeps the scale on the map; the span changes with the latitude.
  open var centerCoordinate: CLLocationCoordinate2D {
    get { MKMapPoint(viewport.centre).coordinate }
    set { setCenter(newValue, animated: false) }
  }

  /// Shows a coordinate in the middle.
  open func setCenter(_ coordinate: CLLocationCoordinate2D, animated: Bool) {
    guard CLLocationCoordinate2DIsValid(coordinate) else { return }
    var view = asked
    view.centre = MKMapPoint(coordinate).projected
    go(to: view, animated: animated)
  }

  /// What would be visible after a region was set; the region itself where it is not on earth.
  open func regionThatFits(_ region: MKCoordinateRegion) -> MKCoordinateRegion {
    asked.showing(region)?.region ?? region
  }

  /// What is visible: the smallest rectangle of the map that holds it. It goes on beyond the map's edge where the view does.
  open var visibleMapRect: MKMapRect {
    get { viewport.mapRect }
    set { setVisibleMapRect(newValue, animated: false) }
  }

  /// Shows a rectangle of the map, north up and flat.
  open func setVisibleMapRect(_ mapRect: MKMapRect, animated animate: Bool) {
    setVisibleMapRect(mapRect, edgePadding: .zero, animated: animate)
  }

  /// Shows a rectangle of the map with at least so many points around it.
  open func setVisibleMapRect(
    _ mapRect: MKMapRect, edgePadding insets: UIEdgeInsets, animated animate: Bool
  ) {
    guard let view = asked.showing(mapRect, insets: insets) else { return }
    go(to: view, animated: animate)
  }

  /// What would be visible after a rectangle was set: one around the same middle that has the view's proportions.
  open func mapRectThatFits(_ mapRect: MKMapRect) -> MKMapRect {
    mapRectThatFits(mapRect, edgePadding: .zero)
  }

  /// The rectangle that lies inside of the insets when a rectangle is shown with them: around the same middle, with the
  /// proportions of what they leave of the view.
  open func mapRectThatFits(_ mapRect: MKMapRect, edgePadding insets: UIEdgeInsets) -> MKMapRect {
    guard let view = asked.showing(mapRect, insets: insets) else { return mapRect }
    let scale = MKMapSize.world.width / view.pointsPerWorld
    let rect = view.mapRect
    return MKMapRect(
      west: rect.minX + insets.left * scale, north: rect.minY + insets.top * scale,
      east: rect.maxX - insets.right * scale, south: rect.maxY - insets.bottom * scale)
  }

  /// From where the map is looked at. What is read is a copy; what is set is shown at once.
  open var camera: MKMapCamera {
    get { MKMapCamera(viewport) }
    set { setCamera(newValue, animated: false) }
  }

  /// Looks at the map from a camera. One with a number that is not finite changes nothing; one at no distance keeps the map's.
  open func setCamera(_ camera: MKMapCamera, animated: Bool) {
    guard let view = camera.applied(to: asked) else { return }
    go(to: view, animated: animated)
  }

  // MARK: On the way

  /// How long an animated change takes, seconds.
  static let changeDuration = 0.3

  /// Seconds of the clock that animations go by.
  var now: Double { ticker.now }

  /// A program's own move. It ends the following of the board.
  private func go(to view: Viewport, animated: Bool) {
    leaveUser()
    move { motion, now, start in
      guard animated else { return view }
      motion.go(from: start, to: view, at: now, taking: Self.changeDuration)
      motion.turn(
        from: start.heading, to: view.heading, at: now, taking: Self.changeDuration,
        isEased: true)
      return nil
    }
  }

  /// Changes what is asked for: at once to what `plan` gives, or by what it adds to the motion.
  func move(_ plan: (inout MapMotion, _ now: Double, _ start: Viewport) -> Viewport?) {
    // From where the map is by now, which is not where its last step has left it.
    if motion != nil { step() }
    var planned = motion ?? MapMotion()
    guard let view = plan(&planned, now, asked) else {
      let isMoving = motion != nil
      if !isMoving { delegate?.mapView(self, regionWillChangeAnimated: true) }
      motion = planned
      if !isMoving { ticker.start { [weak self] in self?.step() } }
      return
    }
    if motion != nil { arrive() }
    guard view.settled != asked else { return }
    delegate?.mapView(self, regionWillChangeAnimated: false)
    asked = view.settled
    viewportDidChange()
    delegate?.mapView(self, regionDidChangeAnimated: false)
  }

  /// Moves on to where the map is now.
  private func step() {
    guard var moving = motion else { return ticker.stop() }
    var view = asked
    moving.step(&view, at: now)
    motion = moving
    asked = view.settled
    viewportDidChange()
    // A delegate may have sent the map somewhere else meanwhile.
    if motion?.isOver == true { arrive() }
  }

  private func arrive() {
    motion = nil
    ticker.stop()
    delegate?.mapView(self, regionDidChangeAnimated: true)
  }

  private func viewportDidChange() {
    sightAnnotations()
    sightOverlays()
    delegate?.mapViewDidChangeVisibleRegion(self)
  }

  private func delegateDidChange() {
    // A map that was filled before it had somebody to ask asks now.
    shelf.forgetViews()
    renderers = [:]
    sightAnnotations()
    sightOverlays()
  }
}
