// What is pinned to the map.

public import CoreLocation
import MapDrawing

/// What a view is registered as that stands for annotations of which the delegate says nothing.
public let MKMapViewDefaultAnnotationViewReuseIdentifier =
  "MKMapViewDefaultAnnotationViewReuseIdentifier"

extension MKMapView {
  /// What is pinned to the map, in the order in which it came, and the board where its location is shown.
  public var annotations: [any MKAnnotation] { shelf.all }

  /// Pins something to the map. What is there already stays where it is in the order.
  public func addAnnotation(_ annotation: any MKAnnotation) { addAnnotations([annotation]) }

  /// Pins things to the map.
  public func addAnnotations(_ annotations: [any MKAnnotation]) {
    for annotation in annotations { keep(annotation) }
    sightAnnotations()
  }

  /// Takes something off the map, with its view. The board stays as long as its location is shown.
  public func removeAnnotation(_ annotation: any MKAnnotation) { removeAnnotations([annotation]) }

  /// Takes things off the map.
  public func removeAnnotations(_ annotations: [any MKAnnotation]) {
    for annotation in annotations where annotation !== user.location { drop(annotation) }
  }

  /// What lies in a rectangle of the map, the board included; found without looking at all that is there.
  public func annotations(in mapRect: MKMapRect) -> Set<AnyHashable> {
    var found = Set<AnyHashable>()
    shelf.forEach(in: mapRect) { _, annotation in
      if let object = annotation as? NSObject { found.insert(object) }
    }
    return found
  }

  /// What stands for an annotation; nil while that is out of sight.
  public func view(for annotation: any MKAnnotation) -> MKAnnotationView? {
    shelf.views[ObjectIdentifier(annotation)]
  }

  /// A view of that identifier that stands for nothing any more; nil where there is none.
  public func dequeueReusableAnnotationView(
    withIdentifier identifier: String
  ) -> MKAnnotationView? { shelf.dequeue(identifier) }

  /// A view of that identifier for an annotation: one that stands for nothing any more, or else a new one of what was
  /// registered. Where nothing was it is a marker.
  public func dequeueReusableAnnotationView(
    withIdentifier identifier: String, for annotation: any MKAnnotation
  ) -> MKAnnotationView {
    let view =
      shelf.dequeue(identifier) ?? shelf.make(identifier, for: annotation)
      ?? MKMarkerAnnotationView(annotation: annotation, reuseIdentifier: identifier)
    view.annotation = annotation
    return view
  }

  /// Says which of the SDK's views an identifier stands for. Linux cannot make an object of a class that it knows by its
  /// name alone: for a class of the program's own register a closure.
  public func register(
    _ viewClass: AnyClass?, forAnnotationViewWithReuseIdentifier identifier: String
  ) {
    switch viewClass {
    case is MKPinAnnotationView.Type:
      register(identifier) { MKPinAnnotationView(annotation: $0, reuseIdentifier: identifier) }
    case is MKUserLocationView.Type:
      register(identifier) { MKUserLocationView(annotation: $0, reuseIdentifier: identifier) }
    case is MKMarkerAnnotationView.Type:
      register(identifier) { MKMarkerAnnotationView(annotation: $0, reuseIdentifier: identifier) }
    default:
      register(identifier) { MKAnnotationView(annotation: $0, reuseIdentifier: identifier) }
    }
  }

  /// Says how a view is made that an identifier stands for.
  public func register(
    _ identifier: String, make: @escaping (any MKAnnotation) -> MKAnnotationView
  ) { shelf.register(identifier, make) }

  // MARK: What is selected

  /// What is selected: one or none. Of several that are set the first is.
  public var selectedAnnotations: [any MKAnnotation] {
    get { shelf.selected.flatMap { shelf.annotation($0) }.map { [$0] } ?? [] }
    set {
      if let first = newValue.first {
        selectAnnotation(first, animated: false)
      } else {
        deselectAnnotation(selectedAnnotations.first, animated: false)
      }
    }
  }

  /// Selects an annotation, and none else. What is out of sight cannot be selected: nothing happens.
  public func selectAnnotation(_ annotation: any MKAnnotation, animated: Bool) {
    let id = ObjectIdentifier(annotation)
    guard id != shelf.selected, let view = shelf.views[id] else { return }
    deselectAnnotation(selectedAnnotations.first, animated: animated)
    shelf.selected = id
    view.setSelected(true, animated: animated)
    delegate?.mapView(self, didSelect: view)
    delegate?.mapView(self, didSelect: annotation)
  }

  /// Selects an annotation no longer. Nil, and what is not selected, change nothing.
  public func deselectAnnotation(_ annotation: (any MKAnnotation)?, animated: Bool) {
    guard let annotation, ObjectIdentifier(annotation) == shelf.selected else { return }
    shelf.selected = nil
    if let view = view(for: annotation) {
      view.setSelected(false, animated: animated)
      delegate?.mapView(self, didDeselect: view)
    }
    delegate?.mapView(self, didDeselect: annotation)
  }

  // MARK: What is in sight

  /// Where views of annotations are shown: all of the map's view.
  public var annotationVisibleRect: CGRect { bounds }

  /// Pins annotations to the map if they are not, and shows them all: with a margin, and half a kilometre at least.
  public func showAnnotations(_ annotations: [any MKAnnotation], animated: Bool) {
    addAnnotations(annotations.filter { !shelf.holds($0) && $0 !== user.location })
    let points = annotations.map(\.coordinate).filter { CLLocationCoordinate2DIsValid($0) }
      .map { MKMapPoint($0) }
    var rect = MKMapRect(aroundTheWorld: points)
    guard !rect.isNull else { return }
    let middle = MKMapPoint(x: rect.midX, y: rect.midY).coordinate
    let least = 500 * MKMapPointsPerMeterAtLatitude(middle.latitude)
    rect = rect.insetBy(
      dx: -max(least - rect.width, 0) / 2, dy: -max(least - rect.height, 0) / 2)
    // Pins stand up from their point, and are half as wide as high.
    let margin = min(bounds.width, bounds.height) / 8
    setVisibleMapRect(
      rect, edgePadding: UIEdgeInsets(top: margin, left: margin, bottom: margin, right: margin),
      animated: animated)
  }

  /// Puts the board, which no program adds.
  func showUser() {
    keep(user.location)
    sightAnnotations()
  }

  func hideUser() { drop(user.location) }

  private func keep(_ annotation: any MKAnnotation) {
    if let point = annotation as? MKPointAnnotation {
      point.observers[ObjectIdentifier(self)] = { [weak self] point in
        self?.shelf.place(point)
        self?.sightAnnotations()
      }
    }
    shelf.place(annotation)
  }

  private func drop(_ annotation: any MKAnnotation) {
    if let point = annotation as? MKPointAnnotation {
      point.observers[ObjectIdentifier(self)] = nil
    }
    deselectAnnotation(annotation, animated: false)
    shelf.hide(ObjectIdentifier(annotation))
    shelf.forget(ObjectIdentifier(annotation))
  }

  /// Takes what the map's points tell it of their moves away from them.
  func forgetMe() {
    for case let point as MKPointAnnotation in shelf.all {
      point.observers[ObjectIdentifier(self)] = nil
    }
  }

  /// Looks again where annotations are that cannot say when they move.
  func lookAgain() {
    for annotation in shelf.all where !(annotation is MKPointAnnotation) {
      shelf.place(annotation)
    }
    sightAnnotations()
  }

  /// Views stand up to so many points beside their annotation.
  private static let reach = 60.0

  /// Gives views to what has come in sight, takes them from what has gone, and puts all where they belong.
  func sightAnnotations() {
    let view = viewport
    let margin = Self.reach / view.pointsPerWorld * MKMapSize.world.width
    var seen: [ObjectIdentifier: CGPoint] = [:]
    var new: [(id: ObjectIdentifier, annotation: any MKAnnotation)] = []
    let frame = bounds.insetBy(dx: -Self.reach, dy: -Self.reach)
    shelf.forEach(in: view.mapRect.insetBy(dx: -margin, dy: -margin)) { id, annotation in
      guard let point = view.picturePoint(of: MKMapPoint(annotation.coordinate).projected)
      else { return }
      let place = CGPoint(x: point.x, y: point.y)
      guard frame.contains(place) else { return }
      seen[id] = place
      if shelf.views[id] == nil { new.append((id, annotation)) }
    }
    for id in shelf.views.keys where seen[id] == nil {
      shelf.hide(id)
    }
    var added: [MKAnnotationView] = []
    for (id, annotation) in new {
      let view = makeView(for: annotation)
      view.annotation = annotation
      view.prepareForDisplay()
      // What was selected when it went out of sight is selected still.
      if id == shelf.selected { view.setSelected(true, animated: false) }
      shelf.show(view, for: id)
      addSubview(view)
      added.append(view)
    }
    for (id, place) in seen { shelf.views[id]?.stand(at: place) }
    if !added.isEmpty { delegate?.mapView(self, didAdd: added) }
  }

  private func makeView(for annotation: any MKAnnotation) -> MKAnnotationView {
    if let view = delegate?.mapView(self, viewFor: annotation) { return view }
    if annotation === user.location {
      return MKUserLocationView(annotation: annotation, reuseIdentifier: nil)
    }
    return dequeueReusableAnnotationView(
      withIdentifier: MKMapViewDefaultAnnotationViewReuseIdentifier, for: annotation)
  }
}

extension MKMapRect {
  /// The narrowest rectangle that holds points, be it across 180 degrees: on the other side of the widest gap between two.
  init(aroundTheWorld points: [MKMapPoint]) {
    guard let first = points.map(\.x).min(), let last = points.map(\.x).max() else {
      self = .null
      return
    }
    let world = MKMapSize.world.width
    let across = points.map(\.x).sorted()
    var (gap, west) = (world - (last - first), first)
    for (left, right) in zip(across, across.dropFirst()) where right - left > gap {
      (gap, west) = (right - left, right)
    }
    self = MKMapRect(
      holding: points.map { MKMapPoint(x: $0.x < west ? $0.x + world : $0.x, y: $0.y) })
  }
}
