import FacadeTestSupport
import MapKit
import Testing

// The inventory of MapKit, annotations and what stands for them: each symbol once, with its type.

/// The deprecated ones; a witness may be deprecated without a warning where it is called.
private protocol OlderPin {
  func names() -> Bool
}
private struct Older: OlderPin {
  @available(*, deprecated)
  func names() -> Bool {
    let colours: [MKPinAnnotationColor] = [.red, .green, .purple]
    changes(\MKPinAnnotationView.pinColor, MKPinAnnotationColor.self)
    return colours.map(\.rawValue) == [0, 1, 2] && MKPinAnnotationColor(rawValue: 3) == nil
  }
}

private final class Sight: NSObject, MKAnnotation {
  var coordinate: CLLocationCoordinate2D { place(1, 2) }
}

struct InventoryMapAnnotationTests {
  @Test("K6: inventory: annotations of the map")
  func map() {
    has(\MKMapView.annotations, [any MKAnnotation].self)
    has(\MKMapView.annotationVisibleRect, CGRect.self)
    changes(\MKMapView.selectedAnnotations, [any MKAnnotation].self)
    let single: [(MKMapView) -> (any MKAnnotation) -> Void] = [
      { $0.addAnnotation }, { $0.removeAnnotation },
    ]
    let several: [(MKMapView) -> ([any MKAnnotation]) -> Void] = [
      { $0.addAnnotations }, { $0.removeAnnotations },
    ]
    gives(single, [(MKMapView) -> (any MKAnnotation) -> Void].self)
    gives(several, [(MKMapView) -> ([any MKAnnotation]) -> Void].self)
    gives({ $0.annotations(in:) }, ((MKMapView) -> (MKMapRect) -> Set<AnyHashable>).self)
    gives({ $0.view(for:) }, ((MKMapView) -> (any MKAnnotation) -> MKAnnotationView?).self)
    gives(
      { $0.dequeueReusableAnnotationView(withIdentifier:) },
      ((MKMapView) -> (String) -> MKAnnotationView?).self)
    gives(
      { $0.dequeueReusableAnnotationView(withIdentifier:for:) },
      ((MKMapView) -> (String, any MKAnnotation) -> MKAnnotationView).self)
    gives(
      { $0.register(_:forAnnotationViewWithReuseIdentifier:) },
      ((MKMapView) -> (AnyClass?, String) -> Void).self)
    gives(MKMapViewDefaultAnnotationViewReuseIdentifier, String.self)
    gives(
      { $0.selectAnnotation(_:animated:) },
      ((MKMapView) -> (any MKAnnotation, Bool) -> Void).self)
    gives(
      { $0.deselectAnnotation(_:animated:) },
      ((MKMapView) -> ((any MKAnnotation)?, Bool) -> Void).self)
    gives(
      { $0.showAnnotations(_:animated:) },
      ((MKMapView) -> ([any MKAnnotation], Bool) -> Void).self)
  }

  @Test("K6: inventory: an annotation has a place, and words if it has some")
  func annotations() {
    let sight: any MKAnnotation = Sight()
    gives(sight.coordinate, CLLocationCoordinate2D.self)
    gives(sight.title, String?.self)
    gives(sight.subtitle, String?.self)
    #expect(sight.title == nil && sight.subtitle == nil)
    changes(\MKShape.title, String?.self)
    changes(\MKShape.subtitle, String?.self)
    has(\MKShape.coordinate, CLLocationCoordinate2D.self)
    changes(\MKPointAnnotation.coordinate, CLLocationCoordinate2D.self)
    let point = MKPointAnnotation(coordinate: place(1, 2), title: "a", subtitle: "b")
    #expect(point.title == "a" && point.subtitle == "b" && point.coordinate.longitude == 2)
    #expect(MKPointAnnotation().coordinate.latitude == 0)
    gives(NSNotification.Name.MKAnnotationCalloutInfoDidChange, NSNotification.Name.self)
  }

  @Test("K6: inventory: views of annotations")
  func views() {
    changes(\MKAnnotationView.annotation, (any MKAnnotation)?.self)
    has(\MKAnnotationView.reuseIdentifier, String?.self)
    changes(\MKAnnotationView.image, UIImage?.self)
    changes(\MKAnnotationView.centerOffset, CGPoint.self)
    changes(\MKAnnotationView.calloutOffset, CGPoint.self)
    let flags: [ReferenceWritableKeyPath<MKAnnotationView, Bool>] = [
      \.isEnabled, \.isHighlighted, \.isSelected, \.canShowCallout, \.isDraggable,
    ]
    let view = MKAnnotationView(annotation: Sight(), reuseIdentifier: "sight")
    #expect(flags.map { view[keyPath: $0] } == [true, false, false, false, false])
    let accessories: [ReferenceWritableKeyPath<MKAnnotationView, UIView?>] = [
      \.leftCalloutAccessoryView, \.rightCalloutAccessoryView, \.detailCalloutAccessoryView,
    ]
    #expect(accessories.allSatisfy { view[keyPath: $0] == nil })
    changes(\MKAnnotationView.dragState, MKAnnotationViewDragState.self)
    changes(\MKAnnotationView.displayPriority, MKFeatureDisplayPriority.self)
    changes(\MKAnnotationView.clusteringIdentifier, String?.self)
    #expect(view.displayPriority == .required && view.clusteringIdentifier == nil)
    gives({ $0.prepareForReuse }, ((MKAnnotationView) -> () -> Void).self)
    gives({ $0.prepareForDisplay }, ((MKAnnotationView) -> () -> Void).self)
    gives(
      { $0.setSelected(_:animated:) }, ((MKAnnotationView) -> (Bool, Bool) -> Void).self)
    gives(
      { $0.setDragState(_:animated:) },
      ((MKAnnotationView) -> (MKAnnotationViewDragState, Bool) -> Void).self)
    gives(MKAnnotationView.init(coder:), ((NSCoder) -> MKAnnotationView?).self)
    let states: [MKAnnotationViewDragState] = [.none, .starting, .dragging, .canceling, .ending]
    #expect(MKAnnotationViewDragState(rawValue: 4) == states.last)
    let priorities: [MKFeatureDisplayPriority] = [.required, .defaultHigh, .defaultLow]
    sets(\MKFeatureDisplayPriority.rawValue, Float.self)
    #expect(priorities.map(\.rawValue) == [1000, 750, 250])
    #expect(MKFeatureDisplayPriority(5) == MKFeatureDisplayPriority(rawValue: 5))
  }

  @Test("K6: inventory: pins, markers and the board's dot")
  func kinds() {
    changes(\MKPinAnnotationView.pinTintColor, UIColor?.self)
    changes(\MKPinAnnotationView.animatesDrop, Bool.self)
    let colours: [() -> UIColor] = [
      MKPinAnnotationView.redPinColor, MKPinAnnotationView.greenPinColor,
      MKPinAnnotationView.purplePinColor,
    ]
    #expect(Set(colours.map { $0() }).count == 3 && (Older() as any OlderPin).names())
    changes(\MKMarkerAnnotationView.markerTintColor, UIColor?.self)
    changes(\MKMarkerAnnotationView.glyphTintColor, UIColor?.self)
    changes(\MKMarkerAnnotationView.glyphText, String?.self)
    changes(\MKMarkerAnnotationView.glyphImage, UIImage?.self)
    changes(\MKMarkerAnnotationView.selectedGlyphImage, UIImage?.self)
    changes(\MKMarkerAnnotationView.titleVisibility, MKFeatureVisibility.self)
    changes(\MKMarkerAnnotationView.subtitleVisibility, MKFeatureVisibility.self)
    changes(\MKMarkerAnnotationView.animatesWhenAdded, Bool.self)
    let visibilities: [MKFeatureVisibility] = [.adaptive, .hidden, .visible]
    #expect(MKFeatureVisibility(rawValue: 2) == visibilities.last)
    let views: [MKAnnotationView] = [
      MKPinAnnotationView(annotation: nil, reuseIdentifier: "a"),
      MKMarkerAnnotationView(annotation: nil, reuseIdentifier: "b"),
      MKUserLocationView(annotation: nil, reuseIdentifier: "c"),
    ]
    #expect(views.map(\.reuseIdentifier) == ["a", "b", "c"])
    gives(MKPinAnnotationView.init(coder:), ((NSCoder) -> MKPinAnnotationView?).self)
    gives(MKMarkerAnnotationView.init(coder:), ((NSCoder) -> MKMarkerAnnotationView?).self)
    gives(MKUserLocationView.init(coder:), ((NSCoder) -> MKUserLocationView?).self)
  }
}
