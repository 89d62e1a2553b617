// The spellings of before Swift 3, which are those of Apple's documents of 2015, and of Swift 3 and 4 where they differ.

public import CoreLocation

extension MKMapView {
  /// The older name of `isZoomEnabled`.
  @available(*, deprecated, renamed: "isZoomEnabled")
  public var zoomEnabled: Bool {
    get { isZoomEnabled }
    set { isZoomEnabled = newValue }
  }

  /// The older name of `isScrollEnabled`.
  @available(*, deprecated, renamed: "isScrollEnabled")
  public var scrollEnabled: Bool {
    get { isScrollEnabled }
    set { isScrollEnabled = newValue }
  }

  /// The older name of `isPitchEnabled`.
  @available(*, deprecated, renamed: "isPitchEnabled")
  public var pitchEnabled: Bool {
    get { isPitchEnabled }
    set { isPitchEnabled = newValue }
  }

  /// The older name of `isRotateEnabled`.
  @available(*, deprecated, renamed: "isRotateEnabled")
  public var rotateEnabled: Bool {
    get { isRotateEnabled }
    set { isRotateEnabled = newValue }
  }

  /// The older name of `isUserLocationVisible`.
  @available(*, deprecated, renamed: "isUserLocationVisible")
  public var userLocationVisible: Bool { isUserLocationVisible }

  /// The older name of `setCenter(_:animated:)`.
  @available(*, deprecated, renamed: "setCenter(_:animated:)")
  public func setCenterCoordinate(_ coordinate: CLLocationCoordinate2D, animated: Bool) {
    setCenter(coordinate, animated: animated)
  }

  // MARK: Annotations

  /// Pins those to the map that are annotations.
  @available(*, deprecated, message: "give an array of annotations")
  public func addAnnotations(_ annotations: [AnyObject]) {
    addAnnotations(annotations.compactMap { $0 as? any MKAnnotation })
  }

  /// Takes those off the map that are annotations.
  @available(*, deprecated, message: "give an array of annotations")
  public func removeAnnotations(_ annotations: [AnyObject]) {
    removeAnnotations(annotations.compactMap { $0 as? any MKAnnotation })
  }

  /// Shows those that are annotations.
  @available(*, deprecated, message: "give an array of annotations")
  public func showAnnotations(_ annotations: [AnyObject], animated: Bool) {
    showAnnotations(annotations.compactMap { $0 as? any MKAnnotation }, animated: animated)
  }

  /// The older name of `view(for:)`.
  @available(*, deprecated, renamed: "view(for:)")
  public func viewForAnnotation(_ annotation: any MKAnnotation) -> MKAnnotationView? {
    view(for: annotation)
  }

  /// The older name of `annotations(in:)`.
  @available(*, deprecated, renamed: "annotations(in:)")
  public func annotationsInMapRect(_ mapRect: MKMapRect) -> Set<NSObject> {
    Set(annotations(in: mapRect).compactMap { $0.base as? NSObject })
  }

  /// The older name of `dequeueReusableAnnotationView(withIdentifier:)`.
  @available(*, deprecated, renamed: "dequeueReusableAnnotationView(withIdentifier:)")
  public func dequeueReusableAnnotationViewWithIdentifier(
    _ identifier: String
  ) -> MKAnnotationView? { dequeueReusableAnnotationView(withIdentifier: identifier) }

  // MARK: Overlays

  /// The older name of `overlays(in:)`.
  @available(*, deprecated, renamed: "overlays(in:)")
  public func overlaysInLevel(_ level: MKOverlayLevel) -> [any MKOverlay] { overlays(in: level) }

  /// The older name of `renderer(for:)`.
  @available(*, deprecated, renamed: "renderer(for:)")
  public func rendererForOverlay(_ overlay: any MKOverlay) -> MKOverlayRenderer? {
    renderer(for: overlay)
  }

  /// The older name of `view(for:)` of overlays.
  @available(*, deprecated, renamed: "renderer(for:)")
  public func viewForOverlay(_ overlay: any MKOverlay) -> MKOverlayView? {
    (renderers[ObjectIdentifier(overlay)] as? OverlayViewRenderer)?.view
  }

  /// Puts those on top of a level that are overlays.
  @available(*, deprecated, message: "give an array of overlays")
  public func addOverlays(_ overlays: [AnyObject], level: MKOverlayLevel) {
    addOverlays(overlays.compactMap { $0 as? any MKOverlay }, level: level)
  }

  /// Puts those on top that are overlays.
  @available(*, deprecated, message: "give an array of overlays")
  public func addOverlays(_ overlays: [AnyObject]) {
    addOverlays(overlays.compactMap { $0 as? any MKOverlay })
  }

  /// Takes those off the map that are overlays.
  @available(*, deprecated, message: "give an array of overlays")
  public func removeOverlays(_ overlays: [AnyObject]) {
    removeOverlays(overlays.compactMap { $0 as? any MKOverlay })
  }

  /// The older name of `insertOverlay(_:at:level:)`.
  @available(*, deprecated, renamed: "insertOverlay(_:at:level:)")
  public func insertOverlay(
    _ overlay: any MKOverlay, atIndex index: Int, level: MKOverlayLevel
  ) { insertOverlay(overlay, at: index, level: level) }

  /// The older name of `insertOverlay(_:at:)`.
  @available(*, deprecated, renamed: "insertOverlay(_:at:)")
  public func insertOverlay(_ overlay: any MKOverlay, atIndex index: Int) {
    insertOverlay(overlay, at: index)
  }

  /// The older name of `insertOverlay(_:above:)`.
  @available(*, deprecated, renamed: "insertOverlay(_:above:)")
  public func insertOverlay(_ overlay: any MKOverlay, aboveOverlay sibling: any MKOverlay) {
    insertOverlay(overlay, above: sibling)
  }

  /// The older name of `insertOverlay(_:below:)`.
  @available(*, deprecated, renamed: "insertOverlay(_:below:)")
  public func insertOverlay(_ overlay: any MKOverlay, belowOverlay sibling: any MKOverlay) {
    insertOverlay(overlay, below: sibling)
  }

  /// The older name of `exchangeOverlay(_:with:)`.
  @available(*, deprecated, renamed: "exchangeOverlay(_:with:)")
  public func exchangeOverlay(_ overlay1: any MKOverlay, withOverlay overlay2: any MKOverlay) {
    exchangeOverlay(overlay1, with: overlay2)
  }

  /// The older name of `exchangeOverlay(at:withOverlayAt:)`.
  @available(*, deprecated, renamed: "exchangeOverlay(at:withOverlayAt:)")
  public func exchangeOverlayAtIndex(_ index1: Int, withOverlayAtIndex index2: Int) {
    exchangeOverlay(at: index1, withOverlayAt: index2)
  }

  // MARK: Conversions

  /// The older name of `convert(_:toPointTo:)`.
  @available(*, deprecated, renamed: "convert(_:toPointTo:)")
  public func convertCoordinate(
    _ coordinate: CLLocationCoordinate2D, toPointToView view: UIView?
  ) -> CGPoint { convert(coordinate, toPointTo: view) }

  /// The older name of `convert(_:toCoordinateFrom:)`.
  @available(*, deprecated, renamed: "convert(_:toCoordinateFrom:)")
  public func convertPoint(
    _ point: CGPoint, toCoordinateFromView view: UIView?
  ) -> CLLocationCoordinate2D { convert(point, toCoordinateFrom: view) }

  /// The older name of `convert(_:toRectTo:)`.
  @available(*, deprecated, renamed: "convert(_:toRectTo:)")
  public func convertRegion(
    _ region: MKCoordinateRegion, toRectToView view: UIView?
  ) -> CGRect { convert(region, toRectTo: view) }

  /// The older name of `convert(_:toRegionFrom:)`.
  @available(*, deprecated, renamed: "convert(_:toRegionFrom:)")
  public func convertRect(
    _ rect: CGRect, toRegionFromView view: UIView?
  ) -> MKCoordinateRegion { convert(rect, toRegionFrom: view) }

  // MARK: Swift 3 and 4

  /// The name that `addOverlay(_:)` had in Swift 3.
  @available(*, deprecated, renamed: "addOverlay(_:)")
  public func add(_ overlay: any MKOverlay) { addOverlay(overlay) }

  /// The name that `addOverlay(_:level:)` had in Swift 3.
  @available(*, deprecated, renamed: "addOverlay(_:level:)")
  public func add(_ overlay: any MKOverlay, level: MKOverlayLevel) {
    addOverlay(overlay, level: level)
  }

  /// The name that `removeOverlay(_:)` had in Swift 3.
  @available(*, deprecated, renamed: "removeOverlay(_:)")
  public func remove(_ overlay: any MKOverlay) { removeOverlay(overlay) }

  /// The name that `insertOverlay(_:at:level:)` had in Swift 3.
  @available(*, deprecated, renamed: "insertOverlay(_:at:level:)")
  public func insert(_ overlay: any MKOverlay, at index: Int, level: MKOverlayLevel) {
    insertOverlay(overlay, at: index, level: level)
  }

  /// The name that `insertOverlay(_:at:)` had in Swift 3.
  @available(*, deprecated, renamed: "insertOverlay(_:at:)")
  public func insert(_ overlay: any MKOverlay, at index: Int) { insertOverlay(overlay, at: index) }

  /// The name that `insertOverlay(_:above:)` had in Swift 3.
  @available(*, deprecated, renamed: "insertOverlay(_:above:)")
  public func insert(_ overlay: any MKOverlay, above sibling: any MKOverlay) {
    insertOverlay(overlay, above: sibling)
  }

  /// The name that `insertOverlay(_:below:)` had in Swift 3.
  @available(*, deprecated, renamed: "insertOverlay(_:below:)")
  public func insert(_ overlay: any MKOverlay, below sibling: any MKOverlay) {
    insertOverlay(overlay, below: sibling)
  }

  /// The name that `convert(_:toRectTo:)` had in Swift 3.
  @available(*, deprecated, renamed: "convert(_:toRectTo:)")
  public func convertRegion(_ region: MKCoordinateRegion, toRectTo view: UIView?) -> CGRect {
    convert(region, toRectTo: view)
  }
}

extension MKMapType {
  /// The older name of `standard`.
  @available(*, deprecated, renamed: "standard")
  public static var Standard: MKMapType { .standard }
  /// The older name of `satellite`.
  @available(*, deprecated, renamed: "satellite")
  public static var Satellite: MKMapType { .satellite }
  /// The older name of `hybrid`.
  @available(*, deprecated, renamed: "hybrid")
  public static var Hybrid: MKMapType { .hybrid }
}

extension MKUserTrackingMode {
  /// The older name of `none`.
  @available(*, deprecated, renamed: "none")
  public static var None: MKUserTrackingMode { .none }
  /// The older name of `follow`.
  @available(*, deprecated, renamed: "follow")
  public static var Follow: MKUserTrackingMode { .follow }
  /// The older name of `followWithHeading`.
  @available(*, deprecated, renamed: "followWithHeading")
  public static var FollowWithHeading: MKUserTrackingMode { .followWithHeading }
}

extension MKOverlayLevel {
  /// The older name of `aboveRoads`.
  @available(*, deprecated, renamed: "aboveRoads")
  public static var AboveRoads: MKOverlayLevel { .aboveRoads }
  /// The older name of `aboveLabels`.
  @available(*, deprecated, renamed: "aboveLabels")
  public static var AboveLabels: MKOverlayLevel { .aboveLabels }
}
