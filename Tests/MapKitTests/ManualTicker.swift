import BoardTestSupport
import Foundation
import Lodestone

@testable import MapKit

/// A clock that a test moves, and the frames of a map that go by it.
final class ManualTicker: Ticker {
  private(set) var now = 100.0
  private var step: (() -> Void)?

  var isRunning: Bool { step != nil }

  func start(_ step: @escaping () -> Void) { self.step = step }
  func stop() { step = nil }

  /// Lets time pass, with a frame each sixtieth of a second.
  func run(_ seconds: Double) {
    let end = now + seconds
    while now + 1.0 / 60 <= end { advance(1.0 / 60) }
    advance(end - now)
  }

  /// Lets time pass, with one frame at its end.
  func advance(_ seconds: Double) {
    now += seconds
    step?()
  }
}

/// A map on a clock that the test moves, and a delegate that notes what it is told.
struct MapBench {
  let ticker = ManualTicker()
  let map: MKMapView
  let spy = MapSpy()

  init(width: Double = 640, height: Double = 480) {
    map = MKMapView(
      frame: CGRect(x: 0, y: 0, width: width, height: height), port: processPort, ticker: ticker)
    map.delegate = spy
    spy.calls = []
  }
}

/// Notes what a map tells and asks.
final class MapSpy: NSObject, MKMapViewDelegate {
  var calls: [String] = []
  var onStep: (MKMapView) -> Void = { _ in }
  var onRest: (MKMapView) -> Void = { _ in }
  var makeView: (MKMapView, any MKAnnotation) -> MKAnnotationView? = { _, _ in nil }
  var makeRenderer: (any MKOverlay) -> MKOverlayRenderer = { MKOverlayRenderer(overlay: $0) }
  var makeOlderView: (any MKOverlay) -> MKOverlayView? = { _ in nil }
  var errors: [any Error] = []
  var steps = 0

  func mapView(_ mapView: MKMapView, regionWillChangeAnimated animated: Bool) {
    calls.append("will \(animated)")
  }
  func mapViewDidChangeVisibleRegion(_ mapView: MKMapView) {
    steps += 1
    onStep(mapView)
  }
  func mapView(_ mapView: MKMapView, regionDidChangeAnimated animated: Bool) {
    calls.append("did \(animated)")
    onRest(mapView)
  }
  func mapViewWillStartLoadingMap(_ mapView: MKMapView) { calls.append("will load") }
  func mapViewDidFinishLoadingMap(_ mapView: MKMapView) { calls.append("loaded") }
  func mapViewDidFailLoadingMap(_ mapView: MKMapView, withError error: any Error) {
    calls.append("failed to load")
    errors.append(error)
  }
  func mapViewWillStartRenderingMap(_ mapView: MKMapView) { calls.append("will render") }
  func mapViewDidFinishRenderingMap(_ mapView: MKMapView, fullyRendered: Bool) {
    calls.append("rendered \(fullyRendered)")
  }
  func mapView(_ mapView: MKMapView, viewFor annotation: any MKAnnotation) -> MKAnnotationView? {
    makeView(mapView, annotation)
  }
  func mapView(_ mapView: MKMapView, didAdd views: [MKAnnotationView]) {
    calls.append("added \(views.count)")
  }
  func mapView(_ mapView: MKMapView, didSelect view: MKAnnotationView) {
    calls.append("selected \((view.annotation?.title ?? nil) ?? "-")")
  }
  func mapView(_ mapView: MKMapView, didDeselect view: MKAnnotationView) {
    calls.append("deselected \((view.annotation?.title ?? nil) ?? "-")")
  }
  func mapViewWillStartLocatingUser(_ mapView: MKMapView) { calls.append("will locate") }
  func mapViewDidStopLocatingUser(_ mapView: MKMapView) { calls.append("stopped locating") }
  func mapView(_ mapView: MKMapView, didUpdate userLocation: MKUserLocation) {
    calls.append("user")
  }
  func mapView(_ mapView: MKMapView, didFailToLocateUserWithError error: any Error) {
    calls.append("lost")
    errors.append(error)
  }
  func mapView(_ mapView: MKMapView, didChange mode: MKUserTrackingMode, animated: Bool) {
    calls.append("mode \(mode) \(animated)")
  }
  func mapView(
    _ mapView: MKMapView, rendererFor overlay: any MKOverlay
  ) -> MKOverlayRenderer { makeRenderer(overlay) }
  func mapView(_ mapView: MKMapView, didAdd renderers: [MKOverlayRenderer]) {
    calls.append("renderers \(renderers.count)")
  }
  func mapView(_ mapView: MKMapView, viewFor overlay: any MKOverlay) -> MKOverlayView? {
    makeOlderView(overlay)
  }
}

/// A place in the middle of Berlin.
let berlin = CLLocationCoordinate2D(latitude: 52.5163, longitude: 13.3777)

func place(_ latitude: Double, _ longitude: Double) -> CLLocationCoordinate2D {
  CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

func region(_ middle: CLLocationCoordinate2D, _ span: Double) -> MKCoordinateRegion {
  MKCoordinateRegion(
    center: middle, span: MKCoordinateSpan(latitudeDelta: span, longitudeDelta: span))
}
