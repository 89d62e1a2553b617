import MapKit
import Testing

// The inventory of MapKit, annotations and what stands for them: their values before anything is set.

/// The deprecated ones; a witness may be deprecated without a warning where it is called.
private protocol OlderPin {
  func names() -> Bool
}
private struct Older: OlderPin {
  @available(*, deprecated)
  func names() -> Bool {
    let colours: [MKPinAnnotationColor] = [.red, .green, .purple]
    return colours.map(\.rawValue) == [0, 1, 2] && MKPinAnnotationColor(rawValue: 3) == nil
  }
}

private final class Sight: NSObject, MKAnnotation {
  var coordinate: CLLocationCoordinate2D { place(1, 2) }
}

struct InventoryMapAnnotationTests {
  @Test("K6: inventory: annotations of the map: none at first, and one name for the usual view")
  func map() {
    let map = MKMapView()
    #expect(map.annotations.isEmpty && map.selectedAnnotations.isEmpty)
    let name = MKMapViewDefaultAnnotationViewReuseIdentifier
    #expect(name == "MKMapViewDefaultAnnotationViewReuseIdentifier")
    let view = map.dequeueReusableAnnotationView(withIdentifier: name, for: Sight())
    #expect(view is MKMarkerAnnotationView && view.reuseIdentifier == name)
  }

  @Test("K6: inventory: an annotation has a place, and words if it has some")
  func annotations() {
    let sight: any MKAnnotation = Sight()
    #expect(sight.title == nil && sight.subtitle == nil)
    let point: MKShape = MKPointAnnotation(coordinate: place(1, 2), title: "a", subtitle: "b")
    #expect(point.title == "a" && point.subtitle == "b" && point.coordinate.longitude == 2)
    #expect(MKPointAnnotation().coordinate.latitude == 0)
    let changed = NSNotification.Name.MKAnnotationCalloutInfoDidChange
    #expect(changed.rawValue == "MKAnnotationCalloutInfoDidChangeNotification")
  }

  @Test("K6: inventory: views of annotations")
  func views() {
    let flags: [ReferenceWritableKeyPath<MKAnnotationView, Bool>] = [
      \.isEnabled, \.isHighlighted, \.isSelected, \.canShowCallout, \.isDraggable,
    ]
    let view = MKAnnotationView(annotation: Sight(), reuseIdentifier: "sight")
    #expect(flags.map { view[keyPath: $0] } == [true, false, false, false, false])
    let accessories: [ReferenceWritableKeyPath<MKAnnotationView, UIView?>] = [
      \.leftCalloutAccessoryView, \.rightCalloutAccessoryView, \.detailCalloutAccessoryView,
    ]
    #expect(accessories.allSatisfy { view[keyPath: $0] == nil })
    #expect(view.displayPriority == .required && view.clusteringIdentifier == nil)
    #expect(view.image == nil && view.centerOffset == .zero && view.calloutOffset == .zero)
    #expect(view.dragState == .none && view.reuseIdentifier == "sight")
    let states: [MKAnnotationViewDragState] = [.none, .starting, .dragging, .canceling, .ending]
    #expect(MKAnnotationViewDragState(rawValue: 4) == states.last)
    let priorities: [MKFeatureDisplayPriority] = [.required, .defaultHigh, .defaultLow]
    #expect(priorities.map(\.rawValue) == [1000, 750, 250])
    #expect(MKFeatureDisplayPriority(5) == MKFeatureDisplayPriority(rawValue: 5))
  }

  @Test("K6: inventory: pins, markers and the board's dot")
  func kinds() {
    let colours: [() -> UIColor] = [
      MKPinAnnotationView.redPinColor, MKPinAnnotationView.greenPinColor,
      MKPinAnnotationView.purplePinColor,
    ]
    #expect(Set(colours.map { $0() }).count == 3 && (Older() as any OlderPin).names())
    let visibilities: [MKFeatureVisibility] = [.adaptive, .hidden, .visible]
    #expect(MKFeatureVisibility(rawValue: 2) == visibilities.last)
    let views: [MKAnnotationView] = [
      MKPinAnnotationView(annotation: nil, reuseIdentifier: "a"),
      MKMarkerAnnotationView(annotation: nil, reuseIdentifier: "b"),
      MKUserLocationView(annotation: nil, reuseIdentifier: "c"),
    ]
    #expect(views.map(\.reuseIdentifier) == ["a", "b", "c"])
  }
}
