import FacadeTestSupport
import MapKit
import Testing

// The inventory of MapKit, the map view: each symbol once, with its type. The spellings of 2015 and of Swift 3 are in the protocol
// `DocumentedMap` of DocumentTests; here each is named, as a program writes it.

/// The deprecated ones; a witness may be deprecated without a warning where it is called.
private protocol OlderMap {
  func names()
}
private struct Older: OlderMap {
  @available(*, deprecated)
  func names() {
    typealias Map = MKMapView
    changes(\Map.zoomEnabled, Bool.self)
    changes(\Map.scrollEnabled, Bool.self)
    changes(\Map.pitchEnabled, Bool.self)
    changes(\Map.rotateEnabled, Bool.self)
    has(\Map.userLocationVisible, Bool.self)
    gives(
      { $0.setCenterCoordinate(_:animated:) },
      ((Map) -> (CLLocationCoordinate2D, Bool) -> Void).self)
    gives({ $0.addAnnotations(_:) }, ((Map) -> ([AnyObject]) -> Void).self)
    gives({ $0.removeAnnotations(_:) }, ((Map) -> ([AnyObject]) -> Void).self)
    gives({ $0.showAnnotations(_:animated:) }, ((Map) -> ([AnyObject], Bool) -> Void).self)
    gives({ $0.viewForAnnotation }, ((Map) -> (any MKAnnotation) -> MKAnnotationView?).self)
    gives({ $0.annotationsInMapRect }, ((Map) -> (MKMapRect) -> Set<NSObject>).self)
    gives(
      { $0.dequeueReusableAnnotationViewWithIdentifier },
      ((Map) -> (String) -> MKAnnotationView?).self)
    gives({ $0.overlaysInLevel }, ((Map) -> (MKOverlayLevel) -> [any MKOverlay]).self)
    gives({ $0.rendererForOverlay }, ((Map) -> (any MKOverlay) -> MKOverlayRenderer?).self)
    gives({ $0.viewForOverlay }, ((Map) -> (any MKOverlay) -> MKOverlayView?).self)
    gives({ $0.view(for:) }, ((Map) -> (any MKOverlay) -> MKOverlayView?).self)
    gives({ $0.addOverlays(_:level:) }, ((Map) -> ([AnyObject], MKOverlayLevel) -> Void).self)
    gives({ $0.addOverlays(_:) }, ((Map) -> ([AnyObject]) -> Void).self)
    gives({ $0.removeOverlays(_:) }, ((Map) -> ([AnyObject]) -> Void).self)
    typealias Insert = (Map) -> (any MKOverlay, Int) -> Void
    typealias InsertAtLevel = (Map) -> (any MKOverlay, Int, MKOverlayLevel) -> Void
    typealias Pair = (Map) -> (any MKOverlay, any MKOverlay) -> Void
    gives({ $0.insertOverlay(_:atIndex:) }, Insert.self)
    gives({ $0.insertOverlay(_:atIndex:level:) }, InsertAtLevel.self)
    gives({ $0.insertOverlay(_:aboveOverlay:) }, Pair.self)
    gives({ $0.insertOverlay(_:belowOverlay:) }, Pair.self)
    gives({ $0.exchangeOverlay(_:withOverlay:) }, Pair.self)
    gives({ $0.exchangeOverlayAtIndex(_:withOverlayAtIndex:) }, ((Map) -> (Int, Int) -> Void).self)
    gives(
      { $0.convertCoordinate(_:toPointToView:) },
      ((Map) -> (CLLocationCoordinate2D, UIView?) -> CGPoint).self)
    gives(
      { $0.convertPoint(_:toCoordinateFromView:) },
      ((Map) -> (CGPoint, UIView?) -> CLLocationCoordinate2D).self)
    typealias ToRect = (Map) -> (MKCoordinateRegion, UIView?) -> CGRect
    gives({ $0.convertRegion(_:toRectToView:) }, ToRect.self)
    gives({ $0.convertRegion(_:toRectTo:) }, ToRect.self)
    gives(
      { $0.convertRect(_:toRegionFromView:) },
      ((Map) -> (CGRect, UIView?) -> MKCoordinateRegion).self)
    // Swift 3 and 4.
    gives({ $0.add(_:) }, ((Map) -> (any MKOverlay) -> Void).self)
    gives({ $0.add(_:level:) }, ((Map) -> (any MKOverlay, MKOverlayLevel) -> Void).self)
    gives({ $0.remove }, ((Map) -> (any MKOverlay) -> Void).self)
    gives({ $0.insert(_:at:) }, Insert.self)
    gives({ $0.insert(_:at:level:) }, InsertAtLevel.self)
    gives({ $0.insert(_:above:) }, Pair.self)
    gives({ $0.insert(_:below:) }, Pair.self)
    gives([.Standard, .Satellite, .Hybrid], [MKMapType].self)
    gives([.None, .Follow, .FollowWithHeading], [MKUserTrackingMode].self)
    gives([.AboveRoads, .AboveLabels], [MKOverlayLevel].self)
  }
}

/// A delegate that has every method, as a program writes them.
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
  func mapViewWillStartLoadingMap(_ mapView: MKMapView) {}
  func mapViewDidFinishLoadingMap(_ mapView: MKMapView) {}
  func mapViewDidFailLoadingMap(_ mapView: MKMapView, withError error: any Error) {}
  func mapViewWillStartRenderingMap(_ mapView: MKMapView) {}
  func mapViewDidFinishRenderingMap(_ mapView: MKMapView, fullyRendered: Bool) {}
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
  func mapViewWillStartLocatingUser(_ mapView: MKMapView) {}
  func mapViewDidStopLocatingUser(_ mapView: MKMapView) {}
  func mapView(_ mapView: MKMapView, didUpdate userLocation: MKUserLocation) {}
  func mapView(_ mapView: MKMapView, didFailToLocateUserWithError error: any Error) {}
  func mapView(_ mapView: MKMapView, didChange mode: MKUserTrackingMode, animated: Bool) {}
  func mapView(
    _ mapView: MKMapView, rendererFor overlay: any MKOverlay
  ) -> MKOverlayRenderer {
    calls.append("rendererFor")
    return MKOverlayRenderer(overlay: overlay)
  }
  func mapView(_ mapView: MKMapView, didAdd renderers: [MKOverlayRenderer]) {
    calls.append("didAdd renderers")
  }
  func mapView(_ mapView: MKMapView, viewFor overlay: any MKOverlay) -> MKOverlayView? { nil }
}

/// A delegate that has none.
private final class NoMethod: NSObject, MKMapViewDelegate {}

struct InventoryMapViewTests {
  @Test("K1: inventory: the map and its switches")
  func switches() {
    changes(\MKMapView.delegate, (any MKMapViewDelegate)?.self)
    changes(\MKMapView.mapType, MKMapType.self)
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
    gives(MKMapView.init, (() -> MKMapView).self)
    gives(MKMapView.init(coder:), ((NSCoder) -> MKMapView?).self)
  }

  @Test("K2 K3 K4: inventory: what is visible")
  func visible() {
    changes(\MKMapView.region, MKCoordinateRegion.self)
    changes(\MKMapView.centerCoordinate, CLLocationCoordinate2D.self)
    changes(\MKMapView.visibleMapRect, MKMapRect.self)
    changes(\MKMapView.camera, MKMapCamera.self)
    gives(
      { $0.setRegion(_:animated:) }, ((MKMapView) -> (MKCoordinateRegion, Bool) -> Void).self)
    gives(
      { $0.setCenter(_:animated:) },
      ((MKMapView) -> (CLLocationCoordinate2D, Bool) -> Void).self)
    gives(
      { $0.setVisibleMapRect(_:animated:) }, ((MKMapView) -> (MKMapRect, Bool) -> Void).self)
    gives(
      { $0.setVisibleMapRect(_:edgePadding:animated:) },
      ((MKMapView) -> (MKMapRect, UIEdgeInsets, Bool) -> Void).self)
    gives({ $0.setCamera(_:animated:) }, ((MKMapView) -> (MKMapCamera, Bool) -> Void).self)
    gives(
      { $0.regionThatFits }, ((MKMapView) -> (MKCoordinateRegion) -> MKCoordinateRegion).self)
    gives({ $0.mapRectThatFits(_:) }, ((MKMapView) -> (MKMapRect) -> MKMapRect).self)
    gives(
      { $0.mapRectThatFits(_:edgePadding:) },
      ((MKMapView) -> (MKMapRect, UIEdgeInsets) -> MKMapRect).self)
    gives(
      { $0.convert(_:toPointTo:) },
      ((MKMapView) -> (CLLocationCoordinate2D, UIView?) -> CGPoint).self)
    gives(
      { $0.convert(_:toCoordinateFrom:) },
      ((MKMapView) -> (CGPoint, UIView?) -> CLLocationCoordinate2D).self)
    gives(
      { $0.convert(_:toRectTo:) },
      ((MKMapView) -> (MKCoordinateRegion, UIView?) -> CGRect).self)
    gives(
      { $0.convert(_:toRegionFrom:) },
      ((MKMapView) -> (CGRect, UIView?) -> MKCoordinateRegion).self)
  }

  @Test("K4: inventory: the camera")
  func camera() {
    changes(\MKMapCamera.centerCoordinate, CLLocationCoordinate2D.self)
    changes(\MKMapCamera.heading, CLLocationDirection.self)
    changes(\MKMapCamera.pitch, CGFloat.self)
    changes(\MKMapCamera.centerCoordinateDistance, CLLocationDistance.self)
    changes(\MKMapCamera.altitude, CLLocationDistance.self)
    gives(
      MKMapCamera.init(lookingAtCenter:fromDistance:pitch:heading:),
      ((CLLocationCoordinate2D, CLLocationDistance, CGFloat, CLLocationDirection) -> MKMapCamera)
        .self)
    gives(
      MKMapCamera.init(lookingAtCenter:fromEyeCoordinate:eyeAltitude:),
      ((CLLocationCoordinate2D, CLLocationCoordinate2D, CLLocationDistance) -> MKMapCamera).self)
    gives({ $0.copy(with:) }, ((MKMapCamera) -> (NSZone?) -> Any).self)
    gives({ $0.encode(with:) }, ((MKMapCamera) -> (NSCoder) -> Void).self)
    gives(MKMapCamera.init(coder:), ((NSCoder) -> MKMapCamera?).self)
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

  @Test("K5: inventory: the board")
  func user() {
    changes(\MKMapView.userTrackingMode, MKUserTrackingMode.self)
    has(\MKMapView.isUserLocationVisible, Bool.self)
    has(\MKMapView.userLocation, MKUserLocation.self)
    gives(
      { $0.setUserTrackingMode(_:animated:) },
      ((MKMapView) -> (MKUserTrackingMode, Bool) -> Void).self)
    has(\MKUserLocation.location, CLLocation?.self)
    has(\MKUserLocation.heading, CLHeading?.self)
    has(\MKUserLocation.isUpdating, Bool.self)
    has(\MKUserLocation.coordinate, CLLocationCoordinate2D.self)
    changes(\MKUserLocation.title, String?.self)
    changes(\MKUserLocation.subtitle, String?.self)
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

  @Test("K9: inventory: every method of a delegate is called by the name it has here")
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

  @Test("K1 K7 K8: inventory: the spellings of 2015 and of Swift 3")
  func older() { (Older() as any OlderMap).names() }
}
