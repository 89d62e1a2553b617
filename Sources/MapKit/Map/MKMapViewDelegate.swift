// What a map view tells and asks; every method is optional.

public import CoreLocation

/// What a map shows below everything else.
///
/// A board's map is drawn from the tiles that it has, whatever they show: the type is kept, and decides only whether
/// buildings would be drawn.
public enum MKMapType: UInt, Sendable {
  /// Streets and their names.
  case standard
  /// A picture from above.
  case satellite
  /// A picture from above, with streets and their names.
  case hybrid
  /// A picture from above, on the globe's relief.
  case satelliteFlyover
  /// The same with streets and their names.
  case hybridFlyover
  /// Streets, in the background of what the program shows.
  case mutedStandard
}

/// How a map follows the board.
public enum MKUserTrackingMode: Int, Sendable {
  /// It does not.
  case none
  /// The board is in the middle.
  case follow
  /// The board is in the middle, and what is ahead of it is up.
  case followWithHeading
}

/// Hears what a map view has to tell, on the thread that made the map.
///
/// Every method has an implementation that does nothing, which is what "optional" is on Linux: one that is misspelt compiles
/// and is never called.
public protocol MKMapViewDelegate: NSObjectProtocol {
  /// The visible part is about to change. Told once before an animation, and before each change without one.
  func mapView(_ mapView: MKMapView, regionWillChangeAnimated animated: Bool)
  /// The visible part has changed, by a step of an animation or at once.
  func mapViewDidChangeVisibleRegion(_ mapView: MKMapView)
  /// The visible part has changed and rests.
  func mapView(_ mapView: MKMapView, regionDidChangeAnimated animated: Bool)

  /// A picture is about to be drawn whose tiles have to be read.
  func mapViewWillStartLoadingMap(_ mapView: MKMapView)
  /// All tiles of a picture have been read.
  func mapViewDidFinishLoadingMap(_ mapView: MKMapView)
  /// Tiles of a picture cannot be read; the error says why.
  func mapViewDidFailLoadingMap(_ mapView: MKMapView, withError error: any Error)
  /// A picture is about to be drawn.
  func mapViewWillStartRenderingMap(_ mapView: MKMapView)
  /// A picture has been drawn; `fullyRendered` is false where a tile could not be read.
  func mapViewDidFinishRenderingMap(_ mapView: MKMapView, fullyRendered: Bool)

  /// Asks for what stands for an annotation that has come in sight; nil for a marker, or for the usual dot where the
  /// annotation is the board.
  func mapView(_ mapView: MKMapView, viewFor annotation: any MKAnnotation) -> MKAnnotationView?
  /// Views have come onto the map.
  func mapView(_ mapView: MKMapView, didAdd views: [MKAnnotationView])
  /// A view's annotation is selected.
  func mapView(_ mapView: MKMapView, didSelect view: MKAnnotationView)
  /// A view's annotation is no longer selected.
  func mapView(_ mapView: MKMapView, didDeselect view: MKAnnotationView)
  /// An annotation is selected. Told beside the one with its view.
  func mapView(_ mapView: MKMapView, didSelect annotation: any MKAnnotation)
  /// An annotation is no longer selected.
  func mapView(_ mapView: MKMapView, didDeselect annotation: any MKAnnotation)
  /// A part of a callout was touched. Nothing is on a board.
  func mapView(
    _ mapView: MKMapView, annotationView view: MKAnnotationView,
    calloutAccessoryControlTapped control: UIControl)
  /// A view is dragged. None is on a board.
  func mapView(
    _ mapView: MKMapView, annotationView view: MKAnnotationView,
    didChange newState: MKAnnotationViewDragState, fromOldState oldState: MKAnnotationViewDragState)

  /// The map begins to look for the board.
  func mapViewWillStartLocatingUser(_ mapView: MKMapView)
  /// The map looks for the board no longer.
  func mapViewDidStopLocatingUser(_ mapView: MKMapView)
  /// The board is somewhere else, or points elsewhere.
  func mapView(_ mapView: MKMapView, didUpdate userLocation: MKUserLocation)
  /// Where the board is cannot be said at the moment; the error says why.
  func mapView(_ mapView: MKMapView, didFailToLocateUserWithError error: any Error)
  /// The map follows the board in another way. A program that moves the map ends the following.
  func mapView(
    _ mapView: MKMapView, didChange mode: MKUserTrackingMode, animated: Bool)

  /// Asks for what draws an overlay that has come in sight.
  func mapView(_ mapView: MKMapView, rendererFor overlay: any MKOverlay) -> MKOverlayRenderer
  /// Renderers have come onto the map.
  func mapView(_ mapView: MKMapView, didAdd renderers: [MKOverlayRenderer])

  /// The form of `rendererFor` of before iOS 7: asked where that gives nothing that draws.
  func mapView(_ mapView: MKMapView, viewFor overlay: any MKOverlay) -> MKOverlayView?
}

extension MKMapViewDelegate {
  /// Does nothing.
  public func mapView(_ mapView: MKMapView, regionWillChangeAnimated animated: Bool) {}
  /// Does nothing.
  public func mapViewDidChangeVisibleRegion(_ mapView: MKMapView) {}
  /// Does nothing.
  public func mapView(_ mapView: MKMapView, regionDidChangeAnimated animated: Bool) {}
  /// Does nothing.
  public func mapViewWillStartLoadingMap(_ mapView: MKMapView) {}
  /// Does nothing.
  public func mapViewDidFinishLoadingMap(_ mapView: MKMapView) {}
  /// Does nothing.
  public func mapViewDidFailLoadingMap(_ mapView: MKMapView, withError error: any Error) {}
  /// Does nothing.
  public func mapViewWillStartRenderingMap(_ mapView: MKMapView) {}
  /// Does nothing.
  public func mapViewDidFinishRenderingMap(_ mapView: MKMapView, fullyRendered: Bool) {}
  /// Gives nil.
  public func mapView(
    _ mapView: MKMapView, viewFor annotation: any MKAnnotation
  ) -> MKAnnotationView? { nil }
  /// Does nothing.
  public func mapView(_ mapView: MKMapView, didAdd views: [MKAnnotationView]) {}
  /// Does nothing.
  public func mapView(_ mapView: MKMapView, didSelect view: MKAnnotationView) {}
  /// Does nothing.
  public func mapView(_ mapView: MKMapView, didDeselect view: MKAnnotationView) {}
  /// Does nothing.
  public func mapView(_ mapView: MKMapView, didSelect annotation: any MKAnnotation) {}
  /// Does nothing.
  public func mapView(_ mapView: MKMapView, didDeselect annotation: any MKAnnotation) {}
  /// Does nothing.
  public func mapView(
    _ mapView: MKMapView, annotationView view: MKAnnotationView,
    calloutAccessoryControlTapped control: UIControl
  ) {}
  /// Does nothing.
  public func mapView(
    _ mapView: MKMapView, annotationView view: MKAnnotationView,
    didChange newState: MKAnnotationViewDragState, fromOldState oldState: MKAnnotationViewDragState
  ) {}
  /// Does nothing.
  public func mapViewWillStartLocatingUser(_ mapView: MKMapView) {}
  /// Does nothing.
  public func mapViewDidStopLocatingUser(_ mapView: MKMapView) {}
  /// Does nothing.
  public func mapView(_ mapView: MKMapView, didUpdate userLocation: MKUserLocation) {}
  /// Does nothing.
  public func mapView(_ mapView: MKMapView, didFailToLocateUserWithError error: any Error) {}
  /// Does nothing.
  public func mapView(
    _ mapView: MKMapView, didChange mode: MKUserTrackingMode, animated: Bool
  ) {}
  /// Gives a renderer that draws nothing.
  public func mapView(
    _ mapView: MKMapView, rendererFor overlay: any MKOverlay
  ) -> MKOverlayRenderer { MKOverlayRenderer(overlay: overlay) }
  /// Does nothing.
  public func mapView(_ mapView: MKMapView, didAdd renderers: [MKOverlayRenderer]) {}
  /// Gives nil.
  public func mapView(_ mapView: MKMapView, viewFor overlay: any MKOverlay) -> MKOverlayView? {
    nil
  }
}
