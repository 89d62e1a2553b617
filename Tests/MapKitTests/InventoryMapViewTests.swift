import MapKit
import Testing

// The inventory of MapKit, the map view: its switches, its camera and its delegate. The spellings of 2015 and of Swift 3 are in
// DocumentTests.

/// The deprecated ones; a witness may be deprecated without a warning where it is called.
private protocol OlderMap {
  func drives(_ map: MKMapView) -> Bool
}
private struct Older: OlderMap {
  @available(*, deprecated)
  func drives(_ map: MKMapView) -> Bool {
    map.zoomEnabled = false
    map.add(MKCircle(center: place(0, 0), radius: 1), level: .AboveRoads)
    let point = map.convertCoordinate(place(0, 0), toPointToView: nil)
    return !map.isZoomEnabled && map.overlaysInLevel(.aboveRoads).count == 1
      && point == map.convert(place(0, 0), toPointTo: nil)
  }
}

/// A delegate that has every method that a map without the board calls, as a program writes them.
private final class EveryMethod: NSObject, MKMapViewDelegate {
  var calls: [String] = []

  func mapView(_ mapView: MKMapView, regionWillChangeAnimated animated: Bool) {
    calls.append("regionWillChangeAnimated")
  }
  func mapViewDidChangeVisibleRegion(_ mapView: MKMapView) {
    calls.append("mapViewDidChangeVisibleRegion")
  }
  func mapView(_ mapView: MKMapView, regionDidChangeAnimated animated: Bool) {
    calls.append("regionDidChangeAnimated")
  }
  func mapView(_ mapView: MKMapView, viewFor annotation: any MKAnnotation) -> MKAnnotationView? {
    calls.append("viewFor")
    return nil
  }
  func mapView(_ mapView: MKMapView, didAdd views: [MKAnnotationView]) { calls.append("didAdd") }
  func mapView(_ mapView: MKMapView, didSelect view: MKAnnotationView) {
    calls.append("didSelect view")
  }
  func mapView(_ mapView: MKMapView, didDeselect view: MKAnnotationView) {
    calls.append("didDeselect view")
  }
  func mapView(_ mapView: MKMapView, didSelect annotation: any MKAnnotation) {
    calls.append("didSelect annotation")
  }
  func mapView(_ mapView: MKMapView, didDeselect annotation: any MKAnnotation) {
    calls.append("didDeselect annotation")
  }
  func mapView(
    _ mapView: MKMapView, annotationView view: MKAnnotationView,
    calloutAccessoryControlTapped control: UIControl
  ) { calls.append("calloutAccessoryControlTapped") }
  func mapView(
    _ mapView: MKMapView, annotationView view: MKAnnotationView,
    didChange newState: MKAnnotationViewDragState, fromOldState oldState: MKAnnotationViewDragState
  ) { calls.append("fromOldState") }
  func mapView(
    _ mapView: MKMapView, rendererFor overlay: any MKOverlay
  ) -> MKOverlayRenderer {
    calls.append("rendererFor")
    return MKOverlayRenderer(overlay: overlay)
  }
  func mapView(_ mapView: MKMapView, didAdd renderers: [MKOverlayRenderer]) {
    calls.append("didAdd renderers")
  }
}

/// A delegate that has none.
private final class NoMethod: NSObject, MKMapViewDelegate {}

struct InventoryMapViewTests {
  @Test("K1: inventory: the map and its switches")
  func switches() {
    let flags: [ReferenceWritableKeyPath<MKMapView, Bool>] = [
      \.isZoomEnabled, \.isScrollEnabled, \.isPitchEnabled, \.isRotateEnabled,
      \.showsPointsOfInterest, \.showsBuildings, \.showsCompass, \.showsScale, \.showsTraffic,
      \.showsUserLocation,
    ]
    let map = MKMapView(frame: CGRect(x: 0, y: 0, width: 320, height: 200))
    for flag in flags.dropLast() {
      map[keyPath: flag].toggle()
      map[keyPath: flag].toggle()
    }
    #expect(flags.map { map[keyPath: $0] } == Array(repeating: true, count: 8) + [false, false])
  }

  @Test("K2 K3 K4: inventory: what is visible is said by region, rectangle and camera alike")
  func visible() {
    let map = MKMapView()
    map.setCenter(place(1, 2), animated: false)
    let centers = [
      map.centerCoordinate, map.region.center, map.camera.centerCoordinate,
      MKMapPoint(x: map.visibleMapRect.midX, y: map.visibleMapRect.midY).coordinate,
    ]
    #expect(centers.allSatisfy { abs($0.latitude - 1) < 1e-6 && abs($0.longitude - 2) < 1e-6 })
  }

  @Test("K4: inventory: the camera")
  func camera() {
    let camera = MKMapCamera()
    #expect(MKMapCamera.supportsSecureCoding && camera.pitch == 0 && camera.heading == 0)
    #expect(camera.centerCoordinateDistance == 0 && camera.altitude == 0)
    // How high a camera is follows from its distance and its pitch, and the other way around.
    camera.pitch = 60
    camera.altitude = 500
    #expect(abs(camera.centerCoordinateDistance - 1000) < 1e-9)
    let copy = camera.copy() as? MKMapCamera
    camera.pitch = 0
    #expect(copy?.pitch == 60 && abs((copy?.altitude ?? 0) - 500) < 1e-9)
  }

  @Test("K5: inventory: the board is nowhere until it is shown")
  func user() {
    let map = MKMapView()
    let user: MKUserLocation = map.userLocation
    #expect(user.location == nil && user.heading == nil && !user.isUpdating)
    #expect(user.title == nil && user.subtitle == nil && !map.isUserLocationVisible)
    #expect(!CLLocationCoordinate2DIsValid(user.coordinate) && map.userTrackingMode == .none)
  }

  @Test("K1 K5: inventory: types and modes have the SDK's numbers")
  func numbers() {
    let types: [MKMapType] = [
      .standard, .satellite, .hybrid, .satelliteFlyover, .hybridFlyover, .mutedStandard,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2, 3, 4, 5] && MKMapType(rawValue: 6) == nil)
    let modes: [MKUserTrackingMode] = [.none, .follow, .followWithHeading]
    #expect(modes.map(\.rawValue) == [0, 1, 2] && MKUserTrackingMode(rawValue: 3) == nil)
    let levels: [MKOverlayLevel] = [.aboveRoads, .aboveLabels]
    #expect(levels.map(\.rawValue) == [0, 1] && MKOverlayLevel(rawValue: 2) == nil)
  }

  @Test("K9: inventory: a delegate's methods are called by the names they have here")
  func delegate() {
    let every = EveryMethod()
    let map = MKMapView()
    let (point, circle) = (MKPointAnnotation(), MKCircle(center: place(0, 0), radius: 1000))
    map.delegate = every
    map.addAnnotation(point)
    map.addOverlay(circle)
    map.selectAnnotation(point, animated: false)
    map.deselectAnnotation(point, animated: false)
    map.setCenter(place(1, 1), animated: false)
    #expect(
      every.calls == [
        "viewFor", "didAdd", "rendererFor", "didAdd renderers", "didSelect view",
        "didSelect annotation", "didDeselect view", "didDeselect annotation",
        "regionWillChangeAnimated", "mapViewDidChangeVisibleRegion", "regionDidChangeAnimated",
      ])
    // Nobody touches a board's map: these are called by a program alone.
    every.calls = []
    let view = MKAnnotationView(annotation: point, reuseIdentifier: nil)
    let delegate: (any MKMapViewDelegate)? = map.delegate
    delegate?.mapView(map, annotationView: view, calloutAccessoryControlTapped: UIControl())
    delegate?.mapView(map, annotationView: view, didChange: .dragging, fromOldState: .starting)
    #expect(every.calls == ["calloutAccessoryControlTapped", "fromOldState"])
  }

  @Test("K9: a delegate may leave every method out")
  func optional() {
    let delegate: any MKMapViewDelegate = NoMethod()
    let map = MKMapView()
    map.delegate = delegate
    let (point, circle) = (MKPointAnnotation(), MKCircle(center: place(0, 0), radius: 1000))
    map.addAnnotation(point)
    map.addOverlay(circle)
    map.selectAnnotation(point, animated: false)
    map.selectedAnnotations = []
    map.setCenter(place(1, 1), animated: false)
    _ = map.image()
    #expect(map.view(for: point) is MKMarkerAnnotationView)
    #expect(delegate.mapView(map, viewFor: point) as MKAnnotationView? == nil)
    #expect(delegate.mapView(map, rendererFor: circle).overlay === circle)
    #expect(delegate.mapView(map, viewFor: circle) as MKOverlayView? == nil)
    let view = MKAnnotationView(annotation: nil, reuseIdentifier: nil)
    delegate.mapView(map, annotationView: view, calloutAccessoryControlTapped: UIControl())
    delegate.mapView(map, annotationView: view, didChange: .none, fromOldState: .ending)
    delegate.mapViewWillStartLoadingMap(map)
    delegate.mapViewDidFinishLoadingMap(map)
    delegate.mapViewDidFailLoadingMap(map, withError: MKError(.unknown))
    delegate.mapViewWillStartLocatingUser(map)
    delegate.mapViewDidStopLocatingUser(map)
    delegate.mapView(map, didUpdate: map.userLocation)
    delegate.mapView(map, didFailToLocateUserWithError: MKError(.unknown))
    delegate.mapView(map, didChange: .follow, animated: false)
  }

  @Test("K1 K7 K8: inventory: the spellings of 2015 and of Swift 3 drive a map")
  func older() { #expect((Older() as any OlderMap).drives(MKMapView())) }
}
