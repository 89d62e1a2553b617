import FacadeTestSupport
import Testing

@testable import MapKit

// Every declaration of the document about the map view, as it is written there: Swift of 2015. What Swift has renamed since is
// there under both names; `id` of Objective-C is AnyObject there, and `!` is what every object was.

/// What the document declares and is deprecated now; a witness may be deprecated without a warning where it is called.
private protocol DocumentedMap: AnyObject {
  var zoomEnabled: Bool { get set }
  var scrollEnabled: Bool { get set }
  var pitchEnabled: Bool { get set }
  var rotateEnabled: Bool { get set }
  var userLocationVisible: Bool { get }
  func setCenterCoordinate(_ coordinate: CLLocationCoordinate2D, animated: Bool)
  func showAnnotations(_ annotations: [AnyObject], animated: Bool)
  func addAnnotations(_ annotations: [AnyObject])
  func removeAnnotations(_ annotations: [AnyObject])
  func viewForAnnotation(_ annotation: any MKAnnotation) -> MKAnnotationView?
  func annotationsInMapRect(_ mapRect: MKMapRect) -> Set<NSObject>
  func dequeueReusableAnnotationViewWithIdentifier(_ identifier: String) -> MKAnnotationView?
  func overlaysInLevel(_ level: MKOverlayLevel) -> [any MKOverlay]
  func rendererForOverlay(_ overlay: any MKOverlay) -> MKOverlayRenderer?
  func viewForOverlay(_ overlay: any MKOverlay) -> MKOverlayView?
  func addOverlays(_ overlays: [AnyObject], level: MKOverlayLevel)
  func addOverlays(_ overlays: [AnyObject])
  func insertOverlay(_ overlay: any MKOverlay, atIndex index: Int, level: MKOverlayLevel)
  func insertOverlay(_ overlay: any MKOverlay, atIndex index: Int)
  func insertOverlay(_ overlay: any MKOverlay, aboveOverlay sibling: any MKOverlay)
  func insertOverlay(_ overlay: any MKOverlay, belowOverlay sibling: any MKOverlay)
  func exchangeOverlay(_ overlay1: any MKOverlay, withOverlay overlay2: any MKOverlay)
  func exchangeOverlayAtIndex(_ index1: Int, withOverlayAtIndex index2: Int)
  func removeOverlays(_ overlays: [AnyObject])
  func convertCoordinate(
    _ coordinate: CLLocationCoordinate2D, toPointToView view: UIView?
  ) -> CGPoint
  func convertPoint(_ point: CGPoint, toCoordinateFromView view: UIView?) -> CLLocationCoordinate2D
  func convertRegion(_ region: MKCoordinateRegion, toRectToView view: UIView?) -> CGRect
  func convertRect(_ rect: CGRect, toRegionFromView view: UIView?) -> MKCoordinateRegion
  // Swift 3 and 4.
  func add(_ overlay: any MKOverlay)
  func add(_ overlay: any MKOverlay, level: MKOverlayLevel)
  func remove(_ overlay: any MKOverlay)
  func insert(_ overlay: any MKOverlay, at index: Int, level: MKOverlayLevel)
  func insert(_ overlay: any MKOverlay, at index: Int)
  func insert(_ overlay: any MKOverlay, above sibling: any MKOverlay)
  func insert(_ overlay: any MKOverlay, below sibling: any MKOverlay)
  func convertRegion(_ region: MKCoordinateRegion, toRectTo view: UIView?) -> CGRect
}
extension MKMapView: DocumentedMap {}

private protocol DocumentedCases {
  var types: [MKMapType] { get }
  var modes: [MKUserTrackingMode] { get }
  var levels: [MKOverlayLevel] { get }
}
private struct Cases: DocumentedCases {
  @available(*, deprecated)
  var types: [MKMapType] { [.Standard, .Satellite, .Hybrid] }
  @available(*, deprecated)
  var modes: [MKUserTrackingMode] { [.None, .Follow, .FollowWithHeading] }
  @available(*, deprecated)
  var levels: [MKOverlayLevel] { [.AboveRoads, .AboveLabels] }
}

@Suite struct DocumentTests {
  let bench = MapBench()
  var map: MKMapView { bench.map }
  private var older: any DocumentedMap { bench.map }

  @Test("K1: the flags under both names")
  func flags() {
    map.mapType = .satellite
    #expect(map.mapType == MKMapType(rawValue: 1))
    for (old, new) in [
      (\DocumentedMap.zoomEnabled, \MKMapView.isZoomEnabled),
      (\.scrollEnabled, \.isScrollEnabled), (\.pitchEnabled, \.isPitchEnabled),
      (\.rotateEnabled, \.isRotateEnabled),
    ]
      as [(
        ReferenceWritableKeyPath<any DocumentedMap, Bool>, ReferenceWritableKeyPath<MKMapView, Bool>
      )]
    {
      #expect(older[keyPath: old])
      older[keyPath: old] = false
      #expect(!map[keyPath: new])
    }
    map.showsPointsOfInterest = false
    map.showsBuildings = false
    #expect(!map.showsPointsOfInterest && !map.showsBuildings)
    let delegate: (any MKMapViewDelegate)! = map.delegate
    map.delegate = nil
    map.delegate = delegate
    #expect(map.delegate === bench.spy)
  }

  @Test("K2 K3 K4: what is visible, by every declaration")
  func visible() {
    map.region = region(berlin, 0.2)
    map.setRegion(map.regionThatFits(region(berlin, 0.1)), animated: false)
    map.centerCoordinate = place(1, 2)
    older.setCenterCoordinate(berlin, animated: false)
    #expect(abs(map.centerCoordinate.latitude - berlin.latitude) < 1e-9)
    older.showAnnotations([MKPointAnnotation(coordinate: place(3, 4))], animated: false)
    #expect(abs(map.centerCoordinate.latitude - 3) < 1e-6)
    let rect = MKMapRect(x: 1e8, y: 1e8, width: 1e6, height: 1e6)
    map.visibleMapRect = rect
    map.setVisibleMapRect(map.mapRectThatFits(rect), animated: false)
    map.setVisibleMapRect(
      map.mapRectThatFits(rect, edgePadding: .zero), edgePadding: UIEdgeInsets(), animated: false)
    #expect(map.visibleMapRect.contains(rect))
    let camera: MKMapCamera! = map.camera
    camera.heading = 30
    map.camera = camera
    map.setCamera(camera, animated: false)
    #expect(abs(map.camera.heading - 30) < 1e-9)
  }

  @Test("K5: the board, by every declaration")
  func user() {
    #expect(!map.showsUserLocation && !older.userLocationVisible)
    let location: MKUserLocation! = map.userLocation
    #expect(location.location == nil && location.heading == nil && location.title == nil)
    map.userTrackingMode = .none
    map.setUserTrackingMode(.none, animated: true)
    #expect((Cases() as any DocumentedCases).modes == [.none, .follow, .followWithHeading])
    #expect(MKUserTrackingMode(rawValue: 2) == .followWithHeading)
  }

  @Test("K6: annotations, by every declaration")
  func annotations() {
    map.region = region(berlin, 0.2)
    let points = (0..<3).map { MKPointAnnotation(coordinate: berlin, title: "\($0)") }
    map.addAnnotation(points[0])
    older.addAnnotations(points as [AnyObject])
    #expect(map.annotations.count == 3)
    #expect(older.viewForAnnotation(points[0]) === map.view(for: points[0]))
    #expect(older.annotationsInMapRect(.world).count == 3)
    #expect(map.annotationVisibleRect == map.bounds)
    map.selectedAnnotations = points
    map.selectAnnotation(points[1], animated: true)
    map.deselectAnnotation(points[1], animated: false)
    #expect(map.selectedAnnotations.isEmpty)
    map.removeAnnotation(points[0])
    older.removeAnnotations(points as [AnyObject])
    #expect(map.annotations.isEmpty)
    let identifier = MKMapViewDefaultAnnotationViewReuseIdentifier
    #expect(older.dequeueReusableAnnotationViewWithIdentifier(identifier) != nil)
  }

  @Test("K7: overlays, by every declaration")
  func overlays() {
    map.region = region(berlin, 0.2)
    let circles = (0..<6).map { MKCircle(center: berlin, radius: Double($0 + 1)) }
    func order() -> [Double] {
      older.overlaysInLevel(.aboveLabels).compactMap { ($0 as? MKCircle)?.radius }
    }
    map.addOverlay(circles[0])
    map.addOverlay(circles[1], level: .aboveLabels)
    older.addOverlays([circles[2]])
    older.addOverlays([circles[3]], level: .aboveRoads)
    #expect(order() == [1, 2, 3] && map.overlays.count == 4)
    older.insertOverlay(circles[4], atIndex: 0)
    older.insertOverlay(circles[5], atIndex: 1, level: .aboveLabels)
    #expect(order() == [5, 6, 1, 2, 3])
    older.insertOverlay(circles[0], aboveOverlay: circles[1])
    older.insertOverlay(circles[2], belowOverlay: circles[4])
    #expect(order() == [3, 5, 6, 2, 1])
    older.exchangeOverlay(circles[2], withOverlay: circles[0])
    older.exchangeOverlayAtIndex(1, withOverlayAtIndex: 2)
    #expect(order() == [1, 6, 5, 2, 3])
    #expect(older.rendererForOverlay(circles[0]) === map.renderer(for: circles[0]))
    #expect(older.viewForOverlay(circles[0]) == nil)
    map.removeOverlay(circles[0])
    older.removeOverlays(circles as [AnyObject])
    #expect(map.overlays.isEmpty)
    older.add(circles[0])
    older.add(circles[1], level: .aboveLabels)
    older.insert(circles[2], at: 0)
    older.insert(circles[3], at: 0, level: .aboveLabels)
    older.insert(circles[4], above: circles[0])
    older.insert(circles[5], below: circles[0])
    #expect(order() == [4, 3, 6, 1, 5, 2])
    older.remove(circles[3])
    #expect(order() == [3, 6, 1, 5, 2])
    #expect(
      (Cases() as any DocumentedCases).levels == MKOverlayLevel.allCases
        && (Cases() as any DocumentedCases).types.map(\.rawValue) == [0, 1, 2])
  }

  @Test("K8: conversions, by every declaration")
  func conversions() {
    map.region = region(berlin, 0.2)
    let point = older.convertCoordinate(berlin, toPointToView: map)
    #expect(point == map.convert(berlin, toPointTo: map))
    let back = older.convertPoint(point, toCoordinateFromView: map)
    #expect(abs(back.latitude - berlin.latitude) < 1e-9)
    let rect = older.convertRegion(region(berlin, 0.1), toRectToView: map)
    #expect(rect == map.convert(region(berlin, 0.1), toRectTo: map))
    #expect(rect == older.convertRegion(region(berlin, 0.1), toRectTo: map))
    let again = older.convertRect(rect, toRegionFromView: map)
    #expect(abs(again.span.latitudeDelta - 0.1) < 1e-9)
  }
}
